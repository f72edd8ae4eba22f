"""`agent/setBypass` on a real server: on for this session, off again, never saved, and bounded as the saved one is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import RpcError

ON = {"agentName": "Countersign", "scope": "session", "on": True}


async def bypassed(desk: Desk) -> bool:
    (agent,) = (await desk.peer.request("agent/list", {}))["agents"]
    return bool(agent["bypass"])


async def runs_without_a_card(desk: Desk, name: str) -> bool:
    """Whether `touch` runs by itself; a card that comes instead is denied."""
    before = len(cards(desk))
    turn = desk.prompt(await desk.thread(), f"run touch {name}")
    while not turn.done() and len(cards(desk)) == before:
        await desk.peer.request("shell/list", {})
    if len(cards(desk)) > before:
        await desk.answer(cards(desk)[-1], "reject_once")
    await turn
    return (desk.workspace / name).exists()


def cards(desk: Desk) -> list[Any]:
    return [said["params"] for said in desk.peer.messages if said.get("method") == "tool/approvalRequest"]


async def test_it_is_on_until_it_is_turned_off_and_is_never_saved(tmp_path: Path) -> None:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    async with open_desk(workspace, storage) as desk:
        assert not await runs_without_a_card(desk, "one")
        await desk.peer.request("agent/setBypass", ON)
        assert await bypassed(desk)
        assert await runs_without_a_card(desk, "two")
        assert "bypass" in {row["by"] for row in desk.rows() if row.get("verdict") == "allow"}
        await desk.peer.request("agent/setBypass", {**ON, "on": False})
        assert not await bypassed(desk)
        assert not await runs_without_a_card(desk, "three")
        await desk.peer.request("agent/setBypass", ON)
    assert not (workspace / ".vscode").exists()
    async with open_desk(workspace, storage) as desk:
        assert not await bypassed(desk)
        assert not await runs_without_a_card(desk, "four")


@pytest.mark.parametrize("limit", ["untrusted", "forbidden", "unknown agent"])
async def test_its_limits_are_those_of_the_saved_one(limit: str, tmp_path: Path) -> None:
    forbidden = {"user": {"permissions": {"disableBypass": True}}} if limit == "forbidden" else {}
    options = {"settings": forbidden} if forbidden else {}
    async with open_desk(tmp_path / "work", tmp_path / "storage", trusted=limit != "untrusted", **options) as desk:
        with pytest.raises(RpcError):
            await desk.peer.request(
                "agent/setBypass", {**ON, **({"agentName": "X"} if limit == "unknown agent" else {})}
            )
        assert not await bypassed(desk)
        assert not await runs_without_a_card(desk, "one")
