"""Rotation: the old chain lies in a file that proves itself, the new one names its head, and nothing open is lost."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest

from countersign.gate.ledger.entry import Closed, Opened, StoredRequest
from countersign.gate.ledger.export import blocking_verify_export
from countersign.gate.ledger.hash_chain import Fault
from countersign.gate.ledger.head_file import HEAD_FILE
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.retention import blocking_rotate
from countersign.gate.ledger.writer import Ledger
from countersign.wire.history import HistoryFilter
from tests.gate.ledger.ledger_support import entry, harm, write
from tests.patience import PATIENCE

OPEN = StoredRequest("open", "me", "/projects", "thread", "call-2", "receipt-2", "A", "open", True, "2026", '{"a": 1}')


@pytest.fixture
def file(tmp_path):
    return tmp_path / LEDGER_FILE


@pytest.fixture
def ledger(file):
    """Six rows: a call that ended, one whose request is open, one that was started."""
    with closing(Ledger(file)) as opened:
        write(opened, entry(1), entry(1, phase="started"), entry(1, phase="finished", outcome={"ended": "done"}))
        write(opened, entry(2, verdict="ask"), Opened(OPEN))
        write(opened, entry(3), entry(3, phase="started"))
        yield opened


def rows(reader: Reader) -> list[tuple[int, str, str]]:
    return [(row["seq"], row["receipt_id"], row["phase"]) for row in reader.walk(HistoryFilter())]


CARRIED = [(7, "receipt-2", "decided"), (8, "receipt-3", "decided"), (9, "receipt-3", "started")]


def test_the_new_chain_names_the_old_head_and_holds_beside_a_running_server(ledger, file, tmp_path):
    old = ledger.verify()
    exported = blocking_rotate(file, tmp_path / "old.jsonl")
    assert (exported.rows, exported.head.rows, exported.head.hash) == (6, 6, old.head)
    assert exported.sha256 == hashlib.sha256((tmp_path / "old.jsonl").read_bytes()).hexdigest()
    archive = blocking_verify_export(tmp_path / "old.jsonl")
    assert (archive.rows, archive.head, archive.fault) == (6, old.head, None)
    found = Reader(file).verify()
    assert (found.rows, found.fault) == (3, None)
    for word in ("6 rows", "`old.jsonl`", exported.sha256, old.head):
        assert word in found.notes[0]
    write(ledger, entry(4))
    assert (ledger.verify().rows, ledger.verify().fault) == (4, None)
    assert rows(ledger) == [*CARRIED, (10, "receipt-4", "decided")]


def test_what_is_open_or_running_goes_on(ledger, file, tmp_path):
    blocking_rotate(file, tmp_path / "old.jsonl")
    assert ledger.requests("/projects") == [OPEN]
    assert [row.receipt_id for row in ledger.unfinished("/projects")] == ["receipt-3"]
    asked = ledger.last("receipt-2")
    assert asked is not None
    write(ledger, asked.next("decided", verdict="deny"), Closed("open", "denied"), entry(3, phase="finished"))
    assert ledger.requests("/projects") == []
    assert ledger.unfinished("/projects") == []
    ended = ledger.request("open")
    assert ended is not None
    assert ended.state == "denied"


def test_one_rotation_follows_another(ledger, file, tmp_path):
    blocking_rotate(file, tmp_path / "one.jsonl")
    write(ledger, entry(3, phase="finished"), Closed("open", "denied"))
    second = blocking_rotate(file, tmp_path / "two.jsonl")
    assert (second.rows, second.head.rows) == (4, 10)
    archive = blocking_verify_export(tmp_path / "two.jsonl")
    assert (archive.rows, archive.fault) == (4, None)
    assert "`one.jsonl`" in archive.notes[0]
    third = blocking_rotate(file, tmp_path / "three.jsonl")
    assert (third.rows, blocking_verify_export(tmp_path / "three.jsonl").fault) == (0, None)
    assert (Reader(file).verify().rows, Reader(file).verify().fault) == (0, None)
    ledger.close()
    with closing(Ledger(file)) as again:
        assert again.notes == ()
        assert write(again, entry(5)) == 11
        assert (again.verify().rows, again.verify().fault) == (1, None)


def test_the_link_to_the_old_chain_cannot_be_changed(ledger, file, tmp_path):
    blocking_rotate(file, tmp_path / "old.jsonl")
    ledger.close()
    for sql in (
        "UPDATE links SET said = replace(said, 'old', 'new')",
        "UPDATE links SET previous = hash",
        "DELETE FROM links",
        "DELETE FROM entries WHERE seq > 7",
    ):
        copy = tmp_path / str(len(sql))
        copy.mkdir()
        for name in (LEDGER_FILE, HEAD_FILE):
            (copy / name).write_bytes((tmp_path / name).read_bytes())
        harm(copy / LEDGER_FILE, sql)
        assert Reader(copy / LEDGER_FILE).verify().fault is not None, sql


@pytest.mark.parametrize(
    "sql", ["UPDATE entries SET tool = 'x' WHERE seq = 2", "DELETE FROM entries WHERE seq > 4"], ids=["row", "end"]
)
def test_a_chain_that_does_not_hold_is_not_put_away(ledger, file, tmp_path, sql):
    ledger.close()
    harm(file, sql)
    before = rows(Reader(file))
    with pytest.raises(Fault):
        blocking_rotate(file, tmp_path / "old.jsonl")
    assert rows(Reader(file)) == before
    assert not (tmp_path / "old.jsonl").exists()
    assert Reader(file).verify().fault is not None


def test_a_rotation_that_cannot_be_finished_changes_nothing(ledger, file, tmp_path):
    before, head = rows(ledger), ledger.verify().head
    (tmp_path / "there").write_text("mine")
    with pytest.raises(FileExistsError):
        blocking_rotate(file, tmp_path / "there")
    with pytest.raises(OSError, match="No such file"):
        blocking_rotate(file, tmp_path / "none" / "old.jsonl")
    assert (rows(ledger), ledger.verify().head, (tmp_path / "there").read_text()) == (before, head, "mine")


def test_a_rotation_whose_last_step_fails_leaves_the_old_chain_and_no_file(ledger, file, tmp_path, monkeypatch):
    before = rows(ledger)

    def fails(_connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("countersign.gate.ledger.retention._unsettled", fails)
    with pytest.raises(Exception, match="nothing was changed"):
        blocking_rotate(file, tmp_path / "old.jsonl")
    assert rows(ledger) == before
    assert (ledger.verify().rows, ledger.verify().fault) == (6, None)
    assert not (tmp_path / "old.jsonl").exists()


def test_the_database_shrinks(file, tmp_path):
    with closing(Ledger(file)) as ledger:
        write(ledger, *(entry(number, input={"text": "x" * 500}) for number in range(2000)))
    before = file.stat().st_size
    blocking_rotate(file, tmp_path / "old.jsonl")
    assert file.stat().st_size < before / 10


def test_rows_written_during_a_rotation_are_in_the_archive_or_in_the_new_chain(file, tmp_path):
    with closing(Ledger(file)) as ledger, closing(Ledger(file)) as other:
        waiting = [ledger.put([entry(number)]) for number in range(500)]
        blocking_rotate(file, tmp_path / "old.jsonl")
        waiting += [(ledger, other)[number % 2].put([entry(number)]) for number in range(500, 600)]
        numbers = [done.result(timeout=PATIENCE) for done in waiting]
        archive = blocking_verify_export(tmp_path / "old.jsonl")
        found = ledger.verify()
        assert (archive.fault, found.fault) == (None, None)
        assert archive.rows + found.rows == len(numbers) == 600
        assert sorted(numbers) == list(range(1, 601))
