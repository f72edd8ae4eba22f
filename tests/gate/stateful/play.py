"""Playing histories: so many whole ones, named by a number for ever."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from .machine import Approvals
from .watched import STEPS


def play(
    histories: int, number: int, machine: type[Approvals] = Approvals, phases: Sequence[Phase] = (Phase.generate,)
) -> None:
    """Play so many whole histories; hypothesis plays some shorter ones beside them.

    Raises what the first that went wrong found; with ``Phase.shrink`` it is told in as few steps as there are.
    """
    before, rounds = machine.reached.whole, 0
    while (left := histories - machine.reached.whole + before) > 0:
        given = settings(
            max_examples=left,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
            report_multiple_bugs=False,
        )
        run_state_machine_as_test(seed(hash((number, rounds)))(machine), settings=given)
        rounds += 1


def failures(number: int, histories: range) -> Iterator[str]:
    """For ``tests/soak.py``: what goes wrong in these histories."""
    logging.disable(logging.CRITICAL)
    try:
        play(len(histories), hash((number, histories.start)))
    except Exception as error:
        told = "\n".join((str(error), *getattr(error, "__notes__", ())))
        yield f"histories from {histories.start} on: {type(error).__name__}: {told}"
    finally:
        logging.disable(logging.NOTSET)
