"""Secrets that a command of the read-only set prints although its words do not name them (docs/gate.md "Secrets").

``rg word`` reads what lies below the folder, ``git diff`` prints what changed. What is there is looked up on the disk
and in git's index, within bounds; where a rule for reading covers a secret, it does not count.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.ruled_files import is_ruled
from countersign.gate.paths.sensitive_paths import SECRET_IN_HOME
from countersign.gate.patterns import PathPattern
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_asked import (
    GitPlace,
    files_in_repository,
    files_printed,
    files_searched,
    files_to_add,
    may_be_asked,
    prints_commits_alone,
)
from countersign.gate.shell.files.git_changes import GitChange
from countersign.gate.shell.files.git_contents import (
    compares_files,
    may_be_files,
    printed_below,
    prints_files_of_commits,
    prints_lines,
    prints_objects,
    prints_unnamed,
    reads_work_tree,
    revisions,
    searches_files,
    shows_stash,
    shows_unstaged,
)
from countersign.gate.shell.files.git_folders import Repository, has_work_trees, repository_above
from countersign.gate.shell.files.git_index import (
    MOST_SHARED,
    Tracked,
    WayHome,
    holds_unmerged,
    is_secret_in_home,
    names_secret,
    reaches_through_link,
    shared_files,
    tracked_in_home,
    tracked_secrets,
    tracks_any,
)
from countersign.gate.shell.files.git_refs import (
    all_name_commits,
    is_in_git_folder,
    names_file,
    replaces_objects,
    takes_for_paths,
)
from countersign.gate.shell.files.git_repository import may_be_set
from countersign.gate.shell.files.git_settings import compares_dates_alone, may_be_on
from countersign.gate.shell.files.rg_operands import searches
from countersign.gate.shell.files.searched_secrets import (
    IGNORE_NAMES,
    MOST_FOUND,
    MOST_SEARCHED,
    Search,
    searched_secrets,
)
from countersign.gate.shell.files.word_values import literal
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.languages.git_pathspec import is_path, may_choose
from countersign.gate.shell.programs.tables import field_of
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.made_names import ANY_FILES
from countersign.gate.shell.syntax.tree import Word

_SEARCHING = frozenset(key[0] for key, reader in field_of("readers", "files").items() if reader == "search-globs")
_UNKNOWN_FILES = "which files git tracks is not known, and one may be a secret"
_NAMED_BY_NUMBER = "an earlier command may give a secret in the repository another name"
_MOST_SEARCHES = 30
"""Folders that one text searches, after which each further one asks."""


def printed_secret(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> str | None:
    """Why this command may print a secret that its words do not name, or None."""
    known, words = analyzed.known[-1], analyzed.layers[-1].words
    if known.git is not None:
        shown = shows_stash(known.git)
        patched = shown and any(may_be_set("stash.showpatch", place, context.paths) for place in places)
        below = printed_below(words, known.git, patched=patched)
        if shown and below is not None and any(_shows_untracked(context, known.git, place) for place in places):
            return "it may print files that were stashed before git tracked them, and one may be a secret"
        reasons = (_of_git_at(context, words, known.git, below, place) for place in places)
    elif analyzed.names[-1] in _SEARCHING:
        reasons = (
            _of_search(context, each)
            for place in places
            for each in searches(known, analyzed.facts, place, context.paths)
        )
    else:
        return None
    return next((reason for reason in reasons if reason is not None), None)


def _of_git_at(
    context: JudgingContext, words: Sequence[Word], git: Git, limits: Sequence[Word] | None, place: str
) -> str | None:
    """The same of a command of git's that runs in this place; ``limits``: what ``printed_below`` says."""
    if GitChange.NAMES in context.git.changed.kinds and prints_lines(git):
        return _NAMED_BY_NUMBER
    if _may_search_through_links(context, git):
        return _UNKNOWN_FILES
    if limits is None and git.subcommand == "show":
        # What looks like `revision:path` is a path where a file or folder is called so.
        named = (word for _, word in git.arguments.operands if ":" in (word.value or ""))
        found = [word for word in named if context.paths.resolve(literal(word), cwd=place).kind in ("file", "folder")]
        limits = found or None
    if limits is not None:
        reason = _after_changes(context, place) or _of_git(context, words, git, limits, place)
        reason = reason or _of_commits(context, words, git, limits, place)
    elif not prints_lines(git):
        return None
    else:
        named = _name_commits(context, words, git, place)
        reason = None if named else _of_git(context, words, git, (), place, names_alone=True)
    if reason is None and repository_above(place, context.paths) is not None:
        reason = None if prints_commits_alone(words, git, _git_place(context, place)) else _UNKNOWN_FILES
    return reason


