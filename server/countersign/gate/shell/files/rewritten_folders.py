"""Folders in which a command rewrites files that it does not name: ``git checkout .``, ``git stash``, ``ruff format``.

Formatters rewrite files with their own endings, and git those of its index where no other revision is named, so that
only a rule for such files counts. Only rules that forbid or ask for editing are applied to what is found here. Commands
that move a branch (``git switch``, ``merge``, ``pull``) are left to rules for commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.languages.git import UNKNOWN_SUBCOMMAND, Git
from countersign.gate.shell.languages.git_pathspec import read_pathspec
from countersign.gate.shell.programs.tables import FACETS, names_with
from countersign.gate.shell.syntax.tree import Word

_MOST = 200


class Rewritten(NamedTuple):
    """A folder in which files are rewritten: any, or those with one of these ``endings``. ``tracked``: only what git's
    index names. ``top``: counted from each folder above as well, up to the top of the workspace. ``by_git``: what is
    missing there now may come back. ``widened``: no folder in it is passed over."""

    folder: str
    endings: tuple[str, ...] = ()
    tracked: bool = False
    top: bool = False
    by_git: bool = False
    widened: bool = False


class _Formatter(NamedTuple):
    """``subcommand`` is the word that must stand in it, ``writes`` matches an option without which it only checks,
    ``checks`` one with which it does. ``whole``: without operands, or with them, it works on the whole project.
    ``widened`` matches options, each with its value behind a ``=``, by which it rewrites what it leaves alone else."""

    endings: str = ""
    subcommand: str = ""
    writes: str = ""
    checks: str = ""
    whole: bool = False
    widened: str = ""


FORMATTERS: Mapping[str, tuple[_Formatter, ...]] = {
    key[0]: tuple(_Formatter(**fields) for fields in rows) for key, rows in FACETS["rewrites_folder"].items()
}
"""Formatters and fixers by name."""


_CHANGE_MODES = names_with("changes_modes")
_DEEP = re.compile(r"-[A-Za-z]*R[A-Za-z]*|--r(?:ec.*)?")


def rewritten_folders(name: str, words: Sequence[Word], known: ProgramReading) -> Iterator[Rewritten]:
    """Yield the folders in which this command rewrites what it does not name."""
    if known.git is not None:
        yield from (each._replace(by_git=True) for each in _by_git(known.git))
        return
    texts = [word.value or "" for word in words[1 : _MOST + 1]]
    options = [text for text in texts[: texts.index("--") if "--" in texts else None] if text[:1] == "-"]
    if name in _CHANGE_MODES and any(_DEEP.fullmatch(option) for option in options):
        yield from (Rewritten(fixed_folder(text)) for text in texts if text and text[0] != "-")
    for each in FORMATTERS.get(name, ()):
        if each.subcommand and each.subcommand not in texts:
            continue
        changing = each.writes and _changes_otherwise(re.compile(each.writes), known)
        if each.checks and not changing and _only_checks(re.compile(each.checks), options):
            continue
        unknown = any(word.value is None for word in words)
        if each.writes and not (changing or unknown or _is_said(re.compile(each.writes), texts, options)):
            continue
        start = texts.index(each.subcommand) + 1 if each.subcommand else 0
        named = [text for text in texts[start:] if text and text[0] != "-"]
        # The word behind an option may be its value, and no operand.
        sure = any(
            text and text[0] != "-" and (before[:1] != "-" or (each.writes and re.fullmatch(each.writes, before)))
            for before, text in pairwise(["", *texts[start:]])
        )
        widened = each.widened != "" and (
            any(word.value is None and word.prefix[:1] == "-" for word in words)
            or _is_said(re.compile(each.widened), texts)
        )
        for folder in [*named, *(() if sure and not each.whole else (".",))]:
            yield Rewritten(fixed_folder(folder), tuple(each.endings.split()), top=each.whole, widened=widened)


def _changes_otherwise(writes: re.Pattern[str], known: ProgramReading) -> bool:
    """Whether a long option changes files of which the facet does not tell: one that its row lists (``--add-noqa``)."""
    escapes = known.program.escapes if known.program is not None else {}
    names = (option.name for option in known.arguments.options if option.name[:2] == "--")
    return any(escapes.get(name) == "changes" and writes.fullmatch(name) is None for name in names)


def _is_said(pattern: re.Pattern[str], texts: Sequence[str], alone: Sequence[str] | None = None) -> bool:
    """Whether one of these words, or an option with the word behind it for its value, is such a one."""
    behind = (f"{before}={text}" for before, text in pairwise(texts) if before[:2] == "--" and "=" not in before)
    return any(map(pattern.fullmatch, (*(texts if alone is None else alone), *behind)))


def _only_checks(checks: re.Pattern[str], options: Sequence[str]) -> bool:
    """Whether an option makes a formatter look only, and none takes that back."""
    if not any(map(checks.fullmatch, options)):
        return False
    given = (option.partition("=") for option in options)
    return not any(
        checks.fullmatch(name) if equals else name.startswith("--no-") and checks.fullmatch(f"--{name[5:]}")
        for name, equals, _ in given
    )


_KEEPS_FILES = frozenset({"list", "show", "drop", "clear", "create", "store"})


def _by_git(git: Git) -> Iterator[Rewritten]:
    found = git.arguments
    # A word that is only known at run time is any revision, and any path.
    operands = [_ANY_PATH if word.value is None else word.value for _, word in found.operands if word.value != ""]
    revisions = [word for word in operands if word not in {"HEAD", "@"}]
    match git.subcommand:
        case "checkout":
            if found.may_have("-f", "--force", "--pathspec-from-file", "-m", "--merge"):
                yield Rewritten(".", tracked=not revisions, top=True)
            for word in operands:
                yield _by_pathspec(word, tracked=len(operands) == 1 or operands[0] in {"HEAD", "@"})
        case "switch" if found.may_have("-f", "--force", "--discard-changes", "-m", "--merge"):
            yield Rewritten(".", tracked=not revisions, top=True)
        case "restore":
            if found.may_have("--worktree", "-W") or not found.keeps("--staged", "-S"):
                for word in [*operands, *((".",) if found.may_have("--pathspec-from-file") else ())]:
                    yield _by_pathspec(word, tracked=not found.may_have("-s", "--source"))
        case "rm":
            if not found.keeps("-n", "--dry-run", "--cached"):
                for word in operands:
                    yield _by_pathspec(word, tracked=True)
        case "reset":
            if found.may_have("--hard", "--merge", "--keep"):
                yield Rewritten(".", tracked=not revisions, top=True)
        case "stash":
            if not operands or operands[0] not in _KEEPS_FILES:
                gives_back = bool(operands) and operands[0] in {"pop", "apply", "branch"}
                every = found.may_have("-u", "--include-untracked", "-a", "--all") or gives_back
                yield Rewritten(".", tracked=not every, top=True)
        case "clean":
            if not found.keeps("-n", "--dry-run"):
                for word in operands or ["."]:
                    yield _by_pathspec(word, tracked=False)
        case "checkout-index":
            if found.may_have("-a", "--all"):
                yield Rewritten(".", tracked=True, top=True)
        case "read-tree":
            if found.has("-u"):
                yield Rewritten(".", top=True)


_CHANGING_INDEX = frozenset(
    """
    add am apply bisect checkout cherry-pick merge mv pull read-tree rebase reset restore revert rm sparse-checkout
    stage stash switch symbolic-ref update-index update-ref
    """.split()
)


def changes_index(git: Git) -> bool:
    """Return whether a command may change which files git's index names, or which commit ``HEAD`` is."""
    return git.subcommand in _CHANGING_INDEX or git.program is UNKNOWN_SUBCOMMAND


_ANY_PATH = ":/"
"""A pathspec that means all files."""


def _by_pathspec(word: str, *, tracked: bool) -> Rewritten:
    found = read_pathspec(word)
    if found is None:
        return Rewritten(word, tracked=tracked)
    return Rewritten(found.path, tracked=tracked, top=found.top)


_WILD = re.compile(r"[*?\[{]|\.\.\.")


def fixed_folder(text: str) -> str:
    """The folder in front of the first wildcard of an operand, which the program itself expands (``src/**/*.js``,
    ``./...``)."""
    found = _WILD.search(text)
    return (text[: found.start()].rpartition("/")[0] or ".") if found is not None else text
