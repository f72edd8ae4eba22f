"""No option that takes a value hides what a program runs.

Each option that a record knows is put in front of each subcommand that runs a command, and between its words.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from countersign.gate.shell.languages.git import READ_HERE
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.subcommand_depth import VALUED
from countersign.gate.shell.programs.tables import SUBCOMMANDS, WRAPPERS
from countersign.gate.shell.syntax.words import constant

from .asked import decide


def _valued(name: str) -> set[str]:
    """The options of a program that take a value, by any of its tables, and one that none knows."""
    program, _ = find_program(name, [constant(name)])
    found = set(VALUED.get(name, ()))
    if name not in READ_HERE:
        found.add("--zzz")  # git refuses one
    for grammar in [row.grammar for row in (program, WRAPPERS.get(name)) if row is not None]:
        dashes = "-" if grammar.single else "--"
        found |= {f"{dashes}{option}" for option in grammar.long} | {f"-{letter}" for letter in grammar.short}
    return found


def _spelled(name: str, subcommand: tuple[str, ...], rest: str) -> Iterator[str]:
    for option in sorted(_valued(name)):
        for at in range(len(subcommand)):
            yield " ".join([name, *subcommand[:at], option, "v", *subcommand[at:], rest])


_NAMES = sorted({name for name, *_ in SUBCOMMANDS})


@pytest.mark.parametrize("rest", ["evilx", "evilx -- evily"])
@pytest.mark.parametrize("name", _NAMES)
def test_an_option_hides_no_command_that_is_run(name: str, rest: str) -> None:
    rules = [f"Bash({name}:*)"]
    subcommands = [tuple(key[1:]) for key in SUBCOMMANDS if key[0] == name]
    asking = [each for each in subcommands if decide(" ".join([name, *each, rest]), rules) != "allow"]
    assert asking == subcommands
    assert [text for each in asking for text in _spelled(name, each, rest) if decide(text, rules) == "allow"] == []


def test_a_long_command_of_many_unknown_options_asks_and_one_of_few_does_not() -> None:
    rule = ["Bash(npm:*)"]
    assert decide("npm test " + " ".join(f"--foo{number} x" for number in range(100)), allow=rule) == "ask"
    assert decide("npm test --foo a --bar b " + "x " * 200, allow=rule) == "allow"
