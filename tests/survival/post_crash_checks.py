"""What a server left when it was gone, and what must hold of it: effects on disk, rows in the ledger, processes.

The judgements are plain functions over what was found; each gives what is wrong, one sentence a fault.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import sqlite3
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countersign.commands import history
from countersign.gate.ledger.reader import LEDGER_FILE
from tests.patience import PATIENCE

Json = Any
TOKEN = re.compile(r"tok-[A-Za-z0-9]+-\d+-\d+-end")
LOOK_EVERY = 0.02


@dataclass(frozen=True)
class Remains:
    """The ledger's rows, oldest first; the state of every request; how often each token stands in the workspace."""

    rows: Sequence[Json]
    requests: Mapping[str, str]
    effects: Counter[str]

    def about(self, token: str) -> Remains:
        """What of it is about this token."""
        rows = [row for row in self.rows if token in str(row["input"])]
        return Remains(rows, {}, +Counter({token: self.effects[token]}))

    def of_token(self) -> Mapping[str, list[Json]]:
        """The rows of every call whose input holds the token."""
        found: dict[str, list[Json]] = defaultdict(list)
        for row in self.rows:
            for token in set(TOKEN.findall(str(row["input"]))):
                found[token].append(row)
        return found


def blocking_remains(workspace: Path, storage: Path) -> Remains:
    """Look at what there is now, as another process would."""
    _, said = _history(storage, "--json")
    rows = [json.loads(line) for line in said.splitlines()]
    with closing(sqlite3.connect(f"file:{storage / LEDGER_FILE}?mode=ro", uri=True)) as ledger:
        requests = dict(ledger.execute("SELECT approval_id, state FROM requests").fetchall())
    effects: Counter[str] = Counter()
    for path in workspace.rglob("*"):
        if path.is_file() and not path.name.startswith(".countersign-"):
            effects.update(TOKEN.findall(path.read_text()))
    return Remains(rows, requests, effects)


def unrecorded(remains: Remains) -> Iterator[str]:
    """No effect without an earlier record, and nothing run twice."""
    rows = remains.of_token()
    for token, times in remains.effects.items():
        phases = [f"{row['phase']} {row['verdict']}" for row in rows.get(token, ())]
        if times > 1:
            yield f"`{token}` was done {times} times"
        if "decided allow" not in phases or "started allow" not in phases:
            yield f"`{token}` is in the workspace, and its rows are {phases}"
    for token, found in rows.items():
        if (started := sum(row["phase"] == "started" for row in found) - sum(map(_undone, found))) > 1:
            yield f"the call of `{token}` was started {started} times"


def _undone(row: Json) -> bool:
    """The end of a start that found its file changed: nothing was done, and it was asked again."""
    return row["phase"] == "finished" and (row.get("outcome") or {}).get("ended") == "stale"


def forgotten(remains: Remains, messages: Sequence[Json], answers: Mapping[str, str]) -> Iterator[str]:
    """Nothing is lost that a client had seen. ``answers``: the state that each answered request was said to have."""
    of_approval: dict[str, list[Json]] = defaultdict(list)
    of_receipt: dict[str, list[Json]] = defaultdict(list)
    for row in remains.rows:
        of_receipt[row["receiptId"]].append(row)
        if row.get("approvalId"):
            of_approval[row["approvalId"]].append(row)

    def ended_as(approval_id: str, state: str) -> bool:
        return any((row.get("outcome") or {}).get("state") == state for row in of_approval[approval_id])

    for method, params in _notifications(messages):
        if method == "tool/approvalRequest" and not of_approval[params["approvalId"]]:
            yield f"the request {params['approvalId']} was shown and is in no row"
        elif method == "tool/approvalResolved" and not ended_as(params["approvalId"], params["state"]):
            yield f"{params['approvalId']} was told as {params['state']} and has no such row"
        elif method == "thread/update":
            for event in params["events"]:
                # A call that never got to the gate has no receipt, and ran nothing.
                if event["type"] == "toolResult" and (receipt := event.get("receiptId")):
                    phases = [row["phase"] for row in of_receipt[receipt]]
                    verdicts = [row["verdict"] for row in of_receipt[receipt]]
                    if "finished" not in phases and (event["success"] or "deny" not in verdicts):
                        yield f"a result of {receipt} was told, and its rows are {phases} {verdicts}"
    for approval_id, state in answers.items():
        if not ended_as(approval_id, state):
            yield f"the answer to {approval_id} was taken as {state} and has no such row"


def left_open(remains: Remains) -> Iterator[str]:
    """After a restart nothing is half-way: every request has ended, every start has its end."""
    for approval_id, state in remains.requests.items():
        if state == "open":
            yield f"the request {approval_id} is still open"
    phases: dict[str, list[str]] = defaultdict(list)
    for row in remains.rows:
        phases[row["receiptId"]].append(row["phase"])
    for receipt, known in phases.items():
        if known.count("started") != known.count("finished"):
            yield f"the receipt {receipt} has the rows {known}"


def broken_chain(storage: Path) -> Iterator[str]:
    """What `countersign history --verify` says against it."""
    code, said = _history(storage, "--verify")
    if code != 0:
        yield said.strip()


def _history(storage: Path, *words: str) -> tuple[int, str]:
    """`countersign history`, in this process."""
    parser, said = ArgumentParser(), io.StringIO()
    history.add_arguments(parser)
    return history.run(parser.parse_args(["--storage", str(storage), *words]), said, said), said.getvalue()


async def until_nobody(variable: str, mark: str) -> list[str]:
    """Wait until no process has this mark in its environment; who is left after ``PATIENCE``."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE
    while (left := blocking_marked(variable, mark)) and loop.time() < until:  # noqa: ASYNC110 no event: not our children
        await asyncio.sleep(LOOK_EVERY)
    return left


def blocking_marked(variable: str, mark: str) -> list[str]:
    """Every process whose environment holds the mark, in words. Zombies have no environment any more."""
    wanted = f"{variable}={mark}".encode()
    found: list[str] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if wanted in Path(f"/proc/{name}/environ").read_bytes():
                words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ")
                found.append(f"{name} {words.decode(errors='replace')[:120]}")
    return found


def _notifications(messages: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    for message in messages:
        if "method" in message and "id" not in message:
            yield message["method"], message.get("params")
