"""Known secrets in chats: gone from the file when the turn ends, wherever frames cut them; true while it is open."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from countersign.agents.models.base import AssistantMessage, ToolMessage, UserMessage, WantedCall
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import now
from countersign.wire.threads import PromptEvent, TextEvent, ToolCallEvent, ToolResultEvent
from tests.gate.ledger.test_redact import FORMS

OURS = "a-secret-of-this-machine"


def filled(file: Path, secret: str) -> Transcripts:
    chats = Transcripts(file, secrets=lambda: frozenset({OURS}))
    for thread in ("t", "other"):
        title = secret if thread == "t" else "nothing"
        chats.save_thread(ThreadRow(thread, "/w", title, "Countersign", "default", 0, now()))
    half = len(secret) // 2
    call = ToolCallEvent(
        tool_call_id="c", agent_name="Countersign", tool="shell", title="x", kind="execute", category="execute",
        raw_input={"command": f"curl -H 'X: {secret}'"}, status="running",
    )  # fmt: skip
    result = ToolResultEvent(
        tool_call_id="c", tool="shell", success=True, output=secret, decided_by="user", duration_ms=1
    )
    for number, event in enumerate(
        (PromptEvent(text=secret), TextEvent(text=secret[:half]), TextEvent(text=secret[half:]), call, result), 1
    ):
        chats.add_events("t", number, now(), [event])
    chats.add_events("other", 1, now(), [TextEvent(text="left alone")])
    wanted = WantedCall("c", "shell", {"command": secret})
    chats.add_messages(
        "t",
        [
            UserMessage(secret),
            AssistantMessage(f"I say {secret}", (wanted,)),
            ToolMessage("c", "shell", secret, success=True),
        ],
    )
    return chats


def held(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("form", [*FORMS, "ours"])
def test_after_the_turn_no_byte_of_the_file_holds_it(form: str, tmp_path: Path) -> None:
    secret = OURS if form == "ours" else FORMS[form]
    with closing(filled(tmp_path / "chats.db", secret)) as chats:
        assert secret.encode() in held(tmp_path)
        assert chats.messages("t")[0] == UserMessage(secret)
        chats.blocking_redact("t")
        assert secret.encode() not in held(tmp_path)
        assert [event.type for event in chats.events("t")] == ["prompt", "text", "toolCall", "toolResult"]
        assert len(chats.messages("t")) == 3
        row = chats.thread("t")
        assert row is not None
        assert "[redacted]" in row.title
        assert [event.type for event in chats.events("other")] == ["text"]


def test_what_holds_no_secret_is_left_as_it_is(tmp_path: Path) -> None:
    with closing(filled(tmp_path / "chats.db", "plain words and nothing else")) as chats:
        before = chats.events("t"), chats.messages("t"), chats.thread("t")
        for _ in range(2):
            chats.blocking_redact("t")
        assert (chats.events("t"), chats.messages("t"), chats.thread("t")) == before


def test_a_later_turn_is_redacted_too(tmp_path: Path) -> None:
    with closing(filled(tmp_path / "chats.db", "nothing")) as chats:
        chats.blocking_redact("t")
        chats.add_events("t", 9, now(), [TextEvent(text=FORMS["OpenAI"])])
        chats.add_messages("t", [UserMessage(FORMS["OpenAI"])])
        chats.blocking_redact("t")
        assert FORMS["OpenAI"].encode() not in held(tmp_path)
