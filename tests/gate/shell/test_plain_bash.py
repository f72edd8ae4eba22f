"""Plain Bash: what the recognizer accepts, what the gate makes of the rest, and what the corpora say of it."""

from __future__ import annotations

import ast
import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.advice.explain import check_line, explain, policy_of
from countersign.gate.shell.syntax import plain_bash
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.gate.shell.syntax.plain_bash import Outside, outside
from tests import corpora

from .asked import rows
from .examples import evasions

BASH = BashSyntax()

INSIDE = rows(Path(__file__).parent / "plain_inside.jsonl")
OUTSIDE = rows(Path(__file__).parent / "plain_outside.jsonl")
CORPORA = [
    *corpora.given_rows("commands"),
    *corpora.commands(),
    *evasions(),
]
MODES = ("plan", "ask", "default", "acceptEdits", "auto", "dontAsk")
EVERYTHING = {"allow": ["Bash", "Bash(*)", "Read(//**)", "Edit(//**)"], "deny": [], "ask": []}


def written(row: dict[str, Any]) -> str:
    """The command of a row with its places filled in."""
    command = row["command"]
    for mark in ("ws", "home", "out"):
        command = command.replace(f"{{{mark}}}", f"/{mark}")
    return command


def ask(command: str, **given: Any) -> dict[str, Any]:
    asked = {"tool": "bash", "args": {"command": command}, "workspace": "/nowhere/ws", "home": "/nowhere/home", **given}
    return json.loads(check_line(json.dumps(asked).encode(), check_syntax=BASH))


@pytest.mark.parametrize("row", INSIDE, ids=lambda row: row["command"])
def test_plain_bash_holds(row: dict[str, Any]) -> None:
    assert outside(row["command"]) is None


@pytest.mark.parametrize("row", OUTSIDE, ids=lambda row: row["command"])
def test_the_first_construct_outside_plain_bash_is_named_with_its_offset(row: dict[str, Any]) -> None:
    assert outside(row["command"]) == Outside(row["construct"], row["offset"])


@pytest.mark.parametrize("row", OUTSIDE, ids=lambda row: row["command"])
def test_nothing_allows_a_text_outside_plain_bash(row: dict[str, Any]) -> None:
    for mode, bypass in itertools.product(MODES, (False, True)):
        found = ask(row["command"], mode=mode, bypass=bypass, rules=EVERYTHING)
        assert found["decision"] != "allow", (mode, bypass)


