"""What is spared for commands that nothing is found in, held against looking at everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.call import RunCommand
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell import judge
from countersign.gate.shell.effects import escapes, unwrap
from countersign.gate.shell.flow import parse_cache
from countersign.gate.shell.rules import analyzed_command
from countersign.gate.shell.syntax.parser import _Reader as Reader  # pyright: ignore[reportPrivateUsage]
from countersign.settings.policy import RuleText

from .asked import HOME, WS, rows

HERE = Path(__file__).parent
ROWS = [
    (row["command"], row["rules"])
    for row in (*rows(HERE / "evasions.jsonl"), *rows(HERE.parents[1] / "corpora" / "own_commands.jsonl")[::5])
    if "command" in row and "rules" in row
]
RULES = {
    "allow": ["Bash(git:*)", "Bash(npm run:*)", "Bash(cat *)", "Bash(a/b:*)", "Bash(* --version)", "Read(../x/**)"],
    "ask": ["Bash(docker run:*)", "Bash(*push)", "Edit(out/*)"],
    "deny": ["Bash(rm:*)", "Bash(npm publish:*)", "Bash(tool 'a*')", "Read(*.pem)", "Read(private)"],
}
WORDS = st.sampled_from([
    "git", "npm", "run", "publish", "push", "cat", "rm", "grep", "docker", "tool", "'a b'", "a/b", "./x", "cd", "test",
    "true", "read", "exec", "-x", "-v", "--version", "-C", "../x", "secrets/k.pem", "private", "out/y", "src/a.py",
    "x=1", "-i",
    "config", "-c", "sed", "tree", "sort", "-o", "f", "env", "xargs", "nice", "pytest", "-q", "PS4=a", "printf",
    "python", "> out/y", "< src/a.py", ">> ../x", "2>&1", "> /dev/null", "> $x", "~", "~/a", "find", "-delete",
    "alias", "let", "é",
])  # fmt: skip
TEXTS = st.lists(
    st.tuples(
        st.lists(WORDS, min_size=1, max_size=5).map(" ".join), st.sampled_from(["; ", " && ", " | ", "\n", " & "])
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(text + end for text, end in parts[:-1]) + parts[-1][0])


class Everything:
    def __contains__(self, name: object) -> bool:
        return True


def looking_at_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(analyzed_command, "NEVER_ORDINARY", Everything())
    for module in (analyzed_command, unwrap):
        patch.setattr(module, "could_run", lambda name, words: unwrap.may_run(name))
    patch.setattr(escapes, "_with_row_only", lambda name: None)
    patch.setattr(Reader, "constants", lambda *_: None)


def judged(command: str, rules: dict[str, list[str]]) -> Any:
    parse_cache._kept.cache_clear()  # pyright: ignore[reportPrivateUsage]
    texts = [RuleText(listed, text) for listed, each in rules.items() for text in each]  # pyright: ignore[reportArgumentType]
    rule_set = RuleSet(texts)
    paths = PathJudge(WS, HOME, (), (), rule_set, "A")
    effect = RunCommand(command, WS)
    found = judge.judge_command(effect, rule_set, paths, "A", check_syntax=lambda _: None, builtin_reads=True)
    return found.findings, found.parts, set(found.risks), set(found.scripts), found.sayings()


@pytest.mark.parametrize("part", range(8))
def test_the_rows_of_the_corpora_are_judged_alike(part: int) -> None:
    chosen = ROWS[part::8]
    quick = [judged(*row) for row in chosen]
    with pytest.MonkeyPatch.context() as patch:
        looking_at_all(patch)
        slow = [judged(*row) for row in chosen]
    assert [json.dumps(row[0]) for row, a, b in zip(chosen, quick, slow, strict=True) if a != b] == []


@settings(max_examples=1000, deadline=None)
@given(TEXTS)
def test_texts_are_judged_alike(text: str) -> None:
    quick = judged(text, RULES)
    with pytest.MonkeyPatch.context() as patch:
        looking_at_all(patch)
        assert judged(text, RULES) == quick
