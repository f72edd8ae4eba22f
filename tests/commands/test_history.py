"""``countersign history``: what is asked for is printed, and the exit status says whether it holds."""

from __future__ import annotations

import argparse
import io
import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from countersign.commands import history
from countersign.gate.ledger.head_file import HEAD_FILE
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.writer import Ledger
from countersign.wire.base import as_json
from countersign.wire.history import HistoryFilter
from tests.gate.ledger.ledger_support import entry, harm, write


@pytest.fixture
def storage(tmp_path):
    folder = tmp_path / "storage"
    folder.mkdir()
    with closing(Ledger(folder / LEDGER_FILE)) as ledger:
        asked = entry(1, verdict="ask", by="mode", at="2026-11-20T09:00:00.000000Z")
        write(ledger, asked)
        write(ledger, entry(1, phase="finished", outcome={"ended": "done", "durationMs": 12}))
        write(ledger, entry(2, tool="edit_file", agent_name="Claude", workspace="/other", by="rule", verdict="deny"))
        write(ledger, entry(3, outcome={"state": "allowed", "waitedMs": 1500}, evidence=(), input=None))
        yield folder


def said(*words: str) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser(exit_on_error=False)
    history.add_arguments(parser)
    out, problems = io.StringIO(), io.StringIO()
    return history.run(parser.parse_args(list(words)), out, problems), out.getvalue(), problems.getvalue()


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ((), [1, 2, 3, 4]),
        (("--thread", "thread"), [1, 2, 3, 4]),
        (("--thread", "other"), []),
        (("--agent", "Claude"), [3]),
        (("--tool", "shell"), [1, 2, 4]),
        (("--verdict", "deny"), [3]),
        (("--by", "mode"), [1]),
        (("--phase", "finished"), [2]),
        (("--workspace", "/projects"), [1, 2, 4]),
        (("--text", "touch 2"), [3]),
        (("--until", "2026-11-20T09:00:00.5Z"), [1]),
        (("--tool", "shell", "--by", "user", "--phase", "decided"), [4]),
    ],
)
def test_rows_are_filtered_and_printed_oldest_first(storage, words, rows):
    code, out, _ = said("--storage", str(storage), "--json", *words)
    assert (code, [json.loads(line)["seq"] for line in out.splitlines()]) == (0, rows)
    assert len(said("--storage", str(storage), *words)[1].splitlines()) == len(rows)


def test_a_check_as_json_says_what_its_lines_say(storage):
    code, out, _ = said("--storage", str(storage), "--verify", "--json")
    told = json.loads(out)
    assert (code, told["holds"], told["rows"], told["fault"]) == (0, True, 4, None)
    assert said("--storage", str(storage), "--verify")[1].endswith(f"compared with {told['comparedWith']}\n")
    harm(storage / LEDGER_FILE, "UPDATE entries SET tool = 'x' WHERE seq = 2")
    code, out, _ = said("--storage", str(storage), "--verify", "--json")
    assert (code, json.loads(out)["holds"]) == (1, False)
    assert "row 2" in json.loads(out)["fault"]


def test_a_line_is_the_entry_as_it_stands_on_the_wire(storage):
    out = said("--storage", str(storage), "--json")[1]
    entries = reversed(Reader(storage / LEDGER_FILE).query(HistoryFilter(), workspace=None))
    assert [json.loads(line) for line in out.splitlines()] == list(map(as_json, entries))


def test_moments_are_taken_as_people_say_them(storage):
    hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    for words in (["--since", "1h"], ["--since", hour_ago], ["--since", "2026-11-21", "--until", "9999-01-01"]):
        given = ["--storage", str(storage), "--json", *words]
        assert said(*given)[0] == 0, words
    with pytest.raises(argparse.ArgumentError, match="not a time"):
        said("--storage", str(storage), "--since", "yesterday")


def test_the_table_and_the_sums_say_who_decided_and_how_long_it_took(storage):
    table = said("--storage", str(storage))[1].splitlines()
    assert "decided  Countersign shell ask by mode: you said so (Bash(touch *))" in table[0]
    assert table[1].endswith("done")
    sums = said("--storage", str(storage), "--stats")[1]
    assert "decided  deny by rule: 1" in sums
    assert "tool time: 0.012 s; waited for a decision: 1.500 s" in sums


