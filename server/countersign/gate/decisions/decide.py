"""``decide``: what the gate says of one call. Pure, but for looking at the disk through ``paths/path_judge.py``.

Rules, paths and shell make Findings; here they are weighed, one by one, by the numbered precedence, and folded: of
all that apply, the strictest stands. Nothing is asked, recorded or run.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, get_args

from countersign.gate.call import ToolCall
from countersign.gate.decision import Decision, RuleOffers, Weighed, strictest
from countersign.gate.decisions.decision_cache import key_of, lookup_if_unchanged, store
from countersign.gate.decisions.judge_effects import Judged, judge_effects
from countersign.gate.decisions.repeated import ask_if_repeated
from countersign.gate.decisions.sandbox import ask_outside_sandbox, auto_allowed
from countersign.gate.finding import Finding
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes.disk import record_probes
from countersign.gate.rules.rule_set import RuleSet, evidence
from countersign.settings.modes import CELLS
from countersign.settings.policy import Policy, RuleText
from countersign.wire.verdicts import Category, DecidedBy, Evidence, Mode, Source, Verdict

if TYPE_CHECKING:
    from countersign.gate.shell.syntax.bash_check import SyntaxChecker

_LOG = logging.getLogger(__name__)

MATRIX: Mapping[Category, Mapping[Mode, Verdict]] = {
    category: {mode: cells[category] for mode, cells in CELLS.items()} for category in get_args(Category)
}
"""docs/gate.md "Order of precedence". `acceptEdits` allows writing inside the workspace only; what `dontAsk` denies it
denies last of all."""

PLAN_REASON = "plan mode only reads; propose the change to the person instead of making it"


def decide(
    call: ToolCall,
    policy: Policy,
    modes: Sequence[Mode],
    grants: Sequence[RuleText] = (),
    *,
    check_syntax: SyntaxChecker | None = None,
    hook_denials: Sequence[Evidence] = (),
) -> Decision:
    """Weigh one call. Never raises: an error of our own denies.

    Each thing that the call touches is weighed by these rungs. 1 to 5 are all looked at and the strictest of what
    they say stands; only if none of them denies or asks do 6 to 8 count, the first that allows.

    1. **Floors**: what cannot be understood or shown honestly, removal of roots, protected paths, our own storage.
    2. **Deny rules** of any scope, whichever agent asks.
    3. **Hooks** that deny.
    4. **Ask rules** of any scope; broken deny and ask rules are such.
    5. **Mode blocks**: `plan` denies whatever is not category read.
       **Plain Bash**: a command outside the subset asks, whatever stands below; only a rule or grant that holds
       exactly its text lifts that.
    6. **Allow rules** (of a workspace only where it is trusted), then the chat's grants to this agent.
    7. **Bypass** of this agent, in a trusted workspace.
    8. **Mode allows**, by category: the matrix. Then `sandbox.autoAllow`, for a command that runs in the sandbox.
    9. Otherwise **ask**. A command that would run outside a sandbox that is configured asks, and so does a call that
       keeps having the same result (``repeated.py``). `dontAsk`, last of all, turns whatever still asks into deny.

    Of several modes the strictest cell counts; the workspace's own tightening is added to ``modes`` here. Of several
    things touched the strictest verdict stands. That nobody may be there to ask is the gate's business.
    """
    try:
        key = None if hook_denials else key_of(call, modes, grants, check_syntax)
        if key is None:
            with record_probes():  # all that is looked at is seen in one state, and looked up once
                decision = _decide(call, policy, modes, grants, check_syntax, hook_denials)
        else:
            decision = lookup_if_unchanged(policy, key) or _remembered(key, call, policy, modes, grants, check_syntax)
        return ask_if_repeated(decision, call, (*modes, *policy.tightening))
    except Exception:
        # A boundary: whatever went wrong in judging, going on is safe because the call is denied.
        _LOG.exception("judging a call of `%s` failed", call.tool)
        fault = Evidence(source="error", reason="judging the call failed, so it is denied; see the log")
        return Decision("deny", "floor", (fault,), (), fault.reason, grantable=False)


def _remembered(
    key: Hashable,
    call: ToolCall,
    policy: Policy,
    modes: Sequence[Mode],
    grants: Sequence[RuleText],
    check_syntax: SyntaxChecker | None,
) -> Decision:
    """Decide, and keep the decision with all that was looked at for it."""
    complaints: list[str] = []

    def check(text: str) -> str | None:
        complaint = check_syntax(text) if check_syntax is not None else None
        if complaint is not None:
            complaints.append(complaint)
        return complaint

    def judge() -> Decision:
        return _decide(call, policy, modes, grants, check if check_syntax is not None else None, ())

    with record_probes() as probes:
        decision = judge()
    # What bash complains of may be a trouble of this moment: a process that could not be started, say.
    if not complaints:
        store(policy, key, _for_later(decision, judge), probes)
    return decision


def _for_later(decision: Decision, judge: Callable[[], Decision]) -> Decision:
    """The decision as it is stored. The rules that a card offers are found anew: they rest on looks of their own."""

    def offers() -> RuleOffers:
        anew = judge().with_offers()
        return RuleOffers(anew.exact_rule, anew.proposals)

    return decision if decision.find_offers is None else replace(decision, find_offers=offers)


def compile_rules(policy: Policy) -> RuleSet:
    """The policy's rules, compiled once for each tuple of rules.

    INVARIANT (narrowing): allow rules of a workspace that is not trusted are left out, wherever they came from.
    """
    key = (id(policy.rules), policy.trusted)
    with _COMPILED_LOCK:
        found = _COMPILED.get(key)
        if found is not None and found[0] is policy.rules:
            _COMPILED.move_to_end(key)
            return found[1]
    compiled = RuleSet(
        source for source in policy.rules if policy.trusted or source.list != "allow" or source.scope != "workspace"
    )
    with _COMPILED_LOCK:
        _COMPILED[key] = (policy.rules, compiled)
        while len(_COMPILED) > 16:
            _COMPILED.popitem(last=False)
    return compiled


_COMPILED: OrderedDict[tuple[int, bool], tuple[tuple[RuleText, ...], RuleSet]] = OrderedDict()
"""By identity: comparing thousands of rules for each call would cost more than finding the right one. The tuple is
kept alive beside what was made of it, so that its identity cannot be another's."""
_COMPILED_LOCK = threading.Lock()


