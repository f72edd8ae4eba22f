"""The Nth system call of an approval fails: some of those that ``make soak`` tries one by one."""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import chain, cycle
from typing import Any

import pytest

from tests.survival.post_crash_checks import Remains

from .failing import CALLS, KILL, Case, Heard, judge, tried

Json = Any

SAMPLE: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "write": (("create", "run"), (1, 5)),
    "pwrite64": (("create", "edit", "run"), (1, 7, 14, 25)),
    "fsync": (("edit", "create", "move", "delete"), (1, 2, 1, 1)),
    "fdatasync": (("run", "create"), (1, 2, 3)),
    "openat": (("create", "edit"), (1, 4, 8, 11)),
    "rename": (("create",), (1, 2)),
    "renameat": (("edit",), (1,)),
    "renameat2": (("create", "edit", "delete", "move"), (1, 1, 1, 1)),
    "linkat": (("create",), (1,)),
    "unlinkat": (("edit", "delete"), (1, 1)),
    "pipe2": (("run",), (1,)),
    "socketpair": (("run",), (1,)),
}
"""By call: the ways that make it, one after the other, and which of them fails."""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is missing, which makes the calls fail")
async def test_whichever_call_fails_it_either_did_not_run_and_said_so_or_ran_on_record() -> None:
    cases = list(chain.from_iterable(_cases(call, *row) for call, row in SAMPLE.items()))
    hits: list[Case] = []
    assert await tried(cases, hits) == []
    assert len(hits) > len(cases) / 2
    assert {"write", "pwrite64", "openat"} <= {case.call for case in hits}


KILLED: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("create", "pwrite64", (1, 9)),
    ("create", "renameat2", (1,)),
    ("edit", "fdatasync", (1, 3)),
    ("edit", "renameat2", (1,)),
    ("edit", "unlinkat", (1,)),
    ("delete", "renameat2", (1,)),
    ("delete", "unlinkat", (1,)),
    ("delete", "fdatasync", (2,)),
    ("move", "renameat2", (1,)),
    ("move", "fsync", (1, 2)),
    ("run", "fdatasync", (2, 4)),
    ("run", "vfork", (1,)),
    ("run", "execve", (1,)),
    ("run", "write", (6,)),
    ("run", "pipe2", (1,)),
)
"""By way and call: at which of them the server is killed; ``make soak`` kills at each."""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is missing, which kills at the calls")
async def test_whichever_call_the_server_is_killed_at_what_ran_is_on_record() -> None:
    cases = [Case(way, call, KILL, number) for way, call, numbers in KILLED for number in numbers]
    hits: list[Case] = []
    assert await tried(cases, hits) == []
    assert len(hits) > len(cases) / 2


def _cases(call: str, ways: tuple[str, ...], numbers: tuple[int, ...]) -> list[Case]:
    turn = cycle(ways)
    return [Case(next(turn), call, error, number) for number in numbers for error in CALLS[call]]


TOKEN = "tok-case-0-1-end"
RAN, FAILED = {"success": True, "output": "created"}, {"success": False, "output": "no space; nothing was written"}
RECORDED = [
    {"phase": phase, "verdict": "allow", "input": TOKEN, "receiptId": "r", "outcome": None}
    for phase in ("decided", "started")
]


@pytest.mark.parametrize(
    ("rows", "effects", "heard", "faults"),
    [
        (RECORDED, 1, Heard(results=[RAN]), 0),
        (RECORDED, 0, Heard(results=[FAILED]), 0),
        ([], 0, Heard(refusals=["the disk is full"]), 0),
        ([], 0, Heard(gone=True), 0),
        ([], 0, Heard(), 1),
        ([], 1, Heard(results=[RAN]), 1),
        (RECORDED, 0, Heard(results=[RAN]), 1),
        (RECORDED, 1, Heard(results=[FAILED]), 1),
    ],
    ids=["ran", "failed", "refused", "gone", "silent", "unrecorded", "said to have run", "said not to have run"],
)
def test_what_is_neither_recorded_nor_said_is_found(rows: list[Json], effects: int, heard: Heard, faults: int) -> None:
    remains = Remains(rows, {}, +Counter({TOKEN: effects}))
    assert len(list(judge(remains, TOKEN, heard))) == faults
