"""Models, modes and options of an agent are offered in its words, set with their type, never to make it ask less."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from countersign.agents.acp import asking_words
from countersign.agents.acp.offered import MOST_CHOICES, Offered
from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.agents.acp.translate import ModeNews
from countersign.wire.errors import InvalidAnswer, ModelError
from countersign.wire.threads import OptionChoice
from tests.agents.scripted_agent_fixture import Player

from .desk import Place

KNOWN = Recipe("test", "gated", mode="default", stricter=frozenset({"plan"}), config={"allow_all": "off"})
MODEL = {
    "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "fast",
    "options": [{"group": "g", "name": "Small", "options": [{"value": "fast", "name": "Fast"}]},
                {"value": "deep", "name": "Deep", "description": "thinks for long"}],
}  # fmt: skip
MODE = {
    "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "default",
    "options": [{"value": each, "name": each} for each in ("default", "plan", "acceptEdits")],
}  # fmt: skip
WEB = {"id": "web", "name": "Web search", "type": "boolean", "currentValue": True}
HELD = {
    "id": "allow_all", "name": "Allow all", "type": "select", "currentValue": "off",
    "options": [{"value": each, "name": each} for each in ("on", "off")],
}  # fmt: skip
OFFERS = {"configOptions": [MODEL, MODE, WEB, HELD]}
COMMANDS = [
    {"name": "review", "description": "Reviews", "input": {"hint": "a branch"}},
    {"name": "init", "description": ""},
]
OLDER = {
    "modes": {"currentModeId": "default",
              "availableModes": [{"id": "default", "name": "Ask"}, {"id": "yolo", "name": "YOLO"}]},
    "models": {"currentModelId": "a",
               "availableModels": [{"modelId": "a", "name": "A"}, {"modelId": "b", "name": "B"}]},
}  # fmt: skip


def opened(recipe: Recipe, **result: object) -> Offered:
    made = Offered("Agent", recipe)
    made.hear_opened(result)  # type: ignore[arg-type]
    return made


def values(offered: Offered) -> dict[str, str | bool]:
    return {option.option_id: option.value for option in offered.options}


def test_options_are_told_in_the_agents_words_and_order():
    options = opened(KNOWN, **OFFERS).options
    assert [(one.option_id, one.name, one.type, one.value) for one in options] == [
        ("model", "Model", "select", "fast"), ("mode", "Mode", "select", "default"),
        ("web", "Web search", "boolean", True), ("allow_all", "Allow all", "select", "off"),
    ]  # fmt: skip
    assert options[0].choices == [
        OptionChoice(value="fast", name="Fast", group="Small"),
        OptionChoice(value="deep", name="Deep", description="thinks for long"),
    ]


REFUSED = [
    (KNOWN, "mode", "acceptEdits", "Agent may ask for less in this mode"),
    (KNOWN, "allow_all", "on", "Countersign keeps this as it is"),
    (KNOWN, "approval", "never", "may ask for less"),
    (KNOWN, "askBeforeEdits", False, "may ask for less"),
    (STRANGER, "mode", "acceptEdits", "would ask for less"),
    (STRANGER, "allow_all", "on", "may ask for less"),
    (STRANGER, "style", "full-access", "would ask for less"),
    (KNOWN, "sandbox_mode", "danger-full-access", "may ask for less"),
    (STRANGER, "permission_mode", "bypassPermissions", "may ask for less"),
    (KNOWN, "effort", "bypassPermissions", "would ask for less"),
]  # fmt: skip
MORE = [
    {"id": "approval", "name": "Approval", "type": "select", "currentValue": "always",
     "options": [{"value": each, "name": each} for each in ("always", "never")]},
    {"id": "askBeforeEdits", "name": "Edits", "type": "boolean", "currentValue": True},
    {"id": "style", "name": "Style", "type": "select", "currentValue": "plain",
     "options": [{"value": each, "name": each} for each in ("plain", "full-access", "task-list")]},
    *({"id": option_id, "name": "Depth", "category": category, "type": "select", "currentValue": "default",
       "options": [{"value": each, "name": each} for each in ("default", "bypassPermissions", "danger-full-access")]}
      for option_id, category in (("sandbox_mode", "model"), ("permission_mode", "model_config"),
                                  ("effort", "thought_level"))),
]  # fmt: skip


@pytest.mark.parametrize(("recipe", "option", "value", "why"), REFUSED, ids=str)
def test_what_would_make_the_agent_ask_less_is_refused_with_the_reason(recipe, option, value, why):
    offered = opened(recipe, configOptions=[*OFFERS["configOptions"], *MORE])
    with pytest.raises(InvalidAnswer, match=why):
        offered.request(option, value)
    view = next(one for one in offered.options if one.option_id == option)
    shown = view.refused or next(one.refused for one in view.choices or () if one.value == value)
    assert shown
    assert why in shown


SWITCHES = ["God mode", "Turbo", "Auto", "Autopilot", "YOLO", "Hands-free", "Never stop", "Unsupervised"]


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_whose_name_asks_less_is_fixed(name: str):
    (view,) = opened(KNOWN, configOptions=[{**WEB, "name": name, "currentValue": False}]).options
    assert view.refused is not None


def test_a_switch_for_the_mode_is_fixed():
    offered = opened(KNOWN, configOptions=[{**WEB, "id": "careful", "category": "mode"}])
    with pytest.raises(InvalidAnswer, match="may ask for less"):
        offered.request("careful", False)


def test_a_change_of_the_mode_judges_no_choice_again(monkeypatch: pytest.MonkeyPatch):
    listed = [{"value": f"m{at}", "name": "aB " * 66} for at in range(900)]
    offered = opened(STRANGER, configOptions=[{**MODE, "options": listed, "currentValue": "m0"}])
    judged: list[object] = []
    monkeypatch.setattr(Offered, "_refused", lambda self, setting, choice: judged.append(choice))
    for at in range(10):
        offered.hear(ModeNews(f"m{at % 2}"))
    assert (judged, values(offered)) == ([], {"mode": "m1"})
    longer: dict = {**MODE, "options": [*listed, {"value": "new", "name": "New"}], "currentValue": "m0"}
    offered.hear_options([longer])
    assert len(judged) == 1


ALLOWED = [("mode", "plan"), ("model", "deep"), ("web", False), ("style", "task-list"), ("allow_all", "off")]


@pytest.mark.parametrize(("option", "value"), ALLOWED)
def test_everything_else_can_be_chosen(option, value):
    offered = opened(KNOWN, configOptions=[*OFFERS["configOptions"], *MORE])
    method, params = offered.request(option, value)
    assert method == "session/set_config_option"
    assert params == {"configId": option, "value": value, **({"type": "boolean"} if option == "web" else {})}


@pytest.mark.parametrize(("option", "value"), [("model", "none such"), ("model", True), ("web", "true"), ("gone", "x")])
def test_a_value_that_is_not_offered_is_not_sent(option, value):
    with pytest.raises(InvalidAnswer):
        opened(KNOWN, **OFFERS).request(option, value)


def test_modes_and_models_in_their_older_form_are_options_too():
    offered = opened(KNOWN, **OLDER)
    assert values(offered) == {"mode": "default", "model": "a"}
    assert offered.request("model", "b") == ("session/set_model", {"modelId": "b"})
    with pytest.raises(InvalidAnswer):
        offered.request("mode", "yolo")
    # Whoever has the options does not need them twice.
    assert [one.option_id for one in opened(KNOWN, **OFFERS, **OLDER).options] == ["model", "mode", "web", "allow_all"]


def test_a_known_agent_without_a_mode_to_hold_stays_in_the_one_that_it_began_with():
    offered = opened(replace(KNOWN, mode=None), **OLDER)
    offered.hear_mode("yolo")
    with pytest.raises(InvalidAnswer):
        opened(replace(KNOWN, mode=None), **OLDER).request("mode", "yolo")
    assert offered.request("mode", "default")[0] == "session/set_mode"


def test_options_come_and_go_as_the_agent_says():
    told: list[int] = []
    offered = Offered("Agent", KNOWN, lambda: told.append(1))
    offered.hear_opened(OFFERS)  # type: ignore[arg-type]
    offered.hear_options([{**MODEL, "currentValue": "deep"}])
    assert values(offered) == {"model": "deep"}
    before = len(told)
    offered.hear_options([{**MODEL, "currentValue": "deep"}])
    assert len(told) == before
    offered.hear_options([])
    assert offered.options == []


def test_what_cannot_be_shown_or_sent_back_as_it_is_is_not_offered():
    strange = [{"id": "a\u202eb", "type": "boolean", "currentValue": True},
               {"id": "x", "type": "boolean", "currentValue": "on"},
               {"id": "n", "type": "select", "currentValue": 3}, "no object"]  # fmt: skip
    assert opened(KNOWN, configOptions=strange).options == []
    many = [{**MODEL, "id": f"m{at}", "options": [{"value": str(v)} for v in range(900)]} for at in range(5)]
    offered = opened(KNOWN, configOptions=many)
    assert sum(len(one.choices or ()) for one in offered.options) == MOST_CHOICES


LESS = [
    "YOLOMode", "yoloMode", "fullaccess", "autoapprove", "autoMode", "auto", "Auto", "never",
    "Don\N{RIGHT SINGLE QUOTATION MARK}t ask", "do not ask", "dontPrompt", "acceptAll", "accept all", "allowall",
    "always approve", "always proceed", "auto-proceed", "skip checks", "trust", "approve-all", "full-auto",
    "no prompts", "\N{FULLWIDTH LATIN CAPITAL LETTER Y}OLO", "by\N{SOFT HYPHEN}pass", "y\N{CYRILLIC SMALL LETTER O}lo",
]  # fmt: skip


@pytest.mark.parametrize("word", LESS)
def test_a_mode_that_says_in_other_letters_that_it_asks_less_is_refused(word):
    choices = [{"value": "ask", "name": "Ask"}, {"value": "v", "name": word}, {"value": "plan", "name": "Plan"}]
    (mode,) = opened(STRANGER, configOptions=[{**MODE, "currentValue": "ask", "options": choices}]).options
    assert [bool(each.refused) for each in mode.choices or ()] == [False, True, False]


STEERING = ["autoMode", "Skip checks", "dontPrompt", "Always proceed", "YOLOMode", "autoapprove", "fullaccess", "trust",
            "Web s\N{CYRILLIC SMALL LETTER IE}arch"]  # fmt: skip


@pytest.mark.parametrize("name", STEERING)
def test_an_option_whose_name_may_be_about_asking_is_kept_as_it_is(name):
    (option,) = opened(KNOWN, configOptions=[{**WEB, "id": "x", "name": name}]).options
    assert option.refused


def test_a_model_may_be_called_auto_and_a_value_that_looks_like_asking_is_refused():
    model = {**MODEL, "options": [{"value": "auto", "name": "Auto"}, {"value": "fast", "name": "Fast"}]}
    choices = [{"value": each, "name": each} for each in ("plain", "auto", "approvals", "task-list")]
    style = {"id": "style", "name": "Style", "type": "select", "currentValue": "plain", "options": choices}
    told = opened(KNOWN, configOptions=[model, style]).options
    assert [[bool(each.refused) for each in one.choices or ()] for one in told] == [
        [False, False], [False, False, True, False],
    ]  # fmt: skip


async def test_a_choice_reaches_the_agent_and_its_next_session(place: Place):
    said = {"update": {"sessionUpdate": "available_commands_update", "availableCommands": COMMANDS}}
    player = Player(place, [said], [{"exit": 1}], [], recipe=KNOWN, offers=OFFERS, refuses=["broken"])
    with pytest.raises(InvalidAnswer, match="send a message first"):
        await player.agent.set_option("thread", "model", "deep")
    await player.play()
    offered = player.agent.offered("thread")
    assert offered is not None
    assert [(one.name, one.hint) for one in offered.commands] == [("review", "a branch"), ("init", None)]
    options = await player.agent.set_option("thread", "model", "deep")
    assert {one.option_id: one.value for one in options}["model"] == "deep"
    assert {one.option_id: one.value for one in await player.agent.set_option("thread", "web", False)}["web"] is False
    with pytest.raises(InvalidAnswer):
        await player.agent.set_option("thread", "mode", "acceptEdits")
    with pytest.raises(Exception, match="has ended"):
        await player.play()
    await player.play()
    sets = [row["params"] for row in player.told() if row.get("method") == "session/set_config_option"]
    assert [(one["configId"], one["value"], one.get("type")) for one in sets if one["configId"] != "allow_all"] == [
        ("model", "deep", None), ("web", False, "boolean"), ("model", "deep", None), ("web", False, "boolean"),
    ]  # fmt: skip


async def test_what_the_agent_refuses_is_said_and_changes_nothing(place: Place):
    model = {**MODEL, "options": [*MODEL["options"], {"value": "broken", "name": "Broken"}]}
    player = Player(place, [], recipe=KNOWN, offers={"configOptions": [model]}, refuses=["broken"])
    await player.play()
    with pytest.raises(ModelError, match="broken is not for you"):
        await player.agent.set_option("thread", "model", "broken")
    offered = player.agent.offered("thread")
    assert offered is not None
    assert values(offered) == {"model": "fast"}


async def test_a_change_by_the_agent_is_taken_in(place: Place):
    change = {"update": {"sessionUpdate": "config_option_update", "configOptions": [{**MODEL, "currentValue": "deep"}]}}
    player = Player(place, [change], recipe=KNOWN, offers=OFFERS)
    await player.play()
    offered = player.agent.offered("thread")
    assert offered is not None
    assert values(offered) == {"model": "deep"}


def used(used: int, size: int, amount: float | None = None, currency: str = "USD") -> dict:
    cost = {} if amount is None else {"cost": {"amount": amount, "currency": currency}}
    return {"update": {"sessionUpdate": "usage_update", "used": used, "size": size, **cost}}


async def test_context_and_cost_are_those_that_the_agent_tells(place: Place):
    player = Player(place, [used(10, 100, 0.25), used(10, 100, 0.25), used(20, 100, 0.75)], [used(30, 100, 5, "EUR")])
    await player.play()
    await player.play()
    told = [(one.context_used, one.context_tokens, one.cost) for one in place.of("usage") if one.context_used]
    assert told == [(10, 100, 0.25), (20, 100, 0.5), (30, 100, None)]


async def test_a_title_of_the_agent_is_told_once_it_has_one(place: Place):
    titles: list[tuple[str, str]] = []
    step = {"update": {"sessionUpdate": "session_info_update", "title": "Fix\nthe \u202eparser"}}
    player = Player(place, [step, {"update": {"sessionUpdate": "session_info_update", "title": None}}])
    player.agent._tell_title = lambda thread, title: titles.append((thread, title))
    await player.play()
    assert titles == [("thread", "Fix the \\u202eparser")]


def many(count: int, *, start: int = 0) -> list:
    choices = [{"value": f"m-{start + n}", "name": f"Model {start + n}"} for n in range(count)]
    return [{"id": "model", "name": "Model", "category": "model", "type": "select",
             "currentValue": f"m-{start}", "options": choices}]  # fmt: skip


async def test_the_names_of_a_long_list_are_not_read_on_the_event_loop(place: Place, monkeypatch: pytest.MonkeyPatch):
    asking_words._read.cache_clear()
    loop, read, on_loop = threading.get_ident(), set[str](), set[str]()
    readings = asking_words._readings

    def noted(name: str) -> set[str]:
        (on_loop if threading.get_ident() == loop else read).add(name)
        return readings(name)

    monkeypatch.setattr(asking_words, "_readings", noted)
    told = {"sessionUpdate": "config_option_update", "configOptions": many(900, start=5000)}
    player = Player(place, [{"update": told}], offers={"configOptions": many(1200)})
    await player.play()
    offered = player.agent.offered("thread")
    assert offered is not None
    (model,) = offered.options
    assert (model.value, len(model.choices or ())) == ("m-5000", 900)
    # Setting one is answered with the whole list, which is another one again.
    await player.agent.set_option("thread", "model", "m-5001")
    (model,) = offered.options
    assert len(read) > 2 * (1000 + 900)
    assert on_loop <= {"m-5001"}


async def test_what_is_read_ahead_changes_no_verdict(place: Place):
    choices = [*many(200)[0]["options"], {"value": "x", "name": "YOLO"}]
    options: list = [{"id": "mode", "name": "Mode", "type": "select", "currentValue": "m-0", "options": choices}]
    player = Player(place, [], offers={"configOptions": options})
    await player.play()
    plain = Offered("it", STRANGER)
    plain.hear_opened({"configOptions": options})
    offered = player.agent.offered("thread")
    assert offered is not None
    found = [[bool(each.refused) for each in one.choices or ()] for one in offered.options]
    assert found == [[bool(each.refused) for each in one.choices or ()] for one in plain.options]
    assert found[0][-1]
