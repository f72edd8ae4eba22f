"""An agent that says of an approved call that it did more than it had asked for counts as unguarded from then on."""

from __future__ import annotations

from typing import Any

import pytest

from countersign.settings.policy import RuleText
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import Place


def diff(path: str) -> list:
    return [{"type": "diff", "path": path, "oldText": None, "newText": "x\n"}]


TEXT = {"type": "content", "content": {"type": "text", "text": "rm -rf ~"}}


def end(**said) -> dict:
    return report("a", "completed", **said)


READ = ask("a", kind="read", locations=[{"path": "{ws}/a.txt"}])
WRITE = ask("a", kind="edit", rawInput={"path": "{ws}/a.txt", "content": "x\n"})
RUN = ask("a", kind="execute", rawInput={"command": "ls"})
FETCH = ask("a", kind="fetch", rawInput={"url": "https://good.example/"})
DELETE = ask("a", kind="delete", rawInput={"path": "{ws}/a.txt"})
LOOK = ask("a", kind="read", rawInput={"path": "{ws}/a.txt"})
OUTSIDE = ask("a", kind="edit", rawInput={"path": "{ws}/../made.txt", "content": "x\n"})
BELOW = ask("a", kind="edit", rawInput={"path": "{ws}/sub/made.txt", "content": "x\n"})
OTHER_RUN = {"kind": "execute", "rawInput": {"command": "rm -rf ~"}}
NOT_KNOWN = ask("a", kind="other", title="Does something", rawInput={"thing": {"deep": 1}})
ROWS = {
    "a read that was a write": ([READ, end(content=diff("{ws}/a.txt"))], True),
    "a read that was a command": ([READ, end(rawInput={"command": "rm x"})], True),
    "a write of another file": ([WRITE, end(content=diff("{ws}/b.txt"))], True),
    "another command": ([RUN, end(rawInput={"command": "rm x"})], True),
    "a change where a command was asked for": ([RUN, end(content=diff("{ws}/a.txt"))], True),
    "a write of another file, told as its input": ([WRITE, end(rawInput={"path": "{ws}/b.txt", "content": "y"})], True),
    "a fetch from another host": ([FETCH, end(rawInput={"url": "https://evil.example/"})], True),
    "the deletion of another file": ([DELETE, end(kind="delete", rawInput={"path": "{ws}/b.txt"})], True),
    "the deletion of a file to be written": ([WRITE, end(kind="delete", rawInput={"path": "{ws}/a.txt"})], True),
    "a tool of a server in place of a read": (
        [LOOK, end(name="mcp__prod__drop_database", kind="other", rawInput={"name": "prod"})],
        True,
    ),
    "a read of a file outside": ([LOOK, end(rawInput={"path": "/home/me/.ssh/id_rsa"})], True),
    "a read of a file that a rule holds back": ([LOOK, end(rawInput={"path": "{ws}/held.txt"})], True),
    "a read of another file in the workspace": ([LOOK, end(rawInput={"path": "{ws}/b.txt"})], False),
    "the command in another folder": ([RUN, end(rawInput={"command": "ls", "cwd": "/etc"})], True),
    "another command, and no end": ([RUN, report("a", "pending", **OTHER_RUN)], True),
    "another command, running when the turn ends": ([RUN, report("a", "in_progress", **OTHER_RUN)], True),
    "a command in place of what nobody knows": ([NOT_KNOWN, end(**OTHER_RUN)], True),
    "what is too large to be compared": ([RUN, end(rawInput={"command": "ls", "more": ["x"] * 6000})], True),
    "what nobody knows, told again": ([NOT_KNOWN, end(title="Did it", content=[TEXT])], False),
    "the command with its output": ([RUN, end(title="ls", content=[TEXT])], False),
    "the command with a description": ([RUN, end(rawInput={"command": "ls", "description": "lists"})], False),
    "the title of a command that only titles say": (
        [ask("a", kind="execute", title="ls"), end(title="rm -rf ~", content=[TEXT])],
        True,
    ),
    "the same title, and its output": ([ask("a", kind="execute", title="ls"), end(title="ls", content=[TEXT])], False),
    "the folder of a write": ([WRITE, end(locations=[{"path": "{ws}/a.txt", "line": 3}])], False),
    "the read": ([READ, done("a")], False),
    "the write, told again": ([WRITE, end(content=diff("{ws}/a.txt"))], False),
    "the write, told with a relative path": ([WRITE, end(content=diff("a.txt"))], False),
    "the write outside, told with the name of its file": ([OUTSIDE, end(content=diff("made.txt"))], False),
    "the write in a folder, told with the name of its file": ([BELOW, end(content=diff("made.txt"))], False),
    "the write in a folder, told with the end of its path": ([BELOW, end(content=diff("sub/made.txt"))], False),
    "the write outside, told with the name of a file that it changed": (
        [OUTSIDE, {"write": ["{ws}/made.txt", "x\n"]}, end(content=diff("made.txt"))],
        True,
    ),
    "the write outside, told with another name": ([OUTSIDE, end(content=diff("e.txt"))], True),
    "the write outside, told with a way up": ([OUTSIDE, end(content=diff("sub/../made.txt"))], True),
    "the write outside, told with the deletion of such a name": (
        [OUTSIDE, end(content=[{"type": "diff", "path": "made.txt", "oldText": "x", "newText": None}])],
        True,
    ),
    "the read outside, told with a write of such a name": (
        [ask("a", kind="read", rawInput={"path": "{ws}/../made.txt"}), end(content=diff("made.txt"))],
        True,
    ),
    "the command, told again": ([RUN, end(rawInput={"command": "ls"}, content=[])], False),
    "two requests of one call": ([READ, ask("a", 2, kind="edit", content=diff("{ws}/a.txt")), done("a")], False),
}


