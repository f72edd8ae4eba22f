"""The examples in the records of programs hold: what each program allows, asks about and denies."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from countersign.gate.shell.programs.other_names import OTHER_NAMES
from countersign.gate.shell.programs.tables import FACETS, TABLES
from tests.corpora import context

from .asked import decide, judge
from .examples import examples

EXAMPLES = examples()
MOST_USED = (
    "ls cat head tail wc sort grep rg find sed awk echo cp mv rm mkdir touch chmod tar curl git npm node python pip "
    "cargo go make docker pytest kubectl gh"
).split()
ODD = ("", ' -o x a b "$x"', ' "$x" -"$y" -- a=b', " cf -- x -n -c y", " --help-x=y @z {} * -f", " - -- -ab=c -1")
"""Words that a reader of arguments may stumble over."""


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: row["name"])
def test_an_example_of_a_record_holds(row: dict[str, Any]) -> None:
    assert decide(row["command"], **row["rules"], **context(row)) == row["expect"]


def test_no_example_stands_twice() -> None:
    found = Counter((row["command"], str(row["rules"]), str(context(row))) for row in EXAMPLES)
    assert [command for (command, *_), number in found.items() if number > 1] == []


@pytest.mark.parametrize("program", MOST_USED)
def test_the_most_used_programs_have_examples_of_each_verdict(program: str) -> None:
    own = [row for row in EXAMPLES if row["program"] == program]
    assert {row["expect"] for row in own} == {"allow", "ask", "deny"}


@pytest.mark.parametrize("words", ODD)
def test_no_record_breaks_the_judge(words: str) -> None:
    names = {key[0] for table in (TABLES, FACETS["readers"]) for key in table} | set(OTHER_NAMES)
    for name in sorted(names):
        judge(f"{name}{words}", deny=["Read(held/**)"])
