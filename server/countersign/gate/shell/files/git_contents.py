"""Which git commands print, or copy, what is in files that their words do not name (docs/gate.md S11).
More than 500 lines, because each subcommand has options of its own by which it prints more, or less.

``git diff`` and ``git show HEAD`` print any file of the repository, whatever the names; so does a tree or blob that is
named by its number. Under a rule about reading, such a command may print what that rule is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.languages.git import Git, moves_values, paths_in
from countersign.gate.shell.languages.git_options import SHOWS_FILES
from countersign.gate.shell.languages.git_pathspec import is_path, leaves_out
from countersign.gate.shell.languages.git_plain_words import odd_word
from countersign.gate.shell.programs.tables import GIT
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_ALWAYS = frozenset({"format-patch", "difftool", "mergetool"})
"""Subcommands that print contents in every form, of the paths that they are given."""

_WHOLE = frozenset({
    "merge-tree", "rerere", "request-pull", "replace", "filter-branch", "imap-send", "send-email", "subtree",
    "fast-import", "upload-pack", "receive-pack", "svn", "p4", "cvsserver", "daemon", "http-backend", "instaweb", "gui",
    "citool", "gitk", "diagnose", "mailinfo", "mailsplit",
})  # fmt: skip
"""Subcommands that print, serve or bring back contents in every form, whatever paths they are given."""

FROM_TREES = frozenset({"checkout", "restore", "reset", "read-tree"})
"""Subcommands that take files out of a tree, which get other names where that tree is a folder's."""

_LIMITED_BY_PATHS = frozenset({
    "diff", "show", "log", "whatchanged", "diff-tree", "diff-index", "diff-files", "format-patch", "difftool",
})  # fmt: skip
"""Subcommands that count paths from the current folder, print contents of no others, and refuse a word that is both a
revision and a file where no ``--`` says which. Other words of theirs, as a subcommand's own (``git stash show``), and
words of other subcommands may have the name of a folder and not mean it."""

_BY_DEFAULT = frozenset({"diff", "show", "range-diff"})
"""Subcommands that print contents unless an option says what else they print."""

_ON_DEMAND = frozenset({
    "log", "whatchanged", "reflog", "stash", "diff-tree", "diff-index", "diff-files", "rev-list", "shortlog", "status",
    "commit", "add", "stage", "checkout", "restore", "reset",
})  # fmt: skip
"""Subcommands that print contents where an option asks for it."""

_PRINTS = frozenset({
    "-p", "-u", "-c", "-m", "-U", "-W", "--patch", "--unified", "--patch-with-raw", "--patch-with-stat", "--cc",
    "--dd", "--function-context", "--combined-all-paths", "--remerge-diff", "--diff-merges", "--word-diff",
    "--word-diff-regex", "--color-words", "--binary", "--check", "--ext-diff", "--textconv",
    "-L", "-G", "-S", "-I", "--ignore-matching-lines", "--pickaxe-regex", "--pickaxe-all", "--find-object",
    "--anchored", "-C", "-B", "--find-copies", "--find-copies-harder", "--break-rewrites", "--follow",
})  # fmt: skip
"""Options for differences with which git prints lines of files, or gives away what they hold: whether they contain a
text, or lines of another file."""

_OTHER_PRINTS = {
    "status": frozenset({"-v", "--verbose"}),
    "commit": frozenset({"-v", "--verbose", "-p", "--patch", "--interactive"}),
    **dict.fromkeys(
        ("add", "stage", "checkout", "restore", "reset"), frozenset({"-p", "--patch", "-i", "--interactive"})
    ),
}
"""Options of other subcommands that do so."""

_PRINTS_NAMES = frozenset({
    "-s", "-q", "--no-patch", "--quiet", "--stat", "--numstat", "--shortstat", "--dirstat", "--dirstat-by-file",
    "--cumulative", "--summary", "--compact-summary", "--name-only", "--name-status", "--raw",
})  # fmt: skip
"""Options that print names or numbers instead."""

_QUIET = frozenset({"show", "log", "whatchanged", "reflog"})
"""Subcommands for which ``-q`` is short for ``--quiet``."""

_OF_STASHES = frozenset({"-u", "--include-untracked", "--only-untracked"})
"""Options of ``git stash show`` that leave what it prints by default; with any other it prints differences."""

_WITHOUT_LIMITS = frozenset({"status"})
"""Subcommands whose paths do not limit the differences that they print."""

