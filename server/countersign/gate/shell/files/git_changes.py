"""What a git command changes of that which later ones print: git is asked before the text runs (docs/gate.md
"Secrets")."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.shell.files.git_contents import names_contents
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.languages.git import Git, only_reads


class GitChange(Enum):
    """``MOVES``: which commits, and which version of a file, a name stands for; all of these are in the repository
    already. ``ADDS``: files to what git tracks, those that it ignores left out, ``ADDS_ANY`` with these. ``FETCHES``:
    commits that are not in the repository yet. ``SENDS``: commits to another repository. ``NAMES``: contents, taken by
    their number, to a name that nothing knows them by. ``FILES``: what stands in the work tree and what the index says
    of it, so that a link may stand where the index has a folder."""

    MOVES = auto()
    ADDS = auto()
    ADDS_ANY = auto()
    FETCHES = auto()
    SENDS = auto()
    NAMES = auto()
    FILES = auto()


class GitChanges(NamedTuple):
    """What commands change together: ``named`` are words of theirs by which they may take commits, ``inside`` the
    folders in which git keeps what they change, an empty text where that is not known."""

    kinds: frozenset[GitChange] = frozenset()
    named: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()

    def with_those(self, others: GitChanges) -> GitChanges:
        """Both together."""
        return GitChanges(self.kinds | others.kinds, self.named | others.named, self.inside | others.inside)


NO_CHANGES = GitChanges()

_BRINGING_NOTHING = frozenset(
    """
    am apply archive bisect branch checkout cherry-pick clean commit config fsck format-patch gc init merge mv notes
    pack-refs prune read-tree rebase reflog repack rerere reset restore revert rm sparse-checkout switch
    symbolic-ref tag update-ref worktree
    """.split()
)
"""Subcommands that bring no commit into the repository, and no file into the index, which is not in it already, but for
what a patch says of itself."""

_LEAVING_FILES = frozenset("branch commit notes symbolic-ref tag update-ref".split())
"""Those of them that change nothing in the work tree, and of the index only what they take from there."""

_TAKING_IGNORED = {"add": ("-f", "--force"), "stage": ("-f", "--force"), "stash": ("-a", "--all")}
"""Subcommands that add files and pass over what is ignored, each with the options by which they do not."""

_MOVING_NOTHING = frozenset({"add", "stage"})
"""Subcommands after which every name stands for the commit for which it stood before."""

_ADDING_ANY = frozenset("stash commit-tree hash-object update-index write-tree".split())
"""Subcommands that may add any file, and fetch nothing, as long as they take no contents by their number."""

_FETCHING = frozenset("clone fetch pull remote submodule".split())
"""Subcommands that may do anything but give a name to contents that they take by their number."""


_TOLD = frozenset(
    """
    add branch checkout cherry-pick commit fetch merge mv pull push rebase reset restore revert rm stage stash switch
    tag
    """.split()
)
"""Subcommands that change nothing by which a later command prints another file's lines, but what is said of them here:
no settings, no other place of the work tree."""


def are_told(git: Git) -> bool:
    """Whether ``changes_of`` says all that this command changes of what later ones print."""
    return git.subcommand in _TOLD and git.start == _BEHIND_NAME and not git.arguments.unrecognized_options


_BEHIND_NAME = 2
"""Where the words of a subcommand start that stands behind `git` itself."""


def changes_of(git: Git, places: Sequence[str] | None, paths: PathJudge) -> GitChanges:
    """Return what this command may change in these places: nothing if it only reads, and all if it is not known."""
    kinds = _kinds_of(git)
    if not kinds:
        return NO_CHANGES
    values = (option.value for option in git.arguments.options if option.value is not None)
    named = (word.value for word in (*values, *(word for _, word in git.arguments.operands)))
    inside = {""}
    if places is not None and not git.folders and not git.before.has("--git-dir"):
        found = [repository_above(place, paths) for place in places]
        inside = {"" if each is None else each.own for each in found}
    starts = frozenset(word for word in named if word) if GitChange.MOVES in kinds else frozenset[str]()
    return GitChanges(kinds, starts, frozenset(inside))


def _kinds_of(git: Git) -> frozenset[GitChange]:
    name, found = git.subcommand, git.arguments
    if only_reads(git):
        return frozenset()
    if name == "push":
        return frozenset({GitChange.MOVES, GitChange.SENDS})
    if name in _BRINGING_NOTHING:
        return frozenset({GitChange.MOVES} if name in _LEAVING_FILES else {GitChange.MOVES, GitChange.FILES})
    taking = _TAKING_IGNORED.get(name or "")
    passed_over = taking is not None and not found.holes and not found.may_have(*taking)
    added = GitChange.ADDS if passed_over else GitChange.ADDS_ANY
    if name in _MOVING_NOTHING:
        return frozenset({added})
    if name in _FETCHING:
        return frozenset({*GitChange} - {GitChange.NAMES})
    known = name in _ADDING_ANY and not names_contents(git)
    return frozenset({added, GitChange.MOVES, GitChange.FILES} if known else {*GitChange})
