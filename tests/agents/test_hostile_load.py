"""A hostile agent that asks for much: reads and words have bounds, and another agent does not notice."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest

from countersign.agents.acp import session as session_module
from countersign.agents.acp.command_shapes import MOVES_SHELL
from countersign.agents.acp.effects import work_out
from countersign.agents.acp.files import _after_lines
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.translate import MOST_PLACES, ToolReport, read_update
from countersign.gate import deciding as deciding_module
from countersign.gate import gate as gate_module
from countersign.tools.files.safe_open import MOST_HASHED
from countersign.wire.errors import AgentExit
from tests.agents.scripted_agent_fixture import Player, ask, done, report
from tests.agents.test_acp_client_methods import read, write

from .desk import BOUND, Place


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


async def test_huge_files_are_refused_and_another_agent_reads_at_once(place: Place):
    huge = sparse(place.workspace / "huge", 40 << 30)
    small = place.workspace / "small"
    small.write_text("here")
    reads = [{**read(huge, number, limit=1), "nowait": True} for number in range(12)]
    drowning = Player(place, [*reads, {"quiet": True}], name="drowning")
    other = Player(place, [read(small)], name="other")
    began = time.process_time()
    await asyncio.gather(drowning.play(), other.play())
    assert time.process_time() - began < 10
    assert other.answer("r") == {"content": "here"}
    assert {drowning.answer(number)["code"] for number in range(12)} == {-32603}
    assert "longer than" in drowning.answer(0)["message"]


@pytest.mark.parametrize("size", [MOST_HASHED + 1, 40 << 30])
async def test_a_huge_file_is_hashed_for_no_request(place: Place, size: int):
    huge = sparse(place.workspace / "huge", size)
    place.person.decide = lambda card: {"option": "reject_once"}
    call = {"kind": "edit", "title": "Write", "rawInput": {"file_path": str(huge), "content": "x"}}
    player = Player(place, [ask("a", **call), write(huge, "x")])
    began = time.process_time()
    await player.play()
    assert time.process_time() - began < 10
    assert huge.stat().st_size == size


@pytest.mark.parametrize(
    ("module", "blocked"), [(deciding_module, "blocking_states"), (gate_module, "blocking_still_true")]
)
async def test_hashing_for_one_agent_holds_up_no_other(
    place: Place, monkeypatch: pytest.MonkeyPatch, module: ModuleType, blocked: str
):
    """Whatever one agent's hashes take, another agent's call is prepared, decided, asked and run meanwhile."""
    started, release, real = threading.Event(), threading.Event(), getattr(module, blocked)

    def slow(*arguments):
        if threading.current_thread().name.startswith("agent drowning"):
            started.set()
            release.wait(BOUND)
        return real(*arguments)

    monkeypatch.setattr(module, blocked, slow)
    (place.workspace / "script.sh").write_text("true")
    place.person.decide = lambda card: {}
    call = {"kind": "execute", "title": "run", "rawInput": {"command": "bash script.sh"}}
    asks = [{**ask(f"c{number}", number, **call), "nowait": True} for number in range(40)]
    drowning = Player(place, [*asks, {"quiet": True}], name="drowning")
    other = Player(place, [ask("a", **call), done("a")], name="other")
    playing = asyncio.ensure_future(drowning.play())
    assert await asyncio.to_thread(started.wait, BOUND)
    await other.play()
    assert other.outcome(1) == "yes"
    assert not any("result" in row for row in drowning.told())
    playing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await playing
    release.set()


async def test_many_reads_of_a_long_file_hold_few_texts(place: Place):
    long = place.workspace / "long"
    long.write_text("x" * (1 << 20))
    reads = [{**read(long, number), "nowait": True} for number in range(40)]
    player = Player(place, [*reads, {"quiet": True}])
    await player.play()
    assert {len(player.answer(number)["content"]) for number in range(40)} == {1 << 20}


@pytest.mark.parametrize(
    ("start", "count", "found"),
    [(0, 0, 0), (0, 1, 2), (0, 2, 3), (2, 1, 3), (0, 3, 5), (0, 4, 5), (0, 10**200, 5), (5, 1, 5)],
)
def test_lines_are_counted_without_a_list(start: int, count: int, found: int):
    assert _after_lines("a\n\nbc", start, count) == found


@pytest.mark.parametrize("bound", ["MOST_SAID", "MOST_CHAT"])
async def test_an_agent_that_talks_without_end_is_ended_and_the_chat_says_why(
    place: Place, monkeypatch: pytest.MonkeyPatch, bound: str
):
    monkeypatch.setattr(session_module, bound, 1 << 20)
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "x" * 60_000}}
    player = Player(place, [*[{"update": thought}] * 40, {"until": "cancel"}])
    with pytest.raises(AgentExit):
        await player.play()
    assert "said more than" in place.of("notice")[-1].message
    assert sum(len(event.text) for event in place.of("thinking")) <= 1 << 20


def timed(work) -> float:
    """Seconds of the processor, which other work on the machine does not lengthen."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


@pytest.mark.parametrize(
    "text", ["\n" * 200_000 + "x", " " * 200_000, "(a=" * 60_000 + " z", ";" * 200_000, "a " * 100_000, "f" * 200_000],
    ids=["newlines", "blanks", "assignments", "semicolons", "words", "one word"],
)  # fmt: skip
def test_a_long_command_is_searched_in_linear_time(text: str):
    assert timed(lambda: MOVES_SHELL.search(text)) < 2


def test_a_call_with_many_files_is_not_understood_and_worked_out_quickly(tmp_path: Path):
    ground = AgentContext(str(tmp_path), str(tmp_path))
    given = ToolReport("a")
    began = time.process_time()
    for number in range(1500):
        diff = {"type": "diff", "path": f"/w/{number}", "oldText": None, "newText": "x"}
        given = given.merged({"kind": "edit", "content": [diff]})
    located = ToolReport("b").merged(
        {
            "kind": "read",
            "rawInput": {"path": "/w/a"},
            "locations": [{"path": f"/w/{number}"} for number in range(90_000)],
        }
    )
    for each in (given, located):
        assert not work_out(each, ground).understood
    assert len(given.diffs) == len(located.locations) == MOST_PLACES
    assert time.process_time() - began < 5


def test_a_plan_with_many_entries_is_cut():
    entries = [{"content": "x", "status": "pending"}] * 90_000
    assert timed(lambda: read_update({"sessionUpdate": "plan", "entries": entries})) < 2


async def test_many_updates_with_a_diff_each_end_in_time(place: Place):
    steps = [
        report("a", "in_progress" if number % 2 else "pending", kind="edit", title=f"{number}",
               content=[{"type": "diff", "path": str(place.workspace / f"{number}"), "newText": "x"}])
        for number in range(1500)
    ]  # fmt: skip
    began = time.process_time()
    await Player(place, steps).play()
    assert time.process_time() - began < 15
    assert len(place.of("toolCall")) <= 60


async def test_a_command_that_bash_cannot_be_given_is_rejected_without_a_card(place: Place):
    terminal = {"ask": "terminal/create", "id": "t", "params": {"command": "a " * 300_000}}
    request = ask("a", kind="execute", title="run", rawInput={"command": "a " * 300_000})
    player = Player(place, [terminal, request])
    began = time.process_time()
    await player.play()
    assert time.process_time() - began < 5
    assert place.person.shown == []
    assert "cannot be run" in player.answer("t")["message"]
    assert player.outcome(1) == "no"
    assert "cannot be run" in place.of("toolResult")[0].output
