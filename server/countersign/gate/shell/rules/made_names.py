"""Names of files that a text makes and that say what a later command of it does.

``: > -r; grep x *`` searches folders, and ``echo … > rust-toolchain.toml; rustc --version`` runs what stands there.
What lies on the disk is looked up before the text runs, so such names count as being there, wherever the text makes
them.
"""

from __future__ import annotations

from collections.abc import Iterable

from countersign.gate.finding import Finding
from countersign.gate.patterns import fold
from countersign.gate.shell.effects.chosen_programs import CHOOSING_FILES
from countersign.gate.shell.files.searched_secrets import IGNORE_NAMES

_MARKS = ("-", "@")
"""In front of an option, and of a list of further words."""

_ENDING = "-version"
"""Of files by which version managers choose a program of any name."""

_TELLING = frozenset(map(fold, (*CHOOSING_FILES, *IGNORE_NAMES)))


ANY_FILES = "*"
"""In place of the names of files that git or an archive brings, which are not known: ignore files may be among them."""

ANOTHER_INDEX = "*index"
"""In place of the names in git's index, where the text changes it before it takes files out of it."""


def made_names(findings: Iterable[Finding], workspace: str, carried: Iterable[str] = ()) -> frozenset[str]:
    """Of the files that are written, of the folders in which they lie, and of the names ``carried`` to another place,
    the folded ones that say what another command does."""
    paths = (fold(each.resource) for each in findings if each.kind == "write")
    parts = (part for path in paths for part in path.removeprefix(f"{fold(workspace)}/").split("/"))
    names = (*parts, *map(fold, carried))
    return frozenset(name for name in names if name.startswith(_MARKS) or name in _TELLING or name.endswith(_ENDING))


def makes_marked(made: Iterable[str], mark: str) -> bool:
    """Whether one of these names begins with a mark."""
    return any(name.startswith(mark) for name in made)
