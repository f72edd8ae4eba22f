"""sed and awk programs: what they run, read and write beside filtering."""

from __future__ import annotations

import pytest

from countersign.gate.shell.languages.awk import scan_awk
from countersign.gate.shell.languages.sed import scan_sed

SED_HARMLESS = [
    "5,15p",
    "s/a/b/g",
    "s|a/b|c|",
    "/a/d",
    "$!N;P;D",
    "/a/,/b/{s/x/y/;p}",
    ":a;N;$!ba;s/\\n/ /g",
    "1!G;h;$!d",
    "y/ab/cd/",
    "/^#/d;/^$/d",
    "s/\\(a\\)/\\1/2",
    "0~3p",
    "/a/I,+2p",
    "a\\\ntext; w x",
    "i text e",
    "s/a/w e/",
    "s/e/x/;# w out",
    "p;q5",
    "l 80",
    "s/[a-z]*/x/",
    "\\,a,p",
    "n;n;s/x/y/I",
    "1{p};2{p}",
    "c\\\nfoo\\\nbar",
    "",
    "#n\np",
]
SED_NOT = {
    "w out": (["out"], 0),
    "s/a/b/w out": (["out"], 0),
    "s/a/b/gw out": (["out"], 0),
    "1W out": (["out"], 0),
    "p;w out": (["out"], 0),
    "e": ([], 1),
    "1e ls": ([], 1),
    "s/a/b/e": ([], 1),
    "s/a/b/pe": ([], 1),
    "$!{$!N};e": ([], 1),
    "/a/{w out\n}": (["out"], 0),
    "s/a/b/ew out": (["out"], 1),
    "y/a/b/;e ls": ([], 1),
    "a\\\nx\ne": ([], 1),
    "\\,e,w out": (["out"], 0),
}
SED_UNREADABLE = ["s/a/b", "Z", "s/a/b/x", "/a", "p p", "s/[/]/x/w out", "y/a/b", "s", "5", "s\na\nb\n", "k"]


@pytest.mark.parametrize("script", SED_HARMLESS)
def test_a_sed_script_that_filters_does_nothing_else(script: str) -> None:
    assert scan_sed(script).harmless


@pytest.mark.parametrize("script", SED_NOT)
def test_what_a_sed_script_writes_and_runs_is_found(script: str) -> None:
    doings = scan_sed(script)
    assert (doings.writes, len(doings.runs)) == SED_NOT[script]


@pytest.mark.parametrize("script", SED_UNREADABLE)
def test_a_sed_script_that_cannot_be_read_could_do_anything(script: str) -> None:
    assert scan_sed(script).unreadable


def test_a_file_that_sed_reads_is_found() -> None:
    assert scan_sed("r a b\nR c").reads == ["a b", "c"]


AWK_HARMLESS = [
    "NR==1",
    "{print $1}",
    "$1 > 5",
    "$1 > 5 && $2 < 3 {print}",
    "{print ($1 > 2)}",
    "/a|b/ {n++} END {print n/2}",
    "{a[$1]++} END {for (k in a) print k, a[k]}",
    "$3 ~ /x/ || $2 > 1",
    '{print "a > b | c"}',
    '{ printf("%s\\n", $1) }',
    '{gsub(/[\\/]/, "")} 1',
    'BEGIN {FS=","} NR > 1 {s += $2} END {print s}',
    '{print > "/dev/stderr"}',
    "{x = $1 / 2; y = x / 3; print x, y} # | sh",
    "{if ($1 > 2) print; else next}",
    "{print length($0) > 80 ? 1 : 0}"[:0] + "1",
    "{print $1\n print $2}",
    "function f(x) { return x > 1 } { print f($1) }",
]
AWK_NOT = {
    'BEGIN {system("ls")}': (["ls"], []),
    '{print | "sh"}': (["sh"], []),
    '{print > "out"}': ([], ["out"]),
    '{print $1 >> "out"}': ([], ["out"]),
    '{printf "%s", $1 > "out"}': ([], ["out"]),
    '"ls" | getline x': (["ls"], []),
    "{print $1 > $2}": ([], [None]),
    '{print "a" | cmd}': ([None], []),
    '{print |& "sh"}': (["sh"], []),
    'BEGIN {while (("ls" | getline l) > 0) print l}': (["ls"], []),
    '{print($1) > "out"}': ([], ["out"]),
    "{system($1)}": ([None], []),
    '{print $1 > ("o" "ut")}': ([], [None]),
}
AWK_UNREADABLE = ['@load "x"', "{print `ls`}", '{print "a}', "{ @f(1) }", '@include "x"', "/a[/]b/"]


@pytest.mark.parametrize("program", AWK_HARMLESS)
def test_an_awk_program_that_filters_does_nothing_else(program: str) -> None:
    assert scan_awk(program).harmless


@pytest.mark.parametrize("program", AWK_NOT)
def test_what_an_awk_program_runs_and_writes_is_found(program: str) -> None:
    doings = scan_awk(program)
    assert (doings.runs, doings.writes) == AWK_NOT[program]


@pytest.mark.parametrize("program", AWK_UNREADABLE)
def test_an_awk_program_that_cannot_be_read_could_do_anything(program: str) -> None:
    assert scan_awk(program).unreadable


def test_a_file_that_awk_reads_is_found() -> None:
    assert "x" in scan_awk('{while ((getline l < "x") > 0) print l}').reads
