"""Calls that an agent's pre-tool hook asks about, joined with what the agent reports of them by the protocol.

A hook names the tool and its input, and seldom the id under which the agent reports the call. So a question belongs to
the first reported call with this very input that was not asked about. The report may also come later than the question;
then it joins the question that waits for it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from countersign.agents.acp.reports import Reports, new_call_id
from countersign.agents.acp.translate import Raw
from countersign.wire.approvals import AgentOption
from countersign.wire.base import Json

ANNOUNCE_SECONDS = 0.5
"""How long a question waits for the report of its call: the agents that were measured send it before they start their
hook, but the two ways differ in length."""
MOST_UNANNOUNCED = 1000
"""Questions of one turn that may wait for their report."""

OPTIONS = (AgentOption(option_id="allow", kind="allow_once", name="Allow"),
           AgentOption(option_id="deny", kind="reject_once", name="Deny"))  # fmt: skip
"""What a hook can be answered."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """A call as the hook tells it: ``call_id`` is the agent's id of it, where the hook has that."""

    tool: str
    given: Json
    subagent: str | None = None
    call_id: str | None = None

    def raw(self) -> Raw:
        """The same as an update would tell it."""
        told: Raw = {"name": self.tool, "rawInput": self.given}
        return told if self.subagent is None else {**told, "_meta": {"parentToolUseId": self.subagent}}


class HookJoin:
    """The questions and reports of one turn. A class because each report belongs to one question."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports
        self._heard = asyncio.Event()
        self._unannounced: list[tuple[Json, str]] = []

    def hear(self, told_id: str, raw: Raw) -> None:
        """The agent reports something of a call, which was not taken into account yet."""
        if self._unannounced and self._reports.is_new(told_id) and "rawInput" in raw:
            found = next((each for each in self._unannounced if each[0] == raw["rawInput"]), None)
            if found is not None:
                self._unannounced.remove(found)
                self._reports.rename(told_id, found[1])

    def heard(self) -> None:
        """It was taken into account."""
        self._heard.set()
        self._heard = asyncio.Event()

    async def find(self, asked: HookCall, *, wait: bool) -> str | None:
        """The id of the reported call that this question belongs to, None if no such call was reported so far."""
        if asked.call_id is not None:
            return self._reports.current(asked.call_id)
        try:
            async with asyncio.timeout(ANNOUNCE_SECONDS if wait else 0):
                while (found := self._reports.find_unasked(asked.given)) is None:
                    await self._heard.wait()
        except TimeoutError:
            return None
        return found

    def expect(self, asked: HookCall) -> str:
        """The id of a call that was asked about and not reported so far."""
        call_id = f"hook {new_call_id()}"
        if len(self._unannounced) < MOST_UNANNOUNCED:
            self._unannounced.append((asked.given, call_id))
        return call_id
