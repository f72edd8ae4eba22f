"""``countersign history``: the ledger of a storage folder, read, verified, exported and put away.

Everything but ``--rotate`` and ``--new-chain`` only reads the ledger. What a ledger and an export are, and how they are
proved, is in ``gate/ledger/hash_chain.py`` and ``gate/ledger/export.py``; signatures of both in ``signature.py``.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO, get_args

from countersign.agents.transcript import CHATS_FILE
from countersign.agents.usage_store import blocking_usage
from countersign.commands.option_uses import LISTING, OptionUses, ignored_option
from countersign.commands.signing_key import blocking_make_key, blocking_read_key
from countersign.gate import (
    LEDGER_FILE,
    Anchor,
    Exported,
    Fault,
    Ledger,
    Reader,
    Verification,
    blocking_call_figures,
    blocking_check_signature,
    blocking_check_signed_export,
    blocking_export,
    blocking_read_heads,
    blocking_rotate,
    blocking_sign_head,
    blocking_verify_export,
    blocking_write_signature,
    key_name,
    parse_moment,
    shown,
    signature_path,
    visible,
)
from countersign.settings.regular_file import NotRegular
from countersign.settings.system_keyring import KeyringError
from countersign.wire.base import as_json
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.history import CallFigures, HistoryFilter, ModelFigures, Phase
from countersign.wire.verdicts import DecidedBy, Verdict

_ROWS = (LISTING, "--stats", "--export")
USES = OptionUses(
    actions=(
        "--stats",
        "--verify",
        "--export",
        "--verify-export",
        "--rotate",
        "--make-key",
        "--sign-head",
        "--new-chain",
    ),
    only_with={
        "--storage": (LISTING, "--stats", "--verify", "--export", "--rotate", "--sign-head", "--new-chain"),
        "--json": (LISTING, "--stats", "--verify"),
        "--anchor": ("--verify", "--new-chain"),
        "--signed-head": ("--verify",),
        "--sign": ("--export", "--rotate", "--verify-export"),
        "--reason": ("--new-chain",),
        **dict.fromkeys(("--thread", "--agent", "--tool", "--verdict", "--by", "--phase", "--workspace"), _ROWS),
        **dict.fromkeys(("--since", "--until", "--text"), _ROWS),
    },
)
"""Which options count together; the rest of a call that does not fit is refused by name."""

_AGO = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the subcommand."""
    parser.add_argument("--storage", type=Path, help="the server's storage folder")
    parser.add_argument("--json", action="store_true", help="JSON lines; with --verify, one object")
    parser.add_argument("--stats", action="store_true", help="how many of what, and how long it took")
    parser.add_argument("--verify", action="store_true", help="walk the hash chain and say whether it holds")
    parser.add_argument("--export", type=Path, metavar="FILE", help="write it as JSON lines into a new file")
    parser.add_argument("--verify-export", type=Path, metavar="FILE", help="say whether an export is whole, unchanged")
    parser.add_argument(
        "--rotate", type=Path, metavar="FILE", help="export everything into a new file and begin a new chain"
    )
    parser.add_argument(
        "--anchor",
        type=_anchor,
        metavar="SEQ:HASH",
        help="with --verify, --new-chain: this row must be in it with this hash",
    )
    parser.add_argument("--make-key", action="store_true", help="make a key for signatures in the system's keyring")
    parser.add_argument("--sign-head", type=Path, metavar="FILE", help="sign the chain's end into a new file")
    parser.add_argument(
        "--signed-head", type=Path, metavar="FILE", help="with --verify: compare with a file that --sign-head made"
    )
    parser.add_argument(
        "--sign",
        action="store_true",
        help="with --export and --rotate: sign into FILE.sig; with --verify-export: that signature must hold",
    )
    parser.add_argument(
        "--new-chain", action="store_true", help="set a damaged ledger aside under a dated name and begin a new chain"
    )
    parser.add_argument("--reason", default="", help="with --new-chain: why; it stands in the new chain")
    which = parser.add_argument_group("which rows", "all that are given must fit; also for --export and --stats")
    which.add_argument("--thread", type=_text, help="of this chat")
    which.add_argument("--agent", type=_text, help="of this agent")
    which.add_argument("--tool", type=_text, help="of this tool")
    which.add_argument("--verdict", choices=get_args(Verdict))
    which.add_argument("--by", choices=get_args(DecidedBy), help="who or what decided")
    which.add_argument("--phase", choices=get_args(Phase))
    which.add_argument("--workspace", type=_text, help="of this workspace, by its full path")
    which.add_argument("--since", type=_moment, metavar="WHEN", help="2026-11-20, 2026-11-20T09:15, or 90m, 2h, 7d ago")
    which.add_argument("--until", type=_moment, metavar="WHEN", help="before then")
    which.add_argument("--text", type=_text, help="with this in input, evidence or outcome")


