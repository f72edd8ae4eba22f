"""A list of files may name any, so that it asks wherever a rule speaks of files, and nowhere else."""

from __future__ import annotations

import pytest

from countersign.gate.shell.files.name_lists import LISTS, MOST_LISTED, listed_in

from .asked import decide

DENY = ["Read(./secrets/**)"]
COMMANDS = [
    command
    for name, lists in LISTS.items()
    for command in (
        *(f"{name} {option} F" for option in lists.named),
        *(f"{name} {option}=F" for option in lists.named if option.startswith("--")),
        *(f"{name} {option} < F" for option in lists.fed),
        *(f"{name} -{letter}F" for letter in lists.letters),
        *([f"{name} x @F"] if lists.at else []),
        *([f"{name} < F"] if lists.always else []),
    )
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_list_that_is_not_read_asks_under_a_rule_for_files(command: str) -> None:
    assert decide(command, mode="auto", deny=DENY) == "ask"
    assert decide(command, bypass=True, deny=DENY) == "ask"
    assert decide(command, bypass=True, ask=DENY) == "ask"
    assert decide(command, bypass=True) == "allow"


def test_the_names_of_a_list_are_all_known_only_where_each_is_plain() -> None:
    assert listed_in(["a\nb c\n", "a\0d/e.x"]) == (["a", "b c", "d/e.x"], True)
    for text in ("-C x", "~/a", "a*", "'a'", "a\\b", " a", "a ", "é", "\n".join(map(str, range(MOST_LISTED + 1)))):
        assert listed_in([text])[1] is False
