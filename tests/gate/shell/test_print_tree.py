"""The printer: what was judged is what runs.

Set ``COUNTERSIGN_REPLAYS`` for more texts than the few hundred of an ordinary run, ``COUNTERSIGN_SEED`` for others.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.shell.printing.normal_form import normal_form
from countersign.gate.shell.printing.normal_values import NotPrintable
from countersign.gate.shell.printing.print_tree import print_tree, reprint
from countersign.gate.shell.syntax.parser import read
from tests.corpora import commands, given_rows
from tests.reference.sandbox import sandbox

from .examples import evasions
from .replay import differences, generated, pairs_of

COUNT = int(os.environ.get("COUNTERSIGN_REPLAYS", "240"))
SEED = int(os.environ.get("COUNTERSIGN_SEED", "1"))
HERE = Path(__file__).parent
CORPORA = [
    row["command"]
    for table in (
        evasions(),
        given_rows("commands"),
        commands(),
    )
    for row in table
    if "command" in row
]
NO_SANDBOX = sandbox()

PRINTED = {
    "git diff HEAD~1": "'git' 'diff' 'HEAD~1'",
    "a=1 b=\"x $y z\" echo $x": "a='1' b='x '\"${y}\"' z' 'echo' ${x}",
    "echo $x'' \"$x\"''": "'echo' ${x}'' \"${x}\"",
    "echo \"$@\" $@": "'echo' \"${@}\" ${@}",
    "echo ''$x\"$y$z\"": "'echo' ''${x}\"${y}\"\"${z}\"",
    "\"if\" x": "'if' 'x'",
    "time ! a | b": "time ! 'a' | 'b'",
    "echo it\\'s $'a\\nb'": "'echo' 'it'\\''s' 'a\nb'",
    "ls ~ ~/x src/*.[ch] '*'": "'ls' ~ ~/'x' 'src/'*'.'[ch] '*'",
    "mv src/{a,b}.py {1..3}": "'mv' 'src/a.py' 'src/b.py' '1' '2' '3'",
    "find . -name {}": "'find' '.' '-name' '{}'",
    "export A=$x B": "export A=\"${x}\" 'B'",
    "B=1 export A=$x": "B='1' export A=\"${x}\"",  # bash 3.2 splits it otherwise
    "B=1 export A=*.txt": "B='1' export A='*.txt'",
    "echo 2 >f 2>&1": "'echo' '2' > 'f' 2>&1",
    ">&2 echo 2": "'echo' '2' >&2",
    "cat <<'E' | b\nx $y\n\nE": "'cat' <<< 'x $y\n' | 'b'",
    "cat <<E\nE": "'cat' < '/dev/null'",
    "cat <<E\n\nE": "'cat' <<< ''",
    "echo \"$(cat <<'E'\nhi\nE\n)\"": "'echo' \"$( 'cat' <<< 'hi' )\"",
    "a <<<#b": None,
    "a > #b": None,
    "a <<#E\nx\n#E": None,
    "case #b in x) a;; esac": None,
    "case b in (#b) a;; esac": None,
    "a <<<b#c >\\#d": "'a' <<< 'b#c' > '#d'",
    "((a) )": None,
    "( (a) )": "( ( 'a' ) )",
    "echo $( (a) )": "'echo' $( ( 'a' ) )",
    "a; b\nc & d": "'a'; 'b'\n'c' & 'd'",
    "{ a & }; { b; } >f": "{ 'a' & }; { 'b'; } > 'f'",
    "case $x in a|*.b) c;; (*) ;; esac": "case ${x} in ('a' | *'.b') 'c' ;; (*)  ;; esac",
    "[[ -f x && $a == b* || ! -n $? ]]": "[[ -f 'x' && ${a} == 'b'* || ! -n ${?} ]]",
    "[ -f \"$x\" ]": "'[' '-f' \"${x}\" ']'",
    "while read -r l; do a; done < <(ls)": "while 'read' '-r' 'l'; do 'a'; done < <( 'ls' )",
    "if a; then b; elif c; then d; else e; fi": "if 'a'; then 'b'; elif 'c'; then 'd'; else 'e'; fi",
    "echo ${x:-a b} \"${x:-a b}\"": "'echo' ${x:-a b} \"${x:-a b}\"",
    "echo $((1 + 2))": "'echo' $((1 + 2))",
    # The end of a line behind a backslash is gone before bash looks for a name. Quotes keep the text from being joined.
    "a 'b' $c\\\nd \"[$c\\\n\\\nd\\\n\"": "'a' 'b' ${cd} '['\"${cd}\"",
    "a 'b' $1\\\n2": "'a' 'b' ${1}'2'",
    "a 'b' $(\\\n(1+1))": None,
    "a 'b' $(\\\n c)": "'a' 'b' $( 'c' )",
    # What is not known cannot be printed.
    "[[ =~ ]] && evil ]]": None, "[[ a == b #'\n]] || evil; [[ x == y #'\n]]": None, "a=([x]=1)": None, "x+=1": None,
    "echo {$,}{x@P}": None, "echo ${x@P}": None, "echo ${!x}": None, "echo ${x#a}": None, "echo ${x[1]}": None,
    "echo $((x))": None, "((x))": None, "for ((;;)); do a; done": None, "f() { a; }": None, "coproc a": None,
    "a |& b": None, "a >(b)": None, "a x<(b)": None, "a 2>| f": None, "a <> f": None, "a >&f": None, "a <&3": None,
    "a {v}> f": None, "a > $x": None, "a > *": None, "a 12> f": None, "a > {x,y}": None, "x=~/a": None, "a b=~/c": None,
    "a ~user": None, "a \"x\":~": None, "export A={a,b}": None, "export $x": None, "declare -i x=1": None, "$x": None,
    "{a,b} c": None, "a [!b]*": None, "a [[:alpha:]]": None, "a {$x,b}": None, "a {b,}": None, "a {b,c}{d,e}": None,
    "cat <<E\n$x\nE": None, "a ''\"$@\"": None, "a $LINENO": None, "a $BASH_EXECUTION_STRING": None, "time -p a": None,
    "select i in a; do b; done": None, "for i; do a; done": None, "case a in b) c;& *) d;; esac": None,
    "[[ a =~ b ]]": None, "[[ x -eq 1 ]]": None, "[[ -v x ]]": None, "[[ ( a ) ]]": None,
    "a {1..300}": None, "for i in {1..300}; do a; done": None, "a $x$": None, "a $(b)$": None, "a ${x:-$y}": None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_a_text_prints_as(text: str, printed: str | None) -> None:
    found = reprint(text)
    assert (found if isinstance(found, str) else None) == printed


def test_everything_that_the_corpora_allow_prints_to_the_same_tree() -> None:
    printed = [(text, found) for text in CORPORA if isinstance(found := reprint(text), str)]
    assert len(printed) > len(CORPORA) / 2
    for text, found in printed:
        assert normal_form(read(found).script) == normal_form(read(text).script)
        assert reprint(found) == found, text


PIECES = st.one_of(
    st.sampled_from(["$x", '"$x"', "${x}", "''", '""', "*", "?", "[ab]", "[a-z]", "$(a b)", '"$(a)"', "{a,b}", "{}"]),
    st.sampled_from(["=", "~", "/", ":", "-", "+", "a", "2", "#", "!", "if", "$", "\\ ", "\\'", "\\*", "[", "]", "é"]),
    st.text("ab*?[]{}$`\\\"#!~&|;<> \n=é", max_size=6).map(lambda text: "'" + text + "'"),
    st.text("ab*?[]{}'#!~&|;<> \n=é", max_size=6).map(lambda text: f'"{text}"'),
)  # fmt: skip
WORDS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
ENDS = st.sampled_from(["", ">f", "2>&1", "<<<", "x=", "export x=", ">>", "[[ -n"])
COMMANDS = st.tuples(ENDS, WORDS, st.lists(WORDS, max_size=3)).map(
    lambda parts: f"{parts[0]}{' ' if parts[0][:1] == '[' else ''}{parts[1]} {' '.join(parts[2])}"
)
TEXTS = st.lists(st.tuples(COMMANDS, st.sampled_from(["; ", " && ", " | ", "\n", " & "])), min_size=1, max_size=3).map(
    lambda parts: "".join(text + end for text, end in parts)
)


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_a_printed_text_prints_as_itself(text: str) -> None:
    found = reprint(text)
    if isinstance(found, str):
        assert reprint(found) == found


def test_a_text_that_is_parsed_otherwise_once_printed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read("a $x; b $y")
    monkeypatch.setattr("countersign.gate.shell.printing.print_tree.read", lambda _: read("a $x && b $y"))
    with pytest.raises(NotPrintable):
        print_tree(reading.script)


@pytest.mark.skipif(NO_SANDBOX is not None, reason=NO_SANDBOX or "")
def test_bash_does_the_same_for_texts_made_at_random_and_for_what_they_print_as() -> None:
    texts = list(generated(SEED, range(COUNT)))
    assert len(list(pairs_of(texts))) > COUNT / 6
    assert list(differences(texts)) == []


@pytest.mark.skipif(NO_SANDBOX is not None, reason=NO_SANDBOX or "")
def test_bash_does_the_same_for_the_corpora_and_for_what_they_print_as() -> None:
    texts = [text for text in dict.fromkeys(CORPORA) if "\0" not in text]  # An argument cannot hold a null byte.
    assert list(differences(texts[SEED % 97 :: 97])) == []
