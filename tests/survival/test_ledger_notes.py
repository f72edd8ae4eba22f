"""What the ledger says of itself and of others: what a start finds out of order, and no secret that settings name."""

from __future__ import annotations

import json
import os
from pathlib import Path

from countersign.gate.ledger.head_file import HEAD_FILE
from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import Peer
from tests.survival.post_crash_checks import blocking_remains

from .failing import Heard, ask_and_approve


def warnings(desk: Desk) -> list[str]:
    shown = [message["params"] for message in desk.peer.messages if message.get("method") == "window/showMessage"]
    return [params["message"] for params in shown if params["type"] == 2]


async def told(desk: Desk) -> list[str]:
    await desk.peer.request("tool/pendingApprovals", {})
    return warnings(desk)


async def test_a_ledger_whose_head_is_gone_is_told_of_once(tmp_path: Path) -> None:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    async with open_desk(workspace, storage) as desk:
        await ask_and_approve(desk, "tok-note-0-0-end", "create tok-note-0-0-end.txt saying it", Heard())
        assert await told(desk) == []
    (storage / HEAD_FILE).unlink()
    async with open_desk(workspace, storage) as desk:
        await desk.peer.wait_for("window/showMessage")
        (warning,) = await told(desk)
        assert "the head file was gone" in warning
    async with open_desk(workspace, storage) as desk:
        assert await told(desk) == []


async def test_the_value_of_a_variable_that_an_api_key_is_taken_from_is_in_no_row(tmp_path: Path) -> None:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    peer = Peer.python("-m", "countersign", "serve", env={**os.environ, "ODD_ONE": "tops3cret-value"})
    models = {"big": {"provider": "ollama", "model": "m", "apiKeyEnv": "ODD_ONE"}}
    async with open_desk(workspace, storage, peer=peer, settings={"user": {"models": models}}) as desk:
        token = "tok-note-0-1-end"
        await ask_and_approve(desk, token, f"run echo {token} tops3cret-value && false", Heard())
        rows = json.dumps(blocking_remains(workspace, storage).about(token).rows)
    assert "finished" in rows
    assert "[redacted]" in rows
    assert "tops3cret" not in rows
