"""The corpus said otherwise: other names, other spacing, deeper nesting. What means the same is decided the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.corpora import given_rows

from .asked import WS, decide

CORPUS = given_rows("commands")
UNDERSTOOD = [row for row in CORPUS if row["class"] not in {"unparseable", "display"}]

SPELLINGS: dict[str, Callable[[str], str]] = {
    "in a subshell": lambda text: f"(\n{text}\n)",
    "in a group": lambda text: f"{{\n{text}\n}}",
    "in a condition": lambda text: f"if true; then\n{text}\nfi",
    "behind a condition": lambda text: f"true && {{\n{text}\n}}",
    "in a branch": lambda text: f"if [ -f x ]; then true; else\n{text}\nfi",
    "in a loop": lambda text: f"for i in 1 2; do\n{text}\ndone",
    "in a case": lambda text: f"case a in\n a)\n{text}\n;;\nesac",
    "in the background": lambda text: f"{{\n{text}\n}} &\nwait",
    "with a comment in front": lambda text: f"# what follows is ordinary\n\n{text}",
    "with a comment behind": lambda text: f"{text}\n# that was it; $(nothing) `here`",
    "after something neutral": lambda text: f"true; {text}",
    "before something neutral": lambda text: f"{text}\ntrue",
    "with blanks around": lambda text: f"  \t{text}\n \n\n",
    "deep down": lambda text: f"(\n( if true; then {{\n{text}\n}}\nfi )\n)",
}
MOVES = re.compile(r"\bcd\b")
"""A `cd` in a loop leads on with each turn, so there it is no longer the same."""


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("row", UNDERSTOOD, ids=lambda row: row["id"])
def test_the_same_command_spelled_otherwise_is_decided_alike(row: dict[str, Any], spelling: str) -> None:
    if "loop" in spelling and MOVES.search(row["command"]):
        return  # a place that changes with each turn is another question
    decision = decide(SPELLINGS[spelling](row["command"]), **row["rules"], workspace=WS)
    assert decision in {row["expect"], *row["also_ok"]}


@pytest.mark.parametrize("row", UNDERSTOOD, ids=lambda row: row["id"])
def test_the_same_command_with_other_names_is_decided_alike(row: dict[str, Any]) -> None:
    renamed = {"evil.js": "tools/run.mjs", "shutdown": "halt-it", "mkfs": "zero-disk", "src": "lib", "a.py": "b/c.py"}

    def other(text: str) -> str:
        for old, new in renamed.items():
            text = re.sub(rf"(?<![\w]){re.escape(old)}(?![\w])", new, text)
        return text

    if row["class"].startswith("deny") and not re.search(r"\b(shutdown|mkfs)\b", row["command"]):
        return  # the name is spelled in pieces
    rules = {listed: [other(text) for text in texts] for listed, texts in row["rules"].items()}
    assert decide(other(row["command"]), **rules, workspace=WS) in {row["expect"], *row["also_ok"]}


@pytest.mark.parametrize("row", UNDERSTOOD, ids=lambda row: row["id"])
def test_an_unruled_command_beside_it_makes_it_ask(row: dict[str, Any]) -> None:
    text = row["command"]
    for more in (f"{text}\n./unruled", f"./unruled; {text}", f"./unruled | {{\n{text}\n}}"):
        assert decide(more, **row["rules"], workspace=WS) in {"ask", "deny"}


@pytest.mark.parametrize("row", UNDERSTOOD, ids=lambda row: row["id"])
def test_a_denied_command_beside_it_denies_it(row: dict[str, Any]) -> None:
    rules = {**row["rules"], "deny": [*row["rules"]["deny"], "Bash(denied:*)"]}
    for text in (f"{row['command']}\ndenied now", f"echo $(denied); {row['command']}"):
        assert decide(text, **rules, workspace=WS) == "deny"
