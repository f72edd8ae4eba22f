"""The grammar of one rule (docs/gate.md "Rules"): from what a person wrote to a Rule, or to why it cannot be read.

``compile_rule`` never raises for a person's text: a rule that cannot be read grants nothing, and a broken deny or ask
rule becomes an ask for the tool it names, or, where not even that can be read, for every call that is no read. One
bad rule never voids another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from countersign.gate.patterns import (
    BadPattern,
    CommandPattern,
    HostPattern,
    NamePattern,
    ParamPattern,
    PathPattern,
    parse_command,
    parse_host,
    parse_param,
    parse_path,
)
from countersign.gate.probes.hidden_characters import hidden_character, visible
from countersign.settings.policy import Problem, RuleText
from countersign.wire.verdicts import Evidence

ListName = Literal["deny", "ask", "allow", "grant"]
"""The three lists of a person, and what a chat was granted."""

Specifier = CommandPattern | PathPattern | HostPattern | NamePattern | ParamPattern

CANONICAL = {
    "shell": "Bash",
    "read_file": "Read",
    "write_file": "Edit",
    "edit_file": "Edit",
    "delete_file": "Edit",
    "move_file": "Edit",
    "web_fetch": "WebFetch",
    "Write": "Edit",
    "MultiEdit": "Edit",
    "NotebookEdit": "Edit",
    "NotebookRead": "Read",
    "Task": "Agent",
    "WebSearch": "web_search",
    "TodoWrite": "todo_write",
}
"""Names that people paste, and the name that the same thing has in rules."""

HOST_TOOL = "sandbox_host"
"""Name in rules of the leave to reach a host from the sandbox, ``sandbox_host(host:registry.example)``."""
NARROWER_THAN_READ = frozenset({"list_dir", "glob", "search", "Glob", "Grep", "LS"})
"""Tools that read, but less than `Read`: as deny or ask they are taken as `Read`, as allow they grant nothing."""

EFFECT_TOOLS = frozenset({"Bash", "Read", "Edit", "WebFetch", "Agent"})


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that was read. ``specifier`` None is the whole tool.

    ``broken`` says why its text cannot be read; such a rule is an ask for the whole tool. ``warning`` is for the
    editor's Problems only. ``said`` is the evidence wherever it decides by itself: made once, since a rule speaks of
    thousands of calls.
    """

    source: RuleText
    list: ListName
    tool: str
    specifier: Specifier | None = None
    broken: str | None = None
    warning: str | None = None
    said: Evidence = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", _said(self, _reason(self)))

    @property
    def text(self) -> str:
        return self.source.text

    def serves(self, agent: str) -> bool:
        """Whether it counts for this agent. Deny and ask count whichever agent asks; a grant names its agent."""
        if self.list in ("deny", "ask"):
            return True
        if self.list == "grant":
            return self.source.agent == agent
        return self.source.agent is None or self.source.agent == agent


def evidence(rule: Rule, reason: str | None = None) -> Evidence:
    """Why a verdict is what it is, where this rule decided it."""
    return rule.said if reason is None else _said(rule, reason)


def _said(rule: Rule, reason: str) -> Evidence:
    return Evidence(
        source="grant" if rule.list == "grant" else "rule",
        rule=rule.text,
        file=rule.source.file,
        line=rule.source.line,
        reason=reason,
    )


class BadRule(Exception):
    """A rule's text cannot be read. ``tool`` is the tool it names, as far as that can be told."""

    def __init__(self, message: str, tool: str | None) -> None:
        super().__init__(message)
        self.tool = tool


_RULE = re.compile(r"([\w*.:/-]+)(?:\((.*)\))?", re.DOTALL)
_WHOLE_SERVER = re.compile(r"(mcp__[\w.-]+?)__\*")
_TOOLS_OF_SERVER = re.compile(r"(?![^:/]*[:/])mcp__[\w.-]+?__")


def parse_rule(source: RuleText) -> Rule:
    """Read one rule.

    Raises:
        BadRule: it is not in the grammar, or says what its list may not say.
    """
    listed = _list_of(source)
    text = source.text.strip()
    if hidden := hidden_character(text):
        raise BadRule(f"it contains {hidden}, an invisible character", _tool_guess(text, listed))
    found = _RULE.fullmatch(text)
    if found is None:
        raise BadRule("it is not `Tool` or `Tool(specifier)`", _tool_guess(text, listed))
    written, specifier = found[1], found[2]
    tool, warning = _tool_name(written, listed)
    if found_server := _WHOLE_SERVER.fullmatch(tool):
        tool = found_server[1]
    if "*" in tool:
        if specifier is not None:
            raise BadRule("a tool name with `*` takes no parentheses", tool if listed in ("deny", "ask") else None)
        if listed in ("allow", "grant") and not _TOOLS_OF_SERVER.match(tool):
            raise BadRule("an allow rule may use `*` in a tool name only after a literal `mcp__server__`", None)
        return Rule(source, listed, tool, None, warning=warning)
    if specifier is None:
        return Rule(source, listed, tool, None, warning=warning)
    try:
        return Rule(source, listed, tool, _parse_specifier(tool, specifier, listed), warning=warning)
    except BadPattern as error:
        raise BadRule(str(error), tool) from error


