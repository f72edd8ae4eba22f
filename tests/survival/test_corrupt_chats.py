"""A store of chats that is no database: it is kept under another name, counts as empty, and the person is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate.ledger.entry import now

GARBAGE = {
    "text": b"not a database at all\n" * 500,
    "zeros behind a byte": b"x" + bytes(100_000),
    "a header and no pages": b"SQLite format 3\0" + b"\xff" * 8000,
    "JSON": b"{}" * 300,
}


def row(number: int) -> ThreadRow:
    return ThreadRow(f"t{number}", "/srv/app", "", "Countersign", "default", 0, now())


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_kept_aside_and_counts_as_empty(name: str, tmp_path: Path):
    file = tmp_path / "chats.db"
    file.write_bytes(GARBAGE[name])
    with closing(Transcripts(file)) as transcripts:
        [aside] = [path for path in tmp_path.glob("chats.db.corrupt-*") if not path.name.endswith(("-wal", "-shm"))]
        assert aside.read_bytes() == GARBAGE[name]
        assert transcripts.notes == (
            f"the store of the chats was corrupt; it is kept as `{aside.name}` and counts as empty",
        )
        assert transcripts.threads("/srv/app") == []
        transcripts.save_thread(row(1))
    with closing(Transcripts(file)) as again:
        assert [each.thread_id for each in again.threads("/srv/app")] == ["t1"]
        assert again.notes == ()


def test_servers_that_start_at_once_set_it_aside_once(tmp_path: Path):
    file = tmp_path / "chats.db"
    file.write_bytes(GARBAGE["text"])
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: Transcripts(file), range(8)))
    for number, transcripts in enumerate(opened):
        transcripts.save_thread(row(number))
    assert len(opened[0].threads("/srv/app")) == 8
    assert [len(each.notes) for each in opened].count(1) == 1
    assert len(list(tmp_path.glob("chats.db.corrupt-*Z"))) == 1
    for transcripts in opened:
        transcripts.close()
