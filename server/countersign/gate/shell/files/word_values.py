"""What paths the words of a command may stand for, as far as the text itself says: values, or pathname patterns.

Nothing is looked up on the disk; where a pattern leads is found in ``word_paths.py``.
"""

from __future__ import annotations

import itertools
import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.spent import Spent
from countersign.gate.patterns import escape_glob, is_glob, unescape_glob
from countersign.gate.probes import disk
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Glob, Text, Variable, Word
from countersign.gate.shell.syntax.words import MAX_CHOICES, choice_patterns, pattern_text
from countersign.gate.shell.variables.bindings import Facts


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word may stand for. ``values`` are paths as text, ``patterns`` pathname patterns; ``complete`` says that
    there is nothing else."""

    values: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    complete: bool = True


def join(folder: str, path: str, home: str) -> str:
    """Where ``cd path`` leads from a folder, as bash goes: by the text."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(path if path.startswith("/") else f"{folder}/{path}")


def kernel_path(folder: str, path: str, judge: PathJudge) -> str | None:
    """Where the kernel leads a program that changes its folder to a path (``env -C path``, ``cd -P path``): it follows
    links first, so that ``..`` is the folder above the one a link names. None if that cannot be found out."""
    if path == "~" or path.startswith("~/"):
        path = judge.home + path[1:]
    return judge.resolve(path if path.startswith("/") else f"{folder}/{path}", cwd="/").resolved


def literal(word: Word) -> str:
    """A constant word as a path for ``PathJudge``, which expands a leading ``~/``: quoted, it is a folder's name."""
    value = word.value or ""
    if value == "~" and word.tilde:
        return "~/"
    if word.tilde and value.startswith("~") and not value.startswith("~/"):
        # Another person's home, or where the shell is or was: never a folder of that name.
        return next(iter(_other_home(value, None).values))
    if value.startswith("~") and not word.tilde:
        return f"./{value}"
    return value


def made_below(source: str) -> str | None:
    """The path that ``cp --parents`` makes below its target."""
    return re.sub(r"\A(?:\.\./|/)+", "", posixpath.normpath(source)) or None


def meaning(word: Word, facts: Facts, home: str, folder: str | None) -> Meaning:
    """What a word may stand for, as far as the text itself says."""
    if word.value is not None:
        if word.tilde and word.value.startswith("~") and word.value != "~" and not word.value.startswith("~/"):
            return _other_home(word.value, folder)
        return Meaning((literal(word),))
    if word.choices:
        return _expanded([_named_tilde(each, word) for each in choice_patterns(word)], folder)
    if word.form == "pattern":
        return _expanded((_named_tilde(pattern_text(word), word),), folder)
    return _combined(word, facts, home, folder)


def _named_tilde(pattern: str, word: Word) -> str:
    """The pattern, whose tilde is a name where a quote behind it says so (``~''/*``)."""
    first = word.pieces[0]
    named = isinstance(first, Text) and not first.quoted and first.text[:1] == "~" and not word.tilde
    return f"\\{pattern}" if named and pattern[:1] == "~" else pattern


def _expanded(patterns: Sequence[str], folder: str | None) -> Meaning:
    """What words stand for that are written as patterns, each of which may hold no wildcard, or a tilde in front."""
    values: list[str] = []
    found: list[str] = []
    complete = True
    for pattern in patterns:
        if UNKNOWN_TEXT in pattern:
            complete = False
        elif pattern.startswith("~") and pattern != "~" and not pattern.startswith("~/"):
            head, slash, rest = pattern.partition("/")
            other = _other_home(head, folder)
            complete = complete and other.complete
            for path in other.values:
                spelled = f"{escape_glob(path)}{slash}{rest}"
                (found if is_glob(spelled) else values).append(spelled if is_glob(spelled) else f"{path}{slash}{rest}")
        elif is_glob(pattern):
            found.append(pattern)
        else:
            values.append(plain_path(pattern))
    return Meaning(tuple(values), tuple(found), complete)


def plain_path(pattern: str) -> str:
    """A pattern's own text as a path for ``PathJudge``, which expands a leading ``~/``."""
    text = unescape_glob(pattern)
    if pattern == "~":
        return "~/"
    return f"./{text}" if text.startswith("~") and not pattern.startswith("~") else text


