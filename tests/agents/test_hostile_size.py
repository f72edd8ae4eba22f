"""A hostile agent that sends large calls: they are worked out off the event loop, and what is kept is bounded."""

from __future__ import annotations

import os
import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.agents.acp import effects, reports, requests
from countersign.agents.acp.hints import find_hints, patched_files
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.reports import Reports
from countersign.agents.limits import MOST_SHOWN, MOST_VALUES
from countersign.gate import ReadPath, WritePath
from countersign.tools.places import PATH_LENGTH
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import Place

HALF = "x" * (MOST_SHOWN // 2 + 1000)
TOO_LARGE = {
    "one text": [ask("a", kind="other", rawInput={"x": HALF * 2})],
    "many values": [ask("a", kind="other", rawInput={"x": [0] * (MOST_VALUES + 1)})],
    "input reported before": [
        report("a", kind="edit", title="Edit", rawInput={"x": HALF}),
        ask("a", kind="edit", content=[{"type": "diff", "path": "/w/a", "newText": HALF}]),
    ],
    "changes reported one by one": [
        report("a", kind="edit", content=[{"type": "diff", "path": "/w/a", "newText": HALF}]),
        report("a", "in_progress", content=[{"type": "diff", "path": "/w/b", "newText": HALF}]),
        ask("a", kind="edit", title="Edit files"),
    ],
    "reported too large, asked about small": [
        report("a", kind="edit", rawInput={"x": HALF * 2}),
        ask("a", kind="read", rawInput={"path": "/w/a"}),
    ],
}


@pytest.mark.parametrize("steps", TOO_LARGE.values(), ids=TOO_LARGE)
async def test_a_call_too_large_for_a_card_is_rejected_and_the_chat_says_so(place: Place, steps: list):
    player = Player(place, steps, [])
    await player.play()
    assert place.person.shown == []
    assert player.outcome(1) == "no"
    assert "too large" in place.of("toolResult")[-1].output
    await player.play()
    assert "too large" in player.prompts()[-1]


async def test_a_call_too_large_to_be_kept_is_never_harmless(place: Place):
    await Player(place, [report("a", kind="read", rawInput={"x": HALF * 2}), done("a")]).play()
    assert "acted without asking" in place.of("unpermitted")[-1].message


async def test_what_calls_touch_is_never_worked_out_on_the_event_loop(place: Place, monkeypatch: pytest.MonkeyPatch):
    threads: set[str] = set()

    def watched(*arguments):
        threads.add(threading.current_thread().name)
        return effects.work_out(*arguments)

    for module in (reports, requests):
        monkeypatch.setattr(module, "work_out", watched)
    place.person.decide = lambda card: {}
    call = {"kind": "execute", "title": "run", "rawInput": {"command": "true"}}
    refused = {"kind": "execute", "rawInput": {"command": "x" * (1 << 18)}}
    steps = [report("a", **call), done("a"), ask("b", **call), done("b"), ask("c", 2, **refused), report("d", **call)]
    await Player(place, steps).play()
    assert threads
    assert all(name.startswith("agent scripted") for name in threads)


@pytest.mark.parametrize("path", ["a/" * 100_000, "/" + "x/../" * 50_000 + "etc/passwd", "~/" + "b" * 100_000])
def test_no_path_longer_than_a_file_can_have_is_looked_for(path: str, monkeypatch: pytest.MonkeyPatch):
    looked, real = [], os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda given, **options: looked.append(given) or real(given, **options))
    ground = AgentContext("/w", "/h")
    found = find_hints({"path": path, "text": f"--- {path}"}, None, ground).effects
    assert all(len(given) <= PATH_LENGTH for given in looked)
    paths = {effect.path for effect in found if isinstance(effect, ReadPath | WritePath)}
    assert ("/etc/passwd" in paths) == ("etc" in path)


@pytest.mark.parametrize("field", [{"path": "/" + "a/" * 100_000}, {"path": "a", "cwd": "/" + "a/" * 100_000}])
async def test_a_request_with_an_endless_path_is_refused(place: Place, field: dict):
    asked = [
        {"ask": "fs/read_text_file", "id": "r", "params": field},
        {"ask": "terminal/create", "id": "t", "params": {"command": "true", "cwd": field["path"], **field}},
    ]
    player = Player(place, asked if "cwd" not in field else asked[1:])
    await player.play()
    assert "longer than" in player.answer("t")["message"] or "absolute" in player.answer("t")["message"]


REFERENCE = re.compile(
    r"^(?:\*\*\* (?:Add File|Update File|Delete File|Move to): |(?:\+\+\+|---) (?:[ab]/)?)(?P<path>[^\t\n]+)",
    re.MULTILINE,
)
PIECES = ["*** Add File: ", "*** Move to: ", "*** Delete File: ", "+++ ", "--- ", "a/", "b/", "\n", "\t", "x", " "]


@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_the_files_of_a_patch_are_found_as_by_the_plain_expression(text: str):
    assert sorted(patched_files(text)) == sorted(found["path"] for found in REFERENCE.finditer(text))


def test_reports_of_ended_calls_make_room_for_later_ones(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reports, "MOST_KEPT", 10_000)
    kept = Reports("agent", lambda event: None, lambda: AgentContext("/w", "/h"))
    for number in range(20):
        kept.merge(str(number), {"rawInput": {"x": "y" * 4000}, "status": "completed" if number < 10 else "pending"})
    whole = {call_id for call_id in map(str, range(20)) if not kept.merge(call_id, {}).too_large}
    assert whole == {"10", "11"}
    assert kept._kept_in_all <= 10_000


async def test_a_call_heard_of_after_its_turn_does_not_seem_to_run(place: Place):
    steps = [
        report("before", "in_progress", kind="read"),
        {"answer": "end_turn"},
        {"until": "cancel"},
        report("before", "completed", kind="read"),
        report("after", "in_progress", kind="read"),
        report("ended", "completed", kind="execute", rawInput={"command": "rm x"}),
    ]
    player = Player(place, steps, [{"until": "cancel"}])
    await player.play()
    session = next(iter(player.agent._sessions.values()))
    link = player.agent._link
    assert link is not None
    await link.tell("session/cancel", {"sessionId": session.session_id})
    await place.until(lambda: len(place.of("unpermitted")) == 2)
    titles = [event.tool_call_id for event in place.of("toolCall")]
    results = [event.tool_call_id for event in place.of("toolResult")]
    assert sorted(results) == sorted(titles)
    assert len(titles) == 2
    assert "acted without asking" in place.of("unpermitted")[-1].message
