"""Hover in settings files: what a rule matches in words and whether it counts, and the same of bypass. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from countersign.advice.rule_suggestions import matched_by
from countersign.gate import compile_rule
from countersign.lsp.language.cursor import Cursor, cursor_at, rule_list
from countersign.lsp.language.diagnostics import claim_state, claim_words
from countersign.lsp.language.pages import OF_WORKSPACE, Overview, Page, PageName, path_in
from countersign.lsp.language.positions import Positions, Units, utf16
from countersign.lsp.language.rule_descriptions import LISTS, code, escaped, fine_print, rule_in_words
from countersign.settings.bypass import BYPASS, bypass_path
from countersign.settings.policy import Policy, RuleText
from countersign.settings.rules import ListName, is_entry_of
from countersign.settings.tree import Path
from countersign.wire.history import HistoryEntry

if TYPE_CHECKING:
    from countersign.gate import Decide

UNKNOWN = "It is unknown whether it counts, because the file cannot be read."
UNCERTAIN = "It does not count now: some settings cannot be read, so everything asks."


def hover(
    page_name: PageName,
    position: types.Position,
    overview: Overview,
    diagnostics: Sequence[types.Diagnostic],
    past: Sequence[HistoryEntry],
    decide: Decide,
    *,
    units: Units = utf16,
) -> types.Hover | None:
    """What is to be said of the place in a page that stands open in the editor, or None.

    Args:
        diagnostics: what the page was told.
        past: the newest decisions, to count what the rule decided among them and what it would have matched.
        decide: what past calls are judged again with.
    """
    page = overview.pages[page_name]
    if page.text is None:
        return None
    positions = Positions.of(page.text, units)
    cursor = cursor_at(page.text, positions.offset(position))
    if cursor is None or cursor.token is None:
        return None
    steps = (*cursor.path, cursor.token.text) if cursor.place == "key" else cursor.path
    path = path_in(page_name, steps)
    listed = rule_list(path) if cursor.place == "value" and cursor.token.quoted else None
    if listed is not None:
        said = _of_rule(page, listed, cursor, positions, overview, diagnostics, past, decide)
    elif path is not None and path[:1] == ("agents",) and path[2:] == (BYPASS,):
        said = _of_bypass(page, str(path[1]), overview)
    else:
        return None
    if not page.saved:
        said.append("_This is of the text as it stands here; it is not saved yet._")
    span = positions.range(cursor.token.start, cursor.token.end)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(said)), span)


def _of_rule(
    page: Page,
    listed: ListName,
    cursor: Cursor,
    positions: Positions,
    overview: Overview,
    diagnostics: Sequence[types.Diagnostic],
    past: Sequence[HistoryEntry],
    decide: Decide,
) -> list[str]:
    assert cursor.token is not None
    text = cursor.token.text
    written = _written(page, listed, text, cursor, positions, overview)
    source = written or RuleText(listed, text, file=page.loaded.path)
    rule, _ = compile_rule(source)
    said = [f"**{listed.capitalize()}** {code(text)}"]
    if rule is None or rule.broken is not None:
        return [*said, *(_told_here(cursor, positions, diagnostics) or ["It cannot be read."])]
    said.append(f"Matches {rule_in_words(rule)}. {LISTS[listed]}")
    said += filter(None, [fine_print(rule)])
    if source.agent is not None:
        only = "Only calls of" if listed == "allow" else "Whichever agent calls, although it names"
        said.append(f"{only} the agent {code(source.agent)}.")
    if source.reason is not None:
        said.append(f"Its reason: {code(source.reason)}")
    said.append(_whether_rule_counts(page, written, overview))
    said += _told_here(cursor, positions, diagnostics)
    if past:
        said.append(_of_the_past(source, past, overview.built.policy, decide))
    return said


def _of_the_past(source: RuleText, past: Sequence[HistoryEntry], policy: Policy, decide: Decide) -> str:
    """What it decided, what it would have matched, and what that rests on."""
    calls = {entry.receipt_id for entry in past}
    its = {entry.receipt_id for entry in past if _is_by(entry, source)}
    found = matched_by(source, past, policy, decide)
    said = [f"It decided {len(its)} of the last {len(calls)} calls." if its else "It decided no recent call."]
    judged = f"the {found.calls} of them that history holds whole" if found.unjudged else "them"
    if not found.matched:
        said.append(f"It would have matched none of {judged}.")
    elif source.list == "allow":
        said.append(f"It would have matched {found.matched} of {judged} and, alone, let {found.through} through.")
    else:
        said.append(f"It would have matched {found.matched} of {judged}.")
    if found.unjudged:
        said.append("Not judged again: calls of hosted agents, and what held a secret, which history hides.")
    return " ".join(said)


def _is_by(entry: HistoryEntry, source: RuleText) -> bool:
    """Whether the rule is among the evidence of a decision; its line may be another by now."""
    return any(one.source == "rule" and (one.rule, one.file) == (source.text, source.file) for one in entry.evidence)


def _written(
    page: Page, listed: ListName, text: str, cursor: Cursor, positions: Positions, overview: Overview
) -> RuleText | None:
    """The rule as the settings read it, with its agent, reason and place."""
    same = [
        rule
        for rule in overview.rules
        if (rule.file, rule.list, rule.text) == (page.loaded.path, listed, text) and page.loaded.problem is None
    ]
    at = cursor.item
    here = [rule for rule in same if at is not None and positions.at(rule.line or 0, rule.column or 0) == at]
    return next(iter((*here, *same)), None)


def _whether_rule_counts(page: Page, written: RuleText | None, overview: Overview) -> str:
    if page.loaded.problem is not None:
        return UNKNOWN
    if written is None:
        return "It does not count: the key that it stands under counts from another place."
    counts = written in overview.built.policy.rules
    if written.list != "allow":
        return "It counts, whether or not the workspace is trusted." if counts else "It does not count."
    if overview.known.uncertain:
        return UNCERTAIN
    if page.name in OF_WORKSPACE:
        claims = [
            claim
            for claim in overview.built.claims.values()
            if claim.path == ("permissions", "allow") and is_entry_of(claim.value, written.text, written.agent)
        ]
        if not counts and claims:
            return f"It does not count: {claim_words(overview, claim_state(overview, claims[0]))}."
    return "It counts." if counts else "It does not count."


def _told_here(cursor: Cursor, positions: Positions, diagnostics: Sequence[types.Diagnostic]) -> list[str]:
    """What Problems say of this rule, besides what was just said."""
    if cursor.item is None:
        return []
    start = positions.position(cursor.item)
    here = [one for one in diagnostics if one.range.start == start and one.code in ("lint", "rule", "setting")]
    return [f"⚠ {escaped(one.message)}" for one in here]


def _of_bypass(page: Page, agent: str, overview: Overview) -> list[str]:
    path = bypass_path(agent)
    spot = page.loaded.tree.find(path) if page.loaded.tree else None
    value = spot.value if spot else None
    if value is None:
        return [UNKNOWN]
    if value is not True:
        beats = " In a workspace this beats `true` of the user, trusted or not." if page.name in OF_WORKSPACE else ""
        return [f"The agent {code(agent)} asks, as rules and mode say.{beats}"]
    return [
        f"The agent {code(agent)} acts without asking.",
        "Still stopped by deny and ask rules, by protected places such as `.git` and `.vscode`, by secrets outside the"
        " workspace, and by what cannot be understood or shown honestly.",
        _whether_bypass_counts(page, path, agent, overview),
    ]


def _whether_bypass_counts(page: Page, path: Path, agent: str, overview: Overview) -> str:
    policy, known = overview.built.policy, overview.known
    if known.uncertain:
        return UNCERTAIN
    if not known.trusted:
        return "It does not count: the workspace is not trusted."
    if policy.disable_bypass:
        return "It does not count: `permissions.disableBypass` forbids it for all agents."
    config = policy.agents.get(agent)
    if config is not None and config.bypass_in_session:
        return "It does not count by this file; bypass is on until this window is closed."
    if config is not None and config.bypass:
        if config.bypass_file in (None, page.loaded.path):
            return "It counts."
        return f"It counts, by {code(f'{config.bypass_file}:{config.bypass_line}')}."
    claims = [claim for claim in overview.built.claims.values() if claim.path == path and not claim.moot]
    if page.name in OF_WORKSPACE and claims:
        state = claim_state(overview, claims[0])
        if state == "counts":
            return "It does not count yet: you confirmed it, but other settings of this agent wait for you."
        return f"It does not count: {claim_words(overview, state)}."
    return "It does not count: another file says `false`, or the agent is not one that counts."