_NAMES_NO_COMMIT = frozenset({
    "-s", "-q", "--quiet", "--no-patch", "-p", "-u", "--patch", "-U", "--unified", "-a", "--text", "-w", "--oneline",
    "--format", "--pretty", "--abbrev", "--abbrev-commit", "--encoding", "--color", "--no-color", "--notes",
    "--no-notes", "--textconv", "--no-textconv", "--ext-diff", "--no-ext-diff", "--stat", "--raw", "--name-only",
    "--name-status",
})  # fmt: skip
"""Options of ``git show`` that name nothing to show; ``--all`` and its like name commits."""

_REMOTE = re.compile(r"(?!(?i:file):)(?:[\w+.-]+://|[^/]+:)")
"""How an address on another machine begins; anything else is copied from this one."""

_OF_COMMITS_ALONE = frozenset({"log", "reflog", "whatchanged", "stash", "commit", "rev-list"})
"""Subcommands that leave out an object that is no commit."""


_BY_PARTS = frozenset({"add", "stage", "commit", "checkout", "restore", "reset"})
"""Subcommands that show each change of the files, and ask what to do with it, where an option says so."""


def prints_unnamed(words: Sequence[Word], git: Git) -> tuple[Word, ...] | None:
    """Return None if this command prints no contents but those of files that it names. Otherwise return words of which
    each, if a file or folder of that name is there, limits what is printed to it."""
    name = git.subcommand
    if name is None or git.arguments.keeps("--help", "-h"):
        return None
    if name not in GIT:
        return ()  # an alias, or a program of its own
    if git.arguments.keeps("--no-index"):
        return None  # its operands are files
    found, dashes = git.arguments, end_of_revisions(words, git)
    operands = [word for index, word in found.operands if index < dashes]
    specs = [word for index, word in found.operands if index >= dashes]
    if name in _WHOLE or (name in FROM_TREES and _is_from_folder([*operands, *specs], git)):
        return ()
    if _formats_whole(git) or _tells_contents(name, git) or (name in SHOWS_FILES and moves_values(git)):
        return ()
    if name in _BY_PARTS and found.may_have("-p", "--patch", "-i", "--interactive"):
        return ()
    match name:
        case "cat-file":
            if found.keeps("-t", "-s", "-e"):
                return None
            return () if found.may_have("--batch", "--batch-command") or _names_anything(operands, git) else None
        case "grep" | "blame" | "annotate":
            return () if _names_anything(operands, git) else None
        case "am" | "rebase":
            return () if any(option.name.startswith("--sh") for option in found.options) else None
        case "worktree":
            return () if operands and operands[0].value == "add" else None
        case "read-tree" | "checkout-index":
            return () if found.may_have("--prefix", "--temp") else None
        case "update-index" | "hash-object" | "mktree":
            return () if names_contents(git) else None
        case "clone":
            return () if operands and not _REMOTE.match(operands[0].prefix) else None
        case "submodule":
            place = {"add": 1, "set-url": 2}.get((operands[0].value or "") if operands else "", 0)
            named = [*operands, *specs][place : place + 1] if place else []
            return () if any(not _REMOTE.match(word.prefix) for word in named) else None
        case "merge-file":
            return () if found.may_have("--object-id") else None
        case "fsck":
            return () if found.may_have("--lost-found") else None
        case "tag" | "update-ref":
            # A name for a tree or the contents of a file, by which it can be shown later.
            return () if any(":" in word.prefix for word in operands) else None
        case "push":
            # A copy of the repository, in which rules for paths of this one do not hold.
            addresses = [*operands[:1], *found.valued("--repo")]
            return () if any(word.value is None or _is_path_to_push_to(word.value) for word in addresses) else None
        case "notes":
            # What is copied may be any file's contents.
            return () if found.may_have("-c", "-C", "--reuse-message", "--reedit-message") else None
        case "symbolic-ref" if len(operands) > 1 and operands[0].prefix == "HEAD"[: len(operands[0].prefix)]:
            return None if operands[1].prefix.startswith("refs/heads/") else ()
        case "bisect":
            return () if operands and operands[0].value in {"view", "visualize"} else None
        case "stash" if shows_stash(git) and (
            dashes < len(words) or all(option.name in _OF_STASHES for option in found.options)
        ):
            return ()  # whole differences by the setting `stash.showPatch`; behind `--` stands the name of a stash
        case "archive":
            # Behind the tree stand paths.
            return _limits([], [*operands[1:], *specs], git, ended=False)
        case _:
            if name not in _ALWAYS and not _asked_for(name, operands, git):
                return None
    if name not in _LIMITED_BY_PATHS or _follows_renames(name, git):
        return ()
    if _has(git, _WIDENING) or odd_word(git) is not None:
        return ()
    if name == "diff" and len([word for word in operands if not word.prefix.startswith(":")]) > 2:
        return ()  # of more than two commits git finds what was renamed wherever that is
    if _names_anything(operands, git) and name not in _OF_COMMITS_ALONE:
        return ()
    if name == "show" and _shows_only_paths(operands, git):
        return None
    if name in _WITHOUT_LIMITS or _adds_objects(name, git):
        return ()
    return _limits(operands, specs, git, ended=dashes < len(words))


