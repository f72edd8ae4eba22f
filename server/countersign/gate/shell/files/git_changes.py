"""What a git command changes of that which later ones print: git is asked before the text runs (docs/gate.md
"Secrets")."""

from __future__ import annotations

from enum import Enum

from countersign.gate.shell.languages.git import Git, only_reads


class GitChange(Enum):
    """``MOVES``: which commits, and which version of a file, a name stands for; all of these are in the repository
    already. ``ADDS``: files to what git tracks, those that it ignores left out, ``ADDS_ANY`` with these. ``FETCHES``:
    commits that are not in the repository yet. The value is a name that no file has (``made_names.py``)."""

    MOVES = "*moves"
    ADDS = "*adds"
    ADDS_ANY = "*adds any"
    FETCHES = "*fetches"


GIT_CHANGES = frozenset(each.value for each in GitChange)

_BRINGING_NOTHING = frozenset(
    """
    am apply archive bisect branch checkout cherry-pick clean commit config fsck format-patch gc init merge mv notes
    pack-refs prune push read-tree rebase reflog repack rerere reset restore revert rm sparse-checkout switch
    symbolic-ref tag update-ref worktree
    """.split()
)
"""Subcommands that bring no commit into the repository, and no file into the index, which is not in it already, but for
what a patch says of itself."""

_TAKING_IGNORED = {"add": ("-f", "--force"), "stage": ("-f", "--force"), "stash": ("-a", "--all")}
"""Subcommands that add files and pass over what is ignored, each with the options by which they do not."""

_MOVING_NOTHING = frozenset({"add", "stage"})
"""Subcommands after which every name stands for the commit for which it stood before."""

_ADDING_ANY = frozenset("stash commit-tree hash-object mktree update-index write-tree".split())
"""Subcommands that may add any file, and fetch nothing."""


def changes_of(git: Git) -> frozenset[GitChange]:
    """Return what this command may change: nothing if it only reads, and all if it is not known here."""
    name, found = git.subcommand, git.arguments
    if only_reads(git):
        return frozenset()
    if name in _BRINGING_NOTHING:
        return frozenset({GitChange.MOVES})
    taking = _TAKING_IGNORED.get(name or "")
    passed_over = taking is not None and not found.holes and not found.may_have(*taking)
    added = GitChange.ADDS if passed_over else GitChange.ADDS_ANY
    if name in _MOVING_NOTHING:
        return frozenset({added})
    return frozenset({added, GitChange.MOVES} if name in _ADDING_ANY else {*GitChange})
