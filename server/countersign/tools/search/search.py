"""``search``: lines of files that match a regular expression.

Files are opened here, by descriptor and within bounds; matching is left to a child process (``matcher``), because a
pattern that never ends would otherwise hold up everybody.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import sys
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from countersign.gate import BadArguments, Effect, Outcome, Permit, Stale
from countersign.settings.policy import Policy
from countersign.tools.access import Screen, freely_read
from countersign.tools.arguments import Arguments
from countersign.tools.clip import lines_that_fit
from countersign.tools.files.safe_open import complaint, held_folder, look
from countersign.tools.files.text import looks_binary
from countersign.tools.files.walk import Walk, held_for_listing, known_files, walk
from countersign.tools.places import Place, inside_workspace, locate
from countersign.tools.search.ripgrep import RIPGREP_SERVICE, files_with_any, required_strings
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title, file_name, visible
from countersign.wire.approvals import Location, ToolKind, ToolPreview
from countersign.wire.verdicts import Category

MOST_PATTERN = 1000
MOST_HITS = 500
MOST_FILES = 20_000
MOST_FILE_BYTES = 2 << 20
MOST_BYTES = 128 << 20
BATCH_BYTES = 2 << 20
LINE_WIDTH = 300
SECONDS = 20.0
"""Of the whole search. A pattern that is not done by then is hopeless."""

Batch = list[tuple[str, str]]
"""Texts with the paths they are shown by."""

_FRAME_LIMIT = 64 << 20
"""A child's answer to one batch is one line; hits are bounded, so it is far shorter than this."""


@dataclass(slots=True)
class Tally:
    """What one search passed by."""

    files: int = 0
    size: int = 0
    kept_back: int = 0
    long: int = 0
    whole: bool = True
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class SearchPlan:
    pattern: str
    place: Place
    prefix: str


@dataclass(frozen=True, slots=True)
class _Looking:
    """One search at work: ``screen`` is of the rules as they are now, ``candidates`` the only files that can match."""

    plan: SearchPlan
    screen: Screen
    candidates: list[str] | None = None
    tally: Tally = field(default_factory=Tally)


class SearchArguments(Arguments):
    pattern: str = Field(description="A Python regular expression, searched for in each line.")
    path: str = Field(default=".", description="A file or a folder; everything below it is searched.")


class Search:
    """Searches text files. Skips binary files, ``.git``, links, and secret files that the path does not name."""

    name = "search"
    kind: ToolKind = "search"
    category: Category = "read"
    description = (
        "Search the lines of files for a Python regular expression. Results are lines of path:line:text. Binary files, "
        ".git, links, secret files and what .gitignore excludes are skipped; name an excluded folder to search it."
    )
    arguments = SearchArguments

    def effects(self, arguments: SearchArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path, policy).reads()

    def prepare(self, arguments: SearchArguments, policy: Policy) -> Prepared[SearchPlan]:
        _compiled(arguments.pattern)
        place = locate(arguments.path, policy)
        prefix = "" if place.shown == "." else place.shown + "/"
        return Prepared(
            effects=place.reads(),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"Search {place.shown} for {arguments.pattern}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved),) if inside_workspace(place.resolved, policy) else (),
            payload=SearchPlan(arguments.pattern, place, prefix),
        )

    async def run(self, permit: Permit, prepared: Prepared[SearchPlan], bench: ToolContext) -> Outcome:
        """Cancelled: the child is killed."""
        spend(permit, prepared)
        plan = prepared.payload
        plan.place.same_or_stale()
        looking = _Looking(plan, Screen(bench.policy(), plan.place))
        hits: list[str] = []
        late = False
        try:
            async with asyncio.timeout(SECONDS):
                program = bench.services.get(RIPGREP_SERVICE)
                candidates = None if program is None else await _candidates(program(), plan, bench.policy())
                looking = replace(looking, candidates=candidates)
                await _search(looking, hits)
        except TimeoutError:
            late = True
        except BrokenPipeError:
            late = True
        except (BadArguments, OSError) as error:
            told = complaint(error, plan.place.shown) if isinstance(error, OSError) else str(error)
            return Outcome(False, told)
        return _outcome(looking.tally, hits, late)


def _outcome(tally: Tally, hits: list[str], late: bool) -> Outcome:
    fit = lines_that_fit(hits)
    marks: list[str] = []
    if fit < len(hits) or len(hits) >= MOST_HITS:
        marks.append(f"cut here after {fit} lines; narrow the pattern or the path down")
    if late:
        marks.append(f"stopped after {SECONDS:.0f} s; use a simpler pattern or a narrower path")
    elif not tally.whole:
        marks.append(f"stopped after {tally.files} files; search a narrower path")
    if tally.long:
        marks.append(f"{tally.long} files over {MOST_FILE_BYTES >> 20} MiB were skipped")
    if tally.kept_back:
        marks.append(f"{tally.kept_back} files that are secret or held back by a rule were skipped")
    shown = "\n".join(hits[:fit]) or "[nothing matches]"
    shown += "".join(f"\n[{mark}]" for mark in marks)
    return Outcome(not (late and not hits), shown, record={"matches": len(hits), "files": tally.files})


