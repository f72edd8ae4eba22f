"""What an agent's pre-tool hook tells, as a call of one of its sessions.

A recipe says which fields of the hook's question hold the tool, its input and the session. The hook of a sub-agent may
name the sub-agent's own session and the one that it belongs to; a sub-agent of it names only that. A call whose session
is not known is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.recipe import Hook
from countersign.agents.acp.session import Session
from countersign.agents.acp.session_hook import HookCall
from countersign.agents.acp.translate import LONGEST_NAME, Raw, as_object
from countersign.gate import in_worker
from countersign.wire.base import Json
from countersign.wire.strict_json import BadJson, parse_json

log = limited_logger(__name__)

MOST_SUBAGENTS = 10_000
"""Sub-agents of one process whose session is remembered."""
NO_SESSION = "Countersign does not know to which chat this call belongs"
NOT_UNDERSTOOD = "Countersign could not read what the hook says of this call"


@dataclass(frozen=True, slots=True)
class _Told:
    tool: str
    given: Json
    sessions: tuple[str, ...]
    subagent: str | None
    call_id: str | None


class HookRequests:
    """The questions of one process's hook. A class because it remembers to which session a sub-agent belongs."""

    def __init__(self, agent: str, hook: Hook, find: Callable[[str], Session | None]) -> None:
        self._agent = agent
        self._hook = hook
        self._find = find
        self._parents: dict[str, str] = {}

    async def ask(self, asked: Json) -> str | None:
        """Judge a call: None where it is allowed, else why it is not."""
        told = await in_worker(_read, self._hook, as_object(asked))
        if told is None:
            log.warning("the hook of %s asked without a tool or without a session", self._agent)
            return NOT_UNDERSTOOD
        session = self._session(told.sessions)
        if session is None:
            log.warning("the hook of %s named no session that is known", self._agent)
            return NO_SESSION
        return await session.request_by_hook(HookCall(told.tool, told.given, told.subagent, told.call_id))

    def _session(self, names: tuple[str, ...]) -> Session | None:
        known = (self._find(self._parents.get(name, name)) for name in names)
        found = next((session for session in known if session is not None), None)
        if found is not None:
            for name in names:
                if self._find(name) is None and len(self._parents) < MOST_SUBAGENTS:
                    self._parents[name] = found.session_id
        return found


def _read(hook: Hook, asked: Raw) -> _Told | None:
    tool, given = asked.get(hook.tool), asked.get(hook.input)
    if isinstance(given, str):  # Some agents tell the input as the text that their model wrote.
        try:
            given = parse_json(given)
        except BadJson:
            return None
    sessions = tuple(text for field in hook.session if (text := _text(asked.get(field))) is not None)
    if not isinstance(tool, str) or not 0 < len(tool) <= LONGEST_NAME or not sessions:
        return None
    return _Told(tool, given, sessions, _text(asked.get(hook.subagent)), _text(asked.get(hook.call)))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_NAME else None
