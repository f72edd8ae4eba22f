"""The part of `example_server` that pygls can do as it comes, so that the tests of the wire are known to bite.

When a newer pygls does better, the values written down for it in `test_hazards` are what goes red.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from pygls.lsp.server import LanguageServer

from countersign.wire import shells

server = LanguageServer("stock", "1")


def plain(value: Any) -> Any:
    """A namedtuple, as pygls makes them of params that it does not know, as the object it came from."""
    return {key: plain(inner) for key, inner in value._asdict().items()} if hasattr(value, "_asdict") else value


@server.feature("tool/explain")
def echo(params: Any) -> Any:
    return {"reason": json.dumps(plain(params.args), sort_keys=True)}


@server.feature("thread/delete")
def fail(params: Any) -> Any:
    raise RuntimeError(f"secret from {__file__}")


@server.feature("settings/changed")
def change(params: Any) -> None:
    raise RuntimeError(f"secret from {__file__}")


@server.feature("shell/output")
async def flood(params: Any) -> Any:
    print("flooding", file=sys.stderr, flush=True)
    for seq in range(getattr(params, "from", None) or params[1]):
        server.protocol.notify("thread/update", {"seq": seq, "text": "x" * 65536})
        await asyncio.sleep(0)
    return {"next": 0}


@server.feature("thread/cancel")
def stray(params: Any) -> None:
    print("stray print", flush=True)
    print("strayed", file=sys.stderr, flush=True)


@server.feature("shell/toBackground")
def background(params: Any) -> Any:
    return shells.ShellToBackgroundResult(shell_id=params.toolCallId)


if __name__ == "__main__":
    server.start_io()