def names_contents(git: Git) -> bool:
    """Whether it may give a name to any file's contents, which it takes by their number: in the index, or in a tree
    (a commit then names the tree)."""
    found = git.arguments
    match git.subcommand:
        case "update-index":
            return found.may_have("--cacheinfo", "--index-info")
        case "hash-object":
            kinds = [value.value for value in found.valued("-t")]
            return found.may_have("-w") and (any(kind != "blob" for kind in kinds) or bool(found.holes))
        case name:
            return name == "mktree"


def prints_lines(git: Git) -> bool:
    """Whether it may print lines of files, or tell of objects what they hold."""
    name, operands = git.subcommand, [word for _, word in git.arguments.operands]
    return name in SHOWS_FILES and (name not in _ON_DEMAND or _asked_for(name, operands, git))


def tells_commits(words: Sequence[Word], git: Git) -> bool:
    """Whether this command prints commits and their messages, and no line of a file whatever its words name."""
    found = git.arguments
    if git.subcommand != "log" or found.unrecognized_options or found.holes:
        return False
    return prints_unnamed(words, git) is None and not _has(git, _PRINTS)


def printed_below(words: Sequence[Word], git: Git, *, patched: bool = False) -> tuple[Word, ...] | None:
    """Words of which those that name folders limit what is printed of files that are not named to these folders, all
    of the work tree if there are none; None if no contents of such files are printed. Patterns among them limit it for
    certain, together with the others. ``patched``: the settings make ``git stash show`` print differences."""
    name, found = git.subcommand, git.arguments
    if searches_files(git):
        return _searched_below(words, git)
    if name == "cat-file" or _formats_whole(git):
        if prints_objects(git) and not git.arguments.keeps("-t", "-s", "-e"):
            return () if prints_unnamed(words, git) is not None else (constant(OBJECT),)
        return () if prints_unnamed(words, git) is not None else None
    if name is not None and (_tells_contents(name, git) or (name in SHOWS_FILES and moves_values(git))):
        return ()
    if name is None or (name not in _BY_DEFAULT and name not in _ON_DEMAND) or found.keeps("--no-index"):
        return None
    dashes = end_of_revisions(words, git)
    if shows_stash(git) and (patched or dashes < len(words)):
        return ()  # `--` alone counts as an option by which differences are asked for
    operands = [word for index, word in found.operands if index < dashes]
    specs = [word for index, word in found.operands if index >= dashes]
    if not _asked_for(name, operands, git) or (name == "show" and _shows_only_paths(operands, git)):
        return None
    if name not in _LIMITED_BY_PATHS or _follows_renames(name, git):
        return ()
    widened = name in _WITHOUT_LIMITS or _adds_objects(name, git) or _has(git, _WIDENING) or _in_any_case(git)
    if name not in _OF_COMMITS_ALONE:
        # A path does not limit what is printed of a file's contents, and counts from the top of a folder's tree.
        widened = widened or any(map(_is_in_no_commit, operands))
    specs = _without_left_out(specs, git)
    if widened or not all(map(_is_certain_spec, specs)):
        return ()
    if any(_may_widen(word, git) for word in operands):
        return ()
    # In front of `--` stand revisions alone, whatever lies in the folder.
    return tuple(specs if dashes < len(words) else filter(_may_limit, operands))


def _follows_renames(name: str, git: Git) -> bool:
    """Whether it prints the lines of a file under the names that it had before, where other files were: also where it
    makes a merge anew."""
    if name in _WALKS and git.arguments.may_have("-L"):
        return True
    return name in _WALKS | {"show"} and git.arguments.may_have("--remerge-diff", "--diff-merges")


def _tells_contents(name: str, git: Git) -> bool:
    """Whether its output depends on the lines of files although it prints none of them: on how they end, on which of
    them another file holds, or on the names that a file lists (``--filter=sparse:oid=…``)."""
    found = git.arguments
    filters = (value.value or "sparse" for value in found.valued("--filter"))
    if any("sparse" in each or "%" in each for each in filters):  # git decodes `%73parse`
        return True
    if name in {"blame", "annotate"}:
        return found.may_have("-C")
    return compares_files(git)


def compares_files(git: Git) -> bool:
    """Whether it is ``git ls-files`` with an option for which it opens every file of the index in the work tree."""
    formats = (value.value or "eol" for value in git.arguments.valued("--format"))
    return git.subcommand == "ls-files" and (
        git.arguments.may_have("-m", "--modified", "--eol") or any("eol" in value for value in formats)
    )


