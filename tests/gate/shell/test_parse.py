"""Reading a text: words in their normal form, what holds them together, and what is not understood."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.shell.flow.control_flow import course
from countersign.gate.shell.syntax.parser import _Reader as Reader
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Compound, NotUnderstood, Simple

BOUND = 5.0
"""Seconds of this process's own time, so that a busy machine does not count."""


def commands(text: str) -> list[str]:
    """All simple commands in normal form, expansions as they are written."""
    found = []
    for step in course(read(text)).steps:
        words = [word.shape.replace(UNKNOWN_TEXT, "") for word in step.command.words]
        assigned = [assignment.source for assignment in step.command.assignments]
        if words or assigned:
            found.append(" ".join([*assigned, *words]))
    return found


READ = {
    "ls -l": ["ls -l"],
    "a;b&c|d&&e||f\ng": list("abcdefg"),
    "'a b' \"c\"d\\ e $'f\\x67'": ["a b cd e fg"],
    "l\\\ns": ["ls"],
    "a \\\n b": ["a b"],
    "a $'\\u00e9\\101\\n'": ["a éA\n"],
    'a $"b"': ["a b"],
    "a#b #c\nd": ["a#b", "d"],
    "a;#b\nc": ["a", "c"],
    "{ a; }; (b); ! c; time d": list("abcd"),
    "if a; then b; elif c; then d; else e; fi": list("abcde"),
    "while a; do b; done; until c; do d; done": list("abcd"),
    "for x in 1 $(a); do b; done": ["a", "b"],
    "for ((i=0;i<$(a);i++)) do b; done": ["a", "b"],
    "select x in 1; do a; done": ["a"],
    "case $(a) in (b|c) d;; e) f;& *) g;;& esac": ["a", "d", "f", "g"],
    "f() { a; }; function g { b; }; function h() (c)": ["a", "b", "c"],
    "coproc a; coproc X { b; }": ["coproc", "a", "coproc", "b"],
    "time -p A=1 a": ["A=1 a"],
    "a | time b": ["a", "time b"],
    "x=1 y=$(a) b": ["a", "x=1 y=$(a) b"],
    "x=(1 $(a) 2); x[$(b)]=1; x+=1": ["a", "x=(1 $(a) 2)", "b", "x[$(b)]=1", "x+=1"],
    "a $(b `c` \"$(d)\") <(e) >(f)": ["c", "d", "b `c` \"$(d)\"", "e", "f", "a $(b `c` \"$(d)\") <(e) >(f)"],
    "a `b \\`c\\``": ["c", "b `c`", "a `b \\`c\\``"],
    "a ${x:-$(b)} \"${y/$(c)/d}\" ${z[$(d)]} ${w:$(e):1}": None,
    "a $((1+$(b)))": ["b", "a $((1+$(b)))"],
    "(( $(a) )) && [[ -n $(b) ]]": None,
    "a <<E && b\n$(c)\nE\nd": ["c", "a", "b", "d"],
    "a <<'E'\n$(c)\nE\nd": ["a", "d"],
    "a <<-E\n\t`c`\n\tE\nd": ["c", "a", "d"],
    "a <<A <<B\n$(c)\nA\n$(d)\nB\ne": ["c", "d", "a", "e"],
    "a <<E\nx\\\nE\nb\nE\nc": ["a", "c"],
    "a <<E\nE\\\n\nb": ["a", "b"],
    "a <<E #x\nE\nb": ["a", "b"],
    "x=$(cat <<E\n$(a)\nE\n); b": ["a", "cat", "x=$(cat <<E\n$(a)\nE\n)", "b"],
    "a > b 2>&1 <c >>d &>e <<<f {x}>g": ["a"],
    ">b a <c d": ["a d"],
    "export A=1 B": ["export A=1 B"],
    "echo } { if then": ["echo } { if then"],
    "a {b,c}d $x \"$@\" ~/e": ["a bd cd $x \"$@\" ~/e"],
    "": [],
    "# only a comment": [],
}  # fmt: skip
INSIDE = {
    "a ${x:-$(b)} \"${y/$(c)/d}\" ${z[$(d)]} ${w:$(e):1}": set("abcde"),
    "(( $(a) )) && [[ -n $(b) ]]": {"a", "b"},
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_every_command_is_found_in_its_normal_form(text: str) -> None:
    expected = READ[text]
    if expected is not None:
        assert sorted(commands(text)) == sorted(expected)
    else:
        assert {command.split(" ")[0] for command in commands(text)} >= INSIDE[text]


NOT_UNDERSTOOD = [
    "a '' 1\\\n>&2 b",
    "a '' b 1\\\n2>c",
    'a "b',
    "a 'b",
    "a $(b",
    "a `b",
    "a ${b",
    "a ${b!}",
    "( a",
    "a )",
    "{ a",
    "if a; then b",
    "for x in",
    "a |",
    "| a",
    "a &&",
    "a ;; b",
    "; a",
    "a & & b",
    "case a in b) c",
    "a <<E\nb",
    "a > ",
    "a(b)",
    "a (b) c",
    "f() a",
    "((a) )",
    "$((a) )",
    "[[ a",
    "a @(b|c)",
    "a=(b",
    "echo $[1+1]",
    "}",
    "fi",
    "do a",
    "function",
    "a <<E$x\nE$x",
    "3<<E a\nE",
    "a \\",
    "a $'\\x00'",
    "a $'\\cx'",
    "a $'\\xff'",
    "( )",
    "if ; then a; fi",
    "[[ a =~ (b ]]",
    "a <(b",
    "coproc",
    "!",
    "time",
]


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_what_bash_would_read_otherwise_or_not_at_all_is_not_understood(text: str) -> None:
    with pytest.raises(NotUnderstood):
        read(text)


@pytest.mark.parametrize("opener", ["$(", "(", "{ ", '"$(', "${a:-", "if a; then ", "while a; do ", "<(", "$((", "a=("])
def test_deep_nesting_is_not_followed_and_breaks_nothing(opener: str) -> None:
    with pytest.raises(NotUnderstood):
        read(opener * 5000 + "a")


@pytest.mark.parametrize(
    "piece",
    [
        "a;",
        "a&&",
        "a|",
        "a\n",
        "a ",
        "'",
        '"',
        "`",
        "(",
        ")",
        "{",
        "[",
        "[[ ",
        "$",
        "<<E ",
        "cat <<E\nE\n",
        "a=(",
        "\\",
        "$(a) ",
        '"$x" ',
        "x=1 ",
        "if a; then b; fi;",
        "case a in a) ;; esac;",
        "{a,b}",
        "a{",
        "!",
        "#\n",
        ">f ",
        "<",
        "f() { a; };",
    ],
)
def test_reading_is_linear_whatever_the_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    with suppress(NotUnderstood):
        course(read(text))
    assert time.process_time() - start < BOUND


def test_a_command_written_again_is_the_same_command() -> None:
    script = read("ls -l; ls -l; ls -l").script
    assert script.statements[0] is script.statements[2]


def test_a_text_inside_a_text_is_named_for_bash_to_check() -> None:
    assert read('a `b \\`c\\`` "`d`"').fragments == ("b `c`", "c", "d")
    assert read("a <<E\n$(b) `c`\nE").fragments == ("b", "c")


def test_a_place_is_followed_through_lists_and_not_out_of_subshells() -> None:
    steps = course(read("cd a && b; (cd c; d); e; cd f || g")).steps
    ends = {"done": "", "failed": " failed", "tried": " or not"}
    places = {
        step.command.source: sorted(
            "/".join(f"{move.word.source if move.word else move.way}{ends[move.end]}" for move in place)
            for place in step.places or ()
        )
        for step in steps
    }
    # `b` may remove folders, so what follows it may fail.
    assert places == {
        "cd a": [""], "b": ["a"], "cd c": ["a or not"], "d": ["a or not", "a or not/c"], "e": ["a or not"],
        "cd f": ["a or not"], "g": ["a or not"],
    }  # fmt: skip


def test_a_place_is_not_known_behind_a_loop_that_moves() -> None:
    steps = course(read("for i in 1 2; do cd a; b; done; c")).steps
    assert [step.places for step in steps if step.command.source in {"b", "c"}] == [None, None]


def test_a_heredoc_keeps_its_body_and_its_delimiter_out_of_the_commands() -> None:
    script = read("cat <<'E F' > out\n$(a)\nE F\n").script
    command = script.statements[0]
    assert isinstance(command, Simple)
    assert [redirect.operator for redirect in command.redirects] == ["<<", ">"]
    heredoc = command.redirects[0].heredoc
    assert heredoc is not None
    assert heredoc.body == "$(a)\n"


def test_a_redirection_behind_a_compound_command_is_its_own() -> None:
    script = read("while a; do b; done < in > out").script
    loop = script.statements[0]
    assert isinstance(loop, Compound)
    assert [redirect.source for redirect in loop.redirects] == ["< in", "> out"]


PIECES = st.sampled_from([
    "a", "if", "then", "fi", "time", "!", "export", "declare", "x=1", "a=b", "2", "1", ">", "<", "&", "&&", "|", "||",
    ";", "\n", " ", " ", " ", "  ", "\t", "'b c'", '"d e"', "''", '"$f"', "'g", "#h", "a#b", "~", "~/x", "é", "\xff",
    "-l", "--o=p", "{", "}", "(", ")", "$(i)", "`j`", "*", "k\\ l", "\\\n", "[", "]", "[[", "coproc", "in", "do",
    "done", "&>", ">&", "> o", " 2>&1", ">>", " 3>", ".", "/bin/a", "%", "^m", "cat <<E\n'n' $o\nE\n",
])  # fmt: skip


def shape(node: object) -> object:
    """A reading as plain values, but for how it was come by."""
    names = [each.name for each in fields(node)] if is_dataclass(node) else getattr(node, "_fields", None)
    if names is not None:
        return (type(node).__name__, *(shape(getattr(node, name)) for name in names if name != "plain"))
    return tuple(map(shape, node)) if isinstance(node, tuple) else node


def outcome(text: str) -> object:
    try:
        return shape(read(text))
    except NotUnderstood as reason:
        return str(reason)


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_constant_commands_are_read_as_any_other(text: str) -> None:
    found = outcome(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "constants", lambda *_: None)
        assert outcome(text) == found
