"""Effects that no permit covers: one row of the ledger each, because something was seen that nobody allowed.

Nothing is decided here and nothing is undone; the row says what was seen, of which agent, and how sure that is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Mapping

from countersign.gate.ledger.entry import Entry
from countersign.gate.ledger.writer import Ledger
from countersign.settings.policy import Policy
from countersign.wire.base import Json
from countersign.wire.errors import LedgerUnavailable

log = logging.getLogger(__name__)


class Noticed:
    """Writes those rows. A class because it holds the ledger that they go to."""

    def __init__(self, ledger: Ledger, policy: Callable[[], Policy], owner: str) -> None:
        self._ledger = ledger
        self._policy = policy
        self._owner = owner

    async def record(
        self, thread_id: str, agent: str, tool_call_id: str, tool: str, seen: Mapping[str, Json], *, certain: bool
    ) -> None:
        """Write down what was seen. ``certain``: nobody else can have done it. A ledger that cannot be written does not
        keep the chat from saying it."""
        text = json.dumps(seen, sort_keys=True)
        entry = Entry(
            receipt_id=secrets.token_urlsafe(12),
            phase="noticed",
            workspace=self._policy().workspace,
            owner=self._owner,
            thread_id=thread_id,
            agent_name=agent,
            tool_call_id=tool_call_id,
            tool=tool,
            digest=hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest(),
            input=dict(seen),
            outcome={"certain": certain},
        )
        try:
            await self._ledger.append(entry)
        except LedgerUnavailable:
            log.exception("an effect without a permit could not be recorded: %s", text)