def searches_files(git: Git) -> bool:
    """Whether it reads the files of the work tree for lines."""
    return git.subcommand == "grep"


def reads_work_tree(git: Git) -> bool:
    """Whether it may print lines of the files in the work tree, not only those of commits and the index."""
    cached = git.subcommand != "ls-files" and git.arguments.keeps("--cached", "--staged")
    return git.subcommand in _OF_WORK_TREE and not cached


_OF_WORK_TREE = frozenset({"diff", "diff-files", "diff-index", "grep", "status", "ls-files"})


def _searched_below(words: Sequence[Word], git: Git) -> tuple[Word, ...]:
    """The same of ``git grep``, which looks below the folder that it is run in."""
    found, dashes = git.arguments, end_of_revisions(words, git)
    if moves_values(git):
        return ()
    # Without an option for it the first operand is the expression, behind `--` as well.
    operands = found.operands if found.has("-e") else found.operands[1:]
    specs = _without_left_out([word for index, word in operands if index >= dashes], git)
    names = [word for index, word in operands if index < dashes]
    if not all(map(_is_certain_spec, specs)) or any(_may_widen(word, git) for word in names) or _in_any_case(git):
        return ()
    if any(map(_is_in_no_commit, names)):
        return ()
    return tuple(specs if dashes < len(words) else filter(_may_limit, names)) or (constant("."),)


def _without_left_out(specs: list[Word], git: Git) -> list[Word]:
    """The pathspecs but for those that only leave files out; all of them if there are no others."""
    return [spec for spec in specs if not leaves_files_out(spec, git)] or specs


def leaves_files_out(spec: Word, git: Git) -> bool:
    """Return whether a pathspec names no files, but leaves some out; none does where git takes them literally."""
    return leaves_out(spec.value or "") and not git.before.has("--literal-pathspecs")


def shows_stash(git: Git) -> bool:
    """Whether it is ``git stash show``, whose output the settings choose as long as no option does."""
    found = git.arguments
    return git.subcommand == "stash" and bool(found.operands) and found.operands[0][1].value == "show"


def shows_unstaged(git: Git) -> bool:
    """Whether it is ``git diff`` of what was changed since it was last added, and of nothing else: no operand names
    commits, and no option (``git diff --branches``)."""
    if git.subcommand != "diff" or git.arguments.operands:
        return False
    return all(_leaves_unstaged(option.name) for option in git.arguments.options)


def _leaves_unstaged(option: str) -> bool:
    """Whether an option of ``git diff`` only says how the differences are shown."""
    if len(option) == len("-x"):
        return option not in {"-g", "-C"}
    bare = option.removeprefix("--")
    bare = bare.removeprefix("no-") if bare not in _SHOWN else bare
    return bare in _SHOWN


_SHOWN = (
    (GIT["diff"].grammar.names | GIT["diff"].grammar.long)
    - (GIT["shortlog"].grammar.names | GIT["shortlog"].grammar.long | {"cached", "staged", "merge-base", "default"})
    - {"find-copies", "find-copies-harder"}
)
"""Options of ``git diff`` that are none of those by which git chooses commits, or looks at files that are as they
were."""


def reads_objects(git: Git) -> bool:
    """Whether it may read trees or the contents of files out of the repository, which a partial clone may lack."""
    if git.subcommand == "log":
        return bool(git.arguments.operands) or any(option.name not in _OF_COMMITS for option in git.arguments.options)
    if git.subcommand == "diff":
        return bool(git.arguments.operands)
    return git.subcommand not in _WITHOUT_OBJECTS


_OF_COMMITS = frozenset({
    "-n", "--max-count", "--oneline", "--format", "--pretty", "--graph", "--all", "--decorate", "--since", "--until",
    "--after", "--before", "--author", "--grep", "--no-merges", "--merges", "--reverse", "--date", "--abbrev-commit",
    *(f"-{digit}" for digit in range(10)),
})  # fmt: skip
"""Options of ``log`` by which it tells no more than commits."""
_WITHOUT_OBJECTS = frozenset({
    "status", "branch", "remote", "rev-parse", "ls-files", "config", "symbolic-ref", "show-ref", "version", "tag",
    "check-ignore", "count-objects", "worktree", "merge-base",
})  # fmt: skip


