"""Libraries and rooms that are imported when they are first needed, in a thread.

No start pays for them, and neither does the event loop: the import of an HTTP client takes a tenth of a second or
more, in which every chat would stand still. What a library imports later by itself is named here.
"""

from __future__ import annotations

import asyncio
from importlib import import_module

_LATER = {
    "httpx": ("httpcore", "httpcore._backends.anyio", "anyio._backends._asyncio"),
    "httpcore": ("httpcore._backends.anyio", "anyio._backends._asyncio"),
    "watchfiles": ("anyio._backends._asyncio",),
    "countersign.lsp.builtin_agent": ("regex",),
}
"""What a library imports only in use, on the event loop."""


async def load(library: str) -> None:
    """Import a library or a room in a thread, with what it imports in use; after this, importing it takes no time.

    Raises:
        ImportError: it is not there.
    """
    await asyncio.to_thread(_blocking_load, library)


def _blocking_load(library: str) -> None:
    for module in (library, *_LATER.get(library, ())):
        import_module(module)
