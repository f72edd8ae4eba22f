"""Grants: answers that a person chose to have kept, in memory, each with its agent, scope and end.

Rules that are saved for a workspace or a user live in settings, not here. Everything here ends with the server.

INVARIANT (no hidden state): nothing enters this book but by a person's answer that named its scope.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from countersign.settings.policy import RuleText
from countersign.wire.rules import GrantView
from countersign.wire.verdicts import Scope


def _utc_now() -> datetime:
    return datetime.now(UTC)


TIMED_SECONDS = 15 * 60.0
"""How long "allow for 15 minutes" lasts."""


@dataclass(frozen=True, slots=True)
class Grant:
    """``rule`` for ``agent``, in one turn, one chat, or until ``ends`` (monotonic seconds) in the chat it came from.

    ``files`` are those that its card showed or was bound to, None where a person edited the rule, and ``folder`` where
    the command of its card ran. ``ends_at`` is the same end by the
    wall clock, which also counts while the machine sleeps; the earlier one ends it.
    """

    grant_id: str
    rule: str
    scope: Scope
    agent: str
    thread_id: str
    turn_id: str | None = None
    ends: float | None = None
    files: tuple[str, ...] | None = None
    folder: str | None = None
    ends_at: datetime | None = None
    expires_at: str | None = None

    def as_rule(self) -> RuleText:
        """The grant in the shape that ``decide`` reads; its place is the grant's id."""
        return RuleText(
            "allow",
            self.rule,
            scope="grant",
            agent=self.agent,
            file=self.grant_id,
            reason=f"you allowed it {_SCOPE_WORDS[self.scope]}",
            files=self.files,
            folder=self.folder,
        )


_SCOPE_WORDS: dict[Scope, str] = {
    "call": "once",
    "turn": "for this turn",
    "chat": "for this chat",
    "timed": "for 15 minutes",
    "workspace": "in this workspace",
    "user": "everywhere",
}


class GrantBook:
    """All live grants of this server. A class because grants end by time and by hand."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._clock = clock
        self._wall_clock = wall_clock
        self._grants: dict[str, Grant] = {}

    def keep(
        self,
        rule: str,
        scope: Scope,
        *,
        agent: str,
        thread_id: str,
        turn_id: str,
        files: tuple[str, ...] | None = None,
        folder: str | None = None,
    ) -> Grant:
        """Keep an answer to a card that showed these files, of a command in this folder. Only turn, chat and timed
        scopes live here."""
        ends = self._clock() + TIMED_SECONDS if scope == "timed" else None
        expires = self._wall_clock() + timedelta(seconds=TIMED_SECONDS) if scope == "timed" else None
        grant = Grant(
            grant_id=secrets.token_urlsafe(12),
            rule=rule,
            scope=scope,
            agent=agent,
            thread_id=thread_id,
            turn_id=turn_id if scope == "turn" else None,
            ends=ends,
            files=files,
            folder=folder,
            ends_at=expires,
            expires_at=expires.isoformat(timespec="seconds").replace("+00:00", "Z") if expires else None,
        )
        self._grants[grant.grant_id] = grant
        return grant

    def live(self, *, agent: str, thread_id: str, turn_id: str) -> tuple[RuleText, ...]:
        """The grants that count for this agent in this chat and turn, now."""
        self._drop_ended()
        return tuple(
            grant.as_rule()
            for grant in self._grants.values()
            if grant.agent == agent and grant.thread_id == thread_id and grant.turn_id in (None, turn_id)
        )

    def revoke(self, grant_id: str) -> bool:
        """Whether there was such a grant; it is gone now."""
        return self._grants.pop(grant_id, None) is not None

    def end_turn(self, turn_id: str) -> None:
        """Forget what was granted for this turn."""
        self._grants = {key: grant for key, grant in self._grants.items() if grant.turn_id != turn_id}

    def end_thread(self, thread_id: str) -> None:
        """Forget what was granted in this chat."""
        self._grants = {key: grant for key, grant in self._grants.items() if grant.thread_id != thread_id}

    def views(self) -> list[GrantView]:
        """What a person sees of them."""
        self._drop_ended()
        return [
            GrantView(
                grant_id=grant.grant_id,
                rule=grant.rule,
                scope=grant.scope,
                agent_name=grant.agent,
                thread_id=grant.thread_id,
                expires_at=grant.expires_at,
            )
            for grant in self._grants.values()
        ]

    def _drop_ended(self) -> None:
        moment, time_of_day = self._clock(), self._wall_clock()
        self._grants = {
            key: grant
            for key, grant in self._grants.items()
            if (grant.ends is None or grant.ends > moment) and (grant.ends_at is None or grant.ends_at > time_of_day)
        }
