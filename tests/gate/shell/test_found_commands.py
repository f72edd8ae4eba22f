"""Rules for find and for what it runs cover ``find -exec``, and nothing that find makes up of its braces."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

RULES = [f"Bash({name}:*)" for name in ("find", "cat", "grep", "wc", "sort", "sh", "bash")]
END = ("{} +", "{} \\;")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "ws/src").mkdir(parents=True)
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


@pytest.mark.parametrize("end", END)
@pytest.mark.parametrize("find", ["find .", "find src -name '*.py'", "find", "find . -type f -not -path './build/*'"])
@pytest.mark.parametrize("inner", ["cat", "grep -n foo", "wc -l"])
def test_both_rules_cover_it(find: str, inner: str, end: str, places: dict[str, str]) -> None:
    command = f"{find} -exec {inner} {end}"
    assert decide(command, RULES, **places) == "allow"
    assert decide(command, ["Bash(find:*)"], builtinReads=False, **places) == "ask"
    assert decide(command, ["Bash(*)"], builtinReads=False, **places) == "ask"
    assert decide(command, RULES, [f"Bash({inner.split(maxsplit=1)[0]}:*)"], **places) == "deny"


@pytest.mark.parametrize("end", END)
@pytest.mark.parametrize(
    "command",
    [
        "find . -name .env -exec cat {}",
        "find .. -exec cat {}",
        'find "$d" -exec cat {}',
        "find . -exec evil {}",
        "find . -exec ./cat {}",
        "find . -execdir cat {}",
        "find . -exec cat {} \\; -exec evil {}",
        "find . -fprintf out x -exec cat {}",
        "find . -delete -exec cat {}",
        "find . -exec sort -o out {}",
        "find . -exec rm {}",
        "find . -exec cat .env {}",
    ],
)
def test_anything_more_asks(command: str, end: str, places: dict[str, str]) -> None:
    assert decide(command + end.removeprefix("{}"), RULES, **places) == "ask"


@pytest.mark.parametrize("mode", ["default", "auto"])
@pytest.mark.parametrize(
    "inner",
    [
        "bash -c 'ls {}'",
        "sh -c 'x={}; ls'",
        "./{}",
        "{}",
        "src/{}",
        "cat {}/.env",
        "cat {}/../x",
        "rm -rf {}/x",
        "tee {}x",
    ],
)
def test_braces_inside_a_word_are_what_find_finds(inner: str, mode: str, places: dict[str, str]) -> None:
    """GNU find replaces them wherever they stand: in `bash -c 'ls {}'` a file's name becomes commands."""
    assert decide(f"find . -exec {inner} \\;", [*RULES, "Edit(./**)"], mode=mode, **places) == "ask"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("find build -name '*.o' -delete", "allow"),
        ("find build -delete", "allow"),
        ("find . -name '*.pyc' -delete", "ask"),
        ("find . -delete", "ask"),
        ("find .git -type f -delete", "ask"),
        ("find ../x -delete", "ask"),
        ('find "$d" -delete', "ask"),
        ('find build "$d" -type f -delete', "ask"),
    ],
)
def test_removing_below_a_root_needs_an_edit_rule(command: str, expected: str, places: dict[str, str]) -> None:
    assert decide(command, ["Bash(find:*)", "Edit(./**)"], **places) == expected
    assert decide(command, ["Bash(find:*)"], **places) == "ask"