def placed(step: Any, workspace: str) -> Any:
    if isinstance(step, str):
        return step.replace("{ws}", workspace)
    if isinstance(step, list):
        return [placed(each, workspace) for each in step]
    return {key: placed(each, workspace) for key, each in step.items()} if isinstance(step, dict) else step


@pytest.mark.parametrize(("steps", "falls"), ROWS.values(), ids=ROWS)
async def test_what_goes_beyond_the_approved_call_is_said_and_lowers_the_label(place: Place, steps: list, falls: bool):
    (place.workspace / "a.txt").write_text("a\n")
    place.person.decide = lambda card: {"option": "allow_once"}
    place.change(rules=(RuleText("deny", "Read(held.txt)"),))
    player = Player(place, placed(steps, str(place.workspace)), gated=True)
    await player.play()
    notices = [event.message for event in place.of("unpermitted")]
    assert any("did more than it had asked for" in message for message in notices) == falls
    assert player.agent.label == ("unguarded" if falls else "gated")


AGAIN = {
    "another command": ([RUN, done("a"), report("a", **OTHER_RUN), report("a", "completed")], True),
    "another command, running": ([RUN, done("a"), report("a", "in_progress", **OTHER_RUN)], True),
    "another command after a read that nobody asked for": (
        [report("a", kind="read", rawInput={"path": "{ws}/a.txt"}), done("a"), report("a", "completed", **OTHER_RUN)],
        True),
    "the same": ([RUN, done("a"), report("a", "completed", kind="execute", rawInput={"command": "ls"})], False),
    "more output": ([RUN, done("a"), report("a", "completed", rawOutput="more", content=[TEXT])], False),
    "the same read": (
        [report("a", kind="read", rawInput={"path": "{ws}/a.txt"}), done("a"), report("a", "completed", title="x")],
        False),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "falls"), AGAIN.values(), ids=AGAIN)
