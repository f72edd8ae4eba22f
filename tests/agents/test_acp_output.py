"""The chat shows what the agent told its model of a call's output, as it comes."""

from __future__ import annotations

import pytest

from countersign.agents.acp.reports import output_of
from countersign.agents.acp.translate import ToolReport
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import Place


def words(text: str) -> list:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def piece(text: str, key: str = "terminal_output") -> dict:
    return {"_meta": {key: {"terminal_id": "t", "data": text}}}


ROWS = {
    "words": ([{"content": words("a")}], "a"),
    "later words": ([{"content": words("a")}, {"content": words("b")}], "b"),
    "a final raw output after words": ([{"content": words("Running")}, {"rawOutput": "b"}], "b"),
    "words beside a raw output": ([{"content": words("a"), "rawOutput": {"x": 1}}], "a"),
    "an empty content": ([{"content": words("a")}, {"content": []}], ""),
    "no content with a raw output": ([{"content": words("a")}, {"content": [], "rawOutput": "b"}], "b"),
    "what a command put out": ([{"rawOutput": {"stdout": "out", "stderr": "err", "exit_code": 0}}], "out\nerr"),
    "the same twice": ([{"rawOutput": {"formatted_output": "out", "stdout": "out"}}], "out"),
    "any other value": ([{"rawOutput": {"n": 1}}], '{"n": 1}'),
    "pieces": ([piece("a"), piece("b"), {"status": "completed"}], "ab"),
    "pieces under another name": ([piece("a", "terminal_output_delta"), piece("b", "terminal_output_delta")], "ab"),
    "pieces and their whole": ([piece("a"), {"rawOutput": "ab"}], "ab"),
    "a piece beside how it ended": ([{**piece("a", "terminal_output_delta"), "rawOutput": {"exit_code": 0}}], "a"),
    "pieces before how it ended": ([piece("a"), {"rawOutput": {"exit_code": 0}}], "a"),
    "nothing": ([{}], ""),
}


@pytest.mark.parametrize(("updates", "output"), ROWS.values(), ids=ROWS)
def test_the_output_is_what_was_said_last(updates: list[dict], output: str):
    told = ToolReport("a")
    for update in updates:
        told = told.merged(update)
    assert output_of(told) == output


def test_words_that_may_hold_a_command_are_kept_for_judging():
    told = ToolReport("a").merged({"content": words("rm x")}).merged({"content": []})
    assert told.text == "rm x"


async def test_output_streams_into_the_chat_and_the_end_is_whole(place: Place):
    place.person.decide = lambda card: {"option": "allow_once"}
    run = {"kind": "execute", "rawInput": {"command": "make"}}
    pieces = [report("a", "in_progress", **piece(text)) for text in ("one\n", "two\n")]
    steps = [ask("a", **run), *pieces,
             report("a", "in_progress", content=words("one\ntwo\nthree")), done("a", "all")]  # fmt: skip
    await Player(place, steps).play()
    assert "".join(event.text for event in place.of("toolOutput")).startswith("one\ntwo\n")
    (result,) = place.of("toolResult")
    assert result.output == "all"
    assert {event.tool_call_id for event in place.of("toolOutput")} == {result.tool_call_id}
