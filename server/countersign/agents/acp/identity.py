"""What a command line starts: the resolved program or package, its version and a digest of its content.

Nothing that an agent says of itself enters here. A package tells its name and version in its ``package.json``, which
anybody can write; its digest says whether its files are those that were measured. What lies in the workspace has no
digest: a repository can hold any name, and the agent can change what lies there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from countersign.agents.acp.recipe import Recipe
from countersign.wire.base import Json

EXACT = re.compile(r"(?P<name>(?:@[\w.-]+/)?[\w.-]+)@(?P<version>\d+\.\d+\.\d+(?:-[\w.]+)?)")
PLATFORM = re.compile(r"-(?:linux|darwin|win32|windows)-(?:x64|arm64)(?:-\w+)*$")
LAUNCHERS = frozenset(("node", "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"))
"""Programs that start the agent which they are given."""
MOST_PARENTS = 12
"""Folders above a program in which its package is looked for."""
LARGEST_PACKAGE = 1 << 20
"""Bytes of a ``package.json`` that is read."""
MOST_CONTENT = 2 << 30
"""Bytes of one agent that are digested; a larger one has no digest."""
MOST_FILES = 20_000
"""Files of one agent that are digested."""
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Identity:
    """One agent as it is installed. ``program`` is its resolved path; ``digest`` is None where its content was not
    read."""

    program: str
    package: str | None = None
    version: str | None = None
    digest: str | None = None

    @property
    def key(self) -> str:
        """The text under which falls and probes of it are stored."""
        return self.digest or f"path:{self.program}"


def identify(
    recipe: Recipe,
    command: Sequence[str],
    environment: Mapping[str, str],
    workspace: str,
    folder: str | None = None,
) -> Identity | None:
    """Return what this command line starts in ``folder`` (the workspace unless given), or None where that is not known.
    Reads the disk, some 200 MB at most."""
    folder = folder or workspace
    program = started_program(command, environment, folder)
    if program is None:
        return None
    package = package_of(program)
    inside = any(program.is_relative_to(os.path.realpath(each)) for each in (workspace, folder))
    if package is None:
        return Identity(str(program), digest=None if inside else _digest([program]))
    home, name, version = package
    digest = None if inside else _digest([program, *_parts(home, name, recipe)])
    return Identity(str(program), PLATFORM.sub("", name), version, digest)


def started_program(command: Sequence[str], environment: Mapping[str, str], folder: str) -> Path | None:
    """Return the resolved program that this command line starts in ``folder``, None where that is not known."""
    word = _started(command)
    if word is None:
        return None
    if os.path.basename(command[0]) == "npx":
        return cached_by_npx(command, environment, folder)
    named = os.path.join(folder, word)
    found = shutil.which(word, path=environment.get("PATH")) if os.sep not in word else named
    return Path(os.path.realpath(found)) if found is not None and os.path.isfile(found) else None


def _started(command: Sequence[str]) -> str | None:
    """The program or package that the command line starts: its first word, or what a launcher is given first."""
    words = list(command)
    if words and os.path.basename(words[0]) in LAUNCHERS:
        words = [word for word in words[1:] if not word.startswith("-") and word not in ("exec", "x", "dlx")]
    return words[0] if words else None


def cached_by_npx(command: Sequence[str], environment: Mapping[str, str], folder: str) -> Path | None:
    """The program of a package that ``npx`` has installed, by its cache's naming; None before the first start.

    A package of the folder it is started in, or of one above, would be run in its place, and an ``.npmrc`` there can
    name another registry; then nothing is known.
    """
    word = next((word for word in command[1:] if not word.startswith("-")), "")
    exact = EXACT.fullmatch(word)
    plain = all(word in ("-y", "--yes") for word in command[1 : command.index(word)]) if word else False
    if exact is None or not plain:
        return None
    for above in (Path(folder), *Path(folder).parents):
        if os.path.lexists(above / "node_modules" / exact["name"]) or os.path.lexists(Path(folder) / ".npmrc"):
            return None
        if os.path.lexists(above / "node_modules" / ".bin" / word):  # npx runs that, whatever its name is
            return None
    home = environment.get("HOME") or os.path.expanduser("~")
    cache = environment.get("npm_config_cache") or os.path.join(home, ".npm")
    key = hashlib.sha512(word.encode()).hexdigest()[:16]
    package = Path(cache) / "_npx" / key / "node_modules" / exact["name"]
    read = _read_package(package / "package.json")
    binary = read.get("bin")
    target = next(iter(binary.values()), None) if isinstance(binary, dict) else binary
    if read.get("version") != exact["version"] or not isinstance(target, str):
        return None
    return Path(os.path.realpath(package / target))


def package_of(program: Path) -> tuple[Path, str, str] | None:
    """The package that a program belongs to: its folder, name and version."""
    for folder in list(program.parents)[:MOST_PARENTS]:
        package = _read_package(folder / "package.json")
        name, version = package.get("name"), package.get("version")
        if isinstance(name, str) and isinstance(version, str):
            return folder, name, version
    return None


def _parts(folder: Path, name: str, recipe: Recipe) -> Iterator[Path]:
    """The folders whose content is the agent: its package, and those packages of its family that it depends on."""
    scope = f"{name.partition('/')[0]}/*" if name.startswith("@") else f"{name}*"
    seen: set[Path] = set()
    waiting = [folder]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        yield at
        package = _read_package(at / "package.json")
        for kind in ("dependencies", "optionalDependencies"):
            wanted = package.get(kind)
            for other in wanted if isinstance(wanted, dict) else ():
                if any(fnmatchcase(other, pattern) for pattern in (scope, *recipe.parts)):
                    waiting += [found for base in at.parents if (found := base / "node_modules" / other).is_dir()][:1]
                    waiting += [found] if (found := at / "node_modules" / other).is_dir() else []


def _digest(parts: Sequence[Path]) -> str | None:
    """The SHA-256 over names and bytes of these files and of all files in these folders, without what is installed
    below them; the same wherever they lie."""
    try:
        files = sorted(_files(parts))
        stamp = tuple((name, *_stamp(path)) for name, path in files)
    except (OSError, _TooMuch):
        return None
    with _known_lock:
        known = _known.get(stamp)
    if known is not None:
        return known
    if sum(path.stat().st_size for _, path in files) > MOST_CONTENT:
        return None
    whole = hashlib.sha256()
    try:
        for name, path in files:
            with open(path, "rb") as file:
                whole.update(
                    f"{name}\0".encode(errors="surrogateescape") + hashlib.file_digest(file, "sha256").digest()
                )
    except OSError:
        return None
    digest = f"sha256:{whole.hexdigest()}"
    with _known_lock:
        _known[stamp] = digest
    return digest


_known: dict[tuple[object, ...], str] = {}
_known_lock = threading.Lock()


class _TooMuch(Exception):
    """There are more files than are digested."""


def _files(parts: Sequence[Path]) -> set[tuple[str, Path]]:
    found: set[tuple[str, Path]] = set()
    for part in parts:
        if not part.is_dir():
            if not any(part.is_relative_to(other) for other in parts if other is not part):
                found.add((part.name, part))
            continue
        name = _read_package(part / "package.json").get("name")
        for folder, folders, names in os.walk(part):
            folders[:] = [each for each in folders if each != "node_modules"]
            for each in names:
                path = Path(folder, each)
                if path.is_file():
                    found.add((f"{name}/{path.relative_to(part)}", path))
                if len(found) > MOST_FILES:
                    raise _TooMuch
    return found


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes with every change of a file; nobody can set the last of these back."""
    state = path.stat()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _read_package(path: Path) -> dict[str, Json]:
    try:
        if path.stat().st_size > LARGEST_PACKAGE:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
