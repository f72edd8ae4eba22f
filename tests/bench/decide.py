"""What one decision on a command costs, beside Gemini CLI's policy engine under the same rules, in the same run.

200 everyday commands (`commands.txt`) are decided under 10 to 10,000 rules for command prefixes, the larger sets
holding the smaller. Both sides are timed around one call, from the text to the decision: reading the text is in it,
making the call's object is not. The sides take turns, round by round, each round every command once; a figure is the
median over the rounds of a round's median, a ratio the median of the ratios of rounds that stood side by side.

Ours is measured twice. As it stands, both engines are warmed up by whole rounds, and ours recalls a decision once it
has looked again at all that it rests on. Under "not seen before" whatever we keep of texts and decisions is forgotten
before each round; so is what is measured of long texts and of growth with the rules. `bash -n` is left out of both,
since Gemini's has nothing like it, and measured by itself at the end.

Long texts have ``shlex`` for a peer, the standard library's splitter of words for a shell, which reads every character
in Python and knows no rules: a limit in milliseconds would say which machine it is. The longest time of ours is set
beside its longest.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import math
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from countersign.cli import settle_collector
from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decisions import decide as engine
from countersign.gate.decisions import decision_cache
from countersign.gate.patterns import parse_command
from countersign.gate.shell.flow.self_check import engine_fault
from countersign.gate.shell.judge import SyntaxChecker
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.policy import Policy, RuleText
from countersign.wire.approvals import ToolPreview

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GEMINI = HERE / "gemini"
COMMANDS = HERE.joinpath("commands.txt").read_text("utf-8").splitlines()
SIZES, COMPARED = (10, 100, 1_000, 10_000), (10, 100, 1_000)
Listed = Literal["allow", "ask", "deny"]
WARMING, ROUNDS, CHECKED_ROUNDS, LONG_RUNS, STARRED_RUNS = 5, 15, 3, 7, 3

LIMITS = {
    "decide: 10 rules, to Gemini's": 1.0,
    "decide: 100 rules, to Gemini's": 1.0,
    "decide: 1000 rules, to Gemini's": 0.4,
    "decide: 1000 rules to 10 rules": 1.5,
    "decide: 10000 rules to 10 rules": 2.0,
    "decide: longest of the 2 kB texts, to shlex": 30.0,
    "decide: longest of the 100 kB texts, to shlex": 2.4,
    "decide: longest of the 100 kB texts under 200 rules of 8 stars, to shlex": 2.4,
    "decide: 100 kB to 50 kB, greatest": 2.3,
}


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, _collector_of_a_server():
        workspace = _workspace(Path(folder))
        policies = {size: _policy(workspace, size) for size in SIZES}
        return {
            **_beside_gemini(policies),
            **_long_texts(policies[100]),
            **_under_stars(_starred_policy(workspace)),
            "decide: milliseconds, the parser's self-check, once in each process": _self_check(),
            **_with_bash(policies[100]),
        }


@contextlib.contextmanager
def _collector_of_a_server() -> Iterator[None]:
    """Python's collector of cycles as ``countersign serve`` sets it."""
    before = gc.get_threshold()
    settle_collector()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


# --- beside Gemini's -------------------------------------------------------------------------------------------------


def _beside_gemini(policies: dict[int, Policy]) -> dict[str, float]:
    cold: dict[int, list[float]] = {size: [] for size in SIZES}
    warm: dict[int, list[float]] = {size: [] for size in SIZES}
    theirs: dict[int, list[float]] = {size: [] for size in COMPARED}
    with _gemini() as their_round:
        for turn in range(WARMING + ROUNDS):
            for size in SIZES:
                median = {
                    "cold": statistics.median(_forgetful_round(policies[size])),
                    "warm": statistics.median(_round(policies[size])),
                    "theirs": statistics.median(their_round(size)) if size in COMPARED else 0.0,
                }
                if turn >= WARMING:
                    cold[size].append(median["cold"])
                    warm[size].append(median["warm"])
                    if size in COMPARED:
                        theirs[size].append(median["theirs"])
    new = "not seen before"
    return {
        **{f"decide: {size} rules, to Gemini's": _ratio(warm[size], theirs[size]) for size in COMPARED},
        **{f"decide: {size} rules, to Gemini's, {new}": _ratio(cold[size], theirs[size]) for size in COMPARED},
        **{f"decide: {size} rules to 10 rules": _ratio(cold[size], cold[10]) for size in SIZES[2:]},
        **{f"decide: microseconds, {size} rules": statistics.median(warm[size]) for size in SIZES},
        **{f"decide: microseconds, {size} rules, {new}": statistics.median(cold[size]) for size in SIZES},
        **{f"decide: microseconds, {size} rules, Gemini's": statistics.median(theirs[size]) for size in COMPARED},
    }


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


