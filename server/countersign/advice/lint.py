"""What is wrong with rules that can be read: unknown tools, rules that can never match, shadowed ones, too wide ones.

Pure: rules in, problems with file, line and column out, for the editor's Problems and ``countersign rules lint``.
Nothing here changes what counts; what cannot be read at all is reported by ``gate/rules/rule.py`` and comes along.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from countersign.advice.other_notations import command_notation, path_notation
from countersign.gate import (
    CANONICAL,
    EFFECT_TOOLS,
    NARROWER_THAN_READ,
    WILD,
    CommandPattern,
    HostPattern,
    ListName,
    NamePattern,
    PathPattern,
    Rule,
    RuleSet,
    compile_rule,
    matches,
    protected_reason,
)
from countersign.settings.policy import Problem, RuleText

MORE_TOOLS = frozenset(
    {"image", "speech", "generate_image", "text_to_speech", "browser", "open_file", "selection", "diagnostics"}
)
"""Names of tools that depend on what is installed or attached."""

_FRESH = "zzz"
"""A name that no rule would spell: what a wildcard of one rule is replaced by to see whether another covers it."""
_FILLINGS = (_FRESH, "qq7x-y", "")
_LAST = "k8_v"


def lint_rules(sources: Sequence[RuleText], tools: Collection[str] = ()) -> tuple[Problem, ...]:
    """Everything worth telling about these rules, in their order. ``tools`` are further names of tools that exist."""
    return tuple(problem for problems in lint_each(sources, tools) for problem in problems)


def lint_each(sources: Sequence[RuleText], tools: Collection[str] = ()) -> Iterator[Sequence[Problem]]:
    """For each of these rules in turn, what is worth telling about it among the others."""
    from countersign.advice.explain import TOOL_NAMES  # noqa: PLC0415 it brings every tool

    known = {*EFFECT_TOOLS, *TOOL_NAMES, *MORE_TOOLS, *tools}
    rules = RuleSet(sources)
    for source in sources:
        rule, problem = compile_rule(source)
        problems = [] if problem is None else [problem]
        if rule is not None and rule.broken is None:
            for message in _complaints(rule, rules, known):
                problems.append(_warning(source, rule.text, message))
        elif (tool := _strange_tool(source.text, known)) is not None:
            problems.append(_warning(source, tool, _UNKNOWN_TOOL))
        yield problems


def _warning(source: RuleText, said: str, message: str) -> Problem:
    return Problem(source.file, source.line, source.column, f"`{said}` {message}")


def _complaints(rule: Rule, rules: RuleSet, known: Collection[str]) -> Iterator[str]:
    unknown = _unknown_tool(rule, known)
    if unknown is not None:
        yield unknown
        return
    yield from filter(None, (_other_notation(rule), _dead(rule), _too_wide(rule), _shadowed(rule, rules)))


def _unknown_tool(rule: Rule, known: Collection[str]) -> str | None:
    if rule.tool in known or rule.tool.startswith("mcp__"):
        return None
    if "*" in rule.tool and any(NamePattern(rule.tool).matches(tool) for tool in (*known, "mcp__zzz__zzz")):
        return None
    return _UNKNOWN_TOOL


_UNKNOWN_TOOL = "names a tool that is not known here, so it may never match"


def _strange_tool(text: str, known: Collection[str]) -> str | None:
    """The tool that a rule names which cannot be read, if it is not known."""
    found = re.match(r"\s*([A-Za-z_][\w.-]*)\s*(?:\(|$)", text, re.ASCII)
    if found is None or found[1].startswith("mcp__") or found[1] in {*known, *CANONICAL, *NARROWER_THAN_READ}:
        return None
    return found[1]


def _other_notation(rule: Rule) -> str | None:
    """Why the rule is about something else than it seems."""
    match rule.specifier:
        case CommandPattern() as pattern:
            return command_notation(pattern)
        case PathPattern() as pattern:
            return path_notation(pattern)
        case _:
            return None


# --- dead ------------------------------------------------------------------------------------------------------------


def _dead(rule: Rule) -> str | None:
    """Why the rule can never match."""
    allows = rule.list in ("allow", "grant")
    match rule.specifier:
        case CommandPattern() as pattern:
            joint = _joint(pattern)
            if joint is not None:
                return joint
            if re.fullmatch(f"[^{WILD}]+:{WILD}", pattern.words[0]):
                return _doubled(pattern)
            if any(word.startswith((">", "<", "2>", "&>")) for word in pattern.words):
                if pattern.exact:
                    return "is about exactly this text, for its redirection is no part of a command's words"
                return "can never match: a redirection is no part of the words; say `Edit(path)` or `Read(path)` for it"
            if allows and pattern.words and "=" not in pattern.words[0] and re.fullmatch(r"\$.*", pattern.words[0]):
                return "can never match: a program whose name holds an expansion is never allowed"
        case PathPattern() as pattern:
            if allows and len(pattern.variants) > 1:
                return "takes its braces literally, as gitignore does; write one rule for each alternative"
            if allows and rule.tool == "Edit":
                reason = protected_reason([part for part in pattern.segments if part != "**"])
                if reason is not None:
                    return f"never counts: writing there always asks, for {reason}"
    return None


_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_JOINT = r";;|;|\|\||\|&|\||&&|&(?![>\d])"


def _joint(pattern: CommandPattern) -> str | None:
    """What is wrong where something unquoted joins commands: a word of its own, or at the edge of one."""
    words = _QUOTED.sub("_", pattern.text).split()
    for index, word in enumerate(words):
        if re.fullmatch(_JOINT, word):
            if pattern.exact:
                return _whole_text(word)
            return f"can never match: a rule is about one simple command, and `{word}` joins several"
        found = re.match(_JOINT, word)
        if index < len(words) - 1:
            found = found or re.search(rf"(?<![<>])(?:{_JOINT})$", word)
        if index == 0:
            found = found or re.search(rf"(?<![<>])(?:{_JOINT})", word)
        if found is not None and pattern.exact:
            return _whole_text(found[0])
        if found is not None:
            return f"is about one simple command, and `{found[0]}` joins several; quote it where it is part of a word"
    return None


def _whole_text(operator: str) -> str:
    return f"is about exactly this text, for `{operator}` joins several commands; quote it where it is part of a word"


def _doubled(pattern: CommandPattern) -> str:
    """What is wrong with ``:*`` behind the program where more follows."""
    name = pattern.words[0].removesuffix(f":{WILD}")
    if pattern.prefix and len(pattern.words) == 1:
        return f"ends in `:*` twice, so that it is about a program named `{name}:…`; say it once"
    return f"is about a program named `{name}:…`: `:*` stands for further words only at its end"


# --- too wide --------------------------------------------------------------------------------------------------------


def _too_wide(rule: Rule) -> str | None:
    """Why an allow rule says more than anybody can answer for."""
    if rule.list not in ("allow", "grant"):
        return None
    match rule.specifier:
        case None if rule.tool == "Bash":
            return "allows every command there is"
        case None if rule.tool == "Edit":
            return "allows every change in the workspace"
        case None if rule.tool == "WebFetch":
            return "allows every address"
        case CommandPattern(prefix=True, words=(first, *_)) if first.startswith(WILD):
            return "begins with a wildcard and so allows nearly every command"
        case CommandPattern(prefix=True, words=(first,)) if _runs_others(first):
            return f"is too wide: `{first}` runs whatever it is given; name what it may run"
        case CommandPattern() as pattern if pattern.first_word is None:
            return "has a wildcard where the program stands"
        case CommandPattern() as pattern if (name := _left_open(rule, pattern)) is not None:
            return f"can never allow anything, for it leaves open what `{name}` runs in turn; name that, word for word"
        case PathPattern(root="workspace" | "anywhere") as pattern if rule.tool == "Edit" and set(pattern.segments) <= {
            "*",
            "**",
        }:
            return "allows every change in the workspace"
        case PathPattern(root="root" | "home") as pattern if pattern.segments[0] in ("*", "**"):
            return "covers a whole disk or home"
        case HostPattern(host="*"):
            return "allows every address"
    return None


def _runs_others(name: str) -> bool:
    """Whether it is a shell, an interpreter or a wrapper: a rule for one of them alone is a rule for everything."""
    from countersign.gate.shell.effects.unwrap import program  # noqa: PLC0415 the same
    from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, WRAPPERS  # noqa: PLC0415 tables that no start needs

    return program(name) in {*SHELLS, *INTERPRETERS, *WRAPPERS}


def _left_open(rule: Rule, pattern: CommandPattern) -> str | None:
    """The program, where it runs others and the rule covers no command that begins with its own words."""
    from countersign.gate.shell.effects.unwrap import may_run, program  # noqa: PLC0415 the same
    from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS  # noqa: PLC0415 tables that no start needs

    first = pattern.first_word
    if first is None or pattern.exact or not may_run(program(first)):
        return None
    words = [word.replace(WILD, _FRESH) for word in pattern.words]
    tried = [shlex.join([*words, *more]) for more in ((_FRESH,), (_FRESH, _FRESH), (f"./{_FRESH}.x",))]
    names_script = len(words) > 1 and not words[1].startswith("-")
    if names_script or program(first) not in {*SHELLS, *INTERPRETERS}:
        tried.append(shlex.join(words))
    return None if any(matches(rule.text, each) for each in tried) else first


# --- shadowed --------------------------------------------------------------------------------------------------------


def _shadowed(rule: Rule, rules: RuleSet) -> str | None:
    """Which stricter rule covers all that this one says."""
    for listed in _STRICTER[rule.list]:
        for other in _touching(rule, rules, listed):
            if other.source is not rule.source and other.broken is None:
                place = (
                    f" in {other.source.file}:{other.source.line}" if other.source.file and other.source.line else ""
                )
                return f"never counts: the {listed} rule `{other.text}`{place} covers all of it"
    return None


_STRICTER: dict[ListName, tuple[ListName, ...]] = {
    "deny": (),
    "ask": ("deny",),
    "allow": ("deny", "ask"),
    "grant": ("deny", "ask"),
}


def _touching(rule: Rule, rules: RuleSet, listed: ListName) -> Iterator[Rule]:
    """The rules of a stricter list that match whatever this rule matches, seen by fresh names in its wildcards."""
    agent = rule.source.agent or ""
    match rule.specifier:
        case CommandPattern() as pattern:
            commands = [*_commands(pattern)]
            for other in rules.commands(listed, commands[0], agent) if commands else ():
                if other.specifier is None or (
                    isinstance(other.specifier, CommandPattern) and all(map(other.specifier.touches, commands))
                ):
                    yield other
        case PathPattern() as pattern:
            paths = [*_paths(pattern)]
            for tool in ("Read", "Edit") if rule.tool == "Edit" and listed == "deny" else (rule.tool,):
                for other in (
                    rules.paths("Read" if tool == "Read" else "Edit", listed, paths[0], agent) if paths else ()
                ):
                    if other.specifier is None or (
                        isinstance(other.specifier, PathPattern)
                        and other.specifier.root in (pattern.root, "anywhere")
                        and all(map(other.specifier.touches, paths))
                    ):
                        yield other
        case HostPattern(host=host):
            yield from rules.hosts(listed, host.replace("*", _FRESH), agent)
        case NamePattern(name=name):
            yield from rules.agents(listed, name.replace("*", _FRESH), agent)
        case None if rule.tool in EFFECT_TOOLS:
            yield from (other for other in _whole(rules, rule.tool, listed, agent))
        case _:
            name = rule.tool.replace("*", _FRESH)
            yield from (other for other in rules.tools(listed, name, agent) if other.specifier is None)


def _whole(rules: RuleSet, tool: str, listed: ListName, agent: str) -> Iterator[Rule]:
    for other in rules.tools(listed, tool, agent):
        if other.specifier is None:
            yield other


def _commands(pattern: CommandPattern) -> Iterator[tuple[str, ...]]:
    """Commands that a pattern matches, as different as it leaves them."""
    for filling in _FILLINGS:
        words = tuple(filter(None, (word.replace(WILD, filling) for word in pattern.words)))
        for more in ((_FRESH,), (_FILLINGS[1], _LAST), ()) if pattern.prefix else ((),):
            if pattern.touches((*words, *more)):
                yield (*words, *more)


def _paths(pattern: PathPattern) -> Iterator[tuple[str, ...]]:
    """Paths that a pattern matches, as different as it leaves them: with no, one and two folders for each ``**``."""
    folders = ((_FRESH,), (), (_FILLINGS[1], _LAST))
    for which, filling in enumerate(_FILLINGS):
        segments: list[str] = []
        for segment in pattern.segments:
            segments += folders[which] if segment == "**" else (_named(segment, filling, which),)
        for more in ((), (_LAST,)):
            path = (*segments, *more)
            if path and all(path) and pattern.touches(path):
                yield path


def _named(segment: str, filling: str, which: int) -> str:
    """A name that this segment of a pattern matches, and hardly another rule spells."""
    named = re.sub(r"(?<!\\)\*+", filling, segment)
    named = re.sub(r"(?<!\\)\?", "zq7"[which], named)
    named = re.sub(r"(?<!\\)\[([^\]]+)\]", lambda found: found[1][(0, -1, 0)[which]], named)
    return re.sub(r"\\(.)", r"\1", named)
