"""A rule that a person chose: one to deny denies the very call and other spellings of it, one to allow and a grant
cover no other program, no other variables and no other files than their card showed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.finding import FILE_KINDS
from countersign.gate.shell.rules.whole_text import print_anew
from tests.gate.shell.asked import HOME, WS, decide, judge

ONE_CALL = [
    "zzz9 a", "(zzz9 a)", "! zzz9 a", "time zzz9 a", "{ zzz9 a; }", "coproc zzz9 a", "zzz9 {a,b}", "zzz9 [ab]",
    "zzz9 a?", "((x=1))", "zzz9 ~/x", "zzz9 a # c", "zzz9 a &", "[[ -f x ]] && zzz9 a", "zzz9 $'a\\tb'", 'zzz9 $"a"',
    'zzz9 "$x"', "zzz9 <<< a", "zzz9 < a", "zzz9 > out", "zzz9 2>&1", "A=1 zzz9", "A='a b' zzz9", "A+=1 zzz9",
    "'A=1' zzz9", "zzz9 '*'", "zzz9 'a:*'", "zzz9 a:", "zzz9 ''", "zzz9 \"it's\"", "zzz9 a\\ b", "zzz9 !x", "zzz9  a",
    "zzz9 `ls`", "zzz9 <(ls)", "f() { zzz9; }; f", "if true; then zzz9 a; fi", "case a in a) zzz9;; esac",
    "declare -i x; zzz9", "x=~/a zzz9", "zzz9 a || zzz8", "zzz9 a | zzz8", "zzz9 'a;b'", "sudo zzz9 a",
    "bash -c 'zzz9 a'", "\\zzz9 a", "zzz9 ${x:-a}",
]  # fmt: skip


@pytest.mark.parametrize("text", ONE_CALL)
@pytest.mark.parametrize("blanks", ["{}", " {}", "{} "])
def test_a_rule_that_says_a_text_denies_it_in_every_mode(text: str, blanks: str) -> None:
    rule = f"Bash({blanks.format(text)})"
    assert {decide(text, deny=[rule], mode=mode) for mode in ("default", "acceptEdits", "auto", "dontAsk")} == {"deny"}
    assert decide(text, deny=[rule], bypass=True) == "deny"
    assert decide(text, deny=[rule], allow=[f"Bash({text})", "Bash"]) == "deny"
    assert decide(text, ask=[rule], mode="auto") != "allow"


@pytest.mark.parametrize("text", ONE_CALL)
def test_a_text_that_a_card_can_say_is_denied_by_what_it_says(text: str) -> None:
    exact, _ = judge(text).offers()
    assert exact is None or decide(text, deny=[exact], mode="auto") == "deny"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("A=1 zzz9", 'A="1" zzz9'),
        ("A=1 zzz9", "A=1 B=2 zzz9"),
        ("A=1 zzz9", "B=2 A=1 zzz9"),
        ("A=1 zzz9:*", "A='1' zzz9 x"),
        ("A=1 B=2 zzz9", "A=3 A=1 B=2 zzz9"),
        ("A=1 B=2 zzz9 a", "B=2 A=1 zzz9 a"),
        ("A='a b' zzz9", 'A="a b" zzz9'),
        ("make; ls", "make\nls"),
        ("make & ls", "make &\nls"),
        ("make > out", "ls; make >out"),
        ("make > out", "command make 1> ./out"),
        ("make > out", "X=1 ./make >out 2>&1"),
        ("make > out", "> out make"),
        ("make > out", "if true; then make > out; fi"),
        ("A=1 make > out", "A='1' make > out"),
        ("zzz9 <<< a", "command zzz9 <<< 'a'"),
        ("make 2>&1", "ls | make 2>&1"),
        ("(make)", "( make )"),
        ("! make", "!  make"),
        ("zzz9 {a,b}", "zzz9 a b"),
    ],
)
def test_a_rule_denies_other_spellings_of_its_text(rule: str, text: str) -> None:
    assert decide(text, deny=[f"Bash({rule})"], mode="auto") == "deny"
    assert decide(text, ask=[f"Bash({rule})"], mode="auto") == "ask"


@pytest.mark.parametrize("text", ["make", "make >> out", "make > other", "make 2> out", "make < out", "ls > out"])
def test_a_rule_with_a_redirection_denies_no_other(text: str) -> None:
    assert decide(text, deny=["Bash(make > out)"]) != "deny"


@pytest.mark.parametrize(
    "rule", [" Bash(make && ls)", "Bash(make && ls) ", "bash(make && ls)", "shell(make && ls)", "BASH( make && ls )"]
)
def test_a_rule_denies_a_whole_text_however_its_tool_is_written(rule: str) -> None:
    assert decide("make && ls", deny=[rule], mode="auto") == "deny"
    assert decide("make && ls", ask=[rule], mode="auto") == "ask"


@pytest.mark.parametrize(
    ("rule", "covered", "others"),
    [
        ("A=1 zzz9", ["A=1 zzz9", "A='1' zzz9"], ["'A=1' zzz9", "A\\=1 zzz9", '"A"=1 zzz9', "A=1 B=2 zzz9"]),
        ("'A=1' zzz9", ["'A=1' zzz9"], ["A=1 zzz9"]),
        ("A=1 'B=2' zzz9", ["A=1 'B=2' zzz9"], ["A=1 B=2 zzz9"]),
        ("A='a b' zzz9:*", ["A='a b' zzz9 x"], ["A=a b zzz9", "'A=a b' zzz9"]),
        ("npm run ~/x", ["npm run ~/x"], ["npm run '~/x'", "npm run \\~/x", "npm run ~/y"]),
        ("npm run '~/x'", ["npm run '~/x'"], ["npm run ~/x"]),
        ("V=1 npm run '~/x' ~/x:*", ["V=1 npm run '~/x' ~/x a"], ["V=1 npm run ~/x ~/x", "V=1 npm run '~/x' '~/x'"]),
        ("! zzz9", ["! zzz9"], ["\\! zzz9", "'!' zzz9"]),
        ("time zzz9", ["time zzz9"], ["'time' zzz9"]),
        ("(zzz9 a)", ["(zzz9 a)"], ["'(zzz9' 'a)'"]),
        ("'!' zzz9", ["'!' zzz9"], ["! zzz9"]),
        ("node ~/s/* a", ["node ~/s/x a"], ["node '~/s/x' a"]),
        ("node '~/s/'* a", ["node '~/s/x' a"], ["node ~/s/x a"]),
        ("sh ~/x *y", [], ["sh '~/x' zy", "sh \\~/x y"]),
        ("node * y", ["node ~/x y", "node '~/x' y"], []),
        ("* install", ["zzz9 install"], ["LD_PRELOAD=./x zzz9 install", "PATH=. npm install"]),
        ("*", ["zzz9"], ["LD_PRELOAD=./x zzz9"]),
        ("A=1 *", ["A=1 zzz9"], ["A=1 LD_PRELOAD=./x zzz9"]),
        ("A=* zzz9", ["A=1 zzz9", "A=2 zzz9"], ["A=1 evil zzz9", "A=1 B=2 zzz9"]),
    ],
)
def test_a_rule_covers_no_variables_and_no_homes_but_those_that_it_names(
    rule: str, covered: Sequence[str], others: Sequence[str]
) -> None:
    assert {decide(text, allow=[f"Bash({rule})"]) for text in covered} <= {"allow"}
    assert {decide(text, allow=[f"Bash({rule})"]) for text in others} <= {"ask"}


def _granted(text: str, workspace: Path, cwd: str = "", files: Sequence[str] | None = None) -> bool:
    found = judge(text, grants=[f"Bash({text})"], workspace=str(workspace), cwd=f"{workspace}{cwd}", files=files)
    return all(each.grant or each.known_read or each.neutral for each in found.findings)


def test_a_grant_of_a_text_covers_the_files_of_its_card_and_no_others_of_the_same_names(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "sub"):
        folder.mkdir(exist_ok=True)
        (folder / ".env").touch()
        (folder / "notes").touch()
    shown = [f"{tmp_path}/.env", f"{tmp_path}/out"]
    for text in ("cat .env", "zzz9 > out", "cat notes | zzz9"):
        assert _granted(text, tmp_path, files=shown)
    assert not _granted("cat .env", tmp_path, "/sub", files=shown)
    assert not _granted("zzz9 > out", tmp_path, "/sub", files=shown)
    (tmp_path / "notes").unlink()
    (tmp_path / "notes").symlink_to("/etc/shadow")
    assert not _granted("cat notes | zzz9", tmp_path, files=shown)


GRANTED = [
    "rm a.txt",
    "sed -i s/a/b/ a.txt",
    "tee a.txt",
    "python a.txt",
    "./a.txt",
    "bash a.txt",
    "make -f a.txt",
    "make",
    "zzz9 a.txt",
    "pytest -c a.txt",
    "tar xf a.txt",
    "go run a.txt",
]


@pytest.mark.parametrize("text", GRANTED)
def test_a_grant_of_one_command_covers_it_where_its_card_stood_and_no_other_files(text: str, tmp_path: Path) -> None:
    workspace, other = tmp_path / "ws", tmp_path / "other"
    for folder in (workspace, workspace / "sub", other):
        folder.mkdir()
        (folder / "a.txt").touch()
    card = judge(text, workspace=str(workspace), home=str(tmp_path))
    shown = [*[each.resource for each in card.findings if each.kind in FILE_KINDS], *card.scripts]

    def granted(again: str, cwd: Path = workspace) -> bool:
        found = judge(
            again,
            grants=[f"Bash({text})"],
            files=shown,
            folder=str(workspace),
            workspace=str(workspace),
            home=str(tmp_path),
            cwd=str(cwd),
        )
        return all(each.grant or each.known_read or each.neutral or each.allow for each in found.findings)

    assert granted(text)
    assert not granted(text, workspace / "sub")
    assert not granted(f"cd sub && {text}")
    if text != "make":
        (workspace / "a.txt").unlink()
        (workspace / "a.txt").symlink_to("sub/a.txt")
        assert not granted(text)
        (workspace / "a.txt").unlink()
        (workspace / "a.txt").symlink_to(other / "a.txt")
        assert not granted(text)


@pytest.mark.parametrize(
    "text", ["wc ~/x", "npm run ~/'a b'", "zzz9 /etc/hosts", "zzz9 ../x", "wc < ../x", "V='a b' zzz9"]
)
def test_what_a_card_offers_for_always_allows_the_call(text: str) -> None:
    _, proposals = judge(text).offers()
    assert {decide(text, allow=[rule], workspace=WS, home=HOME) for rule in proposals} <= {"allow"}


WORDS = st.sampled_from(
    [
        "a",
        "a b",
        "a;evil",
        "it's",
        "*",
        "~/x",
        "{a,b}",
        "[ab]",
        "#c",
        "!x",
        "",
        "V=1",
        "a:*",
        "\\",
        "x&&evil",
        "$(evil)",
    ]
) | st.text("ab.-*?[]{}()!#~\\ ,:'\"$|&;=@%^+<>`é\u0301\u00a0", min_size=1, max_size=4)
QUOTED = st.one_of(
    WORDS, WORDS.map(shlex.quote), WORDS.map(lambda word: '"' + re.sub(r'(["\\$`])', r"\\\1", word) + '"')
)
COMMANDS = st.builds(
    lambda variable, program, words, behind: f"{variable}{' '.join([program, *words])}{behind}",
    st.sampled_from(["", "", "A=1 ", "A='a b' B=2 "]),
    st.sampled_from(["zzz9", "npm run", "./evil", "'A=1'"]),
    st.lists(QUOTED, max_size=2),
    st.sampled_from(["", "", " > out", " 2>&1", " <<< b", " # c", " &"]),
)
TEXTS = st.one_of(
    COMMANDS,
    st.builds("{} {} {}".format, COMMANDS, st.sampled_from(["&&", ";", "|"]), COMMANDS),
    st.builds(str.replace, st.sampled_from(["( X )", "! X", "time X", "{ X; }", "command X"]), st.just("X"), COMMANDS),
)
CHANGES = st.sampled_from(
    [";evil", " evil", "|evil", "$(evil)", "''", " ", "\t", "\\", "'", '"', "B=2 ", "evil ", "*", "#", ">x", "~", "="]
)


@settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, st.lists(st.tuples(CHANGES, st.integers(0, 60), st.integers(0, 2)), min_size=1, max_size=3))
def test_what_a_card_offers_means_its_own_call(text: str, changes: list[tuple[str, int, int]]) -> None:
    """The rule to deny denies the text, the rules to allow allow it together, and a grant covers no text that runs
    anything else: whatever else it covers is printed as its own commands are."""
    exact, proposals = judge(text).offers()
    assert not proposals or decide(text, allow=proposals, workspace=WS, home=HOME) == "allow"
    if exact is None:
        return
    assert decide(text, deny=[exact], mode="auto") == "deny"
    own = {print_anew(text), *(print_anew(part.text) for part in judge(text).parts)}
    for change, place, cut in changes:
        at = place % (len(text) + 1)
        other = text[:at] + change + text[at + cut :]
        found = judge(other, grants=[exact])
        covered = all(each.grant or each.neutral or each.known_read for each in found.findings)
        if covered and not found.exact_text:
            granted = [part.text for part in found.parts if found.findings[part.findings[0]].grant]
            assert all(print_anew(each) in own for each in granted)
