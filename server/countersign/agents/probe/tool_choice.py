"""Which of the tools that an agent offers its model does what a scenario wants, and how it is called.

Nothing is known of any agent by name: a tool is chosen by the keys of its schema, with the same sets of names by which
calls are understood (``acp/key_names.py``). A function over values.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from countersign.agents.acp.key_names import COMMAND, COMMANDS, CONTENT, MANY, NEW, OLD, PATCH, PATH
from countersign.agents.probe.turn import Offered, smallest

Wish = Mapping[str, Any]
"""What is to be done: ``do`` (a key of ``_WAYS``) and its texts: ``path``, ``text``, ``there`` (the
text of the file before), ``old``, ``new``, ``command``, ``prompt``."""
Args = dict[str, Any]

SHELL = re.compile(r"bash|shell|exec|terminal|run_?command", re.IGNORECASE)
READER = re.compile(r"read|view|cat\b|open|show", re.IGNORECASE)
NO_TEXT = re.compile(r"image|pdf|notebook|resource|url|page", re.IGNORECASE)
"""Readers of other things than files of text."""
PATCHER = re.compile(r"patch", re.IGNORECASE)
STARTER = re.compile(r"^(task|agent|subagent|sub_agent|delegate)$|(spawn|invoke|run|start|delegate)_?(sub_?)?agent|"
                     r"sub_?agent|delegate_task", re.IGNORECASE)  # fmt: skip
PROMPT = ("prompt", "task", "instructions", "instruction", "message", "objective", "query", "input")
LISTED = re.compile(r"(?m)^\s*[-*] ([\w-]+):")
"""How descriptions list the kinds of sub-agents."""


def call_for(wish: Wish, offered: Sequence[Offered]) -> dict[str, Any] | None:
    """Return a call of the tool that fits best, or None where none fits."""
    made = [
        (rank, index, tool, args)
        for index, tool in enumerate(offered)
        for rank, args in _WAYS[wish["do"]](wish, tool)
        if args is not None
    ]
    if not made:
        return None
    _, _, tool, args = min(made, key=lambda entry: entry[:2])
    call: dict[str, Any] = {"name": tool.name, "args": args}
    if tool.freeform:
        call["freeform"] = True
    if tool.namespace is not None:
        call["namespace"] = tool.namespace
    return call


def _write(wish: Wish, tool: Offered) -> Iterator[tuple[int, Args | None]]:
    if _key(tool, OLD) is None:
        yield 0, _filled(tool, {PATH: wish["path"], CONTENT: wish["text"]})
    there = wish.get("there")
    yield 1, _patched(tool, _added(wish) if there is None else _updated(wish["path"], there, wish["text"]))


def _edit(wish: Wish, tool: Offered) -> Iterator[tuple[int, Args | None]]:
    yield 0, _filled(tool, {PATH: wish["path"], OLD: wish["old"], NEW: wish["new"]})
    there = str(wish["there"])
    yield 1, _patched(tool, _updated(wish["path"], there, there.replace(wish["old"], wish["new"])))


def _shell(wish: Wish, tool: Offered) -> Iterator[tuple[int, Args | None]]:
    if _key(tool, OLD | CONTENT) is None:
        rank = 0 if SHELL.search(tool.name) else 2
        yield rank, _filled(tool, {COMMAND: wish["command"]})
        yield rank + 1, _filled(tool, {COMMANDS: [wish["command"]]})


def _read(wish: Wish, tool: Offered) -> Iterator[tuple[int, Args | None]]:
    if READER.search(tool.name) and not NO_TEXT.search(tool.name) and _key(tool, OLD | CONTENT | NEW | COMMAND) is None:
        yield 0, _filled(tool, {PATH: wish["path"]})
        many = _key(tool, MANY)
        if many is not None:
            items = (_properties(tool)[many] or {}).get("items") or {}
            entry = {"path": wish["path"]} if items.get("type") == "object" or "properties" in items else wish["path"]
            yield 1, _filled(tool, {MANY: [entry]})


def _read_anyhow(wish: Wish, tool: Offered) -> Iterator[tuple[int, Args | None]]:
    """Some agents read with commands only."""
    yield from _read(wish, tool)
    for rank, args in _shell({"command": f"cat {shlex.quote(wish['path'])}"}, tool):
        yield rank + 10, args


def _subagent(wish: Wish, tool: Offered) -> Iterator[tuple[int, Args | None]]:
    key = next((name for name in PROMPT if name in _properties(tool)), None)
    if key is not None and STARTER.search(tool.name):
        yield 0, _filled(tool, {frozenset((key,)): wish["prompt"]})


_WAYS: Mapping[str, Callable[[Wish, Offered], Iterator[tuple[int, Args | None]]]] = {
    "write": _write,
    "edit": _edit,
    "shell": _shell,
    "read": _read,
    "read anyhow": _read_anyhow,
    "subagent": _subagent,
}


def _filled(tool: Offered, wanted: Mapping[frozenset[str], Any]) -> Args | None:
    """The arguments with these meanings, and the smallest value for whatever else the tool requires."""
    args: Args = {}
    for names, value in wanted.items():
        key = _key(tool, names)
        if key is None:
            return None
        listed = (_properties(tool)[key] or {}).get("type") == "array"
        args[key] = ["bash", "-lc", value] if listed and isinstance(value, str) else value
    for key in tool.schema.get("required") or ():
        if key not in args:
            args[key] = _required(tool, key)
    return args


def _required(tool: Offered, key: str) -> Any:
    schema = _properties(tool).get(key) or {"type": "string"}
    if "agent" in key.lower() and not schema.get("enum"):
        listed = LISTED.findall(tool.description) + LISTED.findall(str(schema.get("description") or ""))
        return next((name for name in listed if name.startswith("general")), listed[0] if listed else "general-purpose")
    found = smallest(schema)
    return "do what the task says" if found == "ok" else found


def _patched(tool: Offered, text: str) -> Args | None:
    if not PATCHER.search(tool.name):
        return None
    return {"input": text} if tool.freeform else _filled(tool, {PATCH: text})


def _added(wish: Wish) -> str:
    body = "".join(f"+{line}\n" for line in str(wish["text"]).splitlines())
    return f"*** Begin Patch\n*** Add File: {wish['path']}\n{body}*** End Patch\n"


def _updated(path: str, there: str, text: str) -> str:
    """A patch that makes ``there`` into ``text``, with the lines that both have as context."""
    old, new = there.splitlines(), text.splitlines()
    lines = [f" {line}" if line in new else f"-{line}" for line in old]
    at = next((index for index, line in enumerate(lines) if line.startswith("-")), len(lines) - 1)
    lines[at + 1 : at + 1] = [f"+{line}" for line in new if line not in old]
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{chr(10).join(lines)}\n*** End Patch\n"


def _key(tool: Offered, names: frozenset[str]) -> str | None:
    """The property of this meaning; one that is required before one that is not."""
    required = tool.schema.get("required") or ()
    found = [name for name in _properties(tool) if name in names]
    return next((name for name in found if name in required), found[0] if found else None)


def _properties(tool: Offered) -> Mapping[str, Any]:
    found = tool.schema.get("properties")
    return found if isinstance(found, dict) else {}
