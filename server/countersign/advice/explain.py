"""``countersign check``: supposed calls in, what the gate would say out (RULES.md 5, CONTRACT 13).

One JSON object a line, answered in order and flushed. Starts nothing from its input and asks nobody. ``tool/explain``
uses the same two functions over the live policy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from countersign.gate import Decision, Effect, FetchUrl, ReadPath, RunCommand, ToolCall, UseTool, WritePath, decide
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.approvals import Preview, ToolKind, ToolPreview
from countersign.wire.base import Json
from countersign.wire.verdicts import Category, EffectView, Mode

if TYPE_CHECKING:
    from countersign.gate import SyntaxChecker


class BadQuestion(Exception):
    """A supposed call cannot be understood; the message is one sentence."""


def check_lines(
    lines: Iterable[bytes], answer: Callable[[str], None], *, check_syntax: SyntaxChecker | None = None
) -> None:
    """Answer each line that is not blank with one line, whatever it holds."""
    for line in lines:
        if line.strip():
            answer(check_line(line, check_syntax=check_syntax))


def check_line(line: bytes, *, check_syntax: SyntaxChecker | None = None) -> str:
    """The answer to one line, as one line of JSON. Never raises for what the line holds."""
    asked_id: Json = None
    try:
        question = _parse(line)
        asked_id = question.get("id")
        policy, mode = policy_of(question)
        decision = explain(question, policy, mode, check_syntax=check_syntax)
    except BadQuestion as error:
        return json.dumps({"id": asked_id, "error": str(error)})
    return json.dumps({"id": asked_id, **answer_of(decision)})


def explain(
    question: Mapping[str, Json], policy: Policy, mode: Mode, *, check_syntax: SyntaxChecker | None = None
) -> Decision:
    """What the gate would say of a supposed call under this policy.

    Raises:
        BadQuestion: the call cannot be understood.
    """
    call = supposed_call(question, policy)
    return decide(call, policy, (mode,), check_syntax=check_syntax)


def answer_of(decision: Decision) -> dict[str, Any]:
    """The decision as it stands in an answer."""
    return {
        "decision": decision.verdict,
        "effects": [_effect(view) for view in decision.effects],
        "reason": decision.reason,
    }


def policy_of(question: Mapping[str, Json]) -> tuple[Policy, Mode]:
    """The policy and mode that one line sets out; it reads no settings.

    Raises:
        BadQuestion: a field has the wrong form.
    """
    mode = _mode(question.get("mode", "default"))
    agent = _text(question, "agent", "Countersign")
    workspace = _absolute(question, "workspace", os.getcwd())
    policy = Policy(
        workspace=workspace,
        home=_absolute(question, "home", os.path.expanduser("~")),
        trusted=_flag(question, "trusted", True),
        rules=_rules(question.get("rules")),
        additional_directories=_texts(question.get("additionalDirectories"), "additionalDirectories"),
        builtin_reads=_flag(question, "builtinReads", True),
        agents={agent: AgentConfig(agent, bypass=_flag(question, "bypass", False))},
    )
    return policy, mode


def supposed_call(question: Mapping[str, Json], policy: Policy) -> ToolCall:
    """The call that a question is about.

    Raises:
        BadQuestion: its tool or arguments are missing or have the wrong form.
    """
    tool = question.get("tool")
    if not isinstance(tool, str) or not tool:
        raise BadQuestion("`tool` is missing")
    arguments = question.get("args")
    if not isinstance(arguments, dict):
        raise BadQuestion("`args` is missing or is no object")
    cwd = _under(policy.workspace, _as_text(question, "cwd") or _as_text(arguments, "cwd"))
    name = _ALIASES.get(tool, tool)
    category, kind, effects_of = _TOOLS.get(name, ("external", "other", _as_tool))
    effects = effects_of(name, arguments, cwd)
    return ToolCall(
        tool_call_id="supposed",
        thread_id="supposed",
        turn_id="supposed",
        agent=_as_text(question, "agent") or policy.default_agent,
        tool=name,
        arguments=arguments,
        kind=kind,
        category=category,
        effects=effects,
        preview=_preview(arguments),
        cwd=cwd,
    )


# --- tools -----------------------------------------------------------------------------------------------------------

_EffectsOf = Callable[[str, Mapping[str, Json], str], tuple[Effect, ...]]

_ALIASES: Mapping[str, str] = {
    "bash": "shell",
    "Bash": "shell",
    "read": "read_file",
    "Read": "read_file",
    "edit": "edit_file",
    "Edit": "edit_file",
    "write": "write_file",
    "Write": "write_file",
    "WebFetch": "web_fetch",
}


def _as_command(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    return (RunCommand(_required(arguments, "command"), cwd),)


def _as_read(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    return (ReadPath(_required(arguments, "path")),)


def _as_search(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    """Searching looks below a folder, but passes by what is secret or ruled out, so the folder is what it reads."""
    return (ReadPath(_as_text(arguments, "path") or "."),)


def _as_write(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    operation = "delete" if tool == "delete_file" else "edit" if tool == "edit_file" else "create"
    return (WritePath(_required(arguments, "path"), operation),)


def _as_move(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    return (WritePath(_required(arguments, "path"), "move"), WritePath(_required(arguments, "to"), "move"))


def _as_fetch(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    return (FetchUrl(_required(arguments, "url")),)


def _as_subtask(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    return (UseTool("Agent", _as_text(arguments, "agent")),)


def _as_tool(tool: str, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    return (UseTool(tool),)


_TOOLS: Mapping[str, tuple[Category, ToolKind, _EffectsOf]] = {
    "shell": ("execute", "execute", _as_command),
    "read_file": ("read", "read", _as_read),
    "list_dir": ("read", "read", _as_read),
    "glob": ("read", "search", _as_search),
    "search": ("read", "search", _as_search),
    "write_file": ("write", "edit", _as_write),
    "edit_file": ("write", "edit", _as_write),
    "delete_file": ("write", "delete", _as_write),
    "move_file": ("write", "move", _as_move),
    "web_fetch": ("external", "fetch", _as_fetch),
    "run_subtask": ("read", "other", _as_subtask),
    "todo_write": ("read", "think", _as_tool),
    "shell_output": ("read", "read", _as_tool),
    "shell_input": ("execute", "execute", _as_tool),
    "shell_kill": ("execute", "execute", _as_tool),
    "web_search": ("read", "search", _as_tool),
    "list_collections": ("read", "search", _as_tool),
    "search_collections": ("read", "search", _as_tool),
    "query_collection": ("read", "search", _as_tool),
    "list_nodes": ("read", "search", _as_tool),
    "get_node": ("read", "read", _as_tool),
    "list_workflows": ("read", "search", _as_tool),
    "get_workflow": ("read", "read", _as_tool),
    "run_node": ("execute", "execute", _as_tool),
    "run_workflow": ("execute", "execute", _as_tool),
}
"""What our own tools touch, as far as their arguments say it. Whatever is not here is external."""

TOOL_NAMES = frozenset(_TOOLS)
"""Our own tools that are always there."""


def _preview(arguments: Mapping[str, Json]) -> Preview:
    return ToolPreview(input=dict(arguments))


# --- reading a line --------------------------------------------------------------------------------------------------


def _parse(line: bytes) -> dict[str, Json]:
    try:
        question = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise BadQuestion("the line is not JSON") from None
    if not isinstance(question, dict):
        raise BadQuestion("the line is no JSON object")
    return question


def _mode(given: Json) -> Mode:
    for mode in get_args(Mode):
        if given == mode:
            return mode
    raise BadQuestion("`mode` is none of the modes")


def _rules(given: Json) -> tuple[RuleText, ...]:
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise BadQuestion("`rules` is no object")
    found: list[RuleText] = []
    for listed in ("deny", "ask", "allow"):
        found += [RuleText(listed, text) for text in _texts(given.get(listed), f"rules.{listed}")]
    return tuple(found)


def _texts(given: Json, what: str) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise BadQuestion(f"`{what}` is no list of texts")
    return tuple(str(item) for item in given)


def _flag(given: Mapping[str, Json], key: str, default: bool) -> bool:
    value = given.get(key, default)
    if not isinstance(value, bool):
        raise BadQuestion(f"`{key}` is neither true nor false")
    return value


def _text(given: Mapping[str, Json], key: str, default: str) -> str:
    return _as_text(given, key) or default


def _as_text(given: Mapping[str, Json], key: str) -> str | None:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise BadQuestion(f"`{key}` is no text")
    return value


def _required(given: Mapping[str, Json], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise BadQuestion(f"`args.{key}` is missing or is no text")
    return value


def _absolute(given: Mapping[str, Json], key: str, default: str) -> str:
    value = _text(given, key, default)
    if not value.startswith("/") or "\0" in value:
        raise BadQuestion(f"`{key}` is no absolute path")
    return value


def _under(workspace: str, cwd: str | None) -> str:
    if cwd is None:
        return workspace
    return cwd if cwd.startswith("/") else f"{workspace}/{cwd}"


def _effect(view: EffectView) -> dict[str, Any]:
    said = view.evidence
    return {
        "kind": view.kind,
        "resource": view.resource,
        "verdict": view.verdict,
        "evidence": {
            "source": said.source,
            "rule": said.rule,
            "file": said.file,
            "line": said.line,
            "reason": said.reason,
        },
    }
