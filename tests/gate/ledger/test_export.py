"""Exports prove themselves: what is changed in one, gone from it or cut off its end is found with the file alone."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.gate.ledger.export import blocking_export, blocking_verify_export
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.writer import Ledger
from countersign.wire.history import HistoryFilter
from tests.gate.ledger.ledger_support import crash_image, entry, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A ledger of five rows and a link, and its exports: of everything, and of what one tool did."""
    folder = tmp_path_factory.mktemp("export")
    with closing(Ledger(folder / LEDGER_FILE)) as ledger:
        for number in range(4):
            write(
                ledger,
                entry(number, tool="edit_file" if number % 2 else "shell", input={"text": "é\ud800\n", "n": 1e22}),
            )
        torn = crash_image(ledger, folder / "torn")
    log = torn.with_name(f"{LEDGER_FILE}-wal")
    log.write_bytes(log.read_bytes()[:-10])
    with closing(Ledger(torn)) as ledger:
        write(ledger, entry(7), entry(8))
        blocking_export(ledger, folder / "whole.jsonl")
        blocking_export(ledger, folder / "filtered.jsonl", HistoryFilter(tool="shell"), workspace="/projects")
    return folder


@pytest.mark.parametrize(("name", "rows"), [("whole.jsonl", 5), ("filtered.jsonl", 4)])
def test_an_export_names_count_and_head_and_holds(folder, name, rows):
    head = Reader(folder / "torn" / LEDGER_FILE).verify().head
    lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    assert lines[0]["format"] == "countersign-history/1"
    assert (lines[-1]["rows"], lines[-1]["count"], lines[-1]["head"]) == (rows, 5, head)
    found = blocking_verify_export(folder / name)
    assert (found.rows, found.head, found.fault) == (rows, head, None)
    assert oct((folder / name).stat().st_mode & 0o777) == "0o600"


@given(data=st.data())
@pytest.mark.parametrize("name", ["whole.jsonl", "filtered.jsonl"])
def test_any_byte_that_is_changed_taken_out_or_put_in_is_found(folder, name, data):
    given = (folder / name).read_bytes()
    at = data.draw(st.integers(0, len(given) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != given[at]))
    harmed = folder / "harmed.jsonl"
    for bytes_ in (given[:at] + bytes([other]) + given[at + 1 :], given[:at] + given[at + 1 :], given[:at]):
        harmed.write_bytes(bytes_)
        assert blocking_verify_export(harmed).fault is not None


@pytest.mark.parametrize("name", ["whole.jsonl", "filtered.jsonl"])
@pytest.mark.parametrize("key", ["rows", "count", "head", "sha256", "end"])
def test_a_last_line_that_no_longer_says_something_is_found(folder, name, key):
    given = (folder / name).read_bytes()
    last = given.rindex(b"\n", 0, -1) + 1
    harmed = folder / "harmed.jsonl"
    harmed.write_bytes(given[:last] + given[last:].replace(f'"{key}"'.encode(), f'"x{key}"'.encode()))
    assert blocking_verify_export(harmed).fault is not None


@pytest.mark.parametrize("name", ["whole.jsonl", "filtered.jsonl"])
def test_any_line_that_is_missing_doubled_or_moved_is_found(folder, name):
    lines = (folder / name).read_text().splitlines(keepends=True)
    harmed = folder / "harmed.jsonl"
    for at in range(len(lines)):
        for changed in (
            lines[:at] + lines[at + 1 :],
            lines[: at + 1] + lines[at:],
            lines[:at],
            [*lines[:at], *lines[at + 1 :], lines[at]] if at < len(lines) - 1 else lines[:-1],
        ):
            harmed.write_text("".join(changed))
            assert blocking_verify_export(harmed).fault is not None, (at, len(changed))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda lines: lines[:-1], "the end is missing; line 7 is the last"),
        (lambda lines: [lines[0], *lines[2:]], "row 1 is missing"),
        (lambda lines: [line.replace("touch", "catch").replace("é", "e") for line in lines], "row 1 was changed"),
        (lambda lines: ["{}\n", *lines[1:]], "the first line is not that of an export"),
        (lambda lines: [*lines, "{}\n"], "something follows the last line"),
        (lambda lines: ["[" * 100_000 + "\n"], "line 1 was changed or cut off"),
    ],
)
def test_what_is_wrong_is_said(folder, change, fault):
    harmed = folder / "harmed.jsonl"
    lines = (folder / "whole.jsonl").read_text().splitlines(keepends=True)
    harmed.write_text(
        "".join(change([line.replace("\\u00e9", "e") if fault == "row 1 was changed" else line for line in lines]))
    )
    assert blocking_verify_export(harmed).fault == fault


def test_a_broken_ledger_can_be_exported_and_the_export_says_so(folder, tmp_path):
    copy = tmp_path / LEDGER_FILE
    copy.write_bytes((folder / "torn" / LEDGER_FILE).read_bytes())
    connection = sqlite3.connect(copy)
    connection.executescript("DROP TRIGGER entries_never_change; UPDATE entries SET tool = 'x' WHERE seq = 2;")
    connection.close()
    blocking_export(Reader(copy), tmp_path / "broken.jsonl")
    assert blocking_verify_export(tmp_path / "broken.jsonl").fault == "row 2 was changed"


def test_an_export_touches_no_file_that_is_there_and_leaves_none_when_it_fails(folder, tmp_path):
    there = tmp_path / "there"
    there.write_text("mine")
    ledger = Reader(folder / LEDGER_FILE)
    with pytest.raises(FileExistsError):
        blocking_export(ledger, there)
    assert there.read_text() == "mine"
    with pytest.raises(ValueError, match="isoformat"):
        blocking_export(ledger, tmp_path / "new", HistoryFilter(since="never"))
    assert not (tmp_path / "new").exists()
    with pytest.raises(OSError, match="No such file"):
        blocking_export(ledger, tmp_path / "none" / "new")
