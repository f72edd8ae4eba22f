"""One question to the gate about a command, as ``countersign check`` asks it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from countersign.advice.explain import check_line
from countersign.gate.call import RunCommand
from countersign.gate.finding import FILE_KINDS
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.judge import CommandJudgement, judge_command
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.policy import RuleText

BASH = BashSyntax()
"""One for all tests: it keeps its answers."""

WS, HOME = "/nowhere/ws", "/nowhere/home"

STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file with one JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def decide(
    command: str, allow: Sequence[str] = (), deny: Sequence[str] = (), ask: Sequence[str] = (), **more: Any
) -> str:
    """The decision, with an error for what is no answer."""
    rules = {"allow": list(allow), "deny": list(deny), "ask": list(ask)}
    question = {"tool": "bash", "args": {"command": command}, "rules": rules, **more}
    result = json.loads(check_line(json.dumps(question).encode(), check_syntax=BASH))
    return result.get("decision") or result["error"]


def judge(
    command: str,
    *,
    allow: Sequence[str] = (),
    grants: Sequence[str] = (),
    files: Sequence[str] | None = None,
    deny: Sequence[str] = (),
    workspace: str = WS,
    home: str = HOME,
    cwd: str | None = None,
    builtin_reads: bool = True,
    folder: str | None = None,
) -> CommandJudgement:
    """What the shell's part of the gate finds, before anything is weighed; ``grants`` were given on a card for it, or
    on one that showed ``files``."""
    texts = [RuleText("allow", text) for text in allow] + [RuleText("deny", text) for text in deny]
    if grants and files is None:
        found = judge(command, workspace=workspace, home=home, cwd=cwd, builtin_reads=builtin_reads)
        files = [*[each.resource for each in found.findings if each.kind in FILE_KINDS], *found.scripts]
    texts += [
        RuleText("allow", text, scope="grant", agent="A", files=tuple(files or ()), folder=folder) for text in grants
    ]
    rules = RuleSet(texts)
    paths = PathJudge(workspace, home, (), (), rules, "A")
    effect = RunCommand(command, cwd or workspace)
    return judge_command(effect, rules, paths, "A", check_syntax=BASH, builtin_reads=builtin_reads)


def make_git_folder(folder: Path) -> None:
    """Make what git takes for a repository."""
    for part in ("objects", "refs"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
