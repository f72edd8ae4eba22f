"""The chain and the head beside it: what a crash may leave is taken for what it is, and harm is found as harm."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from countersign.gate.ledger.hash_chain import Head
from countersign.gate.ledger.head_file import HEAD_FILE, PLACE, HeadFile, blocking_read_heads
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.wal import FRAME_HEADER, HEADER, blocking_incomplete
from countersign.gate.ledger.writer import Ledger
from tests.gate.ledger.ledger_support import crash_image, entry, harm, write
from tests.patience import PATIENCE

PAGE = 4096


@pytest.fixture
def image(tmp_path):
    """Five rows as a kill leaves them: the newest are in the write-ahead log only."""
    (tmp_path / "live").mkdir()
    with closing(Ledger(tmp_path / "live" / LEDGER_FILE)) as ledger:
        for number in range(5):
            write(ledger, entry(number))
        return crash_image(ledger, tmp_path / "image")


def reopened(file: Path) -> tuple[str, ...]:
    """Start a server on it, write a row, and end it; what it found out of order."""
    with closing(Ledger(file)) as ledger:
        write(ledger, entry(99))
        return ledger.notes


def log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def test_after_a_kill_every_row_holds_and_nothing_is_reported(image):
    assert (Reader(image).verify().rows, Reader(image).verify().fault) == (5, None)
    assert reopened(image) == ()
    assert (Reader(image).verify().rows, Reader(image).verify().fault) == (6, None)


def test_a_head_that_lags_after_a_crash_is_no_fault_and_is_made_up_for(image):
    heads = blocking_read_heads(image)
    file = HeadFile(image)
    file.blocking_replace(heads[1])
    file.close()
    assert Reader(image).verify().fault is None
    with closing(Ledger(image)) as ledger:
        assert ledger.notes == ()
        assert blocking_read_heads(image)[0] == heads[0]


@pytest.mark.parametrize("place", [0, PLACE])
def test_a_head_that_was_torn_leaves_the_other_one(image, place):
    file = image.with_name(HEAD_FILE)
    data = bytearray(file.read_bytes())
    data[place + 5 : place + 60] = b"\0" * 55
    file.write_bytes(data)
    assert len(blocking_read_heads(image)) == 1
    assert Reader(image).verify().fault is None
    assert reopened(image) == ()
    assert len(blocking_read_heads(image)) == 2
    assert Reader(image).verify().fault is None


def cut(file: Path, cut_off: int) -> None:
    log = log_of(file)
    log.write_bytes(log.read_bytes()[:-cut_off])


def tear(file: Path) -> None:
    log = log_of(file)
    data = bytearray(log.read_bytes())
    data[-100:] = b"\0" * 100
    log.write_bytes(data)


@pytest.mark.parametrize(
    "tearing",
    [
        lambda file: cut(file, 1),
        lambda file: cut(file, PAGE // 2),
        lambda file: cut(file, PAGE),
        lambda file: cut(file, PAGE + FRAME_HEADER),
        lambda file: cut(file, PAGE + FRAME_HEADER + 17),
        tear,
    ],
    ids=["a byte", "half a page", "a page", "a frame", "more than a frame", "not a byte, but zeros"],
)
def test_an_incomplete_last_row_is_dropped_and_reported_for_ever(image, tearing):
    tearing(image)
    assert blocking_incomplete(image)
    before = Reader(image).verify()
    assert (before.rows, before.fault, len(before.notes)) == (4, None, 1)
    (note,) = reopened(image)
    assert "after row 4 an append was incomplete" in note
    found = Reader(image).verify()
    assert (found.rows, found.fault, len(found.notes)) == (5, None, 1)
    assert reopened(image) == ()
    assert Reader(image).verify().notes == found.notes


def test_an_incomplete_append_that_nobody_was_told_of_is_reported_too(image):
    log = log_of(image)
    data = log.read_bytes()
    # The first frame of a sixth commit, as the kernel may have it when the process dies.
    log.write_bytes(data + data[HEADER : HEADER + FRAME_HEADER + PAGE])
    assert "after row 5" in reopened(image)[0]
    assert (Reader(image).verify().rows, Reader(image).verify().fault) == (6, None)


def test_a_whole_log_is_not_taken_for_an_incomplete_one(image, tmp_path):
    assert not blocking_incomplete(image)
    assert not blocking_incomplete(tmp_path / "none")
    # A log that was emptied and begun anew ends in frames of its earlier round.
    with closing(Ledger(tmp_path / LEDGER_FILE)) as ledger:
        for number in range(30):
            write(ledger, entry(number))
        connection = sqlite3.connect(tmp_path / LEDGER_FILE, isolation_level=None)
        connection.execute("PRAGMA wal_checkpoint(RESTART)")
        connection.close()
        write(ledger, entry(30))
        assert not blocking_incomplete(tmp_path / LEDGER_FILE)


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("DELETE FROM entries WHERE seq > 3", "2 rows at the end are missing"),
        ("DELETE FROM entries WHERE seq = 5", "1 rows at the end are missing"),
        ("DELETE FROM entries", "5 rows at the end are missing"),
        ("UPDATE entries SET hash = 'x' WHERE seq = 5", "row 5 was changed"),
    ],
)
def test_a_shortened_end_stays_to_be_seen_however_long_servers_go_on(image, sql, fault):
    harm(image, sql)
    head = image.with_name(HEAD_FILE).read_bytes()
    assert Reader(image).verify().fault == fault
    notes = [reopened(image) for _ in range(7)]
    assert image.with_name(HEAD_FILE).read_bytes() == head
    assert "check it with `countersign history --verify`" in notes[-1][0]
    assert Reader(image).verify().fault is not None


def test_rows_that_go_missing_under_a_running_server_stay_to_be_seen(tmp_path):
    file = tmp_path / LEDGER_FILE
    with closing(Ledger(file)) as ledger:
        for number in range(5):
            write(ledger, entry(number))
        harm(file, "DELETE FROM entries WHERE seq > 2")
        for number in range(9):
            write(ledger, entry(number))
        assert Reader(file).verify().fault == "row 5 is not the one that was written"


def test_a_head_that_is_gone_is_reported_and_the_chain_says_so_from_then_on(image):
    image.with_name(HEAD_FILE).unlink()
    assert (
        Reader(image).verify().fault == "the head file is gone or cannot be read, so a shortened end would not be seen"
    )
    assert "the head file was gone" in reopened(image)[0]
    found = Reader(image).verify()
    assert (found.fault, len(found.notes)) == (None, 1)


def test_a_link_is_part_of_the_chain(image):
    tear(image)
    reopened(image)
    for sql in ("DELETE FROM links", "UPDATE links SET kind = 'headless'", "UPDATE links SET after = after - 1"):
        copy = image.parent.with_name(sql[:9] + str(abs(hash(sql))))
        copy.mkdir()
        for file in image.parent.glob("ledger.*"):
            (copy / file.name).write_bytes(file.read_bytes())
        harm(copy / LEDGER_FILE, sql)
        assert Reader(copy / LEDGER_FILE).verify().fault is not None, sql


def test_heads_of_two_servers_never_go_back(tmp_path):
    ledger = tmp_path / LEDGER_FILE
    servers = [HeadFile(ledger), HeadFile(ledger)]
    seen: list[int] = []

    def note(first: int) -> None:
        for rows in range(first, 400, 2):
            servers[first % 2].blocking_note(Head(rows, f"{rows:064x}"))
            seen.append(blocking_read_heads(ledger)[0].rows)
            assert seen[-1] >= rows

    threads = [threading.Thread(target=note, args=(first,)) for first in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert blocking_read_heads(ledger)[0] == Head(399, f"{399:064x}")
    for server in servers:
        server.close()


def test_two_servers_on_one_ledger_leave_a_head_that_holds(tmp_path):
    file = tmp_path / LEDGER_FILE
    with closing(Ledger(file)) as one, closing(Ledger(file)) as other:
        waiting = [(one, other)[number % 2].put([entry(number)]) for number in range(200)]
        for done in waiting:
            done.result(timeout=PATIENCE)
        assert (one.verify().rows, one.verify().fault) == (200, None)
        assert blocking_read_heads(file)[0].rows == 200
