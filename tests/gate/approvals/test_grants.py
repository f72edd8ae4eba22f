"""Grants end when they should: by either clock, with their turn and with their chat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from countersign.gate.approvals.grants import TIMED_SECONDS, GrantBook

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clocks:
    """A machine's clocks: one stands still while it sleeps, the other one can be set."""

    def __init__(self) -> None:
        self.running, self.wall = 100.0, START
        self.book = GrantBook(lambda: self.running, lambda: self.wall)
        self.book.keep("Bash(make)", "timed", agent="A", thread_id="t", turn_id="u")

    def granted(self, *, agent: str = "A", thread: str = "t", turn: str = "v") -> bool:
        return self.book.live(agent=agent, thread_id=thread, turn_id=turn) != ()


@pytest.mark.parametrize(
    ("running", "wall", "granted"),
    [
        (TIMED_SECONDS - 1, TIMED_SECONDS - 1, True),
        (TIMED_SECONDS + 1, TIMED_SECONDS + 1, False),
        (TIMED_SECONDS + 1, -3600, False),  # the clock was set back
        (1, TIMED_SECONDS + 1, False),  # the machine slept
    ],
)
def test_a_grant_for_a_time_ends_by_the_clock_that_is_first(running: float, wall: float, granted: bool) -> None:
    clocks = Clocks()
    clocks.running += running
    clocks.wall += timedelta(seconds=wall)
    assert clocks.granted() is granted
    assert bool(clocks.book.views()) is granted


def test_a_grant_that_was_over_stays_over() -> None:
    clocks = Clocks()
    clocks.wall += timedelta(hours=1)
    assert not clocks.granted()
    clocks.wall = START
    assert not clocks.granted()


def test_a_grant_counts_in_its_own_chat_for_its_own_agent_alone() -> None:
    clocks = Clocks()
    assert clocks.granted()
    assert not clocks.granted(agent="B")
    assert not clocks.granted(agent="a")
    assert not clocks.granted(thread="other")


def test_grants_end_with_their_turn_and_their_chat() -> None:
    clocks = Clocks()
    clocks.book.keep("Bash(ls)", "turn", agent="A", thread_id="t", turn_id="u")
    clocks.book.keep("Bash(pwd)", "chat", agent="A", thread_id="t", turn_id="u")
    assert [each.text for each in clocks.book.live(agent="A", thread_id="t", turn_id="v")] == [
        "Bash(make)",
        "Bash(pwd)",
    ]
    clocks.book.end_turn("u")
    assert len(clocks.book.views()) == 2
    clocks.book.end_thread("t")
    assert clocks.book.views() == []
