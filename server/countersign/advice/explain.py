"""``countersign check``: supposed calls in, what the gate would say out (docs/gate.md "The command that shows it").

One JSON object a line, answered in order and flushed. Starts nothing from its input and asks nobody. ``tool/explain``
uses the same two functions over the live policy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from countersign.gate import (
    BadArguments,
    Decision,
    Effect,
    ReadPath,
    RunCommand,
    ToolCall,
    UseTool,
    WritePath,
    decide,
)
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.tools.registry import BY_NAME, AnyTool
from countersign.wire.approvals import ToolKind, ToolPreview
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
        raise BadQuestion("`args` is missing or not an object")
    cwd = _under(policy.workspace, _as_text(question, "cwd") or _as_text(arguments, "cwd"))
    name = _ALIASES.get(tool, tool)
    known = BY_NAME.get(name)
    if known is not None:
        category, kind, effects = known.category, known.kind, _tool_effects(known, arguments, cwd, policy)
    else:
        category, kind = _PLANNED.get(name, ("external", "other"))
        effects = _other_effects(name, arguments)
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
        preview=ToolPreview(input=dict(arguments)),
        cwd=cwd,
    )


# --- tools -----------------------------------------------------------------------------------------------------------

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

_PLANNED: Mapping[str, tuple[Category, ToolKind]] = {
    "run_subtask": ("read", "other"),
    "web_search": ("read", "search"),
    "list_collections": ("read", "search"),
    "search_collections": ("read", "search"),
    "query_collection": ("read", "search"),
    "list_nodes": ("read", "search"),
    "get_node": ("read", "read"),
    "list_workflows": ("read", "search"),
    "get_workflow": ("read", "read"),
    "run_node": ("execute", "execute"),
    "run_workflow": ("execute", "execute"),
}
"""Tools that rules may name already and that are not built; a tool that is in no table is external."""

TOOL_NAMES = frozenset({*BY_NAME, *_PLANNED})
"""Our own tools that are always there."""

_PATHS = ("path", "to")
"""Arguments that start at the directory of the question."""


def _tool_effects(tool: AnyTool, arguments: Mapping[str, Json], cwd: str, policy: Policy) -> tuple[Effect, ...]:
    """What the tool itself says of these arguments; those that do not say what is touched may be missing."""
    given: dict[str, Any] = {name: value for name, value in arguments.items() if name in tool.arguments.model_fields}
    for name in _PATHS:
        if isinstance(path := given.get(name), str) and path and not path.startswith(("/", "~")):
            given[name] = os.path.join(cwd, path)
    if tool.category == "execute" and "cwd" in tool.arguments.model_fields:
        given["cwd"] = cwd
    try:
        tool.arguments.model_validate(given)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            if fault["type"] != "missing":
                raise BadQuestion(f"`args.{fault['loc'][0]}`: {fault['msg'].lower()}") from None
    try:
        effects = tool.effects(tool.arguments.model_construct(**given), policy)
    except BadArguments:
        # Our tool refuses these arguments; an agent with a tool of its own may not, so the gate is asked all the same.
        return _as_written(tool, arguments, cwd)
    except AttributeError as error:
        raise BadQuestion(f"`args.{error.name}` is missing") from None
    if any(".." in str(arguments.get(name, "")).split("/") for name in _PATHS):
        # Our tools take `..` away before they follow links; other programs follow links first.
        return tuple(dict.fromkeys((*effects, *_as_written(tool, arguments, cwd))))
    return effects


def _as_written(tool: AnyTool, arguments: Mapping[str, Json], cwd: str) -> tuple[Effect, ...]:
    """What a program does that takes the arguments to the letter."""
    if tool.category == "execute":
        return (RunCommand(_required(arguments, "command"), cwd),)
    paths = [path for name in _PATHS if isinstance(path := arguments.get(name), str)]
    if tool.category == "write":
        return tuple(WritePath(path) for path in paths)
    return tuple(ReadPath(path) for path in paths)


def _other_effects(tool: str, arguments: Mapping[str, Json]) -> tuple[Effect, ...]:
    if tool == "run_subtask":
        return (UseTool("Agent", _as_text(arguments, "agent")),)
    return (UseTool(tool),)


# --- reading a line --------------------------------------------------------------------------------------------------


def _parse(line: bytes) -> dict[str, Json]:
    try:
        question = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise BadQuestion("the line is not JSON") from None
    if not isinstance(question, dict):
        raise BadQuestion("the line is not a JSON object")
    return question


def _mode(given: Json) -> Mode:
    for mode in get_args(Mode):
        if given == mode:
            return mode
    raise BadQuestion("`mode` is not one of the modes")


def _rules(given: Json) -> tuple[RuleText, ...]:
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise BadQuestion("`rules` is not an object")
    found: list[RuleText] = []
    for listed in ("deny", "ask", "allow"):
        found += [RuleText(listed, text) for text in _texts(given.get(listed), f"rules.{listed}")]
    return tuple(found)


def _texts(given: Json, what: str) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise BadQuestion(f"`{what}` is not a list of strings")
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
        raise BadQuestion(f"`{key}` is not a string")
    return value


def _required(given: Mapping[str, Json], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise BadQuestion(f"`args.{key}` is missing or not a string")
    return value


def _absolute(given: Mapping[str, Json], key: str, default: str) -> str:
    value = _text(given, key, default)
    if not value.startswith("/") or "\0" in value:
        raise BadQuestion(f"`{key}` is not an absolute path")
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