def test_verifying_says_rows_and_head_and_ends_with_one_where_it_does_not_hold(storage):
    head = Reader(storage / LEDGER_FILE).verify().head
    compared = "compared with the head file beside it (row 4) and with "
    nothing = "nothing outside the folder (give `--anchor SEQ:HASH` or `--signed-head FILE`)"
    holds = f"4 rows hold; head {head}\n{compared}"
    assert said("--storage", str(storage), "--verify") == (0, f"{holds}{nothing}\n", "")
    assert said("--storage", str(storage), "--verify", "--anchor", f"4:{head}") == (
        0, f"{holds}the anchor at row 4\n", "",
    )  # fmt: skip
    for anchor, why in ((f"5:{head}", "has noted row 5"), (f"4:{'0' * 64}", "row 4 is not the one")):
        code, _, problems = said("--storage", str(storage), "--verify", "--anchor", anchor)
        assert (code, why in problems) == (1, True)
    harm(storage / LEDGER_FILE, "DELETE FROM entries WHERE seq = 4")
    code, out, _ = said("--storage", str(storage), "--verify")
    fault = "the chain does not hold: 1 rows at the end are missing; 3 rows before it do\n"
    assert (code, out) == (1, f"{fault}{compared}{nothing}\n")


def test_a_damaged_ledger_is_set_aside_and_a_new_chain_begins_that_names_it(storage):
    code, out, _ = said("--storage", str(storage), "--new-chain")
    assert (code, out) == (1, "the chain holds; archive it with `--rotate FILE`\n")
    harm(storage / LEDGER_FILE, "UPDATE entries SET tool = 'read_file' WHERE seq = 2")
    damaged = [row["seq"] for row in Reader(storage / LEDGER_FILE).rows("SELECT seq FROM entries")]
    code, out, _ = said("--storage", str(storage), "--new-chain", "--reason", "the disk was replaced")
    assert code == 0
    assert "row 2 was changed" in out
    assert "a person began a new chain: the disk was replaced" in out
    (aside,) = storage.glob("ledger.db.broken-*")
    assert [row["seq"] for row in Reader(aside).rows("SELECT seq FROM entries")] == damaged
    assert said("--storage", str(storage), "--verify")[0] == 0


def test_garbage_in_place_of_the_ledger_is_named_with_the_way_out(storage):
    (storage / LEDGER_FILE).write_bytes(b"no database\n" * 500)
    code, _, problems = said("--storage", str(storage), "--verify")
    assert (code, "`countersign history --new-chain`" in problems) == (2, True)
    assert said("--storage", str(storage), "--new-chain")[0] == 0
    (aside,) = [path for path in storage.glob("ledger.db.corrupt-*") if path.name.endswith("Z")]
    code, out, _ = said("--storage", str(storage), "--verify")
    assert (code, f"it is kept as `{aside.name}`" in out) == (0, True)


def test_an_export_is_written_once_and_verified(storage, tmp_path):
    file = tmp_path / "out.jsonl"
    head = Reader(storage / LEDGER_FILE).verify().head
    code, out, _ = said("--storage", str(storage), "--export", str(file), "--tool", "shell")
    assert (code, out.splitlines()[0]) == (0, f"3 rows written to {file}")
    assert f"count 4; head {head}; sha256 of the file" in out
    compared = "compared with its own last line only: no signature is beside it"
    assert said("--verify-export", str(file))[:2] == (0, f"3 rows hold; head {head}\n{compared}\n")
    code, _, problems = said("--storage", str(storage), "--export", str(file))
    assert (code, problems) == (2, f"`{file}` exists already; name a new file\n")
    file.write_bytes(file.read_bytes()[:-1])
    assert said("--verify-export", str(file))[0] == 1
    assert said("--verify-export", str(tmp_path / "none"))[0] == 2


