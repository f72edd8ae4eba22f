"""An agent that says of an approved call that it did more than it had asked for counts as unguarded from then on."""

from __future__ import annotations

import pytest

from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import Place


def diff(path: str) -> list:
    return [{"type": "diff", "path": path, "oldText": None, "newText": "x\n"}]


def end(**said) -> dict:
    return report("a", "completed", **said)


READ = ask("a", kind="read", locations=[{"path": "{ws}/a.txt"}])
WRITE = ask("a", kind="edit", rawInput={"path": "{ws}/a.txt", "content": "x\n"})
RUN = ask("a", kind="execute", rawInput={"command": "ls"})
ROWS = {
    "a read that was a write": ([READ, end(content=diff("{ws}/a.txt"))], True),
    "a read that was a command": ([READ, end(rawInput={"command": "rm x"})], True),
    "a write of another file": ([WRITE, end(content=diff("{ws}/b.txt"))], True),
    "another command": ([RUN, end(rawInput={"command": "rm x"})], True),
    "a change where a command was asked for": ([RUN, end(content=diff("{ws}/a.txt"))], True),
    "the read": ([READ, done("a")], False),
    "the write, told again": ([WRITE, end(content=diff("{ws}/a.txt"))], False),
    "the write, told with a relative path": ([WRITE, end(content=diff("a.txt"))], False),
    "the command, told again": ([RUN, end(rawInput={"command": "ls"}, content=[])], False),
    "two requests of one call": ([READ, ask("a", 2, kind="edit", content=diff("{ws}/a.txt")), done("a")], False),
}


def placed(step: object, workspace: str) -> object:
    if isinstance(step, str):
        return step.replace("{ws}", workspace)
    if isinstance(step, list):
        return [placed(each, workspace) for each in step]
    return {key: placed(each, workspace) for key, each in step.items()} if isinstance(step, dict) else step


@pytest.mark.parametrize(("steps", "falls"), ROWS.values(), ids=ROWS)
async def test_what_goes_beyond_the_approved_call_is_said_and_lowers_the_label(place: Place, steps: list, falls: bool):
    (place.workspace / "a.txt").write_text("a\n")
    place.person.decide = lambda card: {"option": "allow_once"}
    player = Player(place, placed(steps, str(place.workspace)), gated=True)
    await player.play()
    notices = [event.message for event in place.of("unpermitted")]
    assert any("did more than it had asked for" in message for message in notices) == falls
    assert player.agent.label == ("unguarded" if falls else "gated")
