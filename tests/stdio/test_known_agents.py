"""`agent/known` and `agent/add` on a real server: what is installed is offered, and one click writes it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import Peer, RpcError

RECIPE = {
    "label": "gated", "title": "My Agent", "program": "my-agent-under-test", "programArgs": ["--acp"],
    "packages": ["my-agent"], "install": "npm install -g my-agent@1.2.3", "login": "my-agent login", "caveat": "so far",
    "requires": ["node", "no-such-program"], "measured": {"1.2.3": []},
}  # fmt: skip
CLIENT = {"settings": True, "settingsUpdate": True}


def server(home: Path) -> Peer:
    path = f"{home}/bin{os.pathsep}{os.environ['PATH']}"
    return Peer.python("-m", "countersign", "serve", env={**os.environ, "HOME": str(home), "PATH": path})


def install(home: Path) -> str:
    package = home / "lib/node_modules/my-agent"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "my-agent", "version": "1.2.3"}))
    (package / "cli.js").write_text(f"#!/bin/sh\ntouch {home}/executed\n")
    (package / "cli.js").chmod(0o755)
    (home / "bin").mkdir()
    (home / "bin/my-agent-under-test").symlink_to(package / "cli.js")
    return str(home / "bin/my-agent-under-test")


async def mine(desk: Desk) -> dict[str, Any]:
    listed = (await desk.peer.request("agent/known", {}))["agents"]
    return next(agent for agent in listed if agent["recipe"] == "mine")


def options(user: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"settings": {"user": {"recipes": {"mine": RECIPE}, **(user or {})}}, "client": CLIENT}


async def test_an_installed_agent_is_added_by_one_request_and_can_be_chosen(tmp_path: Path) -> None:
    program = install(tmp_path)
    updates: list[Any] = []
    async with open_desk(tmp_path / "work", tmp_path / "storage", peer=server(tmp_path), **options()) as desk:
        desk.peer.on_request["settings/update"] = lambda params: (updates.append(params), {"applied": True})[1]
        known = await mine(desk)
        assert known["installed"] == {"path": program, "version": "1.2.3"}
        assert (known["label"], known["login"]) == ("asksOnly", "my-agent login")
        assert "not those that were measured" in known["why"]
        assert "no-such-program" in known["missing"]
        added = await desk.peer.request("agent/add", {"recipe": "mine", "command": known["command"]})
        assert added == {"agentName": "My Agent"}
        (update,) = updates
        assert (update["layer"], update["path"]) == ("user", ["agents", "My Agent"])
        assert update["value"] == {"command": program, "args": ["--acp"], "recipe": "mine"}
        agents = (await desk.peer.request("agent/list", {}))["agents"]
        assert "My Agent" in [agent["agentName"] for agent in agents]
        assert (await mine(desk))["configured"] == ["My Agent"]
        again = await desk.peer.request("agent/add", {"recipe": "mine", "command": known["command"]})
        assert again == {"agentName": "My Agent 2"}
    assert not (tmp_path / "executed").exists()


async def test_an_agent_that_is_not_installed_is_listed_with_how_to_install_it_and_is_not_added(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", peer=server(tmp_path), **options()) as desk:
        known = await mine(desk)
        assert "installed" not in known
        assert (known["install"], known["label"]) == ("npm install -g my-agent@1.2.3", "gated")
        listed = (await desk.peer.request("agent/known", {}))["agents"]
        assert {"claude", "gemini", "codex", "mine"} <= {agent["recipe"] for agent in listed}
        shown = [agent.get("installed") is not None for agent in listed]
        assert shown == sorted(shown, reverse=True)
        with pytest.raises(RpcError, match="not installed"):
            await desk.peer.request("agent/add", {"recipe": "mine", "command": ["my-agent-under-test"]})


@pytest.mark.parametrize(
    ("command", "applied", "message"),
    [(["/bin/sh"], True, "has changed"), (None, False, "settings are locked")],
    ids=["another command", "the editor refuses"],
)
async def test_what_was_not_shown_or_not_written_is_an_error(
    tmp_path: Path, command: list[str] | None, applied: bool, message: str
) -> None:
    install(tmp_path)
    answer = {"applied": applied, **({} if applied else {"reason": "settings are locked"})}
    async with open_desk(tmp_path / "work", tmp_path / "storage", peer=server(tmp_path), **options()) as desk:
        desk.peer.on_request["settings/update"] = lambda _params: answer
        known = await mine(desk)
        with pytest.raises(RpcError, match=message):
            await desk.peer.request("agent/add", {"recipe": "mine", "command": command or known["command"]})
        assert [agent["agentName"] for agent in (await desk.peer.request("agent/list", {}))["agents"]] == [
            "Countersign"
        ]


async def test_many_requests_at_once_share_one_search(tmp_path: Path) -> None:
    install(tmp_path)
    async with open_desk(tmp_path / "work", tmp_path / "storage", peer=server(tmp_path), **options()) as desk:
        answers = [desk.peer.start_request("agent/known", {})[1] for _ in range(20)]
        found = [await desk.peer.result_of(answer) for answer in answers]
        assert all(one == found[0] for one in found)
