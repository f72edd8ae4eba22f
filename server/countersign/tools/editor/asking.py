"""Asking the editor, within a time: a language server may take long, or never answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from countersign.tools.tool import ToolContext
from countersign.tools.visible import as_message
from countersign.wire.base import WireModel
from countersign.wire.errors import ClientError

EDITOR_SERVICE = "editor"
"""Name in ``ToolContext.services`` of a ``Callable[[], Ask | None]``: None where the client does not answer."""
SECONDS = 30.0
"""Of one request: a language server that reads a large project for the first time takes that long."""

Ask = Callable[[str, WireModel], Awaitable[Any]]
"""Sends a request of the method table. Cancelled, it cancels the client's. Raises ClientError."""

ResultT = TypeVar("ResultT", bound=WireModel)


class NoAnswer(Exception):
    """The editor did not answer; the message says why, for the model."""


async def ask_editor(bench: ToolContext, method: str, params: WireModel, result: type[ResultT]) -> ResultT:
    """Ask the editor.

    Raises:
        NoAnswer: it cannot be asked, answered with an error, or not in time.
    """
    service: Callable[[], Ask | None] | None = bench.services.get(EDITOR_SERVICE)
    ask = service() if service is not None else None
    if ask is None:
        raise NoAnswer("this editor does not answer such questions; use the file tools")
    try:
        async with asyncio.timeout(SECONDS):
            answer = await ask(method, params)
    except TimeoutError:
        raise NoAnswer(f"the editor did not answer within {SECONDS:.0f} s; try again later") from None
    except ClientError as error:
        raise NoAnswer(f"the editor could not answer: {as_message(str(error))}") from None
    assert isinstance(answer, result)
    return answer
