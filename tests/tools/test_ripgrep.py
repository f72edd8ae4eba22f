"""Ripgrep as a filter: the same lines as without it, from the same files, and nothing of the others."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.settings.policy import RuleText
from countersign.tools.search.ripgrep import RIPGREP_SERVICE, files_with_any, required_strings, usable_ripgrep

from .workbench import Workbench

RG = next(
    iter(
        [
            *filter(None, [shutil.which("rg")]),
            *map(str, Path(__file__).parents[1].glob(
                "e2e/node_modules/code-server/lib/vscode/node_modules/@vscode/ripgrep*/bin/linux-x64/rg"
            )),
        ]
    ),
    None,
)  # fmt: skip
real = pytest.mark.skipif(
    RG is None, reason="no ripgrep on this machine: neither on PATH nor in the editor of tests/e2e"
)


@pytest.mark.parametrize(
    ("pattern", "strings"),
    [
        ("TODO", {"TODO"}),
        (r"\bdef (\w+)\(", {"def "}),
        ("foo|bar", {"foo", "bar"}),
        ("(foo|bar)+baz", {"foo", "bar"}),
        ("x(?:alpha|b)?gamma", {"gamma"}),
        ("(?i)todo", set()),
        ("(?i:todo)", set()),
        ("a*b?c", set()),
        ("[abc]def", {"def"}),
        ("(foo|b*)", set()),
        (r"foo\nbar", {"foo"}),
        ("(?!foo)ba", {"ba"}),
        ("(?<=foo)x", set()),
        (r"(ab)\1", {"ab"}),
        ("(?x) f o o", {"foo"}),
        ("a{3}", set()),
        ("(?:abc){0}xy", {"xy"}),
        ("", set()),
        ("(", set()),
    ],
)
def test_a_match_needs_one_of_the_strings(pattern: str, strings: set[str]):
    assert set(required_strings(pattern)) == strings


PIECES = st.sampled_from(
    ["ab", "foo", ".", "[a-c]", "(?:ab|fo)", "(ab|x*)", "b?", "a+", "^", "$", r"\w", r"\bfo", "é", "K", "(?i:ab)",
     "(?=fo)", "(?!ab)", "(?<=a)b", "(?:oo){1,2}", "(?P<n>ab)", "|"]
)  # fmt: skip


@given(st.lists(PIECES, min_size=1, max_size=6).map("".join), st.text("abfoxéK \u212a", max_size=12))
def test_no_line_that_matches_holds_none_of_the_strings(pattern: str, line: str):
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    strings = required_strings(pattern)
    if compiled.search(line) and strings:
        assert any(string in line for string in strings)


@real
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("needle", "."),
        (r"need\w+", "sub"),
        ("needle|thread", "."),
        ("(?i)NEEDLE", "."),
        ("caf\u00e9", "."),
        ("zzz", "."),
    ],
)
@pytest.mark.parametrize("rules", [(), (RuleText("deny", "Read(sub/kept/**)"),), (RuleText("ask", "Read(*.md)"),)])
async def test_the_lines_and_their_order_are_those_of_a_search_without_it(
    bench: Workbench, pattern: str, path: str, rules: tuple[RuleText, ...]
):
    texts = {
        "z.txt": "a needle\r\nthread\n", "a.txt": "no\n", "sub/b.md": "needle in b\nneedle again\n",
        ".hidden": "needle", "sub/kept/c.txt": "needle kept", ".env": "needle=secret",
        "node_modules/m/d.js": "needle in a module",
        "sub/node_modules/e.js": "needle", "sub/a/f.txt": "caf\u00e9 needle", ".git/config": "needle",
        "sub/.git/x": "needle", "-dash.txt": "needle", "sub/latin.txt": b"caf\xe9 needle", "sub/bin": b"needle\0",
        "wide.txt": "needle".encode("utf-16"), "late.txt": b"needle\n" + b"x" * 9000 + b"\0",
        ".ignore": "z.txt\nneedle",
    }  # fmt: skip
    for name, text in texts.items():
        bench.file(name, text)
    (bench.outside / "o.txt").write_text("needle outside")
    (bench.workspace / "link.txt").symlink_to(bench.outside / "o.txt")
    (bench.workspace / "linked").symlink_to(bench.outside)
    bench.set(rules=rules)
    plain = await bench.do("search", pattern=pattern, path=path)
    bench.bench.services[RIPGREP_SERVICE] = lambda: RG  # type: ignore[index]
    filtered = await bench.do("search", pattern=pattern, path=path)

    def lines(output: str) -> list[str]:
        return [line for line in output.splitlines() if "held back by a rule" not in line]

    assert lines(filtered.output) == lines(plain.output)
    assert "outside" not in filtered.output
    assert "secret" not in filtered.output.replace("that are secret", "")


@real
async def test_what_a_file_that_is_held_back_holds_cannot_be_told(bench: Workbench):
    """A count of files that matched and were kept back would answer questions about a secret, one by one."""
    bench.file(".env", "KEY=abcdef")
    bench.file("denied.txt", "KEY=abcdef")
    bench.set(rules=(RuleText("deny", "Read(denied.txt)"),))
    bench.bench.services[RIPGREP_SERVICE] = lambda: RG  # type: ignore[index]
    right, wrong = [await bench.do("search", pattern=f"KEY={guess}") for guess in ("abc", "xyz")]
    assert (right.output, dict(right.record)) == (wrong.output, dict(wrong.record))


@real
@pytest.mark.parametrize(
    ("path", "found"), [(".", ["kept.txt", "sub/s.txt"]), ("sub", ["sub/s.txt"]), ("gen", ["gen/g.txt"])]
)
async def test_what_gitignore_excludes_is_passed_by_unless_its_folder_is_named(
    bench: Workbench, path: str, found: list[str]
):
    for name in ("kept.txt", "a.log", "sub/s.txt", "sub/b.log", "gen/g.txt", "sub/t.tmp"):
        bench.file(name, "needle")
    bench.file(".gitignore", "*.log\n/gen/\n")
    bench.file("sub/.gitignore", "*.tmp\n")
    bench.bench.services[RIPGREP_SERVICE] = lambda: RG  # type: ignore[index]
    output = (await bench.do("search", pattern="needle", path=path)).output
    assert [line.partition(":")[0] for line in output.splitlines()] == found


@real
@pytest.mark.parametrize("where", ["", "sub"])
@pytest.mark.parametrize("what", ["secret", "denied", "device", "pipe", "folder", "long"])
async def test_a_gitignore_that_is_no_plain_readable_file_excludes_nothing(bench: Workbench, what: str, where: str):
    """A line of a secret would be told by the file of that name which is missing; a device or a pipe never ends."""
    bench.file(".env", "KEY=hunter2\n")
    bench.file(f"{where or '.'}/KEY=hunter2", "needle")
    ignored = bench.workspace / where / ".gitignore"
    match what:
        case "secret":
            ignored.symlink_to(bench.workspace / ".env")
        case "denied":
            bench.file("denied", "KEY=hunter2\n")
            os.link(bench.workspace / "denied", ignored)
            bench.set(rules=(RuleText("deny", "Read(**/.gitignore)"),))
        case "device":
            ignored.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(ignored)
        case "folder":
            ignored.mkdir()
        case _:
            ignored.write_text("*\n" * (1 << 18))
    bench.bench.services[RIPGREP_SERVICE] = lambda: RG  # type: ignore[index]
    output = (await bench.do("search", pattern="needle")).output
    assert "KEY=hunter2:1:needle" in output
    assert "stopped" not in output


def _listed_by_git(workspace: Path) -> set[str]:
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=workspace, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return set(listed.split("\0"))


@real
async def test_a_gitignore_of_a_folder_counts_there_and_below(bench: Workbench):
    """The same files as git itself excludes, whatever the folder's name."""
    texts = {
        ".gitignore": "*.log\n!keep.log\n# c\n\nx y\n", "a[b]*/.gitignore": "*.tmp\n/top\nin/out\n!two.log\n",
        "a[b]*/deep/.gitignore": "!z.tmp\r\nonly/\n\\#odd\n", "{c}/.gitignore": "\ufeffs\n",
    }  # fmt: skip
    names = ["one.log", "keep.log", "x y", "a[b]*/1.tmp", "a[b]*/top", "a[b]*/deep/top", "a[b]*/in/out", "in/out",
             "a[b]*/two.log", "two.log", "a[b]*/deep/z.tmp", "a[b]*/deep/y.tmp", "a[b]*/deep/only/f",
             "a[b]*/only/f", "a[b]*/deep/#odd", "{c}/s", "c/s", "aX/1.tmp", "ab/top"]  # fmt: skip
    for name, text in {**texts, **dict.fromkeys(names, "needle")}.items():
        bench.file(name, text)
    listed = await asyncio.to_thread(_listed_by_git, bench.workspace)
    assert RG is not None
    found = await files_with_any(RG, ["needle"], str(bench.workspace), ".", os.path.isabs)
    assert found is not None
    assert set(found) == set(names) & listed
    below = await files_with_any(RG, ["needle"], str(bench.workspace), "a[b]*", os.path.isabs)
    assert below is not None
    assert {f"a[b]*/{name}" for name in below} == {name for name in found if name.startswith("a[b]*/")}


