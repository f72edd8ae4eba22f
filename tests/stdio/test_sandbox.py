"""The sandbox over the wire: its status, what its cards say, and what a command in it can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk
from tests.tools.sandbox.support import needs_sandbox

Json = Any


def sandboxed(**more: Json) -> dict[str, Json]:
    return {"settings": {"user": {"sandbox": {"mode": "commands", **more}}}}


async def result_of(desk: Desk, text: str, *, option: str = "allow_once") -> tuple[Json, Json]:
    """The card of a command and the event of its result."""
    thread = await desk.thread()
    turn = desk.prompt(thread, text)
    card = await desk.card()
    await desk.answer(card, option)
    await turn
    results = [event for event in await desk.ended_events(thread) if event["type"] == "toolResult"]
    return card, results[0]


@pytest.mark.parametrize("mode", ["off", "commands", "all"])
async def test_the_status_is_told(tmp_path: Path, mode: str) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed(mode=mode)) as desk:
        status = await desk.peer.request("sandbox/status", {})
    assert status["mode"] == mode
    if status["available"]:
        assert status["backend"] == "bubblewrap"
        assert {"no network", "processes end with the command"} <= set(status["holds"])
        assert any("memory" in sentence for sentence in status["holds"])
    else:
        assert (status["backend"], status["holds"], bool(status["reason"])) == ("none", [], True)


@needs_sandbox
async def test_a_refused_host_becomes_a_card_and_its_approval_opens_it_for_the_chat(tmp_path: Path) -> None:
    fetch = "run curl -sS --max-time 20 http://registry.example/x; true"
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed(network="hosts")) as desk:
        assert (await desk.peer.request("sandbox/status", {}))["available"]
        thread = await desk.thread()
        turn = desk.prompt(thread, fetch)
        first = await desk.card("curl")
        assert first["preview"]["sandbox"] == {"mode": "commands", "network": "hosts", "hosts": []}
        await desk.answer(first)
        host = await desk.card("registry.example")
        while host["preview"]["kind"] != "host":
            host = await desk.card("registry.example")
        assert host["preview"] == {
            "kind": "host",
            "host": "registry.example",
            "port": 80,
            "command": fetch.removeprefix("run "),
        }
        assert await desk.answer(host) == "allowed"
        await turn
        (grant,) = (await desk.peer.request("grant/list", {}))["grants"]
        assert (grant["rule"], grant["scope"]) == ("sandbox_host(host:registry.example)", "chat")
        again = desk.prompt(thread, fetch)
        await desk.answer(await desk.card("curl"))
        await again
        outputs = [event["output"] for event in await desk.ended_events(thread) if event["type"] == "toolResult"]
        assert "`registry.example` is not allowed in the sandbox" in outputs[0]
        assert "may be reached from the sandbox now" in outputs[1]
        assert "cannot be resolved" in outputs[2], "it is allowed now, and there is no such host"


@needs_sandbox
@pytest.mark.parametrize("option", ["allow_once", "reject_once"])
async def test_a_failure_in_it_becomes_a_card_to_run_outside(tmp_path: Path, option: str) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed()) as desk:
        assert (await desk.peer.request("sandbox/status", {}))["available"]
        thread = await desk.thread()
        turn = desk.prompt(thread, "run mkdir -p .vscode/x")
        await desk.answer(await desk.card())
        card = await desk.card("outside_sandbox")
        assert card["preview"].get("sandbox") is None
        assert card["preview"]["outside"] is True
        assert "the sandbox refused `.vscode/x`" in card["reason"]
        assert {"allow_chat", "allow_turn"} & {offered["optionId"] for offered in card["options"]} == set()
        await desk.answer(card, option)
        await turn
    assert (desk.workspace / ".vscode").is_dir() is False or option == "allow_once"


@needs_sandbox
async def test_a_command_runs_in_it_and_its_card_says_so(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed()) as desk:
        assert (await desk.peer.request("sandbox/status", {}))["available"]
        (desk.workspace / ".env").write_text("KEY=TOPSECRET")
        outside = tmp_path / "made"
        card, result = await result_of(desk, f"run touch inside; touch {outside}; grep -h TOP .env; true")
        assert card["preview"]["sandbox"] == {"mode": "commands", "network": "none", "hosts": []}
        assert (desk.workspace / "inside").exists()
        assert not outside.exists()
        assert "TOPSECRET" not in result["output"]
        (finished,) = [row for row in desk.rows() if row["phase"] == "finished"]
        assert finished["outcome"]["sandbox"]["backend"] == "bubblewrap"


@needs_sandbox
async def test_the_first_command_of_a_server_runs_in_it_too(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed()) as desk:
        card, _ = await result_of(desk, f"run touch inside; touch {tmp_path / 'made'}; true")
        assert card["preview"]["sandbox"] == {"mode": "commands", "network": "none", "hosts": []}
        assert (desk.workspace / "inside").exists()
        assert not (tmp_path / "made").exists()
