"""Logins by keys in the agent's environment (`env_var` of ACP): a person enters them, that agent alone gets them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from countersign.agents.acp.last_greeting import GreetingStore, LastGreeting
from countersign.agents.acp.login import MOST_VARIABLES, read_auth_methods
from countersign.settings.policy import AgentConfig
from countersign.wire.agents import AgentSecret
from countersign.wire.errors import InvalidAnswer, LoginNeeded, ModelError

from .desk import Place
from .scripted_agent_fixture import Player
from .stored_chat import SAY

KEY = "door-key-0123456789"
CONFIG = AgentConfig("it", "acp", command="/bin/agent", args=("--acp",), written_env={"MINE": "1"})
METHODS = [
    {"id": "key", "name": "API key", "type": "env_var", "vars": [{"name": "DOOR_API_KEY", "label": "Door key"}]},
    {"id": "browser", "name": "Log in with the browser"},
]
NEEDS = {"greeting": {"authMethods": METHODS}, "needs_login": "Authentication required", "login_env": "DOOR_API_KEY"}


class Keys:
    """Keys that a person has entered, each for one launch."""

    def __init__(self) -> None:
        self.entered: dict[tuple[str, str], str] = {}
        self.asked: list[tuple[str, ...]] = []

    def enter(self, player: Player, name: str, key: str) -> None:
        self.entered[name, player.agent.binding()] = key

    async def login_keys(self, config: AgentConfig, binding: str, variables: Sequence[str]) -> dict[str, str]:
        self.asked.append(tuple(variables))
        return {name: self.entered[name, binding] for name in variables if (name, binding) in self.entered}

    def how_to_enter(self, key: AgentSecret) -> str:
        return f"`set {key.secret}`"


def variables(*entries: object) -> list:
    return [{"id": "a", "type": "env_var", "vars": list(entries)}]


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (variables({"name": "A_KEY"}), [("A_KEY", None, False)]),
        (variables({"name": "A_KEY", "label": " "}), [("A_KEY", None, False)]),
        (variables({"name": "A", "label": "x\u202ey", "optional": True}), [("A", "x\\u202ey", True)]),
        (variables({"name": "A"}, {"name": "A"}, {"name": "B"}), [("A", None, False), ("B", None, False)]),
        (variables({"name": "A"}, {"name": "MINE"}, {"name": "SET"}), [("A", None, False)]),
        (variables({"name": "MINE"}), []),
        (variables(), []),
        (variables({"name": "A"}, {"name": "LD_PRELOAD"}), []),
        (variables({"name": "bash_env"}), []),
        (variables({"name": "NODE_OPTIONS"}), []),
        (variables({"name": "PATH"}), []),
        (variables({"name": "A B"}), []),
        (variables({"name": "A=B"}), []),
        (variables({"name": "A\n"}), []),
        (variables({"name": 1}), []),
        (variables({"label": "A"}), []),
        (variables("A"), []),
        (variables(*({"name": f"A{number}"} for number in range(MOST_VARIABLES + 1))), []),
        ([{"id": "a", "type": "env_var", "vars": {"name": "A"}}], []),
        ([{"id": "a", "type": "env_var"}], []),
    ],
)
def test_a_method_is_offered_with_all_of_its_variables_or_not_at_all(methods: list, expected: list) -> None:
    read = read_auth_methods(methods, CONFIG, {"SET"} | CONFIG.written_env.keys())
    assert [(each.name, each.label, each.optional) for method in read for each in method.variables] == expected
    assert len(read) == bool(expected)


def test_the_variables_of_all_methods_are_bounded() -> None:
    many: list = [{"id": str(n), "type": "env_var", "vars": [{"name": f"A{n}{m}"} for m in range(4)]} for n in range(9)]
    read = read_auth_methods(many, CONFIG)
    assert sum(len(method.variables) for method in read) <= MOST_VARIABLES


@pytest.mark.parametrize(
    ("entry", "plain"),
    [
        ({"name": "PROJECT", "secret": False}, True),
        ({"name": "PROJECT", "label": "Name of the project", "secret": False}, True),
        ({"name": "PROJECT"}, False),
        ({"name": "PROJECT", "secret": True}, False),
        ({"name": "PROJECT", "secret": None}, False),
        ({"name": "PROJECT", "secret": 0}, False),
        ({"name": "PROJECT", "secret": "false"}, False),
        ({"name": "DOOR_API_KEY", "secret": False}, False),
        ({"name": "DOOR", "label": "Your pass\u200bword", "secret": False}, False),
        ({"name": "DOOR", "label": "\u0440assword", "secret": False}, False),
        ({"name": "DOOR_TOKEN", "secret": False}, False),
    ],
)
def test_a_value_is_shown_only_if_the_agent_and_its_names_say_that_it_is_no_secret(entry: dict, plain: bool) -> None:
    (method,) = read_auth_methods(variables(entry), CONFIG)
    assert method.variables[0].plain == plain


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("https://door.example/keys?a=1", "https://door.example/keys?a=1"),
        ("http://door.example/", "http://door.example/"),
        ("https://door.example@evil.example/", None),
        ("https://d\u043eor.example/", None),
        ("command:workbench.action.quit", None),
        ("file:///etc/passwd", None),
        ("javascript:alert(1)", None),
        ("https://door.example/" + "x" * 10_000, None),
        ("", None),
        (1, None),
    ],
)
def test_a_page_that_could_be_taken_for_another_is_not_offered_and_the_login_is(link: object, url: str | None) -> None:
    raw: list = [{"id": "a", "type": "env_var", "vars": [{"name": "A_KEY"}], "link": link}]
    (method,) = read_auth_methods(raw, CONFIG)
    shown = method.view(lambda each: AgentSecret(name=each.name, secret="s", origin="o")).link
    assert (shown and shown.url) == url
    assert shown is None or (shown.host == "door.example" and bool(shown.notes) == link.startswith("http:"))  # type: ignore[union-attr]


def started(player: Player) -> list[dict[str, str]]:
    return [row["started"]["env"] for row in player.told() if "started" in row]


def authenticated(player: Player) -> list[str]:
    return [row["params"]["methodId"] for row in player.told() if row.get("method") == "authenticate"]


async def test_a_key_is_entered_then_the_agent_is_started_anew_with_it_and_works(place: Place) -> None:
    keys = Keys()
    player = Player(place, [SAY], login_keys=keys, **NEEDS)
    with pytest.raises(LoginNeeded):
        await player.play()
    agent = player.agent
    assert "enter its key with `set agents.scripted/DOOR_API_KEY`" in agent.detail
    by_key, by_browser = agent.login_methods or []
    assert by_browser.keys is None
    (wanted,) = by_key.keys or []
    assert (wanted.name, wanted.secret, wanted.origin, wanted.label) == (
        "DOOR_API_KEY",
        "agents.scripted/DOOR_API_KEY",
        agent.binding(),
        "Door key",
    )

    with pytest.raises(InvalidAnswer, match="the key for `DOOR_API_KEY` of scripted is missing; enter it with `set "):
        await agent.log_in("key")
    assert len(started(player)) == 1
    assert authenticated(player) == []
    assert agent.state == "needsLogin"

    keys.enter(player, "DOOR_API_KEY", KEY)
    await agent.log_in("key")
    assert agent.state == "running"
    assert authenticated(player) == ["key"]
    assert [env.get("DOOR_API_KEY") for env in started(player)] == [None, KEY]
    assert await player.play() == "end_turn"
    assert KEY not in place.shells.environment().values()
    assert KEY not in str([event.model_dump() for event in place.events])


async def test_the_next_server_starts_it_with_its_key_and_no_other_agent(place: Place, tmp_path: Path) -> None:
    keys, store = Keys(), GreetingStore(tmp_path / "agents")
    player = Player(place, [SAY], login_keys=keys, greetings=store, **NEEDS)
    with pytest.raises(LoginNeeded):
        await player.play()
    keys.enter(player, "DOOR_API_KEY", KEY)
    await player.agent.log_in("key")
    await player.agent.close()

    again = Player(place, [SAY], login_keys=keys, greetings=store, **NEEDS)
    assert await again.play() == "end_turn"
    assert started(again)[-1]["DOOR_API_KEY"] == KEY
    assert authenticated(again) == ["key", "key"]
    await again.agent.close()

    other = Player(place, [SAY], name="other", login_keys=keys, greetings=store, **NEEDS)
    with pytest.raises(LoginNeeded):
        await other.play()
    assert [env.get("DOOR_API_KEY") for env in started(other)] == [None]
    kept = "".join(path.read_text() for path in store.folder.iterdir())
    assert "DOOR_API_KEY" in kept
    assert KEY not in kept


async def test_it_is_remembered_which_values_are_no_secrets_and_any_word_against_that_counts(
    place: Place, tmp_path: Path
) -> None:
    store = GreetingStore(tmp_path / "agents")

    def needs(*methods: list[dict]) -> dict:
        listed = [{"id": str(n), "type": "env_var", "vars": each} for n, each in enumerate(methods)]
        return {**NEEDS, "greeting": {"authMethods": listed}}

    plain = [{"name": "DOOR", "secret": False}, {"name": "WALL", "secret": False}, {"name": "DOOR_API_KEY"}]
    player = Player(place, [SAY], login_keys=Keys(), greetings=store, **needs(plain))
    with pytest.raises(LoginNeeded):
        await player.play()
    assert player.agent.plain_variables == ("DOOR", "WALL")
    (offered,) = player.agent.login_methods or []
    assert [each.plain for each in offered.keys or []] == [True, True, None]
    await player.agent.close()
    again = Player(place, [SAY], login_keys=Keys(), greetings=store, **needs(plain, [{"name": "WALL"}]))
    with pytest.raises(LoginNeeded):
        await again.play()
    assert again.agent.plain_variables == ("DOOR",)


async def test_another_launch_of_the_agent_gets_no_key(place: Place, tmp_path: Path) -> None:
    keys, store = Keys(), GreetingStore(tmp_path / "agents")
    player = Player(place, [SAY], login_keys=keys, greetings=store, **NEEDS)
    with pytest.raises(LoginNeeded):
        await player.play()
    keys.enter(player, "DOOR_API_KEY", KEY)
    await player.agent.close()
    (tmp_path / "shelf").mkdir()
    moved = Player(place, [SAY], login_keys=keys, greetings=store, shelf=tmp_path / "shelf", **NEEDS)
    with pytest.raises(LoginNeeded):
        await moved.play()
    assert "DOOR_API_KEY" not in started(moved)[-1]


async def test_what_the_settings_set_is_not_replaced(place: Place) -> None:
    keys = Keys()
    player = Player(place, [SAY], login_keys=keys, env={"DOOR_API_KEY": "of the settings"}, **NEEDS)
    assert await player.play() == "end_turn"
    keys.enter(player, "DOOR_API_KEY", KEY)
    await player.agent.close()
    assert await player.play() == "end_turn"
    assert [env["DOOR_API_KEY"] for env in started(player)] == ["of the settings"] * 2


async def test_a_key_that_the_agent_does_not_take_is_said_without_the_key(place: Place) -> None:
    keys = Keys()
    player = Player(place, [SAY], login_keys=keys, **NEEDS, login_fails=f"bad key {KEY}")
    with pytest.raises(LoginNeeded):
        await player.play()
    keys.enter(player, "DOOR_API_KEY", KEY)
    with pytest.raises(ModelError, match=r"did not log in with its keys \(`bad key \[redacted\]`\)"):
        await player.agent.log_in("key")
    assert (player.agent.state, KEY in player.agent.detail) == ("needsLogin", False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"variables": 1}',
        json.dumps({"variables": ["PATH", "A B", 1, "LD_AUDIT"], "login": 1, "lists": 1, "plain": ["PATH", "X"]}),
    ],
)
def test_a_stored_greeting_that_is_odd_says_nothing(tmp_path: Path, text: str) -> None:
    store = GreetingStore(tmp_path)
    store.blocking_keep("it", "b", LastGreeting(True, True, ("A", "B"), "key", ("B",)))
    assert store.blocking_find("it", "b") == LastGreeting(True, True, ("A", "B"), "key", ("B",))
    assert store.blocking_find("it", "c") is None
    (path,) = (tmp_path / "greetings").iterdir()
    path.write_text(text)
    assert store.blocking_find("it", "b") in (None, LastGreeting())
