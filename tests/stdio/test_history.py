"""History of a real server: queried and paged while it writes, exported, verified, and rotated beside it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import RpcError


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path / "work", tmp_path / "storage") as opened:
        yield opened


async def ask(desk: Desk, command: str, option: str = "allow_once") -> None:
    """One turn that runs a command, with a person's answer to its card."""
    turn = desk.prompt(await desk.thread(), f"run {command}")
    await desk.answer(await desk.card(command), option)
    await turn


async def query(desk: Desk, limit: int = 100, cursor: str | None = None, **filter_: str) -> dict:
    params = {"filter": filter_, "limit": limit} | ({"cursor": cursor} if cursor else {})
    return await desk.peer.request("history/query", params)


def history(*words: object) -> tuple[int, str]:
    command = [sys.executable, "-m", "countersign", "history", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout + done.stderr


async def test_rows_are_filtered_and_paged_while_others_are_written(desk: Desk) -> None:
    await ask(desk, "touch one")
    await ask(desk, "touch two", "reject_once")
    page = await query(desk, limit=2)
    await ask(desk, "touch three")
    rest = await query(desk, cursor=page["cursor"])
    seqs = [row["seq"] for row in (*page["entries"], *rest["entries"])]
    assert seqs == list(range(seqs[0], 0, -1))
    denied = (await query(desk, verdict="deny", by="user"))["entries"]
    assert [row["input"]["command"] for row in denied] == ["touch two"]
    assert denied[0]["outcome"]["waitedMs"] >= 0
    assert (await query(desk, since="2000-01-01T00:00:00Z", text="touch three", phase="finished"))["entries"]
    assert (await query(desk, until="2000-01-01T00:00:00Z"))["entries"] == []
    odd = [{"since": "yesterday"}, {"since": "0001-01-01T00:00:00+23:59"}, {"until": "9999-12-31T23:59:59-23:59"}]
    for given in (*odd, {"cursor": "9" * 30}, {"cursor": "x"}):
        with pytest.raises(RpcError) as refused:
            await query(desk, **given)
        assert refused.value.kind == "invalid"


async def test_an_export_proves_itself_and_a_rotation_beside_the_server_loses_nothing(desk: Desk) -> None:
    await ask(desk, "touch one")
    exported = await desk.peer.request("history/export", {"filter": {"phase": "finished"}})
    assert exported["entries"] == 1
    assert exported["head"] in Path(exported["path"]).read_text()  # noqa: ASYNC240 a test may wait for its own folder
    code, said = await asyncio.to_thread(history, "--verify-export", exported["path"])
    unsigned = "compared with its own last line only: no signature is beside it"
    assert (code, said.splitlines()) == (0, [f"1 rows hold; head {exported['head']}", unsigned])

    turn = desk.prompt(await desk.thread(), "run touch two")
    card = await desk.card("touch two")
    archive = desk.storage / "archive.jsonl"
    code, said = await asyncio.to_thread(history, "--storage", desk.storage, "--rotate", archive)
    assert (code, said.splitlines()[0]) == (0, f"5 rows written to {archive}")
    await desk.answer(card)
    await turn
    assert (desk.workspace / "two").exists()
    assert [f"{row['phase']} {row['verdict']}" for row in desk.rows()] == [
        "decided ask", "decided allow", "started allow", "finished allow",
    ]  # fmt: skip
    code, said = await asyncio.to_thread(history, "--storage", desk.storage, "--verify")
    assert code == 0
    assert said.startswith("note: the 5 rows before it are archived in `archive.jsonl`")
    assert json.loads(archive.read_text().splitlines()[-1])["count"] == 5
