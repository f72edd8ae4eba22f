"""Without a rule, programs with many options take the everyday ones alone (docs/gate.md "Commands that only read")."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from countersign.gate.shell.programs.argv import is_listed
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import GIT, TABLES

from .asked import HOME, WS, decide

LIMITED = {
    **{" ".join(key): program for key, program in TABLES.items() if program.without_rule},
    **{f"git {name}": program for name, program in GIT.items() if program.without_rule},
}


def test_each_program_that_needs_no_rule_says_with_which_options() -> None:
    """What only has `--help` and `--version` need not."""
    known = {" ".join(key): program for key, program in TABLES.items() if program.known and key != ("git",)}
    known |= {f"git {name}": program for name, program in GIT.items() if program.known}
    missing = [
        name
        for name, program in known.items()
        if not program.without_rule and (program.grammar.flags - {"V"} or program.grammar.names - {"help", "version"})
    ]
    assert missing == []


def _options(program: Program) -> Iterator[str]:
    """All that the record knows, spelled out."""
    grammar = program.grammar
    dashes = "-" if grammar.single else "--"
    yield from (f"-{letter}" for letter in grammar.flags | grammar.short | grammar.maybe)
    yield from (f"{dashes}{name}" for name in grammar.names | grammar.long)


@pytest.mark.parametrize("name", LIMITED)
def test_an_option_that_is_not_listed_asks(name: str) -> None:
    program = LIMITED[name]
    listed = {option for option in program.without_rule if option != "-NUM"}
    others = [option for option in _options(program) if option not in listed and not option[1:].isdecimal()]
    forms = [f"{name} {{}}", f"{name} {{}} a b", f"{name} {{}}=a b"]
    forms += [] if program.grammar.ordered else [f"{name} a {{}}"]
    allowed = [
        text
        for option in others
        for text in (form.format(option) for form in forms)
        if not (option in {"--version", "-version", "--help"} and text.endswith(option)) and decide(text) == "allow"
    ]
    assert allowed == []


@pytest.mark.parametrize("name", LIMITED)
def test_what_is_listed_is_an_option_of_the_program(name: str) -> None:
    program, grammar = LIMITED[name], LIMITED[name].grammar
    letters = grammar.flags | grammar.short | grammar.maybe
    unknown = [
        option
        for option in program.without_rule - {"-NUM"}
        if grammar.whole and not (option[1:] in letters or option in grammar.words or is_listed(option, grammar))
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git log --oneline -5", "allow"), ("git log --onel -5", "ask"), ("git log --format=%s", "allow"),
        ("git log --forma=%s", "ask"), ("git log -12 --stat", "allow"), ("git log -1s", "ask"),
        ("grep -5 x README.md", "allow"), ("grep -5n x README.md", "ask"), ("grep -n5 x README.md", "ask"),
        ("grep -A5 x README.md", "allow"), ("grep --colo x README.md", "ask"), ("ls -la src", "allow"),
        ("ls --dired src", "ask"), ("sort -rnk2 a.txt", "allow"), ("diff -U3 a.txt b.txt", "allow"),
        ("rg --version", "allow"), ("ls --help", "allow"), ("ls --help src", "ask"), ("ls -a --help", "ask"),
        ("diff -3u a.txt b.txt", "ask"), ("rg -0 x src", "allow"), ("rg -0l x src", "ask"),
    ],
)  # fmt: skip
def test_an_option_is_spelled_out_and_digits_stand_alone(command: str, expected: str) -> None:
    where = {"workspace": WS, "home": HOME}
    assert decide(command, **where) == expected
    assert decide(command, allow=["Bash(git log:*)", "Bash(*)"], **where) == "allow"
