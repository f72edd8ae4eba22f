"""The ledger: durable before it says so, chained, and read by anybody beside whoever writes it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest

from countersign.gate.ledger import reader
from countersign.gate.ledger.entry import Closed, Opened, StoredRequest, entry_of
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.server_lock import Owner
from countersign.gate.ledger.writer import Ledger
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.history import HistoryFilter
from tests.gate.ledger.ledger_support import entry, harm
from tests.patience import PATIENCE


@pytest.fixture
def file(tmp_path):
    return tmp_path / LEDGER_FILE


@pytest.fixture
async def ledger(file):
    opened = Ledger(file)
    yield opened
    opened.close()


async def test_what_is_appended_is_read_by_another_connection_at_once(ledger, file):
    await ledger.append(entry(1))
    (row,) = Reader(file).query(HistoryFilter(), workspace=None)
    assert (row.seq, row.tool_call_id, row.by, row.evidence[0].line) == (1, "call-1", "user", 3)


async def test_many_at_once_keep_their_order_and_the_chain_holds(ledger):
    await asyncio.gather(*(ledger.append(entry(number)) for number in range(200)))
    found = ledger.verify()
    assert (found.rows, found.fault) == (200, None)
    newest = ledger.query(HistoryFilter(), workspace="/projects", limit=1)
    assert newest[0].tool_call_id == "call-199"


async def test_a_waiter_that_is_cancelled_changes_nothing_for_the_others(ledger):
    waiting = [asyncio.ensure_future(ledger.append(entry(number))) for number in range(50)]
    await asyncio.sleep(0)
    for task in waiting[::2]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await ledger.append(entry(99))
    assert ledger.verify().fault is None


@pytest.mark.parametrize("sql", ["UPDATE entries SET decided_by = 'rule'", "DELETE FROM entries"])
async def test_rows_are_neither_changed_nor_removed(ledger, file, sql):
    await ledger.append(entry(1))
    with sqlite3.connect(file) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("UPDATE entries SET input = '{}' WHERE seq = 3", "row 3 was changed"),
        ("UPDATE entries SET hash = previous WHERE seq = 3", "row 3 was changed"),
        ("DELETE FROM entries WHERE seq = 3", "row 3 is missing"),
        ("DELETE FROM entries WHERE seq > 3", "2 rows at the end are missing"),
        ("DELETE FROM entries", "5 rows at the end are missing"),
    ],
)
async def test_harm_that_gets_past_the_triggers_is_found(ledger, file, sql, fault):
    for number in range(5):
        await ledger.append(entry(number))
    harm(file, sql)
    assert Reader(file).verify().fault == fault


async def test_a_request_is_kept_until_it_ends_and_its_id_for_ever(ledger):
    stored = StoredRequest("id", "me", "/projects", "thread", "call", "receipt", "A", "open", False, "2026", '{"a": 1}')
    await ledger.append(entry(1), Opened(stored))
    assert ledger.requests("/projects") == [stored]
    assert ledger.requests("/other") == []
    await ledger.append(entry(1), Closed("id", "denied"))
    assert ledger.requests("/projects") == []
    ended = ledger.request("id")
    assert ended is not None
    assert (ended.state, ended.request) == ("denied", None)


async def test_what_was_started_and_never_finished_is_found(ledger):
    await ledger.append(entry(1, phase="started"), entry(2, phase="started"), entry(2, phase="finished"))
    assert [row.receipt_id for row in ledger.unfinished("/projects")] == ["receipt-1"]


async def test_what_a_start_asks_for_looks_at_no_row_too_many(ledger, monkeypatch):
    asked: list[tuple[str, tuple]] = []
    rows = ledger.rows
    monkeypatch.setattr(ledger, "rows", lambda sql, values=(): (asked.append((sql, values)), rows(sql, values))[1])
    ledger.unfinished("/projects")
    ledger.requests("/projects")
    ledger.request("id")
    ledger.last("receipt-1")
    ledger.receipt("receipt-1", "/projects")
    ledger.query(HistoryFilter(), workspace="/projects")
    plans = [row["detail"] for sql, values in asked for row in rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    # `running` holds only what runs; everything else is found by an index.
    assert [plan for plan in plans if plan.startswith("SCAN")] == ["SCAN running"]
    assert len(asked) == 6


async def test_two_servers_on_one_file_make_one_chain(ledger, file):
    other = Ledger(file)
    await asyncio.gather(*((ledger, other)[number % 2].append(entry(number)) for number in range(40)))
    assert other.verify() == ledger.verify()
    assert ledger.verify().rows == 40
    other.close()


async def test_a_closed_ledger_takes_nothing(file):
    ledger = Ledger(file)
    ledger.close()
    with pytest.raises(LedgerUnavailable):
        await ledger.append(entry(1))


def test_a_ledger_that_cannot_be_opened_says_so(tmp_path):
    with pytest.raises(LedgerUnavailable):
        Ledger(tmp_path)


@pytest.mark.parametrize(
    ("filter_", "calls"),
    [
        ({"tool": "edit_file"}, ["call-2"]),
        ({"by": "rule"}, ["call-3"]),
        ({"verdict": "deny"}, ["call-3"]),
        ({"thread_id": "other"}, ["call-2"]),
        ({"text": "touch 1"}, ["call-1"]),
        ({"text": "100%"}, []),
        ({"text": 'say "hé"'}, ["call-2"]),
        ({"agent_name": "Claude"}, ["call-3"]),
        ({"tool_call_id": "call-1"}, ["call-1"]),
        ({"phase": "started"}, []),
        ({"since": "2026-11-20T10:00:00+01:00"}, ["call-3", "call-2"]),
        ({"until": "2026-11-20T09:00:00.000001Z"}, ["call-2", "call-1"]),
        ({"since": "2026-11-20T09:00:00Z", "until": "2026-11-21T00:00:00Z", "by": "rule"}, ["call-3"]),
        ({}, ["call-3", "call-2", "call-1"]),
    ],
)
async def test_history_is_filtered(ledger, filter_, calls):
    await ledger.append(
        entry(1, at="2026-11-20T08:59:59.999999Z"),
        entry(2, tool="edit_file", thread_id="other", input={"it": 'say "hé"'}, at="2026-11-20T09:00:00.000000Z"),
        entry(3, by="rule", verdict="deny", agent_name="Claude", at="2026-11-20T09:00:01.000000Z"),
    )
    assert [row.tool_call_id for row in reversed(list(map(entry_of, ledger.walk(HistoryFilter(**filter_)))))] == calls
    assert [row.tool_call_id for row in ledger.query(HistoryFilter(**filter_), workspace="/projects")] == calls


def test_an_owner_is_gone_only_when_its_lock_is_free(tmp_path):
    first, second = Owner(tmp_path), Owner(tmp_path)
    assert not first.is_gone(second.name)
    assert not first.is_gone(first.name)
    second.release()
    assert first.is_gone(second.name)
    assert first.is_gone("never-was")
    first.release()


@pytest.mark.parametrize("text", ["yesterday", "2026-11-20T09:00:00", ""])
async def test_a_moment_that_is_none_is_refused(ledger, text):
    with pytest.raises(ValueError, match=r"isoformat|zone"):
        ledger.query(HistoryFilter(since=text), workspace=None)


async def test_pages_go_on_where_they_ended_while_rows_are_written(ledger):
    await ledger.append(*(entry(number) for number in range(10)))
    first = ledger.query(HistoryFilter(), workspace="/projects", limit=4)
    await ledger.append(entry(10))
    second = ledger.query(HistoryFilter(), workspace="/projects", before=first[-1].seq, limit=4)
    assert [row.seq for row in (*first, *second)] == [10, 9, 8, 7, 6, 5, 4, 3]


async def test_rows_written_during_a_walk_do_not_disturb_it(ledger, monkeypatch):
    monkeypatch.setattr(reader, "PAGE", 2)
    await ledger.append(*(entry(number) for number in range(3)))
    walk = ledger.walk(HistoryFilter())
    seen = [next(walk)["seq"]]
    await ledger.append(entry(3))
    assert [*seen, *(row["seq"] for row in walk)] == [1, 2, 3, 4]
    assert ledger.verify().fault is None


async def test_the_end_of_a_question_says_how_long_it_stood_open(ledger):
    asked = entry(1, verdict="ask", at="2026-11-20T09:00:00.000000Z")
    await ledger.append(asked, asked.next("decided", verdict="allow", outcome={"state": "allowed"}))
    (ended, _) = ledger.query(HistoryFilter(), workspace="/projects")
    assert ended.outcome is not None
    assert ended.outcome["state"] == "allowed"
    assert ended.outcome["waitedMs"] >= 0
    # Over a restart the question is read from disk, and keeps the moment it was asked at.
    again = ledger.last("receipt-1")
    assert again is not None
    assert again.at == ended.at


async def test_true_bytes_of_a_request_that_has_ended_lie_nowhere_any_more(ledger, file, monkeypatch):
    monkeypatch.setattr("countersign.gate.ledger.writer.IDLE", 0.01)
    log = file.with_name(f"{LEDGER_FILE}-wal")
    for name in ("one", "two", "three"):
        stored = StoredRequest(
            name, "me", "/projects", "thread", "call", "r", "A", "open", False, "2026", '"true-bytes"' * 90
        )
        await ledger.append(entry(1), Opened(stored))
    assert b"true-bytes" in log.read_bytes()
    for name in ("two", "one", "three"):
        await ledger.append(entry(1), Closed(name, "denied"))
    async with asyncio.timeout(PATIENCE):
        while log.stat().st_size:
            await asyncio.to_thread(ledger.request, "one")
    assert b"true-bytes" not in file.read_bytes()


def test_nobody_else_may_read_the_files(tmp_path):
    with closing(Ledger(tmp_path / LEDGER_FILE)) as ledger:
        ledger.put([entry(1)]).result(timeout=PATIENCE)
        assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == dict.fromkeys(
            ("ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.head"), "0o600"
        )


async def test_who_does_not_wait_is_told_on_the_loop_and_never_before_it_asked(tmp_path):
    ledger = Ledger(tmp_path / LEDGER_FILE)
    told, heard = [], asyncio.Event()

    def fails(_result):
        raise RuntimeError("not my day")

    ledger.write([entry(1)], fails)
    ledger.write([entry(2)], lambda result: (told.append(result), heard.set()))
    assert told == []
    await asyncio.wait_for(heard.wait(), PATIENCE)
    assert told == [2]
    ledger.close()
    heard.clear()
    ledger.write([entry(3)], lambda result: (told.append(result), heard.set()))
    assert told == [2]
    await asyncio.wait_for(heard.wait(), PATIENCE)
    assert isinstance(told[1], LedgerUnavailable)


def test_what_nobody_could_write_does_not_take_with_it_what_shares_its_commit(file, monkeypatch):
    held, shown = threading.Event(), threading.Event()
    with closing(Ledger(file)) as ledger:
        monkeypatch.setattr(ledger, "_secret_names", lambda: (shown.set(), held.wait(5), ())[2])
        first = ledger.put([entry(1)])
        assert shown.wait(5)
        bad = ledger.put([entry(2)._replace(input={"bytes": b"no JSON"})])
        good = ledger.put([entry(3)])  # while the first is being written, so the two share a commit
        held.set()
        assert first.result(timeout=PATIENCE) == 1
        assert isinstance(bad.exception(timeout=PATIENCE), LedgerUnavailable)
        assert good.result(timeout=PATIENCE) == 2