def matching_paths(pattern: str, folder: str, most: int, spent: Spent) -> tuple[str, ...] | None:
    """What a pattern matches now, as paths for ``PathJudge``: a name may be ``~``, which is no home. None if that is
    more than is looked at."""
    found = disk.matching(pattern, folder, most)
    spent.names += len(found or ())
    return found and tuple(f"./{name}" if name.startswith("~") else name for name in found)


def _combined(word: Word, facts: Facts, home: str, folder: str | None) -> Meaning:
    """All texts that constants and variables of the text's own combine to."""
    parts: list[Sequence[tuple[str, str]]] = []
    complete = word.form == "quoted" or _stays_one(word, facts)
    named = {piece.held for piece in word.pieces if isinstance(piece, Variable)}
    # A name that a pattern matches may hold blanks or wildcards, so without quotes there may be other words as well.
    globbed = word.form in ("quoted", "split") and not named.isdisjoint(facts.patterns)
    for piece in word.pieces:
        match piece:
            case Text(text=text, quoted=True):
                parts.append(((text, escape_glob(text)),))
            case Text(text=text) | Glob(text=text):
                parts.append(((text, text),))
            case Variable(held=str(name)) if globbed and name in facts.values:
                # A name that a pattern matches is quoted here, so the word is one that the whole pattern matches.
                matched = name in facts.patterns and name not in facts.loose
                complete = complete and (matched or None not in facts.values[name])
                known = [(value, escape_glob(value)) for value in facts.values[name] if value is not None]
                parts.append(sorted((*known, *((pattern, pattern) for pattern in facts.patterns.get(name, ())))))
            case Variable(held=str(name)) if not globbed:
                bound = facts.values.get(name)
                if bound is None and name in {"HOME", "PWD"}:
                    value = home if name == "HOME" else folder
                    if value is None:
                        return Meaning((), complete=False)
                    parts.append(((value, escape_glob(value)),))
                    continue
                if bound is None:
                    return Meaning((), complete=False)
                plain = word.form == "quoted" and piece.quoted
                known = sorted((value, escape_glob(value) if plain else value) for value in bound if value is not None)
                complete = complete and len(known) == len(bound)
                parts.append(known)
            case _:
                return Meaning((), complete=False)
    if not parts or any(not part for part in parts):
        return Meaning((), complete=False)
    total = 1
    for part in parts:
        total *= len(part)
    if total > MAX_CHOICES:
        return Meaning((), complete=False)
    values: list[str] = []
    patterns: list[str] = []
    for combination in itertools.product(*parts):
        pattern = "".join(part for _, part in combination)
        if is_glob(pattern):
            patterns += _with_either_tilde(pattern, word)
        else:
            value = unescape_glob(pattern) if globbed else "".join(part for part, _ in combination)
            values += _with_either_tilde(value, word)
    return Meaning(tuple(values), tuple(patterns), complete)


def _with_either_tilde(text: str, word: Word) -> tuple[str, ...]:
    """A path, and where an expansion may have made its tilde, also the folder that is named so: bash expands no tilde
    in what a variable holds, but a variable may hold what it made of one."""
    first = word.pieces[0]
    by_home = isinstance(first, Variable) and first.name in {"HOME", "PWD"}
    return (text, f"./{text}") if text.startswith("~") and not word.tilde and not by_home else (text,)


_ONE_WORD = re.compile(r"[\w./,:@%+=-]+")


def _stays_one(word: Word, facts: Facts) -> bool:
    """Whether unquoted variables in a word hold nothing that splits it or makes a pattern of it."""
    return "IFS" not in facts.values and all(
        _ONE_WORD.fullmatch(value or "")
        for piece in word.pieces
        if isinstance(piece, Variable)
        for value in facts.values.get(piece.held or "", (None,))
    )


def _other_home(value: str, folder: str | None) -> Meaning:
    """``~name/x`` is another person's home, ``~+`` the place itself; ``~-`` is not known."""
    head, slash, rest = value.partition("/")
    if head == "~+" and folder is not None:
        return Meaning((f"{folder}{slash}{rest}",))
    expanded = disk.home_named(value)
    if expanded != value:
        return Meaning((expanded,))
    return Meaning((f"/home/{head[1:]}{slash}{rest}",), complete=False)
