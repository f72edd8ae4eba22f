"""Every way of tampering with the files of a ledger, at places drawn at random, and what must find each.

``docs/security.md`` lists the same ways in words. Requests that wait, chats and before-images have tables of their own:
``tests/gate/approvals/test_stored_requests.py``, ``tests/survival/test_corrupt_chats.py`` and
``tests/stdio/test_undo.py``.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal

from countersign.gate.ledger import startup
from countersign.gate.ledger.export import blocking_export, blocking_verify_export
from countersign.gate.ledger.hash_chain import COLUMNS
from countersign.gate.ledger.head_file import HEAD_FILE, blocking_read_heads
from countersign.gate.ledger.new_chain import Anchor
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.writer import Ledger
from countersign.wire.errors import LedgerUnavailable
from tests.gate.ledger.ledger_support import crash_image, entry, harm, write

Finder = Literal["start", "check", "refused", "told", "commit", "anchor", "export"]
"""``start``: a server that starts finds the chain broken. ``check``: the check in the background does. ``refused``: it
is not opened at all. ``told``: the start says so, and a link in the chain does from then on. ``commit``: the running
server's next commit fails. ``anchor``: only what the editor kept outside the folder finds it. ``export``: the last line
of the export finds it."""
Tamper = Callable[[Path, random.Random], object]


def _row(rng: random.Random, file: Path) -> int:
    return rng.randint(1, _rows(file))


def _rows(file: Path) -> int:
    return blocking_read_heads(file)[0].rows


def _sql(statement: str) -> Tamper:
    """This statement, with ``{row}`` any row, ``{older}`` any but the last, ``{column}`` any column that is hashed."""

    def tamper(file: Path, rng: random.Random) -> None:
        older = rng.randint(1, _rows(file) - 1)
        column = rng.choice([name for name in COLUMNS if name != "seq"])
        harm(file, statement.format(row=_row(rng, file), older=older, column=column))

    return tamper


def _other_byte(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    at = rng.randrange(len(data))
    data[at] ^= rng.randint(1, 255)
    file.write_bytes(data)


def _of_head(tamper: Callable[[Path], object]) -> Tamper:
    return lambda file, rng: tamper(file.with_name(HEAD_FILE))


def _of_running(name: str, change: Callable[[Path, random.Random], object]) -> Tamper:
    return lambda file, rng: change(file.with_name(name), rng)


def _replaced(path: Path, rng: random.Random) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def _rolled_back(file: Path, rng: random.Random) -> None:
    """Database and head as they were some rows ago."""
    rows = rng.randint(1, _rows(file) - 1)
    shutil.rmtree(file.parent)
    filled(file.parent, rows)


def _forged(file: Path, rng: random.Random) -> None:
    rows = _rows(file) + rng.randint(0, 5)
    shutil.rmtree(file.parent)
    filled(file.parent, rows, first=1000)


def _symlinked(file: Path, rng: random.Random) -> None:
    file.rename(file.with_name("real.db"))
    file.symlink_to("real.db")


def _swapped(file: Path, rng: random.Random) -> None:
    one, other = rng.sample(range(1, _rows(file) + 1), 2)
    harm(
        file,
        f"UPDATE entries SET seq = 0 WHERE seq = {one}; UPDATE entries SET seq = {one} WHERE seq = {other};"
        f" UPDATE entries SET seq = {other} WHERE seq = 0",
    )


def _inserted(file: Path, rng: random.Random) -> None:
    at = _rows(file)
    columns = ", ".join((*(name for name in COLUMNS if name != "seq"), "previous", "hash"))
    harm(file, f"INSERT INTO entries (seq, {columns}) SELECT {at + 1}, {columns} FROM entries WHERE seq = {at}")


def _other_ledger(file: Path, rng: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(filled(Path(folder) / "other", _rows(file)), file)


def _garbage(file: Path, rng: random.Random) -> None:
    file.write_bytes(rng.randbytes(rng.randint(1, 20_000)))


def _without_line(file: Path, rng: random.Random) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    file.write_bytes(b"".join(lines))


def _reordered(file: Path, rng: random.Random) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    one, other = rng.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    file.write_bytes(b"".join(lines))


TAMPERINGS: Mapping[str, tuple[Finder, Tamper]] = {
    "a row is changed": ("start", _sql("UPDATE entries SET {column} = 'other' WHERE seq = {row}")),
    "an old row is changed": ("check", _sql("UPDATE entries SET {column} = 'other' WHERE seq = 1")),
    "the hash of a row is changed": ("start", _sql("UPDATE entries SET hash = hex(randomblob(32)) WHERE seq = {row}")),
    "the link to the row before is changed": (
        "start", _sql("UPDATE entries SET previous = hex(randomblob(32)) WHERE seq = {row}"),
    ),
    "a row is taken out": ("start", _sql("DELETE FROM entries WHERE seq = {row}")),
    "a row is put in": ("start", _inserted),
    "two rows are exchanged": ("start", _swapped),
    "the end is taken off": ("start", _sql("DELETE FROM entries WHERE seq > {older}")),
    "all rows are taken out": ("start", _sql("DELETE FROM entries")),
    "the database is removed": ("start", lambda file, rng: file.unlink()),
    "the database is emptied": ("start", lambda file, rng: file.write_bytes(b"")),
    "another ledger's database stands there": ("start", _other_ledger),
    "garbage stands there": ("start", _garbage),
    "the database is cut": ("start", lambda file, rng: os.truncate(file, rng.randrange(file.stat().st_size // 2))),
    "its table is dropped": ("start", _sql("DROP TABLE entries")),
    "its table has other columns": ("start", _sql("ALTER TABLE entries RENAME COLUMN {column} TO other")),
    "the database becomes a symbolic link": ("refused", _symlinked),
    "the database gets a second name": ("refused", lambda file, rng: os.link(file, file.with_name("second.db"))),
    "the head file is removed": ("told", _of_head(Path.unlink)),
    "the head file is emptied": ("told", _of_head(lambda head: head.write_bytes(b""))),
    "database and head are rolled back together": ("anchor", _rolled_back),
    "the chain is written anew": ("anchor", _forged),
    "everything is removed": ("anchor", lambda file, rng: shutil.rmtree(file.parent)),
    **{
        f"{name} is {how} while the server runs": ("commit", _of_running(name, change))
        for name in (LEDGER_FILE, f"{LEDGER_FILE}-wal", HEAD_FILE)
        for how, change in {
            "removed": lambda path, rng: path.unlink(),
            "renamed": lambda path, rng: path.rename(path.with_name("elsewhere")),
            "replaced by a copy": _replaced,
            "linked": lambda path, rng: os.link(path, path.with_name("second name")),
        }.items()
    },
    "the write-ahead log is cut while the server runs": (
        "commit",
        _of_running(f"{LEDGER_FILE}-wal", lambda path, rng: os.truncate(path, rng.randrange(path.stat().st_size))),
    ),
    "a byte of an export is changed": ("export", _other_byte),
    "a line of an export is taken out": ("export", _without_line),
    "two lines of an export are exchanged": ("export", _reordered),
}  # fmt: skip


def filled(folder: Path, rows: int, first: int = 0) -> Path:
    """A ledger of so many rows, closed in an orderly way."""
    folder.mkdir(exist_ok=True, parents=True)
    with closing(Ledger(folder / LEDGER_FILE)) as ledger:
        for number in range(first, first + rows):
            write(ledger, entry(number))
    return folder / LEDGER_FILE


def undetected(seed: int, numbers: range) -> Iterator[str]:
    """Each way in turn, at places of its own; one sentence for each that was not found by what must find it."""
    names = list(TAMPERINGS)
    for number in numbers:
        name = names[number % len(names)]
        rng = random.Random(f"{seed}/{number}")
        with tempfile.TemporaryDirectory(prefix="tampering-") as folder:
            wanted, tamper = TAMPERINGS[name]
            found = found_by(wanted, tamper, Path(folder) / "storage", rng)
        if found is not None:
            yield f"{name} (seed {seed}, number {number}): {found}"


def found_by(finder: Finder, tamper: Tamper, folder: Path, rng: random.Random) -> str | None:
    """None if the finder finds it; else what happened."""
    rows = rng.randint(4, 20)
    if finder == "commit":
        return _while_running(tamper, folder, rng, rows)
    file = filled(folder, rows)
    if finder == "export":
        export = folder / "export.jsonl"
        blocking_export(Reader(file), export)
        before = export.read_bytes()
        tamper(export, rng)
        same = export.read_bytes() == before
        return None if same or blocking_verify_export(export).fault is not None else "the export holds"
    head = blocking_read_heads(file)[0]
    anchor = Anchor(Reader(file).chain_id(), head.rows, head.hash)
    tamper(file, rng)
    file.parent.mkdir(exist_ok=True)
    return _at_start(finder, file, anchor)


def _at_start(finder: Finder, file: Path, anchor: Anchor) -> str | None:
    recent = startup.RECENT
    if finder == "check":
        startup.RECENT = 2
    try:
        with closing(Ledger(file)) as ledger:
            match finder:
                case "start":
                    return None if ledger.chain.is_broken else "the start took it for whole"
                case "check":
                    if ledger.chain.is_broken:
                        return "the start looked at more than the newest rows"
                    ledger.blocking_check()
                    return None if ledger.chain.is_broken else "the check took it for whole"
                case "told":
                    kept = any("head file" in note for note in ledger.verify().notes)
                    return None if ledger.notes and kept else "nothing says so"
                case "anchor":
                    if ledger.chain.is_broken:
                        return "it was found without the anchor"
                    ledger.compare(anchor)
                    return None if ledger.chain.is_broken else "the anchor took it for whole"
                case _:
                    return "it was opened"
    except LedgerUnavailable as error:
        return None if finder == "refused" else f"it was not opened: {error}"
    finally:
        startup.RECENT = recent


def _while_running(tamper: Tamper, folder: Path, rng: random.Random, rows: int) -> str | None:
    folder.mkdir(parents=True)
    with closing(Ledger(folder / LEDGER_FILE)) as ledger:
        for number in range(rows):
            write(ledger, entry(number))
        crash_image(ledger, folder.with_name("image"))
        tamper(folder / LEDGER_FILE, rng)
        try:
            write(ledger, entry(900, phase="started"))
        except (LedgerUnavailable, sqlite3.Error):
            return None
        return "the next commit was taken for durable"
