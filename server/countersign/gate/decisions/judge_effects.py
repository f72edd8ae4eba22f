"""From a call's Effects to Findings: which judge looks at which effect, and what rule would cover the call.

Paths go to ``paths/path_judge.py``, commands to ``shell``; addresses and other tools are looked up here. Precedence is
``decide.py``'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from countersign.gate.call import FetchUrl, ProposePlan, ReachHost, ReadPath, RunCommand, ToolCall, UseTool, WritePath
from countersign.gate.decision import NO_OFFERS, RuleOffers
from countersign.gate.decisions.hosts import host_rule, reach_finding
from countersign.gate.decisions.urls import url_host
from countersign.gate.finding import Finding, Floor
from countersign.gate.paths.path_evidence import PathTool
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import ParamPattern
from countersign.gate.probes.hidden_characters import hidden_character
from countersign.gate.rules.rule import CANONICAL, HOST_TOOL, NARROWER_THAN_READ
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet, evidence
from countersign.wire.base import Json
from countersign.wire.verdicts import Category, Evidence

if TYPE_CHECKING:
    from countersign.gate.shell.judge import CommandJudgement
    from countersign.gate.shell.syntax.bash_check import SyntaxChecker

_ROW: Mapping[Category, int] = {"read": 0, "write": 1, "execute": 2, "external": 3}
"""Rows of the matrix from the mildest to the strictest."""


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one effect; ``command`` where they are parts of one command."""

    findings: tuple[Finding, ...]
    command: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """All that a call touches, in order, and how to find out what a rule for it would say.

    ``parts`` are a command's parts with the indexes of their findings among all findings and their risks;
    ``exact_text`` says that a rule or grant holds exactly the text of every command in it. ``runs`` is the printed
    text of its command.
    """

    groups: tuple[Group, ...]
    offers: Callable[[], RuleOffers]
    risks: tuple[str, ...] = ()
    parts: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...] = ()
    scripts: tuple[str, ...] = ()
    exact_text: bool = False
    runs: str | None = None


def judge_effects(
    call: ToolCall,
    rules: RuleSet,
    paths: PathJudge,
    *,
    check_syntax: SyntaxChecker | None,
    builtin_reads: bool,
) -> Judged:
    """Find out about everything that a call touches; at least one finding, whatever its tool declares."""
    gathered = _Gathered()
    for effect in call.effects:
        match effect:
            case ReadPath(path=path, below=below, mentioned=True, loose=loose):
                said = paths.judge_mention(path, cwd=call.cwd, below=below, loose=loose)
                if said is not None:
                    gathered.add(said)
                    gathered.rule(None)
            case ReadPath(path=path, below=below):
                gathered.add(paths.judge_read(path, cwd=call.cwd, below=below))
                gathered.says(_path_offers(paths, "Read", path, call.cwd))
            case WritePath(path=path, operation=operation):
                gathered.add(paths.judge_write(path, cwd=call.cwd, operation=operation))
                gathered.says(_path_offers(paths, "Edit", path, call.cwd))
            case RunCommand():
                from countersign.gate.shell.judge import judge_command  # noqa: PLC0415 its tables are loaded when a command comes

                judgement = judge_command(
                    effect, rules, paths, call.agent, check_syntax=check_syntax, builtin_reads=builtin_reads
                )
                gathered.command(effect, judgement)
            case FetchUrl(url=url):
                gathered.add(_fetch(url, rules, call.agent))
                host = url_host(url).host
                gathered.rule(f"WebFetch(domain:{host})" if host else None)
            case ReachHost(host=host):
                gathered.add(reach_finding(host, rules, call.agent))
                gathered.rule(host_rule(host))
            case UseTool():
                gathered.add(_tool(effect, call, rules))
                gathered.rule(*_tool_rules(effect, call))
            case ProposePlan():
                gathered.add(_PLAN)
                gathered.rule(None)
            case _:
                assert_never(effect)
    own = _own_tool(call, rules, gathered.groups)
    if own is not None:
        gathered.add(own)
        gathered.rule(None)
    return gathered.judged()


