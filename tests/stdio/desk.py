"""A client of the real server for tests: it starts `countersign serve` over stdio and speaks the method table."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from tests.stdio.peer import Peer

Json = Any
TURN_BOUND = 2 * PATIENCE
"""Seconds that a whole turn may take; each of its steps is bounded by `peer.BOUND`."""


@dataclass
class Desk:
    """One connection, with what a person would do on it."""

    peer: Peer
    workspace: Path
    storage: Path

    async def thread(self, **params: Json) -> str:
        return (await self.peer.request("thread/create", params))["threadId"]

    def prompt(self, thread_id: str, text: str, **more: Json) -> asyncio.Task[Json]:
        """The prompt's result, to be waited for later."""
        _, answer = self.peer.start_request("thread/prompt", {"threadId": thread_id, "text": text, **more})
        return asyncio.ensure_future(self.peer.result_of(answer, bound=TURN_BOUND))

    async def card(self, about: str | None = None) -> Json:
        """The next card, whose input holds this text."""
        return await self.peer.wait_for(
            "tool/approvalRequest", lambda card: about is None or about in json.dumps(card["toolCall"]["rawInput"])
        )

    async def ended(self, card: Json) -> Json:
        return await self.peer.wait_for(
            "tool/approvalResolved", lambda notice: notice["approvalId"] == card["approvalId"]
        )

    async def answer(self, card: Json, option: str | None = "allow_once", **more: Json) -> str:
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        params = {
            "approvalId": card["approvalId"],
            "digest": card["digest"],
            "response": {"outcome": outcome},
            "bypassAll": False,
            **more,
        }
        return (await self.peer.request("tool/approvalResponse", params))["state"]

    async def events(self, thread_id: str) -> list[Json]:
        return (await self.peer.request("thread/open", {"threadId": thread_id}))["events"]

    async def ended_events(self, thread_id: str) -> list[Json]:
        """The chat's events once its last turn has ended: asked for again and again, bounded by `PATIENCE`."""
        async with asyncio.timeout(PATIENCE):
            while not (events := await self.events(thread_id)) or events[-1]["type"] != "done":
                pass
        return events

    def rows(self) -> list[Json]:
        """The ledger as another process sees it now, oldest first."""
        return ledger_rows(self.storage)


def ledger_rows(storage: Path) -> list[Json]:
    """What `countersign history --json` prints."""
    words = [sys.executable, "-m", "countersign", "history", "--storage", str(storage), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def killed(peer: Peer) -> bool:
    """Whether the server has ended already."""
    return peer._running().returncode is not None


@asynccontextmanager
async def open_desk(
    workspace: Path, storage: Path, *, trusted: bool = True, peer: Peer | None = None, **options: Json
) -> AsyncIterator[Desk]:
    """A server for this workspace, initialized; ended in an orderly way when the context ends."""
    workspace.mkdir(exist_ok=True)  # noqa: ASYNC240 a test may wait for its own folder
    peer = peer or Peer.python("-m", "countersign", "serve")
    async with peer:
        await peer.request(
            "initialize",
            {
                "processId": None,
                "capabilities": {},
                "rootUri": workspace.as_uri(),
                "initializationOptions": {"trusted": trusted, "storage": str(storage), **options},
            },
        )
        peer.notify("initialized", {})
        yield Desk(peer, workspace, storage)
        if not killed(peer):
            assert await peer.shut_down() == 0
