"""Worker threads for blocking work: each agent has its own, so that it never holds up another one or the gate.

Whoever works for an agent says so with ``sharing``; ``in_worker`` then runs blocking work in that agent's threads, and
in the event loop's own pool otherwise. Cancelled work ends at its next ``check_cancelled``.

All threads share the interpreter's lock with the event loop. So agents that have used the processor much work one at
a time (``Turns``): whoever has used it least goes first, and after each piece the event loop has as much time of its
own. Work that only waits, for a slow disk perhaps, does not keep the turn.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

WORKERS = 2
"""Threads of one agent."""
TURN = 0.1
"""Seconds after which work that has not used the processor in the meantime does not keep others from starting."""
REST = 1.0
"""Seconds without a turn for each second that a heavy agent has used the processor."""
SHORTEST_REST = 0.002
"""Seconds; a rest that is shorter is left owing until more has come together, for a timer takes a millisecond."""
LIGHT = 0.1
"""Seconds of the processor; an agent that has used less of late waits for nobody."""
LOOK_AGAIN = 0.02
"""Seconds after which it is looked again whether heavy agents are held."""
HALF_LIFE = 5.0
"""Seconds in which half of what an agent has used is forgotten."""

P = ParamSpec("P")
T = TypeVar("T")


class Abandoned(Exception):
    """Nobody waits for this work any more."""


class Workers:
    """One agent's threads. A class because it owns them; they start with the first work."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._pool: ThreadPoolExecutor | None = None
        self._used = 0.0
        self._used_at = 0.0
        self.running = 0

    def pool(self) -> ThreadPoolExecutor:
        """Return the running pool; start it if there is none."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix=f"agent {self._agent}")
        return self._pool

    def close(self) -> None:
        """Drop work that has not begun; the threads end with what they run."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def finish(self) -> None:
        """Let the threads end once they have done what they were given."""
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def used(self) -> float:
        """Return how many seconds of the processor it has used of late."""
        return self._used * 0.5 ** ((time.monotonic() - self._used_at) / HALF_LIFE)

    def charge(self, seconds: float) -> None:
        """Count what it has used."""
        self._used, self._used_at = self.used() + seconds, time.monotonic()


class Turn:
    """One piece of work that was let begin. ``seconds`` says how long its thread has used the processor, once it has
    begun."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.seconds: Callable[[], float] = lambda: 0.0
        self.seen = 0.0
        self.began = self.ended = False


class Turns:
    """Who may begin to work. A class because it keeps the queue of one event loop."""

    def __init__(self) -> None:
        self._waiting: dict[Workers, deque[asyncio.Future[Turn]]] = {}
        self._current: Turn | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rests_until = 0.0
        self.is_held: Callable[[], bool] = lambda: False

    async def begin(self, workers: Workers) -> Turn:
        """Wait for a turn and return it. Cancelled: nothing is left behind."""
        called: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(workers, deque()).append(called)
        self._call()
        try:
            return await called
        except asyncio.CancelledError:
            if called.cancelled():
                self._forget(workers, called)
            else:
                self.end(called.result(), 0)
            raise

    def end(self, turn: Turn, seconds: float) -> None:
        """Give a turn up, after so many seconds of the processor. Idempotent."""
        if turn.ended:
            return
        turn.ended = True
        turn.workers.running -= 1
        turn.workers.charge(seconds)
        if turn.workers.used() > LIGHT:
            self._rests_until = max(self._rests_until, time.monotonic()) + REST * seconds
        if turn is self._current:
            self._current = None
            if self._timer is not None:
                self._timer.cancel()
        self._call()

    def _call(self) -> None:
        """Call all light agents, and a heavy one unless another has the turn or there is a rest."""
        ready = sorted((each for each in self._waiting if each.running < WORKERS), key=Workers.used)
        for workers in ready:
            while workers in self._waiting and workers.running < WORKERS:
                if workers.used() < LIGHT:
                    self._start(workers)
                    continue
                if self._current is not None:
                    return
                rest = self._rests_until - time.monotonic()
                if self.is_held():
                    rest = max(rest, LOOK_AGAIN)
                if rest > SHORTEST_REST:
                    self._call_in(rest)
                    return
                self._current = self._start(workers)
                if self._current is not None:
                    self._call_in(TURN)

    def _start(self, workers: Workers) -> Turn | None:
        """Let the first that waits begin; None where all that wait were cancelled a moment ago."""
        queue = self._waiting[workers]
        called = queue.popleft()
        while called.done() and queue:
            called = queue.popleft()
        if not queue:
            del self._waiting[workers]
        if called.done():  # cancelled, and its task has not run since
            return None
        workers.running += 1
        turn = Turn(workers)
        called.set_result(turn)
        return turn

    def _call_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """Take the turn from work that only waits."""
        turn = self._current
        if turn is not None:
            seconds = turn.seconds()
            if seconds > turn.seen:
                turn.seen = seconds
                self._call_in(TURN)
                return
            self._current = None
        self._call()

    def _forget(self, workers: Workers, called: asyncio.Future[Turn]) -> None:
        if (queue := self._waiting.get(workers)) is not None:
            if called in queue:
                queue.remove(called)
            if not queue:
                del self._waiting[workers]


_workers: ContextVar[Workers | None] = ContextVar("workers", default=None)
_cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)
_on_loop = threading.local()
_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = weakref.WeakKeyDictionary()


@contextmanager
def sharing(workers: Workers | None) -> Iterator[None]:
    """Run the blocking work of this block, and of the tasks that it creates, in these threads."""
    token = _workers.set(workers)
    try:
        yield
    finally:
        _workers.reset(token)


async def in_worker(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Run blocking work in a thread of the agent that it is for.

    Cancelled: work that has not begun never does, and work that runs ends at its next ``check_cancelled``.
    """
    cancelled, context = threading.Event(), copy_context()
    context.run(_cancelled.set, cancelled)
    try:
        return await _in_thread(lambda: context.run(function, *arguments, **keywords))
    except asyncio.CancelledError:
        cancelled.set()
        raise