# --- gathering -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Gathered:
    """Findings as they come in. The rule that covers the call can be said only while it touches one thing."""

    groups: list[Group] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    parts: list[tuple[str, tuple[int, ...], tuple[str, ...]]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    offers: list[Callable[[], RuleOffers]] = field(default_factory=list)
    exact_texts: list[bool] = field(default_factory=list)
    printed: dict[str | None, None] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        self.groups.append(Group((finding,)))

    def rule(self, exact: str | None, wider: Sequence[str] = ()) -> None:
        said = _offers_of(exact, wider)
        self.says(lambda: said)

    def says(self, offers: Callable[[], RuleOffers]) -> None:
        self.offers.append(offers)

    def command(self, effect: RunCommand, judgement: CommandJudgement) -> None:
        start = sum(len(group.findings) for group in self.groups)
        findings = tuple(judgement.findings)
        if not findings:
            # Nothing was found in it, so nothing speaks for it either.
            findings = (Finding(kind="command", resource=effect.command, category="execute"),)
        if not effect.understood:
            hint = Evidence(source="floor", reason="the agent did not state the exact command")
            findings = tuple(finding._replace(floors=(*finding.floors, Floor("ask", hint))) for finding in findings)
        self.groups.append(Group(findings, command=True))
        self.risks += judgement.risks
        self.scripts += judgement.scripts
        self.exact_texts.append(judgement.exact_text)
        self.printed[judgement.printed] = None
        if start == 0:
            self.parts += judgement.parts
        else:
            self.parts += [
                (part.text, tuple(start + index for index in part.findings), part.risks) for part in judgement.parts
            ]
        self.says(lambda: RuleOffers(*judgement.offers()))

    def judged(self) -> Judged:
        return Judged(
            groups=tuple(self.groups),
            offers=self.said,
            risks=tuple(self.risks),
            parts=tuple(self.parts),
            scripts=tuple(dict.fromkeys(self.scripts)),
            exact_text=bool(self.exact_texts) and all(self.exact_texts),
            runs=next(iter(self.printed)) if len(self.printed) == 1 else None,
        )

    def said(self) -> RuleOffers:
        found = {offers() for offers in self.offers}
        return found.pop() if len(found) == 1 else NO_OFFERS


def _offers_of(exact: str | None, wider: Sequence[str] = ()) -> RuleOffers:
    return RuleOffers(exact, (*([exact] if exact else []), *wider))


def _path_offers(paths: PathJudge, tool: PathTool, path: str, cwd: str) -> Callable[[], RuleOffers]:
    def say() -> RuleOffers:
        exact = paths.exact_rule(tool, path, cwd=cwd)
        if paths.holds_secret(path, cwd=cwd):
            # A grant covers the folder itself; a rule of this text would cover the keys in it as well.
            return RuleOffers(exact)
        return _offers_of(exact, paths.wider_rules(tool, path, cwd=cwd))

    return say


# --- addresses and other tools ---------------------------------------------------------------------------------------


def _fetch(url: str, rules: RuleSet, agent: str) -> Finding:
    found = url_host(url)
    floors = () if found.unclear is None else (Floor("ask", Evidence(source="floor", reason=found.unclear)),)

    def first(listed: ListName, hosts: Sequence[str]) -> Evidence | None:
        matching = [rule for host in hosts for rule in rules.hosts(listed, host, agent)]
        return evidence(matching[0]) if matching else None

    suspects = found.suspects or ("",)
    hosts = () if found.host is None else (found.host,)
    return Finding(
        kind="fetch",
        resource=url,
        category="external",
        floors=floors,
        deny=first("deny", suspects),
        ask=first("ask", suspects),
        allow=first("allow", hosts),
        grant=first("grant", hosts),
    )


_PLAN = Finding(
    kind="external",
    resource="plan",
    category="read",
    requires_ask=Evidence(
        source="default",
        reason="the agent asks whether it may follow its plan; each call that it makes then is decided by itself",
    ),
    bypassable=False,
)
"""It changes nothing, so Plan mode lets it be asked; only a person answers it: no rule, mode or bypass does."""


def _tool(effect: UseTool, call: ToolCall, rules: RuleSet) -> Finding:
    name = effect.name
    finding = Finding(kind="external", resource=name, category=call.category)
    if name == "Agent":
        target = effect.server or _text(call.arguments.get("agent")) or call.agent
        finding = finding._replace(resource=f"Agent({target})")
        return _with_rules(finding, {listed: rules.agents(listed, target, call.agent) for listed in _LISTS})
    return _with_rules(finding, _tool_rules_for(name, effect.server, call, rules))


def _own_tool(call: ToolCall, rules: RuleSet, groups: Sequence[Group]) -> Finding | None:
    """A finding for the tool itself, where its effects do not already say all of it.

    Needed where a deny or ask rule names the tool, where it names no effect at all, and where its category is
    stricter than all that it says it touches. Names that stand for an effect (`shell`, `read_file`) are no tools here.
    """
    named = Finding(kind="external", resource=call.tool, category=call.category)
    seen: list[Category] = [finding.category for group in groups for finding in group.findings]
    commands = any(group.command for group in groups)
    stricter = not seen or (not commands and _ROW[call.category] > max(_ROW[category] for category in seen))
    if any(isinstance(effect, UseTool) and effect.name == call.tool for effect in call.effects):
        return None
    if call.tool not in CANONICAL and call.tool not in NARROWER_THAN_READ and call.tool != HOST_TOOL:
        named = _with_rules(named, _tool_rules_for(call.tool, None, call, rules))
    return named if stricter or named.deny is not None or named.ask is not None else None


_LISTS: tuple[ListName, ...] = ("deny", "ask", "allow", "grant")


def _tool_rules_for(name: str, server: str | None, call: ToolCall, rules: RuleSet) -> dict[ListName, list[Rule]]:
    found: dict[ListName, list[Rule]] = {listed: [] for listed in _LISTS}
    for listed in _LISTS:
        for rule in rules.tools(listed, name, call.agent, server):
            if rule.specifier is None:
                found[listed].append(rule)
            elif isinstance(rule.specifier, ParamPattern):
                value = call.arguments.get(rule.specifier.param)
                if _is_nested(value):
                    # What a nested value comes to is not known, so a rule about it asks.
                    found["ask"].append(rule)
                elif value is not None and rule.specifier.matches(_text(value) or ""):
                    found[listed].append(rule)
    return found


def _with_rules(finding: Finding, found: Mapping[ListName, Sequence[Rule]]) -> Finding:
    first = {listed: evidence(matching[0]) if matching else None for listed, matching in found.items()}
    return finding._replace(deny=first["deny"], ask=first["ask"], allow=first["allow"], grant=first["grant"])


def _tool_rules(effect: UseTool, call: ToolCall) -> tuple[str | None, tuple[str, ...]]:
    """The rule for exactly this tool, and the one for its whole server."""
    if effect.name == "Agent":
        target = effect.server or _text(call.arguments.get("agent"))
        # A rule takes blanks around a name as none, and a star as any text.
        sayable = target and target == target.strip() and "*" not in target and hidden_character(target) is None
        return (f"Agent({target})" if sayable else None), ()
    parts = effect.name.split("__")
    if parts[0] != "mcp" or len(parts) < 3:
        return None, ()
    # Servers and agents choose these names: one with a star is no pattern, and one with parentheses no argument.
    server = f"mcp__{effect.server or parts[1]}"
    wider = (server,) if _SAYABLE_NAME.fullmatch(server) else ()
    return (effect.name if _SAYABLE_NAME.fullmatch(effect.name) else None), wider


_SAYABLE_NAME = re.compile(r"mcp__[\w.-]+")
"""Names of tools and servers that a rule of the same text means, and nothing else."""


def _is_nested(value: Json) -> bool:
    return isinstance(value, (list, dict))


def _text(value: Json) -> str | None:
    """A scalar as a person would write it in a rule."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return repr(value)
    return None
