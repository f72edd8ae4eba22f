"""Gemini CLI's policy files. There the rule of the highest priority decides, here the strictest, which allows less."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from countersign.advice.rule_import.entries import BadImport, Entry, RuleList, command_rule, strict_command_rule
from countersign.wire.base import Json

_LISTS: Mapping[str, RuleList] = {"allow": "allow", "ask_user": "ask", "deny": "deny"}
_STRICT = {
    "run_shell_command": "Bash", "read_file": "Read", "read_many_files": "Read", "list_directory": "Read",
    "glob": "Read", "grep_search": "Read", "search_file_content": "Read", "write_file": "Edit", "replace": "Edit",
    "web_fetch": "WebFetch", "google_web_search": "web_search",
}  # fmt: skip
"""Rules of the same reach or a wider one, for deny and ask."""
_LOOSE = {
    "run_shell_command": "Bash",
    "read_many_files": "Read(./**)",
    "web_fetch": "WebFetch",
    "google_web_search": "web_search",
}
"""Rules of the same reach or a narrower one, for allow. A write tool is one of several ways to what `Edit` covers."""
_KNOWN = frozenset({"toolName", "mcpName", "commandPrefix", "decision", "priority", "denyMessage", "deny_message"})
"""Keys that are read; any other narrows when a rule counts."""
_PLAIN_WORDS = re.compile(r"[\w@%+=:,./-]+(?: +[\w@%+=:,./-]+)* *")


def gemini_entries(text: str) -> Iterator[Entry]:
    """The entries of a policy file.

    Raises:
        BadImport: it is not TOML.
    """
    try:
        tables: Mapping[str, Json] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        raise BadImport("it is not TOML") from None
    for key, value in tables.items():
        if key != "rule":
            yield Entry(key, None, reason="only `rule` tables are read", limits=True)
            continue
        if not isinstance(value, list):
            yield Entry(key, None, reason="it is not a list of tables", limits=True)
            continue
        for rule in value:
            yield from _rule_entries(rule)


def _rule_entries(rule: Json) -> Iterator[Entry]:
    original = _spelled(rule)
    decision = rule.get("decision") if isinstance(rule, dict) else None
    listed = _LISTS.get(decision) if isinstance(decision, str) else None
    if not isinstance(rule, dict) or listed is None:
        yield Entry(original, None, reason="it has no decision that is known", limits=True)
        return
    tools = _texts(rule.get("toolName", []))
    prefixes = _texts(rule.get("commandPrefix", []))
    more = sorted(rule.keys() - _KNOWN)
    server = rule.get("mcpName")
    if tools is None or prefixes is None or not (server is None or isinstance(server, str)):
        yield Entry(original, listed, reason="a name in it is not a text")
    elif more:
        tool = _STRICT.get(tools[0]) if len(tools) == 1 and server is None else None
        yield Entry(original, listed, reason=f"`{more[0]}` has no equal in our rules", tool=tool)
    elif prefixes:
        yield from (_prefix_entry(original, listed, prefix, tools, server) for prefix in prefixes)
    else:
        yield from (_tool_entry(original, listed, tool, server) for tool in tools or [None])


def _prefix_entry(original: str, listed: RuleList, prefix: str, tools: Sequence[str], server: str | None) -> Entry:
    if (tools and list(tools) != ["run_shell_command"]) or server is not None:
        return Entry(original, listed, reason="a command stands beside a tool that runs none")
    rule = None
    if _PLAIN_WORDS.fullmatch(prefix) and not (listed == "allow" and (prefix.endswith(" ") or "  " in prefix)):
        # Of other versions and spellings a prefix may go on inside a word, or end in a blank.
        rule = command_rule(prefix.split(" ")) if listed == "allow" else strict_command_rule(prefix.split())
    return Entry(original, listed, rule, "its prefix is not made of plain words", tool="Bash")


def _tool_entry(original: str, listed: RuleList, tool: str | None, server: str | None) -> Entry:
    if server is not None:
        if not re.fullmatch(r"[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*", server):
            return Entry(original, listed, reason="the server's name cannot stand in a rule", tool="mcp__")
        if tool is not None and not re.fullmatch(r"[\w.-]+", tool):
            return Entry(original, listed, reason="the tool's name cannot stand in a rule", tool="mcp__")
        return Entry(original, listed, f"mcp__{server}" if tool is None else f"mcp__{server}__{tool}")
    if tool is None:
        return Entry(original, listed, reason="it names no tool")
    rule = (_LOOSE if listed == "allow" else _STRICT).get(tool)
    about = tool if re.fullmatch(r"\w+", tool) and "__" not in tool else None
    return Entry(original, listed, rule, "its tool has no equal in our rules", tool=about)


def _texts(value: Json) -> list[str] | None:
    values = value if isinstance(value, list) else [value]
    return cast("list[str]", values) if all(isinstance(one, str) for one in values) else None


def _spelled(rule: Json) -> str:
    if not isinstance(rule, dict):
        return repr(rule)
    return ", ".join(f"{key} = {value!r}" for key, value in rule.items())
