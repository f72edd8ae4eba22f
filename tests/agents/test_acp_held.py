"""The label falls whenever a session is in another mode than the one in which its agent asks, whoever tells of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from countersign.agents.acp.recipe import STRANGER, Recipe
from tests.agents.scripted_agent_fixture import PROBED, Player

from .desk import Place

WITH_MODE = replace(PROBED, mode="default", stricter=frozenset({"plan"}))
WITHOUT_MODE = replace(PROBED, stricter=frozenset({"read-only"}))
OLDER = {"currentModeId": "default", "availableModes": [{"id": each, "name": each} for each in ("default", "other")]}


def mode(value: str, option_id: str = "mode", category: str | None = "mode") -> dict:
    choices = [{"value": each, "name": each} for each in ("default", "plan", "other", "bypassPermissions")]
    return {"id": option_id, "name": "Mode", "category": category, "type": "select", "currentValue": value,
            "options": choices}  # fmt: skip


WEB = {"id": "web", "name": "Web search", "type": "boolean", "currentValue": True}


def goes(value: str) -> dict:
    return {"update": {"sessionUpdate": "current_mode_update", "currentModeId": value}}


def lists(*options: dict) -> dict:
    return {"update": {"sessionUpdate": "config_option_update", "configOptions": list(options)}}


LEAVES: dict[str, tuple[Recipe, list, dict]] = {
    "no mode of its recipe, none told": (WITHOUT_MODE, [goes("full-access")], {}),
    "no mode of its recipe": (WITHOUT_MODE, [goes("other")], {"modes": OLDER}),
    "a probed stranger": (STRANGER, [goes("other")], {"modes": OLDER}),
    "by category": (WITH_MODE, [lists(mode("bypassPermissions", "permission_mode"))], {}),
    "by category, told before": (
        WITH_MODE,
        [lists(mode("bypassPermissions", "permission_mode"))],
        {"offers": {"configOptions": [mode("default", "permission_mode")]}},
    ),
    "by category in other letters": (WITH_MODE, [lists(mode("other", "permission_mode", " Mode"))], {}),
    "by id without a category": (WITH_MODE, [lists(mode("other", "mode", None))], {}),
    "behind many others": (
        WITH_MODE,
        [lists(*({**WEB, "id": f"w{at}"} for at in range(500)), mode("other"))],
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("recipe", "steps", "script"), LEAVES.values(), ids=LEAVES)
async def test_a_mode_that_is_left_lowers_the_label(place: Place, recipe: Recipe, steps: list, script: dict):
    player = Player(place, [], steps, recipe=recipe, gated=True, **script)
    await player.play()
    assert player.agent.label == "gated", player.agent.detail
    await player.play()
    assert player.agent.label == "unguarded"
    assert "by itself" in player.agent.detail


def option(option_id: str, value: str | bool, name: str, category: str | None = None, *values: str) -> dict:
    kind = "boolean" if isinstance(value, bool) else "select"
    listed = {"options": [{"value": each, "name": each} for each in values]} if values else {}
    return {"id": option_id, "name": name, "category": category, "type": kind, "currentValue": value, **listed}


OPENED: dict = {"offers": {"configOptions": [mode("default"), option("approval_policy", "on-request", "Approvals", None,
                                                               "on-request", "never"), WEB,
                                       option("turbo", False, "Turbo")]}}  # fmt: skip
LEAVES |= {
    "by an option of a new id": (WITHOUT_MODE, [lists(mode("other", "session_mode"))], OPENED),
    "by one that lost its category": (
        WITHOUT_MODE,
        [lists(mode("other", "agent_mode", None))],
        {"offers": {"configOptions": [mode("default", "agent_mode")]}},
    ),
    "and gone from the list then": (WITHOUT_MODE, [lists(mode("other")), lists(WEB)], OPENED),
    "gone from the list, and back": (WITHOUT_MODE, [lists(WEB), lists(mode("other"))], OPENED),
}
CHANGES = {
    "a policy": lists(option("approval_policy", "never", "Approvals", None, "on-request", "never")),
    "a policy of the model": lists(option("approval_policy", "never", "Approvals", "model")),
    "a switch": lists(option("turbo", True, "Turbo")),
    "a switch that is reported first": lists(option("bypass", True, "Bypass permissions")),
    "the name of a value": lists(
        {**option("style", "b", "Style"), "options": [{"value": "b", "name": "Never ask"}]}),
}  # fmt: skip
KEEPS = {
    "a policy, told again": lists(option("approval_policy", "on-request", "Approvals")),
    "a policy that is reported first": lists(option("sandbox", "strict", "Sandbox")),
    "a harmless switch": lists({**WEB, "currentValue": False}),
    "a model": lists(option("model", "deep", "Model", "model")),
}


@pytest.mark.parametrize("step", CHANGES.values(), ids=CHANGES)
async def test_an_option_that_a_person_could_not_choose_lowers_the_label(place: Place, step: dict):
    player = Player(place, [step], recipe=WITHOUT_MODE, gated=True, **OPENED)
    await player.play()
    assert player.agent.label == "unguarded"
    assert "set its option" in player.agent.detail


@pytest.mark.parametrize("step", KEEPS.values(), ids=KEEPS)
async def test_other_options_may_change(place: Place, step: dict):
    player = Player(place, [step], recipe=WITHOUT_MODE, gated=True, **OPENED)
    await player.play()
    assert player.agent.label == "gated", player.agent.detail


async def test_a_policy_that_the_agent_changed_is_put_back(place: Place):
    player = Player(place, [CHANGES["a policy"]], [], recipe=WITHOUT_MODE, gated=True, **OPENED)
    await player.play()
    await player.play()
    sets = [row["params"] for row in player.told() if row.get("method") == "session/set_config_option"]
    assert [(each["configId"], each["value"]) for each in sets] == [("approval_policy", "on-request")]


STAYS: dict[str, tuple[Recipe, list, dict]] = {
    "stricter": (WITHOUT_MODE, [goes("read-only")], {"modes": OLDER}),
    "another name of it": (WITHOUT_MODE, [lists(mode("default", "session_mode"))], OPENED),
    "no longer listed": (WITHOUT_MODE, [lists(WEB)], OPENED),
    "its own": (WITHOUT_MODE, [goes("default")], {"modes": OLDER}),
    "held and listed": (WITH_MODE, [lists(mode("default")), lists(mode("plan", "permission_mode"))], {}),
    "about something else": (WITH_MODE, [lists(mode("other", "style", None))], {}),
}


@pytest.mark.parametrize(("recipe", "steps", "script"), STAYS.values(), ids=STAYS)
async def test_a_mode_that_asks_as_much_is_no_fall(place: Place, recipe: Recipe, steps: list, script: dict):
    player = Player(place, steps, recipe=recipe, gated=True, **script)
    await player.play()
    assert player.agent.label == "gated", player.agent.detail


async def test_a_mode_that_was_told_at_opening_is_put_back(place: Place):
    player = Player(place, [goes("other")], [], recipe=WITHOUT_MODE, gated=True, modes=OLDER)
    await player.play()
    await player.play()
    sets = [row["params"]["modeId"] for row in player.told() if row.get("method") == "session/set_mode"]
    assert sets == ["default"]


async def test_the_answer_to_an_option_that_was_set_is_judged(place: Place):
    offers = {"configOptions": [mode("default"), WEB]}
    player = Player(place, [], recipe=WITH_MODE, gated=True, offers=offers, strays={"web": ["mode", "other"]})
    await player.play()
    assert player.agent.label == "gated"
    await player.agent.set_option("thread", "web", False)
    assert player.agent.label == "unguarded"
    assert "`other`" in player.agent.detail


async def test_the_answer_to_what_holds_the_mode_is_judged(place: Place):
    offers = {"configOptions": [mode("default"), WEB]}
    recipe = replace(WITH_MODE, mode=None, config={"web": True})
    player = Player(place, [], recipe=recipe, gated=True, offers=offers, strays={"web": ["mode", "other"]})
    await player.play()
    assert player.agent.label == "unguarded"


async def test_a_mode_that_the_person_chose_is_no_fall(place: Place):
    offers = {"configOptions": [mode("default"), WEB]}
    player = Player(place, [], [lists(mode("plan"), WEB)], [lists(mode("other"), WEB)], recipe=STRANGER, gated=True,
                    offers=offers)  # fmt: skip
    await player.play()
    await player.agent.set_option("thread", "mode", "plan")
    await player.play()
    assert player.agent.label == "gated", player.agent.detail
    await player.play()
    assert player.agent.label == "unguarded"


async def test_an_agent_that_opens_in_a_mode_that_asks_less_is_unguarded(place: Place):
    player = Player(place, [], recipe=WITHOUT_MODE, gated=True, modes={**OLDER, "currentModeId": "full-access"})
    await player.play()
    assert player.agent.label == "unguarded"
    assert "opened this chat in its mode `full-access`" in player.agent.detail


async def test_an_unknown_agent_without_a_probe_may_change_its_mode(place: Place):
    player = Player(place, [goes("other")], recipe=STRANGER, modes=OLDER)
    await player.play()
    assert player.agent.detail == STRANGER.caveat
    assert [row for row in player.told() if row.get("method") == "session/set_mode"] == []
