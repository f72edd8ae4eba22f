"""The script that compares a program's manual with what a rule for the program covers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("manual_options", Path(__file__).parents[1] / "scripts/manual_options.py")
assert SPEC is not None
assert SPEC.loader is not None
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)

MANUAL = """
Usage: sort [OPTION]... [FILE]...
  -o, --output=FILE      write result to FILE
  -k, --key=KEYDEF       sort via a key
      --compress-program=PROG
                         compress with PROG
  -r, --reverse          reverse the result
"""


def test_options_with_a_value_are_found_in_a_manual() -> None:
    names = [option.name for option in script.options(MANUAL)]
    assert names == ["-o", "--output", "-k", "--key", "--compress-program"]


def test_only_what_a_rule_for_the_program_covers_is_listed() -> None:
    covered = {
        option.name
        for option in script.options(MANUAL)
        if any(script.is_covered("sort", command) for command in script.uses("sort", option.name))
    }
    assert covered == {"-k", "--key"}
