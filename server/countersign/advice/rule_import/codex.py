"""Codex's rule files: calls of ``prefix_rule`` in Starlark, read as Python's syntax and never run."""

from __future__ import annotations

import ast
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from countersign.advice.rule_import.entries import BadImport, Entry, RuleList, command_rule
from countersign.wire.base import Json

MOST_ALTERNATIVES = 64
"""Rules that one pattern with alternatives may stand for."""
_LISTS: Mapping[str, RuleList] = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
_ARGUMENTS = frozenset({"pattern", "decision", "justification", "match", "not_match"})


def codex_entries(text: str) -> Iterator[Entry]:
    """The entries of a rule file. Only calls with constant arguments are read; anything else may limit what they allow.

    Raises:
        BadImport: it cannot be parsed.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadImport("it cannot be parsed") from None
    lines = text.encode().splitlines(keepends=True)
    for statement in tree.body:
        original = _source(lines, statement)
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=ast.Call(func=ast.Name(id="prefix_rule"), args=[], keywords=keywords)):
                yield from _prefix_rule(original, statement.lineno, keywords)
            case _:
                reason = "only calls of `prefix_rule` with constant arguments are read"
                yield Entry(original, None, reason=reason, line=statement.lineno, limits=True)


def _source(lines: Sequence[bytes], statement: ast.stmt) -> str:
    """Return the text of a statement. `ast.get_source_segment` splits the whole file anew each time."""
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    kept = list(lines[first : last + 1])
    kept[-1] = kept[-1][: statement.end_col_offset]
    kept[0] = kept[0][statement.col_offset :]
    return b"".join(kept).decode()


def _prefix_rule(original: str, line: int, keywords: Sequence[ast.keyword]) -> Iterator[Entry]:
    given: dict[str, Json] = {}
    for keyword in keywords:
        try:
            given[keyword.arg or ""] = cast("Json", ast.literal_eval(keyword.value))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            yield Entry(original, None, reason="its arguments are not constants", line=line, limits=True)
            return
    decision = given.get("decision", "allow")
    listed = _LISTS.get(decision) if isinstance(decision, str) else None
    if listed is None or not given.keys() <= _ARGUMENTS:
        yield Entry(original, None, reason="it has an unknown decision or argument", line=line, limits=True)
        return
    choices = _choices(given.get("pattern"))
    if choices is None:
        yield Entry(original, listed, reason="its pattern is not a list of words", line=line)
        return
    if math.prod(map(len, choices)) > MOST_ALTERNATIVES:
        yield Entry(original, listed, reason="its pattern has too many alternatives", tool="Bash", line=line)
        return
    for words in itertools.product(*choices):
        rule = command_rule(words)
        yield Entry(original, listed, rule, "a rule cannot say its words", tool="Bash", line=line)


def _choices(pattern: Json) -> list[list[str]] | None:
    """For each word of a pattern, what it may be."""
    if not isinstance(pattern, list) or not pattern:
        return None
    choices: list[list[str]] = []
    for word in pattern:
        options = word if isinstance(word, list) else [word]
        if not options or not all(isinstance(option, str) and option for option in options):
            return None
        choices.append(cast("list[str]", options))
    return choices
