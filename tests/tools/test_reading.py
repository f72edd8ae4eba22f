"""The tools that read, list and search."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from countersign.gate.call import BadArguments, ReadPath
from countersign.settings.policy import RuleText
from countersign.tools.clip import MOST_OUTPUT
from countersign.tools.files.read_file import MOST_PICTURE
from countersign.tools.search import glob, search

from .workbench import PATIENCE, Workbench


def lines(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("content", "arguments", "expected"),
    [
        (b"one\ntwo\n", {}, "one\ntwo\n"),
        (b"one\ntwo", {}, "one\ntwo"),
        (b"", {}, "[the file is empty]"),
        (b"\xef\xbb\xbfa\r\nb\r\n", {}, "a\nb\n"),
        (b"a\nb\nc\n", {"offset": 2}, "b\nc\n"),
        (b"a\nb\nc\n", {"offset": 2, "limit": 1}, "b\n[lines 2 to 2 of 3; read on with offset 3]"),
        (b"a\nb\n", {"offset": 9}, "[the file has 2 lines; there is no line 9]"),
        (b"caf\xe9\n", {}, "caf\ufffd\n[not UTF-8; what could not be decoded is shown as \ufffd]"),
    ],
)
async def test_lines_are_read_as_asked(
    bench: Workbench, content: bytes, arguments: dict[str, int], expected: str
) -> None:
    bench.file("a.txt", content)
    outcome = await bench.do("read_file", path="a.txt", **arguments)
    assert (outcome.success, outcome.output) == (True, expected)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0" + bytes(40), "image/jpeg"),
        (b"GIF89a" + bytes(40), "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 " + bytes(40), "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt " + bytes(40), None),
        (b"BM" + bytes(40), None),
        (PNG + bytes(MOST_PICTURE), None),
    ],
)
async def test_an_image_is_a_picture_and_other_binary_files_are_not(
    bench: Workbench, content: bytes, kind: str | None
) -> None:
    bench.file("a.bin", content)
    outcome = await bench.do("read_file", path="a.bin")
    assert [(one.mime_type, one.data) for one in outcome.pictures] == ([(kind, content)] if kind else [])
    assert outcome.success == (kind is not None)
    assert "\0" not in outcome.output
    assert str(len(content)) in outcome.output


async def test_reading_on_as_the_mark_says_gives_the_whole_file(bench: Workbench) -> None:
    text = lines(1, 20_000)
    bench.file("long.txt", text)
    read, offset = "", 1
    while offset:
        output = (await bench.do("read_file", path="long.txt", offset=offset)).output
        assert len(output.encode()) <= MOST_OUTPUT
        shown, mark, rest = output.partition("\n[lines")
        read += shown + ("\n" if mark else "")
        offset = int(rest.rpartition(" ")[2].rstrip("]")) if mark else 0
    assert read == text


async def test_a_line_that_is_too_long_is_cut_with_a_mark(bench: Workbench) -> None:
    bench.file("long.txt", "x" * 100_000 + "\nsecond\n")
    output = (await bench.do("read_file", path="long.txt")).output
    assert len(output.encode()) <= MOST_OUTPUT
    assert output.endswith("x\n[line 1 of 2 is too long and was cut here; read on with offset 2]")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("missing", "`missing` does not exist"),
        ("folder", "`folder` is a folder"),
        ("pipe", "`pipe` is no regular file"),
        ("text/below", "`text/below` does not exist: a part of its path is no folder"),
        ("binary", "`binary` is a binary file of 3 bytes"),
        ("/dev/zero", "`/dev/zero` is no regular file"),
    ],
)
async def test_what_cannot_be_read_is_told_after_the_permit(bench: Workbench, path: str, told: str) -> None:
    bench.file("text", "x")
    bench.file("binary", b"a\0b")
    bench.file("folder/inside")
    os.mkfifo(bench.workspace / "pipe")
    async with asyncio.timeout(PATIENCE):
        outcome = await bench.do("read_file", path=path)
    assert (outcome.success, outcome.output) == (False, told)


async def test_a_home_path_is_expanded_and_nothing_else_is(bench: Workbench) -> None:
    (bench.home / "a.txt").write_text("at home")
    bench.file("$HOME/a.txt", "literal")
    bench.file("%41.txt", "literal")
    assert (await bench.do("read_file", path="~/a.txt")).output == "at home"
    assert (await bench.do("read_file", path="$HOME/a.txt")).output == "literal"
    assert (await bench.do("read_file", path="%41.txt")).output == "literal"


def test_reading_by_a_link_names_both_ends(tmp_path: Any) -> None:
    made = Workbench(tmp_path)
    os.symlink(made.outside, made.workspace / "out")
    prepared = made.prepare("read_file", path="out/../out/a.txt")
    assert prepared.effects == (
        ReadPath(str(made.workspace / "out/a.txt")),
        ReadPath(str(made.outside / "a.txt")),
    )


async def test_a_listing_shows_what_each_name_is(bench: Workbench) -> None:
    bench.file("b.txt")
    bench.file("a/inside")
    bench.file("odd\n\u202ename")
    os.symlink("b.txt", bench.workspace / "link")
    os.mkfifo(bench.workspace / "pipe")
    outcome = await bench.do("list_dir")
    assert outcome.output.split("\n") == [
        "a/", "b.txt", "link -> b.txt", "odd\\n\\u202ename", "pipe (no regular file)",
    ]  # fmt: skip


async def test_a_long_listing_is_cut_with_a_mark(bench: Workbench) -> None:
    for number in range(1500):
        bench.file(f"{number:04}-{'x' * 60}")
    output = (await bench.do("list_dir")).output
    assert len(output.encode()) <= MOST_OUTPUT
    assert output.endswith("of 1500 names; narrow it down with glob]")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", [".git/", "link", "read.me", "src/", "node_modules/"]),
        ("*.py", []),
        ("**/*.py", ["src/a.py", "src/deep/b.py", "node_modules/c.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/**", ["src/a.py", "src/deep/", "src/deep/b.py", "src/deep/c.ts"]),
        ("src/**/*.{py,ts}", ["src/a.py", "src/deep/b.py", "src/deep/c.ts"]),
        ("**/deep/**/b.*", ["src/deep/b.py"]),
        ("src/[ab].py", ["src/a.py"]),
        ("./src//a.py", ["src/a.py"]),
        ("s?c", ["src/"]),
        ("missing/*", []),
        ("link/*", ["link/e.py"]),
        ("*.PY", []),
    ],
)
async def test_a_pattern_finds_paths_without_following_links_or_entering_git(
    bench: Workbench, pattern: str, expected: list[str]
) -> None:
    # A link that the pattern names is asked for, and judged by where it leads.
    for name in ("src/a.py", "src/deep/b.py", "src/deep/c.ts", "read.me", "node_modules/c.py", ".git/hooks/d.py"):
        bench.file(name)
    (bench.outside / "e.py").write_text("")
    os.symlink(bench.outside, bench.workspace / "link")
    outcome = await bench.do("glob", pattern=pattern)
    found = [] if outcome.output == "[nothing matches]" else outcome.output.split("\n")
    assert found == expected


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../../*", "~/x", "{a,b}" * 7, "x" * 2000])
async def test_a_pattern_that_leaves_the_workspace_is_refused(bench: Workbench, pattern: str) -> None:
    with pytest.raises(BadArguments):
        bench.prepare("glob", pattern=pattern)


async def test_no_pattern_of_stars_takes_long(bench: Workbench) -> None:
    bench.file("a" * 200)
    async with asyncio.timeout(PATIENCE):
        assert (await bench.do("glob", pattern="*a" * 100 + "b")).output == "[nothing matches]"


async def test_a_search_tells_path_line_and_text(bench: Workbench) -> None:
    bench.file("src/a.py", "import os\n# TODO: one\n\n# TODO: two\r\n")
    bench.file("b.txt", "todo\nx\u202eTODO\n")
    outcome = await bench.do("search", pattern="TODO")
    assert outcome.output.split("\n") == [
        "b.txt:2:x\\u202eTODO", "src/a.py:2:# TODO: one", "src/a.py:4:# TODO: two",
    ]  # fmt: skip
    assert (await bench.do("search", pattern=r"^im\w+", path="src")).output == "src/a.py:1:import os"
    assert (await bench.do("search", pattern="two", path="src/a.py")).output == "src/a.py:4:# TODO: two"
    assert (await bench.do("search", pattern="nowhere")).output == "[nothing matches]"


async def test_a_search_passes_by_what_is_not_to_be_read(bench: Workbench) -> None:
    for name in (".env", "deep/id_rsa", ".git/config", "held/back.txt", "asked.txt"):
        bench.file(name, "needle")
    bench.file("binary", b"\0needle")
    bench.file("plain.txt", "needle")
    (bench.outside / "a.txt").write_text("needle")
    os.symlink(bench.outside, bench.workspace / "folder-link")
    os.symlink(bench.outside / "a.txt", bench.workspace / "file-link")
    bench.set(rules=(RuleText("deny", "Read(held/**)"), RuleText("ask", "Read(asked.txt)", agent="Other")))
    output = (await bench.do("search", pattern="needle")).output.split("\n")
    assert output[0] == "plain.txt:1:needle"
    assert [line for line in output[1:] if not line.startswith("[")] == []
    assert (await bench.do("search", pattern="needle", path=".env")).output == ".env:1:needle"


async def test_a_rule_that_came_after_the_search_was_prepared_holds(bench: Workbench) -> None:
    bench.file("a.txt", "needle")
    prepared = bench.prepare("search", pattern="needle")
    bench.set(rules=(RuleText("deny", "Read(a.txt)"),))
    assert "needle" not in (await bench.run("search", prepared)).output
    listing = bench.prepare("glob", pattern="*.txt")
    assert (await bench.run("glob", listing)).output == "[nothing matches]"


@pytest.mark.parametrize("pattern", ["(", "[", "*x", "x" * 2000, ""])
async def test_a_broken_pattern_is_told_at_once(bench: Workbench, pattern: str) -> None:
    with pytest.raises(BadArguments):
        bench.prepare("search", pattern=pattern)


async def test_a_pattern_that_never_ends_holds_up_nobody(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.file("a.txt", "a" * 50 + "!")
    monkeypatch.setattr(search, "SECONDS", 1.0)
    async with asyncio.timeout(PATIENCE):
        searching = asyncio.create_task(bench.do("search", pattern="(a+)+$"))
        # It is started before anything else gets its turn, and others get theirs while it is at it.
        assert (await bench.do("read_file", path="a.txt")).success
        assert not searching.done()
        outcome = await searching
    assert not outcome.success
    assert "use a simpler pattern" in outcome.output


async def test_a_search_that_is_cancelled_leaves_no_child(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.file("a.txt", "a" * 50 + "!")
    children: list[asyncio.subprocess.Process] = []
    busy = asyncio.Event()
    exchange = search._exchange

    async def watched(child: asyncio.subprocess.Process, value: Any) -> Any:
        children.append(child)
        if isinstance(value, list):
            busy.set()
        return await exchange(child, value)

    monkeypatch.setattr(search, "_exchange", watched)
    running = asyncio.create_task(bench.do("search", pattern="(a+)+$"))
    async with asyncio.timeout(PATIENCE):
        await busy.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert children[0].returncode is not None


async def test_many_hits_are_cut_with_a_mark(bench: Workbench) -> None:
    bench.file("a.txt", "needle\n" * 10_000)
    output = (await bench.do("search", pattern="needle")).output
    assert len(output.encode()) <= MOST_OUTPUT
    assert "[cut here after 500 lines" in output


async def test_a_search_over_too_many_files_says_so(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_FILES", 3)
    monkeypatch.setattr(glob, "MOST_LOOKED_AT", 3)
    for number in range(9):
        bench.file(f"{number}.txt", "needle")
    assert "[stopped after 3 files" in (await bench.do("search", pattern="needle")).output
    assert "[stopped after" in (await bench.do("glob", pattern="*")).output


async def test_a_list_of_what_is_to_be_done_reaches_the_chat(bench: Workbench) -> None:
    outcome = await bench.do("todo_write", items=[{"text": "read", "status": "completed"}, {"text": "write"}])
    assert [(item.text, item.status) for item in bench.todos] == [("read", "completed"), ("write", "pending")]
    assert outcome.output == "the list has 2 items, 1 completed"
