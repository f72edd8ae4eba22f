"""The editor's language models as the built-in agent reaches them: ``lm/list``, ``lm/chat``, ``lm/part``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from countersign.wire.base import Empty, WireModel
from countersign.wire.providers import LmChatParams, LmChatResult, LmListResult, LmPart

if TYPE_CHECKING:
    from countersign.agents.models.editor_model import Parts


class EditorModels:
    """The requests that are under way. A class because their pieces come as notifications, apart from the requests."""

    def __init__(self, *, ask: Callable[[str, WireModel], Awaitable[Any]], offers_models: Callable[[], bool]) -> None:
        self._ask = ask
        self._offers_models = offers_models
        self._open: dict[str, Parts] = {}

    def offers_models(self) -> bool:
        """Whether the client said that it can ask models."""
        return self._offers_models()

    def open(self, request_id: str) -> Parts:
        """Begin to collect the pieces of a request."""
        from countersign.agents.models.editor_model import Parts  # noqa: PLC0415 no start needs it

        parts = self._open[request_id] = Parts()
        return parts

    def close(self, request_id: str) -> None:
        """Forget a request; pieces that still come are dropped."""
        self._open.pop(request_id, None)

    def part(self, part: LmPart) -> None:
        """Take a piece from the client."""
        if (parts := self._open.get(part.request_id)) is not None:
            parts.add(part)

    async def chat(self, params: LmChatParams) -> LmChatResult:
        """Ask a model. If cancelled, cancel the client's request too. Raises ClientError."""
        return await self._ask("lm/chat", params)

    async def models(self) -> LmListResult:
        """Return the models that the editor offers. Raises ClientError."""
        return await self._ask("lm/list", Empty())
