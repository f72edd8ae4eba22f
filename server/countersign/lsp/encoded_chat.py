"""The result of ``thread/open``, encoded piece by piece in a worker thread.

A long chat read and encoded at once would hold up the event loop, and with it every other chat. What is added
meanwhile is read in further rounds; only the last few events are encoded on the loop, so that the result holds what
was sent so far and nothing else. Which chat may be opened is left to ``sessions.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from countersign.agents.stored_events import event_of, run_of, runs
from countersign.agents.transcript import Transcripts
from countersign.lsp.base_protocol import EncodedResult, body_of
from countersign.wire.approvals import ApprovalRequest
from countersign.wire.threads import ThreadEvent, ThreadOpenResult

LONGEST = 256 << 10
"""Characters of one event, about: a longer run of text becomes several events, as it was sent."""
ROUNDS = 5
FEW = 64 << 10
"""Bytes that a round brings so that the next one may be the last."""


class EncodedChat:
    """A chat on its way to the client. A class because it grows round by round."""

    def __init__(
        self, transcripts: Transcripts, thread_id: str, views: Callable[[], Sequence[ApprovalRequest]]
    ) -> None:
        self._transcripts = transcripts
        self._thread_id = thread_id
        self._views = views
        self._last = 0
        self._events: list[bytes] = []
        self._cards: dict[str, tuple[ApprovalRequest, bytes]] = {}

    async def catch_up(self) -> None:
        """Encode what there is, until little is added meanwhile."""
        for _ in range(ROUNDS):
            if await asyncio.to_thread(self._blocking_round, self._views()) < FEW:
                break

    def finish(self, head: ThreadOpenResult) -> EncodedResult:
        """Return the result as it is now: ``head`` with the events and requests."""
        views = self._views()
        self._blocking_round(views)
        cards = [self._cards[view.approval_id][1] for view in views]
        # Nothing before it holds this text: a quote in a string is escaped.
        begin, end = body_of(head).split(b'"events":[],"approvals":[]', 1)
        pieces = begin, b'"events":[', b",".join(self._events), b'],"approvals":[', b",".join(cards), b"]", end
        return EncodedResult(ThreadOpenResult, b"".join(pieces))

    def _blocking_round(self, views: Sequence[ApprovalRequest]) -> int:
        """Encode what was added since the last round; return its length."""
        began = len(self._events)
        self._events += [body_of(run_of(run)) for run in runs(self._stored(), longest=LONGEST)]
        # A request that was put off is drawn anew under its id.
        cards = {view.approval_id: (view, body_of(view)) for view in views if not self._is_encoded(view)}
        self._cards |= cards
        return sum(map(len, self._events[began:])) + sum(len(body) for _, body in cards.values())

    def _is_encoded(self, view: ApprovalRequest) -> bool:
        known = self._cards.get(view.approval_id)
        return known is not None and known[0] is view

    def _stored(self) -> Iterator[ThreadEvent]:
        for number, text in self._transcripts.rows(self._thread_id, self._last):
            self._last = number
            yield event_of(text)
