"""The feed of each chat: events gathered into frames, numbered, kept and sent.

The first event goes out at once, what follows within ``FRAME`` goes out together; so text reaches the screen in
frames and not in single tokens, and nobody waits for the first word. A call that starts to run closes its frame. What
cannot be kept (the disk is full) is sent all the same, and kept with the next frame that can: the person must hear that
the disk is full.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from countersign.agents.safe_events import safe_event
from countersign.agents.stored_events import joined
from countersign.agents.transcript import Transcripts
from countersign.gate import now
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.threads import ThreadEvent, ThreadUpdate, ToolCallEvent

log = logging.getLogger(__name__)
FRAME = 0.016
"""Seconds of a frame: one picture of a 60 Hz screen."""


@dataclass(slots=True)
class _Open:
    """A chat's frame under way; ``unkept`` are the events of earlier ones that could not be written."""

    events: list[ThreadEvent] = field(default_factory=list)
    unkept: list[ThreadEvent] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None


class Feed:
    """Frames of all chats. ``send`` queues a notification and never waits. Event loop only."""

    def __init__(
        self, transcripts: Transcripts, send: Callable[[ThreadUpdate], None], seq_of: Callable[[str], int]
    ) -> None:
        self._transcripts = transcripts
        self._send = send
        self._seq_of = seq_of
        self._frames: dict[str, _Open] = {}
        self._seq: dict[str, int] = {}

    def emit(self, thread_id: str, event: ThreadEvent) -> None:
        """Put an event into the chat. Events keep their order."""
        frame = self._frames.setdefault(thread_id, _Open())
        frame.events.append(event)
        if frame.timer is None:
            self._close_frame(thread_id, frame)
        elif isinstance(event, ToolCallEvent) and event.status == "running":
            # A kill from here on must find the call in the chat: what it did may last.
            self.flush(thread_id)

    def flush(self, thread_id: str) -> int:
        """Send what is gathered now, and say the number of the last update of this chat."""
        frame = self._frames.get(thread_id)
        if frame is not None and frame.events:
            self._write(thread_id, frame)
        return self.seq(thread_id)

    def seq(self, thread_id: str) -> int:
        """The number of the last update of this chat."""
        if thread_id not in self._seq:
            self._seq[thread_id] = self._seq_of(thread_id)
        return self._seq[thread_id]

    def forget(self, thread_id: str) -> None:
        """The chat is gone."""
        frame = self._frames.pop(thread_id, None)
        if frame is not None and frame.timer is not None:
            frame.timer.cancel()

    def close(self) -> None:
        """Send everything that is gathered."""
        for thread_id, frame in self._frames.items():
            if frame.timer is not None:
                frame.timer.cancel()
            self.flush(thread_id)

    def _close_frame(self, thread_id: str, frame: _Open) -> None:
        frame.timer = None
        if frame.events:
            self._write(thread_id, frame)
            frame.timer = asyncio.get_running_loop().call_later(FRAME, self._close_frame, thread_id, frame)

    def _write(self, thread_id: str, frame: _Open) -> None:
        events, frame.events = joined(safe_event(event) for event in frame.events), []
        seq = self.seq(thread_id) + 1
        self._seq[thread_id] = seq
        frame.unkept += events
        try:
            self._transcripts.add_events(thread_id, seq, now(), frame.unkept)
            frame.unkept = []
        except LedgerUnavailable:  # going on is safe: nothing that acts comes by here, and the ledger is asked first
            log.exception("what was said in %s is not kept yet", thread_id)
        self._send(ThreadUpdate(thread_id=thread_id, seq=seq, events=events))
