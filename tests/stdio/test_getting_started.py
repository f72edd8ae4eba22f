"""`docs/getting-started.md` is walked: from nothing installed or configured to a first edit that a person approves.

Each row of its tables is walked on a real server, against the scripted model. What stands in for the world: a model's
address is replaced by that of the scripted one, and in place of a login an agent is given the variables that lead it
there. The models of the editor are walked in `tests/e2e/models.test.mjs`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from countersign.agents.probe import model_server
from countersign.agents.probe.bench import lead_to_model
from tests.agents.recipes_under_test import BY_NAME, HERE, SEED, RealAgent, parameters
from tests.stdio.desk import Desk, Json, open_desk
from tests.stdio.peer import Peer

PAGE = (Path(__file__).parents[2] / "docs/getting-started.md").read_text()
ENTRIES = [
    pytest.param(entry, id="-".join(str(entry[key]) for key in ("provider", "baseUrl") if key in entry))
    for found in re.findall(r"`(\{ \"provider\".*?\})`", PAGE)
    if (entry := json.loads(found))["provider"] != "vscode"
]
VERSIONED = {"openai": "/v1"}
"""What a provider's address ends with."""
ASKED = "create hello.txt saying hi"
CLIENT = {"settings": True, "settingsUpdate": True, "secrets": True}
KEY = "sk-of-the-page-0123456789"


def opened(root: Path, user: Json, *, path: str = "") -> AbstractAsyncContextManager[Desk]:
    home = root / "home"
    (home / "tmp").mkdir(parents=True)
    environment = {**os.environ, "HOME": str(home), "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    peer = Peer.python("-m", "countersign", "serve", env=environment)
    options: Json = {"settings": {"user": user}, "client": CLIENT}
    return open_desk(root / "work", root / "storage", peer=peer, **options)


async def approve_all(desk: Desk, thread: str, text: str, made: Path) -> list[Json]:
    """Send the prompt and approve every card; return them. Until the first is approved, nothing is written."""
    turn, cards = desk.prompt(thread, text), list[Json]()
    while not turn.done():
        waiting = asyncio.ensure_future(desk.card())
        await asyncio.wait((turn, waiting), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            break
        assert cards or not made.exists()  # noqa: ASYNC240 a test may wait for its own folder
        cards.append(waiting.result())
        assert await desk.answer(cards[-1]) == "allowed"
    assert (await turn)["stopReason"] == "end_turn"
    return cards


@pytest.mark.parametrize("entry", ENTRIES)
async def test_each_model_of_the_page_makes_a_first_gated_edit(tmp_path: Path, entry: Json) -> None:
    call = {"name": "write_file", "args": {"path": "hello.txt", "content": "hi"}}
    script = {"scenarios": {"hello": {"steps": [{"text": "I will.", "tools": [call]}]}}, "default": "hello"}
    log = tmp_path / "model.jsonl"
    server, port = model_server.serve(0, script, log)
    try:
        url = f"http://127.0.0.1:{port}{VERSIONED.get(entry['provider'], '')}"
        user = {"models": {"mine": {**entry, "baseUrl": url}}, "agents": {"Countersign": {"model": "mine"}}}
        async with opened(tmp_path, user) as desk:
            asked: list[str] = []
            desk.peer.on_request["secret/read"] = lambda params: (asked.append(params["name"]), {"value": KEY})[1]
            thread = await desk.thread()
            made = tmp_path / "work/hello.txt"
            (card,) = await approve_all(desk, thread, ASKED, made)
            assert (card["preview"]["kind"], card["preview"]["newText"]) == ("diff", "hi")
            assert made.read_text() == "hi"
            assert set(asked) == {"models.mine"}
        assert {row["model"] for row in model_server.requests_in(log)} == {entry["model"]}
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.agents
@pytest.mark.parametrize("row", parameters())
async def test_each_agent_of_the_page_is_added_and_makes_a_first_gated_edit(tmp_path: Path, row: RealAgent) -> None:
    recipe, work = BY_NAME[row.recipe], tmp_path / "work"
    work.mkdir()
    (work / "seed.txt").write_text(SEED)
    server, port = model_server.serve(0, row.script(work), tmp_path / "model.jsonl")
    try:
        # Of some, only the package with the program for this platform is installed.
        folders = (HERE / row.name / "node_modules/.bin", Path(row.command_line()[0]).parent)
        async with opened(tmp_path, {}, path=os.pathsep.join(map(str, folders))) as desk:
            written: list[Json] = []
            desk.peer.on_request["settings/update"] = lambda params: (written.append(params), {"applied": True})[1]
            listed = (await desk.peer.request("agent/known", {}))["agents"]
            known = next(each for each in listed if each["recipe"] == row.recipe)
            assert known["installed"]["version"] in recipe.measured
            assert f"`{known['install']}` | `{known['login']}` |" in PAGE
            name = (await desk.peer.request("agent/add", {"recipe": row.recipe, "command": known["command"]}))[
                "agentName"
            ]
            (update,) = written
            assert (update["layer"], update["path"]) == ("user", ["agents", name])
            # In place of the login.
            led = {**update["value"], "env": lead_to_model(recipe, f"http://127.0.0.1:{port}", tmp_path / "home")}
            desk.peer.notify("settings/changed", {"settings": {"user": {"agents": {name: led}}}, "trusted": True})
            thread = await desk.thread(agentName=name)
            made = work / "made.txt"
            cards = await approve_all(desk, thread, "[[write]] Do what this task says.", made)
            assert {card["agentName"] for card in cards} == {name}
            assert made.read_text().rstrip() == "made by the agent\nline two"
            view = next(
                each for each in (await desk.peer.request("agent/list", {}))["agents"] if each["agentName"] == name
            )
            assert view["label"] == recipe.label, view["detail"]
    finally:
        server.shutdown()
        server.server_close()