def run(arguments: argparse.Namespace, out: TextIO = sys.stdout, problems: TextIO = sys.stderr) -> int:
    """Do what was asked, oldest row first. 0: done; 1: it does not hold; 2: it could not be done."""
    if (wrong := ignored_option(arguments, USES)) is not None:
        print(wrong, file=problems)
        return 2
    try:
        if arguments.make_key:
            print(f"exports and heads are signed with the key {key_name(blocking_make_key())}", file=out)
            return 0
        if arguments.verify_export is not None:
            return _verified_export(arguments.verify_export, out, must_be_signed=arguments.sign)
        if arguments.storage is None:
            print("name the storage folder of a server with `--storage`", file=problems)
            return 2
        file = arguments.storage / LEDGER_FILE
        if not file.is_file():
            print(_missing(file), file=problems)
            return 1 if arguments.verify and not os.path.lexists(file) and blocking_read_heads(file) else 2
        return _run(file, arguments, out)
    except Fault as fault:
        print(f"the chain does not hold: {fault}; nothing was changed", file=problems)
        return 1
    except FileExistsError as error:
        print(f"`{error.filename}` exists already; name a new file", file=problems)
    except BrokenPipeError:
        return 0
    except (LedgerUnavailable, KeyringError) as error:
        print(str(error), file=problems)
    except NotRegular as error:
        print(f"`{error.filename}` is not a regular file; name another file", file=problems)
    except OSError as error:
        what = os.strerror(error.errno or 0).lower()
        print(f"`{error.filename}` cannot be used ({what}); name another file", file=problems)
    return 2


def _missing(ledger: Path) -> str:
    """Say why there is no ledger to read; one that is gone leaves its head behind."""
    if os.path.lexists(ledger):
        return f"`{ledger.name}` in {ledger.parent} is not a regular file; move it away"
    if heads := blocking_read_heads(ledger):
        return (
            f"`{ledger.name}` is gone from {ledger.parent}, but the head file beside it says that it had "
            f"{heads[0].rows} rows; put it back, or begin a new chain in the editor"
        )
    return f"there is no ledger in {ledger.parent}; name the storage folder of a server"


def _run(file: Path, arguments: argparse.Namespace, out: TextIO) -> int:
    reader, wanted = Reader(file), _filter(arguments)
    if arguments.verify:
        return _verified(reader, arguments, out)
    if arguments.sign_head is not None:
        said = blocking_sign_head(reader, arguments.sign_head, blocking_read_key())
        print(f"row {said.head.rows} signed with the key {said.key} in {arguments.sign_head}", file=out)
        return 0
    if arguments.new_chain:
        return _new_chain(file, arguments, out)
    if arguments.rotate is not None:
        key = _signing_key(arguments, arguments.rotate)
        return _written(blocking_rotate(file, arguments.rotate), arguments.rotate, key, out)
    if arguments.export is not None:
        key = _signing_key(arguments, arguments.export)
        exported = blocking_export(reader, arguments.export, wanted, workspace=arguments.workspace)
        return _written(exported, arguments.export, key, out)
    entries = map(shown, reader.walk(wanted, workspace=arguments.workspace))
    if arguments.stats:
        usage = blocking_usage(file.with_name(CHATS_FILE), wanted, arguments.workspace)
        calls = blocking_call_figures(reader.rows, wanted, arguments.workspace)
        if arguments.json:
            for kind, figures in (("calls", calls), ("models", usage)):
                for each in figures:
                    print(json.dumps({"kind": kind, **as_json(each)}), file=out)
        else:
            _stats(entries, out)
            _by_agent(calls, usage, out)
        return 0
    for entry in entries:
        print(json.dumps(entry) if arguments.json else _line(entry), file=out)
    out.flush()
    return 0


