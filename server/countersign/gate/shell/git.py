"""Reading a git command: its global options, subcommand and arguments, and whether it only reads (RULES.md S9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .arguments import Arguments, arguments
from .script import Word
from .table_git import GIT, GLOBAL, GLOBAL_ESCAPES, LISTING, SHOWS_FILES
from .table_row import Program, row

UNKNOWN_SUBCOMMAND = row("a name that git does not know is an alias or a program of its own", closed=True)


@dataclass(frozen=True, slots=True)
class Git:
    """One git command. ``start`` is where the subcommand's own arguments begin; ``folders`` are values of ``-C``."""

    subcommand: str | None
    start: int
    before: Arguments
    arguments: Arguments
    program: Program
    folders: tuple[Word, ...]


def read_git(words: Sequence[Word]) -> Git:
    """Sort the words of a git command."""
    index = 1
    while index < len(words):
        word = words[index]
        if word.value is None or not word.value.startswith("-") or word.value == "-":
            break
        takes = word.value in {"-C", "-c"} or ("=" not in word.value and word.value.lstrip("-") in GLOBAL.long)
        takes = takes and word.value != "--exec-path"
        index += 2 if takes else 1
    before = arguments(words[: min(index, len(words))], GLOBAL)
    name = words[index].value if index < len(words) else None
    program = GIT.get(name, UNKNOWN_SUBCOMMAND) if name is not None else UNKNOWN_SUBCOMMAND
    found = arguments(words, program.grammar, index + 1) if index < len(words) else Arguments()
    return Git(name, index + 1, before, found, program, tuple(before.values("-C")))


def global_escapes(git: Git) -> list[tuple[str, str]]:
    """Options before the subcommand that change what runs, each with its reason. ``-C`` is judged as a place."""
    found: list[tuple[str, str]] = []
    for option in git.before.options:
        reason = GLOBAL_ESCAPES.get(option.name)
        if reason:
            found.append((option.name, reason))
    return found


def only_reads(git: Git) -> bool:
    """Whether the form used is one that only reads, its options not looked at."""
    name, operands = git.subcommand, [word for _, word in git.arguments.operands]
    if name is None or not git.program.known:
        return False
    first = operands[0].value if operands else None
    match name:
        case "branch":
            listing = git.arguments.has("-l", "--list", "--show-current", "--contains", "--no-contains", "--merged",
                                        "--no-merged", "--points-at")  # fmt: skip
            return not operands or listing
        case "tag":
            return not operands or git.arguments.has("-l", "--list", "--contains", "--merged", "--points-at")
        case "remote":
            return not operands or first in LISTING[name]
        case "reflog":
            return not operands or first in LISTING[name] or first not in {"expire", "delete", "drop", "write", "list"}
        case "stash" | "worktree":
            return first in LISTING[name]
        case "symbolic-ref":
            return len(operands) == 1
    return True


def shown_paths(git: Git) -> list[Word]:
    """Operands that may name files whose content is printed."""
    return [word for _, word in git.arguments.operands] if git.subcommand in SHOWS_FILES else []


def path_in(operand: str) -> str:
    """The path in ``revision:path`` or in a pathspec with magic in front; the operand itself if there is neither."""
    if operand.startswith(":("):
        return operand.partition(")")[2] or operand
    if operand.startswith((":/", ":!", ":^")):
        return operand[2:] or operand
    _, colon, path = operand.partition(":")
    return path.removeprefix("./") if colon and path else operand