def checked_out(words: Sequence[Word], git: Git) -> tuple[Word, ...] | None:
    """The files and folders which are all that a command takes out of a tree; None if there may be others."""
    if git.subcommand not in ("checkout", "restore") or git.arguments.holes:
        return None
    allowed = {"-s", "--source", "--worktree", "-W", "--staged", "-S", "-q", "--quiet", "--ours", "--theirs"}
    if any(option.name not in allowed for option in git.arguments.options):
        return None
    dashes = end_of_revisions(words, git)
    found = tuple(word for index, word in git.arguments.operands if index > dashes or git.subcommand == "restore")
    plain = all(_is_plain_spec(word) and not word.tilde for word in found)
    if not found or not plain or git.before.has("--git-dir", "--work-tree", "--bare") or git.folders:
        return None
    return found


def end_of_revisions(words: Sequence[Word], git: Git) -> int:
    """Return where the ``--`` stands behind which all words are paths; the number of words if none does.

    It does not count where an option takes it as its value, nor in front of the expression of ``git grep``, where it
    only ends the options (``git grep -- word HEAD:src``).
    """
    found = git.arguments
    taken = {option.index + 1 for option in found.options if option.value is not None and not option.attached}
    first = min((index for index, _ in found.operands), default=len(words))
    ended = git.subcommand != "grep" or found.has("-e", "-f")
    for index in range(git.start, len(words)):
        if words[index].value == "--" and index not in taken and (ended or index > first):
            return index
    return len(words)


def _limits(operands: Sequence[Word], specs: Sequence[Word], git: Git, *, ended: bool) -> tuple[Word, ...] | None:
    """Words of which one must be there; None if paths limit the output for certain. ``ended``: operands are revisions,
    since ``--`` stands behind them."""
    if any(map(_is_plain_spec, specs)) and all(_is_plain_spec(spec) or leaves_files_out(spec, git) for spec in specs):
        return None
    widened = any(_may_widen(word, git) for word in operands)
    return () if specs or ended or widened else tuple(filter(_may_limit, operands))


_WIDENING = frozenset({"--full-diff", "--follow", "--range-diff", "--merge", "--ignore-missing"})
"""With the first the paths only choose the commits; with the second git goes over to a file that was copied; with the
fourth the files that were not merged take their place, of which there may be none; the last drops words that name no
revision."""


def _in_any_case(git: Git) -> bool:
    """Whether paths also mean names in other letters than theirs."""
    return git.before.has("--icase-pathspecs")


def _may_widen(word: Word, git: Git) -> bool:
    """Whether an operand may be a pathspec by which more is printed than below the folders beside it (``src ':/'``)."""
    value = word.value or ""
    return value != "" and not is_path(value) and not leaves_files_out(word, git)


OBJECT = "5ca1ab1e" * 5
"""Stands for the number of an object that is only known at run time. No file of this name says anything of it."""
COMMIT = "c0331175" * 5
"""Stands for the number of a commit that is only known at run time."""
KNOWN_LATER = frozenset({OBJECT, COMMIT})


def named_later(word: Word) -> bool:
    """Whether it is only known at run time what a word names, as where another command prints it."""
    return word.value is None or holds_number(word.value)


def holds_number(text: str) -> bool:
    """Return whether a number that is only known at run time stands in this text."""
    return any(number in text for number in KNOWN_LATER)


def _is_plain_spec(word: Word) -> bool:
    """Whether a pathspec is a path and nothing else."""
    value = word.value
    return value is not None and value[:1] != "-" and is_path(value) and not holds_number(value)


def _may_limit(word: Word) -> bool:
    """Whether an operand is a path if one of its name is there: it is no text that git reads as a revision first."""
    return _is_plain_spec(word) and _AS_REVISION.search(word.value or "") is None


_AS_REVISION = re.compile(r"[\^~:]|@\{|\.\.(?!/|\Z)")
"""What a revision may hold and a path seldom does."""


def _is_certain_spec(word: Word) -> bool:
    """Whether a pathspec is a path, or a pattern without magic in front."""
    value = word.value
    return value is not None and value[:1] not in {"", "-", ":"} and not holds_number(value)


def _shows_only_paths(operands: Sequence[Word], git: Git) -> bool:
    """Whether ``git show`` is given nothing but paths in revisions."""
    named = bool(operands) and all(map(_names_path, operands))
    return named and all(option.name in _NAMES_NO_COMMIT for option in git.arguments.options)


def _names_path(word: Word) -> bool:
    """Whether a word is ``revision:path`` for certain (or a tree, whose names are printed): no search for a message, no
    range, no date with a colon (``HEAD@{10:00}``), and no pathspec (``:!src``, ``x?/../*``), beside which it shows a
    commit."""
    value = word.value or ""
    text = _BRACED.sub("", value)
    if text.startswith(":") and (text != value or _PATH_IN_INDEX.fullmatch(text) is None):
        return False
    revision, _, path = text.partition(":")
    if not is_path(revision or "HEAD") or not _OF_RANGES_AND_BRACES.isdisjoint(revision) or _RANGE.search(text):
        return False
    if "}" in path or _DESCRIBED.fullmatch(value) or (not is_path(path or ".") and ".." in path.split("/")):
        return False
    return ":" in text and (any(paths_in(value)) or value.endswith(":"))


