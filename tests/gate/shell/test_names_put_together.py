"""Names of files that a text puts together: of variables, patterns, listings, and beginnings whose end is not known.

A program that no record knows may read or write whatever its words name, so these count as if they stood there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from countersign.gate.shell.flow.parse_cache import Followed, follow

from .asked import decide

TOGETHER = (
    "for f in {}/*; do prog $f; done",
    'for f in {}/*; do prog "$f"; done',
    "for f in {}/*; do prog -o $f; done",
    "d={}; prog $d/x",
    "d={}; f=$d/x; prog $f",
    'd={}; f=$d/x; prog "$f"',
    "d={}; e=$d; f=$e/x; prog $f",
    "d={}; for f in $d/*; do prog $f; done",
    'd={}; for f in "$d"/*; do prog "$f"; done',
    'for d in {} src; do for f in "$d"/*; do prog "$f"; done; done',
    "d={}/*; prog $d",
    "prog $(find {})",
    "for f in $(find {}); do prog $f; done",
    'find {} | while read -r f; do prog "$f"; done',
    "find {} | xargs prog",
    "find {} -exec prog {{}} \\;",
    "echo {}/x | xargs prog",
    "printf '%s\\n' {}/x | xargs prog",
    "xargs prog <<< {}/x",
)
"""A folder, and how a text names what is in it."""

UNFINISHED = (
    "prog {}/$x",
    'prog "{}/$x"',
    "prog {}/$x/y",
    "prog -o {}/$x",
    "prog --out={}/$x",
    "prog {}/$(date +%s)",
    "prog {}/out-$RANDOM.txt",
    'd={}; prog "$d/$x"',
    'd={}; f=$d/$(date +%s); prog "$f"',
    "for f in $(ls {}); do prog {}/$f; done",
)
"""The same with an end that is only known at run time."""


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    for folder in ("held", "src", ".vscode"):
        tmp_path.joinpath("ws", folder).mkdir(parents=True)
        tmp_path.joinpath("ws", folder, "x").write_text("")
    return str(tmp_path / "ws")


@pytest.mark.parametrize("command", [*TOGETHER, *UNFINISHED])
@pytest.mark.parametrize("rule", ["Read(held/**)", "Edit(held/**)"])
def test_rules_for_files_count_for_names_that_are_put_together(command: str, rule: str, workspace: str):
    text = command.replace("{{}}", "\0").replace("{}", "held").replace("\0", "{}")
    assert decide(text, deny=[rule], mode="auto", workspace=workspace) in {"ask", "deny"}
    assert decide(text, ask=[rule], mode="auto", workspace=workspace) == "ask"


@pytest.mark.parametrize("command", [*TOGETHER, *UNFINISHED])
def test_other_folders_are_left_alone(command: str, workspace: str):
    text = command.replace("{{}}", "\0").replace("{}", "src").replace("\0", "{}")
    rules = ["Read(held/**)", "Edit(held/**)"]
    assert decide(text, deny=rules, mode="auto", workspace=workspace) == "allow"


@pytest.mark.parametrize("command", TOGETHER)
@pytest.mark.parametrize("folder", ["../other", "/etc", ".vscode"])
def test_what_lies_outside_or_is_protected_asks_under_a_rule_for_the_program(command: str, folder: str, workspace: str):
    text = command.replace("{{}}", "\0").replace("{}", folder).replace("\0", "{}")
    rules = [f"Bash({name}:*)" for name in ("prog", "xargs", "find", "ls")]
    assert decide(text, rules, workspace=workspace) == "ask"


def padded(count: int) -> list[str]:
    """Texts that name a held file among so many others."""
    names = " ".join(f"a{at}.c" for at in range(count))
    made = "; ".join(f"g=$d/{at}" for at in range(count))
    copied = "; ".join(f"b{at}=$d" for at in range(count))
    return [
        f'for f in {names} held/x; do prog "$f"; done',
        f"for f in {names} held/x; do g=$f; prog $g; done",
        f'for d in {names} held; do g=$d/x; prog "$g"; done',
        f"for d in {names} held; do for f in $d/*; do prog $f; done; done",
        f'{made}; d=held; g=$d/x; prog "$g"',
        f'd=held; {copied}; g=$d/x; prog "$g"',
        f"echo {names} held/x | xargs prog",
        f"printf '%s\\n' {names} held/x | xargs -I@ prog @",
    ]


@pytest.mark.parametrize("count", [1, 40, 100, 300])
def test_no_number_of_other_names_hides_one(count: int, workspace: str):
    texts = padded(count)
    found = [decide(text, deny=["Read(held/**)"], mode="auto", workspace=workspace) for text in texts]
    assert [text[:60] for text, decision in zip(texts, found, strict=True) if decision == "allow"] == []


def test_variables_that_double_each_other_hold_a_bounded_number_of_texts():
    doubling = "; ".join(f"v{at}=$v{at - 1}/$v{at - 1}" for at in range(1, 200))
    found = follow(f"v0=held; {doubling}; prog $v199")
    assert isinstance(found, Followed)
    facts = found.course.facts
    assert max(len(value or "") for values in facts.values.values() for value in values) <= 1_000
    assert "v199" in facts.too_many


def test_a_variable_that_a_loop_adds_to_stays_unknown(workspace: str):
    """It could hold any number of texts, which is no reason to ask where any other unknown word is allowed."""
    text = 'all=""; for f in src/*; do all="$all $f"; done; prog "$all"'
    assert decide(text, ["Bash(prog:*)"], workspace=workspace) == "allow"


def test_a_variable_that_is_put_together_may_also_be_something_else(workspace: str):
    """None of its values is taken for all that it may hold."""
    assert decide("d=src; f=$d/x; rm $f", ["Bash(rm:*)"], workspace=workspace) == "ask"


GIVEN = (
    "echo {} | timeout 5 xargs -I@ {} @",
    "echo {} | xargs {}",
    "printf '%s\\n' a {} | xargs -n 1 {}",
    "xargs {1} <<< '{0}'",
    "echo {} | xargs -I@ {} @",
)
"""Ways in which a text gives a word to a command by its input."""


@pytest.mark.parametrize("form", GIVEN)
@pytest.mark.parametrize(
    ("command", "word", "rules"),
    [
        ("llvm-as", "@args", {"allow": ["Bash(llvm-as:*)"]}),
        ("wrangler types", ".vscode/x", {"mode": "auto"}),
    ],
)
def test_a_word_on_the_input_counts_as_if_it_stood_behind_the_command(
    form: str, command: str, word: str, rules: dict[str, Any]
):
    assert decide(f"{command} {word}", **rules) == "ask"
    assert decide(form.format(word, command), **rules) == "ask"
    assert decide(form.format("a.txt", command), **rules) == "allow"


@pytest.mark.parametrize("form", GIVEN)
@pytest.mark.parametrize("word", ["interactive", "a.txt"])
def test_a_word_on_the_input_may_be_a_subcommand_that_starts_a_prompt(form: str, word: str):
    assert decide(form.format(word, "gcloud alpha"), ["Bash(gcloud:*)"]) == "ask"


def test_more_words_on_the_input_than_are_judged_ask():
    text = f"printf '%s\\n' {' '.join(f'a{at}' for at in range(200))} | xargs -n 1 wrangler types"
    assert decide(text, mode="auto") == "ask"
