"""A boundary as a profile of macOS's ``sandbox-exec``: text only. Nothing starts a command with it yet, and no macOS
has read it; the tests compare text.

Later rules win over earlier ones. A deny by path covers files that are made or replaced later, so nothing is mounted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from countersign.tools.sandbox.boundary import Boundary

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/opt", "/System", "/Library", "/Applications/Xcode.app", "/private/etc",
    "/private/var/db/dyld", "/private/var/select", "/dev",
)  # fmt: skip
_SYSTEM_SECRETS = ("/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/ssh", "/Library/Keychains")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/random", "/dev/urandom")


def profile(boundary: Boundary, temporary: str) -> str:
    """The profile; ``temporary`` is a resolved folder of this run's own."""
    return "\n".join((*_lines(boundary, temporary), ""))


def _lines(boundary: Boundary, temporary: str) -> Iterator[str]:
    yield from (
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork)",
        "(allow signal (target same-sandbox))",
    )
    yield "(allow sysctl-read)"
    yield "(allow file-read-metadata)"
    yield _rule("allow", "file-read*", (*_SYSTEM, *boundary.tools))
    yield _rule("deny", "file-read*", _SYSTEM_SECRETS)
    yield _rule("allow", "file-write-data", _DEVICES)
    yield _rule("allow", "file-read* file-write*", (temporary,))
    for root in boundary.roots:
        yield _rule("allow", "file-read* file-write*" if root.writable else "file-read*", (root.path,))
    for root in boundary.roots:
        locked = (*root.read_only, *root.missing_folders, *(path for path, _text in root.missing_files))
        yield from _some("deny", "file-write*", locked)
        # A folder on the way to what is covered cannot be renamed, or its name would be free.
        hidden = (*root.hidden_files, *root.hidden_folders)
        yield from _some("deny", "file-write-unlink", _above((*locked, *hidden), root.path), exact=True)
        yield from _some("deny", "file-read-data file-read-xattr file-write*", hidden)
    yield "(deny network*)"


def _above(paths: Iterable[str], root: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in paths:
        parent = path.rpartition("/")[0]
        while len(parent) > len(root):
            found[parent] = None
            parent = parent.rpartition("/")[0]
    return tuple(found)


def _some(verdict: str, operations: str, paths: tuple[str, ...], *, exact: bool = False) -> Iterator[str]:
    if paths:
        yield _rule(verdict, operations, paths, exact=exact)


def _rule(verdict: str, operations: str, paths: Iterable[str], *, exact: bool = False) -> str:
    kind = "literal" if exact else "subpath"
    places = " ".join(f"({kind} {_quoted(path)})" for path in paths)
    return f"({verdict} {operations} {places})"


def _quoted(path: str) -> str:
    """A path as a string of the profile's language.

    Raises:
        ValueError: it holds a character that no such string is known to hold.
    """
    if any(ord(character) < 32 for character in path):
        raise ValueError("a path with a control character cannot stand in a profile")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
