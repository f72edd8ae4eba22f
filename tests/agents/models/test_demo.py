"""The offline model: what it understands, and that it answers the rest in words."""

from __future__ import annotations

import pytest

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    StopPiece,
    TextPiece,
    ToolMessage,
    ToolSchema,
    UserMessage,
    WantedCall,
)
from countersign.agents.models.demo import DemoModel

NAMES = ("write_file", "shell", "read_file", "list_dir", "search", "edit_file", "delete_file", "move_file", "glob")
TOOLS = [ToolSchema(name, "") for name in NAMES]


async def heard(*messages):
    return [piece async for piece in DemoModel().stream("", messages, TOOLS)]


async def calls_of(prompt: str):
    return [
        (piece.call.tool, piece.call.arguments)
        for piece in await heard(UserMessage(prompt))
        if isinstance(piece, CallPiece)
    ]


@pytest.mark.parametrize(
    ("prompt", "calls"),
    [
        ("create hello.txt saying hi", [("write_file", {"path": "hello.txt", "content": "hi"})]),
        ("Create a/b.txt saying two words", [("write_file", {"path": "a/b.txt", "content": "two words"})]),
        ("run touch made.txt", [("shell", {"command": "touch made.txt"})]),
        ("read README.md", [("read_file", {"path": "README.md"})]),
        ("list src", [("list_dir", {"path": "src"})]),
        ("search for TODO", [("search", {"pattern": "TODO"})]),
        (
            "edit a.py: replace x with y",
            [("edit_file", {"path": "a.py", "edits": [{"old_text": "x", "new_text": "y"}]})],
        ),
        (
            "create hello.txt saying hi and also run touch made.txt",
            [("write_file", {"path": "hello.txt", "content": "hi"}), ("shell", {"command": "touch made.txt"})],
        ),
        ("run a && b and then run c", [("shell", {"command": "a && b"})]),
        ("make me a sandwich", []),
        ("create hello.txt saying hi and also make me a sandwich", []),
    ],
)
async def test_plain_requests_become_calls(prompt, calls):
    assert await calls_of(prompt) == calls


async def test_what_it_does_not_understand_is_answered_with_a_hint():
    pieces = await heard(UserMessage("make me a sandwich"))
    assert "create hello.txt saying hi" in "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    assert pieces[-1] == StopPiece("end_turn")


async def test_and_then_is_the_next_message_after_the_results():
    first = WantedCall("1", "shell", {"command": "a"})
    pieces = await heard(
        UserMessage("run a and then run b"), AssistantMessage("On it.", (first,)), ToolMessage("1", "shell", "", True)
    )
    assert [piece.call.arguments for piece in pieces if isinstance(piece, CallPiece)] == [{"command": "b"}]


async def test_after_a_refusal_it_says_so_and_ends():
    first = WantedCall("1", "shell", {"command": "a"})
    refused = ToolMessage("1", "shell", '{"refused": "denied", "reason": "not today"}', False, refused=True)
    pieces = await heard(UserMessage("run a and then run b"), AssistantMessage("", (first,)), refused)
    text = "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    assert "not today" in text
    assert pieces[-1] == StopPiece("end_turn")
    assert not any(isinstance(piece, CallPiece) for piece in pieces)