def compile_rule(source: RuleText) -> tuple[Rule | None, Problem | None]:
    """The rule as it counts, and what is wrong with it. A broken allow or grant is no rule at all; never raises."""
    try:
        rule = parse_rule(source)
        _check_examples(rule)
    except BadRule as error:
        message = f"the rule `{visible(source.text)}` cannot be read: {error}"
        if _list_of(source) in ("allow", "grant"):
            return None, _problem(source, f"{message}; it grants nothing", "error")
        reason = f"{message}; until it is corrected, this call asks"
        return Rule(source, "ask", error.tool or "", None, broken=reason), _problem(source, reason, "error")
    return rule, _problem(source, rule.warning, "warning") if rule.warning else None


# --- reading ---------------------------------------------------------------------------------------------------------


def _list_of(source: RuleText) -> ListName:
    if source.list == "allow" and source.scope in ("grant", "chat"):
        return "grant"
    return source.list


def _tool_name(written: str, listed: ListName) -> tuple[str, str | None]:
    """The tool's name in rules, and a warning where the person wrote another."""
    strict = listed in ("deny", "ask")
    if written in NARROWER_THAN_READ:
        if not strict:
            raise BadRule(f"`{written}` is not a tool that rules know; write `Read(pattern)`", None)
        return "Read", f"`{written}` is read as `Read`, for reading and listing are one to a rule"
    name = CANONICAL.get(written)
    if name is None and strict and "*" not in written:
        name = next((known for known in (*EFFECT_TOOLS, *CANONICAL) if known.casefold() == written.casefold()), None)
        name = CANONICAL.get(name or "", name)
    if name is None or name == written:
        return written, None
    return name, f"`{written}` is read as `{name}`"


def _tool_guess(text: str, listed: ListName) -> str | None:
    found = re.match(r"\s*([A-Za-z_][\w.-]*)\s*(?:\(|$)", text)
    if found is None:
        return None
    try:
        return _tool_name(found[1], listed)[0]
    except BadRule:
        return None


def _parse_specifier(tool: str, specifier: str, listed: ListName) -> Specifier:
    if not specifier.strip():
        raise BadPattern("there is nothing between its parentheses")
    match tool:
        case "Bash":
            if listed in ("allow", "grant") and specifier.strip() == ":*":
                raise BadPattern("it names no command before the `:*`; write `Bash` to mean every command")
            return parse_command(specifier)
        case "Read" | "Edit":
            return parse_path(specifier)
        case "WebFetch":
            return parse_host(specifier)
        case "Agent":
            return NamePattern(specifier.strip())
    if listed == "allow" and tool == HOST_TOOL:
        raise BadPattern("only an answer on a card allows a host so; list it in `sandbox.hosts`")
    if listed == "allow" or (listed == "grant" and tool != HOST_TOOL):
        named = "`Bash`, `Read`, `Edit`, `WebFetch` and `Agent`"
        raise BadPattern(f"`{tool}` is not one of {named}; only a deny or ask rule may match the input of another tool")
    return parse_param(specifier)


def _check_examples(rule: Rule) -> None:
    for example in rule.source.matching:
        if not _matches_example(rule, example):
            raise BadRule(f"it does not match its own example `{visible(example)}`", rule.tool)
    for example in rule.source.not_matching:
        if _matches_example(rule, example):
            raise BadRule(f"it matches `{visible(example)}`, its own example of what it must not match", rule.tool)


def _matches_example(rule: Rule, example: str) -> bool:
    wide = rule.list in ("deny", "ask")
    match rule.specifier:
        case None:
            return True
        case CommandPattern() as pattern:
            said = parse_command(example)
            return pattern.touches(said.words) if wide else pattern.covers(said.words, said.assigned, said.homes)
        case PathPattern() as pattern:
            segments = [part for part in example.removeprefix("~").split("/") if part not in {"", "."}]
            return pattern.touches(segments) if wide else pattern.covers(segments)
        case HostPattern() as pattern:
            return pattern.matches(example.removeprefix("domain:").lower())
        case NamePattern() as pattern:
            return pattern.matches(example)
        case ParamPattern() as pattern:
            param, _, value = example.partition(":")
            return param == pattern.param and pattern.matches(value)


def _reason(rule: Rule) -> str:
    if rule.broken:
        return rule.broken
    said = {
        "deny": "a deny rule matches",
        "ask": "an ask rule matches",
        "allow": "an allow rule covers it",
        "grant": "it was granted in this chat",
    }[rule.list]
    return f"{said}: {rule.source.reason}" if rule.source.reason else said


def _problem(source: RuleText, message: str, severity: Literal["error", "warning"]) -> Problem:
    return Problem(source.file, source.line, source.column, message, severity)