_BRACED = re.compile(r"[@^]\{[^{}]*\}")
"""A date, a number or a search behind a revision, in which a colon is a part of it."""
_OF_RANGES_AND_BRACES = frozenset("{}!")
_RANGE = re.compile(r"\.\.(?!/)|\^[!@-]")
_PATH_IN_INDEX = re.compile(r":(?:0:)?[\w.][^*?\[\\]*")


def _asked_for(name: str, operands: Sequence[Word], git: Git) -> bool:
    """Whether the options, or the subcommand without any, make it print lines of files."""
    found = git.arguments
    if name not in _BY_DEFAULT and name not in _ON_DEMAND:
        return False
    if name == "stash" and (operands[0].value if operands else None) not in {"show", "list"}:
        return found.may_have("-p", "--patch")  # `-m` is its message
    if name in _OTHER_PRINTS:
        return _has(git, _OTHER_PRINTS[name])
    if _has(git, _PRINTS) or (name in _BY_DEFAULT and found.unrecognized_options):
        return True
    named = _only_names(name, git)
    if name in {"diff-tree", "diff-index"} and any(":" in word.prefix for word in operands):
        return True
    if name not in _BY_DEFAULT:
        return shows_stash(git) and not named and any(option.name not in _OF_STASHES for option in found.options)
    # A blob is printed whatever the options say, and compared with a file where numbers are printed.
    if name == "diff" and any(map(_names_other_paths, operands)):
        return True
    return not named


def _names_other_paths(word: Word) -> bool:
    """Whether a word may name a file's contents, or a folder of a commit. The files of such a folder are compared with
    files at other paths, and git pairs those that are alike."""
    return ":" in word.prefix or word.value is None


def _only_names(name: str, git: Git) -> bool:
    """Whether options make it print names or numbers, and no other could make it print more."""
    found = git.arguments
    quiet = frozenset() if name in _QUIET else frozenset({"-q"})
    known = _PRINTS_NAMES | _OF_STASHES | _LEAVES_NAMES
    return found.keeps(*(_PRINTS_NAMES - quiet)) and all(
        option.name in known or option.name[1:].isdigit() for option in found.options
    )


_LEAVES_NAMES = frozenset({
    "--cached", "--staged", "--merge-base", "--color", "--no-color", "--no-ext-diff", "--no-textconv", "-a", "--text",
    "-M", "-D", "-R", "-w", "-b", "-z", "--find-renames", "--no-renames", "--diff-filter",
    "--relative", "--no-relative", "--ignore-submodules", "--submodule", "--abbrev", "--no-abbrev", "--abbrev-commit",
    "--no-abbrev-commit", "--format", "--pretty", "--oneline", "--date", "--no-notes", "--no-decorate", "--decorate",
    "--no-show-signature", "--encoding", "--first-parent", "--root", "--reverse", "--graph", "-n", "--max-count",
    "--no-merges", "--merges", "--exit-code", "--ignore-all-space", "--ignore-space-change", "--ignore-blank-lines",
})  # fmt: skip
"""Options beside which what prints names prints nothing else. Those that name objects, as ``--indexed-objects`` and
``--tags`` do, may name contents of files, which ``git show`` prints whatever else is said."""


_SHOWS_OBJECTS = _BY_DEFAULT | {"diff-tree", "diff-index", "diff-files"}
_OF_TREES = frozenset({"-r", "-t", "--no-commit-id"})
"""Options of ``diff-tree`` that say which names it prints."""
_OF_DIFFERENCES = _PRINTS | _PRINTS_NAMES | _LEAVES_NAMES | _OF_TREES
_WALKS = frozenset({"log", "whatchanged"})
"""Subcommands that show the commits of a history."""


def may_name_objects(git: Git) -> bool:
    """Whether an option of a command that prints contents may name an object (``--default X``, ``--tags``)."""
    return _adds_objects(git.subcommand or "", git)


def _adds_objects(name: str, git: Git) -> bool:
    """Whether options may name contents of files, which are printed whatever paths stand behind, or may have git pass
    over words that are paths (``git log --ignore-missing``): all that are not known to do neither."""
    if name not in _SHOWS_OBJECTS | _WALKS:
        return False
    return not all(is_of_differences(option.name, git) for option in git.arguments.options)