async def test_what_is_told_of_a_call_that_has_ended_is_another_call(place: Place, steps: list, falls: bool):
    (place.workspace / "a.txt").write_text("a\n")
    place.person.decide = lambda card: {"option": "allow_once" if len(place.person.shown) == 1 else "reject_once"}
    player = Player(place, placed(steps, str(place.workspace)), gated=True)
    await player.play()
    assert player.agent.label == ("unguarded" if falls else "gated")
    shown = {event.tool_call_id for event in place.of("toolCall")}
    assert {event.tool_call_id for event in place.of("toolResult")} == shown
    assert any(event.title == "rm -rf ~" for event in place.of("toolCall")) <= falls


async def test_a_call_that_is_asked_about_after_its_end_has_a_card_of_its_own(place: Place):
    place.person.decide = lambda card: {"option": "allow_once" if len(place.person.shown) == 1 else "reject_once"}
    player = Player(place, [FETCH, done("a"), ask("a", 2, **OTHER_RUN), report("a", "failed")], gated=True)
    await player.play()
    assert (player.outcome(1), player.outcome(2), player.agent.label) == ("yes", "no", "gated")
    assert [card.preview.kind for card in place.person.shown] == ["fetch", "command"]


async def test_a_denied_call_that_ends_as_another_one_lowers_the_label(place: Place):
    place.person.decide = lambda card: {"option": "reject_once"}
    player = Player(place, [RUN, end(**OTHER_RUN)], gated=True)
    await player.play()
    assert player.agent.label == "unguarded"


async def test_a_denied_command_that_names_a_folder_outside_is_no_other_command_at_its_end(place: Place):
    place.person.decide = lambda card: {"option": "reject_once"}
    reach = {"command": "cd /etc", "directories": ["/etc"], "patterns": ["/etc/*"]}
    whole = {"command": "cd /etc", "description": "Goes there", "cwd": str(place.workspace)}
    steps = [
        report("a", "pending", kind="execute", rawInput={"cwd": str(place.workspace)}),
        ask("a", kind="other", title="cd /etc", rawInput=reach, locations=[{"path": "/etc"}]),
        report("a", "failed", kind="execute", rawInput=whole, locations=[{"path": str(place.workspace)}]),
    ]
    player = Player(place, steps, gated=True)
    await player.play()
    assert (len(place.person.shown), player.agent.label) == (1, "gated")


TERMINALS = {
    "its command": ({"command": "echo hi"}, {"rawInput": {"command": "echo hi"}}, False),
    "its words": ({"command": "echo", "args": ["hi"]}, {"rawInput": {"command": "echo hi"}}, False),
    "the text of its shell": (
        {"command": "bash", "args": ["-c", "echo hi"]}, {"rawInput": {"command": "echo hi"}}, False),
    "its variables left out": (
        {"command": "echo hi", "env": [{"name": "A", "value": "b"}]}, {"rawInput": {"command": "echo hi"}}, False),
    "only its title": ({"command": "echo hi"}, {"title": "Says hi"}, False),
    "another command": ({"command": "echo hi"}, OTHER_RUN, True),
    "a write": ({"command": "echo hi"}, {"content": diff("b.txt")}, True),
}  # fmt: skip


@pytest.mark.parametrize(("made", "told", "falls"), TERMINALS.values(), ids=TERMINALS)
async def test_a_terminal_of_ours_excuses_a_call_that_says_its_command(
    place: Place, made: dict, told: dict, falls: bool
):
    place.person.decide = lambda card: {"option": "allow_once"}
    content = [{"type": "terminal", "terminalId": "{terminal}"}, *told.get("content", [])]
    call = {"kind": "execute", **told, "content": content}
    create = {"ask": "terminal/create", "id": "t", "params": made}
    player = Player(place, [create, report("a", **call), done("a")], gated=True)
    await player.play()
    assert player.agent.label == ("unguarded" if falls else "gated"), player.agent.detail
