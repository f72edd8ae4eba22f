"""Record first holds when the ledger's files change under a running server: SQLite's list "how to corrupt", each entry
that applies to a local file. Nothing counts as written unless it is in the file that stands there."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from countersign.gate.ledger.head_file import HEAD_FILE
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.retention import blocking_rotate
from countersign.gate.ledger.writer import Ledger
from countersign.wire.errors import LedgerUnavailable
from tests.gate.ledger.ledger_support import entry

WAL, SHM = f"{LEDGER_FILE}-wal", f"{LEDGER_FILE}-shm"
FILES = [LEDGER_FILE, WAL, SHM, HEAD_FILE]


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    folder = tmp_path / "storage"
    folder.mkdir()
    return folder


@pytest.fixture
async def ledger(storage: Path):
    with closing(Ledger(storage / LEDGER_FILE)) as opened:
        for number in range(20):
            await opened.append(entry(number))
        yield opened


def remove_storage(storage: Path) -> None:
    shutil.rmtree(storage)


def rename_storage(storage: Path) -> None:
    storage.rename(storage.with_name("moved"))


def restore_copy(storage: Path) -> None:
    """A backup put in place of the database, as `cp --remove-destination` and most sync programs do."""
    shutil.copy(storage / LEDGER_FILE, storage / "copy")
    (storage / "copy").replace(storage / LEDGER_FILE)


def on_file(name: str, change: Callable[[Path], object]) -> Callable[[Path], None]:
    return lambda storage: (change(storage / name), None)[1]


def rename(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace_by_empty(path: Path) -> None:
    path.unlink()
    path.touch()


def add_hard_link(path: Path) -> None:
    os.link(path, path.with_name("second name"))


def replace_by_symlink(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


CHANGES = {
    "the storage is removed": remove_storage,
    "the storage is renamed": rename_storage,
    "a copy is restored": restore_copy,
    **{f"{name} is removed": on_file(name, Path.unlink) for name in FILES},
    **{f"{name} is renamed": on_file(name, rename) for name in FILES},
    **{f"{name} is replaced": on_file(name, replace_by_empty) for name in FILES},
    **{f"{name} is linked": on_file(name, add_hard_link) for name in FILES},
    **{f"{name} becomes a symlink": on_file(name, replace_by_symlink) for name in FILES},
    "the log is cut": on_file(WAL, lambda path: os.truncate(path, 0)),
    "the log is cut in the middle": on_file(WAL, lambda path: os.truncate(path, path.stat().st_size // 2)),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_nothing_counts_as_written_after(name: str, ledger: Ledger, storage: Path):
    CHANGES[name](storage)
    for number in range(2):
        with pytest.raises(LedgerUnavailable, match="while the server ran"):
            await ledger.append(entry(100 + number, phase="started"))


@pytest.mark.parametrize("name", FILES)
async def test_a_check_that_fails_once_fails_one_commit(name: str, ledger: Ledger, storage: Path, monkeypatch):
    real, failures = os.lstat, [OSError(errno.EIO, "Input/output error")]

    def failing(path, *more, **named):
        if os.path.basename(path) == name and failures:
            raise failures.pop()
        return real(path, *more, **named)

    monkeypatch.setattr(os, "lstat", failing)
    with pytest.raises(LedgerUnavailable, match="check the disk of its folder"):
        await ledger.append(entry(100, phase="started"))
    assert failures == []
    await ledger.append(entry(101, phase="started"))
    assert ledger.chain.refusal is None
    assert Reader(storage / LEDGER_FILE).verify().fault is None


async def test_a_check_after_a_commit_that_fails_stops_the_ledger(ledger: Ledger, monkeypatch):
    """The rows may be there or not, and are not written a second time."""
    real, looks = os.lstat, iter([*[False] * len(FILES), True])

    def failing(path, *more, **named):
        if next(looks, False):
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *more, **named)

    monkeypatch.setattr(os, "lstat", failing)
    for number in range(2):
        with pytest.raises(LedgerUnavailable, match="after a commit"):
            await ledger.append(entry(100 + number, phase="started"))
    assert "restart the server" in str(ledger.chain.refusal)


async def test_a_check_needs_no_descriptor(ledger: Ledger):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        await ledger.append(entry(100, phase="started"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("left", [0, 4096, 8192])
async def test_a_database_that_is_cut_takes_nothing(left: int, ledger: Ledger, storage: Path):
    with closing(sqlite3.connect(storage / LEDGER_FILE)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await ledger.append(entry(50))
    os.truncate(storage / LEDGER_FILE, left)
    with pytest.raises(LedgerUnavailable, match="was cut while the server ran"):
        await ledger.append(entry(100, phase="started"))


@pytest.mark.parametrize("cut_off", [1, 24, 4096, 4120, 4121, 9000])
async def test_a_log_that_lost_frames_which_no_query_needs_takes_nothing(cut_off: int, ledger: Ledger, storage: Path):
    """The last frames may hold pages of an index only, so that the last row can still be read."""
    log = storage / WAL
    os.truncate(log, log.stat().st_size - cut_off)
    with pytest.raises(LedgerUnavailable, match="was cut while the server ran"):
        await ledger.append(entry(100, phase="started"))


@pytest.mark.parametrize("link", [os.link, lambda real, name: os.symlink(real.name, name)])
async def test_a_database_with_two_names_is_not_opened(link, storage: Path):
    with closing(Ledger(storage / "real.db")) as ledger:
        await ledger.append(entry(1))
    link(storage / "real.db", storage / LEDGER_FILE)
    with pytest.raises(LedgerUnavailable, match=r"hard links|not a regular file"):
        Ledger(storage / LEDGER_FILE)


@pytest.mark.parametrize("name", [LEDGER_FILE, WAL, f"{LEDGER_FILE}-shm", f"{LEDGER_FILE}-journal", HEAD_FILE])
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to("beside")]
)
def test_what_is_no_regular_file_is_not_opened(make, name: str, tmp_path: Path):
    """SQLite would wait for the other end of a named pipe, and the server would never be ready."""
    with closing(Ledger(tmp_path / LEDGER_FILE)):
        pass
    (tmp_path / "beside").touch()
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    with pytest.raises(LedgerUnavailable, match=f"`{name}` is not a regular file"):
        Ledger(tmp_path / LEDGER_FILE)


async def test_what_shortens_files_rightly_stops_nobody(ledger: Ledger, storage: Path, tmp_path: Path):
    with closing(Ledger(storage / LEDGER_FILE)) as other:
        for number in range(30, 60):
            await other.append(entry(number))
        with closing(sqlite3.connect(storage / LEDGER_FILE)) as third:
            third.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        await asyncio.gather(ledger.append(entry(60)), other.append(entry(61)))
        await asyncio.to_thread(blocking_rotate, storage / LEDGER_FILE, tmp_path / "old.jsonl")
        await asyncio.gather(ledger.append(entry(62)), other.append(entry(63)))
    assert Reader(storage / LEDGER_FILE).verify().fault is None


def test_opening_again_closes_no_descriptor_of_the_database(ledger: Ledger, storage: Path, monkeypatch):
    """POSIX drops every lock of a process on a file when the process closes any descriptor of it. SQLite locks the
    database and the `-shm` file beside it, and no other."""
    opened: list[str] = []
    real = os.open

    def noting(path, *more, **named):
        descriptor = real(path, *more, **named)
        opened.append(os.path.basename(path))
        return descriptor

    monkeypatch.setattr(os, "open", noting)
    with closing(Ledger(storage / LEDGER_FILE)):
        assert HEAD_FILE in opened
        assert opened.count(LEDGER_FILE) == opened.count(SHM) == 0


async def test_a_locked_ledger_says_that_it_is_locked(ledger: Ledger, storage: Path, monkeypatch):
    ledger._insert = lambda *_: _raise_busy(storage)  # type: ignore[method-assign]
    with pytest.raises(LedgerUnavailable, match="locked for 10 s; end that program"):
        await ledger.append(entry(1))


def _raise_busy(storage: Path):
    with closing(sqlite3.connect(storage / LEDGER_FILE, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
