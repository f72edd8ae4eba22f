"""What real agents let a person choose, offline: a model is set, no freer mode is, and instructions arrive."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.agents.probe import model_server
from countersign.wire.errors import InvalidAnswer, ModelError

from .desk import Place
from .recipes_under_test import BY_NAME, SEED, RealAgent, parameters

pytestmark = pytest.mark.agents

MOST_TRIED = 3
MARK = "Indent with three blanks, says the project."
FREER = ("bypassPermissions", "acceptEdits", "yolo", "autoEdit", "full-access", "auto", "agent-full-access")


@pytest.mark.parametrize("row", parameters())
async def test_a_model_can_be_chosen_and_no_freer_mode(place: Place, row: RealAgent):
    (place.workspace / "seed.txt").write_text(SEED)
    for name in BY_NAME[row.recipe].instructions:
        (place.workspace / name).write_text(MARK)
    place.person.decide = lambda card: {"option": "reject_once"}
    log = place.folder / "model.jsonl"
    server, port = model_server.serve(0, row.script(place.workspace), log)
    try:
        agent = place.agent(row.config(f"http://127.0.0.1:{port}", Path(place.policy.home)))
        await agent.prompt("do nothing", place.turn(row.name))
        offered = agent.offered("thread")
        assert offered is not None
        options = {option.option_id: option for option in offered.options}
        modes = [one for one in options.values() if one.option_id == "mode" or one.category == "mode"]
        for mode in modes:
            freer = [choice for choice in mode.choices or () if choice.value in FREER]
            assert [choice.value for choice in freer if not choice.refused and choice.value != mode.value] == []
            for choice in freer:
                if choice.value != mode.value:
                    with pytest.raises(InvalidAnswer):
                        await agent.set_option("thread", mode.option_id, choice.value)
        for model in [one for one in options.values() if one.category == "model"]:
            for other in [one.value for one in model.choices or () if one.value != model.value][:MOST_TRIED]:
                try:
                    now = {one.option_id: one.value for one in await agent.set_option("thread", model.option_id, other)}
                except ModelError:
                    # Of another provider, which it has no login for here: then nothing has changed.
                    now = {one.option_id: one.value for one in offered.options}
                    assert now[model.option_id] == model.value
                else:
                    assert now[model.option_id] == other
                    break
        assert agent.label != "unguarded", agent.detail
        if agent.recipe.instructions:
            assert MARK in log.read_text()
        if row.name != "zed-codex":
            assert modes
    finally:
        server.shutdown()
        server.server_close()
