"""``make soak``: the counts that are too long for every run. ARGS="--only reference --count 10000" picks and shortens.

Each count is a function in ``COUNTS`` that looks at the cases of a range of numbers and yields what is wrong, one
sentence each; numbers and a seed name a case for ever. Ranges are shared out over the processors. What was counted and
how, for how long and what failed goes to ``.run/soak.json``, where counts that were not run keep their last word.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / ".run" / "soak.json"
KEPT, TOLD = 50, 5
"""How many failures are kept in full, and told as they come; all are counted."""


@dataclass(frozen=True)
class Count:
    """One long count. ``heap`` is how many numbers one process takes at a time."""

    what: str
    number: int
    heap: int
    failures: Callable[[int, range], Iterator[str]]


def _reference(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.compare import differences  # noqa: PLC0415 the root is on the path only once this has begun

    return map(str, differences(seed, numbers))


def _bash(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise
    from tests.reference.traced import escapes  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return map(str, escapes(seed, numbers))


def _trespass(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise
    from tests.reference.trespass import trespasses  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return trespasses(seed, numbers)


def _options(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.option_texts import option_trespasses  # noqa: PLC0415 likewise
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return option_trespasses(seed, numbers)


def _slow(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.slow_texts import lay_files, overworked, overworked_by_moves, overworked_by_sharing  # noqa: PLC0415 likewise

    yield from overworked(seed, numbers)
    yield from overworked_by_sharing(seed, numbers)
    with tempfile.TemporaryDirectory() as folder:
        lay_files(Path(folder))
        yield from overworked_by_moves(seed, numbers, Path(folder))


def _patterns(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.slow_patterns import slow  # noqa: PLC0415 likewise

    return slow(numbers)


def _history(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.history_texts import history_trespasses  # noqa: PLC0415 likewise
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return history_trespasses(seed, numbers)


def _moved(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.moved_texts import moved_trespasses  # noqa: PLC0415 likewise
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return moved_trespasses(seed, numbers)


def _ignored(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.ignored_texts import ignored_trespasses  # noqa: PLC0415 likewise
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return ignored_trespasses(seed, numbers)


def _syntax(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.campaign import failures  # noqa: PLC0415 likewise

    return failures(seed, numbers)


def _lines(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.lines import EVASIONS, problems  # noqa: PLC0415 likewise

    return problems(EVASIONS, ROOT / ".run" / "three_lines.json")


def _replay(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.replay import failures  # noqa: PLC0415 likewise
    from tests.reference.sandbox import sandbox  # noqa: PLC0415 likewise

    if reason := sandbox():
        raise RuntimeError(reason)
    return failures(seed, numbers)


def _widening(seed: int, numbers: range) -> Iterator[str]:
    from tests.reference.widening import widenings  # noqa: PLC0415 likewise

    return widenings(seed, numbers)


def _unfinished(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.respelled import unfinished  # noqa: PLC0415 likewise

    return unfinished(seed, numbers)


def _respelled(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.respelled import looser  # noqa: PLC0415 likewise

    return looser(seed, numbers)


def _otherwise(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.otherwise import looser  # noqa: PLC0415 likewise

    return looser(seed, numbers)


def _kill(seed: int, numbers: range) -> Iterator[str]:
    from tests.survival.kill import failures  # noqa: PLC0415 likewise

    return failures(seed, numbers)


def _races(seed: int, numbers: range) -> Iterator[str]:
    from tests.races.swaps import races  # noqa: PLC0415 likewise

    return races(seed, numbers)


def _damage(seed: int, numbers: range) -> Iterator[str]:
    from tests.settings.damage import wider  # noqa: PLC0415 likewise

    return wider(seed, numbers)


def _repository(seed: int, numbers: range) -> Iterator[str]:
    from tests.settings.hostile_repository import widenings  # noqa: PLC0415 likewise

    return widenings(seed, numbers)


def _ledger(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.ledger.ledger_histories import wrongs  # noqa: PLC0415 likewise

    return wrongs(seed, numbers)


def _tampering(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.ledger.tampering import undetected  # noqa: PLC0415 likewise

    return undetected(seed, numbers)


def _kills(seed: int, numbers: range) -> Iterator[str]:
    from tests.survival.failing import kills  # noqa: PLC0415 likewise

    return kills(seed, numbers)


def _failing(seed: int, numbers: range) -> Iterator[str]:
    from tests.survival.failing import failures  # noqa: PLC0415 likewise

    return failures(seed, numbers)


def _approvals(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.stateful.play import failures  # noqa: PLC0415 likewise

    return failures(seed, numbers)


def _pending(seed: int, numbers: range) -> Iterator[str]:
    from tests.stdio.many_requests import too_much  # noqa: PLC0415 likewise

    return too_much(seed, numbers)


def _expansion(seed: int, numbers: range) -> Iterator[str]:
    from tests.gate.shell.expansion import differences  # noqa: PLC0415 likewise

    return differences(seed, numbers)


def _agents(seed: int, numbers: range) -> Iterator[str]:
    from tests.agents.hostile import agent_faults  # noqa: PLC0415 likewise

    return agent_faults(seed, numbers)


def _sessions(seed: int, numbers: range) -> Iterator[str]:
    from tests.agents.schema_fuzz import session_faults  # noqa: PLC0415 likewise

    return session_faults(seed, numbers)


def _flooding(seed: int, numbers: range) -> Iterator[str]:
    from tests.stdio.test_hostile_peers import too_much_memory  # noqa: PLC0415 likewise

    return too_much_memory(seed, numbers)


def _answers(seed: int, numbers: range) -> Iterator[str]:
    from tests.agents.answer_fuzz import answer_faults  # noqa: PLC0415 likewise

    return answer_faults(seed, numbers)


def _models(seed: int, numbers: range) -> Iterator[str]:
    from tests.agents.hostile import model_faults  # noqa: PLC0415 likewise

    return model_faults(seed, numbers)


COUNTS: Mapping[str, Count] = {
    "reference": Count("engine and reference agree about a pair of command and rules", 1_000_000, 8_000, _reference),
    "bash": Count("bash starts nothing that the engine had not found in a text it allowed", 100_000, 1_000, _bash),
    "trespass": Count("what is allowed starts, changes and prints nothing else", 1_000_000, 2_000, _trespass),
    "options": Count("nor what takes the options that programs name in their help", 100_000, 1_000, _options),
    "history": Count("nor what looks into git's history, index and stash", 100_000, 1_000, _history),
    "ignored": Count("nor a search by rg beside ignore files", 100_000, 1_000, _ignored),
    "moved": Count("nor what opens files behind moves, copies and links of the same text", 100_000, 1_000, _moved),
    "expansion": Count("patterns, braces and tildes mean what bash expands them to", 100_000, 1_000, _expansion),
    "syntax": Count("what is recognized and what is printed parses, for us and for bash", 1_000_000, 1_000, _syntax),
    "lines": Count("each line against a wrong reading does without the others what is known of it", 1, 1, _lines),
    "replay": Count("bash does the same for a text and for what is printed of its tree", 1_000_000, 500, _replay),
    "widening": Count("nothing put behind or around a command widens its verdict", 100_000, 2_000, _widening),
    "respelled": Count("no known evasion is allowed for a variable in its words", 100_000, 2_000, _respelled),
    "otherwise": Count("no known evasion is allowed in another spelling", 100_000, 2_000, _otherwise),
    "unfinished": Count("no known evasion is allowed once a word's end is unknown", 100_000, 2_000, _unfinished),
    "slow": Count("no text that repeats words or matches files takes work without bounds", 10_000, 100, _slow),
    "patterns": Count("no regular expression of the gate takes more than linear time", 1_000, 50, _patterns),
    "kill": Count("kill -9 under five agents: nothing unrecorded, lost, doubled or left behind", 1_000, 10, _kill),
    "killed": Count("a kill at every Nth system call of an approval: what ran is recorded", 105, 1, _kills),
    "failing": Count("every Nth system call of an approval fails: recorded, or said not to have run", 110, 2, _failing),
    "races": Count("what is swapped under a file tool is never touched without approval", 10_000, 250, _races),
    "damage": Count("no cut or flip of a settings file widens a right", 500, 50, _damage),
    "repository": Count("what a hostile repository sets never exceeds what was confirmed", 20_000, 250, _repository),
    "approvals": Count("two servers on one storage end every request as the model says", 10_000, 100, _approvals),
    "ledger": Count("a ledger holds after kills, torn writes and rotations, and harm is found", 20_000, 500, _ledger),
    "tampering": Count("each way of tampering with a ledger is found by what must find it", 20_000, 100, _tampering),
    "agents": Count("spoiled messages of a hosted agent change nothing and leave nothing", 1_000_000, 10_000, _agents),
    "sessions": Count("turns of messages by the schema of ACP leave nothing behind", 40_000, 400, _sessions),
    "answers": Count("lives of an agent whose answers are spoiled leave nothing behind", 40_000, 1_000, _answers),
    "models": Count("mutated streams of a model server are pieces or one clear error", 1_000_000, 10_000, _models),
    "flooding": Count("all attacks of one agent, or of one model server, mixed, take under 300 MB", 20, 1, _flooding),
    "pending": Count("10,000 open requests are listed and answered within 200 MB", 1, 1, _pending),
}  # fmt: skip
"""By name. Whoever has something to count for hours adds a row."""


def main(arguments: list[str]) -> int:
    asked = _asked(arguments)
    failed = 0
    for name in asked.only or COUNTS:
        number = asked.count or COUNTS[name].number
        earlier = _not_ended(name, asked.seed) if asked.resume else None
        told = run(name, number, asked.seed, asked.workers, minutes=asked.minutes, earlier=earlier)
        # Read anew, because another count may have ended meanwhile.
        results = _kept()
        results["counts"][name] = told
        results["versions"] = versions()
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        failed += told["failed"]
    print(f"written to {RESULTS.relative_to(ROOT)}")
    return 1 if failed else 0


def run(
    name: str,
    number: int,
    seed: int,
    workers: int,
    *,
    minutes: float | None = None,
    earlier: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Counts, on all processors. A range that breaks off is a failure of its own, never a count.

    No range begins once ``minutes`` are over. Those that began are finished, so what was counted is always all numbers
    up to one; ``earlier`` is what such a run told, whose numbers are not counted again.
    """
    count, began = COUNTS[name], time.monotonic()
    told = dict(earlier or {"count": 0, "failed": 0, "failures": [], "seconds": 0.0})
    failures, failed, done = list[str](told["failures"]), told["failed"], told["count"]
    ranges = (range(start, min(start + count.heap, number)) for start in range(done, number, count.heap))
    # Fresh processes: what the parent holds is not carried along, and a leak in one heap would be seen as its growth.
    with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        pending: dict[concurrent.futures.Future[list[str]], range] = {}
        while True:
            over = minutes is not None and time.monotonic() - began >= minutes * 60
            for numbers in () if over else itertools.islice(ranges, workers - len(pending)):
                pending[pool.submit(_look, name, seed, numbers)] = numbers
            if not pending:
                break
            for future in concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED).done:
                found = future.result()
                for failure in found[: max(0, TOLD - failed)]:
                    print(f"\n  {failure}", flush=True)
                failed += len(found)
                failures = [*failures, *found][:KEPT]
                done += len(pending.pop(future))
            print(
                f"\r{name}: {done:,} of {number:,}, {failed} failed, {time.monotonic() - began:.0f} s",
                end="",
                flush=True,
            )
    print()
    return {
        "what": count.what,
        "seed": seed,
        "count": done,
        "of": number,
        "failed": failed,
        "failures": failures,
        "seconds": round(told["seconds"] + time.monotonic() - began, 1),
        "workers": workers,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _not_ended(name: str, seed: int) -> Mapping[str, Any] | None:
    """What an earlier run of this count and seed told, if it ended before its last number."""
    told = _kept()["counts"].get(name, {})
    return told if told.get("seed") == seed and told.get("count", 0) < told.get("of", 0) else None


def versions() -> dict[str, str]:
    """What it was counted with."""
    from importlib.metadata import version  # noqa: PLC0415 only needed at the end

    def said(*command: str) -> str:
        if shutil.which(command[0]) is None:
            return "not there"
        told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
        return (told.stdout.splitlines() or [""])[0]

    return {
        "commit": said("git", "rev-parse", "HEAD"),
        "changed": str(bool(said("git", "status", "--porcelain", "--", "server", "tests"))).lower(),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "bash": said("bash", "--version"),
        "bwrap": said("bwrap", "--version"),
        **{name: version(name) for name in ("tree-sitter", "tree-sitter-bash", "shfmt-py", "hypothesis")},
    }


def _look(name: str, seed: int, numbers: range) -> list[str]:
    """One range, in a process of its own."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return list(COUNTS[name].failures(seed, numbers))


def _kept() -> dict[str, Any]:
    try:
        kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    counts = kept.get("counts", {}) if isinstance(kept, dict) else {}
    return {"versions": {}, "counts": {name: told for name, told in counts.items() if name in COUNTS}}


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make soak", description="The counts that are too long for every run.")
    parser.add_argument("--only", action="append", choices=[*COUNTS], help="this count; may be given again")
    parser.add_argument("--count", type=int, help="so many cases instead of each count's own number")
    parser.add_argument("--seed", type=int, default=1, help="other cases (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--minutes", type=float, help="begin nothing new in a count after so many minutes")
    parser.add_argument("--resume", action="store_true", help="go on where a run with this seed was ended by --minutes")
    asked = parser.parse_args(arguments)
    for name in ("count", "workers"):
        if (value := getattr(asked, name)) is not None and value < 1:
            parser.error(f"--{name} must be 1 or more")
    if asked.minutes is not None and asked.minutes <= 0:
        parser.error("--minutes must be more than 0")
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
