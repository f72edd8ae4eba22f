"""Lives of a ledger, made up by a number: servers write, are killed in the middle of it, start again, rotate, and
somebody changes what stands there. What ``verify`` must say afterwards is known each time.

Looked at a few hundred times by the tests and many thousand times by ``make soak``.
"""

from __future__ import annotations

import logging
import random
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from countersign.gate.ledger.export import blocking_export, blocking_verify_export
from countersign.gate.ledger.reader import LEDGER_FILE, Reader
from countersign.gate.ledger.retention import blocking_rotate
from countersign.gate.ledger.writer import Ledger
from tests.gate.ledger.ledger_support import crash_image, entry, harm, write


def wrongs(seed: int, numbers: range) -> Iterator[str]:
    """What is wrong in the lives of these numbers, one sentence each."""
    logging.disable()  # what is found out of order is logged, and here it always is
    try:
        for number in numbers:
            with tempfile.TemporaryDirectory() as folder:
                if (wrong := _Life(random.Random(f"{seed}/{number}"), Path(folder)).wrong()) is not None:
                    yield f"life {number}: {wrong}"
    finally:
        logging.disable(logging.NOTSET)


class _Life:
    """One ledger, and what must be in it: ``rows`` is the number of the last durable row."""

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self.chance = chance
        self.folder = folder
        self.file = folder / "0" / LEDGER_FILE
        self.file.parent.mkdir()
        self.images = 0
        self.rows = 0
        self.archived = 0

    def wrong(self) -> str | None:
        for _ in range(self.chance.randint(2, 5)):
            step = self.chance.choice((self._serve, self._crash, self._crash, self._tear, self._rotate))
            if (wrong := step() or self._check()) is not None:
                return f"{step.__name__}: {wrong}"
        return self._harmed()

    def _write(self, *ledgers: Ledger) -> None:
        for _ in range(self.chance.randint(1, 6)):
            batch = [entry(self.rows + at) for at in range(self.chance.choice((1, 1, 1, 4)))]
            last = write(self.chance.choice(ledgers), *batch)
            assert last == self.rows + len(batch), f"row {last} after {self.rows}"
            self.rows = last

    def _serve(self) -> str | None:
        """Two windows, one after the other ended in order."""
        with closing(Ledger(self.file)) as one, closing(Ledger(self.file)) as other:
            self._write(one, other)
            return None if not one.notes + other.notes else f"said {one.notes + other.notes}"

    def _crash(self) -> str | None:
        """Killed between two commits: everything durable is there."""
        with closing(Ledger(self.file)) as ledger:
            self._write(ledger)
            self._move_to(crash_image(ledger, self._next()))
            return None if not ledger.notes else f"said {ledger.notes}"

    def _tear(self) -> str | None:
        """Killed while writing: the last commit is incomplete, is dropped, and both are said."""
        with closing(Ledger(self.file)) as ledger:
            self._write(ledger)
            before = self.rows
            write(ledger, entry(self.rows))
            self._move_to(crash_image(ledger, self._next()))
        log = self.file.with_name(f"{LEDGER_FILE}-wal")
        log.write_bytes(log.read_bytes()[: -self.chance.randint(1, 4096)])
        if not Reader(self.file).verify().notes:
            return "the incomplete append is not reported before a start"
        with closing(Ledger(self.file)) as ledger:
            self.rows = before
            return None if "incomplete" in "".join(ledger.notes) else "the start does not report the incomplete append"

    def _rotate(self) -> str | None:
        archive = self.folder / f"{self.images}-{self.rows}-{self.chance.random()}.jsonl"
        exported = blocking_rotate(self.file, archive)
        found = blocking_verify_export(archive)
        if (found.fault, found.rows, exported.head.rows) != (None, self.rows - self.archived, self.rows):
            return f"the archive is wrong: {found}"
        self.archived = self.rows
        return None

    def _check(self) -> str | None:
        found = Reader(self.file).verify()
        right = (found.fault, found.rows) == (None, self.rows - self.archived)
        return None if right else f"{self.rows - self.archived} rows should hold: {found}"

    def _harmed(self) -> str | None:
        """Whatever is changed in rows, links or their number is found, in the ledger and in its export."""
        harms = [
            "UPDATE entries SET {} = {} || 'x' WHERE seq = {}",
            "DELETE FROM entries WHERE seq = {2}",
            "DELETE FROM entries WHERE seq >= {2}",
            "UPDATE entries SET seq = seq + 1000 WHERE seq = {2}",
        ]
        if self.rows == self.archived:
            return None
        column = self.chance.choice(("at", "owner", "tool", "input", "evidence", "digest", "previous", "hash"))
        row = self.chance.randint(self.archived + 1, self.rows)
        sql = self.chance.choice(harms).format(column, column, row)
        harm(self.file, sql)
        if Reader(self.file).verify().fault is None:
            return f"not found: {sql}"
        with closing(Ledger(self.file)):
            pass
        if Reader(self.file).verify().fault is None:
            return f"not found after a start: {sql}"
        blocking_export(Reader(self.file), self.folder / "harmed.jsonl")
        cut = sql.startswith("DELETE FROM entries WHERE seq >=") or (row == self.rows and sql.startswith("DELETE"))
        if not cut and blocking_verify_export(self.folder / "harmed.jsonl").fault is None:
            return f"not found in the export: {sql}"
        return None

    def _next(self) -> Path:
        self.images += 1
        return self.folder / str(self.images)

    def _move_to(self, image: Path) -> None:
        self.file = image
