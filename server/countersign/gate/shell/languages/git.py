"""Reading a git command: its global options, subcommand and arguments, and whether it only reads (docs/gate.md S9)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from countersign.gate.shell.languages.git_options import (
    ADDRESSED,
    GLOBAL,
    GLOBAL_ESCAPES,
    GLOBAL_FLAGS,
    LISTING,
    WALKING,
)
from countersign.gate.shell.programs.argv import Arguments, arguments, may_be_several
from countersign.gate.shell.programs.row import Program, row
from countersign.gate.shell.programs.tables import GIT, names_with
from countersign.gate.shell.syntax.tree import Word

READ_HERE = names_with("own_reading")
"""Programs whose subcommands are read here: git alone."""

TOP_LEVEL = ("git", "rev-parse", "--show-toplevel")
"""The command that prints the top folder of the repository."""

AS_SUBCOMMAND = {"--help": "help", "-h": "help", "--version": "version", "-v": "version"}
"""Options in front of the subcommand that stand for one themselves: what follows are its words (`git.c`)."""

UNKNOWN_SUBCOMMAND = row(
    "a name that git does not know is an alias or a program of its own", closed=True, brings="tree"
)


@dataclass(frozen=True, slots=True)
class Git:
    """One git command. ``start`` is where the subcommand's own arguments begin, ``last`` the index of its last word;
    ``folders`` are values of ``-C``."""

    subcommand: str | None
    start: int
    last: int
    before: Arguments
    arguments: Arguments
    program: Program
    folders: tuple[Word, ...]


def read_git(words: Sequence[Word]) -> Git:
    """Sort the words of a git command. Behind an option that git does not document its subcommand is not known."""
    index, unknown = 1, False
    while index < len(words):
        word = words[index]
        if word.value is None or not word.value.startswith("-") or word.value == "-" or word.value in AS_SUBCOMMAND:
            break
        name, attached, _ = word.value.partition("=")
        valued = name in {"-C", "-c"} or (name.startswith("--") and name[2:] in GLOBAL.long)
        unknown = unknown or not (word.value in GLOBAL_FLAGS or (valued and not (attached and len(name) == 2)))
        index += 2 if valued and not attached and name != "--exec-path" else 1
    before = arguments(words[: min(index, len(words))], GLOBAL)
    name = words[index].value if index < len(words) and not unknown else None
    name = AS_SUBCOMMAND.get(name, name) if name is not None else None
    if index + 1 < len(words) and words[index + 1].value == "--help":
        name = "help"
    program = GIT.get(name, UNKNOWN_SUBCOMMAND) if name is not None else UNKNOWN_SUBCOMMAND
    found = arguments(words, program.grammar, index + 1) if index < len(words) else Arguments()
    return Git(name, index + 1, len(words) - 1, before, found, program, tuple(before.values("-C")))


def global_escapes(git: Git) -> list[tuple[str, str]]:
    """Options before the subcommand that change what runs, each with its reason. ``-C`` is judged as a place."""
    found: list[tuple[str, str]] = []
    for option in git.before.options:
        reason = GLOBAL_ESCAPES.get(option.name)
        if reason:
            found.append((option.name, reason))
    return found


def handed_on(words: Sequence[Word], git: Git) -> Iterator[Word]:
    """Words behind ``--`` that may be options all the same: these subcommands start others without passing it on."""
    if git.subcommand not in {"pull", "remote", "stash"}:
        return
    ends = [at for at, word in enumerate(words) if at >= git.start and _ends_options(word.value or "")]
    for word in words[ends[0] + 1 :] if ends else ():
        if word.prefix.startswith("-") or (word.value is None and word.prefix == ""):
            yield word


def _ends_options(text: str) -> bool:
    return text == "--" or (text.startswith("--e") and "--end-of-options".startswith(text))


def replaces_objects(git: Git, word: Word) -> bool:
    """Whether a word may name a reference by which git takes one object for another, and the command writes it."""
    if git.program.known and not (git.subcommand == "symbolic-ref" and len(git.arguments.operands) > 1):
        return False
    moves = git.subcommand in ADDRESSED or git.subcommand in {"update-ref", "symbolic-ref"}
    # On some disks case does not count in the names of references.
    return (moves and (begins(word, "refs/replace") or _fills(word))) or "refs/replace" in _with_single_slashes(word)


def begins(word: Word, text: str) -> bool:
    """Whether a word of which only the beginning is known may be this one."""
    return word.value is None and word.prefix != "" and text.startswith(_with_single_slashes(word))


def _with_single_slashes(word: Word) -> str:
    """What is known of a word, in small letters: git takes several slashes in the name of a reference for one."""
    return re.sub("/+", "/", word.prefix.lower())


def _fills(word: Word) -> bool:
    """Whether a refspec may write references which make one object stand for another (``+refs/*:refs/*``)."""
    target, star, _ = word.prefix.rpartition(":")[2].partition("*")
    return ":" in word.prefix and star != "" and "refs/replace/".startswith(target)


def names_other_file(git: Git) -> bool:
    """Whether git may write or delete, in the place of a reference, the file that its name is the path of: it takes
    ``config`` and ``../../x`` for names of references that lead to others, or to which others lead."""
    operands = [word for _, word in git.arguments.operands]
    if not operands:
        return False
    match git.subcommand:
        case "update-ref":  # refuses `..`
            return not _REFERENCE.match(operands[0].prefix)
        case "symbolic-ref" if len(operands) > 1 or git.arguments.may_have("-d", "--delete"):
            return not all(map(_is_reference, operands[:2]))
    return False


def _is_reference(word: Word) -> bool:
    name = word.value
    return name is not None and _REFERENCE.match(name) is not None and _STRANGE_PARTS.isdisjoint(name.split("/"))


_REFERENCE = re.compile(r"(?:HEAD|[A-Z]+_HEAD)\Z|refs/")
_STRANGE_PARTS = frozenset({"", ".", ".."})


def only_reads(git: Git) -> bool:
    """Whether the form used is one that only reads, its options not looked at."""
    name, operands = git.subcommand, [word for _, word in git.arguments.operands]
    if name is None or not git.program.known or git.arguments.has("--help") or _verifies(git) or _merges_anew(git):
        return False
    if _enters_submodules(git):
        return False
    first = operands[0].value if operands else None
    if git.arguments.has("--no-index") and name != "diff":
        return False
    undone = any(option.name.startswith("--no-") and option.name not in _FILTERS for option in git.arguments.options)
    undone = undone or _may_be_value(git)
    if moves_values(git):
        return False
    match name:
        case "branch":
            listing = git.arguments.has("-l", "--list", "--show-current", "--contains", "--no-contains", "--merged",
                                        "--no-merged", "--points-at")  # fmt: skip
            return not operands or (listing and not undone)
        case "tag":
            listing = git.arguments.has("-l", "--list", "-n", "--contains", "--no-contains", "--merged", "--no-merged",
                                        "--points-at")  # fmt: skip
            return not operands or (listing and not undone and not _counts_strangely(git))
        case "remote":
            return not operands or first in LISTING[name]
        case "reflog":
            return not operands or first not in {None, "expire", "delete", "drop", "write", "list"}
        case "stash" | "worktree":
            # Behind an option or `--` the same word is a path to stash.
            return first in LISTING[name] and git.arguments.operands[0][0] == git.start
        case "symbolic-ref":
            return len(operands) == 1 and not may_be_several(operands[0])
        case "diff" if git.arguments.has("--no-index"):
            return len(operands) == 2 and all(word.value is not None for word in operands)
        case "config" if git.arguments.keeps("-l", "--list"):
            # Those of a person, which are listed as well otherwise, are no part of the workspace.
            options = {option.name for option in git.arguments.options}
            return not operands and "--local" in options and options <= _OF_LISTS
        case "config":
            # Whatever stands behind the name is its new value, an option too.
            alone = len(operands) == 1 and git.arguments.operands[0][0] == git.last
            return alone and _TELLING.fullmatch(first or "") is not None
    return True


_OF_LISTS = frozenset({"-l", "--list", "--local", "-z", "--null", "--name-only", "--show-origin", "--show-scope"})

_TELLING = re.compile(
    r"user\.(?:name|email)|init\.defaultbranch|pull\.rebase|push\.default|core\.(?:bare|autocrlf|eol|filemode|ignorecase|"
    r"editor|hookspath|excludesfile|symlinks)|branch\.[\w./-]+\.(?:remote|merge)|remote\.[\w./-]+\.url",
    re.IGNORECASE,
)
"""Settings that hold no password or token, or (a remote's address) are told by ``git remote -v`` as well."""


_FILTERS = frozenset({"--no-contains", "--no-merged", "--no-color", "--no-column", "--no-abbrev"})
"""Options of ``branch`` and ``tag`` that take nothing back: ``--no-list`` makes the operand a new branch."""


def _verifies(git: Git) -> bool:
    """Whether a format or an order asks for signatures (``%G?``, ``signature``), which are verified by a program that
    the settings name."""
    named = {"--format", "--pretty", "--group", "--sort"}
    values = (option.value for option in git.arguments.options if option.name in named)
    if any(VERIFYING.search(word.value or "") for _, word in git.arguments.operands):
        return True  # the value of an option, of which it is not known that it takes one
    return any(value is not None and (value.value is None or _SIGNED.search(value.value)) for value in values)


VERIFYING = re.compile(r"%[-+\s]*G")
"""A placeholder for a signature in a format of commits; the signs in front are for when it is empty (`pretty.c`), and
where a setting has another blank, git may take it for one of them."""
_SIGNED = re.compile(rf"{VERIFYING.pattern}|signature")


def moves_values(git: Git) -> bool:
    """Whether git may give an option another value than is read here. What walks through history reads its words
    twice: some options are taken out first, and the value of another is then the next word that is left (``--encoding
    --decorate --stat``). ``git stash show`` sorts all words without a dash first."""
    if not git.arguments.settled:
        return True
    if git.subcommand not in WALKING:
        return False
    sorts = git.subcommand == "stash" and any(word.value == "show" for _, word in git.arguments.operands[:1])
    values = [option.value for option in git.arguments.options if not option.attached and option.value is not None]
    return bool(values) and (sorts or any((value.value or value.prefix)[:1] in {"-", ""} for value in values))


def _may_be_value(git: Git) -> bool:
    """Whether a word that looks like an option may be the value of the one before it (``--sort --list x``)."""
    found = git.arguments.options
    indexes = {option.index for option in found}
    return any(option.value is not None and not option.attached and option.index + 1 in indexes for option in found)


def _counts_strangely(git: Git) -> bool:
    """Whether `git tag` is given a number of lines by which it may list nothing: ``-n-1`` is no ``-n`` at all."""
    values = [option.value for option in git.arguments.options if option.name == "-n"]
    return any(value is not None and not (value.value or "").isdecimal() for value in values)


def _enters_submodules(git: Git) -> bool:
    """Whether it shows what changed in submodules, by git run in their folders: one that only a commit names may lie
    in the work tree with any settings."""
    values = [option.value for option in git.arguments.spelled("--submodule")]
    return any(value is None or value.value != "short" for value in values)


def _merges_anew(git: Git) -> bool:
    """Whether it may show merges by making them anew, which runs the merge drivers that the settings name."""
    values = [option.value for option in git.arguments.spelled("--diff-merges")]
    return any(value is None or value.value not in PLAIN_MERGES for value in values)


PLAIN_MERGES = frozenset("off none on m first-parent 1 separate combined c dense-combined cc".split())
"""Formats of differences (``--diff-merges``) for which no merge is made anew."""


def named_words(git: Git) -> list[Word]:
    """All words behind the subcommand that may name a file: operands, and what options take that is not text for
    certain. Of an option's value in its own word only a known one counts, or a place in a file (``-L``)."""
    found, texts = git.arguments, git.program.grammar.texts
    values = [
        option.value
        for option in found.options
        if option.value is not None
        and (option.name not in texts or found.unrecognized_options)
        and (option.value.value is not None or not option.attached or option.name == "-L")
    ]
    return [*(word for _, word in found.operands), *values]


_IN_FRONT = re.compile(r"\A(?:[/!^]|\./)+")


def paths_in(text: str) -> Iterator[str]:
    """What may be paths in ``revision:path``, ``first,last:path`` or a pathspec with magic in front: all that stands
    behind a colon, since a revision may hold some itself (``:0:x``, ``HEAD@{10:00}:x``, ``HEAD^{/a:b}:x``)."""
    while ":" in text:
        text = text.partition(":")[2]
        path = text.partition(")")[2] if text.startswith("(") else text
        named = _IN_FRONT.sub("", path)
        # A folder may be called `(x)` or `^x`, too.
        yield from (each for each in dict.fromkeys((named, text)) if each and each[0] != "/")


_MESSAGE_GIVEN = ("-m", "--message", "-F", "--file", "-C", "--reuse-message", "--no-edit", "--fixup")
_WRITE_MESSAGES = frozenset({"commit", "notes", "revert"})
_WITHOUT_EDITOR = frozenset(
    """
    am apply bisect branch bundle cat-file check-attr check-ignore check-mailmap checkout cherry-pick clean clone
    column commit-tree config credential diff-tree fast-import fetch fmt-merge-msg gc hash-object index-pack init
    interpret-trailers mailinfo merge mktag mktree mv name-rev pack-objects pack-refs patch-id pull push read-tree
    rebase reset restore rev-list rm sparse-checkout stage stash stripspace submodule switch symbolic-ref
    unpack-objects update-index update-ref worktree write-tree add
    """.split()
)
"""Of the subcommands that do more than reading, those that start no editor but with an option of ``_EDITED``."""
_EDITED: Mapping[str, Sequence[str]] = {
    "commit": ("-e", "--edit", "-p", "--patch", "--interactive", "-c", "--reedit-message"),
    "tag": ("-e", "--edit"),
    "notes": ("-e", "--edit", "-c", "--reedit-message"),
    "branch": ("--edit-description",),
    "config": ("-e", "--edit"),
    **dict.fromkeys(("merge", "pull", "rebase", "cherry-pick", "revert", "am"), (
        "-e", "--edit", "-i", "--interactive", "--continue", "--skip", "--edit-todo", "--autosquash",
    )),
    **dict.fromkeys(("add", "stage", "checkout", "restore", "reset", "stash"), (
        "-e", "--edit", "-i", "--interactive", "-p", "--patch",
    )),
}  # fmt: skip
"""Options with which a subcommand starts an editor, or offers one for each change."""


def may_start_editor(git: Git) -> bool:
    """Whether git may have a person write or change a text in an editor, even where its input is no terminal."""
    found = git.arguments
    if found.may_have(*_EDITED.get(git.subcommand or "", ())):
        return True
    if any((value.value or value.prefix).startswith(("amend:", "reword:")) for value in found.valued("--fixup")):
        return True
    # By the settings every tag may have a message; `-m` of `git revert` is no message.
    if only_reads(git) or git.subcommand in _WITHOUT_EDITOR:
        return False
    writes = git.subcommand in _WRITE_MESSAGES | {"tag"}
    given = _MESSAGE_GIVEN if git.subcommand != "revert" else ("--no-edit",)
    return not writes or not found.keeps(*given)