def is_of_differences(option: str, git: Git) -> bool:
    """Whether an option says which differences of which commits are printed, or how, and names no file's contents."""
    if option in _OF_DIFFERENCES or option[1:].isdigit() or _leaves_unstaged(option):
        return True
    return git.subcommand in _WALKS and option in _OF_WALKS


_OF_WALKS = frozenset({
    "-n", "--max-count", "--skip", "--since", "--after", "--until", "--before", "--author", "--committer", "--grep",
    "-i", "--regexp-ignore-case", "-E", "--extended-regexp", "-F", "--fixed-strings", "-P", "--perl-regexp",
    "--basic-regexp", "--all-match", "--invert-grep", "--merges", "--no-merges", "--min-parents", "--max-parents",
    "--no-min-parents", "--no-max-parents", "--first-parent", "--all", "--branches", "--tags", "--remotes", "--reverse",
    "--graph", "--no-graph", "--topo-order", "--date-order", "--author-date-order", "--relative-date", "--left-right",
    "--cherry", "--cherry-pick", "--cherry-mark", "--left-only", "--right-only", "--boundary", "--full-history",
    "--simplify-merges", "--ancestry-path", "--decorate-refs", "--decorate-refs-exclude", "--source", "--mailmap",
    "--use-mailmap", "--no-mailmap", "--notes", "--show-signature", "--parents", "--children", "--log-size",
    "--clear-decorations", "--expand-tabs", "--no-expand-tabs", "--encode-email-headers", "--show-pulls", "-g",
    "--walk-reflogs", "--remove-empty", "--exclude", "--glob",
})  # fmt: skip
"""Options that say which commits of a history are shown, in which order and how; they name no file's contents, as what
is no commit is left out."""


def prints_files_of_commits(git: Git) -> bool:
    """Whether all lines that it prints, or tells of, are lines of files in commits, the index and the work tree, and
    not objects that may be named otherwise (``git for-each-ref --format='%(raw)'``)."""
    return git.subcommand in _BY_DEFAULT | _ON_DEMAND | {"blame", "annotate"}


def prints_objects(git: Git) -> bool:
    """Whether it prints objects as they are."""
    return git.subcommand == "cat-file"


def names_objects(git: Git) -> bool:
    """Whether it gives an object a name, by which it can be shown later."""
    operands = git.arguments.operands
    stores = git.subcommand == "stash" and bool(operands) and operands[0][1].value == "store"
    return stores or git.subcommand in {"tag", "update-ref", "push"}


def _named_anew(git: Git) -> Iterator[Word]:
    """The numbers of objects to which such a command gives names. What has a name gets another one."""
    for _, word in git.arguments.operands[1:]:
        source = constant((word.value or "").partition(":")[0].removeprefix("+"))
        if _is_number(source):
            yield source


def _is_path_to_push_to(address: str) -> bool:
    return "/" in address and _REMOTE.match(address) is None


def revisions(words: Sequence[Word], git: Git) -> tuple[Word, ...]:
    """Words that must name commits if nothing else is to be printed than what ``printed_below`` and ``prints_unnamed``
    say: in front of ``--`` all of them, else those that name no file (``may_be_files``)."""
    name, found = git.subcommand, git.arguments
    if name in FROM_TREES:
        return _sources(words, git)
    if names_objects(git):
        return tuple(_named_anew(git))
    if name in _OF_COMMITS_ALONE or name in {"blame", "annotate"} or name not in SHOWS_FILES:
        return ()
    named = [word for _, word in found.operands]
    if prints_objects(git):
        if found.keeps("-t", "-s", "-e") or (len(named) > 1 and named[0].value in _WITHOUT_CONTENTS):
            return ()
        named = named[1:] if len(named) > 1 and named[0].value == "blob" else named
        return tuple(map(_revision_of, named))
    dashes = end_of_revisions(words, git)
    operands = found.operands[1:] if searches_files(git) and not found.has("-e") else found.operands
    if name == "archive":
        operands = operands[:1]  # behind the tree stand paths
    # What begins with a colon is a path, judged by its name, or says which paths are meant.
    named = [word for index, word in operands if index < dashes and not word.prefix.startswith(":")]
    return tuple(map(_revision_of, named)) or (constant("HEAD"),)


def _sources(words: Sequence[Word], git: Git) -> tuple[Word, ...]:
    """The trees out of which files are taken by their paths."""
    if git.subcommand == "restore":
        return tuple(map(_revision_of, git.arguments.valued("-s", "--source")))
    dashes, operands = end_of_revisions(words, git), git.arguments.operands
    named = operands if git.subcommand == "read-tree" else operands[:1]
    alone = len(operands) < 2 and git.subcommand in ("checkout", "reset")
    return () if alone else tuple(_revision_of(word) for index, word in named if index < dashes)