@lru_cache(maxsize=8)
def _with_chat(rules: RuleSet, grants: tuple[RuleText, ...]) -> RuleSet:
    return rules.with_chat(grants)


def judge_for(policy: Policy, rules: RuleSet, agent: str) -> PathJudge:
    """A judge of paths under this policy, for one call."""
    return PathJudge(
        policy.workspace,
        policy.home,
        policy.additional_directories,
        policy.own_paths,
        rules,
        agent,
        policy.control_paths,
        policy.workspace_control_paths,
        policy.additional_resolved,
    )


# --- weighing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _DecisionContext:
    """What is the same for everything that one call touches. ``mode_allows`` are the rows of the matrix that its modes
    allow, each with the words for it."""

    modes: tuple[Mode, ...]
    bypass: Evidence | None
    hooks: tuple[Evidence, ...]
    unreadable: tuple[Evidence, ...]
    confined: Evidence | None
    mode_allows: Mapping[Category, Evidence]


def _decide(
    call: ToolCall,
    policy: Policy,
    modes: Sequence[Mode],
    grants: Sequence[RuleText],
    check_syntax: SyntaxChecker | None,
    hook_denials: Sequence[Evidence],
) -> Decision:
    rules = _with_chat(compile_rules(policy), tuple(grants))
    in_force: tuple[Mode, ...] = tuple(dict.fromkeys((*modes, *policy.tightening))) or ("ask",)
    context = _DecisionContext(
        modes=in_force,
        bypass=_bypass_on(call.agent, session=policy.agents[call.agent].bypass_in_session)
        if policy.bypasses(call.agent)
        else None,
        hooks=tuple(hook_denials),
        unreadable=tuple(evidence(rule) for rule in rules.unreadable()),
        confined=auto_allowed(call, policy, in_force),
        mode_allows=_allowed_by(in_force),
    )
    paths = judge_for(policy, rules, call.agent)
    judged = judge_effects(call, rules, paths, check_syntax=check_syntax, builtin_reads=policy.builtin_reads)
    weighed = tuple(_weighed(judged, context))
    return ask_outside_sandbox(_fold(judged, weighed), call, policy, in_force)


@lru_cache(maxsize=64)
def _bypass_on(agent: str, *, session: bool) -> Evidence:
    reason = f"bypass is on for {agent} until this window is closed" if session else f"bypass is on for {agent}"
    return Evidence(source="bypass", reason=reason)


@lru_cache(maxsize=64)
def _allowed_by(modes: tuple[Mode, ...]) -> Mapping[Category, Evidence]:
    return {
        category: Evidence(source="mode", reason=_allowing(modes, category))
        for category, row in MATRIX.items()
        if all(row[mode] == "allow" for mode in modes)
    }


