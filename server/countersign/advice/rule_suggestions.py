"""Hygiene of rules from what has happened: rules that would spare a person cards, and what a rule would have matched.

Past calls are judged again by ``decide`` itself, under the policy of now with one rule more, so that nothing is said of
a rule that it would not really do. Rows of the ledger in, proposals and counts out; nothing is read, kept or applied
here. What is lost: rows hold redacted text, and of a hosted agent's call its raw input only, so such calls are counted
as not judged; and links are followed as they lie on the disk today.

INVARIANT (narrowing): a rule is proposed only as the rule engine itself words it, for calls that nothing but the lack
of a rule made ask, and never where it would have let through what a person denied.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from countersign.advice.explain import TOOL_NAMES, BadQuestion, supposed_call
from countersign.advice.lint import lint_rules
from countersign.gate import MARK, Decision, ReadPath, ToolCall, WritePath, compile_rules, judge_for, visible
from countersign.settings.policy import Policy, RuleText
from countersign.wire.base import Json
from countersign.wire.history import HistoryEntry

if TYPE_CHECKING:
    from countersign.gate import Decide

LEAST = 3
"""Cards that a person must have approved before a rule is worth proposing."""
MOST_TRIED, MOST_PROPOSED, MOST_EXAMPLES = 24, 8, 3
MOST_SUSPECTS = 20
"""Texts of one input that are looked at where it is not known what the call would have done."""
MOST_DENIED = 500
"""Refused calls, all different, that every rule is tried on; where there are more, nothing is proposed."""

_TRIAL = "(proposal)"
"""Stands in place of the file of a rule that is only being tried."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An allow rule, and the cards it would have spared.

    ``since`` and ``last`` are when the first and the last of them were answered; ``examples`` are some of their
    subjects, fit to be shown.
    """

    rule: str
    spared: int
    since: str
    last: str
    examples: tuple[str, ...]
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposals:
    """``looked`` answers of a person were looked at, back to ``since``; ``unjudged`` of them could not be judged again
    and count for no proposal."""

    proposals: tuple[Proposal, ...]
    looked: int
    unjudged: int
    since: str | None


@dataclass(frozen=True, slots=True)
class Matched:
    """Of ``calls`` past calls a rule matches ``matched``, and ``through`` of these it would let through by itself.
    ``unjudged`` more could not be judged again."""

    calls: int
    matched: int
    through: int
    unjudged: int


def propose(
    answers: Sequence[HistoryEntry], policy: Policy, decide: Decide, *, tools: Collection[str] = ()
) -> Proposals:
    """Rules that would have spared a person cards, the most useful first.

    Args:
        answers: rows of what persons decided; other rows are passed over.
        tools: names of tools that exist beside those that the gate knows.
    """
    bench = _Bench(_without_bypass(policy), decide)
    past = [_Answered(entry, said, bench.call_of(entry)) for entry in answers if (said := _answer(entry)) is not None]
    denied = bench.refused(each for each in past if each.said == "denied")
    opaque = any(each.said == "denied" and each.call is None for each in past)
    tried: list[_Tried] = []
    for width, rule, calls in _candidates(past, bench) if len(denied) <= MOST_DENIED else ():
        if (opaque and rule.startswith("mcp__")) or _is_faulty(rule, policy, tools):
            continue
        trial = bench.with_rule(RuleText("allow", rule, scope="user", file=_TRIAL))
        if any(trial.decision(call).verdict == "allow" for call in denied):
            continue
        spared = tuple(each for each in calls if each.call is not None and trial.decision(each.call).verdict == "allow")
        if len(spared) >= LEAST:
            tried.append(_Tried(rule, width, spared))
    return Proposals(
        proposals=tuple(_as_proposal(each) for each in _chosen(tried)),
        looked=len(past),
        unjudged=sum(each.call is None for each in past),
        since=min((each.entry.at for each in past), default=None),
    )


def matched_by(source: RuleText, rows: Sequence[HistoryEntry], policy: Policy, decide: Decide) -> Matched:
    """What this rule, alone of all rules, would have matched of the calls that these rows are about."""
    alone = replace(_without_bypass(policy), trusted=True, tightening=(), rules=(replace(source, scope="user"),))
    bench = _Bench(alone, decide)
    entries = {entry.receipt_id: entry for entry in rows}.values()
    calls = [call for entry in entries if (call := bench.call_of(entry)) is not None]
    speaking = [decision for call in calls if _speaks(source, decision := bench.decision(call))]
    through = sum(decision.verdict == "allow" for decision in speaking)
    return Matched(len(calls), len(speaking), through, len(entries) - len(calls))


# --- the past --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answered:
    """A card and what a person said. ``call`` is None where it cannot be judged again."""

    entry: HistoryEntry
    said: Literal["allowed", "denied"]
    call: ToolCall | None


def _answer(entry: HistoryEntry) -> Literal["allowed", "denied"] | None:
    """What a person said to a card; None for rows that are no such answer. What they edited before it ran they did not
    allow as it was, and what they closed neither."""
    if entry.phase != "decided" or entry.by != "user" or entry.approval_id is None:
        return None
    edited = (entry.outcome or {}).get("note") == "edited by you"
    return "allowed" if entry.verdict == "allow" and not edited else "denied"


class _Bench:
    """One policy to judge past calls under. A class because the same call comes again and again: it is judged once."""

    def __init__(self, policy: Policy, decide: Decide) -> None:
        self.policy = policy
        self._decide = decide
        self._decisions: dict[str, Decision] = {}

    def with_rule(self, rule: RuleText) -> _Bench:
        return _Bench(replace(self.policy, rules=(*self.policy.rules, rule)), self._decide)

    def decision(self, call: ToolCall) -> Decision:
        """What would be said of the call in mode `default`, without grants."""
        key = _key(call)
        found = self._decisions.get(key)
        if found is None:
            found = self._decisions[key] = self._decide(call, self.policy, ("default",), ())
        return found

    def call_of(self, entry: HistoryEntry) -> ToolCall | None:
        """The call of a row, or None where the row does not hold all of it."""
        known = entry.tool in TOOL_NAMES or entry.tool.startswith("mcp__")
        if not known or not isinstance(entry.input, dict) or MARK in json.dumps(entry.input):
            return None
        return self._supposed(entry.tool, entry.input, entry.agent_name)

    def refused(self, denied: Iterable[_Answered]) -> Sequence[ToolCall]:
        """The calls that a person denied and that a rule could let through, each once; MOST_DENIED and one at most."""
        found: dict[str, ToolCall] = {}
        for each in denied:
            for call in self._suspects(each):
                decision = self.decision(call)
                if decision.verdict == "ask" and decision.grantable:
                    found[_key(call)] = call
                if len(found) > MOST_DENIED:
                    return tuple(found.values())
        return tuple(found.values())

    def _suspects(self, answered: _Answered) -> Iterator[ToolCall]:
        """The call, or, where it cannot be judged again, all that it may have been: whatever text is in its input, as
        a command, as a path and as an address."""
        if answered.call is not None:
            yield answered.call
            return
        for text in [*dict.fromkeys(_texts(answered.entry.input))][:MOST_SUSPECTS]:
            for tool, key in (
                ("shell", "command"),
                ("write_file", "path"),
                ("read_file", "path"),
                ("web_fetch", "url"),
            ):
                call = self._supposed(tool, {key: text.replace(MARK, "hidden")}, answered.entry.agent_name)
                if call is not None:
                    yield call

    def _supposed(self, tool: str, arguments: Mapping[str, Json], agent: str) -> ToolCall | None:
        try:
            return supposed_call({"tool": tool, "args": dict(arguments), "agent": agent}, self.policy)
        except BadQuestion:
            return None


def _key(call: ToolCall) -> str:
    return json.dumps([call.agent, call.tool, dict(call.arguments)], sort_keys=True)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _without_bypass(policy: Policy) -> Policy:
    return replace(policy, agents={})


def _speaks(source: RuleText, decision: Decision) -> bool:
    spoken = (*decision.evidence, *(effect.evidence for effect in decision.effects))
    return any(one.source == "rule" and one.rule == source.text for one in spoken)


# --- proposals -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tried:
    """A rule that held when it was tried. ``width`` counts the narrower ones that the engine had for the call."""

    rule: str
    width: int
    spared: tuple[_Answered, ...]


def _candidates(past: Sequence[_Answered], bench: _Bench) -> list[tuple[int, str, list[_Answered]]]:
    """The rules that the engine would have offered on the approved cards, with their width and these cards."""
    offered: defaultdict[str, list[_Answered]] = defaultdict(list)
    widths: dict[str, int] = {}
    for each in past:
        if each.said != "allowed" or each.call is None:
            continue
        decision = bench.decision(each.call)
        if decision.verdict != "ask" or not decision.grantable or _reaches_out(each.call, bench.policy):
            continue
        for width, rule in enumerate(decision.with_offers().proposals):
            offered[rule].append(each)
            widths[rule] = max(width, widths.get(rule, 0))
    often = [(widths[rule], rule, calls) for rule, calls in offered.items() if len(calls) >= LEAST]
    return sorted(often, key=lambda one: (-len(one[2]), one[0]))[:MOST_TRIED]


def _reaches_out(call: ToolCall, policy: Policy) -> bool:
    """Whether it is about a secret, or a path outside the workspace: each such card is worth being looked at."""
    paths = judge_for(policy, compile_rules(policy), call.agent)
    for effect in call.effects:
        match effect:
            case ReadPath(path=path, below=below):
                if paths.judge_read(path, cwd=call.cwd, below=below).requires_ask is not None:
                    return True
            case WritePath(path=path, operation=operation):
                read = paths.judge_read(path, cwd=call.cwd)
                if (
                    paths.judge_write(path, cwd=call.cwd, operation=operation).requires_ask or read.requires_ask
                ) is not None:
                    return True
            case _:
                pass
    return False


def _is_faulty(rule: str, policy: Policy, tools: Collection[str]) -> bool:
    """Whether the linter has anything against it: too wide, never counting, or shadowed."""
    trial = RuleText("allow", rule, scope="user", file=_TRIAL)
    return any(problem.file == _TRIAL for problem in lint_rules([*policy.rules, trial], tools))


def _chosen(tried: Sequence[_Tried]) -> list[_Tried]:
    """Few rules for many cards: each time the one that spares most of what is left, and in its place a narrower one
    that spares nearly as much of the same."""
    chosen: list[_Tried] = []
    left = {each.entry.receipt_id for one in tried for each in one.spared}
    while len(chosen) < MOST_PROPOSED:
        reach = {one.rule: {each.entry.receipt_id for each in one.spared} & left for one in tried}
        best = max(tried, key=lambda one: (len(reach[one.rule]), -one.width), default=None)
        if best is None or len(reach[best.rule]) < LEAST:
            break
        near = [
            one
            for one in tried
            if one.width <= best.width
            and reach[one.rule] <= reach[best.rule]
            and 4 * len(reach[one.rule]) >= 3 * len(reach[best.rule])
        ]
        best = min(near, key=lambda one: (one.width, -len(reach[one.rule])))
        left -= reach[best.rule]
        chosen.append(best)
    return sorted(chosen, key=lambda one: -len(one.spared))


def _as_proposal(tried: _Tried) -> Proposal:
    times = [each.entry.at for each in tried.spared]
    return Proposal(
        rule=tried.rule,
        spared=len(tried.spared),
        since=min(times),
        last=max(times),
        examples=tuple(dict.fromkeys(_subject(each.entry) for each in tried.spared))[:MOST_EXAMPLES],
        agents=tuple(sorted({each.entry.agent_name for each in tried.spared})),
    )


def _subject(entry: HistoryEntry) -> str:
    given = entry.input if isinstance(entry.input, dict) else {}
    for key in ("command", "path", "url"):
        if isinstance(text := given.get(key), str):
            return visible(text)
    return entry.tool
