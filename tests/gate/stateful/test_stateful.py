"""Two hundred histories of the life of an approval with two servers on one storage, and the defects they would find."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import Phase
from hypothesis.errors import HypothesisException

from countersign.wire.approvals import ApprovalState
from countersign.wire.errors import ErrorKind
from countersign.wire.verdicts import DecidedBy

from .defects import DEFECTS
from .machine import ENABLED, Approvals
from .model import __file__ as model_file
from .play import play
from .watched import STEPS, Reached

HISTORIES, NUMBER = 200, 1
SEARCHES, SEARCHED = 20, 10
"""For a defect: so many searches of so many histories, because each new search begins somewhere else."""
SELDOM = 0.05
NOT_OF_ANSWERS: frozenset[ErrorKind] = frozenset({
    "unknownThread", "unknownAgent", "unknownReceipt", "unknownShell", "unknownRule", "conflict", "modelError",
    "agentExit", "needsLogin", "ledgerUnavailable", "internal", "tooLarge",
})  # fmt: skip
"""Kinds that no answer to a request is told. A kind that is new on the wire must be reached, or stand here."""
NO_ENDS: frozenset[DecidedBy] = frozenset({"hook", "floor", "limit", "nobody"})
"""What decides calls but ends no open request of these histories: there are no hooks, few writes and always somebody;
the floor ends one only where the ledger fails, which `tests/gate/test_gate.py` sees to."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Servers that are killed and defects that are seeded fill the log; what is looked for is seen without it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def reached() -> Reached:
    class Played(Approvals):
        reached = Reached()

    logging.disable(logging.CRITICAL)
    play(HISTORIES, NUMBER, Played, (Phase.generate, Phase.shrink))
    return Played.reached


def test_every_history_goes_as_the_model_says(reached: Reached):
    assert reached.whole >= HISTORIES
    assert reached.steps >= HISTORIES * STEPS


def test_every_action_can_be_taken_often_enough(reached: Reached):
    assert {name for name in ENABLED if reached.enabled[name] < SELDOM * reached.steps} == set()


ELSEWHERE = {"needsConfirmation"}
"""Histories edit no rules; `test_gate.py` answers with a rule wider than those offered."""


def test_every_end_and_every_error_is_reached(reached: Reached):
    assert set(reached.ends) == set(get_args(ApprovalState))
    assert set(reached.by) == set(get_args(DecidedBy)) - NO_ENDS
    assert set(reached.errors) == set(get_args(ErrorKind)) - NOT_OF_ANSWERS - ELSEWHERE


def test_the_model_can_be_read_at_a_glance():
    with open(model_file, encoding="utf-8") as text:
        assert len(text.readlines()) <= 150


@pytest.mark.parametrize("name", DEFECTS)
def test_a_seeded_defect_is_found(name: str):
    class Seeded(Approvals):
        reached = Reached()
        only = DEFECTS[name].near

    with pytest.raises(Exception) as found, DEFECTS[name].seed():  # noqa: PT011 it may fail in any way it likes
        _search(Seeded)
    assert not isinstance(found.value, HypothesisException), "the search itself broke off"


def _search(machine: type[Approvals]) -> None:
    for number in range(SEARCHES):
        play(SEARCHED, number, machine)
