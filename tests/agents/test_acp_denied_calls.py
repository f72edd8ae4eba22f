"""A call that was denied and that the agent then reports as completed: the chat shows it as denied, and the label falls
only if it had an effect."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from .scripted_agent_fixture import PROBED, Player, ask, done, report
from .test_acp_changes import make_watched

__all__ = ["make_watched"]

CALLS = {
    "a write": {"kind": "edit", "title": "Write a.txt", "rawInput": {"path": "{ws}/a.txt", "content": "x\n"}},
    "a diff": {
        "kind": "edit",
        "title": "Edit a.txt",
        "content": [{"type": "diff", "path": "{ws}/a.txt", "oldText": None, "newText": "x\n"}],
    },
    "a command": {"kind": "execute", "title": "touch a.txt", "rawInput": {"command": "touch a.txt"}},
    "what is not known": {"kind": "other", "title": "go on", "rawInput": {"what": 1}},
}
SAYS = {
    "completed": lambda call: [done("a")],
    "completed, with all of it once more": lambda call: [report("a", "completed", rawOutput="done", **call)],
    "completed, as a call": lambda call: [report("a", **call, status="completed", rawOutput="done")],
    "completed, with words of its own": lambda call: [
        report("a", "completed", content=[{"type": "content", "content": {"type": "text", "text": "wrote it"}}])
    ],
    "running with output, then completed": lambda call: [
        report("a", "in_progress", rawOutput="wri"),
        report("a", "in_progress", rawOutput="writing"),
        done("a", "writing it"),
    ],
    "completed twice": lambda call: [done("a"), done("a", "again")],
    "failed": lambda call: [report("a", "failed", rawOutput="denied")],
    "nothing": lambda call: [],
}


def deny(watched) -> None:
    watched.place.person.decide = lambda card: {"option": "reject_once"}


def check_denied(watched, player: Player) -> None:
    """The chat shows one call, denied by the person, and nothing that came out of it; nothing was started."""
    place = watched.place
    (result,) = place.of("toolResult")
    assert (result.success, result.decided_by, json.loads(result.output)["refused"]) == (False, "user", "denied")
    assert place.of("toolOutput") == []
    shown = [event for event in place.events if event.type in ("toolCall", "toolResult")]
    assert shown[-1] is result
    assert {event.tool_call_id for event in shown} == {result.tool_call_id}
    decided = [(row.phase, row.verdict) for row in place.rows() if row.phase != "noticed"]
    assert decided == [("decided", "ask"), ("decided", "deny")]
    assert player.outcome(1) == "no"


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("announced", [False, True])
async def test_without_effect_it_stays_denied_and_the_label_stays(make_watched, call: str, says: str, announced: bool):
    watched = make_watched()
    deny(watched)
    told = CALLS[call]
    before = [report("a", **told, status="pending")] if announced else []
    player = watched.player([*before, ask("a", **told), *SAYS[says](told)])
    await player.play()
    check_denied(watched, player)
    assert (watched.place.of("unpermitted"), watched.changed(), player.agent.label) == ([], [], "gated")


@pytest.mark.parametrize("says", ["completed", "failed", "nothing"])
@pytest.mark.parametrize("call", CALLS)
async def test_with_an_effect_it_stays_denied_and_the_label_falls(make_watched, call: str, says: str):
    watched = make_watched()
    deny(watched)
    told = CALLS[call]
    player = watched.player([ask("a", **told), {"write": ["{ws}/a.txt", "x\n"]}, *SAYS[says](told)])
    await player.play()
    check_denied(watched, player)
    assert watched.changed() == [("a.txt", True)]
    assert player.agent.label == "unguarded"
    assert "a.txt" in player.agent.detail


async def test_what_a_recipe_never_allows_stays_refused(make_watched):
    watched = make_watched()
    told = {"kind": "other", "title": "spawn_agent", "rawInput": {"what": 1}}
    steps = [ask("a", **told), *SAYS["running with output, then completed"](told)]
    recipe = replace(PROBED, refuse=frozenset({"spawn_agent"}))
    player = watched.player(steps, recipe=recipe)
    await player.play()
    (result,) = watched.place.of("toolResult")
    assert (result.success, result.decided_by) == (False, "floor")
    assert watched.place.of("toolOutput") == []
    assert player.agent.label == "gated"
