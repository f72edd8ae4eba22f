"""The index of rules that name a program finds every rule that looking at all of them would."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import WILD
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.rules.named_programs import NamedRules
from countersign.gate.shell.rules.same_commands import said_otherwise
from countersign.settings.policy import RuleText

from .test_same_commands import AKIN, OTHERS, SAME

ROWS = [row.split(" | ") for rows in (SAME, AKIN, OTHERS) for row in rows.strip().splitlines()]
HEADS = (
    "git", "git-push", "npm", "npx", "docker", "docker-compose", "podman", "rm", "grm", "/bin/rm", "unlink", "grep",
    "egrep", "python", "python3.11", "curl", "make", "kubectl", "gh", "aws", "hg", "evil", "git.exe",
)  # fmt: skip
TAILS = (
    "push", "--force", "-f", "origin", "main", "+main", ":x", "run", "run-script", "i", "install", "publish", "publ",
    "-C", "-c", "--foo", "--", "-x", "-X", "POST", "-d", "a=b", "A=b", "compose", "down", "ps", "container", "rm",
    "s3", "-rf", "-fr", "-r", "--recursive", "x", "y.py", "-", "--help", "help", "pr", "new", "create", "", "a b",
)  # fmt: skip

words = st.builds(
    lambda head, tail: (head, *tail), st.sampled_from(HEADS), st.lists(st.sampled_from(TAILS), max_size=6)
)
written = st.one_of(
    words.map(lambda each: f"Bash({' '.join(word for word in each if word)})"),
    words.map(lambda each: f"Bash({' '.join(word for word in each if word)}:*)"),
    words.map(lambda each: f"Bash({' '.join(word for word in each if word)} *a*)"),
    st.sampled_from([rule for rule, _ in ROWS]),
)
commands = st.one_of(
    words,
    words.map(lambda each: (*each, WILD, "*a*".replace("*", WILD))),
    st.sampled_from([tuple(command.split()) for _, command in ROWS]),
)


def said(command: tuple[str, ...], rules: RuleSet) -> object:
    return said_otherwise(iter([command]), rules, "agent")


def said_by_all(command: tuple[str, ...], rules: RuleSet) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NamedRules, "candidates", lambda self, *_: self.all)
        return said(command, rules)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["deny", "ask"]), written), max_size=12), st.lists(commands, max_size=12))
@example([("deny", "Bash(git help:*)")], [("git", "--help"), ("git", "-h")])
@example([("deny", "Bash(rm -rf:*)")], [("grm", "-fr", "x"), ("unlink", "x")])
def test_the_index_finds_what_looking_at_all_rules_finds(rules, commands):
    compiled = RuleSet(RuleText(listed, text) for listed, text in rules)
    for command in commands:
        assert said(command, compiled) == said_by_all(command, compiled), command


def test_the_index_finds_what_looking_at_all_rules_finds_for_each_row():
    for listed in ("deny", "ask"):
        compiled = RuleSet(RuleText(listed, rule) for rule, _ in ROWS)
        for _, command in ROWS:
            assert said(tuple(command.split()), compiled) == said_by_all(tuple(command.split()), compiled), command


def test_only_few_of_many_rules_are_compared():
    compiled = RuleSet(RuleText("deny", f"Bash(npm run task-{number}:*)") for number in range(500))
    compared: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        candidates = NamedRules.candidates

        def counted(self: NamedRules, *arguments: object):
            found = list(candidates(self, *arguments))  # type: ignore[arg-type]
            compared.append(len(found))
            return found

        patch.setattr(NamedRules, "candidates", counted)
        said(("npm", "run", "task-7", "--", "x"), compiled)
        said(("npm", "--silent", "run", "other"), compiled)
    assert compared == [1, 0]
