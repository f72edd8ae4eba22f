"""Watch the workspace while hosted agents work, and report changes without a permit within two seconds.

A watcher names no author. So a change counts against an agent only where nobody else can have made it: no other agent
works, nothing was saved in the editor, and no process of anybody else has a terminal or works in the workspace. Any
other change is reported as uncertain, and lowers no label.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from countersign.agents.acp.tracked_files import TrackedFiles
from countersign.gate import RunningCalls
from countersign.settings.temporary_names import is_name_of_ours
from countersign.tools.loading import load
from countersign.tools.shell.process_tree import blocking_others_at_work
from countersign.tools.shell.processes import ShellRegistry

log = logging.getLogger(__name__)

DEBOUNCE = 300
"""Milliseconds for which changes are gathered before they are reported."""
AFTER_SECONDS = 30.0
"""How long after a turn changes are still looked for: what was stopped may write late."""
SAVED_SECONDS = 5.0
"""How long after a save in the editor a change of that file counts as the person's."""
OURS_SECONDS = 0.3
"""How long a name that a change of ours uses may stand there before it is reported."""
FIRST_SCAN_SECONDS = 10.0
"""How long the first prompt waits until the workspace was read; larger ones are read on beside it."""
LAST_SCAN_SECONDS = 30.0
"""How long the end of a turn waits for a first scan that is still going on, before it compares."""
IDLE = 1000
"""Milliseconds without a change after which the watcher looks whether anybody still listens."""

Say = Callable[[list[str], bool], Awaitable[None]]


@dataclass(slots=True, eq=False)
class Listener:
    """One turn of one agent in one chat. ``say`` tells of changed files, and whether it is certain that the agent
    changed them."""

    agent: str
    root: Callable[[], int | None]
    say: Say
    chat: str = ""
    until: float | None = None
    told: set[str] = field(default_factory=set)


