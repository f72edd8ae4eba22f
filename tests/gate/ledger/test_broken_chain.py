"""A chain that does not hold: found at the start, in the background, in a commit or by an anchor; what it forbids, and
how a person goes on from there."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from countersign.gate.ledger import new_chain, startup
from countersign.gate.ledger.hash_chain import GENESIS, Fault
from countersign.gate.ledger.head_file import HEAD_FILE, HeadFile, blocking_read_heads
from countersign.gate.ledger.new_chain import Anchor
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.retention import blocking_rotate
from countersign.gate.ledger.writer import Ledger
from countersign.gate.receipt import Ran, Refused
from tests.gate.ledger.ledger_support import crash_image, entry, harm, write
from tests.gate.support import make_house
from tests.patience import PATIENCE

ROWS = 12
GARBAGE = {
    "text": b"not a database at all\n" * 500,
    "zeros behind a byte": b"x" + bytes(100_000),
    "a header and no pages": b"SQLite format 3\0" + b"\xff" * 8000,
    "JSON": b"{}" * 300,
}


def filled(folder: Path, rows: int = ROWS) -> Path:
    folder.mkdir(exist_ok=True)
    with closing(Ledger(folder / LEDGER_FILE)) as ledger:
        for number in range(rows):
            write(ledger, entry(number))
    return folder / LEDGER_FILE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return filled(tmp_path / "storage")


def anchor_of(file: Path) -> Anchor:
    head = blocking_read_heads(file)[0]
    return Anchor(Reader(file).chain_id(), head.rows, head.hash)


def went_on(ledger: Ledger) -> None:
    """A person begins a new chain, which then holds."""
    assert ledger.chain.is_broken
    ledger.begin_new_chain("it was me").result(timeout=PATIENCE)
    ledger.blocking_check()
    assert ledger.chain.status.state == "whole"
    write(ledger, entry(100))
    found = ledger.verify()
    assert found.fault is None
    assert [note for note in found.notes if "a person began a new chain: it was me" in note]


def set_aside(file: Path) -> list[Path]:
    names = (path for path in file.parent.glob(f"{file.name}.*-2*") if not path.name.endswith(("-wal", "-shm")))
    return sorted(names)


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_set_aside_and_its_loss_stands_first(name: str, file: Path):
    known = anchor_of(file)
    file.write_bytes(GARBAGE[name])
    for start in range(3):
        with closing(Ledger(file)) as ledger:
            assert ledger.chain.is_broken, start
            (aside,) = set_aside(file)
            assert aside.read_bytes() == GARBAGE[name]
            # The rows of a broken chain are still written: reads are recorded before they run.
            assert write(ledger, entry(50)) == ROWS + 1 + start
    with closing(Ledger(file)) as ledger:
        ledger.compare(known)
        went_on(ledger)
        ledger.check_anchor(known)
        first = ledger.verify().notes[0]
        assert f"up to row {ROWS} was damaged" in first
        assert aside.name in first
    assert set_aside(file) == [aside]
    with closing(Ledger(file)) as ledger:
        assert not ledger.chain.is_broken
        assert ledger.notes == ()


@pytest.mark.parametrize("name", GARBAGE)
def test_servers_that_start_at_once_set_garbage_aside_once(name: str, file: Path):
    file.write_bytes(GARBAGE[name])
    with closing(Ledger(file)) as one, closing(Ledger(file)) as other:
        assert one.chain.is_broken
        assert other.chain.is_broken
    assert len(set_aside(file)) == 1


def _rolled_back(file: Path) -> None:
    shutil.rmtree(file.parent)
    filled(file.parent, ROWS // 2)


def _forged(file: Path) -> None:
    shutil.rmtree(file.parent)
    filled(file.parent, ROWS + 5)


AT_ONCE: dict[str, Callable[[Path], object]] = {
    "a changed row": lambda file: harm(file, "UPDATE entries SET input = '{}' WHERE seq = 7"),
    "a changed hash": lambda file: harm(file, f"UPDATE entries SET hash = '{GENESIS}' WHERE seq = 7"),
    "a missing row": lambda file: harm(file, "DELETE FROM entries WHERE seq = 7"),
    "a missing end": lambda file: harm(file, "DELETE FROM entries WHERE seq > 7"),
    "no rows": lambda file: harm(file, "DELETE FROM entries"),
    "no file": lambda file: file.unlink(),
    "an empty file": lambda file: file.write_bytes(b""),
    "another ledger's rows": lambda file: shutil.copy(filled(file.parent.parent / "other", ROWS), file),
    "a row put in": lambda file: harm(
        file,
        "INSERT INTO entries SELECT 13, receipt_id, at, phase, workspace, owner, thread_id, agent_name, subagent,"
        " tool_call_id, approval_id, tool, input, verdict, decided_by, evidence, digest, outcome, previous, hash"
        " FROM entries WHERE seq = 12",
    ),
    "two rows that changed places": lambda file: harm(
        file,
        "UPDATE entries SET seq = 0 WHERE seq = 7; UPDATE entries SET seq = 7 WHERE seq = 8;"
        " UPDATE entries SET seq = 8 WHERE seq = 0",
    ),
    "a changed link to the row before": lambda file: harm(
        file, f"UPDATE entries SET previous = '{GENESIS}' WHERE seq = 7"
    ),
    "a cut file": lambda file: os.truncate(file, file.stat().st_size // 2),
    "no table": lambda file: harm(file, "DROP TABLE entries"),
    "a table of other columns": lambda file: harm(file, "ALTER TABLE entries RENAME COLUMN tool TO other"),
}
"""What is found when a server starts."""


@pytest.mark.parametrize("name", AT_ONCE)
def test_harm_is_found_at_the_start_and_left_behind_by_a_person(name: str, file: Path):
    AT_ONCE[name](file)
    with closing(Ledger(file)) as ledger:
        assert ledger.chain.is_broken
        assert ledger.chain.refusal is not None
        assert ledger.notes
        went_on(ledger)
    assert len(set_aside(file)) == 1
    assert not list(file.parent.glob("*.broken-*-wal"))
    with closing(Ledger(file)) as ledger:
        assert not ledger.chain.is_broken
    assert Reader(file).verify().fault is None


def test_a_broken_chain_is_not_archived_nor_a_whole_one_left_behind(file: Path, tmp_path: Path):
    harm(file, "UPDATE entries SET input = '{}' WHERE seq = 7")
    with pytest.raises(Fault, match="row 7 was changed"):
        blocking_rotate(file, tmp_path / "archive.jsonl")
    assert not (tmp_path / "archive.jsonl").exists()


def test_an_old_row_is_found_by_the_check_in_the_background(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(startup, "RECENT", 3)
    harm(file, "UPDATE entries SET input = '{}' WHERE seq = 2")
    with closing(Ledger(file)) as ledger:
        assert ledger.chain.status.state == "checking"
        told: list[str] = []
        ledger.chain.subscribe(lambda: told.append(ledger.chain.status.state))
        ledger.blocking_check()
        assert ledger.chain.status == ("broken", "row 2 was changed", 2)
        went_on(ledger)
        assert told == ["broken", "checking", "whole"]


def test_rows_that_go_while_the_server_runs_are_found_by_the_next_commit(file: Path):
    with closing(Ledger(file)) as ledger:
        ledger.blocking_check()
        assert ledger.chain.status.state == "whole"
        harm(file, "DELETE FROM entries WHERE seq > 7")
        write(ledger, entry(30))
        assert ledger.chain.is_broken
        went_on(ledger)


ANCHORED: dict[str, Callable[[Path], object]] = {
    "database and head rolled back together": _rolled_back,
    "a chain written anew": _forged,
    "everything removed": lambda file: shutil.rmtree(file.parent),
}
"""What only an anchor outside the folder can find."""


@pytest.mark.parametrize("name", ANCHORED)
def test_an_anchor_finds_what_the_folder_alone_cannot_show(name: str, file: Path):
    anchor = anchor_of(file)
    ANCHORED[name](file)
    file.parent.mkdir(exist_ok=True)
    with closing(Ledger(file)) as ledger:
        ledger.blocking_check()
        assert ledger.chain.status.state == "whole"
    with closing(Ledger(file)) as ledger:
        ledger.compare(anchor)
        went_on(ledger)
    with closing(Ledger(file)) as ledger:
        ledger.compare(anchor)
        assert not ledger.chain.is_broken  # the person gave this very anchor up


def test_an_anchor_is_a_prefix_and_survives_an_exact_rotation(file: Path, tmp_path: Path):
    early, late = anchor_of(file), None
    with closing(Ledger(file)) as ledger:
        write(ledger, entry(40))
        late = Anchor(early.chain_id, ledger.end.rows, ledger.end.hash)
        ledger.compare(early)
        assert not ledger.chain.is_broken
    blocking_rotate(file, tmp_path / "archive.jsonl")
    reader = Reader(file)
    reader.check_anchor(late)
    with pytest.raises(Fault):
        reader.check_anchor(early)  # nothing in the folder proves that this row was in the archive
    assert reader.chain_id() != early.chain_id


def test_another_window_goes_on_with_the_new_chain(file: Path):
    harm(file, "UPDATE entries SET input = '{}' WHERE seq = 7")
    with closing(Ledger(file)) as one, closing(Ledger(file)) as other:
        assert other.chain.is_broken
        went_on(one)
        write(other, entry(60))
        assert other.chain.status.state == "checking"
        other.blocking_check()
        assert other.chain.status.state == "whole"
        write(one, entry(61))
        assert one.verify().fault is None


def test_a_new_chain_over_damaged_pages_keeps_the_file_under_another_name(tmp_path: Path):
    file = filled(tmp_path / "storage", 400)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(file.read_bytes())
    for page in range(8, len(data) // 4096):
        data[page * 4096 : page * 4096 + 2048] = b"\xa5" * 2048
    file.write_bytes(data)
    with closing(Ledger(file)) as ledger:
        ledger.blocking_check()
        went_on(ledger)
    assert any(aside.read_bytes() == data for aside in set_aside(file))


def test_a_kill_at_any_step_of_a_new_chain_leaves_a_broken_chain_or_the_new_one(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    harm(file, "UPDATE entries SET input = '{}' WHERE seq = 7")
    steps: dict[str, Path] = {}
    with closing(Ledger(file)) as ledger:

        def watched(name: str, step: Callable) -> Callable:
            def run(*given, **named):
                steps[f"before {name}"] = crash_image(ledger, tmp_path / f"before {name}")
                done = step(*given, **named)
                steps[f"after {name}"] = crash_image(ledger, tmp_path / f"after {name}")
                return done

            return run

        monkeypatch.setattr(new_chain, "_blocking_copied", watched("the copy", new_chain._blocking_copied))
        monkeypatch.setattr(new_chain, "_replace", watched("the exchange", new_chain._replace))
        monkeypatch.setattr(HeadFile, "blocking_replace", watched("the head", HeadFile.blocking_replace))
        ledger.begin_new_chain("x").result(timeout=PATIENCE)
    monkeypatch.undo()
    states: dict[str, str] = {}
    for name, image in steps.items():
        with closing(Ledger(image)) as again:
            again.blocking_check()
            states[name] = again.chain.status.state
    assert states == {
        "before the copy": "broken",
        "after the copy": "broken",
        "before the exchange": "broken",
        "after the exchange": "broken",
        "before the head": "whole",
        "after the head": "whole",
    }


# At the gate.


async def test_while_the_chain_is_broken_nothing_is_allowed_or_asked(tmp_path: Path):
    house = make_house(filled(tmp_path / "storage"))
    house.verdict = "allow"
    assert isinstance(await house.submit("one"), Ran)
    house.ledger.chain.fail("row 3 was changed", 3)
    settled = await house.submit("two")
    assert isinstance(settled, Refused)
    assert (settled.kind, settled.by) == ("denied", "floor")
    assert "row 3 was changed" in settled.reason
    assert "Begin a New Ledger Chain" in settled.reason
    assert house.runs == ["one"]
    await asyncio.wrap_future(house.ledger.begin_new_chain("seen"))
    assert isinstance(await house.submit("three"), Ran)
    assert house.runs == ["one", "three"]
    house.ledger.close()


async def test_a_card_that_was_open_before_cannot_run_its_call(tmp_path: Path):
    house = make_house(filled(tmp_path / "storage"))
    asking = asyncio.ensure_future(house.submit("touch made"))
    card = await house.desk.card()
    house.ledger.chain.fail("row 3 was changed", 3)
    await house.answer(card)
    settled = await asking
    assert isinstance(settled, Refused)
    assert "row 3 was changed" in settled.reason
    assert house.runs == []
    house.ledger.close()


def test_the_head_file_follows_the_new_chain(file: Path):
    harm(file, "DELETE FROM entries WHERE seq > 7")
    with closing(Ledger(file)) as ledger:
        head = ledger.begin_new_chain("x").result(timeout=PATIENCE)
        assert blocking_read_heads(file)[0] == head
        assert head.rows == ROWS
    assert (file.parent / HEAD_FILE).stat().st_size == 512
