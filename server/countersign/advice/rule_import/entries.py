"""What a permission file holds, entry by entry, and which of it can be proposed as rules. Pure.

INVARIANT (narrowing): what the proposals allow together, the source allowed. An allow entry is carried over only if its
rule covers no more, and only if each deny and ask entry that could limit it is carried over as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from countersign.advice.lint import lint_rules
from countersign.gate import BadRule, CommandPattern, command_specifier, parse_rule, visible
from countersign.settings.policy import RuleText

RuleList = Literal["allow", "ask", "deny"]
Format = Literal["claudeCode", "codex", "gemini", "vscode"]

MOST_ENTRIES = 5000
"""Entries of one file; a file with more is refused."""
_SHOWN = 300
"""Characters of an entry that are shown."""
_TOUCHING_FILES = frozenset({"Bash", "Read", "Edit"})
"""Tools whose rules limit each other: a Read deny rule holds for commands too."""


class BadImport(Exception):
    """A file cannot be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One permission of the source.

    ``list`` is None for a setting that is no rule. ``rule`` is None where our grammar cannot say it, and ``reason``
    says why. ``tool`` is the tool it is about, None for any. ``limits`` says that without it allow entries would count
    for more.
    """

    original: str
    list: RuleList | None = None
    rule: str | None = None
    reason: str = ""
    tool: str | None = None
    line: int | None = None
    limits: bool = False


@dataclass(frozen=True, slots=True)
class ImportedRule:
    """A rule that may be proposed, and the entry it stands for. ``problem`` is what the linter says of it."""

    list: RuleList
    rule: str
    original: str
    line: int | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class NotImported:
    """An entry that is not carried over, and why."""

    original: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """Deny rules first, then ask, then allow; each list in the order of the file."""

    format: Format
    rules: tuple[ImportedRule, ...]
    left_out: tuple[NotImported, ...]


def carry_over(source: Format, entries: Sequence[Entry]) -> Imported:
    """Decide which entries become proposals.

    Raises:
        BadImport: there are too many.
    """
    if len(entries) > MOST_ENTRIES:
        raise BadImport(f"it holds more than {MOST_ENTRIES} entries")
    rules: list[ImportedRule] = []
    left_out: list[NotImported] = []
    lost: set[str | None] = set()
    known: set[tuple[str, str]] = set()
    for entry in sorted(entries, key=lambda entry: ("deny", "ask", None, "allow").index(entry.list)):
        reason, tool = _fault(entry, lost)
        if reason is None and entry.list is not None and entry.rule is not None:
            if (entry.list, entry.rule) not in known:
                rules.append(_imported(entry.list, entry.rule, entry))
            known.add((entry.list, entry.rule))
            continue
        if entry.limits or entry.list in ("deny", "ask"):
            lost.add(tool)
        left_out.append(NotImported(_shown(entry.original), entry.line, reason or "it is not a rule"))
    return Imported(source, tuple(rules), tuple(left_out))


def command_rule(words: Sequence[str], *, prefix: bool = True) -> str | None:
    """Word the rule for commands that begin with these words, or for exactly these; None where none says that."""
    specifier = command_specifier(words)
    if specifier is None:
        return None
    text = f"Bash({specifier}{':*' if prefix else ''})"
    try:
        read = parse_rule(RuleText("allow", text)).specifier
    except BadRule:
        return None
    same = isinstance(read, CommandPattern) and read.words == tuple(words) and read.prefix == prefix
    return text if same else None


def strict_command_rule(words: Sequence[str]) -> str | None:
    """Word a deny or ask rule for commands whose text begins with these words, the last of which may go on."""
    specifier = command_specifier(words)
    return None if specifier is None or specifier.endswith(("'", "\\")) else f"Bash({specifier}*)"


def _fault(entry: Entry, lost: Iterable[str | None]) -> tuple[str | None, str | None]:
    """Why an entry is not carried over, None if it is; and the tool that it is about."""
    if entry.list is None or entry.rule is None:
        return entry.reason or "it has no equal in our rules", entry.tool
    try:
        tool = parse_rule(RuleText(entry.list, entry.rule)).tool
    except BadRule as error:
        return f"the rule cannot be read: {error}", error.tool
    if entry.list != "allow":
        return None, tool
    for limit in lost:
        if limit is None:
            return "an entry that may limit it cannot be carried over", tool
        if _family(limit) == _family(tool):
            return f"an entry that may limit it cannot be carried over (for `{visible(limit)}`)", tool
    return None, tool


def _family(tool: str) -> str:
    if tool in _TOUCHING_FILES:
        return "files"
    return "mcp" if tool.startswith("mcp__") else tool


def _imported(listed: RuleList, rule: str, entry: Entry) -> ImportedRule:
    problems = lint_rules([RuleText(listed, rule)])
    problem = "; ".join(problem.message for problem in problems) or None
    return ImportedRule(listed, rule, _shown(entry.original), entry.line, problem)


def _shown(text: str) -> str:
    shown = visible(text.replace("\n", "\\n").replace("\t", "\\t"))
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
