"""A small server on our bridge, for the tests of the wire: each handler shows one thing that can go wrong.

The methods are those of the table, because the bridge takes no others; what they do here is written at each handler.
`stock_server` does the same with pygls as it comes.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from typing import Any

from lsprotocol import types

from countersign.lsp.pygls_server import Server, make_server
from countersign.wire import agents, rules, settings, shells, threads, verdicts
from countersign.wire.base import Empty
from countersign.wire.errors import CountersignError, UnknownThread

BEAT = 0.01


class Heart:
    """Keeps by how many milliseconds a beat of the event loop ever came late."""

    def __init__(self) -> None:
        self.late_ms = 0
        self._beating: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._beating = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            due = time.monotonic() + BEAT
            await asyncio.sleep(BEAT)
            self.late_ms = max(self.late_ms, round((time.monotonic() - due) * 1000))


def say(text: str) -> None:
    """A line on stderr, where a test sees it even when it reads no messages."""
    print(text, file=sys.stderr, flush=True)


def build() -> Server:
    server, heart = make_server("example", "1"), Heart()
    stuck: list[asyncio.Future[None]] = []

    async def set_up(params: types.InitializeParams) -> None:
        """Asks the person something first, or fails, if the options say so."""
        heart.start()
        options: Any = params.initialization_options or {}
        if options.get("fail"):
            raise UnknownThread("not like this")
        if options.get("ask"):
            question = types.ShowMessageRequestParams(type=types.MessageType.Info, message="ready?", actions=[])
            say(f"answered {await server.window_show_message_request_async(question)}")

    async def farewell() -> None:
        say("farewell")

    def echo(params: verdicts.ExplainParams) -> verdicts.ExplainResult:
        return verdicts.ExplainResult(decision="ask", effects=[], reason=json.dumps(params.args, sort_keys=True))

    def fail(params: threads.ThreadDeleteParams) -> Empty:
        if params.thread_id == "unknown":
            raise UnknownThread("there is no chat `unknown`")
        raise RuntimeError(f"secret from {__file__}")

    async def prompt(params: threads.ThreadPromptParams) -> threads.ThreadPromptResult:
        """Waits for its cancellation; lets it through where the text says so."""
        server.notify("thread/update", threads.ThreadUpdate(thread_id=params.thread_id, seq=1, events=[]))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if params.text == "raise":
                raise
        return threads.ThreadPromptResult(stop_reason="cancelled")

    async def flood(params: shells.ShellOutputParams) -> shells.ShellOutputResult:
        """Sends ``from`` updates of 64 KiB, whether or not anybody reads them."""
        event = threads.TextEvent(text="x" * 65536)
        say("flooding")
        for seq in range(params.from_):
            server.notify("thread/update", threads.ThreadUpdate(thread_id="flood", seq=seq + 1, events=[event]))
            await asyncio.sleep(0)
        return shells.ShellOutputResult(text="", next=heart.late_ms, state="running")

    def stray(params: threads.ThreadCancelParams) -> None:
        """Writes to stdout in every way there is, and reads stdin."""
        print("stray print", flush=True)
        os.write(1, b"stray bytes\n")
        subprocess.run([sys.executable, "-c", "import sys; print('child read', repr(sys.stdin.read()))"], check=True)
        say("strayed")

    async def change(params: settings.SettingsChanged) -> None:
        """Fails; or, when trusted, asks the client to write a setting and reports how that ended."""
        if not params.trusted:
            raise RuntimeError(f"secret from {__file__}")
        update = settings.SettingsUpdateParams(layer="workspace", path=["mode"], value="plan")
        asking = asyncio.ensure_future(server.request("settings/update", update))
        if params.by_person is not None:
            await asyncio.sleep(0)
            asking.cancel()
        try:
            outcome = f"applied {(await asking).applied}"
        except (CountersignError, asyncio.CancelledError) as error:
            outcome = type(error).__name__
        say(outcome)
        item = settings.UnconfirmedItem(key="outcome", digest="", text=outcome)
        server.notify("settings/unconfirmed", settings.SettingsUnconfirmed(items=[item]))

    async def hang(params: agents.AgentRestartParams) -> Empty:
        """Leaves a thread behind that never ends."""
        stuck.append(asyncio.get_running_loop().run_in_executor(None, time.sleep, 3600))
        return Empty()

    def unmodelled(params: rules.GrantRevokeParams) -> dict[str, str]:
        """Answers with something other than its result model."""
        return {"grantId": params.grant_id}

    def background(params: shells.ShellToBackgroundParams) -> shells.ShellToBackgroundResult:
        return shells.ShellToBackgroundResult(shell_id=params.tool_call_id)

    server.on_initialize(set_up)
    server.on_shutdown(farewell)
    for name, handler in {
        "tool/explain": echo,
        "thread/delete": fail,
        "thread/prompt": prompt,
        "shell/output": flood,
        "thread/cancel": stray,
        "settings/changed": change,
        "agent/restart": hang,
        "grant/revoke": unmodelled,
        "shell/toBackground": background,
    }.items():
        server.handle(name, handler)
    return server


if __name__ == "__main__":
    sys.exit(build().run())
