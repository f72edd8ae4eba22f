"""An agent that needs a login says so as a state, offers its methods, and works once it has logged in."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.agents.acp.connection import RpcError
from countersign.agents.acp.login import LONGEST_COMMAND, can_repeat, needs_login, read_auth_methods
from countersign.settings.policy import AgentConfig
from countersign.wire.errors import AgentExit, InvalidAnswer, LoginNeeded, ModelError
from tests.agents.scripted_agent_fixture import Player

from .desk import Place
from .stored_chat import LOADS, SAY, Chat

CONFIG = AgentConfig("it", "acp", command="/bin/agent", args=("--acp",))
METHODS = [
    {"id": "browser", "name": "Log in with the browser", "description": "opens it"},
    {"id": "shell", "name": "In a terminal", "type": "terminal", "args": ["login"]},
]
AUTH = {"authMethods": METHODS}


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (-32000, "Authentication required", True),
        (-32000, "Please log in first", True),
        (-32000, "You are not logged in", True),
        (-32000, "no API key is set", True),
        (-32000, "invalid credentials", True),
        (-32000, "the author is busy", False),
        (-32000, "rate limit", False),
        (-32603, "Authentication required", False),
    ],
)
def test_a_missing_login_is_told_by_code_and_words(code: int, message: str, expected: bool) -> None:
    assert needs_login(RpcError(code, message)) is expected


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ({"id": "a", "name": "A"}, ("a", "A", None, None)),
        ({"id": "a"}, ("a", "a", None, None)),
        ({"id": "a", "name": "A\u202eB", "description": " "}, ("a", "A\\u202eB", None, None)),
        ({"id": "a", "type": "agent"}, ("a", "a", None, None)),
        ({"id": "a", "type": "terminal"}, ("a", "a", None, ("/bin/agent", "--acp"))),
        (
            {"id": "a", "type": "terminal", "args": ["login"], "env": {"X": "1"}},
            ("a", "a", None, ("env", "X=1", "/bin/agent", "--acp", "login")),
        ),
        ({"id": "a", "_meta": {"terminal-auth": {"command": "x", "args": ["y"]}}}, ("a", "a", None, ("x", "y"))),
        ({"id": "a", "_meta": {"terminal-auth": {"args": ["y"]}}}, None),
        ({"id": "a", "_meta": {"terminal-auth": {"command": ""}}}, None),
        ({"id": "a", "type": "terminal", "args": "login"}, None),
        ({"id": "a", "type": "terminal", "args": ["a\nb"]}, None),
        ({"id": "a", "type": "terminal", "args": ["\u202e"]}, None),
        ({"id": "a", "type": "terminal", "args": ["x" * LONGEST_COMMAND]}, None),
        ({"id": "a", "type": "terminal", "env": {"A B": "1"}}, None),
        ({"id": "a", "type": "terminal", "env": {"A": 1}}, None),
        ({"id": "a", "type": "env_var"}, None),
        ({"id": "a", "type": ["agent"]}, None),
        ({"id": ""}, None),
        ({"id": "x" * 300}, None),
        ({"name": "A"}, None),
        ("a", None),
    ],
)
def test_a_method_is_offered_as_it_would_be_carried_out_or_not_at_all(method: object, expected: object) -> None:
    read = read_auth_methods([method], CONFIG)  # type: ignore[list-item]
    assert [(one.method_id, one.name, one.description, one.command) for one in read] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("command", "written", "resolved", "expected"),
    [
        ("/bin/agent", {}, {}, True),
        ("agent", {"A": "1"}, {"A": "1"}, True),
        ("./agent", {}, {}, False),
        ("bin/agent", {}, {}, False),
        ("agent", {"A": "${env:B}"}, {"A": "1"}, False),
        ("agent", {"A": "${secret:B}"}, {}, False),
        ("agent", {"DOOR_API_KEY": "1"}, {"DOOR_API_KEY": "1"}, False),
    ],
)
async def test_logins_in_a_terminal_are_announced_where_the_client_and_the_settings_allow_them(
    place: Place, command: str, written: dict, resolved: dict, expected: bool
) -> None:
    config = AgentConfig("it", "acp", command=command, written_env=written, env=resolved)
    assert can_repeat(config) is expected
    (method,) = read_auth_methods([{"id": "a", "type": "terminal", "args": ["in"], "env": {"C": "2"}}], config)
    kept = [f"{name}={value}" for name, value in resolved.items() if expected]
    assert method.command == ("env", *kept, "C=2", command, "in")


@pytest.mark.parametrize("can", [True, False])
async def test_an_agent_is_told_of_logins_in_a_terminal_where_the_client_runs_them(place: Place, can: bool) -> None:
    player = Player(place, [SAY], terminal_logins=lambda: can)
    await player.play()
    greeted = next(row for row in player.told() if row.get("method") == "initialize")
    assert greeted["params"]["clientCapabilities"].get("auth") == ({"terminal": True} if can else None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "name", "type", "args", "env", "_meta", "terminal-auth"]), inner)
    ),
)


@given(JSON)
def test_whatever_an_agent_offers_is_read_without_an_error(raw: object) -> None:
    for method in read_auth_methods(raw, CONFIG):  # type: ignore[arg-type]
        assert method.command is None or all(word.isprintable() for word in method.command)


async def test_it_needs_a_login_offers_its_methods_and_works_after_it(place: Place) -> None:
    player = Player(place, [SAY], greeting=AUTH, needs_login="Authentication required")
    with pytest.raises(LoginNeeded, match="needs a login"):
        await player.play()
    agent = player.agent
    assert agent.state == "needsLogin"
    assert "log in first" in agent.detail
    methods = agent.login_methods or []
    assert [method.method_id for method in methods] == ["browser", "shell"]
    assert methods[1].command == [sys.executable, *agent.config.args, "login"]
    await agent.log_in("browser")
    assert (agent.state, agent.login_methods) == ("running", None)
    assert [row["params"] for row in player.told() if row.get("method") == "authenticate"] == [{"methodId": "browser"}]
    assert await player.play() == "end_turn"


@pytest.mark.parametrize("method", ["shell", "nobody"])
async def test_a_method_of_a_terminal_and_an_unknown_one_are_not_asked_of_the_agent(place: Place, method: str) -> None:
    player = Player(place, [SAY], greeting=AUTH, needs_login="Authentication required")
    with pytest.raises(ModelError):
        await player.play()
    with pytest.raises(InvalidAnswer):
        await player.agent.log_in(method)
    assert not [row for row in player.told() if row.get("method") == "authenticate"]
    assert player.agent.state == "needsLogin"


async def test_a_login_that_fails_leaves_the_state_and_says_why(place: Place) -> None:
    player = Player(place, [SAY], greeting=AUTH, needs_login="Authentication required", login_fails="no browser")
    with pytest.raises(ModelError):
        await player.play()
    with pytest.raises(ModelError, match="no browser"):
        await player.agent.log_in("browser")
    assert player.agent.state == "needsLogin"


async def test_after_a_restart_nothing_is_left_of_the_state(place: Place) -> None:
    player = Player(place, [SAY], greeting=AUTH, needs_login="Authentication required")
    with pytest.raises(ModelError):
        await player.play()
    await player.agent.close()
    assert (player.agent.state, player.agent.login_methods) == ("exited", None)


async def test_another_error_is_no_missing_login(place: Place) -> None:
    player = Player(place, [SAY], greeting=AUTH, needs_login="out of memory")
    with pytest.raises((ModelError, AgentExit)) as caught:
        await player.play()
    assert not isinstance(caught.value, LoginNeeded)
    assert player.agent.state == "running"


async def test_a_session_that_cannot_be_loaded_for_want_of_a_login_is_taken_up_after_it(place: Place) -> None:
    chat = Chat(place)
    try:
        await chat.say(await chat.start(greeting=LOADS), "remember the blue door")
        player = await chat.start(greeting={**LOADS, **AUTH}, needs_login="Authentication required")
        for _ in range(3):
            with pytest.raises(LoginNeeded):
                await chat.say(player, "what color?")
        await player.agent.log_in("browser")
        await chat.say(player, "what color?")
        assert [row["method"] for row in player.told() if row.get("method", "").startswith("session/")][-2:] == [
            "session/load",
            "session/prompt",
        ]
    finally:
        await chat.watch.close()