def _git_place(context: JudgingContext, place: str) -> GitPlace:
    return GitPlace(place, context.program_path.outside, context.paths)


def _after_changes(context: JudgingContext, place: str) -> str | None:
    """Why it may print a secret that an earlier command of the same text brings, of which git cannot tell yet."""
    changed, repository = context.git.changed, repository_above(place, context.paths)
    here = repository is not None and changed.inside == {repository.own}
    if GitChange.FETCHES in changed.kinds or (GitChange.SENDS in changed.kinds and not here):
        return "which files an earlier command fetches is not known, and one may be a secret"
    if not changed.kinds:
        return None
    # What other work trees of the repository hold is not looked at.
    return _UNKNOWN_FILES if repository is None or (not here and has_work_trees(repository)) else None


def _may_search_through_links(context: JudgingContext, git: Git) -> bool:
    """Whether ``git grep`` opens files of the index where an earlier command may put a link for their folder."""
    changed = GitChange.FILES in context.git.changed.kinds
    return changed and searches_files(git) and not git.arguments.keeps("--cached")


def _may_search_without_index(place: str, context: JudgingContext) -> bool:
    """Whether ``git grep`` may search whatever lies below the folder, where git finds no repository that it takes."""
    return may_be_set("grep.fallbacktonoindex", place, context.paths)


def _of_commits(
    context: JudgingContext, words: Sequence[Word], git: Git, limits: Sequence[Word], place: str
) -> str | None:
    """Why it may print a secret of commits, by what git itself says of these."""
    repository = repository_above(place, context.paths)
    if repository is None or (limits and prints_objects(git)):
        return None
    if searches_files(git) and not context.git.changed.kinds:
        return None  # where it searches in commits, was looked up with the index
    names = _files_of_commits(context, words, git, place, repository)
    if names is None:
        return _UNKNOWN_FILES
    secrets = _secrets_among(names, _ways_home(context, repository))
    paths = (f"{repository.folder}/{name}" for name in secrets)
    return next((_reads(path) for path in paths if not _is_covered(context, path)), None)


def _files_of_commits(
    context: JudgingContext, words: Sequence[Word], git: Git, place: str, repository: Repository
) -> frozenset[str] | None:
    """Files of commits of which a command prints lines, or more, and of those that the text adds before; None if they
    are not known."""
    where, changed = _git_place(context, place), context.git.changed.kinds
    named = _files_named(context, words, git, where, repository)
    if named is None or changed.isdisjoint(_ADDING):
        return named
    ignored = GitChange.ADDS_ANY in changed or not context.made.isdisjoint({*IGNORE_NAMES, ANY_FILES})
    added = files_to_add(words, git, where, ignored=ignored)
    return None if added is None else named | added


_ADDING = frozenset({GitChange.ADDS, GitChange.ADDS_ANY})


def _files_named(
    context: JudgingContext, words: Sequence[Word], git: Git, where: GitPlace, repository: Repository
) -> frozenset[str] | None:
    """The same without what is added."""
    changed = context.git.changed
    if GitChange.MOVES in changed.kinds and (searches_files(git) or prints_files_of_commits(git)):
        return files_in_repository(words, git, where, changed=changed.named)
    if may_be_asked(git, where):
        return files_printed(words, git, where)
    if compares_files(git) or (shows_unstaged(git) and not holds_unmerged(f"{repository.own}/index")):
        return frozenset()
    if searches_files(git):
        return _files_searched(words, git, where)
    return files_in_repository(words, git, where) if prints_files_of_commits(git) else None


def _files_searched(words: Sequence[Word], git: Git, where: GitPlace) -> frozenset[str] | None:
    """Files of the commits in which ``git grep`` searches."""
    found = git.arguments
    if found.settled and len(found.operands) < (1 if found.may_have("-e", "-f") else 2):
        return frozenset()
    return files_searched(words, git, where)


def _secrets_among(names: frozenset[str], ways: tuple[WayHome, ...]) -> list[str]:
    """Those of these names, counted from the top of a work tree, that are called like a secret."""
    encoded = ((name, os.fsencode(name)) for name in sorted(names))
    return [name for name, each in encoded if names_secret(each) or any(is_secret_in_home(each, way) for way in ways)]