async def in_worker_alone(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Run blocking work that takes much memory, as ``in_worker`` otherwise: of all agents one at a time."""
    workers = _workers.get()
    if workers is not None:
        workers.charge(max(0.0, 2 * LIGHT - workers.used()))
    return await in_worker(function, *arguments, **keywords)


async def in_worker_to_the_end(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Run blocking work that must not be cut in the middle, as ``in_worker`` otherwise."""
    context = copy_context()
    context.run(_cancelled.set, None)
    return await _in_thread(lambda: context.run(function, *arguments, **keywords))


def check_cancelled() -> None:
    """Stop blocking work between two pieces.

    Raises:
        Abandoned: the task that waited for the work was cancelled.
    """
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise Abandoned


def count_on_loop(seconds: float) -> None:
    """Count what the event loop will have to do because of this work, as if it were done here."""
    _on_loop.seconds = getattr(_on_loop, "seconds", 0.0) + seconds


def hold_heavy_agents_while(is_held: Callable[[], bool]) -> None:
    """Let heavy agents of the running loop begin nothing while this is true: what they say finds no reader yet."""
    _turns_of(asyncio.get_running_loop()).is_held = is_held


def _turns_of(loop: asyncio.AbstractEventLoop) -> Turns:
    turns = _turns.get(loop)
    if turns is None:
        turns = _turns[loop] = Turns()
    return turns


async def _in_thread(work: Callable[[], T]) -> T:
    workers, loop = _workers.get(), asyncio.get_running_loop()
    if workers is None:
        return await loop.run_in_executor(None, work)
    turns = _turns_of(loop)
    turn = await turns.begin(workers)

    def measured() -> T:
        began = time.thread_time()
        turn.began, turn.seconds = True, _clock_of_this_thread(began)
        _on_loop.seconds = 0.0
        try:
            return work()
        finally:
            _call(loop, turns.end, turn, time.thread_time() - began + _on_loop.seconds)

    running = loop.run_in_executor(workers.pool(), measured)
    # Dropped before it began, it has no end of its own.
    running.add_done_callback(lambda done: done.cancelled() and not turn.began and turns.end(turn, 0))
    try:
        return await running
    finally:
        # An error's traceback has this frame, and the future has the error: a cycle that would keep the arguments.
        del running


def _clock_of_this_thread(began: float) -> Callable[[], float]:
    """Return a function that says, in any thread, how long this one has used the processor since; where the system
    does not tell, one that says it never does."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return lambda: 0.0
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def seconds() -> float:
        with suppress(OSError):  # the thread has ended
            return time.clock_gettime(clock) - began
        return 0.0

    return seconds


def _call(loop: asyncio.AbstractEventLoop, what: Callable[..., None], *arguments: object) -> None:
    with suppress(RuntimeError):  # the loop is closed: the server ended first
        loop.call_soon_threadsafe(what, *arguments)
