"""Words that may name files and of which a part is only known at run time (``.en"$x"``, ``a=@/"$x"``, ``"$x".env``).

They ask where what is known of them leads outside, lies in a secret or a protected place, or begins like the name of
one. Other names are taken for harmless, since nearly any word of a program may be the name of a file.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.sensitive_paths import PROTECTED, SECRET_SAMPLES
from countersign.gate.patterns import fold
from countersign.gate.shell.syntax.tree import Piece, Text, Variable, Word
from countersign.gate.shell.variables.bindings import Facts
from countersign.wire.verdicts import Evidence

PARTS = re.compile(r"[=@,;#|!<>(){}\[\]\"'`^&%]|:(?!//)")
"""Behind one of these a name may begin inside a word."""

_GIVES_A_FILE = re.compile(r"(?:^|=)@$")
_PRIVATE_KEY = re.compile(r"\.p(?:em?)?$")

_MOST = 64
"""Texts that one word may begin with, or be; one of more may be anywhere."""

_FEWEST = 5
"""Letters of a name that has no dot in front, from which on it counts as the beginning of one that is known."""

_NAMES = tuple("/".join(names) for names in PROTECTED) + tuple(name for name in SECRET_SAMPLES if "\0" not in name)


def reason_to_ask(word: Word, facts: Facts, judge: PathJudge, folder: str) -> str | None:
    """Return why a word with an unknown part asks where it stands in this folder, or None."""
    known = [_texts(piece, facts, judge, folder) for piece in word.pieces]
    if not any(texts != (None,) for texts in known):
        return None
    if math.prod(map(len, known)) > _MOST:
        return f"the path `{word.source}` is only known at run time and could be anywhere"
    first = next((index for index, texts in enumerate(known) if None in texts), len(known))
    for parts in itertools.product(*known[: first + 1]):
        reason = _begins(word, "".join(part or "" for part in parts), judge, folder)
        if reason is not None:
            return reason
    # Its unknown parts may be empty.
    for parts in itertools.product(*known):
        reason = _is(word, "".join(part or "" for part in parts), judge, folder)
        if reason is not None:
            return reason
    return None


def folders_of(word: Word, facts: Facts, judge: PathJudge, folder: str) -> Iterator[str]:
    """Yield the folders in which a word with an unknown end may name something (``--out=held/"$x"``), as far as its
    beginning tells."""
    known = [_texts(piece, facts, judge, folder) for piece in word.pieces]
    first = next((index for index, texts in enumerate(known) if None in texts), len(known))
    if math.prod(map(len, known[:first])) <= _MOST:
        for parts in itertools.product(*known[:first]):
            last = PARTS.split("".join(part or "" for part in parts))[-1]
            yield from (each.rpartition("/")[0] for each in _candidates(last, judge) if "/" in each)


def rules_for_folders(word: Word, facts: Facts, judge: PathJudge, folder: str) -> Iterator[Evidence]:
    """Yield deny and ask rules for reading what lies in one of these folders."""
    for each in dict.fromkeys(folders_of(word, facts, judge, folder)):
        finding = judge.judge_read(f"{each}/x", cwd=folder)
        ruled = finding.deny or finding.ask
        if ruled is not None:
            yield ruled.model_copy(update={"reason": f"`{ruled.rule}` could match what `{word.source}` names"})


def _texts(piece: Piece, facts: Facts, judge: PathJudge, folder: str) -> Sequence[str | None]:
    """What a part of a word may be; None among them where it may be anything."""
    match piece:
        case Text(text=text):
            return (text,)
        case Variable(name="HOME", plain=True):
            return (judge.home,)
        case Variable(name="PWD", plain=True):
            return (folder,)
        case Variable(held=str(name)) if name in facts.values:
            return tuple(facts.values[name]) or (None,)
        case Variable(words=words) if words:
            return (None, *(each.value for each in words if each.value is not None))
        case _:
            return (None,)


def _candidates(text: str, judge: PathJudge) -> Iterator[str]:
    for part in (*PARTS.split(text), text[2:] if text[:1] == "-" != text[1:2] else ""):
        if part:
            yield part.removeprefix(f"{judge.workspace}/")


def _begins(word: Word, text: str, judge: PathJudge, folder: str) -> str | None:
    if _GIVES_A_FILE.search(text):
        return f"the file `{word.source}` is only known at run time and could be a secret"
    last = PARTS.split(text)[-1]
    for beginning in dict.fromkeys(_candidates(last, judge)):
        if beginning.startswith(("/", "~", "../")) or beginning == ".." or "/../" in beginning:
            return f"the path `{word.source}` is only known at run time and could be anywhere"
        if "/" in beginning and (found := _counts(f"{beginning}x", judge, folder)) is not None:
            return f"`{word.source}` could be a secret or a protected place: {found}"
        names = ["/".join(beginning.split("/")[-2:]), beginning.rsplit("/", 1)[-1]]
        for name in map(fold, names):
            if name[:1] != "." and (name.endswith("/") or (len(name) < _FEWEST and not name.startswith("id_"))):
                continue
            like = next((each for each in _NAMES if each.startswith(name)), None)
            if like is not None or _PRIVATE_KEY.search(name):
                return f"`{word.source}` could be a secret or a protected place: `{like or '*.pem'}`"
    return None


def _is(word: Word, text: str, judge: PathJudge, folder: str) -> str | None:
    for name in dict.fromkeys(_candidates(text, judge)):
        if "/../" in name:
            return f"the path `{word.source}` is only known at run time and could be anywhere"
        found = _counts(name.lstrip("/"), judge, folder)
        if found is not None:
            return f"`{word.source}` could be a secret or a protected place: {found}"
    return None


def _counts(path: str, judge: PathJudge, folder: str) -> str | None:
    if not path:
        return None
    return judge.is_secret(path, cwd=folder) or judge.is_protected(path, cwd=folder)
