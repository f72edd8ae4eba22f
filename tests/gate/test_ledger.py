"""The ledger: durable before it says so, chained, and read by anybody beside whoever writes it."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from argparse import Namespace

import pytest

from countersign.gate import ledger_cli
from countersign.gate.entry import Closed, Entry, Opened, StoredRequest
from countersign.gate.ledger import Ledger
from countersign.gate.owner import Owner
from countersign.gate.reader import LEDGER_FILE, Reader
from countersign.gate.redact import redact, secret_values
from countersign.wire.desk import HistoryFilter
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.verdicts import Evidence


def entry(number: int = 0, **changes) -> Entry:
    given = {
        "receipt_id": f"receipt-{number}",
        "phase": "decided",
        "workspace": "/work",
        "owner": "me",
        "thread_id": "thread",
        "agent_name": "Countersign",
        "tool_call_id": f"call-{number}",
        "tool": "shell",
        "digest": "d" * 64,
        "input": {"command": f"touch {number}"},
        "verdict": "allow",
        "by": "user",
        "evidence": (
            Evidence(source="rule", rule="Bash(touch *)", file="settings.json", line=3, reason="you said so"),
        ),
    }
    return Entry(**{**given, **changes})


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
    (row,) = Reader(file).entries()
    assert (row.seq, row.tool_call_id, row.by, row.evidence[0].line) == (1, "call-1", "user", 3)


async def test_many_at_once_keep_their_order_and_the_chain_holds(ledger):
    await asyncio.gather(*(ledger.append(entry(number)) for number in range(200)))
    found = ledger.verify()
    assert (found.rows, found.fault) == (200, None)
    newest = ledger.query(HistoryFilter(), workspace="/work", limit=1)
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
    ("harm", "fault"),
    [
        ("UPDATE entries SET input = '{}' WHERE seq = 3", "row 3 was changed"),
        ("UPDATE entries SET hash = previous WHERE seq = 3", "row 3 was changed"),
        ("DELETE FROM entries WHERE seq = 3", "row 3 is missing"),
        ("DELETE FROM entries WHERE seq > 3", "2 rows at the end are missing"),
        ("DELETE FROM entries", "5 rows at the end are missing"),
    ],
)
async def test_harm_that_gets_past_the_triggers_is_found(ledger, file, harm, fault):
    for number in range(5):
        await ledger.append(entry(number))
    connection = sqlite3.connect(file)
    connection.executescript(f"DROP TRIGGER entries_never_change; DROP TRIGGER entries_never_go; {harm};")
    connection.close()
    assert Reader(file).verify().fault == fault


async def test_a_request_is_kept_until_it_ends_and_its_id_for_ever(ledger):
    stored = StoredRequest("id", "me", "/work", "thread", "call", "receipt", "A", "open", False, "2026", '{"a": 1}')
    await ledger.append(entry(1), Opened(stored))
    assert ledger.requests("/work") == [stored]
    assert ledger.requests("/other") == []
    await ledger.append(entry(1), Closed("id", "denied"))
    assert ledger.requests("/work") == []
    ended = ledger.request("id")
    assert ended is not None
    assert (ended.state, ended.request) == ("denied", None)


async def test_what_was_started_and_never_finished_is_found(ledger):
    await ledger.append(entry(1, phase="started"), entry(2, phase="started"), entry(2, phase="finished"))
    assert [row.receipt_id for row in ledger.unfinished("/work")] == ["receipt-1"]


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
        ({}, ["call-3", "call-2", "call-1"]),
    ],
)
async def test_history_is_filtered(ledger, filter_, calls):
    await ledger.append(entry(1), entry(2, tool="edit_file", thread_id="other"), entry(3, by="rule", verdict="deny"))
    assert [row.tool_call_id for row in ledger.query(HistoryFilter(**filter_), workspace="/work")] == calls


async def test_the_command_line_prints_oldest_first_and_verifies(ledger, file):
    await ledger.append(entry(1))
    await ledger.append(entry(1, phase="finished", outcome={"ended": "done", "durationMs": 12}))

    def said(**flags) -> tuple[int, str]:
        out = io.StringIO()
        given = {"storage": file.parent, "json": False, "thread": None, "verify": False, "stats": False, **flags}
        return ledger_cli.run(Namespace(**given), out, out), out.getvalue()

    code, lines = said(json=True)
    assert code == 0
    assert [json.loads(line)["phase"] for line in lines.splitlines()] == ["decided", "finished"]
    assert "2 rows hold" in said(verify=True)[1]
    assert "tool time: 0.012 s" in said(stats=True)[1]
    assert "touch 1" in said()[1]
    assert said(thread="nothing")[1] == ""
    assert said(storage=file.parent / "none")[0] == 2


def test_secrets_are_not_written_down():
    hidden = secret_values({"MY_TOKEN": "tops3cret", "HOME": "/home/me", "ODD": "named-one"}, ["ODD"])
    given = {"command": "curl -H tops3cret https://me:pass@host ghp_" + "a" * 30, "more": ["named-one", 3, None]}
    assert redact(given, hidden) == {
        "command": "curl -H [redacted] https://[redacted]@host [redacted]",
        "more": ["[redacted]", 3, None],
    }


def test_an_owner_is_gone_only_when_its_lock_is_free(tmp_path):
    first, second = Owner(tmp_path), Owner(tmp_path)
    assert not first.is_gone(second.name)
    assert not first.is_gone(first.name)
    second.release()
    assert first.is_gone(second.name)
    assert first.is_gone("never-was")
    first.release()


async def test_the_use_of_a_rule_is_counted(ledger):
    await ledger.append(entry(1), entry(1, phase="started"), entry(2, at="2027-01-01T00:00:00Z"))
    await ledger.append(entry(3, evidence=()))
    assert ledger.rule_use("/work") == {("Bash(touch *)", "settings.json"): (2, "2027-01-01T00:00:00Z")}