def _allowing(modes: tuple[Mode, ...], category: Category) -> str:
    if len(modes) == 1:
        return f"mode {modes[0]} allows {_ROW_WORDS[category]}"
    return f"modes {' and '.join(modes)} allow {_ROW_WORDS[category]}"


def _weighed(judged: Judged, context: _DecisionContext) -> Iterator[Weighed]:
    """The findings, each weighed by the row of the matrix that it really falls under.

    What a command touches is `execute` unless it only reads. A file that it reads inside is no question of its own:
    the command that reads it answers for it.
    """
    for group in judged.groups:
        if not group.command:
            for finding in group.findings:
                yield _weigh(finding, finding.category, context, neutral=finding.neutral, inside=finding.in_workspace)
            continue
        for finding in group.findings:
            category = "read" if finding.known_read or finding.neutral else "execute"
            operand = finding.kind == "read" and finding.requires_ask is None and not finding.not_covered_by_command
            yield _weigh(finding, category, context, neutral=finding.neutral or operand, inside=False)


_NEEDS_NO_RULE = (Evidence(source="default", reason="it needs no rule"),)


def _weigh(finding: Finding, category: Category, context: _DecisionContext, *, neutral: bool, inside: bool) -> Weighed:
    """The numbered precedence of ``decide``, for one thing that is touched in this row of the matrix."""
    is_read = category == "read"
    reasons: list[tuple[Verdict, Evidence]] = []
    # 1. Floors.
    for floor in finding.floors:
        if not (floor.bypassable and context.bypass):
            reasons.append((floor.verdict, floor.evidence))
    # 2. Deny rules.
    if finding.deny is not None:
        reasons.append(("deny", finding.deny))
    # 3. Hooks.
    for denial in context.hooks:
        reasons.append(("deny", denial))
    # 4. Ask rules, and broken rules that do not even name a tool.
    if finding.ask is not None:
        reasons.append(("ask", finding.ask))
    if not is_read:
        for broken in context.unreadable:
            reasons.append(("ask", broken))
    # 5. Mode blocks.
    if not is_read and "plan" in context.modes:
        reasons.append(("deny", Evidence(source="mode", reason=PLAN_REASON)))
    if reasons:
        verdict = strictest(said for said, _ in reasons)
        evidences = tuple(evidence for said, evidence in reasons if said == verdict)
        return _last_of_all(Weighed(finding, verdict, evidences, grantable=False), context)
    # Outside Plain Bash nothing below allows; a rule or grant of exactly this text has cleared it before.
    if finding.not_plain is not None:
        asked = (finding.not_plain, *((finding.requires_ask,) if finding.requires_ask else ()))
        return _last_of_all(Weighed(finding, "ask", asked, grantable=True), context)
    # 6. Allow rules, then grants.
    allowed = finding.allow or finding.grant
    if allowed is not None:
        return Weighed(finding, "allow", (allowed,), grantable=True)
    if neutral:
        return Weighed(finding, "allow", _NEEDS_NO_RULE, grantable=True)
    # 7. Bypass.
    if context.bypass and (finding.requires_ask is None or finding.bypassable):
        return Weighed(finding, "allow", (context.bypass,), grantable=True)
    # 8. Mode allows.
    by_mode = context.mode_allows.get(category)
    if by_mode is not None and all(_reaches(mode, finding, category, inside=inside) for mode in context.modes):
        return Weighed(finding, "allow", (by_mode,), grantable=True)
    if context.confined and finding.requires_ask is None:
        return Weighed(finding, "allow", (context.confined,), grantable=True)
    # 9. Otherwise ask.
    asked = finding.requires_ask or _said_by_default(
        finding.near_miss_reason or _unruled(category, context.modes, inside)
    )
    return _last_of_all(Weighed(finding, "ask", (asked,), grantable=True), context)


@lru_cache(maxsize=256)
def _said_by_default(reason: str) -> Evidence:
    return Evidence(source="default", reason=reason)


_ROW_WORDS: Mapping[Category, str] = {
    "read": "reading",
    "write": "edits",
    "execute": "commands",
    "external": "network and external tools",
}
_MODE_NAMES: Mapping[Mode, str] = {
    "plan": "Plan",
    "default": "Default",
    "acceptEdits": "Accept edits",
    "auto": "Auto",
    "ask": "Ask every time",
    "dontAsk": "Don't ask",
}
"""As the editor's picker has them."""


