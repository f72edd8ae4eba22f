"""Every message that we send an agent, and every answer, is one that the protocol's own SDK takes."""

from __future__ import annotations

import asyncio

import pytest
from acp import schema

from countersign.agents.acp.recipe import Recipe
from tests.agents.scripted_agent_fixture import Player, ask, done

from .desk import Place

REQUESTS = {
    "initialize": schema.InitializeRequest,
    "session/new": schema.NewSessionRequest,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
}
OPTIONS = {bool: schema.SetSessionConfigOptionBooleanRequest, str: schema.SetSessionConfigOptionSelectRequest}
TERMINAL = {"terminalId": "shell-1"}
STEPS = [
    ask("a", 1, kind="execute", rawInput={"command": "make"}),
    done("a"),
    {"ask": "fs/read_text_file", "id": 2, "params": {"path": "/{ws}/a.txt"}},
    {"ask": "fs/write_text_file", "id": 3, "params": {"path": "/{ws}/b.txt", "content": "x"}},
    {"ask": "terminal/create", "id": 4, "params": {"command": "true"}},
    {"ask": "terminal/wait_for_exit", "id": 5, "params": TERMINAL},
    {"ask": "terminal/output", "id": 6, "params": TERMINAL},
    {"ask": "terminal/kill", "id": 7, "params": TERMINAL},
    {"ask": "terminal/release", "id": 8, "params": TERMINAL},
    {"until": "cancel"},
    {"stop": "cancelled"},
]
ANSWERS = {
    1: schema.RequestPermissionResponse,
    2: schema.ReadTextFileResponse,
    3: schema.WriteTextFileResponse,
    4: schema.CreateTerminalResponse,
    5: schema.WaitForTerminalExitResponse,
    6: schema.TerminalOutputResponse,
    7: schema.KillTerminalResponse,
    8: schema.ReleaseTerminalResponse,
}


@pytest.fixture
def steps(place: Place) -> list:
    (place.workspace / "a.txt").write_text("a\n")
    return [
        {**step, "params": {**step["params"], "path": step["params"]["path"].replace("/{ws}", str(place.workspace))}}
        if "path" in step.get("params", {})
        else step
        for step in STEPS
    ]


async def test_what_we_send_and_answer_fits_the_sdks_models(place: Place, steps: list):
    place.person.decide = lambda card: {"option": "allow_once"}
    options = {"switch": False, "choice": "one"}
    recipe = Recipe("test", "gated", mode="default", config=options, session_meta={"any": {"thing": 1}})
    player = Player(place, steps, recipe=recipe)
    playing = player.play()
    await _stop_when_idle(place, player, playing)
    for row in player.told():
        if (method := row.get("method")) == "session/set_config_option":
            OPTIONS[type(row["params"]["value"])].model_validate(row["params"])
        elif method is not None:
            REQUESTS[method].model_validate(row["params"])
    assert [row["method"] for row in player.told() if "method" in row].count("session/set_config_option") == 2
    for request_id, model in ANSWERS.items():
        model.model_validate(player.answer(request_id))


async def _stop_when_idle(place: Place, player: Player, playing) -> None:

    task = asyncio.ensure_future(playing)
    await place.until(lambda: len(place.of("toolResult")) >= 4)
    await player.agent.cancel("thread")
    assert await task == "cancelled"
