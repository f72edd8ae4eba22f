"""A ledger whose commits fail, and a call that is led from the ask to its end whatever it meets with."""

from __future__ import annotations

import asyncio
import sqlite3

from countersign.gate.ledger.writer import Ledger
from countersign.wire.errors import CountersignError
from tests.gate.support import BOUND

FULL = "database or disk is full"
WHY = f"the ledger cannot be written ({FULL}), so nothing runs; free its disk"


class Disk:
    """Fails the commits whose numbers it is given, and all after the last when ``stays``, until ``mend``."""

    def __init__(self, monkeypatch, fails: int, *, stays: bool) -> None:
        self.commits = 0
        self.stays = stays
        insert = Ledger._insert

        def counted(ledger, connection, batch):
            self.commits += 1
            found = insert(ledger, connection, batch)
            if self.commits == fails or (self.stays and self.commits > fails):
                raise sqlite3.OperationalError(FULL)
            return found

        monkeypatch.setattr(Ledger, "_insert", counted)

    def mend(self) -> None:
        """There is room again."""
        self.stays = False


async def live(house, way: str):
    """One call from the ask to its end; what a person's answer met with is not raised."""
    house.verdict = "allow" if way == "allowed by a rule" else "ask"
    call = house.submit("forbidden" if way == "denied by a rule" else "touch made")
    if way in ("approved", "denied", "closed"):
        done, _ = await asyncio.wait({call, shown := asyncio.ensure_future(house.desk.card())},
                                     timeout=BOUND, return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
        if shown in done:
            option = {"approved": "allow_once", "denied": "reject_once", "closed": None}[way]
            try:
                await house.answer(shown.result(), option)
            except CountersignError:
                call.cancel()
        shown.cancel()
    return (await asyncio.wait_for(asyncio.gather(call, return_exceptions=True), BOUND))[0]
