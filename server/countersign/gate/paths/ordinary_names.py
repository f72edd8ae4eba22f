"""Names that no list of the gate knows: nearly all that a command names in a workspace, told by the text alone.

INVARIANT (narrow): an ordinary path, counted from a folder, holds no secret and no protected name of any list, means
the same to every file system, and has no `.`, `..` or empty part (``tests/gate/paths/test_ordinary_names.py`` compares
it with the lists). Whether a folder on the way is git's is looked up elsewhere.
"""

from __future__ import annotations

import re

_ORDINARY = re.compile(r"(?:[a-z0-9_][a-z0-9_-]*(?:\.[a-z0-9_-]+)*(?:/(?!\Z)|\Z))+", re.ASCII | re.IGNORECASE)

_LISTED = tuple(
    "id_ .pem venv opencode crush. lefthook site-packages env/bin env/scripts tools/bazel launchagents .code-workspace "
    "/mise. /mise/ _backup_ _local_ _remote_ _base_".split()
)
"""What a path with a name of some list holds, in small letters and with a slash in front."""

MOST = 200
"""Characters up to which a path is looked at so: no part of it can be longer than a name."""


def is_ordinary(path: str) -> bool:
    """Whether this relative path is made of ordinary names. False may be said of any."""
    if len(path) > MOST or _ORDINARY.fullmatch(path) is None:
        return False
    folded = f"/{path.lower()}"
    return not any(each in folded for each in _LISTED)
