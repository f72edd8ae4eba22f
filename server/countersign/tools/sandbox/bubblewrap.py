"""A boundary as bubblewrap and ``namespaces.py`` take it: what is mounted on each folder, and bubblewrap's options.

Plain functions over values and one look at which system folders there are. Names go to bubblewrap by a descriptor,
never on its command line, where every program in the sandbox could read them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

from countersign.tools.sandbox.boundary import Boundary, SandboxRoot
from countersign.tools.sandbox.survey import lies_below
from countersign.tools.sandbox.system_paths import SYSTEM, SYSTEM_SECRET_NAMES, SYSTEM_SECRETS

Cover = tuple[str, str]
"""What is mounted on a path below a root: ``file`` and ``folder`` hide it, ``missing`` is an empty read-only folder,
``blank`` an empty file,
``read-only``, ``open`` and ``pin`` are the path itself: ``open`` can be changed though it lies in what is read-only,
``pin`` cannot be renamed."""

NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox",
)  # fmt: skip
MOST_IN_MEMORY = 1 << 30
"""Bytes that /tmp and the private home hold, each: they are in memory."""
MOST_SHARED = 256 << 20
"""Bytes of shared memory."""


def covers_of(root: SandboxRoot) -> list[Cover]:
    """What to mount below this root, each path relative to it, a folder before what lies in it.

    Every folder on the way to something covered is pinned: else it is renamed, and another of its name takes its place.
    """
    covers: dict[str, str] = {}
    for kind, paths in (
        ("read-only", root.closed),
        # Not where a rule or a protection locks all around it: what is mounted later wins.
        ("open", [path for path in root.open if not any(lies_below(path, locked) for locked in root.read_only)]),
        ("read-only", root.read_only),
        ("read-only", [path for path, _text in root.missing_files]),
        ("missing", (*root.missing_folders, *root.blank_folders)),
        ("blank", root.blank_files),
        ("file", root.hidden_files),
        ("folder", root.hidden_folders),
    ):
        for path in paths:
            covers[below(path, root.path)] = kind
    hidden = {name for name, kind in covers.items() if kind in ("folder", "missing")}
    kept = {name: kind for name, kind in covers.items() if hidden.isdisjoint(_parents(name))}
    for name in tuple(kept):
        for parent in _parents(name):
            kept.setdefault(parent, "pin")
    return [(kept[name], name) for name in sorted(kept, key=lambda name: name.split(os.sep))]


def below(path: str, root: str) -> str:
    """A path in this folder as it is counted from there; both absolute and resolved."""
    return path[len(root.rstrip("/")) + 1 :]


def options(boundary: Boundary, cwd: str) -> list[str]:
    """bubblewrap's options for this boundary, but for seccomp and what it copies from descriptors."""
    # With a proxy, the network namespace is made before, so that the proxy's socket is in it.
    words = [*NAMESPACES, *(("--unshare-net",) if boundary.network == "none" else ()), *_system()]
    # Read-only as a whole: what root owns there, the kernel's settings among it, root may write without a capability.
    words += [
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--remount-ro",
        "/proc",
        "--size",
        str(MOST_SHARED),
        "--tmpfs",
        "/dev/shm",
    ]
    words += ["--size", str(MOST_IN_MEMORY), "--tmpfs", "/tmp", "--dir", "/run"]
    # A link, as one private folder is enough; nothing can be mounted below a link.
    places = itertools.chain(
        (root.path for root in boundary.roots),
        (mount.place for mount in boundary.mounts),
        boundary.scratch,
        boundary.repositories,
    )
    if any(lies_below(path, "/var/tmp") for path in places):
        words += ["--size", str(MOST_IN_MEMORY), "--tmpfs", "/var/tmp"]
    else:
        words += ["--symlink", "/tmp", "/var/tmp"]
    if boundary.private_home:
        words += ["--size", str(MOST_IN_MEMORY), "--tmpfs", boundary.home]
        for path in boundary.tools:
            words += ["--ro-bind", path, path]
    for path in sorted(boundary.scratch):
        words += ["--size", str(MOST_IN_MEMORY), "--tmpfs", path]
    for path in boundary.repositories:
        words += ["--ro-bind", path, path]
    # Before the folders: what these show and hide stands, whatever is mounted beside them.
    for mount in boundary.mounts:
        words += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.place]
    for root in sorted(boundary.roots, key=lambda root: root.path):
        # What is mounted there opens no device already, but for the blank files, which are one.
        words += ["--dev-bind" if root.writable else "--ro-bind", root.path, root.path]
        for path in () if root.writable else root.blank_files:
            words += ["--dev-bind", "/dev/null", path]
    return [*words, "--remount-ro", "/", "--chdir", cwd]


def _system() -> Iterator[str]:
    for path in SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.exists(path):
            yield from ("--ro-bind", path, path)


def system_covers() -> list[Cover]:
    """What to mount on the system's secrets, by absolute paths, before bubblewrap takes the system's folders over: for
    each mount of its own it reads the whole table of mounts."""
    found = [path for path in _system_secrets() if os.path.exists(path)]
    return [("folder" if os.path.isdir(path) else "file", path) for path in found]


def _system_secrets() -> Iterator[str]:
    yield from SYSTEM_SECRETS
    for folder, beginning in SYSTEM_SECRET_NAMES:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names if name.startswith(beginning))


def _parents(name: str) -> Iterator[str]:
    parent = os.path.dirname(name)
    while parent:
        yield parent
        parent = os.path.dirname(parent)