async def _candidates(program: str | None, plan: SearchPlan, policy: Policy) -> list[str] | None:
    """The files of the workspace that can match, by ripgrep; None where only looking tells."""
    strings = required_strings(plan.pattern)
    below = _folder_below(plan.place, policy)
    if program is None or not strings or below is None:
        return None
    return await files_with_any(program, strings, *below, lambda path: freely_read(locate(path, policy), policy))


def _folder_below(place: Place, policy: Policy) -> tuple[str, str] | None:
    """The resolved workspace and the folder of the search relative to it; None for a file and what lies outside."""
    if not inside_workspace(place.resolved, policy) or not os.path.isdir(place.resolved):
        return None
    workspace = os.path.realpath(policy.workspace)
    return workspace, os.path.relpath(place.resolved, workspace)


async def _search(looking: _Looking, hits: list[str]) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-E", str(Path(__file__).with_name("matcher.py")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_FRAME_LIMIT,
        env={"PYTHONIOENCODING": "utf-8"},
        process_group=0,
    )  # fmt: skip
    try:
        task = {"pattern": looking.plan.pattern, "most": MOST_HITS, "width": LINE_WIDTH, "seconds": int(SECONDS)}
        said = await _exchange(child, task)
        if said["error"] is not None:
            raise BadArguments(f"the pattern is not a regular expression: {said['error']}")
        with closing(_batches(looking)) as batches:
            while len(hits) < MOST_HITS and (batch := await _next(batches, looking.tally)) is not None:
                for path, number, text in await _exchange(child, batch):
                    hits.append(f"{path}:{number}:{visible(text)}")
    finally:
        with suppress(ProcessLookupError):
            child.kill()
        assert child.stdin is not None
        child.stdin.close()
        await child.wait()


async def _next(batches: Iterator[Batch], tally: Tally) -> Batch | None:
    """The next batch, read in a thread. Cancelled: the thread stops at the next file, and is waited for."""
    reading = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
    try:
        return await asyncio.shield(reading)
    except asyncio.CancelledError:
        tally.stopped = True
        await asyncio.wait([reading])
        raise


async def _exchange(child: asyncio.subprocess.Process, value: Any) -> Any:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps(value).encode() + b"\n")
    await child.stdin.drain()
    line = await child.stdout.readline()
    if not line.endswith(b"\n"):
        # It ran out of processor time, which is as if its time were over.
        raise BrokenPipeError
    return json.loads(line)


def _batches(looking: _Looking) -> Generator[Batch, None, None]:
    batch: Batch = []
    size = 0
    for path, data in _files(looking):
        batch.append((path, data.decode("utf-8", "replace")))
        size += len(data)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _files(looking: _Looking) -> Iterator[tuple[str, bytes]]:
    """Each text file with the path it is shown by, within the bounds of one search."""
    plan, tally = looking.plan, looking.tally
    place = plan.place
    with held_folder(place.folder) as folder:
        if place.name and not stat.S_ISDIR(os.stat(place.name, dir_fd=folder, follow_symlinks=False).st_mode):
            data = _text(looking, folder, place.name, "")
            if data is not None:
                yield place.shown, data
            return
    with held_for_listing(place.resolved) as folder, closing(_walk(looking, folder)) as walked:
        for item in walked:
            if tally.stopped:
                return
            if item.entry.kind != "file":
                continue
            if tally.files >= MOST_FILES or tally.size >= MOST_BYTES:
                tally.whole = False
                return
            # A file that is gone, or not for us, is passed by.
            with suppress(OSError, Stale):
                data = _text(looking, item.folder, item.entry.name, item.path)
                if data is not None:
                    yield plan.prefix + file_name(item.path), data


def _walk(looking: _Looking, folder: int) -> Walk:
    enters = looking.screen.enters
    return walk(folder, enters) if looking.candidates is None else known_files(folder, looking.candidates, enters)


def _text(looking: _Looking, folder: int, name: str, below: str) -> bytes | None:
    """The bytes of a text file that may be looked into, else None."""
    tally = looking.tally
    if not looking.screen.opens(below):
        # A file that holds one of the strings must not be told from one that does not.
        tally.kept_back += looking.candidates is None
        return None
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if status.st_size > MOST_FILE_BYTES:
        tally.long += 1
        return None
    seen = look(folder, name, MOST_FILE_BYTES)
    tally.files += 1
    tally.size += seen.size
    return None if seen.data is None or looks_binary(seen.data) else seen.data


def _compiled(pattern: str) -> None:
    if not pattern or len(pattern) > MOST_PATTERN:
        raise BadArguments(f"the pattern must have 1 to {MOST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadArguments(f"the pattern is not a regular expression: {error}") from None
