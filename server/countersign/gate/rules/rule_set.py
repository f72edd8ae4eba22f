"""The RuleSet: which few of many rules could speak about one effect.

A RuleSet is built once for thousands of rules and then asked often. Every rule hangs under the rarest literal piece
of its pattern (a word, a path segment, a label of a host), so that a look-up costs as much as the effect has pieces,
not as there are rules. What it gives are candidates: whether a rule matches is asked of its pattern. Reading rules is
``rule.py``'s business, matching ``pattern``'s, precedence ``decisions/decide.py``'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from countersign.gate.patterns import CommandPattern, HostPattern, NamePattern, PathPattern, Root
from countersign.gate.rules.index_keys import (
    ALWAYS,
    Edge,
    InnerTexts,
    Key,
    edge_keys,
    edges_of,
    host_keys,
    rule_keys,
    segment_keys,
    tool_keys,
    wild_rule_keys,
    word_pieces,
)
from countersign.gate.rules.rule import BadRule, ListName, Rule, compile_rule, evidence, parse_rule
from countersign.gate.rules.subtree_index import Place, Reach
from countersign.settings.policy import Problem, RuleText
from countersign.wire.verdicts import Evidence

__all__ = [
    "BadRule",
    "CommandPattern",
    "Evidence",
    "HostPattern",
    "ListName",
    "NamePattern",
    "PathPattern",
    "Rule",
    "RuleSet",
    "compile_rule",
    "evidence",
    "parse_rule",
]

_PROGRAMS_KEPT = 512
"""How many answers of ``commands_of`` a RuleSet keeps: programs and agents are few, but their names are not ours."""

_ANSWERS_KEPT = 4096
"""The same of ``commands_by_list``, by the pieces of rules that are among the words."""

_CROWDED = 8
"""Rules under one key from which on a rule with a wildcard looks for a rarer one inside its words."""

_SCOPE_ORDER = {"managed": 0, "user": 1, "workspace": 2, "default": 3, "chat": 4, "grant": 5}

_OF_PATHS = ("Read", "Edit")

T = TypeVar("T")


class RuleSet:
    """Compiled rules, found by what an effect touches. Never changes once built, and is safe to share.

    ``with_chat`` puts a chat's grants and own rules on top without building the rest anew. Lists of rules come in the
    order of scope (managed, user, workspace, the chat's own) and, within one, as they were written.
    """

    __slots__ = (
        "_derived", "_edges", "_inner", "_layers", "_named_tools", "_of_pieces", "_of_program", "_pieces", "_rest",
        "problems",
    )  # fmt: skip

    def __init__(self, sources: Iterable[RuleText] = (), *, under: RuleSet | None = None) -> None:
        compiled = [compile_rule(source) for source in _unique(sources)]
        self.problems: tuple[Problem, ...] = tuple(problem for _, problem in compiled if problem)
        layer = _Layer([rule for rule, _ in compiled if rule is not None])
        self._layers: tuple[_Layer, ...] = (*under._layers, layer) if under else (layer,)
        # What `commands_of` found: the same every time, since rules never change once built.
        self._of_program: dict[tuple[ListName, str | None, str], tuple[Rule, ...]] = {}
        self._of_pieces: dict[tuple[object, ...], Mapping[ListName, list[Rule]]] = {}
        self._derived: dict[object, Any] = {}
        tools = {key for layer in self._layers for key in layer.tools}
        self._named_tools = tools | {
            (tool, listed) for any_tool, listed in tools if any_tool == "*" for tool in _OF_PATHS
        }
        commands = [layer.commands for layer in self._layers]
        self._pieces = frozenset[str]().union(*(each.pieces for each in commands))
        self._rest = frozenset[Key]().union(*(each.rest for each in commands))
        self._inner = InnerTexts(text for each in commands for text in each.inner)
        self._edges = frozenset[Edge]().union(*(each.edges for each in commands))

    def with_chat(self, sources: Sequence[RuleText]) -> RuleSet:
        """These rules and, on top, those of a chat."""
        return RuleSet(sources, under=self) if sources else self

    def rules(self) -> Iterator[Rule]:
        """All rules that count; a broken deny or ask rule is among them as an ask for the whole tool."""
        for layer in self._layers:
            yield from layer.rules

    def commands(self, listed: ListName, words: Sequence[str], agent: str) -> list[Rule]:
        """The `Bash` rules of this list that could match a simple command of these words.

        Ask each rule's ``specifier`` whether it ``covers`` (allow, grant) or ``touches`` (deny, ask) the words; a
        ``specifier`` of None is `Bash` alone and covers every command.
        """
        return self.commands_by_list(words, agent).get(listed, [])

    def commands_by_list(self, words: Sequence[str], agent: str) -> Mapping[ListName, list[Rule]]:
        """``commands`` for each list that has any: one look-up, since whoever asks of one list asks of the others."""
        pieces = word_pieces(words)
        # Words differ, but which pieces of rules are among them hardly does.
        edges = self._rest.intersection(edge_keys(pieces, self._edges)) if self._edges else None
        inner = self._inner.among(pieces) if self._inner.all else None
        key = (agent, self._pieces & pieces, edges, inner)
        found = self._of_pieces.get(key)
        if found is None:
            if len(self._of_pieces) >= _ANSWERS_KEPT:
                self._of_pieces.clear()
            heaps = [heap for layer in self._layers for heap in layer.commands.look_up(pieces, inner or ())]
            found = self._of_pieces[key] = self._by_list(heaps, agent)
        return found

    def _by_list(self, heaps: Iterable[Sequence[Rule]], agent: str) -> Mapping[ListName, list[Rule]]:
        by_list: dict[ListName, list[Rule]] = {}
        for rule in {id(rule): rule for heap in heaps for rule in heap}.values():
            if rule.serves(agent):
                by_list.setdefault(rule.list, []).append(rule)
        for rules in by_list.values():
            rules.sort(key=self._place)
        return by_list

    def commands_of(self, listed: ListName, program: str | None, agent: str) -> Sequence[Rule]:
        """The rules that could match some command of this program, or of any if None: `Bash` rules and rules for any
        tool.

        For words that are not known before they run. Costs as much as there are such rules, the first time.
        """
        key = (listed, None if program is None else _base(program), agent)
        found = self._of_program.get(key)
        if found is None:
            if len(self._of_program) >= _PROGRAMS_KEPT:
                self._of_program.clear()
            found = self._of_program[key] = tuple(self._in_order(self._programs(listed, key[1], agent)))
        return found

    def _programs(self, listed: ListName, base: str | None, agent: str) -> Iterator[Rule]:
        for layer in self._layers:
            for rule in layer.of_tool("Bash", listed):
                first = rule.specifier.first_word if isinstance(rule.specifier, CommandPattern) else None
                if (base is None or first is None or _base(first) == base) and rule.serves(agent):
                    yield rule
            for rule in layer.of_tool("*", listed):
                if rule.serves(agent) and NamePattern(rule.tool).matches("Bash"):
                    yield rule

    def speaks_of(self, tool: Literal["Read", "Edit"], listed: ListName) -> bool:
        """Whether this list has any rule about such paths. Most have none, and need not be looked up for each path."""
        return (tool, listed) in self._named_tools

    def limits(self, tool: Literal["Read", "Edit"]) -> bool:
        """Whether any deny or ask rule is about such paths."""
        return (tool, "deny") in self._named_tools or (tool, "ask") in self._named_tools

    def path_rules(self, tool: Literal["Read", "Edit"], listed: ListName) -> Iterator[Rule]:
        """All rules of this list that hold a pattern of paths, whatever it matches."""
        for layer in self._layers:
            yield from (rule for rule in layer.of_tool(tool, listed) if isinstance(rule.specifier, PathPattern))

    def derived(self, key: object, make: Callable[[], T]) -> T:
        """Return what ``make`` derives from these rules alone; made once, since rules never change once built."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def paths(self, tool: Literal["Read", "Edit"], listed: ListName, segments: Sequence[str], agent: str) -> list[Rule]:
        """The rules of this list that could match a path with these segments (counted from `/`)."""
        return self._find(tool, listed, lambda edges: segment_keys(segments, edges), agent)

    def below(
        self,
        tool: Literal["Read", "Edit"],
        listed: ListName,
        places: Mapping[Root, Place],
        agent: str,
        parts: Sequence[str] | None = None,
        *,
        is_idle: Callable[[Rule], bool] | None = None,
    ) -> Rule | None:
        """A rule of this list that might match something below a folder, or None if there is none.

        ``places`` says where the folder lies relative to each root that patterns are anchored at; ``parts`` are the
        segments of a shell's pattern, if only what that may turn into counts. A rule that ``is_idle`` does not count.
        """
        for layer in self._layers:
            for rule in layer.reach(tool, listed).rules(places):
                if not rule.serves(agent) or (parts is not None and not _could_meet(rule, places, parts)):
                    continue
                if is_idle is None or not is_idle(rule):
                    return rule
        return None

    def hosts(self, listed: ListName, host: str, agent: str) -> list[Rule]:
        """The `WebFetch` rules of this list that match this host (lower case, no trailing dot)."""
        rules = self._find("WebFetch", listed, lambda _: host_keys(host), agent)
        return [rule for rule in rules if not isinstance(rule.specifier, HostPattern) or rule.specifier.matches(host)]

    def tools(self, listed: ListName, name: str, agent: str, server: str | None = None) -> list[Rule]:
        """The rules of this list that name this tool, by its own name, its MCP server's or with a wildcard.

        Rules that look at an argument are among them; their ``specifier`` decides. ``server`` is the MCP server as it
        is configured: an allow rule for ``mcp__a`` does not cover a tool ``b__x`` of a server ``a__b``.
        """
        found: dict[int, Rule] = {}
        for layer in self._layers:
            for key in tool_keys(name, server, wide=listed in ("deny", "ask")):
                for rule in layer.of_tool(key, listed):
                    if rule.serves(agent) and ("*" not in rule.tool or NamePattern(rule.tool).matches(name)):
                        found.setdefault(id(rule), rule)
        return self._in_order(found.values())

    def agents(self, listed: ListName, name: str, agent: str) -> list[Rule]:
        """The `Agent` rules of this list that match a sub-agent or hosted agent of this name."""
        rules = self._find("Agent", listed, lambda _: (("=", name),), agent)
        return [rule for rule in rules if not isinstance(rule.specifier, NamePattern) or rule.specifier.matches(name)]

    def unreadable(self) -> list[Rule]:
        """Broken deny and ask rules that do not even name a tool: every call that is not a read asks.

        See docs/gate.md "Order of precedence".
        """
        return [rule for layer in self._layers for rule in layer.of_tool("", "ask")]

    def _find(
        self, tool: str, listed: ListName, keys: Callable[[frozenset[Edge]], Iterable[Key]], agent: str
    ) -> list[Rule]:
        found: dict[int, Rule] = {}
        for layer in self._layers:
            index = layer.index.get((tool, listed))
            if index is not None:
                hits = map(index.get, dict.fromkeys((ALWAYS, *keys(layer.edges[tool, listed]))))
                found.update((id(rule), rule) for hit in hits if hit for rule in hit if rule.serves(agent))
            for rule in layer.of_tool("*", listed):
                if rule.serves(agent) and NamePattern(rule.tool).matches(tool):
                    found[id(rule)] = rule
        return self._in_order(found.values())

    def _in_order(self, found: Iterable[Rule]) -> list[Rule]:
        rules = list(found)
        if len(rules) > 1:
            rules.sort(key=self._place)
        return rules

    def _place(self, rule: Rule) -> tuple[int, int, int]:
        for number, layer in enumerate(self._layers):
            position = layer.position.get(id(rule))
            if position is not None:
                return _SCOPE_ORDER[rule.source.scope], number, position
        raise LookupError(rule.text)


class _Commands:
    """The rules of one bundle about commands, of all lists, by the literal pieces that they hang under."""

    __slots__ = ("always", "edges", "inner", "pieces", "rest")

    def __init__(self, indexes: Iterable[Mapping[Key, list[Rule]]], wild: Iterable[Rule]) -> None:
        self.always: list[Rule] = [*wild]
        self.pieces: dict[str, list[Rule]] = {}
        self.inner: dict[str, list[Rule]] = {}
        self.rest: dict[Key, list[Rule]] = {}
        for index in indexes:
            for key, rules in index.items():
                if key == ALWAYS:
                    self.always += rules
                elif key[0] == "=":
                    self.pieces.setdefault(key[1], []).extend(rules)
                elif key[0] == "~":
                    self.inner.setdefault(key[1], []).extend(rules)
                else:
                    self.rest.setdefault(key, []).extend(rules)
        self.edges = edges_of(self.rest)

    def look_up(self, pieces: Collection[str], inner: Collection[str]) -> list[list[Rule]]:
        """The heaps of rules that could match a command of these pieces, in which these short texts stand. The same
        heaps as long as these rules are."""
        found = [self.always] if self.always else []
        found += [self.inner[each] for each in inner if each in self.inner]
        found += [self.pieces[piece] for piece in pieces if piece in self.pieces]
        if self.edges:
            found += [self.rest[key] for key in edge_keys(pieces, self.edges) if key in self.rest]
        return found


@dataclass(slots=True)
class _Layer:
    """One bundle of rules and its indexes. ``edges`` are the beginnings and ends that an index has keys for;
    ``reaches`` is filled when first asked for."""

    rules: Sequence[Rule]
    position: dict[int, int] = field(default_factory=dict)
    index: dict[tuple[str, ListName], dict[Key, list[Rule]]] = field(default_factory=dict)
    edges: dict[tuple[str, ListName], frozenset[Edge]] = field(default_factory=dict)
    tools: dict[tuple[str, ListName], list[Rule]] = field(default_factory=dict)
    reaches: dict[tuple[str, ListName], Reach] = field(default_factory=dict)
    commands: _Commands = field(init=False)

    def __post_init__(self) -> None:
        self.position.update((id(rule), place) for place, rule in enumerate(self.rules))
        keyed = [(rule, rule_keys(rule)) for rule in self.rules]
        common = Counter((rule.tool, rule.list, key) for rule, keys in keyed for key in keys)
        for place, (rule, keys) in enumerate(keyed):
            if keys and min(common[rule.tool, rule.list, key] for key in keys) > _CROWDED:
                more = wild_rule_keys(rule) - keys
                keyed[place] = rule, keys | more
                common.update((rule.tool, rule.list, key) for key in more)
        for rule, keys in keyed:
            self.tools.setdefault((_bucket(rule.tool), rule.list), []).append(rule)
            if "*" not in rule.tool:
                counted = [(common[rule.tool, rule.list, key] * _commonness(key), key) for key in keys]
                rarest = min(counted, default=(0, ALWAYS))[1]
                self.index.setdefault((rule.tool, rule.list), {}).setdefault(rarest, []).append(rule)
        self.edges.update((place, edges_of(index)) for place, index in self.index.items())
        wild = (rule for (tool, _), rules in self.tools.items() if tool == "*" for rule in rules)
        self.commands = _Commands(
            (index for (tool, _), index in self.index.items() if tool == "Bash"),
            (rule for rule in wild if NamePattern(rule.tool).matches("Bash")),
        )

    def of_tool(self, tool: str, listed: ListName) -> Sequence[Rule]:
        return self.tools.get((tool, listed), ())

    def reach(self, tool: str, listed: ListName) -> Reach:
        found = self.reaches.get((tool, listed))
        if found is None:
            wild = [rule for rule in self.of_tool("*", listed) if NamePattern(rule.tool).matches(tool)]
            found = self.reaches[tool, listed] = Reach([*self.of_tool(tool, listed), *wild])
        return found


def _commonness(key: Key) -> int:
    """How much more often a text contains this piece than a longer one: nearly every text contains a given letter."""
    return _COMMON_LENGTHS.get(len(key[1]), 1) if key[0] == "~" else 1


_COMMON_LENGTHS = {1: 40, 2: 8}
"""By length. Estimates: they decide only under which of its pieces a rule is kept, not whether it is found."""


def _could_meet(rule: Rule, places: Mapping[Root, Place], parts: Sequence[str]) -> bool:
    if not isinstance(rule.specifier, PathPattern):
        return True
    place = places.get(rule.specifier.root, "apart")
    return isinstance(place, str) or rule.specifier.may_touch((*place, *parts))


def _bucket(tool: str) -> str:
    """Where a tool name hangs: under itself; with a wildcard under its literal MCP server, or under ``*``."""
    if "*" not in tool:
        return tool
    parts = tool.split("__")
    return f"mcp__{parts[1]}" if len(parts) > 2 and parts[0] == "mcp" and "*" not in parts[1] else "*"


def _unique(sources: Iterable[RuleText]) -> list[RuleText]:
    """What is said twice is kept once, the first time."""
    kept: dict[tuple[object, ...], RuleText] = {}
    for source in sources:
        what = (source.list, source.text, source.scope, source.agent)
        kept.setdefault((*what, source.matching, source.not_matching), source)
    return list(kept.values())


def _base(program: str) -> str:
    return program.rsplit("/", 1)[-1]
