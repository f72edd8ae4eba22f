"""What holds of every rule that is offered for "always", over the everyday commands of our own list."""

from __future__ import annotations

import shlex
from functools import lru_cache

import pytest

from countersign.advice.explain import explain, policy_of
from countersign.gate.approvals.rule_examples import samples
from countersign.gate.decision import Decision
from countersign.gate.shell.printing.print_tree import quoted, reprint
from countersign.gate.shell.rules import proposals as proposing
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.whole_text import MOST_OFFERED
from tests.corpora import commands

from .asked import BASH, HOME, WS, decide

CLASSES = {"everyday", "everyday-asks", "changing", "looking-asks"}
COMMANDS = sorted({row["command"] for row in commands() if row["class"] in CLASSES})


def decided(command: str, allow: tuple[str, ...] = ()) -> Decision:
    policy, mode = policy_of({"rules": {"allow": list(allow)}, "workspace": WS, "home": HOME})
    return explain({"tool": "bash", "args": {"command": command}}, policy, mode, check_syntax=BASH).with_offers()


@lru_cache(maxsize=1)
def offered() -> dict[str, tuple[str, ...]]:
    """The commands for which something is offered, with what it is."""
    found = {command: decided(command).proposals for command in COMMANDS}
    return {command: proposals for command, proposals in found.items() if proposals}


def narrowest(proposals: tuple[str, ...]) -> tuple[str, ...]:
    """Without each wider rule that begins like a narrower one before it."""
    kept: list[str] = []
    for rule in proposals:
        stem = rule.removesuffix(":*)").removesuffix("**)").removesuffix(")")
        if not rule.endswith(("*)", "**)")) or not any(before.startswith(stem) for before in kept):
            kept.append(rule)
    return tuple(kept)


def test_enough_commands_are_looked_at() -> None:
    assert len(offered()) > 250


def test_the_narrowest_rules_of_each_part_allow_the_call_that_they_came_from() -> None:
    left = {command: narrowest(proposals) for command, proposals in offered().items()}
    assert [command for command, allow in left.items() if decided(command, allow).verdict != "allow"] == []


def test_each_example_is_matched_by_its_rule_and_is_not_the_call() -> None:
    for command, proposals in offered().items():
        for rule in proposals:
            for example in samples(rule, [command]):
                assert example != command
                if rule.startswith("Bash"):
                    found = decided(example, (rule,))
                    assert any(view.evidence.rule == rule for view in found.effects), (rule, example, found.reason)


def test_a_rule_that_goes_on_has_three_examples() -> None:
    wide = {rule for proposals in offered().values() for rule in proposals if rule.endswith(":*)")}
    assert {rule for rule in wide if len(samples(rule, [])) != 3} == set()


@pytest.mark.parametrize(
    "command",
    ["bash x.sh", "sudo ls", "env A=1 ls", "git", "python x.py", "cat <<E\nx\nE", "ls /x\nnpm test", "git -C .. log",
     "ls /x | sh", "vim a.py", "cd /tmp && make", "less x", "ssh host ls", "node -e 1", "xargs rm", "git -C /x status"],
)  # fmt: skip
def test_nothing_is_offered_for_what_runs_anything(command: str) -> None:
    assert decided(command).proposals == ()


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("git add src", ["Bash(git add src)", "Bash(git add:*)"]),
        ("mvn -q test", ["Bash(mvn -q test)", "Bash(mvn -q test:*)"]),
        ("go run ./cmd/app", ["Bash(go run ./cmd/app)", "Bash(go run ./cmd/app:*)"]),
        ("make DEBUG=1 test", ["Bash(make DEBUG=1 test)"]),
        ("git clean -n", ["Bash(git clean -n)"]),
        ("npm publish --dry-run", ["Bash(npm publish --dry-run)"]),
        ("aws s3 sync src s3://b --dryrun", ["Bash(aws s3 sync src s3://b --dryrun)"]),
        ("black --check src", ["Bash(black --check src)"]),
        ("make -j4", ["Bash(make -j4)", "Bash(make:*)"]),
        ("kill 12", ["Bash(kill 12)"]),
        ("FOO=1 ls", ["Bash(FOO=1 ls)", "Bash(FOO=1 ls:*)"]),
        ("LD_PRELOAD=./x ls", ["Bash(LD_PRELOAD=./x ls)"]),
        ("coverage run -m pytest", ["Bash(coverage run -m pytest)"]),
        ("pnpm install --frozen-lockfile", ["Bash(pnpm install --frozen-lockfile)", "Bash(pnpm install:*)"]),
        ("npm test && git status && cargo fmt", ["Bash(npm test)", "Bash(npm test:*)", "Bash(cargo fmt)",
                                                 "Bash(cargo fmt:*)"]),
    ],
)  # fmt: skip
def test_rules_have_the_width_that_a_person_would_choose(command: str, rules: list[str]) -> None:
    assert list(decided(command).proposals) == rules


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'a;./evil'",
        "git commit -m a\\;./evil",
        'git commit -m "it\'s;./evil*"',
        "make 'x$(./evil)'",
        "npm test 'a|./evil'",
        "npm test 'a&./evil'",
        "gh pr create -t '>x'",
        "git tag '#x'",
        "git tag '{a,b}'",
        "make 'X=~/a'",
        "make 'a`./evil`'",
    ],
)
def test_a_rule_for_one_command_holds_no_text_that_bash_reads_as_another(command: str) -> None:
    words = shlex.split(command)
    found = decided(command)
    for rule in (found.exact_rule, *found.proposals):
        assert rule is not None
        printed = reprint(rule.removeprefix("Bash(").removesuffix(")").removesuffix(":*"))
        assert isinstance(printed, str)
        said = shlex.split(printed)
        assert said == words[: len(said)]
        assert printed == " ".join(map(quoted, said))


def test_a_text_that_a_card_offers_to_deny_is_denied() -> None:
    found = decided("make && ./deploy.sh")
    assert found.exact_rule == "Bash(make && ./deploy.sh)"
    assert decide("make && ./deploy.sh", deny=[found.exact_rule], mode="auto") == "deny"


@pytest.mark.parametrize("count", [3, MOST_OFFERED // 2, MOST_OFFERED, 5_000])
def test_a_text_that_needs_more_rules_than_anybody_reads_is_offered_none(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def counted(text: str, case: AnalyzedCommand) -> bool:
        tried.append(text)
        return covers(text, case)

    covers = proposing._covers  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(proposing, "_covers", counted)
    found = decided("; ".join(f"tool-{number} x" for number in range(count)))
    assert found.verdict == "ask"
    assert len(found.proposals) == (2 * count if 2 * count <= MOST_OFFERED else 0)
    assert len(tried) <= MOST_OFFERED + 2


def test_an_exact_rule_has_no_further_examples() -> None:
    assert samples("Bash(git add src)", ["git add src"]) == ()
    assert samples("Edit(./src/**)", []) == (
        "./src/notes.txt",
        "./src/deep/er/x.py",
        "./src/other.md",
    )
    assert len(samples("WebFetch(domain:example.com)", [])) == 3
