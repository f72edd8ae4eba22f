"""``countersign history``: the ledger of a storage folder, read without touching it."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TextIO

from countersign.wire.base import as_json
from countersign.wire.desk import HistoryEntry
from countersign.wire.errors import LedgerUnavailable

from .reader import LEDGER_FILE, Reader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the subcommand."""
    parser.add_argument("--storage", type=Path, required=True, help="the server's storage folder")
    parser.add_argument("--json", action="store_true", help="one JSON line for each entry")
    parser.add_argument("--thread", help="only this chat")
    parser.add_argument("--verify", action="store_true", help="walk the hash chain and say whether it holds")
    parser.add_argument("--stats", action="store_true", help="how many of what, and how long it took")


def run(arguments: argparse.Namespace, out: TextIO = sys.stdout, problems: TextIO = sys.stderr) -> int:
    """Print what was asked for, oldest first. 0: done; 1: the chain does not hold; 2: there is no ledger."""
    file = arguments.storage / LEDGER_FILE
    if not file.is_file():
        print(f"there is no ledger in {arguments.storage}; name the storage folder of a server", file=problems)
        return 2
    try:
        reader = Reader(file)
        if arguments.verify:
            return _verify(reader, out)
        entries = reader.entries(thread_id=arguments.thread)
        if arguments.stats:
            _stats(entries, out)
        else:
            for entry in entries:
                print(json.dumps(as_json(entry)) if arguments.json else _line(entry), file=out, flush=True)
    except LedgerUnavailable as error:
        print(str(error), file=problems)
        return 2
    except BrokenPipeError:
        return 0
    return 0


def _verify(reader: Reader, out: TextIO) -> int:
    found = reader.verify()
    if found.fault is None:
        print(f"{found.rows} rows hold; head {found.head}", file=out)
        return 0
    print(f"the chain does not hold: {found.fault}; {found.rows} rows before it do", file=out)
    return 1


def _line(entry: HistoryEntry) -> str:
    why = entry.evidence[0].reason if entry.evidence else ""
    where = f" ({entry.evidence[0].rule})" if entry.evidence and entry.evidence[0].rule else ""
    ended = f" {entry.outcome.get('ended') or entry.outcome.get('state')}" if entry.outcome else ""
    what = json.dumps(entry.input, ensure_ascii=True)[:120] if entry.phase == "decided" else ""
    verdict = f"{entry.verdict} by {entry.by}" if entry.verdict else ""
    reason = f": {why}{where}" if entry.phase == "decided" else ""
    head = f"{entry.seq:>6} {entry.at} {entry.phase:<8} {entry.agent_name} {entry.tool}"
    return f"{head} {verdict}{ended}{reason} {what}".rstrip()


def _stats(entries, out: TextIO) -> None:
    by: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    milliseconds = 0.0
    for entry in entries:
        if entry.phase == "decided":
            by[f"{entry.verdict} by {entry.by}"] += 1
        elif entry.phase == "finished" and entry.outcome:
            ended[str(entry.outcome.get("ended"))] += 1
            took = entry.outcome.get("durationMs")
            milliseconds += took if isinstance(took, int | float) else 0
    for name, number in sorted(by.items()):
        print(f"decided  {name}: {number}", file=out)
    for name, number in sorted(ended.items()):
        print(f"finished {name}: {number}", file=out)
    print(f"tool time: {milliseconds / 1000:.3f} s", file=out)
