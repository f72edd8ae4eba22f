"""What an agent's input would touch, once it is understood, and the ground that it is read on.

``shapes.py`` and ``command_shapes.py`` read inputs with what is here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from countersign.agents.acp.file_edit import FileEdit
from countersign.gate import Effect, ReadPath, WritePath, check_cancelled
from countersign.tools.places import PATH_LENGTH
from countersign.wire.base import Json

MOST_WORDS = 10_000
"""Words of a command that came as a list."""


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Where an agent stands: absolute ``folder`` (the one it was started in) and ``home``; ``workspace`` where it is
    another folder.

    ``shell_moved``: the agent keeps one shell for all commands, and one that ran there may have left it in another
    folder or with other names; what a command does there can no longer be told from its text. ``runs_bash``: its shell
    is known to be bash; what another shell makes of a text is not known. ``plan_tools``: its tools that show a plan.
    """

    folder: str
    home: str
    shell_moved: bool = False
    runs_bash: bool = False
    workspace: str | None = None
    plan_tools: frozenset[str] = frozenset()

    def absolute(self, path: str) -> tuple[str, ...]:
        """Every absolute path that an agent may open when it says this one.

        It may expand ``~`` or not, take an address of a file or an ``@`` in front for the file's path and a wide blank
        for a plain one, each behind the other (``@~/x``), may take ``..`` away as text or leave that to the system, and
        opens what a link leads to; so a path can stand for several, and all of them count. None is longer than a path
        can be: no file is there. Reads the disk.
        """
        check_cancelled()
        spelled: list[str] = []
        for text in _texts(path):
            if text == "~" or text.startswith("~/"):
                spelled.append(os.path.join(self.home, text[2:]))
            spelled.append(os.path.join(self.folder, text))
        if any("\0" in spelling for spelling in spelled):
            return tuple(_possible(spelled))  # leads nowhere; the gate refuses it
        asked = [os.path.normpath(spelling) for spelling in spelled]
        real = [os.path.realpath(spelling) for spelling in _possible((*asked, *spelled))]
        return tuple(dict.fromkeys(_possible((*asked, *real))))


def _texts(path: str) -> list[str]:
    """The path as some agent may read it before it looks for the file; as it stands, last."""
    found = [path]
    newest = [path]
    for _ in range(_MOST_STEPS):
        newest = [text for each in newest for text in _read_on(each) if text not in found]
        if not newest:
            break
        found = [*dict.fromkeys(newest), *found]
    return found


_MOST_STEPS = 4
"""How many readings are taken one behind the other; no agent known takes more than three."""
_WIDE_BLANKS = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def _read_on(text: str) -> Iterator[str]:
    """What one step of reading makes of a path."""
    if text[:5].lower() == "file:":
        behind = text[5:]
        if behind.startswith("//"):
            # A reader may take away a name of a machine, or take it for the first folder.
            host = behind.lstrip("/")
            behind = behind[2:].lstrip("/") if behind.startswith("///") else behind[2:].partition("/")[2]
            behind = f"/{behind}"
            yield unquote(behind)
            yield f"/{unquote(host).lstrip('/')}"
        else:
            yield unquote(behind)
    elif text.startswith("@") and len(text) > 1:
        yield text[1:]
    plain = _WIDE_BLANKS.sub(" ", text)
    if plain != text:
        yield plain


@dataclass(frozen=True, slots=True)
class Reading:
    """What an understood input would touch."""

    effects: tuple[Effect, ...]
    edits: tuple[FileEdit, ...] = ()


Given = Mapping[str, Json]


def either_way(path: str, ground: AgentContext) -> tuple[Effect, ...]:
    """The effects of a path of which it is not known what happens to it."""
    return tuple(effect for full in ground.absolute(path) for effect in (ReadPath(full), WritePath(full)))


def write_effects(path: str, ground: AgentContext) -> tuple[Effect, ...]:
    """A file is created or changed."""
    return tuple(
        WritePath(full, "edit" if os.path.lexists(without_nul(full)) else "create") for full in ground.absolute(path)
    )


def fit(given: Given, groups: Sequence[frozenset[str]], extras: frozenset[str]) -> list[str] | None:
    """One string for each group, if those keys and plain extras are all that is given."""
    used: dict[str, str] = {}
    for group in groups:
        keys = [key for key in given if key in group and key not in used]
        value = given[keys[0]] if len(keys) == 1 else None
        if not isinstance(value, str):
            return None
        used[keys[0]] = value
    rest = given.keys() - used.keys()
    plain = all(isinstance(given[key], str | int | float | bool) for key in rest)
    return list(used.values()) if rest <= extras and plain else None


def without_nul(path: str) -> str:
    """The path for a look at the disk; one with a NUL leads nowhere."""
    return path.replace("\0", "\ufffd")


def _possible(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if len(path) <= PATH_LENGTH]
