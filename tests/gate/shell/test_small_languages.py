"""sed and awk programs: what they run, read and write beside filtering."""

from __future__ import annotations

import time

import pytest

from countersign.gate.shell.languages.awk import scan_awk
from countersign.gate.shell.languages.sed import MOST_SCRIPT, scan_sed

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
    "v4.2;p",
    "v",
    "/x/a\\  indented",
    "/x/a\\\\tindented",
    "a\\\n  x\\\n  y",
    ":a;s/x/y/;ta\n$!{N;ba}",
    "s/[[:alpha:]_]*\\/[^\\/]*//",
    "s/[[]//;s/[]]//",
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
SED_UNREADABLE = [
    "s/a/b", "Z", "s/a/b/x", "/a", "p p", "s/[/]/x/w out", "y/a/b", "s", "5", "s\na\nb\n", "k",
    # Where an argument ends, seds differ.
    "v0c;e ls", "v 4.2a;p", "v4}", "a\\ \ne ls", "i\\\t\ne ls", "c\\ ", "a\\\n\ne ls", "a\ne ls",
    "a x\\\ne ls", "a x\\\\\ne ls",
    "a\\\nx\\\\\ne ls", "a", "a\\", ":a b", "ba e ls", "bx}e ls", "t\\\ne ls", ":a;s/x/\\\nw out/",
    "b;a\\\nw out",
    "s xaxbx", "saba", "y1a1b1", "s;a\nb;c;", "\\xaxp", "p\re ls", "p\x0be ls", "s/[[.a.]/x/", "s/[\\]/x/", "s/[a[]/x/",
    "s/[/x/", "}w out", "p" * 10_000,
]  # fmt: skip


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
    '{x = (a + b) / 2 / c[1]; y /= 3} !/x/ && $1 ~ /=/ {print /y/} {print "a" / 2}',
    "/a/{n++}/b/{m++}\n/c/\n/d/,/e/",
    "{ if (/[[:alpha:]_\\/]/) print; else /x/ }",
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
    'BEGIN{"ls " "-l" | getline}': ([None], []),
}
AWK_UNREADABLE = [
    '@load "x"', "{print `ls`}", '{print "a}', "{ @f(1) }", '@include "x"', "/a[/]b/",
    # A slash that divides for one awk begins a regular expression for another.
    '/h/ /1; system("ls") /1', 'BEGIN { getline /2; system("ls") /1 }', 'BEGIN{$/exit/ system("ls")/1}',
    'BEGIN { getline /2; print 1 > "b" }', 'BEGIN{x++ /2; system("ls") /1}', 'BEGIN{x-- /2; system("ls") /1}',
    '{if (1) /"/; system("ls") #"\n}', 'BEGIN{length /2; system("ls") /1}', 'BEGIN{case /2; system("ls") /1}',
    # A number ends in different places, behind which a name begins.
    'BEGIN{.1e1system("ls")}', 'BEGIN{0xbsystem("ls")}', 'BEGIN{08xsystem("ls")}', 'BEGIN{1.xsystem("ls")}',
    'BEGIN{.5e07getline<"x"}', "BEGIN{print 1.5.5}", "{print 0x1p3}",
    'BEGIN{x = (1\n/2; system("ls") /1', "/[]/]x/", "/[a[/", "{print 1 }" * 1_000,
]  # fmt: skip


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
    assert scan_awk('{getline a[(getline b < "x")] < "y"}').reads == ["x", "y"]
    assert scan_awk('{getline a[1,\n2] < "y"}').reads == ["y"]


STALLING = {
    "sed": ["/[[:", "s/[[", "s/[[[[[[", "/[]a]", "a\\\n", "\\", "s/a/", "[", "y/[]/[]/;"],
    "awk": ["getline x ", "{print 1\n\n\n", "\n", "/[]x]", ") /", "(", "if(", "/[[:", "/\\", "a=", '"\\'],
}


@pytest.mark.parametrize(("name", "piece"), [(name, piece) for name in STALLING for piece in STALLING[name]])
def test_reading_a_script_takes_time_that_grows_with_its_length(name: str, piece: str) -> None:
    scan = {"sed": scan_sed, "awk": scan_awk}[name]
    began = time.process_time()
    for length in (MOST_SCRIPT, MOST_SCRIPT - 1, 100_000):
        scan((piece * length)[:length])
        scan(("{" + piece * length)[:length])
    assert time.process_time() - began < 2
