"""An agent that takes its login in a variable: the key goes from the client's secret storage into that agent's process,
and stands nowhere else; the real server on a wire."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.agents.scripted_agent_fixture import PROGRAM

from .desk import Desk, Json, open_desk
from .peer import RpcError
from .test_agent_sessions import ANSWER

KEY = "door-key-0123456789"
METHOD = {"id": "key", "name": "API key", "type": "env_var", "vars": [{"name": "DOOR_API_KEY"}]}
NEEDS = {
    "greeting": {"authMethods": [METHOD]},
    "needs_login": "Authentication required",
    "login_env": "DOOR_API_KEY",
    "tells_env": "DOOR_API_KEY",
}


class Shelf:
    """Two scripted agents, of which one needs a login, and the keys that a client keeps: for one origin each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kept: dict[str, Json] = {}
        agents = {"Door": NEEDS, "Plain": {"tells_env": "DOOR_API_KEY"}}
        for name, script in agents.items():
            (root / f"{name}.json").write_text(json.dumps({**script, "prompts": [[ANSWER]]}))
            (root / f"{name}.jsonl").touch()
        self.settings = {
            "user": {
                "agents": {
                    name: {
                        "type": "acp",
                        "command": sys.executable,
                        "args": [str(PROGRAM), *(str(root / f"{name}.{ending}") for ending in ("json", "jsonl"))],
                    }
                    for name in agents
                }
            }
        }

    def server(self) -> AbstractAsyncContextManager[Desk]:
        client = {"secrets": True}
        return open_desk(self.root / "ws", self.root / "storage", settings=self.settings, client=client)

    def read(self, params: Json) -> Json:
        key, origin = self.kept.get(params["name"], (None, None))
        return {"value": key} if key and origin == params["origin"] else {}

    def environments(self, name: str) -> list[str | None]:
        rows = [json.loads(line) for line in (self.root / f"{name}.jsonl").read_text().splitlines()]
        return [row["started"]["env"].get("DOOR_API_KEY") for row in rows if "started" in row]


async def agent(desk: Desk, name: str) -> Json:
    agents = (await desk.peer.request("agent/list", {}))["agents"]
    return next(each for each in agents if each["agentName"] == name)


async def test_a_key_reaches_one_agent_and_stands_nowhere(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    async with shelf.server() as desk:
        desk.peer.on_request["secret/read"] = shelf.read
        thread = await desk.thread(agentName="Door")
        with pytest.raises(RpcError) as error:
            await desk.prompt(thread, "open the door")
        assert error.value.kind == "needsLogin"
        door = await agent(desk, "Door")
        assert "enter its key with `Countersign: Set Key`" in door["detail"]
        (method,) = door["login"]
        (wanted,) = method["keys"]
        assert door["secrets"] == [wanted]
        with pytest.raises(RpcError, match="the key for `DOOR_API_KEY` of Door is missing"):
            await desk.peer.request("agent/login", {"agentName": "Door", "methodId": "key"})

        shelf.kept[wanted["secret"]] = (KEY, wanted["origin"])
        await desk.peer.request("agent/login", {"agentName": "Door", "methodId": "key"})
        assert (await agent(desk, "Door"))["state"] == "running"
        await desk.prompt(thread, "open the door")
        other = await desk.thread(agentName="Plain")
        await desk.prompt(other, "and you?")
        events, others = await desk.events(thread), await desk.events(other)
        assert "[redacted]so it is" in "".join(event.get("text", "") for event in events)
        assert "no such variableso it is" in "".join(event.get("text", "") for event in others)
        assert KEY not in json.dumps([events, others, desk.rows()])
        stderr = desk.peer.stderr
    assert shelf.environments("Door") == [None, KEY]
    assert shelf.environments("Plain") == [None]
    assert KEY not in stderr

    async with shelf.server() as desk:
        desk.peer.on_request["secret/read"] = shelf.read
        await desk.prompt(thread, "and close it")
        assert (await agent(desk, "Door"))["secrets"] == [wanted]
        stderr = desk.peer.stderr
    assert shelf.environments("Door") == [None, KEY, KEY]
    assert KEY not in stderr
    written = [path for folder in ("storage", "ws") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []
    assert any(path.suffix == ".json" and b"DOOR_API_KEY" in path.read_bytes() for path in written)
