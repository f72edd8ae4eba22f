"""Which session of which agent a chat has, kept with the chat, so that a later process of that agent can take it up.

A session is known by its agent's name in the settings, its program, recipe, folder and workspace, and by what the agent
calls itself: another agent, or the same one in another workspace, never loads it. How it is taken up is ``replay.py``'s
business.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

from countersign.agents.acp.comparison import Prompt
from countersign.agents.stored_events import event_of
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import redact, secret_values
from countersign.settings.policy import AgentConfig
from countersign.wire.threads import DoneEvent, NoticeEvent, PromptEvent

LONGEST_ID = 1024
"""Characters of a session id that is kept."""
MOST_TRIES = 2
"""How often a session is tried that the agent, or this server, did not survive loading."""
LOST = "this agent does not remember what stands above"
"""Said in a chat whose agent starts anew."""
DOUBTFUL = "this agent may not remember all of what stands above"
"""How the notice begins that an agent repeated less than it should."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """The session of a chat. ``agent`` and ``claim`` tell whose it is, ``loads`` whether the agent said that it takes
    sessions up, ``tries`` how often that began and did not end. ``lost``: the agent does not remember all of the chat.
    ``untold``: the chat does not show yet what was said in it, because a person chose it from the agent's own list.
    ``modes``: those that it was opened in, or that the person chose since.
    """

    session_id: str
    agent: str
    claim: str
    loads: bool
    lost: bool = False
    tries: int = 0
    untold: bool = False
    modes: Mapping[str, str | bool] = field(default_factory=dict)

    def may_be_loaded(self, agent: str, claim: str) -> bool:
        """Whether this agent may be asked to take it up."""
        return bool(self.session_id) and (self.agent, self.claim) == (agent, claim) and self.tries < MOST_TRIES


def agent_key(config: AgentConfig, recipe: str, folder: str, workspace: str) -> str:
    """Name an agent in a workspace. Its environment and options may change; its program may not."""
    named = [config.name, config.command, recipe, folder, workspace]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def claim_key(config: AgentConfig, claimed: str | None) -> str:
    """Name the agent behind a program: what it calls itself, else the arguments it was started with."""
    return claimed if claimed else json.dumps(list(config.args))


class SessionStore:
    """The sessions of the chats of one workspace; each call is short and blocks.

    Writing raises LedgerUnavailable where the disk is full.
    """

    def __init__(self, transcripts: Transcripts, workspace: Callable[[], str]) -> None:
        self._transcripts = transcripts
        self._workspace = workspace

    def find(self, thread_id: str) -> StoredSession | None:
        """Return the session that a chat has; None if it has none, or it cannot be read."""
        row = self._transcripts.thread(thread_id)
        return stored_session(row) if row is not None and row.workspace == self._workspace() else None

    def keep(self, thread_id: str, session: StoredSession) -> None:
        """Keep the session of a chat in the place of the former one."""
        text = json.dumps(asdict(session))
        self._transcripts.update_thread(thread_id, agent_session=text)

    def has_another(self, thread_id: str, session: StoredSession) -> bool:
        """Whether another chat claims the same session of the same agent, so that neither can be believed."""
        others = (row for row in self._transcripts.threads(self._workspace()) if row.thread_id != thread_id)
        return any(
            other is not None and (other.session_id, other.agent) == (session.session_id, session.agent)
            for other in map(stored_session, others)
        )

    def chats_of(self, agent: str) -> dict[str, str]:
        """Return the chat of each session that this workspace's chats have of an agent, by the session's id."""
        rows = [(row.thread_id, stored_session(row)) for row in self._transcripts.threads(self._workspace())]
        return {stored.session_id: thread_id for thread_id, stored in rows if stored and stored.agent == agent}

    def blocking_prompts(self, thread_id: str, current: str) -> list[Prompt]:
        """Return the prompts of a chat since its agent last started anew, without the one that is about to be sent,
        and without known secrets, as they are stored."""
        return _prompts(self._transcripts, thread_id, current)


def stored_session(row: ThreadRow) -> StoredSession | None:
    """Return the session that stands in a chat's row."""
    try:
        value = json.loads(row.agent_session or "null")
        texts = (value["session_id"], value["agent"], value["claim"])
        if not all(isinstance(text, str) for text in texts):
            return None
        return StoredSession(
            *texts,
            value["loads"] is True,
            value["lost"] is True,
            int(value["tries"]),
            value.get("untold") is True,
            _modes(value.get("modes")),
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _modes(value: object) -> dict[str, str | bool]:
    given = value.items() if isinstance(value, dict) else ()
    return {str(key): mode for key, mode in given if isinstance(mode, str | bool)}


def without_secrets(texts: list[str]) -> list[str]:
    """Return the texts as a chat stores them."""
    return [str(redact(text, secret_values())) for text in texts]


def _prompts(transcripts: Transcripts, thread_id: str, current: str) -> list[Prompt]:
    found: list[Prompt] = []
    open_prompt: str | None = None
    for event in _turn_marks(transcripts, thread_id):
        match event:
            case PromptEvent(text=text):
                if open_prompt is not None:
                    found.append(Prompt(open_prompt, False))
                open_prompt = text
            case DoneEvent(stop_reason=reason):
                if open_prompt is not None:
                    found.append(Prompt(open_prompt, reason not in ("error", "cancelled")))
                open_prompt = None
            case NoticeEvent(message=message):
                if message == LOST or message.startswith(DOUBTFUL):
                    found.clear()
    if open_prompt is not None and not current.startswith(open_prompt):
        found.append(Prompt(open_prompt, False))
    return found


def _turn_marks(transcripts: Transcripts, thread_id: str) -> Iterator[PromptEvent | DoneEvent | NoticeEvent]:
    for _, text in transcripts.rows(thread_id):
        # Most of a chat is text and output; it need not be parsed to be skipped.
        if text.startswith(('{"type":"prompt"', '{"type":"done"', '{"type":"notice"')):
            event = event_of(text)
            if isinstance(event, PromptEvent | DoneEvent | NoticeEvent):
                yield event
