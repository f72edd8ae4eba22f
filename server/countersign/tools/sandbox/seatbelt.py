"""A boundary for macOS: the text of a profile, and the words that start a command under it by ``sandbox-exec``.

Untested: no macOS has read a profile of ours; the tests compare text. What makes that bearable is that the profile
denies whatever it does not name, and that a try-out at the start decides whether there is a sandbox at all.

Later rules win over earlier ones. A deny by path covers files that are made or replaced later, so nothing is mounted.
"""

from __future__ import annotations

import marshal
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from countersign.tools.sandbox.boundary import Boundary

PROGRAM = "/usr/bin/sandbox-exec"
"""Part of the system; never one that is found on a path."""
STARTED = '"exit-code"'
"""What is said on the status descriptor once the profile holds, in the words of bubblewrap."""

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/opt", "/System", "/Library", "/Applications/Xcode.app", "/private/etc",
    "/private/var/db/dyld", "/System/Volumes/Preboot/Cryptexes", "/private/var/select", "/dev",
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
    yield _rule("allow", "file-read*", ("/",), exact=True)
    yield _rule("allow", "file-read*", (*_SYSTEM, *boundary.tools, *boundary.repositories))
    yield _rule("deny", "file-read*", _SYSTEM_SECRETS)
    yield _rule("allow", "file-write-data", _DEVICES)
    yield _rule("allow", "file-read* file-write*", (temporary,))
    for root in boundary.roots:
        yield _rule("allow", "file-read* file-write*" if root.writable else "file-read*", (root.path,))
    for root in boundary.roots:
        missing = (*root.missing_folders, *(path for path, _text in root.missing_files))
        locked = (*root.read_only, *missing)
        yield from _some("deny", "file-write*", locked)
        # Names that are not there yet can be made in any case of letters, and mean the same to most disks of macOS.
        if missing:
            yield f"(deny file-write* {' '.join(map(_any_case, missing))})"
        # A folder on the way to what is covered cannot be renamed, or its name would be free.
        blank = (path for path in (*root.blank_files, *root.blank_folders) if path not in missing)
        hidden = (*root.hidden_files, *root.hidden_folders, *blank)
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


def _any_case(path: str) -> str:
    """A filter for this path and what lies below it, its last name in any case of letters."""
    folder, _, name = _plain(path).rpartition("/")
    letters = (f"[{each.lower()}{each.upper()}]" if each.isalpha() else re.escape(each) for each in name)
    return f'(regex #"^{re.escape(folder)}/{"".join(letters)}(/.*)?$")'


def _plain(path: str) -> str:
    if any(ord(character) < 32 or character == '"' for character in path):
        raise ValueError("a path with a control character or a quotation mark cannot stand in a profile")
    return path


def _quoted(path: str) -> str:
    """A path as a string of the profile's language.

    Raises:
        ValueError: it holds a character that no such string is known to hold.
    """
    if any(ord(character) < 32 for character in path):
        raise ValueError("a path with a control character cannot stand in a profile")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


class SeatbeltRun:
    """The folder of one run on macOS: its profile, and its private temporary folder with a home in it."""

    groups: tuple[Path, ...] = ()

    def __init__(self, base: Path) -> None:
        self._base = base
        self.name = base.name

    @classmethod
    def blocking_make(cls, storage: Path, prefix: str, boundary: Boundary) -> SeatbeltRun:
        """Make it, and write the profile into it, which nothing under the profile can read.

        Raises:
            ValueError: a path cannot stand in a profile.
            OSError: it cannot be written.
        """
        base = Path(os.path.realpath(storage)) / f"{prefix}{os.getpid()}-{secrets.token_hex(6)}"
        base.mkdir(mode=0o700)
        run = cls(base)
        try:
            os.mkdir(run.temporary)
            with open(base / "profile", "x", encoding="utf-8") as file:
                file.write(profile(boundary, run.temporary))
            if boundary.git_user is not None:
                name, email = (text.replace("\\", "\\\\").replace('"', '\\"') for text in boundary.git_user)
                with open(run.git_settings, "x", encoding="utf-8") as file:
                    file.write(f'[user]\n\tname = "{name}"\n\temail = "{email}"\n')
        except BaseException:
            run.blocking_remove()
            raise
        return run

    @property
    def temporary(self) -> str:
        return str(self._base / "temporary")

    @property
    def git_settings(self) -> str:
        return os.path.join(self.temporary, "gitconfig")

    def environment(self) -> dict[str, str]:
        """The folder for temporary files, and git's settings of the person, of which it sees the name alone."""
        return {"TMPDIR": self.temporary, "GIT_CONFIG_GLOBAL": self.git_settings}

    def words(self, said: int) -> list[str]:
        """What stands before the command. The shell says that the profile holds, and lets go of what it says it by."""
        script = f"printf '%s' '{STARTED}' >&{said}; exec {said}>&-; exec \"$@\""
        return [PROGRAM, "-f", str(self._base / "profile"), "/bin/bash", "--norc", "--noprofile", "-c", script, "bash"]

    def description(self, said: int) -> bytes:
        """What ``namespaces.py`` reads."""
        return marshal.dumps({"words": self.words(said), "status": said})

    def blocking_remove(self) -> None:
        shutil.rmtree(self._base, ignore_errors=True)


def is_there(program: str = PROGRAM) -> bool:
    return os.access(program, os.X_OK)
