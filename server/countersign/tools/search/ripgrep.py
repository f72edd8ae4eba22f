"""Ripgrep as a filter before a search: which files can hold a match at all.

It is given fixed strings of which every match holds one, so it finds at least every file that the search would, but for
those that `.gitignore` excludes (``ignore_files.py``). It decides nothing else: each file it names is screened, opened
by descriptor and matched as without it, and what it says of other files reaches nobody, not even as a count: that would
tell what they hold.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from countersign.gate import in_worker
from countersign.tools.files.walk import in_walking_order
from countersign.tools.search.ignore_files import blocking_patterns, folders_above

RIPGREP_SERVICE = "ripgrep"
"""The path of the program among the services of a tool; absent if it is not installed."""
MOST_STRINGS = 32
SHORTEST = 2
"""Characters of a string that is worth looking for."""
MOST_NAMES = 16 << 20
"""Bytes of file names that are read at once."""
_ARGUMENTS = (
    "--no-config", "--files-with-matches", "--null", "--fixed-strings", "--case-sensitive", "--text", "--encoding",
    "none", "--hidden", "--no-follow", "--no-messages", "--no-require-git", "--no-ignore-parent", "--no-ignore-dot",
    "--no-ignore-vcs", "--no-ignore-exclude", "--no-ignore-global", "--glob", "!.git", "--color", "never",
)  # fmt: skip


def usable_ripgrep(told: str | None, search_path: str | None, folders: Sequence[str]) -> str | None:
    """Return the program to use: the one that the editor ships, else ``rg`` of the search path.

    INVARIANT (quiet before trust): never one that lies in a folder of the workspace.
    """
    named = [os.path.join(part, "rg") for part in (search_path or "").split(os.pathsep) if os.path.isabs(part)]
    inside = [os.path.realpath(folder) for folder in folders]
    for path in [*([told] if told and os.path.isabs(told) else []), *named]:
        real = os.path.realpath(path)
        known = any(os.path.commonpath([real, folder]) == folder for folder in inside)
        if not known and os.path.isfile(real) and os.access(real, os.X_OK):
            return real
    return None


def required_strings(pattern: str) -> tuple[str, ...]:
    """Return strings of which every match of a Python pattern holds at least one; none where that cannot be said."""
    from re import _parser  # type: ignore[attr-defined]  # noqa: PLC0415 private, so its absence must do no harm

    try:
        parsed = _parser.parse(pattern)
        if parsed.state.flags & re.IGNORECASE:
            return ()
        found = _required(parsed)
    except (re.error, AttributeError, TypeError, ValueError, RecursionError, OverflowError):
        return ()
    return tuple(sorted(found)) if found and len(found) <= MOST_STRINGS else ()


async def files_with_any(
    program: str, strings: Sequence[str], workspace: str, below: str, opens: Callable[[str], bool]
) -> list[str] | None:
    """Return the paths, relative to the folder ``below`` of the workspace, of files that hold one of the strings.

    ``opens`` tells whether a `.gitignore` may be read. None where the program does not say: then the search looks by
    itself. Cancelled: the program is killed.
    """
    folders = set(folders_above("" if below == "." else f"{below}/"))
    patterns = await in_worker(blocking_patterns, workspace, folders, opens)
    found = await _run(program, strings, workspace, below, patterns)
    if found is None:
        return None
    every = folders.union(*map(folders_above, found))
    nested = await in_worker(blocking_patterns, workspace, every, opens)
    if nested != patterns:
        found = await _run(program, strings, workspace, below, nested)
    if found is None:
        return None
    start = "" if below == "." else f"{below}/"
    return in_walking_order(path.removeprefix(start) for path in found)


async def _run(program: str, strings: Sequence[str], workspace: str, below: str, patterns: bytes) -> list[str] | None:
    """Return the paths that the program names, relative to the workspace."""
    arguments = list(_ARGUMENTS)
    for string in strings:
        arguments += ["-e", string]
    with tempfile.TemporaryFile() as ignored:
        ignored.write(patterns)
        ignored.flush()
        ignored.seek(0)
        try:
            child = await asyncio.create_subprocess_exec(
                program, *arguments, "--ignore-file", f"/dev/fd/{ignored.fileno()}", "--", below,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=workspace,
                env={},
                process_group=0,
                pass_fds=(ignored.fileno(),),
            )  # fmt: skip
        except OSError:
            return None
        assert child.stdout is not None
        try:
            names = bytearray()
            while part := await child.stdout.read(1 << 16):
                names += part
                if len(names) > MOST_NAMES:
                    return None
            # Ended by a signal, or out of memory, it has named only some of the files.
            if await child.wait() not in (0, 1):
                return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            # What it had still to say is read, because asyncio waits for the end of a pipe too.
            while await child.stdout.read(1 << 16):
                pass
            await child.wait()
    return [os.fsdecode(name).removeprefix("./") for name in bytes(names).split(b"\0") if name]


def _required(items: Iterable[tuple[object, object]]) -> frozenset[str]:
    """Return the most telling of the strings that a sequence needs; empty where it needs none."""
    best: frozenset[str] = frozenset()
    for each in _needs(items):
        if min(map(len, each), default=0) > min(map(len, best), default=0):
            best = each
    return best


def _needs(items: Iterable[tuple[object, object]]) -> Iterator[frozenset[str]]:
    """Yield sets of strings; a match holds one of each."""
    run: list[str] = []
    for operation, value in items:
        if str(operation) == "LITERAL" and isinstance(value, int) and _is_plain(value):
            run.append(chr(value))
            continue
        if len(run) >= SHORTEST:
            yield frozenset({"".join(run)})
        run = []
        match str(operation), value:
            case "SUBPATTERN", (_, added, _, inner) if not added & re.IGNORECASE:  # type: ignore[operator]
                yield _required(inner)  # type: ignore[arg-type]
            case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (int(least), _, inner)) if least >= 1:
                yield _required(inner)  # type: ignore[arg-type]
            case "ATOMIC_GROUP", inner:
                yield _required(inner)  # type: ignore[arg-type]
            case "BRANCH", (_, list(choices)):
                needs = [_required(choice) for choice in choices]
                if all(needs):
                    yield frozenset().union(*needs)
            case _:
                pass
    if len(run) >= SHORTEST:
        yield frozenset({"".join(run)})


def _is_plain(code: int) -> bool:
    """Return whether a character has the same bytes in every text that holds it, and stands in one line."""
    return code not in (0, 10, 13, 0xFFFD) and not 0xD800 <= code <= 0xDFFF
