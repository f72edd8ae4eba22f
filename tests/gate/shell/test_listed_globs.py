"""Braces and groups in patterns that a program expands itself, spelled out as patterns without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.shell.files import held_below
from countersign.gate.shell.files.program_globs import may_be_secret_glob, without_groups
from countersign.gate.shell.files.spelled_names import any_name_matches

from .asked import HOME, decide


def matches(pattern: str, name: str) -> bool:
    return any(any_name_matches(each, name) for each in without_groups(pattern))


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (".{env,x}", ".env"),
        (".{a,{env,b}}", ".env"),
        ("{.,x}{env,y}", "xy"),
        (".{e..f}nv", ".env"),
        ("{.env}", ".env"),
        ("+(.)env", ".env"),
        (".+(e|n|v)", ".env"),
        ("*(x).env", ".env"),
        ("?(x).env", "x.env"),
        ("@(a|.env)", ".env"),
        ("(a|b).js", "b.js"),
        ("!(x)", ".env"),
        ("a{,b}", "a"),
        ("[{]x", "{x"),
        ("x{b", "x{b"),
        (r"\{a,b\}", "{a,b}"),
    ],
)
def test_a_name_that_the_pattern_matches_is_matched(pattern: str, name: str) -> None:
    assert matches(pattern, name)


@pytest.mark.parametrize(
    ("pattern", "name"), [("*.{js,ts}", ".env"), ("@(a|b)", "c"), ("*.+(ts|tsx)", ".env"), (r"\{a,b\}", "a")]
)
def test_another_name_is_not(pattern: str, name: str) -> None:
    assert not matches(pattern, name)


def test_too_many_choices_may_be_any() -> None:
    assert matches("{a,b}" * 20, ".env")
    assert may_be_secret_glob(f"{{{'x,' * 300}.env}}")


@pytest.mark.parametrize("pattern", [f"{{{'x,' * 100}.env}}", f"{{{'x,' * 300}.env}}", "{a,b}" * 9 + "{.env,}"])
def test_many_choices_ask(pattern: str) -> None:
    assert decide(f"prettier '{pattern}'", workspace="/nowhere", allow=["Bash(prettier:*)"]) == "ask"


@pytest.mark.parametrize(
    "pattern", ["**/*", "*", "src/**", ".{env,x}", "**/*.pem", "**/k.pem", "certs/k.*", "c*/k.{pem,x}", "k.p?m"]
)
def test_a_pattern_of_all_names_could_be_a_secret(pattern: str) -> None:
    assert may_be_secret_glob(pattern)


@pytest.mark.parametrize("pattern", ["*.py", "src/**/*.{js,ts}", "a", "**/*.yaml", "k.{ts,js}"])
def test_a_pattern_of_other_names_could_not(pattern: str) -> None:
    assert not may_be_secret_glob(pattern)


@pytest.mark.parametrize(
    "command",
    [
        """note --data '{"a": {"b": [1, 2, {"c": "d"}], "e": "f.g"}, "h": {"i": "j"}}'""",
        "eslint 'app/[[...slug]]/page.tsx'",
        "prettier --check 'app/(shop)/page.tsx'",
    ],
)
def test_what_only_looks_like_a_pattern_does_not_ask(command: str) -> None:
    allow = ["Bash(note:*)", "Bash(eslint:*)", "Bash(prettier:*)"]
    assert decide(command, workspace="/nowhere", allow=allow) == "allow"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("black --diff -q --include='\\.env$' .", "ask"), ("black --check --diff .", "allow"),
        ("isort --diff --ext pem .", "ask"), ("isort --diff --ext= .", "ask"), ("isort --diff .", "allow"),
        ("pydocstyle -s --match='.*' .", "ask"), ("pydocstyle -s .", "allow"),
        ("prettier --parser yaml 'certs/k.*'", "ask"), ("prettier --parser markdown '**/k.pem'", "ask"),
    ],
)  # fmt: skip
def test_options_that_choose_files_by_other_names(command: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    rule = f"Bash({command.partition(' ')[0]}:*)"
    assert decide(command, [rule], workspace=str(tmp_path), home=HOME) == expected


def test_a_folder_with_too_many_names_asks_where_options_take_in_what_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    for name in "abcdef":
        (tmp_path / "src" / f"{name}.py").write_text("x = 1\n")
    command, rules = "black --exclude x src", ["Bash(black:*)", "Edit(./**)"]
    assert decide(command, rules, workspace=str(tmp_path), home=HOME) == "allow"
    monkeypatch.setattr(held_below, "MOST_BELOW", 3)
    assert decide(f"{command} -q", rules, workspace=str(tmp_path), home=HOME) == "ask"
