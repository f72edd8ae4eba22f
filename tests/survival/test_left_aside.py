"""A file whose deletion was cut off by a kill is back after the next start, and both model and person are told."""

from __future__ import annotations

from pathlib import Path

from countersign.agents.models.base import AssistantMessage, ToolMessage, UserMessage, WantedCall
from countersign.gate.ledger.entry import Entry
from countersign.settings.temporary_names import old_name
from countersign.wire.history import HistoryFilter
from countersign.wire.threads import ToolResultEvent

from .test_recovery import PROMPT, Left, call


async def test_a_file_that_a_killed_server_had_taken_away_is_put_back_and_said(tmp_path: Path) -> None:
    (tmp_path / "storage").mkdir()
    left = Left(tmp_path / "storage")
    try:
        path = tmp_path / "a.txt"
        (tmp_path / old_name("a.txt")).write_text("old")
        wanted = WantedCall("c", "delete_file", {"path": str(path)})
        left.transcripts.add_events("t", 1, "2026-11-20T10:00:00Z", [PROMPT, call("c")])
        left.transcripts.add_messages("t", [UserMessage("go"), AssistantMessage("", (wanted,))])
        row = Entry("r", "started", left.workspace, "gone", "t", "Countersign", "c", "delete_file", "digest")
        await left.house.ledger.append(row.next("started", input={"path": str(path)}))
        await left.recover()
        (finished,) = left.house.ledger.query(HistoryFilter(), workspace=None, limit=1)
        results = [event.output for event in left.transcripts.events("t") if isinstance(event, ToolResultEvent)]
        messages = [said.output for said in left.transcripts.messages("t") if isinstance(said, ToolMessage)]
    finally:
        left.close()
    said = "`a.txt` was being taken away and was put back"
    assert finished.outcome == {"ended": "interrupted", "left": said}
    assert [said in output for output in (*results, *messages)] == [True, True]
    assert path.read_text() == "old"
