"""``make soak``: a count that is ended by time goes on later, where it was ended."""

from __future__ import annotations

from tests.soak import run


def test_a_count_that_ran_out_of_time_goes_on_where_it_ended() -> None:
    ended = run("syntax", 30, 1, 1, minutes=1e-9)
    assert (ended["count"], ended["of"], ended["failed"]) == (0, 30, 0)
    resumed = run("syntax", 30, 1, 1, earlier={**ended, "count": 20, "failed": 1, "failures": ["one"]})
    assert (resumed["count"], resumed["failed"], resumed["failures"]) == (30, 1, ["one"])
