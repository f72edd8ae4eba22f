"""A sample of the texts with which ``make soak`` looks for work without bounds (``tests/reference/slow_texts.py``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.shell import judge
from tests.gate.shell.asked import decide
from tests.reference import slow_texts


def test_a_text_that_repeats_words_of_a_program_takes_bounded_work() -> None:
    assert list(slow_texts.overworked(0, range(100))) == []


def test_commands_that_share_a_long_value_take_bounded_work() -> None:
    assert list(slow_texts.overworked_by_sharing(0, range(60))) == []


def test_commands_that_bring_and_match_many_files_take_bounded_work(tmp_path: Path) -> None:
    slow_texts.lay_files(tmp_path)
    assert list(slow_texts.overworked_by_moves(0, range(24), tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "; ".join(f'd{number}=x{number}; cd "$d{number}"; make' for number in range(100)),
        f'for d in {" ".join(f"a{number}/b" for number in range(24))}; do cd "$d"; {"; ".join(["make x"] * 300)}; done',
    ],
    ids=["many moves", "many commands behind a move"],
)
def test_folders_that_variables_name_take_bounded_work(text: str) -> None:
    assert slow_texts.calls(slow_texts.Repeated(text, "make"), ["Bash(make:*)"]) < slow_texts.MOST_CALLS_OF_MOVES


def _many(word: str) -> str:
    return " ".join(f"{word}{number}" for number in range(100_000 // (len(word) + 4)))


BRACED = (
    "{" * 60 + "," * 60 + "}",
    "{a}{" * 30 + ",x}",
    "{a,b}" * 5,
    "{.." * 60 + "}",
    "{," * 60 + "}}",
    "{a}" * 60 + ",x",
    "{" + "," * 3_000,
    "{," * 8 + "}" * 8,
    "{," * 8 + "," * 300 + "}" * 8,
)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("sort", "-o" + "a/" * 40_000),
        ("touch", "a/" * 40_000),
        ("touch", " ".join(f"{number}/" + "a/" * 2_000 for number in range(20))),
        ("ruby", "-" + "w" * 90_000),
        ("gcc", "-Wl" + ",,-" * 30_000),
        ("python3", "-m " + "a." * 40_000),
        ("node", "--test " + _many("a")),
        ("git", "; x='" + "git show --name-only " * 1_000 + "'; git show --name-only $x"),
        *(("cat", _many(word)) for word in BRACED),
    ],
    ids=[
        "a long path in an option",
        "a long path",
        "paths of many parts",
        "many letters",
        "many parts of a word",
        "a long module",
        "many scripts",
        "many words of a variable",
        *BRACED,
    ],
)
def test_long_words_take_bounded_work(program: str, words: str) -> None:
    text = slow_texts.Repeated(f"{program} {words}", program)
    assert slow_texts.calls(text, [f"Bash({program}:*)"]) < slow_texts.MOST_CALLS


@pytest.mark.parametrize("word", ["-" + "a/" * 3_000, "-a--" + ".." * 3_000])
def test_a_word_of_many_letters_asks(word: str) -> None:
    assert decide(f"k3s {word}", allow=["Bash(k3s:*)"], mode="auto") == "ask"


@pytest.mark.parametrize("text", ["julia " + "+a " * 1_900, "jbang " + "init " * 1_900])
def test_a_row_of_words_in_place_of_a_script_is_judged(text: str) -> None:
    assert decide(text, allow=["Bash(julia:*)", "Bash(jbang:*)"]) == "ask"


def test_a_gate_without_that_bound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    text = slow_texts.Repeated(" ".join(["bzip2", *(f"-S{number}" for number in range(300))]), "bzip2")
    assert slow_texts.calls(text) < slow_texts.MOST_CALLS
    monkeypatch.setattr(judge, "MOST_LOOKS", 1_000_000)
    assert slow_texts.calls(text) > slow_texts.MOST_CALLS


def test_so_is_one_in_which_brought_links_cost_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow_texts.lay_files(tmp_path)
    text = slow_texts.Repeated("; ".join(f"cp -r */* l{number}; cat l{number}/*" for number in range(8)), "cp")
    assert slow_texts.calls(text, workspace=str(tmp_path)) < slow_texts.MOST_CALLS_OF_MOVES
    monkeypatch.setattr(judge, "MOST_LOOKS", 100_000)
    assert slow_texts.calls(text, workspace=str(tmp_path)) > slow_texts.MOST_CALLS_OF_MOVES