def _revision_of(word: Word) -> Word:
    """The revision in front of a path in it, in a form in which it is no file."""
    if word.value is None or ":" not in word.value:
        return word
    return constant(f"{word.value.partition(':')[0]}^{{tree}}")


def may_be_files(words: Sequence[Word], git: Git) -> bool:
    """Whether a word that names a file or folder is no revision: no ``--`` stands behind the revisions, and git
    refuses a word that is both."""
    refusing = {*_LIMITED_BY_PATHS, "grep", "checkout", "reset"}
    return git.subcommand in refusing and end_of_revisions(words, git) == len(words)


_WITHOUT_CONTENTS = frozenset("commit tree tag".split())
"""Kinds of objects that hold no file's contents."""


def _has(git: Git, names: frozenset[str]) -> bool:
    """Whether an option is one of these, abbreviated or not."""
    known = {f"--{name}" for name in (*git.program.grammar.names, *git.program.grammar.long)}
    if git.arguments.has(*names):
        return True
    abbreviated = [
        option.name
        for option in git.arguments.options
        if option.name.startswith("--") and option.name not in known and option.name not in _PRINTS_NAMES
    ]
    return any(full.startswith(name) for full in names for name in abbreviated)


_LISTS_REFS = frozenset({"for-each-ref", "branch", "tag"})
_WHOLE_OBJECT = re.compile(r"%\(\*?raw(?!:size)")
_SORTED_WHOLE = re.compile(r"(?<![a-z])raw(?!:size)")


def _formats_whole(git: Git) -> bool:
    """Whether it prints the objects themselves to which refs lead, which may be any file's contents, or sorts them."""
    found = git.arguments
    sorts = any(value.value is None or _SORTED_WHOLE.search(value.value) for value in found.valued("--sort"))
    formats = any(value.value is None or _WHOLE_OBJECT.search(value.value) for value in found.valued("--format"))
    return git.subcommand in _LISTS_REFS and (sorts or formats)


def _names_anything(operands: Sequence[Word], git: Git) -> bool:
    """Whether it may be given an object that holds other files' contents than its words say."""
    odd = any(_is_described(word) or is_of_merge(word) for word in operands)
    return odd or _is_elsewhere(git) or odd_word(git) is not None


def is_of_merge(word: Word) -> bool:
    """Whether a word names what a merge left of a file in the index, which may come from a file of another name."""
    return _OF_MERGE.match(word.prefix) is not None


_OF_MERGE = re.compile(r":[1-3]:")


def _is_elsewhere(git: Git) -> bool:
    """Whether options choose another repository or top folder, in which names count from elsewhere."""
    return git.before.has("--git-dir", "--work-tree", "--bare", "--namespace")


def _values(git: Git) -> list[Word]:
    """What stands as the value of an option."""
    return [option.value for option in git.arguments.options if option.value is not None]


def _is_from_folder(operands: Sequence[Word], git: Git) -> bool:
    """Whether files are taken out of a tree that is named by its path, and so may be a folder's."""
    sources = _values(git) if git.subcommand == "restore" else ()
    return any(map(_is_in_no_commit, (*operands, *sources)))


def _is_in_no_commit(word: Word) -> bool:
    """Whether an operand names a tree or blob by its path in a revision, or looks like one that does."""
    return _is_described(word) or (":" in word.prefix and not word.prefix.startswith(":"))


def _is_number(word: Word) -> bool:
    """Whether a word names an object by its number, alone, in a range, or in front of a path."""
    value = word.value or ""
    if _is_described(word):
        return True
    return any(_NUMBER.fullmatch(part) for part in re.split(r"\.\.\.?", value.partition(":")[0]))


_NUMBER = re.compile(r"\^?(?:[^:]*-g)?[0-9a-fA-F]{4,64}(?:\^\{[^}]*\}|\^0?)*")
"""An object that is named by its number, by itself or as ``git describe`` names it, which may be a tree or a blob as
well as a commit."""


def _is_described(word: Word) -> bool:
    return _DESCRIBED.fullmatch(word.value or "") is not None


_DESCRIBED = re.compile(r".*-g[0-9a-fA-F]{4,64}(?:\^\{[^}]*\}|[\^~]\d*)*", re.DOTALL)
"""What ``git describe`` prints, with any text in front, a colon as well: git looks at the number alone."""


def spec_words(words: Sequence[Word], git: Git) -> Iterator[Word]:
    """The words that are paths for certain: what stands behind ``--``."""
    dashes = end_of_revisions(words, git)
    yield from (word for index, word in git.arguments.operands if index > dashes and is_path(word.value or ""))
