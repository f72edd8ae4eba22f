"""The editor as the gate and the chats see it: cards are put up there, and what a person chose is written there."""

from __future__ import annotations

from typing import Protocol

from lsprotocol import types

from countersign.lsp.event_feed import Feed
from countersign.wire.approvals import ApprovalRequest, ApprovalResolved
from countersign.wire.base import WireModel
from countersign.wire.elicitation import ElicitationRequest, ElicitationResolved
from countersign.wire.threads import ThreadUpdate


class Line(Protocol):
    """The connection to the client: what ``bridge.Server`` offers to the rest of this room."""

    @property
    def connected(self) -> bool: ...

    def notify(self, name: str, params: WireModel, said: str | None = None) -> None: ...

    def window_show_message(self, params: types.ShowMessageParams) -> None: ...


class Editor:
    """The Asker of an editor. A chat's frame goes out before its card, so that no card precedes its call."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.feed: Feed | None = None

    def present(self) -> bool:
        return self._line.connected

    def show(self, request: ApprovalRequest, said: str | None = None) -> None:
        self._flush(request.thread_id)
        self._line.notify("tool/approvalRequest", request, said)

    def resolved(self, notice: ApprovalResolved) -> None:
        self._flush(notice.thread_id)
        self._line.notify("tool/approvalResolved", notice)

    def show_question(self, request: ElicitationRequest) -> None:
        self._flush(request.thread_id)
        self._line.notify("elicitation/request", request)

    def question_resolved(self, notice: ElicitationResolved) -> None:
        self._flush(notice.thread_id)
        self._line.notify("elicitation/resolved", notice)

    def warn(self, message: str) -> None:
        self._line.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"Countersign: {message}."))

    def update(self, update: ThreadUpdate) -> None:
        self._line.notify("thread/update", update)

    def _flush(self, thread_id: str) -> None:
        if self.feed is not None:
            self.feed.flush(thread_id)
