"""What happened without a permit, told: in the chat, in the ledger and, where it is certain, of the agent's label."""

from __future__ import annotations

from collections.abc import Callable

from countersign.agents.acp.reports import Reports, arguments_of, title_of
from countersign.agents.acp.translate import ToolReport
from countersign.agents.acp.unasked import Labels
from countersign.gate import Gate
from countersign.tools.visible import as_title
from countersign.wire.base import Json
from countersign.wire.shown_input import shown_input
from countersign.wire.threads import ThreadEvent, UnpermittedEvent

MOST_PATHS_SHOWN = 20
MOST_PATHS_NAMED = 3
MOST_PATHS_KEPT = 200
"""Paths without a permit that one notice carries, that its sentence names, and that one row of the ledger keeps."""
MOST_UNCERTAIN = 5
"""Notices of one turn in the chat about what somebody else may have done; the ledger has all."""


class Unpermitted:
    """The notices of one turn. A class because the uncertain ones in the chat are counted."""

    def __init__(
        self,
        agent: str,
        thread_id: str,
        gate: Gate,
        labels: Labels,
        reports: Reports,
        emit: Callable[[ThreadEvent], None],
    ) -> None:
        self._agent = agent
        self._thread_id = thread_id
        self._gate = gate
        self._labels = labels
        self._reports = reports
        self._emit = emit
        self._uncertain = 0

    async def say_call(self, message: str, report: ToolReport, certain: bool) -> None:
        """The agent reported a call without asking for it before. Lowering its label is up to the tripwire."""
        title = title_of(report)
        seen: dict[str, Json] = {"message": message, "toolCall": title, "input": shown_input(arguments_of(report))}
        await self._record(report.call_id, f"acp:{report.tool_kind}", seen, certain)
        self._emit(UnpermittedEvent(message=message, certain=certain, tool_call=title))

    async def say_changed(self, paths: list[str], certain: bool) -> None:
        """Files changed that no permitted call accounts for."""
        named = ", ".join(f"`{as_title(path)}`" for path in paths[:MOST_PATHS_NAMED])
        rest = f" and {len(paths) - MOST_PATHS_NAMED} more" if len(paths) > MOST_PATHS_NAMED else ""
        message = f"{self._agent} changed {named}{rest}, which no approval covers"
        if not certain:
            message = f"uncertain: while {self._agent} worked, somebody changed {named}{rest}, which no approval covers"
        if certain:
            self._labels.fall(f"{message}; from now on it counts as unguarded")
        seen: dict[str, Json] = {"message": message, "paths": list(paths[:MOST_PATHS_KEPT]), "count": len(paths)}
        await self._record(self._reports.last_call_id, "workspace", seen, certain)
        self._uncertain += not certain
        if certain or self._uncertain <= MOST_UNCERTAIN:
            more = max(0, len(paths) - MOST_PATHS_SHOWN) or None
            shown = [as_title(path) for path in paths[:MOST_PATHS_SHOWN]]
            self._emit(UnpermittedEvent(message=message, certain=certain, paths=shown, more=more))

    async def say_late(self, path: str) -> None:
        """The agent has written what was refused."""
        message = f"{self._agent} has already written `{as_title(path)}`, which was refused"
        self._labels.fall(f"{message}; from now on it counts as unguarded")
        await self._record(self._reports.last_call_id, "workspace", {"message": message, "paths": [path]}, True)
        self._emit(UnpermittedEvent(message=message, certain=True, paths=[as_title(path)]))

    async def _record(self, call_id: str, tool: str, seen: dict[str, Json], certain: bool) -> None:
        await self._gate.noticed.record(self._thread_id, self._agent, call_id, tool, seen, certain=certain)
