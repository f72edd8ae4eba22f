"""The loop without IO: what it says to do next, whatever order things happen in."""

from __future__ import annotations

from countersign.agents.loop import AskModel, Finish, Keep, Loop, StartCall, unanswered
from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    StopPiece,
    TextPiece,
    ToolMessage,
    UserMessage,
    WantedCall,
)

ONE, TWO = WantedCall("1", "shell", {"command": "a"}), WantedCall("2", "shell", {"command": "b"})
PROMPT = [UserMessage("go")]


def reply(call: WantedCall) -> ToolMessage:
    return ToolMessage(call.call_id, call.tool, "ran", success=True)


def test_a_message_that_calls_nothing_ends_the_turn():
    loop = Loop(PROMPT, most_steps=5)
    assert loop.start() == [AskModel()]
    assert loop.heard(TextPiece("hello")) == []
    said = AssistantMessage("hello")
    assert loop.heard(StopPiece("end_turn")) == [Keep((said,)), Finish("end_turn")]


def test_a_call_starts_as_soon_as_its_block_is_complete():
    loop = Loop(PROMPT, most_steps=5)
    loop.start()
    assert loop.heard(CallPiece(ONE)) == [StartCall(ONE)]
    assert loop.heard(TextPiece("and more text")) == []


def test_the_model_is_asked_again_only_when_every_call_has_its_reply():
    loop = Loop(PROMPT, most_steps=5)
    loop.start()
    loop.heard(CallPiece(ONE))
    loop.heard(CallPiece(TWO))
    loop.heard(StopPiece("tool_use"))
    assert loop.replied(reply(TWO)) == [Keep((reply(TWO),))]
    assert loop.replied(reply(ONE)) == [Keep((reply(ONE),)), AskModel()]


def test_a_reply_that_comes_before_the_message_ended_is_kept_after_it():
    loop = Loop(PROMPT, most_steps=5)
    loop.start()
    loop.heard(CallPiece(ONE))
    assert loop.replied(reply(ONE)) == []
    said = AssistantMessage("", (ONE,))
    assert loop.heard(StopPiece("tool_use")) == [Keep((said, reply(ONE))), AskModel()]


def test_steps_are_bounded():
    loop = Loop(PROMPT, most_steps=1)
    loop.start()
    loop.heard(CallPiece(ONE))
    loop.heard(StopPiece("tool_use"))
    assert loop.replied(reply(ONE))[-1] == Finish("max_turn_requests")


def test_a_resumed_turn_starts_only_the_calls_without_a_reply():
    said = AssistantMessage("", (ONE, TWO))
    loop = Loop([*PROMPT, said, reply(ONE)], most_steps=5)
    assert loop.start() == [StartCall(TWO)]
    assert loop.replied(reply(TWO))[-1] == AskModel()


def test_a_message_that_is_cut_off_keeps_what_was_said_and_replied():
    loop = Loop(PROMPT, most_steps=5)
    loop.start()
    loop.heard(TextPiece("I will"))
    loop.heard(CallPiece(ONE))
    loop.heard(CallPiece(TWO))
    loop.replied(reply(ONE))
    assert loop.cut_off() == (AssistantMessage("I will", (ONE, TWO)), reply(ONE))
    assert unanswered([*PROMPT, *loop.cut_off()]) == (TWO,)


def test_the_model_reads_replies_in_the_order_of_its_calls():
    loop = Loop(PROMPT, most_steps=5)
    loop.start()
    loop.heard(CallPiece(ONE))
    loop.heard(CallPiece(TWO))
    loop.heard(StopPiece("tool_use"))
    loop.replied(reply(TWO))
    loop.replied(reply(ONE))
    assert loop.messages[-2:] == [reply(ONE), reply(TWO)]