class ChangeWatch:
    """The watcher of one workspace. A class because all agents share what is known of its files.

    ``others`` says whether anybody else is at work in the workspace, given the processes below which the agents are.
    """

    def __init__(
        self,
        workspace: str,
        running: RunningCalls,
        shells: ShellRegistry | None = None,
        others: Callable[[str, Iterable[int]], bool] = blocking_others_at_work,
    ) -> None:
        self._workspace = os.path.realpath(workspace)
        self._running = running
        self._shells = shells
        self._others = others
        self._files = TrackedFiles(workspace)
        # Held until the listeners know what a look found: else a turn that ends meanwhile would be over before.
        self._looking = asyncio.Lock()
        self._listeners: list[Listener] = []
        self._saved: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._read_once = asyncio.Event()
        self._placeholders: frozenset[str] = frozenset()

    def saved(self, paths: Iterable[str]) -> None:
        """The person saved, made, moved or deleted these files and folders in the editor."""
        now = time.monotonic()
        self._saved = {path: at for path, at in self._saved.items() if now - at < SAVED_SECONDS}
        self._saved.update((os.path.realpath(path), now) for path in paths)

    async def begin(self, listener: Listener) -> None:
        """A turn begins; what changes from now on is looked at."""
        now = time.monotonic()
        self._listeners = [each for each in self._listeners if each.until is None or each.until > now]
        if not self._listeners:
            # Between turns files change as the person likes.
            self._read_once.clear()
        # The turn tells of what the chat's earlier ones changed late.
        earlier = {each for each in self._listeners if each.until is not None and self._same_chat(each, listener)}
        self._listeners = [*(each for each in self._listeners if each not in earlier), listener]
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch(), name="watch the workspace")
        elif not self._read_once.is_set():
            await self._read()
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_SCAN_SECONDS):
                await self._read_once.wait()

    async def end(self, listener: Listener) -> None:
        """A turn is over: the workspace is compared with what is known of it, and watched a little longer."""
        if self._task is not None and not self._task.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_SCAN_SECONDS):
                    await self._read_once.wait()
        if self._read_once.is_set():
            await self._compare()
            await self._tell_placeholders()
        listener.until = time.monotonic() + AFTER_SECONDS

    async def close(self) -> None:
        """Watch no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        """Read the workspace before the first turn works in it. Any later scan reports what it finds."""
        async with self._looking:
            if not self._read_once.is_set():
                await asyncio.to_thread(self._files.blocking_scan)
                self._placeholders = await asyncio.to_thread(self._files.blocking_placeholders)
                self._read_once.set()

    async def _compare(self) -> None:
        async with self._looking:
            await self._tell(await asyncio.to_thread(self._files.blocking_scan))

    async def _tell_placeholders(self) -> None:
        """Tell of empty files that are left at the end of a turn and that an agent's own sandbox may have put there.
        They are changes, but a command that was cut off leaves them too."""
        async with self._looking:
            there = await asyncio.to_thread(self._files.blocking_placeholders)
            left = [path for path in there - self._placeholders if not self._accounted_for(path, time.monotonic())]
            self._placeholders = there & self._placeholders.union(left)
            await self._say(sorted(left), False)

    async def _watch(self) -> None:
        await self._read()
        try:
            await load("watchfiles")
            from watchfiles import awatch  # noqa: PLC0415 loaded when an agent is hosted, off the event loop

            live = False
            async for changes in awatch(
                self._workspace,
                watch_filter=None,
                debounce=DEBOUNCE,
                step=50,
                rust_timeout=IDLE,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                if not any(each.until is None or each.until > time.monotonic() for each in self._listeners):
                    return
                if all(each.until is not None for each in self._listeners):
                    await self._tell_placeholders()
                if not live:
                    # Changes from between the first scan and the start of the watcher raise no event.
                    live = True
                    await self._compare()
                if paths := {path for _, path in changes}:
                    async with self._looking:
                        await self._tell(await asyncio.to_thread(self._files.blocking_changed, paths))
        except (OSError, RuntimeError, ImportError):
            # The comparison at the end of each turn remains.
            log.exception("the workspace cannot be watched")

    async def _tell(self, changed: Iterable[str]) -> None:
        now = time.monotonic()
        listening = self._listening()
        loose = [path for path in changed if not self._accounted_for(path, now)]
        if any(is_name_of_ours(os.path.basename(path)) for path in loose):
            # A change of ours that is under way ends in milliseconds.
            await asyncio.sleep(OURS_SECONDS)
            loose = [path for path in loose if not self._accounted_for(path, now)]
        if not loose or not listening:
            return
        roots = [root for each in listening if (root := each.root()) is not None]
        alone = len({each.agent for each in listening}) == 1
        certain = alone and not await asyncio.to_thread(self._others, self._workspace, roots)
        await self._say(loose, certain)

    async def _say(self, loose: Sequence[str], certain: bool) -> None:
        for listener in self._listening():
            fresh = [path for path in loose if certain or path not in listener.told]
            listener.told.update(fresh)
            if fresh:
                await listener.say([path.removeprefix(f"{self._workspace}/") for path in fresh], certain)

    @staticmethod
    def _same_chat(one: Listener, other: Listener) -> bool:
        return one.chat != "" and (one.agent, one.chat) == (other.agent, other.chat)

    def _listening(self) -> list[Listener]:
        now = time.monotonic()
        return [each for each in self._listeners if each.until is None or each.until > now]

    def _accounted_for(self, path: str, now: float) -> bool:
        if self._running.account_for(path) or now - self._saved.get(path, -SAVED_SECONDS) < SAVED_SECONDS:
            return True
        if any(now - at < SAVED_SECONDS and path.startswith(f"{above}/") for above, at in self._saved.items()):
            # Below a folder that was moved or deleted, only files that are gone, or that were not written since.
            return not _is_recent(path)
        if is_name_of_ours(os.path.basename(path)) and not os.path.lexists(path):
            # It stood there while we changed a file. One that stays is reported, whoever named it so.
            return True
        return self._shells is not None and self._shells.is_any_running


def _is_recent(path: str) -> bool:
    """Whether this file is there and was written lately; moving a folder changes nothing below it."""
    try:
        return time.time() - os.lstat(path).st_ctime < 2 * SAVED_SECONDS
    except OSError:
        return False
