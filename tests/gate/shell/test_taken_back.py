"""A rule that names an option covers no words that take it back, whatever the program."""

from __future__ import annotations

import pytest

from countersign.gate.shell.programs.tables import TABLES

from .asked import decide

PROGRAMS = sorted({key[0] for key in TABLES} | {"unknown-program"})


def allowed_by_rule(front: str, behind: str) -> list[str]:
    """The texts that a rule for what stands in front allows, for each program."""
    texts = {f"{name} {front}": f"{name} {front} {behind}" for name in PROGRAMS}
    return [
        text
        for rule, text in texts.items()
        if decide(text, allow=[f"Bash({rule}:*)"]) == "allow" and decide(text) != "allow"
    ]


@pytest.mark.parametrize(
    "behind",
    ["--no-dry-run", "a --no-dry", "--dry-run=false", "--dry=no", "--dry-run false", "false", "a --dry-run=none b"],
)
def test_no_program_is_allowed_to_do_what_it_was_to_try(behind: str) -> None:
    assert allowed_by_rule("--dry-run", behind) == []


@pytest.mark.parametrize("behind", ["--profile prod", "a --profile=prod", "--prof prod", "--profile=devel"])
def test_no_program_is_allowed_another_value(behind: str) -> None:
    assert allowed_by_rule("--profile dev", behind) == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("kubectl -n dev get:*", "kubectl -n dev get pods -n dev"),
        ("npm publish --dry-run:*", "npm publish --dry-run --dry-run=true"),
        ("mytool --dry-run:*", "mytool --dry-run --drive x"),
        ("mytool --no-color:*", "mytool --no-color --no-cache a"),
        ("ruff check --select E:*", "ruff check --select E src --quiet"),
    ],
)
def test_what_takes_nothing_back_is_covered(rule: str, text: str) -> None:
    assert decide(text, allow=[f"Bash({rule})"]) == "allow"