def test_rotation_puts_everything_away_and_is_refused_where_it_does_not_hold(storage, tmp_path):
    code, out, _ = said("--storage", str(storage), "--rotate", str(tmp_path / "old.jsonl"))
    assert (code, out.splitlines()[0]) == (0, f"4 rows written to {tmp_path / 'old.jsonl'}")
    code, out, _ = said("--storage", str(storage), "--verify")
    assert (code, out.splitlines()[0][:35]) == (0, "note: the 4 rows before it are arch")
    with closing(Ledger(storage / LEDGER_FILE)) as ledger:
        write(ledger, entry(5), entry(6))
    harm(storage / LEDGER_FILE, "DELETE FROM entries WHERE seq = 5")
    code, _, problems = said("--storage", str(storage), "--rotate", str(tmp_path / "new.jsonl"))
    assert (code, problems) == (1, "the chain does not hold: row 5 is missing; nothing was changed\n")


def test_what_is_not_there_is_said(tmp_path):
    assert said()[0] == 2
    assert said("--storage", str(tmp_path))[0] == 2
    (tmp_path / LEDGER_FILE).write_bytes(b"no database at all, but long enough to be looked at" * 100)
    code, _, problems = said("--storage", str(tmp_path))
    assert code == 2
    assert "the ledger cannot be read" in problems


def test_an_export_that_cannot_be_read_is_said_in_a_sentence(tmp_path):
    code, out, problems = said("--verify-export", str(tmp_path / "none.jsonl"))
    assert (code, out) == (2, "")
    assert problems == f"`{tmp_path}/none.jsonl` cannot be used (no such file or directory); name another file\n"


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_a_pipe_in_the_place_of_a_file_of_the_ledger_is_named(storage, ending):
    name = f"{LEDGER_FILE}{ending}"
    (storage / name).unlink(missing_ok=True)
    os.mkfifo(storage / name)
    for words in ((), ("--verify",)):
        code, _, problems = said("--storage", str(storage), *words)
        assert code == 2
        assert f"`{name}`" in problems
        assert "is not a regular file; move it away" in problems


def test_a_ledger_that_is_gone_is_missed(storage):
    (storage / LEDGER_FILE).unlink()
    code, _, problems = said("--storage", str(storage), "--verify")
    assert code == 1
    assert "is gone from" in problems
    assert "had 4 rows; put it back" in problems


def test_another_database_in_the_place_of_the_ledger_is_named_with_the_next_step(storage):
    for path in storage.glob("ledger.db*"):
        path.unlink()
    with closing(sqlite3.connect(storage / LEDGER_FILE)) as other:
        other.execute("CREATE TABLE other (a)")
    code, _, problems = said("--storage", str(storage), "--verify")
    assert code == 2
    assert "countersign history --new-chain" in problems


def test_pipes_in_the_place_of_the_chats_and_of_the_head_hold_nothing_up(storage):
    for name in ("chats.db", HEAD_FILE):
        (storage / name).unlink(missing_ok=True)
        os.mkfifo(storage / name)
    assert said("--storage", str(storage), "--stats")[0] == 0
    code, out, _ = said("--storage", str(storage), "--verify")
    assert (code, "the head file is gone or cannot be read" in out) == (1, True)


def test_a_ledger_is_read_whatever_its_folder_is_called(tmp_path, storage):
    odd = tmp_path / "a#b?mode=rwc%41 c"
    storage.rename(odd)
    assert said("--storage", str(odd), "--verify")[0] == 0
    assert len(said("--storage", str(odd))[1].splitlines()) == 4


def test_a_pipe_and_a_file_without_an_end_of_line_are_no_exports(tmp_path):
    pipe, endless = tmp_path / "pipe.jsonl", tmp_path / "endless.jsonl"
    os.mkfifo(pipe)
    for name in (str(pipe), "/dev/zero"):
        assert said("--verify-export", name) == (2, "", f"`{name}` is not a regular file; name another file\n")
    endless.touch()
    os.truncate(endless, 1 << 40)
    code, out, _ = said("--verify-export", str(endless))
    assert (code, "line 1 is longer than any line of an export" in out) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "0001-01-01T00:00:00+23:59"),
        ("--until", "9999-12-31T23:59:59-23:59"),
        ("--since", "99999999999999d"),
        ("--thread", "a\udcff"),
        ("--agent", "a\udcff"),
        ("--text", "a\udcff"),
    ],
)
def test_what_no_row_can_hold_is_refused_as_an_argument(storage, words):
    with pytest.raises(argparse.ArgumentError, match=words[0]):
        said("--storage", str(storage), *words)
