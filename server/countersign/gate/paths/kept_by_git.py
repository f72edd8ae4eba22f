"""What git keeps of files in a folder of its own: objects, patches of a stopped rebase (`gitrepository-layout`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.probes import disk

KEPT_BY_GIT = "git may keep there what any file of the repository holds"


def kept_by_git(names: Sequence[str]) -> int | None:
    """Return which of these folded segments begins a place in `.git` that may hold what is in other files, or None; of
    what git keeps for another work tree the last."""
    at = names.index(".git") + 1 if ".git" in names[:-1] else 0
    if not at or _tells_of_git(names[at:]):
        return None
    return len(names) - 1 if names[at] == "worktrees" else at


def kept_in_other_folder(path: str, top: str = "/") -> int | None:
    """Return the same for an absolute path that leads through a folder of git's with another name, which is ``top`` or
    lies below it. Looks at the disk."""
    segments = path.strip("/").split("/")
    for at in disk.combined(_folders_of_git, (f"/{'/'.join(segments[:-1])}", top)):
        names = [each.lower() for each in segments[at:]]
        if not _tells_of_git(names):
            return len(segments) - 1 if names[0] == "worktrees" else at
    return None


def _folders_of_git(asked: tuple[str, str]) -> tuple[int, ...]:
    """The folders on the way from one to another, and these, that are git's, each as the number of its segments."""
    path, top = asked
    segments = path.strip("/").split("/")
    numbers = range(max(1, len(top.strip("/").split("/"))), min(len(segments), disk.MOST_SEGMENTS) + 1)
    found: list[int] = []
    for at in numbers:
        way = f"/{'/'.join(segments[:at])}"
        if _is_of_git(way):
            found.append(at)
        elif not disk.is_there(way):
            break  # nothing is below
    return tuple(found)


def _is_of_git(folder: str) -> bool:
    return disk.is_there(f"{folder}/HEAD") and any(
        disk.is_there(f"{folder}/{each}") for each in ("objects", "commondir")
    )


def kept_as_text(names: Sequence[str]) -> bool:
    """Return whether these folded segments lead to lines of other files that any program can read."""
    return kept_by_git(names) is not None and _OF_NO_LINES.isdisjoint(names)


_OF_NO_LINES = frozenset({"objects", "commit_editmsg"})
"""What git compresses, and what only holds lines of files where a person's settings say so (`keeps_text`)."""


def keeps_text(folder: str) -> bool:
    """Return whether lines of files stand in this folder of git's as plain text now. Looks at the disk."""
    return disk.combined(_keeps_text, folder)


def _keeps_text(folder: str) -> bool:
    names = disk.names_in(folder)
    if "HEAD" not in names:
        return False
    others = disk.names_in(f"{folder}/worktrees") if "worktrees" in names else ()
    if len(others) > _MOST_OTHERS or any(_keeps_text(f"{folder}/worktrees/{each}") for each in others):
        return True
    message = disk.beginning(f"{folder}/COMMIT_EDITMSG", _MOST_BYTES + 1) or b""
    patches = [disk.beginning(f"{folder}/{each}", _MOST_BYTES + 1) for each in _PATCHES]
    if not _LEFT_OVER.isdisjoint(map(str.lower, names)) or any(map(_names_secrets, (message, *filter(None, patches)))):
        return True
    left = b"\ndiff --" in message or any(text is not None for text in patches)
    left = left or ("rr-cache" in names and len(disk.names_in(f"{folder}/rr-cache")) > 0)
    return left and _may_track_secrets(folder, names)


def _names_secrets(text: bytes) -> bool:
    """Whether a patch may show lines of a secret."""
    return len(text) > _MOST_BYTES or any(_SECRETS.search(line) for line in _OF_FILES.findall(text))


def _may_track_secrets(folder: str, names: Sequence[str]) -> bool:
    """Whether the index names what may be a secret, or is not one that spells out each name."""
    text = disk.beginning(f"{folder}/index", _MOST_INDEX + 1)
    if text is None or len(text) > _MOST_INDEX or text[4:8] not in _SPELLED_OUT:
        return True
    return _SECRETS.search(text) is not None or any(name.startswith("sharedindex.") for name in names)


_LEFT_OVER = frozenset({"rebase-apply", "rebased-patches", "lost-found"})
"""What git leaves that holds lines of files without their names, or in many files."""
_PATCHES = ("rebase-merge/patch", "ADD_EDIT.patch", "addp-hunk-edit.diff")
_OF_FILES = re.compile(rb"^(?:diff --|--- |\+\+\+ |rename |copy ).*", re.MULTILINE)
_MOST_BYTES = 1 << 20
_MOST_INDEX = 1 << 24
_SPELLED_OUT = (b"\0\0\0\x02", b"\0\0\0\x03")
"""Versions of the index in which no name is shortened (`gitformat-index`)."""
_SECRETS = re.compile(
    rb"\.env|\.pem|id_|\.npmrc|\.pypirc|\.ssh|\.aws|\.kube|\.docker|\.config|\.netrc|credentials", re.I
)
_MOST_OTHERS = 100


def _tells_of_git(names: Sequence[str]) -> bool:
    """Whether a place in a folder of git's holds only what git keeps beside contents."""
    first, last = names[0], names[-1]
    match first:
        case "objects":
            return len(names) > 1 and names[1] == "info"
        case "worktrees":
            return len(names) > 2 and _tells_of_git(names[2:])
        case "modules":
            below = _OF_CONTENTS.isdisjoint(names) and _TEXT.search(last) is None
            return below and (last in _OF_GIT or not _OF_GIT_BELOW.isdisjoint(names[2:]))
        case "rebase-merge" | "rebase-apply" | "sequencer":
            return len(names) > 1 and last in _OF_STEPS
        case _:
            return first in _OF_GIT or first in _OF_GIT_BELOW or first.endswith("_head") or first.startswith("bisect_")


_OF_GIT = frozenset(
    "head config config.worktree description packed-refs shallow index commondir gitdir locked merge_msg merge_mode "
    "squash_msg auto_merge gc.log gc.pid git-daemon-export-ok".split()
)
_OF_GIT_BELOW = frozenset("refs logs info hooks branches".split())
_OF_CONTENTS = frozenset(
    "objects rr-cache lfs annex rebase-merge rebase-apply sequencer commit_editmsg lost-found svn".split()
)
_TEXT = re.compile(r"\.(?:diff|patch)\Z")
_OF_STEPS = frozenset(
    "head-name onto msgnum end next last done git-rebase-todo git-rebase-todo.backup stopped-sha interactive orig-head "
    "author-script amend abort-safety todo head".split()
)
"""What git keeps of a rebase or of several picks beside their patches: which steps, and where it began."""
