"""What holds of any text: adding to it, wrapping it, or forbidding more never makes the answer milder."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood
from tests.corpora import given_rows

from .asked import BASH, STRICTNESS, decide
from .examples import evasions

NAMES = ("ls", "cat", "echo", "git", "rg", "find", "sort", "sed", "tee", "timeout", "xargs", "head", "npm", "make")
ALLOW = [f"Bash({name}:*)" for name in NAMES]
POOL = sorted(
    {row["command"] for row in given_rows("commands") if row.get("parses", True)}
    | {row["command"] for row in evasions() if len(row["command"]) < 200 and row["command"].isprintable()}
)
WRAPPINGS = ["( {}\n)", "{{ {}\n}}", "if true; then {}\nfi", "while true; do {}\nbreak; done", "! {{ {}\n}}"]
BOUNDED = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])

pieces = st.sampled_from(POOL)
plain = st.sampled_from(
    ["ls -l src", "git status", "sort -o x y", "rg --pre x y", "rm -rf x", "timeout 5 ls", "tee .envrc"]
)


def understood(text: str) -> bool:
    try:
        reading = read(text)
    except (NotUnderstood, UnicodeError):
        return False
    return all(BASH(each) is None for each in (text, *reading.fragments))


modes = st.sampled_from(["default", "default", "plan", "ask", "acceptEdits", "auto", "dontAsk"])


def strictness(text: str, **more: Any) -> int:
    return STRICTNESS[decide(text, ALLOW, **more)]


def check_not_milder(before: str, after: str, mode: str) -> None:
    if understood(before):
        assert strictness(after, mode=mode) >= strictness(before, mode=mode), after


@BOUNDED
@given(pieces, pieces, st.sampled_from(["; ", "\n", " && ", " || ", " | ", " & "]), modes)
@example('for f in .*; do cat "$f"; done', "f=$(date)", "; ", "default")
def test_appending_a_command_never_widens(text: str, other: str, joint: str, mode: str) -> None:
    if understood(other):
        check_not_milder(text, text + ("\n" if "\n" in text and joint == "; " else joint) + other, mode)


@BOUNDED
@given(pieces, st.sampled_from(WRAPPINGS), modes)
def test_wrapping_a_command_never_widens(text: str, wrapping: str, mode: str) -> None:
    check_not_milder(text, wrapping.format(text), mode)


@BOUNDED
@given(pieces, st.sampled_from([" ", "\t", "\n", " # more", "\n# more", " \n \n"]), modes)
def test_adding_blanks_or_comments_never_widens(text: str, added: str, mode: str) -> None:
    check_not_milder(text, text + added, mode)
    check_not_milder(text, added.replace("# more", "# more\n") + text, mode)


@BOUNDED
@given(plain, st.data())
def test_quoting_a_word_never_widens(text: str, data: st.DataObject) -> None:
    words = text.split(" ")
    at = data.draw(st.integers(0, len(words) - 1))
    quote = data.draw(st.sampled_from(["'{}'", '"{}"', "\\{}", "$'{}'", "''{}", "{}''"]))
    words[at] = quote.format(words[at])
    # Stricter where the quoting itself is outside Plain Bash.
    assert strictness(" ".join(words)) >= strictness(text)


@BOUNDED
@given(pieces, st.sampled_from(["Bash(ls:*)", "Bash(git:*)", "Bash", "Bash(* -l)", "Bash(cat x)", "Read(./src/**)"]))
def test_adding_a_deny_or_ask_rule_never_widens(text: str, rule: str) -> None:
    before = strictness(text)
    assert strictness(text, ask=[rule]) >= before
    assert strictness(text, deny=[rule]) >= strictness(text, ask=[rule]) >= before


@BOUNDED
@given(st.text(alphabet="lsrm -/\"'`$(){}[]<>|&;\\\n#*?=~!e.x01\t", max_size=40))
def test_any_text_gets_an_answer(text: str) -> None:
    assert decide(text, ["Bash(ls:*)"]) in STRICTNESS


@BOUNDED
@given(st.text(alphabet="abp -\"'`$(){}<>|&;\\\n#=Ex", max_size=40))
def test_what_bash_rejects_is_never_allowed(text: str) -> None:
    if BASH(text) is not None:
        assert decide(text, ["Bash"]) != "allow"
