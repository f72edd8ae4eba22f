"""The state of an open ledger's chain as this server knows it: what a broken chain forbids, and who is notified.

The state is ``checking`` from the start until the whole chain was walked in the background, then ``whole``. The first
fault that anybody finds makes it ``broken``: at the start, in the background, in a commit, or against the anchor that
the editor kept. It stays broken until a person begins a new chain (``new_chain.py``), here or in another server of the
same storage folder. ``none`` means that the files of the ledger are gone or replaced: only a restart helps.

INVARIANT (record first): while the chain is broken, the gate lets only reads through that need no person.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from countersign.wire.history import LedgerState

NEXT_STEP = "begin a new chain with the command `Countersign: Begin a New Ledger Chain`"


class ChainStatus(NamedTuple):
    """The state, and for ``broken`` and ``none`` the reason and, where it is known, the number of the faulty row."""

    state: LedgerState
    reason: str | None = None
    broken_at: int | None = None


class ChainState:
    """The state of one open ledger. A class because several threads change it; ``subscribe`` for changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status = ChainStatus("checking")
        self._listeners: list[Callable[[], None]] = []

    @property
    def status(self) -> ChainStatus:
        return self._status

    @property
    def is_broken(self) -> bool:
        return self._status.state == "broken"

    @property
    def refusal(self) -> str | None:
        """Why no call but a read runs; None where calls may run."""
        match self._status:
            case ChainStatus("broken", reason):
                return f"the chain of the ledger is broken ({reason}), so only reads run; {NEXT_STEP}"
            case ChainStatus("none", reason):
                return f"the ledger is gone ({reason}), so nothing runs; restart the server"
            case _:
                return None

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call the listener after each change, in the thread that made it."""
        self._listeners.append(listener)

    def fail(self, reason: str, row: int | None = None) -> None:
        """Note a fault; the first one stays."""
        self._change(("checking", "whole"), ChainStatus("broken", reason, row))

    def lose(self, reason: str) -> None:
        """Note that the files are gone or replaced."""
        self._change(("checking", "whole", "broken"), ChainStatus("none", reason))

    def hold(self) -> None:
        """Note that the whole chain was walked and holds."""
        self._change(("checking",), ChainStatus("whole"))

    def renew(self) -> None:
        """Note that a person began a new chain: it is checked from its beginning."""
        self._change(("broken",), ChainStatus("checking"))

    def _change(self, before: tuple[LedgerState, ...], status: ChainStatus) -> None:
        with self._lock:
            if self._status.state not in before:
                return
            self._status = status
        for listener in self._listeners:
            listener()
