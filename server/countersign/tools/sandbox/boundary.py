"""The description of a sandbox: plain values, the same for every operating system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Network = Literal["none", "hosts", "all"]


@dataclass(frozen=True, slots=True)
class SandboxRoot:
    """One folder that the sandbox shows at its own path, with what is different below it.

    All paths are absolute and resolved. ``hidden_files`` and ``hidden_folders`` are there and cannot be opened,
    ``blank_files`` and ``blank_folders`` are there and empty; git refuses to add a blank file. ``read_only`` cannot
    be changed, ``missing_folders`` and ``missing_files`` (with their text) cannot be made: something read-only
    stands in their place that nothing outside sees. ``protected`` are the protected names that were there, and
    the links that led out of git folders.
    Nothing can be made in the folders ``closed``; of what is there, ``open`` can be changed.
    ``of_git``: git keeps what lies there, and no name in it is protected but those that are locked.
    """

    path: str
    writable: bool = True
    hidden_files: tuple[str, ...] = ()
    hidden_folders: tuple[str, ...] = ()
    blank_files: tuple[str, ...] = ()
    blank_folders: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    missing_folders: tuple[str, ...] = ()
    missing_files: tuple[tuple[str, str], ...] = ()
    protected: tuple[str, ...] = ()
    of_git: bool = False
    closed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of outside, ``source``, that the sandbox shows at ``place``."""

    source: str
    place: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Additions:
    """What one program's sandbox has beside what the policy says of all.

    ``mounts`` are shown unless a rule denies reading their source. ``scratch`` are private folders in memory, where
    ``copies`` (path and text) stand. ``masked`` are paths in the folders of the sandbox that are hidden from this
    program; those of them in ``blanked`` are empty for it, because it does not start where it cannot open them.
    ``proxied``: it has the proxy's way out even where the policy opens no network.
    """

    mounts: tuple[Mount, ...] = ()
    scratch: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    masked: tuple[str, ...] = ()
    blanked: tuple[str, ...] = ()
    proxied: bool = False


@dataclass(frozen=True, slots=True)
class Boundary:
    """Everything a program in the sandbox can reach. What is named nowhere here does not exist in it.

    ``roots`` hold each other nowhere. ``tools`` are read-only paths below the home. ``private_home`` is False where
    the home lies in a root. ``repositories`` are read-only folders of git outside the roots, to which work trees in
    them belong; other roots may lie in these. ``mounts``, ``scratch`` and ``copies`` are this program's own
    (``Additions``). ``gaps`` are rules that mounts cannot express in full, each with the reason; ``git_user`` is the
    name and address that commits are made with.
    """

    roots: tuple[SandboxRoot, ...]
    home: str
    private_home: bool = True
    tools: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    network: Network = "none"
    gaps: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()
    scratch: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    git_user: tuple[str, str] | None = None