def _verified(reader: Reader, arguments: argparse.Namespace, out: TextIO) -> int:
    """Walk the chain, and say what it was compared with."""
    outside: list[tuple[str, Anchor]] = []
    if arguments.anchor is not None:
        outside.append((f"the anchor at row {arguments.anchor.rows}", arguments.anchor))
    if arguments.signed_head is not None:
        said = blocking_check_signature(arguments.signed_head, blocking_read_key(), "head")
        words = f"the head at row {said.head.rows}, signed {said.at} with the key {said.key}"
        outside.append((words, Anchor("", said.head.rows, said.head.hash)))
    found = reader.verify()
    if found.fault is None:
        for _, anchor in outside:
            reader.check_anchor(anchor)
    heads = blocking_read_heads(reader.path) if reader.path is not None else ()
    beside = f"the head file beside it (row {heads[0].rows})" if heads else "no head file: there is none beside it"
    named = " and ".join(words for words, _ in outside)
    named = named or "nothing outside the folder (give `--anchor SEQ:HASH` or `--signed-head FILE`)"
    compared = f"{beside} and with {named}"
    if arguments.json:
        holds = found.fault is None
        told = {"holds": holds, "rows": found.rows, "head": found.head, "fault": found.fault, "notes": found.notes}
        print(json.dumps({**told, "comparedWith": compared}), file=out)
        return 0 if holds else 1
    status = _told(found, out)
    print(f"compared with {compared}", file=out)
    return status


def _verified_export(export: Path, out: TextIO, *, must_be_signed: bool) -> int:
    """Say whether an export holds, and what it was compared with."""
    found = blocking_verify_export(export)
    if found.fault is None and must_be_signed:
        said = blocking_check_signed_export(export, blocking_read_key(), found.head)
        compared = f"its own last line and with the signature of {said.at} by the key {said.key}"
    elif signature_path(export).exists():
        compared = "its own last line only; give `--sign` to check the signature beside it"
    else:
        compared = "its own last line only: no signature is beside it"
    status = _told(found, out)
    print(f"compared with {compared}", file=out)
    return status


def _signing_key(arguments: argparse.Namespace, file: Path) -> bytes | None:
    """Return the key, where the export is to be signed; before anything is written.

    Raises:
        KeyringError: there is no key. FileExistsError: there is a signature of that name.
    """
    if not arguments.sign:
        return None
    if (path := signature_path(file)).exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    return blocking_read_key()


def _new_chain(file: Path, arguments: argparse.Namespace, out: TextIO) -> int:
    """Leave a damaged ledger behind; one that holds is left alone."""
    with closing(Ledger(file)) as ledger:
        if arguments.anchor is not None:
            ledger.compare(arguments.anchor)
        ledger.blocking_check()
        if not ledger.chain.is_broken:
            print("the chain holds; archive it with `--rotate FILE`", file=out)
            return 1
        head = ledger.begin_new_chain(arguments.reason).result()
    for note in Reader(file).verify().notes:
        print(f"note: {note}", file=out)
    print(f"a new chain begins after row {head.rows}; head {head.hash}", file=out)
    return 0


def _filter(arguments: argparse.Namespace) -> HistoryFilter:
    return HistoryFilter(
        thread_id=arguments.thread,
        agent_name=arguments.agent,
        tool=arguments.tool,
        verdict=arguments.verdict,
        by=arguments.by,
        phase=arguments.phase,
        since=arguments.since,
        until=arguments.until,
        text=arguments.text,
    )


def _anchor(text: str) -> Anchor:
    """A row and its hash, as `--verify` and an export name them."""
    if (said := re.fullmatch(r"(\d{1,12}):([0-9a-f]{64})", text)) is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not an anchor; give a row number and its hash as SEQ:HASH")
    return Anchor("", int(said[1]), said[2])


