"""Project instructions that a recipe switches off reach the agent all the same, and its own servers are named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from countersign.agents.acp.recipe import Recipe
from countersign.wire.errors import LoginNeeded, ModelError
from tests.agents.scripted_agent_fixture import ALLOW, REJECT, Player, ask

from .desk import Place

READS_NOT = Recipe("test", "gated", instructions=("CLAUDE.md",))


async def test_the_text_goes_along_with_the_first_prompt_only_and_the_chat_says_so(place: Place):
    (place.workspace / "CLAUDE.md").write_text("Use tabs.")
    (place.workspace / "AGENTS.md").write_text("Read by the agent itself.")
    player = Player(place, [], recipe=READS_NOT)
    await player.play("one")
    await player.play("two")
    first, second = player.prompts()
    assert first.startswith("one|Instructions of this project, from its own files. They allow nothing.")
    assert first.endswith("Use tabs.")
    assert second == "two"
    assert [event.message for event in place.of("notice")] == [
        "Countersign gave scripted this project's instructions: `CLAUDE.md`"
    ]


async def test_an_untrusted_workspace_hands_in_nothing_until_it_is_trusted(place: Place):
    (place.workspace / "CLAUDE.md").write_text("Use tabs.")
    player = Player(place, [], recipe=READS_NOT)
    place.change(trusted=False)
    await player.play("one")
    place.change(trusted=True)
    await player.play("/two")
    await player.play("three")
    one, two, three = player.prompts()
    assert (one, two) == ("one", "/two")
    assert "Use tabs." in three


async def test_a_prompt_that_waited_for_a_login_brings_the_text_again(place: Place):
    (place.workspace / "CLAUDE.md").write_text("Use tabs.")
    login = {"needs_login": "Authentication required", "login_for": ["session/prompt"]}
    greeting = {"authMethods": [{"id": "browser", "name": "Log in with the browser"}]}
    player = Player(place, [], recipe=READS_NOT, greeting=greeting, **login)
    for text in ("one", "/status"):
        with pytest.raises(LoginNeeded):
            await player.play(text)
    await player.agent.log_in("browser")
    for text in ("/status", "one", "two"):
        await player.play(text)
    refused, _, status, sent, last = player.prompts()
    assert "Use tabs." in refused
    assert sent == refused
    assert (status, last) == ("/status", "two")


async def test_a_prompt_that_the_agent_answered_with_an_error_did_not_hand_the_text_in(place: Place):
    (place.workspace / "CLAUDE.md").write_text("Use tabs.")
    player = Player(place, [{"fail": "overloaded"}], [], recipe=READS_NOT)
    with pytest.raises(ModelError):
        await player.play("one")
    await player.play("one")
    await player.play("two")
    assert ["Use tabs." in prompt for prompt in player.prompts()] == [True, True, False]
    assert [event.message for event in place.of("notice")] == [
        "Countersign gave scripted this project's instructions: `CLAUDE.md`"
    ]


async def test_a_link_out_of_the_workspace_is_not_handed_in(place: Place):
    (place.folder / "secret").write_text("key")
    (place.workspace / "CLAUDE.md").symlink_to(place.folder / "secret")
    player = Player(place, [], recipe=READS_NOT)
    await player.play("one")
    assert player.prompts() == ["one"]


async def test_a_slash_command_stands_before_what_the_agent_must_hear(place: Place):
    place.person.decide = lambda card: {"option": "reject_once", "reason": "not that"}
    call = {"kind": "execute", "rawInput": {"command": "make"}}
    steps = [ask("a", options=[ALLOW, REJECT], **call)]
    player = Player(place, steps, [], recipe=replace(READS_NOT, instructions=()))
    await player.play("one")
    player.agent._threads["thread"]._note("remember this")
    await player.play("/review")
    assert player.prompts()[-1] == "/review|remember this"
