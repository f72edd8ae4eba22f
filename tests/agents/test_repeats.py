"""The loop breaker: a call that had the same result three times in its turn asks, whatever would allow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    StopPiece,
    TextPiece,
    ToolMessage,
    UserMessage,
    WantedCall,
)
from countersign.agents.repeats import Repeats
from countersign.gate.decisions.decide import decide
from countersign.gate.decisions.repeated import MOST_REPEATS
from countersign.settings.policy import RuleText
from countersign.wire.approvals import ApprovalRequest
from tests.flows.support import bypassed, close_flow, make_flow
from tests.gate.decisions.test_decide import MODES, call, policy, read, rule

LOOKS = WantedCall("", "read_file", {"path": "a.txt"})
RUNS = WantedCall("", "shell", {"command": "cat a.txt"})
TOUCHES = WantedCall("", "shell", {"command": "touch b.txt"})


class Repeating:
    """A model that wants these calls, one in each message, and then says that it is done."""

    def __init__(self, calls: list[WantedCall]) -> None:
        self._calls = iter(calls)

    async def stream(self, system: str, messages: Any, tools: Any) -> Any:
        wanted = next(self._calls, None)
        if wanted is None:
            yield TextPiece("done")
            yield StopPiece("end_turn")
        else:
            yield CallPiece(wanted)
            yield StopPiece("tool_use")


async def cards_of(
    folder: Path,
    calls: list[WantedCall],
    monkeypatch: pytest.MonkeyPatch,
    *,
    answer: Mapping[str, object] | None = None,
    rules: tuple[RuleText, ...] = (),
    bypass: bool = False,
) -> tuple[list[ApprovalRequest], str]:
    """Return the cards of a turn that makes these calls, and its transcript."""
    workspace = folder / "w"
    workspace.mkdir()
    (workspace / "a.txt").write_text("the text of a\n")
    monkeypatch.setattr("countersign.lsp.builtin_agent.model_for", lambda *_: Repeating(calls))
    flow = make_flow(workspace, lambda _card: dict(answer or {}), rules)
    if bypass:
        flow.policy = bypassed(flow.policy)
    try:
        told = await flow.say("go")
    finally:
        await close_flow(flow)
    return [card for _, card in flow.line.sent if isinstance(card, ApprovalRequest)], told


@pytest.mark.parametrize("wanted", [LOOKS, RUNS], ids=["a read", "a command that reads"])
async def test_the_fourth_time_asks_and_a_denial_is_the_calls_result(
    wanted: WantedCall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cards, told = await cards_of(tmp_path, [wanted] * 4, monkeypatch, answer={"option": "reject_once"})
    assert [card.reason for card in cards] == [
        "the same call had the same result 3 times in this turn, so the agent may be in a loop"
    ]
    assert {option.kind for option in cards[0].options} == {"allow_once", "reject_once"}
    assert told.count("done by mode") == MOST_REPEATS
    assert told.count("not done by user") == 1


async def test_a_persons_yes_lets_it_go_on_and_counts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cards, told = await cards_of(tmp_path, [LOOKS] * 7, monkeypatch)
    assert (len(cards), told.count("done by user"), told.count("done by mode")) == (2, 2, 5)


@pytest.mark.parametrize("bypass", [False, True])
async def test_neither_a_rule_nor_bypass_answers_for_the_person(
    bypass: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rules = () if bypass else (rule("allow", "Bash(touch b.txt)"),)
    cards, told = await cards_of(
        tmp_path, [TOUCHES] * 4, monkeypatch, rules=rules, bypass=bypass, answer={"option": "reject_once"}
    )
    assert ["may be in a loop" in card.reason for card in cards] == [True], told
    assert told.count("done by bypass" if bypass else "done by rule") == MOST_REPEATS


async def test_another_result_and_another_call_in_between_ask_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    writes = [WantedCall("", "write_file", {"path": "a.txt", "content": str(number)}) for number in range(5)]
    calls = [each for write in writes for each in (write, LOOKS)]
    cards, _ = await cards_of(tmp_path, calls, monkeypatch, rules=(rule("allow", "Edit(a.txt)"),))
    assert cards == []


@pytest.mark.parametrize("mode", MODES)
def test_repeating_never_widens_and_is_never_allowed(mode: Any):
    for known in (policy(), policy(rule("allow", "Read(**)")), policy(rule("deny", "Read(**)")), policy(bypass=True)):
        for plain in (read(), call(category="external", tool="mcp__a__b")):
            before = decide(plain, known, [mode])
            for repeated in range(MOST_REPEATS):
                assert decide(replace(plain, repeated=repeated), known, [mode]) == before
            for repeated in (MOST_REPEATS, 100):
                found = decide(replace(plain, repeated=repeated), known, [mode])
                assert found.verdict == ("deny" if before.verdict == "deny" or mode == "dontAsk" else "ask")
                assert found.verdict == "deny" or not found.grantable


def test_what_a_turn_did_before_a_restart_counts_and_an_earlier_turn_does_not():
    def did(number: int) -> list[AssistantMessage | ToolMessage]:
        made = replace(LOOKS, call_id=f"call-{number}")
        return [AssistantMessage("", (made,)), ToolMessage(made.call_id, made.tool, "the text", success=True)]

    repeats = Repeats()
    repeats.take_up([UserMessage("one"), *did(1), *did(2), UserMessage("two"), *did(3), *did(4)])
    assert (repeats.count(LOOKS), repeats.count(RUNS)) == (2, 0)
    repeats.add(LOOKS, ToolMessage("", "read_file", '{"refused": "denied"}', success=False, refused=True))
    assert repeats.count(LOOKS) == 2
    repeats.add(LOOKS, ToolMessage("", "read_file", "another text", success=True))
    assert repeats.count(LOOKS) == 1
