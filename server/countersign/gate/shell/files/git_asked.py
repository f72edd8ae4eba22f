"""Of which files a git command prints lines, as git says itself (decisions/030).

A command of constant words is run with options by which git names files and prints nothing of them. It must have passed
every check but those for secrets, so what is run then does less than what would be allowed. Of merges and of moved
files git names each name that lines come from, else the answer is not known.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.probes.git_process import GitCommand, Kind
from countersign.gate.shell.files.git_contents import (
    end_of_revisions,
    holds_number,
    is_of_differences,
    is_of_merge,
    named_later,
    revisions,
    searches_files,
    shows_stash,
)
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.files.git_index import holds_unmerged
from countersign.gate.shell.files.git_kept_commits import commits_kept
from countersign.gate.shell.files.git_repository import may_be_set
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.syntax.tree import Word

_ASKED = frozenset({"diff", "show", "log", "whatchanged", "diff-tree", "diff-index", "diff-files"})
"""Subcommands that print differences, beside ``git stash show``."""
_OF_OBJECTS = frozenset({"diff", "show", "diff-tree", "diff-index", "cat-file"})
"""Subcommands that print an object which is no commit."""
_OF_HISTORIES = frozenset({"log", "show", "whatchanged"})
"""Subcommands that print commits."""

_IN_FRONT = frozenset({
    "-P", "--no-pager", "--no-optional-locks", "--no-replace-objects", "--no-advice", "--literal-pathspecs",
    "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs",
})  # fmt: skip
"""Options in front of the subcommand with which git is asked."""

_NAMES_FILES = ("--name-status", "-z", "--no-relative", "--no-ext-diff", "--no-textconv")
_FORMAT = "--format="
_FORMATS = frozenset({"--format", "--pretty", "--oneline"})

_EXACT = frozenset({
    "-p", "-u", "--patch", "-U", "--unified", "-W", "--function-context", "--patch-with-raw", "--patch-with-stat",
    "--stat", "--numstat", "--shortstat", "--summary", "--compact-summary", "--raw", "-a", "--text", "--binary",
    "--word-diff", "--color-words", "--color", "--no-color", "--color-moved", "--full-index", "--abbrev", "--no-abbrev",
    "--abbrev-commit", "--no-abbrev-commit", "--no-prefix", "--src-prefix", "--dst-prefix", "--line-prefix",
    "--inter-hunk-context", "--minimal", "--patience", "--histogram", "--diff-algorithm", "--exit-code", "-z", "-s",
    "--quiet", "--no-patch", "--no-ext-diff", "--no-textconv", "--submodule", "-M", "--find-renames", "--no-renames",
    "-D", "-R", "-m", "-c", "--cc", "--dd", "--first-parent", "--root", "-r", "-t", "--no-commit-id", "--no-relative",
    "--cached", "--staged", "--merge-base", "--format", "--pretty", "--oneline", "--date", "--decorate",
    "--no-decorate", "--encoding", "--no-notes", "--no-show-signature", "-n", "--max-count", "--skip", "--all",
    "--branches", "--tags", "--remotes", "--glob", "--exclude", "--merges", "--no-merges", "--reverse", "--topo-order",
    "--date-order", "--author-date-order", "--full-history", "--ancestry-path", "--follow", "--source",
})  # fmt: skip
"""Options beside which git names exactly these files, or more of the same commits. Any other might choose commits or
files by what is in them, by the time, the locale, notes or what stands in the work tree, or have its answer tell that:
of commits that are passed over, and of files in which nothing is left, nothing is named (``--diff-filter``, ``--grep``,
``-S``, ``--since``, ``-C``, ``-w``)."""
_COUNTING = frozenset({"-n", "--max-count", "--skip"})
"""Of these, those that count commits: with ``--follow`` git passes over one of which nothing is left, and counts the
next one."""
_ELSEWHERE = frozenset({"--output", "--no-index"})
"""With these git is not asked: what it prints goes to another place, or comes from one."""
_NAMES_REFS = frozenset({
    "--all", "--branches", "--tags", "--remotes", "--glob", "--exclude", "-g", "--walk-reflogs",
})  # fmt: skip

_BEYOND_PATHS = frozenset({"--full-diff", "--follow", "--merge", "-L", "--remerge-diff", "--diff-merges"})
"""Options with which git prints lines of other files than the paths choose."""

_ALL = ("--all", "--reflog")
_OF_STAGES = frozenset({"diff", "diff-files", "diff-index"})
"""Subcommands that print what the index keeps of a file that was not merged, which may come from one of another
name."""
_BY_DATE = re.compile(r"@\{(?!-?\d{1,9}\}|u\}|upstream\}|push\})", re.IGNORECASE)
"""An earlier state by its date, which is another one by the time."""

MOST_WAITED: float = 3.0
"""Seconds that git may take for one text; behind these nothing more is asked."""

_RANGE = re.compile(r"\.\.\.?")
_OF_PARENTS = re.compile(r"\^(?:@|!|-\d*)\Z")
"""All parents of a commit, it without these, or what it adds to one of them."""
_TREE = "^{tree}"
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class GitPlace(NamedTuple):
    """The folder in which git runs, and the folders in which its program is found."""

    place: str
    folders: tuple[str, ...]
    paths: PathJudge


def files_printed(words: Sequence[Word], git: Git, where: GitPlace) -> frozenset[str] | None:
    """Return files, counted from the top of the work tree, of which this command prints lines now, and no others unless
    its options leave it open which: then all that the histories hold from which it prints. None where git cannot be
    asked or does not say. Starts git: its repository must be one in which that is harmless."""
    command = _command(words, git, where)
    if command is None or not may_be_asked(git, where):
        return None
    with _waiting(where) as late:
        if late:
            return None
        if _named_later(words):
            return _files_of_all_histories(command, git, where, _operands(git))
        found = _revisions(command, words, git)
        if found is None:
            return None
        printing = git.subcommand in _OF_OBJECTS
        if printing and any(each.kind and (each.holds_path or not each.is_commit) for each in found):
            return None
        if not _is_exact(git, where):
            numbers = [number for each in found for number in each.numbers if each.kind and number]
            paths = [each.at - git.start + 1 for each in found if each.kind == ""]
            starts = numbers or _checked_out(command) or (_ALL if git.arguments.has(*_NAMES_REFS) else ())
            if not starts:
                named = disk.files_named_by_git(_naming(command, words, git, found), command)
                return None if named else named
            return disk.files_named_by_git(_of_histories(command, git, starts, where, paths=min(paths, default=None)))
        named = disk.files_named_by_git(_naming(command, words, git, found), command)
        if named is None or git.subcommand not in _OF_STAGES or not _holds_unmerged(where):
            return named
        kept = _files_of_stages(command, git, where)
        return None if kept is None else named | kept


def _holds_unmerged(where: GitPlace) -> bool:
    repository = repository_above(where.place, where.paths)
    return repository is None or holds_unmerged(f"{repository.own}/index")


def prints_commits_alone(words: Sequence[Word], git: Git, where: GitPlace) -> bool:
    """Whether, by git's own answer, every word of this command that may be a revision names a commit, or in front of a
    path the tree of one. Of words that are not constant nothing is said."""
    command = _command(words, git, where)
    if command is None or git.subcommand not in _OF_OBJECTS or not revisions(words, git):
        return True
    with _waiting(where) as late:
        found = None if late else _revisions(command, words, git)
    texts = [word.value or "" for word in words]
    in_index = [texts[each.at].startswith(":") and not is_of_merge(words[each.at]) for each in found or ()]
    return found is not None and all(each.is_commit or inside for each, inside in zip(found, in_index, strict=True))


def files_searched(words: Sequence[Word], git: Git, where: GitPlace) -> frozenset[str] | None:
    """Return the files of the commits in which ``git grep`` searches, wherever in these; None where git does not say,
    or a word names anything but a commit."""
    command = _command(words, git, where)
    if command is None:
        return None
    with _waiting(where) as late:
        if late:
            return None
        if _named_later(words):
            return _files_of_all_histories(command, git, where, _operands(git))
        found = _revisions(command, words, git)
        if found is None or not all(each.is_commit for each in found):
            return None
        names: frozenset[str] = frozenset()
        for number in dict.fromkeys(number for each in found if each.kind for number in each.numbers[-1:]):
            listing = ("ls-tree", "-r", "-z", "--full-tree", "--name-only", number)
            listed = disk.files_listed_by_git(command._replace(words=listing))
            if listed is None:
                return None
            names |= listed
        return names


def files_in_repository(
    words: Sequence[Word], git: Git, where: GitPlace, *, changed: frozenset[str] | None = None
) -> frozenset[str] | None:
    """Return the files of all that is named in the repository, or was, as far as the logs of its refs say, and of what
    this command names: behind ``--`` those that its paths choose. Where the text has changed the repository, naming
    ``changed`` as well, or where files are not merged, all of them, as lines of a file may then stand under another
    name. None where git does not say."""
    command = _command(words, git, where)
    if command is None:
        return None
    unmerged = _holds_unmerged(where)
    if changed is not None or unmerged:
        command = command._replace(words=())
    starts = (*_operands(git), *(changed or ()))
    with _waiting(where) as late:
        named = None if late else _files_of_all_histories(command, git, where, starts)
        kept = _files_of_stages(command, git, where) if unmerged and named is not None else frozenset[str]()
        return None if named is None or kept is None else named | kept


def files_to_add(words: Sequence[Word], git: Git, where: GitPlace, *, ignored: bool) -> frozenset[str] | None:
    """Return the files of the work tree that git does not track; with ``ignored`` also those that it passes over. None
    where it does not say."""
    command = _command(words, git, where)
    if command is None:
        return None
    left_out = () if ignored else ("--exclude-standard",)
    listing = ("ls-files", "--others", *left_out, "--full-name", "-z", "--", ":/")
    with _waiting(where) as late:
        return None if late else disk.files_listed_by_git(command._replace(front=(), words=listing))


def may_be_asked(git: Git, where: GitPlace) -> bool:
    """Whether git can be asked of which files a command prints lines, as far as its options and settings say."""
    if git.subcommand not in _ASKED and not shows_stash(git):
        return False
    found = git.arguments
    if not found.settled or found.holes or found.unrecognized_options or found.has(*_ELSEWHERE):
        return False
    if any(option.value is not None and option.value.value == "--" for option in found.options):
        return False  # git takes the first one for the end of the revisions, whatever stands in front
    ways = [option.value and option.value.value for option in found.options if option.name == "--submodule"]
    if any(way != "log" for way in ways):
        return False
    known = all(is_of_differences(option.name, git) for option in found.options)
    return known and (git.subcommand in _OF_HISTORIES or _is_exact(git, where))


def _is_exact(git: Git, where: GitPlace) -> bool:
    """Whether it names exactly the files of which it prints lines, as far as its options and the settings leave it."""
    options = [option.name for option in git.arguments.options]
    if not all(name in _EXACT or name[1:].isdigit() for name in options) or git.subcommand == "whatchanged":
        return False
    counted = any(name in _COUNTING or name[1:].isdigit() for name in options)
    if counted and ("--follow" in options or may_be_set("log.follow", where.place, where.paths)):
        return False
    return not any(may_be_set(each, where.place, where.paths) for each in ("log.diffmerges", "diff.relative"))


def _command(words: Sequence[Word], git: Git, where: GitPlace) -> GitCommand | None:
    """The command as it stands; None where a word is not constant, or means something else by the time."""
    texts = [word.value for word in words]
    constant = [text for text in texts if text is not None]
    if len(constant) != len(texts) or git.folders:
        return None
    if any(option.name not in _IN_FRONT for option in git.before.options):
        return None
    if any(text.startswith("--end") or _BY_DATE.search(text) for text in constant[git.start :]):
        return None
    name, first = constant[0], git.start - 1
    folder = os.path.dirname(name) if name.startswith("/") else disk.first_that_runs(name, where.folders)
    if folder is None:
        return None
    program, path = f"{folder}/{os.path.basename(name)}", ":".join(where.folders)
    return GitCommand(program, path, tuple(constant[1:first]), tuple(constant[first:]), where.place)


@contextlib.contextmanager
def _waiting(where: GitPlace) -> Iterator[bool]:
    """Count the seconds of this block, and say whether there were too many before."""
    began, spent = time.monotonic(), where.paths.spent
    try:
        yield spent.waited > MOST_WAITED
    finally:
        spent.waited += time.monotonic() - began


def _naming(command: GitCommand, words: Sequence[Word], git: Git, found: Sequence[_Revision]) -> GitCommand:
    """The same command, which names files."""
    asked, first = list(command.words), git.start - 1
    for each in found:
        if each.kind == "tag" and git.subcommand in _OF_OBJECTS:
            # The text of a tag is no line of a file, and would stand between the names.
            asked[each.at - first] = each.numbers[0]
    options: list[str] = [*_NAMES_FILES]
    if git.subcommand in _OF_HISTORIES:
        options.append("--no-show-signature")
    if git.subcommand == "diff-tree":
        options.append("-r")
    start = git.arguments.operands[0][0] - first + 1 if shows_stash(git) else 1
    if not git.arguments.has(*_FORMATS):
        return command._replace(words=(*asked[:start], *options, _FORMAT, *asked[start:]))
    # Of formats the last one counts. Behind the first path no option may stand.
    ends = [each.at - first for each in found if each.kind == ""]
    ends += [at for at, word in enumerate(asked) if word == "--"]
    end = min(ends, default=len(asked))
    return command._replace(words=(*asked[:start], *options, *asked[start:end], _FORMAT, *asked[end:]))


def _of_histories(
    command: GitCommand, git: Git, starts: Sequence[str], where: GitPlace, *, paths: int | None = None
) -> GitCommand:
    """A command that names all files that histories hold, by the names that they have in each commit, also of commits
    that this one leaves out, and of what a merge brought: those that its paths choose, where its options leave it at
    these. ``paths``: where the first of them stands that has no ``--`` in front."""
    if git.arguments.has(*_NAMES_REFS):
        starts = (*starts, *_ALL)
    chosen: tuple[str, ...] = ()
    beyond = git.arguments.has(*_BEYOND_PATHS) or any(
        may_be_set(each, where.place, where.paths) for each in ("log.follow", "log.diffmerges")
    )
    if "--" in command.words:
        paths = command.words.index("--") + 1
    if paths is not None and not searches_files(git) and not beyond:
        chosen = command.words[paths:]
    settings = ("-c", "log.showRoot=true", "-c", "log.follow=false", "-c", "log.showSignature=false")
    options = ("log", "--diff-merges=separate", "--root", "--no-renames", "--full-history", *_NAMES_FILES, _FORMAT)
    return command._replace(front=(*command.front, *settings), words=(*options, *starts, "--", *chosen))


def _files_of_all_histories(
    command: GitCommand, git: Git, where: GitPlace, named: Iterable[str] = ()
) -> frozenset[str] | None:
    """All files of everything that is named in the repository, or was, as far as the logs of its refs say, beside the
    commits that are ``named``."""
    history = _of_all_histories(command, git, where, named)
    return None if history is None else disk.files_named_by_git(history)


def _of_all_histories(command: GitCommand, git: Git, where: GitPlace, named: Iterable[str] = ()) -> GitCommand | None:
    repository = repository_above(where.place, where.paths)
    kept = commits_kept(repository) if repository is not None else ()
    starts = _commits_named(command, named)
    if kept is None or starts is None:
        return None
    return _of_histories(command, git, ("--ignore-missing", "HEAD", *starts, *kept, *_ALL), where)


def _commits_named(command: GitCommand, words: Iterable[str]) -> tuple[str, ...] | None:
    """The numbers of the commits that these words may name; None where one names something else, whose files are not
    listed with histories."""
    parts = dict.fromkeys(part for word in words for part in _positive_parts(word))
    asked = [form for part in parts for form in (part, f"{part}^{{commit}}")]
    kinds = disk.kinds_in_git(command, tuple(asked)) if asked else ()
    if kinds is None:
        return None
    pairs = list(zip(kinds[::2], kinds[1::2], strict=True))
    if any(each.kind and not commit.kind for each, commit in pairs):
        return None
    return tuple(commit.number for _, commit in pairs if commit.kind)


def _positive_parts(word: str) -> Iterator[str]:
    """The revisions in a word, none of them with what leaves others out; a number behind any text as well, as ``git
    describe`` prints it. A blank may stand in one only behind its front, in a path, a date or a search."""
    yield from _DESCRIBED.findall(word)
    parts = _parts(word)
    for part in dict.fromkeys((*parts, *(_FRONT.split(each)[0] for each in (*parts, word)))):
        revision = _PARENTS.split(part)[0]
        if _BLANK.search(part) is None and revision[:1] not in {"", "-", "^"} and ".." not in revision:
            yield revision


_BLANK = re.compile(r"\s")
_FRONT = re.compile(r":|\^\{|@\{")
_DESCRIBED = re.compile(r"-g([0-9a-fA-F]{4,64})")
_PARENTS = re.compile(r"\^[!@-]")


def _files_of_stages(command: GitCommand, git: Git, where: GitPlace) -> frozenset[str] | None:
    """The names that commits have for what the index keeps of files that were not merged: a merge follows what was
    renamed. None where no commit that is named has it, as of one that was fetched and is named no more."""
    listing = ("ls-files", "-u", "-z", "--full-name", "--", ":/")
    kept = disk.versions_named_by_git(command._replace(front=(), words=listing))
    history = _of_all_histories(command._replace(words=()), git, where)
    found = disk.versions_named_by_git(_with_numbers(history)) if history is not None else None
    if kept is None or found is None:
        return None
    numbers = {number for number, _ in kept}
    if not numbers <= {number for number, _ in found}:
        return None
    return frozenset(name for number, name in found if number in numbers)


def _with_numbers(history: GitCommand) -> GitCommand:
    words = ("--raw" if word == "--name-status" else word for word in history.words)
    return history._replace(words=(history.words[0], "--no-abbrev", *list(words)[1:]))


def _checked_out(command: GitCommand) -> tuple[str, ...]:
    found = disk.kinds_in_git(command, ("HEAD^{commit}",))
    return tuple(each.number for each in found or () if each.kind)


def _operands(git: Git) -> Iterator[str]:
    return (word.value or "" for _, word in git.arguments.operands)


def _named_later(words: Sequence[Word]) -> bool:
    """Whether a commit is known only once the command runs, as another one prints its number."""
    return any(holds_number(word.value or "") for word in words)


class _Revision(NamedTuple):
    """A word that may be a revision, at this place: the kind of the object that git finds under it, empty where it
    finds none, and the numbers of its commits. ``is_commit``: it names a commit, a range of two, or nothing.
    ``holds_path``: a path stands behind it."""

    at: int
    kind: str
    numbers: tuple[str, ...]
    is_commit: bool
    holds_path: bool


def _revisions(command: GitCommand, words: Sequence[Word], git: Git) -> list[_Revision] | None:
    """What git finds under the words that may be revisions and are known now; None where it does not say."""
    dashes, operands = end_of_revisions(words, git), git.arguments.operands
    # The first operand of `git grep` is the expression unless an option gives one; a kind may stand before an object.
    kind = git.subcommand == "cat-file" and len(operands) > 1
    leaves_out = kind or shows_stash(git) or (searches_files(git) and not git.arguments.has("-e", "-f"))
    named = {at: word.value or "" for at, word in operands[leaves_out:] if at < dashes and not named_later(word)}
    parts = {at: _parts(word) for at, word in named.items()}
    asked = dict.fromkeys(form for each in parts.values() for part in each for form in (part, f"{part}^{{commit}}"))
    kinds = disk.kinds_in_git(command, tuple(asked)) if asked else ()
    if kinds is None:
        return None
    found = dict(zip(asked, kinds, strict=True))
    return [_revision(at, named[at], each, found) for at, each in parts.items()]


def _parts(word: str) -> tuple[str, ...]:
    """The revisions in a word: both ends of a range and the word itself, as git tries one after the other, or what
    stands in front of a path."""
    revision, colon, _ = word.partition(":")
    if colon and revision:
        return (revision,)
    ends = _RANGE.split(_OF_PARENTS.sub("", word.removeprefix("^")))
    return tuple(end or "HEAD" for end in (*ends, word)) if len(ends) > 1 else (ends[0].removesuffix(_TREE),)


def _revision(at: int, word: str, parts: Sequence[str], found: Mapping[str, Kind]) -> _Revision:
    commits = [found[f"{part}^{{commit}}"] for part in parts]
    is_commit = all(
        found[part].kind in ("", "commit")
        or part == _EMPTY_TREE
        or (found[part].kind, commit.kind) == ("tag", "commit")
        for part, commit in zip(parts, commits, strict=True)
    )
    kinds = [found[part].kind for part in parts]
    named = kinds[-1] or (len(parts) > 1 and all(kinds[:-1]))
    kind = (kinds[0] if word == parts[0] else "others") if named else ""
    numbers = tuple(commit.number for commit in commits if commit.number)
    return _Revision(at, kind, numbers, is_commit, holds_path=":" in word)