def _ways_home(context: JudgingContext, repository: Repository) -> tuple[WayHome, ...]:
    """The ways to the homes in which a work tree may hold secrets counted from there."""
    return tuple(way for home in context.paths.homes if (way := _from_home(repository, home)) is not None)


def prints_nothing_ruled(context: JudgingContext, words: Sequence[Word], git: Git, places: Sequence[str]) -> bool:
    """Whether a command of git's surely prints no line of a file that a rule against reading is about: git tracks none,
    and neither do the commits of which it prints lines."""
    if not prints_lines(git) and prints_unnamed(words, git) is None:
        return not shows_stash(git)  # which settings may have print lines
    patterns = context.paths.patterns_against_reading()
    if patterns is None:
        return False
    return all(_tracks_none(context, words, git, place, patterns) for place in places)


def _tracks_none(
    context: JudgingContext, words: Sequence[Word], git: Git, place: str, patterns: tuple[PathPattern, ...]
) -> bool:
    repository = repository_above(place, context.paths)
    if repository is None or repository.folder != context.paths.workspace or replaces_objects(repository):
        return False
    if tracks_any(f"{repository.own}/index", patterns) or _after_changes(context, place) is not None:
        return False
    if _may_search_through_links(context, git):
        return False
    if searches_files(git) and _may_search_without_index(place, context):
        return False
    names = _files_of_commits(context, words, git, place, repository)
    return names is not None and not any(is_ruled(name, patterns) for name in names)


def _shows_untracked(context: JudgingContext, git: Git, place: str) -> bool:
    """Whether ``git stash show`` tells of files that git did not track, which its index does not name either."""
    asked_for = git.arguments.may_have("-u", "--include-untracked", "--only-untracked")
    return asked_for or may_be_set("stash.showincludeuntracked", place, context.paths)


def _of_search(context: JudgingContext, search: Search) -> str | None:
    if not context.made.isdisjoint(IGNORE_NAMES):
        return "the text itself says which files are left out of the search, and one may be a secret"
    if ANY_FILES in context.made:
        search = search._replace(all_names=True)
    if search not in context.searched:
        if len(context.searched) == _MOST_SEARCHES:
            return f"more than {_MOST_SEARCHES} folders are searched, too many to check for secrets"
        context.searched[search] = searched_secrets(search)
    found = context.searched[search]
    if found is None:
        return f"it searches more than {MOST_SEARCHED:,} files, too many to check for secrets"
    # Above the workspace a person keeps ignore files of their own, wherever these lie.
    counting = [path for path in found if f"{path}/".startswith((f"{search.folder}/", f"{context.paths.workspace}/"))]
    if len(found) == MOST_FOUND:
        return _reads(found[-1])
    if any(path.endswith("/.git") for path in counting):
        return _UNKNOWN_FILES  # which files rg leaves out
    return next((_reads(path) for path in counting if not _is_covered(context, path)), None)


