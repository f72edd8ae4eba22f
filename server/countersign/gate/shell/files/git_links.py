"""Links, symbolic and hard ones, in what git keeps of a repository (docs/gate.md S9).

git itself makes none there, but for ``HEAD`` in old versions. One that came in an archive makes git show the objects,
the reflog or the settings of another repository, or print the lines of a file that it cannot read (`.git/shallow`).
Where it passes ``/proc/self/cwd`` it leads elsewhere for git than here. So none is followed: a repository with one is
not known for certain. Objects are hard links in a local clone, and nothing that git cannot read is printed of them.
"""

from __future__ import annotations

import re

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.links_below import holds_links

_ALL_BELOW = (
    "info", "logs", "refs", "reftable", "worktrees", "branches", "remotes", "rebase-merge", "rebase-apply", "sequencer",
)  # fmt: skip
"""Folders in which git reads whatever it finds, at any depth."""
_OF_OBJECTS = ("", "/info", "/info/commit-graphs", "/pack", "/pack/multi-pack-index.d")
"""Those of a store of objects. A link in one of its 256 further folders has the number of what it leads to, which who
made it must know (docs/known-limitations.md)."""
_MOST_FOLDERS, _MOST_LFS_FOLDERS = 1_000, 5_000
_OLD_HEAD = re.compile(r"refs/heads(?:/[\w-][\w.-]*)+")


def holds_link(git_dir: str, paths: PathJudge) -> bool:
    """Whether a link stands among what git reads in this folder, or that is not known.

    Not counted are ``HEAD`` where it names a branch, and the folder of hooks, which are looked for where it leads.
    """
    for name in _links(git_dir):
        link = f"{git_dir}/{name}"
        if name == "HEAD":
            target = disk.link_target(link)
            if not isinstance(target, str) or _OLD_HEAD.fullmatch(target) is None:
                return True
        elif name != "hooks" or paths.resolve(link, cwd="/").unclear is not None:
            return True
    if _links(f"{git_dir}/modules") or disk.combined(_is_linked_in_lfs, git_dir):
        return True
    return disk.combined(_is_linked_below, git_dir) or store_holds_link(f"{git_dir}/objects")


def store_holds_link(store: str) -> bool:
    """Whether a store of objects takes some from where a link leads, or that is not known."""
    alternates = disk.path_stat(f"{store}/info/alternates")
    if not isinstance(alternates, int) and alternates.names > 1:
        return True
    return any(disk.combined(_symlinks_in, f"{store}{part}") for part in _OF_OBJECTS)


def _links(folder: str) -> tuple[str, ...]:
    """The links in a folder. One that cannot be listed counts as one: git may open by its name what lies in it."""
    return disk.combined(_links_in, folder)


def _links_in(folder: str) -> tuple[str, ...]:
    return _named(disk.single_entries_in(folder))


def _symlinks_in(folder: str) -> tuple[str, ...]:
    return _named(disk.entries_in(folder))


def _named(found: tuple[tuple[str, bool | None], ...] | None) -> tuple[str, ...]:
    return ("",) if found is None else tuple(name for name, is_folder in found if is_folder is None)


def _is_linked_in_lfs(git_dir: str) -> bool:
    """Git LFS writes below its folder whenever git looks for changes, by names that who made the file knows."""
    return holds_links([f"{git_dir}/lfs"], most=_MOST_LFS_FOLDERS, single=False)


def _is_linked_below(git_dir: str) -> bool:
    return holds_links([f"{git_dir}/{name}" for name in _ALL_BELOW], most=_MOST_FOLDERS, single=True)
