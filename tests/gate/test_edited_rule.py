"""A rule that a person edited on a card: what is wider than those offered has to be confirmed."""

from __future__ import annotations

import pytest

from countersign.gate.approvals.edited_rule import is_wider, parses, rule_digest
from countersign.wire.approvals import ApprovalOption

OFFERED = [
    ApprovalOption(option_id="allow_once", name="Approve", kind="allow_once", scope="call"),
    ApprovalOption(option_id="a1", name="a", kind="allow_always", scope="user", rule="Bash(make all)"),
    ApprovalOption(option_id="a2", name="a", kind="allow_always", scope="user", rule="Bash(make:*)"),
    ApprovalOption(option_id="a4", name="a", kind="allow_always", scope="user", rule="Bash(tar:*)"),
    ApprovalOption(option_id="a3", name="a", kind="allow_always", scope="user", rule="Edit(./src/a.py)"),
    ApprovalOption(option_id="no", name="d", kind="reject_always", scope="user", rule="Bash(rm:*)"),
]


@pytest.mark.parametrize(
    "rule", ["Bash(make all)", "Bash(make:*)", "Bash(make all -j 4)", "Bash(make test:*)", "Bash(tar cf a b)"]
)
def test_what_was_offered_or_adds_words_to_it_is_not_wider(rule: str) -> None:
    assert not is_wider(rule, OFFERED)


@pytest.mark.parametrize(
    "rule",
    [
        "Bash", "Bash(*)", "Bash(m*)", "Bash(make*)", "Bash(make * x)", "Bash(makefile)", "Bash(make all; rm -rf x)",
        "Bash(make all > x)", "Bash(make $(x))", "Bash(make `x`)", "Bash(make 'a')", "Bash(make a\nb)", "Bash(rm:*)",
        "Bash(make all || x:*)",
        "Bash(make SHELL=./x:*)", "Bash(tar cf a b --to-command=./x:*)",
        "Bash(tar cf a b --index-file=x)",
        "Edit(./src/**)", "Edit(./src/b.py)", "Edit", "Read(./src/a.py)", "*", "", "no rule (",
    ],
)  # fmt: skip
def test_everything_else_is_wider(rule: str) -> None:
    assert is_wider(rule, OFFERED)


def test_a_confirmation_is_of_one_rule_on_one_card() -> None:
    digests = {rule_digest(card, rule) for card in ("a", "b") for rule in ("Bash(x)", "Bash(y)")}
    assert len(digests) == 4


@pytest.mark.parametrize(("rule", "expected"), [("Bash(make:*)", True), ("Bash", True), ("Bash(", False), ("", False)])
def test_a_rule_parses_or_not(rule: str, expected: bool) -> None:
    assert parses(rule) is expected
