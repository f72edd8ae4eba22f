"""Which files a listing names: the folders that it lists, and the names that it chooses.

See docs/gate.md S7 and "Secrets".
What ``find src -name '*.py' | xargs wc -l`` reads is only known at run time, but it lies below ``src`` and has such a
name. The folder counts as one that is named, and so does each chosen name, in which a wildcard could spell a secret.
A filter between the two (``grep env``) could choose a secret out of a folder, so it counts only behind names that
cannot be one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from countersign.gate.shell.files.file_use import FileUse, Listed
from countersign.gate.shell.languages.find import RUNS
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.listings import FILTERS, LISTING, Listing, ends_with_nul


@dataclass(slots=True)
class _Listed:
    """``names`` are patterns, relative to a folder or not. ``limited``: each listed name has a plain ending."""

    folders: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    limited: bool = False
    tracked: bool = False
    past: bool = False
    flat: bool = False
    top: bool = False


def listed_touches(listing: Listing, *, split: bool = True, expanded: bool = True) -> list[FileUse] | None:
    """Return what may be read by a command that is given the names of this listing; None if that is not known.
    ``split``: they come as text, which is split into words, and ``expanded``: by bash, to which each is a pattern."""
    first, *filters = listing
    reader = _READERS.get(LISTING.get(first[0], ""))
    found = reader(first) if reader is not None else None
    if found is None or not all(_passes(words, limited=found.limited) for words in filters):
        return None
    if ends_with_nul((first,)) and any(FILTERS.get(words[0]) == "lines" and not _by_nul(words) for words in filters):
        return None  # some print words of their own about what is no text
    ends = tuple(name.rsplit("/", 1)[-1] for name in found.names) if found.limited else ()
    finds = first[1:] if reader is _find else ()
    how = Listed(ends, found.tracked, split, found.past, found.flat, finds, found.top, expanded and split)
    file_uses = [FileUse("read", constant(folder), below=True, found=True, listing=how) for folder in found.folders]
    for name in found.names:
        file_uses += [
            FileUse("read", constant(name if folder == "." else f"{folder.rstrip('/')}/{name}"), shown=True, found=True)
            for folder in found.folders
        ]
    return file_uses


_ENDING = re.compile(r"\*?[\w-]*\.\w+")
_SECRET_ENDINGS = (".env", ".pem", ".npmrc", ".pypirc", ".netrc")


def _is_limiting(name: str) -> bool:
    """Whether names that match this pattern are none of a secret, whichever of them is chosen."""
    last = name.rsplit("/", 1)[-1]
    return _ENDING.fullmatch(last) is not None and last[0] != "." and not last.lower().endswith(_SECRET_ENDINGS)


def _by_nul(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-[A-Za-z]*z[A-Za-z]*|--null-data", word) for word in words[1:])


# --- filters ---------------------------------------------------------------------------------------------------------


def _passes(words: Sequence[str], *, limited: bool) -> bool:
    """Whether a filter prints nothing but names that come in, and chooses no secret among them."""
    rest = words[1:]
    match FILTERS.get(words[0]):
        case "order":
            return all(re.fullmatch(r"-[rnuVfz]+", word) for word in rest)
        case "ends":
            return limited and re.fullmatch(r"(?:-n ?[+-]?\d+|-\d+)?", " ".join(rest)) is not None
        case "lines":
            return limited and _is_filter(rest)
        case "contents":
            chosen = [FILTERS.get(name) for name in rest[:1]] == ["lines"] and rest[1:2] == ("-l",)
            return limited and chosen and _is_filter(rest[2:])
        case _:
            return False


def _is_filter(rest: Sequence[str]) -> bool:
    """Whether these words of grep are options that change no line, and one expression."""
    options = [word for word in rest if word.startswith("-")]
    return len(rest) - len(options) == 1 and all(re.fullmatch(r"-[vEFiwxz]+", word) for word in options)


# --- commands that list names ----------------------------------------------------------------------------------------

_WITH_VALUE = frozenset("-type -size -mtime -mmin -ctime -atime -perm -maxdepth -mindepth -user -newer".split())
_ALONE = frozenset(
    "! ( ) -not -o -or -a -and -print -print0 -empty -prune -readable -xdev -mount -executable -depth".split()
) | {RUNS}
_NAMES = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})


def _find(words: Sequence[str]) -> _Listed | None:
    """``find ROOT… TEST…``; what stands behind `-exec` does not choose what is given to that."""
    rest = list(words[1:])
    found = _Listed()
    while rest and rest[0][:1] not in {"-", "!", "("}:
        found.folders.append(rest.pop(0))
    found.folders = found.folders or ["."]
    branches, negated = [False], False
    while rest:
        test = rest.pop(0)
        if test in _NAMES:
            if not rest:
                return None
            name = rest.pop(0)
            if not negated:
                found.names.append(name.lower() if test.startswith("-i") else name)
                branches[-1] = branches[-1] or (test in {"-name", "-iname"} and _is_limiting(name))
        elif test in _WITH_VALUE:
            if not rest:
                return None
            rest.pop(0)
        elif test not in _ALONE:
            return None
        if test in {"-o", "-or"}:
            branches.append(False)
        negated = test in {"!", "-not"} and not negated
    found.limited = all(branches) and "(" not in words and "!" not in words and "-not" not in words
    # A path that `-path` names begins with its root already.
    found.names = [name.removeprefix("./").lstrip("/") for name in found.names]
    return found


_LS_FILES = frozenset("-z -c -m -o --cached --modified --others --exclude-standard --deduplicate --".split())


def _git(words: Sequence[str]) -> _Listed | None:
    rest = words[2:]
    match words[1:2]:
        case ("ls-files",):
            names = [word for word in rest if word not in _LS_FILES]
            if any(word[:1] in {"-", ":"} for word in names):
                return None
            tracked = not {"-o", "--others"} & set(rest)
            return _Listed(["."], names, bool(names) and all(map(_is_limiting, names)), tracked)
        case ("diff",) if "--name-only" in rest:
            plain = [word for word in rest if word not in {"--name-only", "--cached", "--staged", "-z"}]
            if not all(re.fullmatch(r"[\w./~^@]+", word) for word in plain):
                return None
            return _Listed(["."], tracked=True, past=len(rest) > 1 + ("-z" in rest), top=True)
        case ("grep",):
            found = _grep(words[1:])
            if found is not None:
                found.tracked = True
            return found
        case _:
            return None


def lists_index(words: Sequence[str]) -> Literal["here", "all"] | None:
    """Return which names of its index this command of git lists: those below the folder that it runs in, or all; None
    if it may list others."""
    match words[1:2]:
        case ("ls-files",) if not {word for word in words[2:] if word.startswith("-")} & {"-o", "--others"}:
            return "here" if _git(words) is not None else None
        case ("diff",) if (found := _git(words)) is not None and not found.past:
            return "all"
        case _:
            return None


def _grep(words: Sequence[str]) -> _Listed | None:
    options = [word for word in words[1:] if word.startswith("-")]
    operands = [word for word in words[1:] if not word.startswith("-")]
    if not any(
        re.fullmatch(r"-[rRiwnEFIvsZz]*[lL][rRiwnEFIvsZz]*|--files-with(?:out-match|-matches)", each)
        for each in options
    ):
        return None
    globs = [each.partition("=")[2] for each in options if each.startswith("--include=")]
    plain = re.compile(r"-[rRilLwnEFIvsZz]+|--files-with(?:out-match|-matches)|--include=.+|--exclude(?:-dir)?=.+")
    if not operands or not all(plain.fullmatch(each) for each in options):
        return None
    return _Listed(operands[1:] or ["."], globs, bool(globs) and all(map(_is_limiting, globs)))


def _rg(words: Sequence[str]) -> _Listed | None:
    found = _Listed()
    operands = rg_operands(words, found.names)
    if operands is None:
        return None
    found.folders = operands or ["."]
    found.limited = bool(found.names) and all(map(_is_limiting, found.names))
    return found


def rg_operands(words: Sequence[str], names: list[str] | None = None) -> list[str] | None:
    """Return the files and folders that a search names which prints names of files; None if it prints anything else.
    The patterns that it chooses by go to ``names``."""
    operands, rest = list[str](), list(words[1:])
    listing = files = False
    while rest:
        word = rest.pop(0)
        if word in {"-g", "--glob", "-t", "--type"}:
            value = rest.pop(0) if rest else ""
            if word in {"-g", "--glob"} and not value.startswith("!") and names is not None:
                names.append(value)
        elif word in {"--files", "--files-with-matches"} or re.fullmatch(r"-[inwFS0]*l[inwFS0]*", word):
            listing, files = True, files or word == "--files"
        elif word.startswith("-"):
            if not re.fullmatch(r"-[inwFS0]+|--null", word):
                return None
        else:
            operands.append(word)
    if not listing or not (files or operands):
        return None
    return operands[0 if files else 1 :]


def _ls(words: Sequence[str]) -> _Listed | None:
    """Names in a folder count from here, whatever they were listed from."""
    operands = [word for word in words[1:] if not word.startswith("-")]
    options = [word for word in words[1:] if word.startswith("-")]
    plain = all(re.fullmatch(r"-[1trSXv]+", each) for each in options)
    return _Listed([".", *operands], flat=True) if plain else None


_READERS = {"found": _find, "tracked": _git, "matching": _grep, "searched": _rg, "folder": _ls}
"""By what records say of programs that make a listing."""