@pytest.mark.parametrize(
    "script",
    ["exit 2", "echo broken; exit 3", "head -c 20000000 /dev/zero", "kill -9 $$", "printf 'b.txt\\0'; kill -6 $$"],
)
async def test_a_program_that_fails_leaves_the_search_to_itself(bench: Workbench, tmp_path: Path, script: str):
    broken = tmp_path / "rg"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    bench.file("a.txt", "needle")
    assert await files_with_any(str(broken), ["x"], str(bench.workspace), ".", os.path.isabs) is None
    assert await files_with_any("/nowhere/rg", ["x"], str(bench.workspace), ".", os.path.isabs) is None
    bench.bench.services[RIPGREP_SERVICE] = lambda: str(broken)  # type: ignore[index]
    assert (await bench.do("search", pattern="needle")).output == "a.txt:1:needle"


@pytest.mark.parametrize(
    "names", ["../../etc/passwd", "/etc/passwd", "sub/../../outside/o.txt", ".git/config", "linked/o.txt"]
)
async def test_what_a_program_names_is_opened_only_inside_and_through_no_link(
    bench: Workbench, tmp_path: Path, names: str
):
    lying = tmp_path / "rg"
    lying.write_text(f"#!/bin/sh\nprintf '%s\\0' '{names}'\n")
    lying.chmod(0o755)
    (bench.outside / "o.txt").write_text("root needle")
    (bench.workspace / "linked").symlink_to(bench.outside)
    bench.file(".git/config", "root")
    bench.file("sub/a.txt", "")
    bench.bench.services[RIPGREP_SERVICE] = lambda: str(lying)  # type: ignore[index]
    assert (await bench.do("search", pattern="root")).output == "[nothing matches]"


def test_the_program_is_never_one_of_the_workspace(tmp_path: Path):
    workspace, system = tmp_path / "w", tmp_path / "bin"
    for folder in (workspace, system):
        folder.mkdir()
        (folder / "rg").write_text("#!/bin/sh\n")
        (folder / "rg").chmod(0o755)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "rg").symlink_to(workspace / "rg")
    inside, outside = str(workspace / "rg"), str(system / "rg")
    folders = [str(workspace)]
    path = os.pathsep.join([str(workspace), "", ".", str(tmp_path / "links"), str(system)])
    assert usable_ripgrep(None, path, folders) == outside
    assert usable_ripgrep(inside, path, folders) == outside
    assert usable_ripgrep(outside, None, folders) == outside
    assert usable_ripgrep("rg", str(workspace), folders) is None
    (system / "rg").chmod(0o644)
    assert usable_ripgrep(None, path, folders) is None
