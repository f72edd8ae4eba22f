"""What lint, suggestions and setting effects say of a rule, held against what the gate does with it.

Rules are made of the words of everyday commands, of patterns and of wildcards. Advice may be silent, but a rule that is
said never to count must not count, and one that lets a program of any name run must not pass without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.advice.explain import check_line
from countersign.advice.lint import lint_rules
from countersign.advice.setting_effect import allows
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.layers import Place
from countersign.settings.modes import CELLS
from countersign.settings.policy import RuleText
from countersign.settings.workspace_restrictions import Claim
from countersign.wire.base import Json

BASH = BashSyntax()

FIRST = (
    "npm",
    "git",
    "make",
    "ls",
    "python",
    "sudo",
    "env",
    "xargs",
    "npx",
    "zzz9",
    "zz*",
    "n*",
    "*",
    "bash",
    "uv",
    "docker",
)
MORE = (
    "run",
    "run *",
    "test",
    "*",
    "-c",
    "status",
    "x y",
    "a*b",
    "--all",
    "zzz9",
    "run zzz9",
    "compose *",
    "-n 1",
    ":*",
    "",
)
COMMAND_RULES = [f"Bash({' '.join(filter(None, words))})" for words in product(FIRST, MORE)] + [
    f"Bash({' '.join(words)}:*)" for words in product(FIRST, ("run", "test", "status", "-c", "zzz9"))
]
COMMANDS = [
    *(f"{name} {more}".strip() for name in "npm git make ls python zzz9 zzq bash".split() for more in (
        "", "run", "test", "run test", "status", "a b", "x y", "aqb", "--all x",
    )),
    "sudo zzz9", "env zzz9 a", "npx zzz9", "uv run zzz9", "docker compose up", "docker compose exec a zzz9",
    "xargs -n 1 zzz9 < README.md", "bash -c zzz9", "python -c 'import x'", "nice npm run test", "git status && make",
]  # fmt: skip

SEGMENTS = ("src", "a", "*", "**", "?", "[ab]", "*.py", "a?", "z*", "???", "x.py", "zzz.py")
PATHS = [
    "/".join(parts)
    for count in (1, 2, 3)
    for parts in product(("src", "a", "b", "x.py", "zzz", "ab"), repeat=count)
]  # fmt: skip


def decide(question: dict[str, object], rules: dict[str, list[str]]) -> str:
    asked = {
        **question,
        "rules": {"allow": [], "ask": [], "deny": []} | rules,
        "workspace": "/nowhere/ws",
        "home": "/nowhere/home",
    }
    answer = json.loads(check_line(json.dumps(asked).encode(), check_syntax=BASH))
    return answer.get("decision") or answer["error"]


def of_command(command: str, **rules: list[str]) -> str:
    return decide({"tool": "bash", "args": {"command": command}, "builtinReads": False}, rules)


def of_edit(path: str, **rules: list[str]) -> str:
    return decide({"tool": "edit", "args": {"path": path}}, rules)


def complaints(rule: str, **stricter: list[str]) -> list[str]:
    """What lint says of an allow rule among stricter ones."""
    sources = [RuleText(listed, text) for listed, texts in stricter.items() for text in texts]  # pyright: ignore[reportArgumentType]
    sources.append(RuleText("allow", rule, file="policy", line=1))
    return [problem.message for problem in lint_rules(sources) if problem.file == "policy"]


def said_dead(messages: Sequence[str]) -> bool:
    return any(re.search(r"\bnever (?:match|counts|allow)", message) for message in messages)


@settings(max_examples=150, deadline=None)
@given(rule=st.sampled_from(COMMAND_RULES), command=st.sampled_from(COMMANDS))
@example(rule="Bash(python a*b)", command="python a b")
def test_a_command_rule_that_is_said_to_be_dead_allows_nothing(rule: str, command: str) -> None:
    if said_dead(complaints(rule)):
        assert of_command(command, allow=[rule]) != "allow"


STRICTER = st.sampled_from([*COMMAND_RULES, "Bash(npm *z)", "Bash(npm run zzz*)", "Bash(git ??*)"])


@settings(max_examples=200, deadline=None)
@given(rule=st.sampled_from(COMMAND_RULES), stricter=STRICTER, command=st.sampled_from(COMMANDS))
def test_a_command_rule_that_is_said_to_be_covered_allows_nothing(rule: str, stricter: str, command: str) -> None:
    for listed in ("deny", "ask"):
        if said_dead(complaints(rule, **{listed: [stricter]})):
            assert of_command(command, allow=[rule], **{listed: [stricter]}) != "allow"


PATH_PATTERNS = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=3).map("/".join)


@settings(max_examples=200, deadline=None)
@given(allowed=PATH_PATTERNS, stricter=PATH_PATTERNS, anchored=st.booleans())
@example(allowed="src/[ab]", stricter="src/z*", anchored=True)
@example(allowed="src/?", stricter="src/???", anchored=True)
@example(allowed="**/x.py", stricter="*/x.py", anchored=True)
@example(allowed="**", stricter="*", anchored=True)
def test_a_path_rule_that_is_said_to_be_covered_allows_nothing(allowed: str, stricter: str, *, anchored: bool) -> None:
    rule, other = f"Edit({'/' if anchored else ''}{allowed})", f"Edit(/{stricter})"
    for listed in ("deny", "ask"):
        if said_dead(complaints(rule, **{listed: [other]})):
            let_through = [path for path in PATHS if of_edit(path, allow=[rule], **{listed: [other]}) == "allow"]
            assert let_through == [], (rule, listed, other)


ANY_PROGRAM = (
    "zzq a",
    "qqz --x",
    "bash -c zzq",
    "sudo zzq",
    "env zzq",
    "npx zzq",
    "python -c 'import os'",
    "sh -c 'qqz'",
)
"""Commands that no rule of everyday words names."""


@pytest.mark.parametrize("rule", COMMAND_RULES)
def test_a_rule_that_lets_any_program_run_is_told(rule: str) -> None:
    named = rule.removeprefix("Bash(").split()[0].rstrip(")")
    ran = [command for command in ANY_PROGRAM if of_command(command, allow=[rule]) == "allow"]
    if ran:
        assert complaints(rule), (named, ran)


# --- what a setting would allow --------------------------------------------------------------------------------------


def claim(path: tuple[str, ...], value: Json) -> Claim:
    return Claim(path, value, Place("f", 1, 1), "digest", "meaning")


@pytest.mark.parametrize("rule", COMMAND_RULES)
def test_the_sentence_of_a_command_rule_covers_what_the_rule_allows(rule: str) -> None:
    said = allows(claim(("permissions", "allow"), rule)) or ""
    # A constant text for bash is looked through, as `nice` and `xargs` are.
    tried = [command for command in COMMANDS[::2] if not command.startswith("xargs")]
    ran = [command.removeprefix("bash -c ") for command in tried if of_command(command, allow=[rule]) == "allow"]
    assert not (ran and said.startswith("Nothing")), (said, ran)
    exact = re.match(r"The command `(.*?)` would", said)
    if exact:
        assert set(ran) <= {exact[1], f"nice {exact[1]}"}, (said, ran)
    begins = re.match(r"Every `(.*?) …` command", said)
    if begins:
        assert all(command.removeprefix("nice ").startswith(begins[1]) for command in ran), (said, ran)


@pytest.mark.parametrize("mode", sorted(CELLS))
def test_the_sentence_of_a_mode_names_each_category_that_it_allows(mode: str) -> None:
    said = allows(claim(("mode",), mode)) or ""
    nouns = {"read": "reads", "write": "file changes", "execute": "commands", "external": "other services"}
    allowed = {category for category, word in CELLS[mode].items() if word == "allow"}  # pyright: ignore[reportArgumentType]
    assert {category for category, noun in nouns.items() if noun in said} == allowed, said
    assert ("allows nothing" in said) == (not allowed), said