def _reaches(mode: Mode, finding: Finding, category: Category, *, inside: bool) -> bool:
    """Whether a mode that allows this row of the matrix allows this finding of it."""
    if finding.requires_ask is not None:
        return mode == "auto" and finding.auto_lifts
    return mode != "acceptEdits" or category != "write" or inside


@lru_cache(maxsize=256)
def _unruled(category: Category, modes: tuple[Mode, ...], inside: bool) -> str:
    """Name the modes that ask: one that allows this row, or that denies whatever asks, is not among them."""
    asking: list[Mode] = [
        mode
        for mode in modes
        if mode != "dontAsk" and (MATRIX[category][mode] != "allow" or (mode == "acceptEdits" and not inside))
    ]
    match asking:
        case []:
            return "no rule matches"
        case [mode]:
            return f"no rule matches. {_MODE_NAMES[mode]} mode asks before {_ROW_WORDS[category]}"
        case _:
            names = " and ".join(_MODE_NAMES[mode] for mode in asking)
            return f"no rule matches. {names} modes ask before {_ROW_WORDS[category]}"


def _last_of_all(weighed: Weighed, context: _DecisionContext) -> Weighed:
    """`dontAsk` turns whatever still asks into deny."""
    if weighed.verdict != "ask" or "dontAsk" not in context.modes:
        return weighed
    denial = Evidence(source="mode", reason=f"mode dontAsk denies what would ask: {weighed.evidence[0].reason}")
    return weighed._replace(verdict="deny", evidence=(denial, *weighed.evidence))


# --- folding ---------------------------------------------------------------------------------------------------------


def _fold(judged: Judged, weighed: tuple[Weighed, ...]) -> Decision:
    verdict = strictest(each.verdict for each in weighed)
    evidences = _deciding(weighed, verdict)
    return Decision(
        verdict=verdict,
        by="user" if verdict == "ask" else _BY[evidences[0].source],
        evidence=evidences,
        weighed=weighed,
        reason=_sentence(evidences[0]),
        risks=tuple(dict.fromkeys((*judged.risks, *(risk for each in weighed for risk in each.finding.risks)))),
        part_findings=judged.parts,
        grantable=all(each.grantable for each in weighed if each.verdict != "allow"),
        scripts=judged.scripts,
        exact_text=verdict == "allow" and judged.exact_text,
        runs=judged.runs if verdict == "allow" and not judged.exact_text else None,
        only_reads=verdict == "allow" and any(group.command for group in judged.groups) and all(map(_is_read, weighed)),
        # What a rule could say is offered on a card, so it is worked out only for one.
        find_offers=judged.offers if verdict == "ask" else None,
    )


def _is_read(weighed: Weighed) -> bool:
    """Whether this is allowed for no other reason than that it reads inside the workspace, or does nothing at all."""
    finding = weighed.finding
    reads = finding.known_read or finding.neutral or (finding.kind == "read" and not finding.not_covered_by_command)
    return reads and finding.requires_ask is None and weighed.evidence[0].source in ("mode", "default")


_BY: Mapping[Source, DecidedBy] = {
    "floor": "floor",
    "rule": "rule",
    "hook": "hook",
    "mode": "mode",
    "grant": "grant",
    "bypass": "bypass",
    "default": "mode",
    "nobody": "nobody",
    "error": "floor",
    "plainBash": "floor",
}


_TELLING: Mapping[Source, int] = {
    "error": 0, "floor": 1, "rule": 2, "hook": 3, "grant": 4, "bypass": 5, "plainBash": 6, "mode": 6,
    "default": 8, "nobody": 9,
}  # fmt: skip


def _deciding(weighed: Sequence[Weighed], verdict: Verdict) -> tuple[Evidence, ...]:
    """All evidence for the verdict: what a person or a floor said goes before what a mode lets pass, and what must be
    asked for before what merely has no rule."""
    told: dict[int, list[Evidence]] = {}
    last: tuple[Evidence, ...] = ()
    for each in weighed:
        # Most of what a long text touches says the very same thing as what stood before it.
        if each.verdict == verdict and each.evidence is not last:
            last = each.evidence
            telling = 7 if last[0] is each.finding.requires_ask else _TELLING[last[0].source]
            told.setdefault(telling, []).extend(last)
    return tuple(dict.fromkeys(said for telling in sorted(told) for said in told[telling]))


def _sentence(said: Evidence) -> str:
    """Why, in one sentence, with the rule and where it stands."""
    if said.rule is None:
        return said.reason
    place = f" ({said.file}:{said.line})" if said.file and said.line else ""
    return said.reason if f"`{said.rule}`" in said.reason else f"{said.reason}: `{said.rule}`{place}"