SHELLS = ["sh -c {}", "bash -c {}", "find . -exec sh -c {} \\;", "timeout 5 bash -c {}", "xargs sh -c {}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_text_that_a_shell_reads_in_turn_must_be_plain_as_well(shell: str) -> None:
    assert ask(shell.format("'ls src'"), mode="auto")["decision"] == "allow"
    found = ask(shell.format("'[[ a =~ b ]] && ls'"), mode="auto")
    assert found["decision"] == "ask"
    assert "in a text that it runs: a regular expression in `[[ ]]` at offset 5" in found["reason"]


def test_the_evidence_names_the_construct() -> None:
    found = ask("ls && [[ a =~ b ]]", mode="auto", rules=EVERYTHING)
    assert found["reason"] == "outside Plain Bash: a regular expression in `[[ ]]` at offset 11"
    assert {effect["evidence"]["source"] for effect in found["effects"] if effect["kind"] == "command"} == {"plainBash"}


def test_a_deny_rule_still_denies_what_is_outside() -> None:
    rules = {"allow": ["Bash"], "deny": ["Bash(rm:*)"], "ask": []}
    assert ask("[[ a =~ b ]] || rm x", mode="auto", rules=rules)["decision"] == "deny"


EXACT = "[[ a =~ b ]] && make"


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto"])
def test_a_rule_that_holds_exactly_the_text_allows_it(mode: str) -> None:
    question = {"tool": "bash", "args": {"command": EXACT}, "mode": mode, "workspace": "/nowhere/ws"}
    for rule, expected in ((f"Bash({EXACT})", True), (f"Bash({EXACT} )", False), (f"Bash({EXACT}:*)", False)):
        asked = {**question, "rules": {"allow": [rule]}}
        decision = explain(asked, *policy_of(asked), check_syntax=BASH)
        assert (decision.verdict, decision.exact_text) == (("allow", True) if expected else ("ask", False)), rule


def test_a_rule_of_another_text_is_no_exact_text() -> None:
    asked = {
        "tool": "bash",
        "args": {"command": "make"},
        "workspace": "/nowhere/ws",
        "rules": {"allow": ["Bash(make:*)"]},
    }
    decision = explain(asked, *policy_of(asked), check_syntax=BASH)
    assert (decision.verdict, decision.exact_text) == ("allow", False)


def test_an_exact_rule_does_not_allow_what_cannot_be_shown() -> None:
    command = "echo $'a' \u202e"
    assert ask(command, rules={"allow": [f"Bash({command})"]})["decision"] == "ask"


# --- corpora ---------------------------------------------------------------------------------------------------------


def test_no_row_that_is_outside_is_allowed() -> None:
    assert [row["command"] for row in CORPORA if row["expect"] == "allow" and outside(written(row)) is not None] == []


def test_a_row_that_asks_for_its_construct_names_it() -> None:
    named = [row for row in CORPORA if "plain_bash" in row]
    assert named
    assert [
        row["command"] for row in named if getattr(outside(written(row)), "construct", None) != row["plain_bash"]
    ] == []


EVERYDAY = [row for row in CORPORA if row.get("class") in {"benign", "everyday", "looking", "read-only"}]
WANTED = [row for row in EVERYDAY if row["expect"] == "allow" or "plain_bash" in row]


def test_nearly_all_everyday_commands_are_plain_bash(record_property: pytest.RecordProperty) -> None:
    share = sum(outside(written(row)) is None for row in WANTED) / len(WANTED)
    record_property("plain_bash_share", share)
    print(f"{share:.2%} of {len(WANTED)} everyday rows are Plain Bash")
    assert share >= 0.97


def test_bash_reads_all_that_is_accepted() -> None:
    """One process for all: each text is read by ``bash -n`` as a function's body would be, so it must stand alone."""
    texts = sorted({written(row) for row in CORPORA if len(row["command"]) < 2000 and outside(written(row)) is None})
    script = "while IFS= read -r -d '' text; do bash -nc \"$text\" 2>/dev/null || printf '%s\\0' \"$text\"; done"
    done = subprocess.run(
        ["bash", "-c", script], input="\0".join([*texts, ""]).encode(), capture_output=True, check=True, timeout=600
    )
    assert [text for text in done.stdout.decode().split("\0") if text] == []


# --- properties ------------------------------------------------------------------------------------------------------

TOKENS = """
a b1 -v x= x+= [ ] [[ ]] ( ) (( )) { } ; ;; & && | || < > << <<< 2>&1 &> $ $x ${x} ${x:-y} ${x@P} $( $(( ` ' " \\ # ! ~
~/ * ? , .. 1 2 = == =~ -eq if then fi for in do done while case esac time test read printf export {a,b} {1..3} [a-z]
[!a] <(
""".split()
PIECES = st.sampled_from([*TOKENS, " ", "  ", "\t", "\n", "\\\n", "\x0b", "\u00e9", "\u200b"])


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_text_is_read_and_what_is_accepted_parses(text: str) -> None:
    found = outside(text)
    if found is not None:
        assert found.construct
        assert 0 <= found.offset <= len(text)
    elif text.strip():
        assert BASH(text) is None, text


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([row["command"] for row in INSIDE]), st.integers(0, 200), PIECES)
def test_a_changed_text_that_is_still_accepted_parses(text: str, place: int, piece: str) -> None:
    at = place % (len(text) + 1)
    for changed in (text[:at], text[:at] + piece + text[at:], text[:at] + text[at + 1 :]):
        if outside(changed) is None and changed.strip():
            assert BASH(changed) is None, changed


@pytest.mark.parametrize("prefix", ["command ", "builtin ", "exec ", "env ", "nohup ", "time ", "! ", "{ ", "(", "$("])
@pytest.mark.parametrize("count", [30, 400, 600, 4000])
def test_a_long_row_of_prefixes_asks_and_breaks_nothing(prefix: str, count: int) -> None:
    text = prefix * count + "ls"
    outside(text)  # never raises
    rules = {"allow": ["Bash(ls)", "Bash(env:*)"], "deny": [], "ask": []}
    assert ask(text, rules=rules)["decision"] == "ask"


def test_prefixes_count_as_nesting() -> None:
    found = outside("command " * 30 + "ls")
    assert found is not None
    assert found.construct == "nesting deeper than 24"
    assert outside("command command ls") is None
    assert outside("; ".join(["command ls"] * 30)) is None


def test_the_recognizer_imports_nothing_of_the_parser() -> None:
    folder = Path(plain_bash.__file__).parent
    modules = sorted(folder.glob("plain_*.py"))
    assert len(modules) > 3
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                assert all("plain_" in name or not name.startswith("countersign") for name in names), module.name


def test_every_builtin_of_bash_is_known() -> None:
    from countersign.gate.shell.syntax.plain_simple import BUILTINS  # noqa: PLC0415

    known = subprocess.run(["bash", "-c", "compgen -b"], capture_output=True, text=True, check=True).stdout.split()
    assert set(known) <= BUILTINS