def _text(said: str) -> str:
    """A text that can stand in a ledger; words of a command line may be any bytes."""
    try:
        said.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"`{said}` is not UTF-8 text") from None
    return said


def _moment(text: str) -> str:
    """A moment as a person says it: a date, a time (here, if it names no zone), or so long ago."""
    try:
        if (ago := _AGO.fullmatch(text)) is not None:
            return parse_moment((datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})).isoformat())
        return parse_moment(datetime.fromisoformat(text).astimezone().isoformat())
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"`{text}` is not a time; use 2026-11-20, 2026-11-20T09:15 or 2h") from None


def _told(found: Verification, out: TextIO) -> int:
    for note in found.notes:
        print(f"note: {note}", file=out)
    if found.fault is None:
        print(f"{found.rows} rows hold; head {found.head}", file=out)
        return 0
    print(f"the chain does not hold: {found.fault}; {found.rows} rows before it do", file=out)
    return 1


def _written(exported: Exported, file: Path, key: bytes | None, out: TextIO) -> int:
    print(f"{exported.rows} rows written to {file}", file=out)
    print(f"count {exported.head.rows}; head {exported.head.hash}; sha256 of the file {exported.sha256}", file=out)
    if key is not None:
        said = blocking_write_signature(signature_path(file), key, "export", exported.head, exported.sha256)
        print(f"signed with the key {said.key} in {signature_path(file)}", file=out)
    return 0


def _line(entry: dict[str, Any]) -> str:
    evidence = (entry["evidence"] or [{}])[0]
    why, rule, outcome = evidence.get("reason", ""), evidence.get("rule"), entry.get("outcome")
    where = f" ({rule})" if rule else ""
    ended = f" {how}" if outcome and (how := outcome.get("ended") or outcome.get("state")) else ""
    what = json.dumps(entry.get("input"), ensure_ascii=True)[:120] if entry["phase"] == "decided" else ""
    verdict = f"{entry['verdict']} by {entry['by']}" if entry.get("verdict") else ""
    reason = f": {why}{where}" if entry["phase"] == "decided" else ""
    head = f"{entry['seq']:>6} {entry['at']} {entry['phase']:<8} {entry['agentName']} {entry['tool']}"
    return f"{head} {verdict}{ended}{reason} {what}".rstrip()


def _stats(entries: Iterable[dict[str, Any]], out: TextIO) -> None:
    by: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    milliseconds = waited = 0.0
    for entry in entries:
        outcome = entry.get("outcome") or {}
        if entry["phase"] == "decided":
            by[f"{entry.get('verdict')} by {entry.get('by')}"] += 1
            waited += _number(outcome.get("waitedMs"))
        elif entry["phase"] == "finished" and outcome:
            ended[str(outcome.get("ended"))] += 1
            milliseconds += _number(outcome.get("durationMs"))
    for name, number in sorted(by.items()):
        print(f"decided  {name}: {number}", file=out)
    for name, number in sorted(ended.items()):
        print(f"finished {name}: {number}", file=out)
    print(f"tool time: {milliseconds / 1000:.3f} s; waited for a decision: {waited / 1000:.3f} s", file=out)


def _by_agent(calls: Sequence[CallFigures], usage: Sequence[ModelFigures], out: TextIO) -> None:
    """Print a line for each agent, its model and day, and one for each model that it asked."""
    for (day, agent, model), group in groupby(calls, key=lambda each: (each.day, each.agent_name, each.model)):
        each = list(group)
        waited, ran = sum(one.waited_ms for one in each) / 1000, sum(one.tool_ms for one in each) / 1000
        done = sum(one.calls for one in each)
        who = visible(agent) if model is None else f"{visible(agent)}, {visible(model)}"
        print(f"{day}  {who}: {done} calls, tools {ran:.3f} s, waited {waited:.3f} s", file=out)
    for one in usage:
        cost = "cost unknown" if one.cost is None else f"${one.cost:.4f}"
        model = visible(one.model or "model unknown")
        print(
            f"{one.day}  {visible(one.agent_name)}, {model}: {one.requests} requests, {one.input_tokens} tokens in "
            f"({one.cached_tokens} cached), {one.output_tokens} out, {cost}",
            file=out,
        )


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0
