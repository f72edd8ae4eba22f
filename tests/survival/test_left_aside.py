"""A file whose deletion was cut off by a kill is back after the next start, and both model and person are told."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("undone", "comes_back"), [("create", True), ("edit", False)])
async def test_what_an_undo_left_is_put_back_only_where_it_was_taking_the_file_away(
    tmp_path: Path, undone: str, comes_back: bool
) -> None:
    """An undo of an edit exchanges two texts: a file that is gone by now was removed by somebody."""
    (tmp_path / "storage").mkdir()
    left = Left(tmp_path / "storage")
    try:
        path = tmp_path / "a.txt"
        (tmp_path / old_name("a.txt")).write_text("edited")
        done = Entry("r", "finished", left.workspace, "gone", "t", "Countersign", "c", "write_file", "digest")
        undo = Entry("u", "started", left.workspace, "gone", "t", "Countersign", "undo-r", "undo", "digest")
        changed = {"ended": "done", "operation": undone, "path": str(path)}
        given = {"receiptId": "r", "path": str(path)}
        await left.house.ledger.append(done.next("finished", outcome=changed), undo.next("started", input=given))
        await left.recover()
        (finished,) = left.house.ledger.query(HistoryFilter(), workspace=None, limit=1)
    finally:
        left.close()
    assert path.exists() is comes_back
    assert finished.outcome is not None
    assert ("was put back" if comes_back else "is beside it as") in str(finished.outcome["left"])
