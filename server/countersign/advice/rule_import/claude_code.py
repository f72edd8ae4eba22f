"""Claude Code's ``permissions``: the grammar is ours, but some allow rules mean less there than the same text here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from countersign.advice.rule_import.entries import Entry, RuleList
from countersign.settings.jsonc import Document, Node

_CARRIED = frozenset({"Bash", "Read", "Edit", "WebFetch", "WebSearch"})
"""Tools whose allow rules mean the same here; the names of MCP tools do as well."""
_SETTINGS = frozenset({"defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "hooks", "sandbox"})


def claude_code_entries(document: Document, root: Node, *, in_project: bool) -> Iterator[Entry]:
    """The entries of a settings file. ``in_project``: it is the workspace's own, to which ``/x`` is relative."""
    for member in root.elements:
        if member.key in _SETTINGS:
            yield _setting(document, member.key, member.node)
        if member.key != "permissions":
            continue
        if not isinstance(member.node.value, dict):
            yield Entry("permissions", None, reason="it is not an object", limits=True)
            continue
        for part in member.node.elements:
            if part.key in ("allow", "ask", "deny"):
                yield from _listed(document, part.key, part.node, in_project=in_project)
            else:
                yield _setting(document, part.key or "", part.node)


def _setting(document: Document, key: str, node: Node) -> Entry:
    reason = "it is a setting and no rule; set what you want of it yourself"
    # A hook may refuse what rules allow, and a sandbox bounds it: rules alone would allow more.
    limits = key in ("hooks", "sandbox")
    tool = "Bash" if key == "sandbox" else None
    return Entry(key, None, reason=reason, tool=tool, line=document.position(node.start)[0], limits=limits)


def _listed(document: Document, listed: RuleList, node: Node, *, in_project: bool) -> Iterator[Entry]:
    if not isinstance(node.value, list):
        yield Entry(f"permissions.{listed}", listed, reason="it is not a list", limits=True)
        return
    for item in node.elements:
        line = document.position(item.start)[0]
        text = item.node.value
        if not isinstance(text, str):
            yield Entry(repr(text), listed, reason="it is not a text", line=line)
            continue
        rule, reason = (text, "") if listed != "allow" else _narrowed(text, in_project=in_project)
        yield Entry(text, listed, rule, reason, line=line)


def _narrowed(text: str, *, in_project: bool) -> tuple[str | None, str]:
    """Return an allow rule that covers no more than this one does in Claude Code, or the reason why not."""
    found = re.fullmatch(r"\s*([\w.*-]+)(?:\((.*)\))?\s*", text, re.DOTALL)
    if found is None:
        return text, ""  # the grammar says what is wrong with it
    tool, specifier = found[1], found[2]
    if tool not in _CARRIED and not tool.startswith("mcp__"):
        return None, f"allowing `{tool}` would allow more here than there, or means nothing here"
    if tool not in ("Read", "Edit") or specifier is None:
        return text.strip(), ""
    path = specifier.strip()
    if path.startswith("/") and not path.startswith("//") and not in_project:
        return None, "its path is relative to its own settings file, which is not this workspace's"
    if "/" not in path.rstrip("/") and not path.startswith(("~", "!")):
        # There at any depth below the working folder; here it would be anywhere on the disk.
        return f"{tool}(./**/{path})", ""
    return text.strip(), ""
