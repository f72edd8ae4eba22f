"""VS Code's list of terminal commands that run without a question, ``chat.tools.terminal.autoApprove``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from countersign.advice.rule_import.entries import Entry, RuleList, command_rule, strict_command_rule
from countersign.settings.jsonc import Document, Node
from countersign.wire.base import Json

PREFIX = "chat.tools."
_COMMANDS = "chat.tools.terminal.autoApprove"
_SWITCH = "chat.tools.terminal.enableAutoApprove"
_WORDS = re.compile(r"(?!/)[\w@%+=:,./-]+(?: [\w@%+=:,./-]+)*")
_SIMPLE_PATTERN = re.compile(r"/\^([\w@%=:,/-]+(?: [\w@%=:,/-]+)*)(\\b|\$)/")
"""An expression of plain words, with nothing in it that means anything else: a prefix or a whole command."""
_NO_RULE = "a rule cannot say its words"
_EXPRESSION = "a regular expression has no equal in our rules"


def vscode_entries(document: Document, root: Node) -> Iterator[Entry]:
    """The entries of a settings file."""
    for member in root.elements:
        key = member.key or ""
        if not key.startswith(PREFIX):
            continue
        line = document.position(member.start)[0]
        if key == _COMMANDS and isinstance(member.node.value, dict):
            for item in member.node.elements:
                yield _command_entry(item.key or "", item.node.value, document.position(item.start)[0])
        else:
            off = key == _COMMANDS or (key == _SWITCH and member.node.value is not True)
            yield Entry(key, None, reason="it is not carried over", line=line, limits=off, tool="Bash")


def _command_entry(key: str, value: Json, line: int) -> Entry:
    if value is None:
        return Entry(key, None, reason="it only takes an entry of the editor's own list away", line=line)
    approve = value.get("approve") if isinstance(value, dict) else value
    if not isinstance(approve, bool):
        return Entry(key, None, reason="it is neither true nor false", tool="Bash", line=line, limits=True)
    listed: RuleList = "allow" if approve else "ask"
    rule: str | None = None
    if not approve:
        # The editor looks for the text at the beginning, up to the end of a word such as `rm` in `rm-x`.
        rule = strict_command_rule(key.split()) if _WORDS.fullmatch(key) else None
    elif isinstance(value, dict) and value.get("matchCommandLine"):
        return Entry(key, listed, reason="it is about whole command lines, our rules about commands", line=line)
    elif _WORDS.fullmatch(key) and re.search(r"[A-Za-z0-9_]$", key):
        rule = command_rule(key.split())
    elif (found := _SIMPLE_PATTERN.fullmatch(key)) and re.search(r"[A-Za-z0-9_]$", found[1]):
        rule = command_rule(found[1].split(), prefix=found[2] == r"\b")
    reason = _EXPRESSION if key.startswith("/") else _NO_RULE
    return Entry(key, listed, rule, reason, tool="Bash", line=line)
