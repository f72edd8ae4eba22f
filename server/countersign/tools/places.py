"""A tool's path argument, and where it leads.

A path is literal: no variables, no URL decoding, only a leading ``~/`` is expanded. It is normalised as text first and
then resolved, and the tool acts on the resolved path alone. The effects name both spellings where they differ, so that
the gate judges the very object that is opened, whatever a link says by then.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Literal

from countersign.gate import BadArguments, ReadPath, Stale, WritePath
from countersign.settings.policy import Policy
from countersign.tools.visible import visible

PATH_LENGTH = 4096
"""Bytes of a path, at most, as on Linux."""

Operation = Literal["create", "edit", "delete", "move"]


@dataclass(frozen=True, slots=True)
class Place:
    """``asked`` is absolute and normalised as text, ``resolved`` what it led to when the call was prepared.

    ``shown`` is for people: relative to the workspace where it lies inside, with unseen characters as escapes.
    """

    asked: str
    resolved: str
    shown: str

    @property
    def name(self) -> str:
        return os.path.basename(self.resolved)

    @property
    def folder(self) -> str:
        return os.path.dirname(self.resolved)

    def reads(self) -> tuple[ReadPath, ...]:
        """Effects of reading this file, or of listing this folder."""
        return tuple(ReadPath(path) for path in self._spellings())

    def writes(self, operation: Operation) -> tuple[WritePath, ...]:
        """Effects of changing this file."""
        return tuple(WritePath(path, operation) for path in self._spellings())

    def is_link(self) -> bool:
        """Whether the last part of the asked path is a link now."""
        return os.path.islink(self.asked)

    def same_or_stale(self) -> None:
        """Look again where the asked path leads.

        Raises:
            Stale: it leads elsewhere now.
        """
        try:
            leads_to = os.path.realpath(self.asked)
        except OSError:
            leads_to = None
        if leads_to != self.resolved:
            raise Stale(f"`{self.shown}` leads to another place than before")

    def _spellings(self) -> tuple[str, ...]:
        return (self.asked,) if self.asked == self.resolved else (self.asked, self.resolved)


def locate(path: str, policy: Policy) -> Place:
    """Where this argument leads; relative paths start at the workspace.

    Raises:
        BadArguments: no path of any file could look like this.
    """
    if not path:
        raise BadArguments("the path is empty; name a file or a folder")
    if "\0" in path or not _is_utf8(path):
        raise BadArguments(f"`{visible(path[:80])}` cannot be a path")
    if len(path.encode()) > PATH_LENGTH:
        raise BadArguments(f"the path is longer than {PATH_LENGTH} bytes")
    if path.startswith("~/"):
        path = policy.home + path[1:]
    asked = os.path.normpath(os.path.join(policy.workspace, path))
    if asked.startswith("//"):
        # POSIX lets two leading slashes mean something else; here they never do.
        asked = asked[1:]
    resolved = _resolved(asked)
    return Place(asked, resolved, _shown(resolved, policy.workspace))


def inside_workspace(path: str, policy: Policy) -> bool:
    """Whether this resolved path is the workspace or below it."""
    workspace = os.path.realpath(policy.workspace)
    return path == workspace or path.startswith(workspace.rstrip("/") + "/")


def _resolved(asked: str) -> str:
    try:
        return os.path.realpath(asked, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadArguments(f"the links of `{visible(asked)}` lead in a circle") from None
        # What exists and can be read is resolved, the rest is taken as text.
    try:
        return os.path.realpath(asked)
    except OSError as error:
        # `/proc/1/cwd` of another user's process: even without `strict` the link itself must be readable.
        raise BadArguments(f"`{visible(asked)}` leads through a link that cannot be read ({error.strerror})") from None


def _shown(resolved: str, workspace: str) -> str:
    workspace = os.path.realpath(workspace)
    if resolved == workspace:
        return "."
    prefix = workspace.rstrip("/") + "/"
    return visible(resolved.removeprefix(prefix))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