def _of_git(
    context: JudgingContext,
    words: Sequence[Word],
    git: Git,
    limits: Sequence[Word],
    place: str,
    *,
    names_alone: bool = False,
) -> str | None:
    """The same by git's index, and by the commits in which ``git grep`` searches. ``names_alone``: of commits it prints
    no lines."""
    repository = repository_above(place, context.paths)
    if repository is None:
        return None
    # git counts from the folder itself, whatever link led to it.
    real = context.paths.resolve(place, cwd="/").resolved
    if real is None:
        return _UNKNOWN_FILES
    elsewhere = may_be_files(words, git) or real != repository.folder
    if is_in_git_folder(real, repository) or (elsewhere and not takes_for_paths(place, context.paths)):
        limits = ()  # there, `HEAD` is a file as well, git takes no word for a path, and counts paths from the top
    of_commits = not limits or _name_commits(context, words, git, place)
    if limits and of_commits and prints_objects(git):
        return None
    index = f"{repository.own}/index"
    secrets = tracked_secrets(index)
    searching = searches_files(git)
    if searching and (
        may_be_on("submodule.recurse", repository, context.paths) or _may_search_without_index(place, context)
    ):
        secrets = None
    # Through a folder that was replaced by a link it reads whatever lies there: `git grep`, where files count as
    # unchanged by their date alone, and otherwise those of which git compares several versions with the file.
    every = searching or compares_files(git) or compares_dates_alone(repository, context.paths)
    if reaches_through_link(index, repository.folder, unmerged=not every):
        secrets = None
    if may_be_on("log.follow", repository, context.paths):
        limits = ()
    if secrets is None:
        return _UNKNOWN_FILES
    ways = _ways_home(context, repository)
    for way in ways:
        secrets += tracked_in_home(index, way)
    names = _files_searched(words, git, _git_place(context, place)) if searching else frozenset[str]()
    if names is None:
        return _UNKNOWN_FILES
    earlier = _secrets_among(names, ways)
    if not (secrets or earlier) and not reads_work_tree(git):
        return None
    if not of_commits:
        limits = ()
    if may_be_files(words, git) and any(_may_be_revision(word, place, context.paths) for word in limits):
        limits = ()
    patterns = [word.value or "" for word in limits if not is_path(word.value or "")]
    # git straightens a path by its text alone, whatever `x` in `x/../conf` is called.
    straight = (os.path.normpath(literal(word)) for word in limits if is_path(word.value or ""))
    named = [context.paths.resolve(path, cwd=real) for path in straight]
    folders = [found.lexical for found in named if found.kind in ("file", "folder")]
    if folders or patterns:
        folders = [found.lexical for found in named]  # what is no revision may have been a folder once
    within = [] if patterns else folders
    if reads_work_tree(git) and (reason := _shared(context, index, repository, within)) is not None:
        return reason
    unstaged = {os.fsdecode(each.path): each for each in secrets}
    for name in dict.fromkeys((*unstaged, *earlier)):
        path, each = f"{repository.folder}/{name}", unstaged.get(name)
        below = any(f"{path}/".startswith(f"{folder}/") for folder in folders)
        if (folders or patterns) and not below and not any(may_choose(pattern, path) for pattern in patterns):
            continue
        unchanged = each is not None and shows_unstaged(git) and _is_unchanged(each, path, index)
        if not unchanged and not _is_covered(context, path):
            return _reads(path)
    return None


def _may_be_revision(word: Word, place: str, paths: PathJudge) -> bool:
    """Whether a revision is called like this file, which the text may delete before."""
    value = word.value or ""
    return paths.resolve(literal(word), cwd=place).kind in ("file", "folder") and not names_file(value, place, paths)


def _name_commits(context: JudgingContext, words: Sequence[Word], git: Git, place: str) -> bool:
    """Whether all that may be a revision names commits: a tag may name the contents of a file."""
    return all_name_commits(revisions(words, git), place, context.paths, or_files=may_be_files(words, git))


def _from_home(repository: Repository, home: str) -> WayHome | None:
    """Where the home lies, seen from a work tree that may hold secrets counted from there, else None."""
    if repository.folder == home:
        return WayHome((), ())
    if home.startswith(f"{repository.folder.rstrip('/')}/"):
        return WayHome((), tuple(home[len(repository.folder) :].strip("/").split("/")))
    if not repository.folder.startswith(f"{home}/"):
        return None
    above = tuple(repository.folder.removeprefix(f"{home}/").split("/"))
    return WayHome(above, ()) if above[0] in _IN_HOME else None


_IN_HOME = frozenset(names[0] for names in SECRET_IN_HOME)


def _shared(context: JudgingContext, index: str, repository: Repository, folders: Sequence[str]) -> str | None:
    """Why it may print a secret under another name, or None."""
    below = [os.path.relpath(folder, repository.folder) for folder in folders]
    found = shared_files(index, repository.folder, tuple(dict.fromkeys(below)) if "." not in below else ())
    if found is None:
        return f"git tracks more than {MOST_SHARED:,} files, too many to check for other names of secrets"
    paths = (f"{repository.folder}/{name}" for name in found)
    path = next((path for path in paths if not _is_covered(context, path)), None)
    return None if path is None else f"it may print `{path}`, which has other names, and one of them may be a secret's"


def _is_unchanged(tracked: Tracked, path: str, index: str) -> bool:
    """Whether git takes a file for what is in the index without looking into it: nothing that it keeps of the file has
    changed, and the index is younger."""
    found, written = disk.file_state(path), disk.time_and_size(index)
    return found == tracked.state and written is not None and found is not None and found.written < written[0]


def _is_covered(context: JudgingContext, path: str) -> bool:
    """Whether a rule or a grant for reading covers the secret, or the file is not a secret after all."""
    found = context.paths.judge_read(path, cwd="/")
    if found.deny is not None or found.ask is not None:
        return False
    return found.allow is not None or found.grant is not None or found.known_read


def _reads(path: str) -> str:
    return f"it may print the secret `{path}`"