@contextlib.contextmanager
def _gemini() -> Iterator[Callable[[int], list[float]]]:
    """A round of Gemini's engine at each call: microseconds of each decision."""
    _installed()
    sets = {
        str(size): [{"prefix": words, "decision": _THEIR_WORDS[listed]} for listed, words in _rules(size)]
        for size in COMPARED
    }
    with subprocess.Popen(
        ["node", GEMINI / "bench.mjs"], cwd=GEMINI, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        asked, said = node.stdin, node.stdout

        def ask(line: object) -> None:
            asked.write(json.dumps(line) + "\n")
            asked.flush()

        def their_round(size: int) -> list[float]:
            ask({"round": str(size)})
            return json.loads(said.readline())

        ask({"commands": COMMANDS, "sets": sets})
        yield their_round
        asked.close()


_THEIR_WORDS = {"allow": "allow", "ask": "ask_user", "deny": "deny"}


def _installed() -> None:
    """Gemini's engine is large, so it is set up only for this bench."""
    subprocess.run([sys.executable, ROOT / "scripts/setup.py", "gemini"], check=True, timeout=600)


# --- ours ------------------------------------------------------------------------------------------------------------


def _forgetful_round(policy: Policy) -> list[float]:
    """A round that meets every text as if for the first time."""
    _forget()
    return _round(policy)


def _forget() -> None:
    """Drop whatever deciding has kept: whole decisions, readings of texts, down to single words. What the parser found
    of this Python (``engine_fault``) rests on no text, so it stays; it is measured by itself."""
    decision_cache.clear()
    parse_command.cache_clear()
    for name, module in list(sys.modules.items()):
        if name.startswith(("countersign.gate.shell.", "countersign.gate.paths.")):
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value is not engine_fault:
                    value.cache_clear()


def _self_check() -> float:
    """Milliseconds of the parser's comparison of its samples, which the first decision of a process waits for."""
    times: list[float] = []
    for _ in range(LONG_RUNS):
        engine_fault.cache_clear()
        start = time.perf_counter()
        engine_fault()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def _round(policy: Policy, commands: Sequence[str] = COMMANDS, checker: SyntaxChecker | None = None) -> list[float]:
    """Microseconds of each decision. Without a checker every text counts as accepted by bash."""
    check = checker or _accepted
    times: list[float] = []
    for call in [_call(command, policy.workspace) for command in commands]:
        start = time.perf_counter()
        decision = engine.decide(call, policy, ("default",), check_syntax=check)
        times.append((time.perf_counter() - start) * 1e6)
        if decision.evidence[0].source == "error":
            raise RuntimeError(f"`{call.arguments['command']}` was not judged: {decision.reason}")
    return times


def _accepted(text: str) -> None:
    return None


def _call(command: str, cwd: str) -> ToolCall:
    arguments = {"command": command}
    return ToolCall(
        tool_call_id="bench",
        thread_id="bench",
        turn_id="bench",
        agent="Countersign",
        tool="shell",
        arguments=arguments,
        kind="execute",
        category="execute",
        effects=(RunCommand(command, cwd),),
        preview=ToolPreview(input=dict(arguments)),
        cwd=cwd,
    )


# --- long texts and bash itself --------------------------------------------------------------------------------------


def _long_texts(policy: Policy) -> dict[str, float]:
    """Texts made long in several ways, each by its least disturbed run. What is promised is promised of the slowest,
    beside the slowest that the standard library's ``shlex`` splits."""
    short: dict[str, float] = {}
    long: dict[str, float] = {}
    doubled: dict[str, float] = {}
    split_short: list[float] = []
    split_long: list[float] = []
    for way, grow in (_WAYS | _HOSTILE).items():
        best: dict[int, float] = {}
        split: dict[int, float] = {}
        for _ in range(LONG_RUNS):
            for size in (2_000, 50_000, 100_000) if way in _WAYS else (50_000, 100_000):
                best[size] = min(best.get(size, math.inf), _once(policy, grow(size)))
                split[size] = min(split.get(size, math.inf), _split(grow(size)))
        long[way], doubled[way] = best[100_000], best[100_000] / best[50_000]
        if way in _WAYS:
            short[way] = best[2_000]
            split_short.append(split[2_000])
        split_long.append(split[100_000])
    return {
        "decide: longest of the 2 kB texts, to shlex": max(short.values()) / max(split_short),
        "decide: longest of the 100 kB texts, to shlex": max(long.values()) / max(split_long),
        "decide: milliseconds, longest of the 2 kB texts": max(short.values()),
        "decide: milliseconds, longest of the 100 kB texts": max(long.values()),
        "decide: 100 kB to 50 kB, greatest": max(doubled.values()),
        **{f"decide: milliseconds, 2 kB of {way}": value for way, value in short.items()},
        **{f"decide: milliseconds, 100 kB of {way}": value for way, value in long.items()},
        **{f"decide: 100 kB to 50 kB, {way}": value for way, value in doubled.items()},
    }


def _under_stars(policy: Policy) -> dict[str, float]:
    """The same texts under rules that have to be searched for."""
    measured: dict[str, float] = {}
    split: list[float] = []
    for way, grow in (_WAYS | _HOSTILE).items():
        text = grow(100_000)
        runs = [(_once(policy, text), _split(text)) for _ in range(STARRED_RUNS)]
        measured[way] = min(ours for ours, _ in runs)
        split.append(min(theirs for _, theirs in runs))
    return {
        "decide: longest of the 100 kB texts under 200 rules of 8 stars, to shlex": max(measured.values()) / max(split),
        "decide: milliseconds, longest of the 100 kB texts under 200 rules of 8 stars": max(measured.values()),
        **{f"decide: milliseconds, 100 kB of {way}, 200 rules of 8 stars": value for way, value in measured.items()},
    }


def _once(policy: Policy, text: str) -> float:
    _forget()
    return _round(policy, [text])[0] / 1e3


def _split(text: str) -> float:
    """Milliseconds in which ``shlex`` splits a text into words and operators."""
    start = time.perf_counter()
    for _ in shlex.shlex(text, posix=True, punctuation_chars=True):
        pass
    return (time.perf_counter() - start) * 1e3


def _repeated(piece: str, separator: str, start: str = "", end: str = "") -> Callable[[int], str]:
    """Numbered pieces up to a number of bytes."""

    def grow(size: int) -> str:
        parts, length = [], len(start) + len(end)
        for number in itertools.count():
            part = piece.replace("#", str(number))
            length += len(part) + len(separator)
            if length > size:
                return start + separator.join(parts) + end
            parts.append(part)
        raise AssertionError

    return grow


_WAYS = {
    "lines": _repeated("echo 'line # of the notes'", "\n"),
    "arguments": _repeated("src/module#.py", " ", start="git add "),
    "heredoc": _repeated('row # of the data, 1.5, "quoted"', "\n", "cat > notes.txt <<'END'\n", "\nEND\n"),
    "pipeline": _repeated("grep -v word#", " | ", start="cat notes.txt | "),
    "list with redirections": _repeated("npm run task-# && pytest -q tests/test_#.py > out.txt", "; "),
    "quoted prose": _repeated("some prose, line # of it", " ", start='git commit -m "', end='"'),
}


def _with_bash(policy: Policy) -> dict[str, float]:
    cold, cached = [], []
    for _ in range(CHECKED_ROUNDS):
        bash = BashSyntax()
        _forget()
        cold += _round(policy, checker=bash)
        cached.append(statistics.median(_round(policy, checker=bash)))
    return {
        "decide: microseconds, 100 rules, with `bash -n`, mean": statistics.mean(cold),
        "decide: microseconds, 100 rules, with `bash -n`, median": statistics.median(cold),
        "decide: microseconds, 100 rules, with `bash -n`, seen before": statistics.median(cached),
    }


# --- rules -----------------------------------------------------------------------------------------------------------


def _policy(workspace: Path, size: int) -> Policy:
    rules = tuple(RuleText(listed, f"Bash({words}:*)") for listed, words in _rules(size))
    return Policy(workspace=str(workspace), home=str(workspace.parent), trusted=True, rules=rules)


def _starred_policy(workspace: Path) -> Policy:
    """200 rules of 200 characters and eight stars, none of which matches: half of them begin with pieces that stand in
    most texts, half with a program."""
    heads = ("*e*o*t*s*a*r*", "*o*e*r*t*n*s*", "npm run *a*s*e*o*t*", "grep *w*o*r*d*e*")
    rules: list[RuleText] = []
    for number in range(200):
        head = heads[number % len(heads)]
        end = f"{number}*" if head[0] == "*" else f"{number}*q*"
        rules.append(RuleText(_LISTS[number % len(_LISTS)], f"Bash({head}{'x' * (200 - len(head) - len(end))}{end})"))
    assert all(rule.text.count("*") == 8 and len(rule.text) == 206 for rule in rules)
    return Policy(workspace=str(workspace), home=str(workspace.parent), trusted=True, rules=tuple(rules))


def _rules(size: int) -> list[tuple[Listed, str]]:
    """The first so many rules: what people write, then what years of "always" leave behind."""
    return list(itertools.islice(itertools.chain(_WRITTEN, _gathered()), size))


_LISTS: Sequence[Listed] = ("allow", "ask", "deny")
_TENTHS: Mapping[int, Listed] = {8: "ask", 9: "deny"}

_WRITTEN: Sequence[tuple[Listed, str]] = [
    *(("allow", words) for words in ("git status", "git diff", "git log", "npm test", "npm run", "ls", "pytest")),
    ("allow", "docker compose"),
    ("ask", "git push"),
    ("deny", "sudo"),
    *(
        ("allow", words)
        for words in (
            "git add", "git commit", "git show", "git branch", "git fetch", "git switch", "git stash", "git blame",
            "git grep", "git ls-files", "git rev-parse", "cargo build", "cargo test", "cargo clippy", "cargo fmt",
            "cargo check", "go build", "go test", "go vet", "go mod tidy", "make", "cmake", "npm ci", "npm install",
            "npm ls", "npm outdated", "npx tsc", "npx eslint", "npx prettier --check", "npx vitest", "pnpm install",
            "pnpm test", "yarn install", "python -m pytest", "python manage.py test", "pip list", "pip show", "uv sync",
            "uv run pytest", "poetry install", "ruff", "mypy", "black --check", "cat", "head", "tail", "wc", "grep",
            "rg", "sort", "uniq", "cut", "jq", "tree", "du", "df", "stat", "file", "which", "echo", "pwd", "diff",
            "docker ps", "docker images", "docker logs", "kubectl get", "kubectl logs", "kubectl describe",
            "terraform plan", "terraform fmt", "gh pr view", "gh pr list", "gh run list", "mkdir", "touch",
            "./gradlew test", "mvn test", "bundle exec rspec", "dotnet test",
        )
    ),
    *(("ask", words) for words in ("git reset", "git rebase", "rm", "npm publish", "docker run", "terraform apply")),
    *(("deny", words) for words in ("git push --force", "kubectl delete", "npm unpublish", "shutdown", "mkfs", "dd")),
]  # fmt: skip


def _gathered() -> Iterator[tuple[Listed, str]]:
    shapes = (
        "npm run task-#", "pytest tests/area_#", "git checkout feature/item-#", "make target-#", "./scripts/step_#.sh",
        "docker compose logs service-#", "cargo test module_#", "go test ./internal/part#", "python tools/job_#.py",
        "kubectl logs deploy/app-#", "npx tsc -p packages/lib-#", "git show release-#", "curl -s http://localhost:80#/health",
        "node build/page-#.js", "yarn workspace @acme/part-#", "cat logs/day-#.log", "rg part_#", "sed -n #p",
    )  # fmt: skip
    for number in itertools.count():
        yield _TENTHS.get(number % 10, "allow"), shapes[number % len(shapes)].replace("#", str(number))


def _workspace(folder: Path) -> Path:
    """A small project, so that paths are looked up as they are in earnest."""
    workspace = folder / "project"
    for name in (".git", "src/components", "src/api", "src/server", "tests", "docs", "config", "dist", "client"):
        (workspace / name).mkdir(parents=True)
    for name in ("package.json", "README.md", "src/index.ts", "src/main.py", "tests/test_parser.py", "config/dev.json"):
        (workspace / name).write_text("text\n")
    return workspace


_HOSTILE = {
    "patterns as commands": _repeated("?#", ";"),
    "backquotes": _repeated("`a#`", ""),
    "expansions in a word": _repeated("$a#=", ""),
    "brackets in a word": _repeated("[#", ""),
    "escapes in a word": _repeated("#\\", "", end="a"),
    "points": _repeated(".", " "),
    "a value that commands share": _repeated("cp $v a#", "; ", start=f"v={'a/' * 100}{'a/' * 20_000}; "),
    "folders in a path": _repeated("a", "/", start="git -C "),
    "paths of many folders": _repeated(f"{'a/' * 39}#", " ", start="cat "),
}
"""Long texts that nobody writes, each with much of what takes a gate longest."""
