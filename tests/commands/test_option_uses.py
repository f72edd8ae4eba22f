"""No option of the command line is ignored in silence: each pair either counts together or is refused by name."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.cli import COMMANDS
from countersign.commands import history, rules
from countersign.commands.option_uses import LISTING

ACTIONS = history.USES.actions
VALUES = {"--anchor": f"1:{'0' * 64}", "--verdict": "deny", "--by": "user", "--phase": "decided", "--since": "7d"}


def options() -> Iterator[str]:
    parser = argparse.ArgumentParser(add_help=False)
    history.add_arguments(parser)
    for action in parser._actions:
        yield action.option_strings[0]


def words_of(option: str) -> list[str]:
    parser = argparse.ArgumentParser(add_help=False)
    history.add_arguments(parser)
    takes_none = parser._option_string_actions[option].nargs == 0
    return [option] if takes_none else [option, VALUES.get(option, "2026-11-20" if option == "--until" else "x")]


def told(*words: str) -> tuple[int, str]:
    parser = argparse.ArgumentParser(exit_on_error=False)
    history.add_arguments(parser)
    problems = io.StringIO()
    return history.run(parser.parse_args(list(words)), io.StringIO(), problems), problems.getvalue()


def test_each_option_has_its_use_in_the_table() -> None:
    assert {*options()} == {*ACTIONS, *history.USES.only_with}
    assert all({*with_actions} <= {*ACTIONS, LISTING} for with_actions in history.USES.only_with.values())


@pytest.mark.parametrize("option", history.USES.only_with)
@pytest.mark.parametrize("action", [LISTING, *ACTIONS])
def test_an_option_that_would_be_ignored_is_refused(option: str, action: str) -> None:
    status, problem = told(*words_of(option), *(words_of(action) if action else []))
    if action in history.USES.only_with[option]:
        assert "does nothing" not in problem
        return
    assert status == 2
    assert problem.startswith(f"`{option}` does nothing with")
    assert f"`{action}`" in problem if action else "; add it" in problem
    allowed = [f"`{each}`" for each in history.USES.only_with[option] if each]
    assert not allowed or any(each in problem for each in allowed)


@pytest.mark.parametrize("one", ACTIONS)
@pytest.mark.parametrize("other", ACTIONS)
def test_one_thing_is_done_at_a_time(one: str, other: str) -> None:
    if one == other:
        return
    status, problem = told(*words_of(one), *words_of(other))
    assert (status, "cannot be combined; give one at a time" in problem) == (2, True)
    assert f"`{one}`" in problem
    assert f"`{other}`" in problem


def test_a_storage_folder_is_read_by_the_list_of_rules_only(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    for action in ("lint", "test", "import"):
        parser = argparse.ArgumentParser(exit_on_error=False)
        rules.add_arguments(parser)
        problems = io.StringIO()
        arguments = parser.parse_args([action, str(file), "--storage", str(tmp_path)])
        assert rules.run(arguments, io.StringIO(), problems) == 2
        assert problems.getvalue() == f"`--storage` does nothing with `{action}`; give it with `list`\n"


def test_every_subcommand_was_looked_at() -> None:
    """A new one either has a table or reads each of its options whatever else is given."""
    assert {*COMMANDS} == {"history", "rules"} | {"serve", "check", "doctor", "probe", "keys"}
