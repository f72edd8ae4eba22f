"""The tools that change files, on real files."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Any

import pytest

from countersign.gate.call import BadArguments, FileState, ReadPath, WritePath
from countersign.tools.files.diff_preview import outcome_of_change
from countersign.tools.places import Place
from countersign.tools.registry import BY_NAME
from countersign.wire.approvals import DiffPreview, ToolPreview
from countersign.wire.errors import InternalError
from countersign.wire.threads import FileDiff

from .workbench import Workbench


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def test_a_new_file_comes_with_its_folders(bench: Workbench) -> None:
    path = str(bench.workspace / "a/b/c.txt")
    prepared = bench.prepare("write_file", path="a/b/c.txt", content="hi\n")
    assert prepared.effects == (WritePath(path, "create"),)
    assert prepared.preview == DiffPreview(path=path, operation="create", new_text="hi\n")
    assert prepared.bound == (FileState(path, None),)
    assert prepared.title == "Create a/b/c.txt"
    assert not (bench.workspace / "a").exists()

    outcome = await bench.run("write_file", prepared)

    assert (bench.workspace / "a/b/c.txt").read_bytes() == b"hi\n"
    assert outcome.success
    assert outcome.diff == FileDiff(path=path, added=1, removed=0, new_text="hi\n")
    assert outcome.before_image is None
    assert outcome.record == {
        "operation": "create", "path": path, "bytes": 3, "sha256Before": None, "sha256After": sha(b"hi\n"),
    }  # fmt: skip
    assert os.listdir(bench.workspace / "a/b") == ["c.txt"]


async def test_replacing_a_file_keeps_its_mode_and_its_old_bytes_for_undo(bench: Workbench) -> None:
    file = bench.file("run.sh", "old\n")
    file.chmod(0o750)
    prepared = bench.prepare("write_file", path="run.sh", content="new\nmore\n")
    assert prepared.preview == DiffPreview(path=str(file), operation="edit", old_text="old\n", new_text="new\nmore\n")
    assert prepared.bound == (FileState(str(file), sha(b"old\n")),)

    outcome = await bench.run("write_file", prepared)

    assert file.read_text() == "new\nmore\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert outcome.before_image == b"old\n"
    assert outcome.output == "changed `run.sh` (+2 -1 lines)"


@pytest.mark.parametrize(("kept", "told"), [(b"one", None), (None, False), (b"on", False)])
def test_a_receipt_says_where_the_bytes_from_before_were_not_kept(kept: bytes | None, told: bool | None) -> None:
    place = Place("/w/a", "/w/a", "a")
    outcome = outcome_of_change(place, "edit", "one", "two", before=kept, after=b"two", before_sha256=sha(b"one"))
    assert outcome.record.get("beforeKept") is told


async def test_an_edit_keeps_line_ends_and_mark(bench: Workbench) -> None:
    file = bench.file("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    prepared = bench.prepare("edit_file", path="a.txt", edits=[{"old_text": "one\ntwo", "new_text": "one\n1.5\ntwo"}])
    assert isinstance(prepared.preview, DiffPreview)
    assert prepared.preview.new_text == "\ufeffone\r\n1.5\r\ntwo\r\n"
    assert prepared.locations[0].line == 2
    await bench.run("edit_file", prepared)
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n1.5\r\ntwo\r\n"


async def test_a_deleted_file_can_be_brought_back(bench: Workbench) -> None:
    file = bench.file("gone.bin", b"\0\1\2")
    prepared = bench.prepare("delete_file", path="gone.bin")
    assert prepared.preview == DiffPreview(path=str(file), operation="delete", new_text="")
    outcome = await bench.run("delete_file", prepared)
    assert not file.exists()
    assert outcome.before_image == b"\0\1\2"
    assert outcome.record["sha256Before"] == sha(b"\0\1\2")


async def test_a_file_moves_with_new_folders_and_counts_as_read(bench: Workbench) -> None:
    file = bench.file("a.txt", "text")
    to = bench.workspace / "x/y/b.txt"
    prepared = bench.prepare("move_file", path="a.txt", to="x/y/b.txt")
    assert prepared.effects == (ReadPath(str(file)), WritePath(str(file), "move"), WritePath(str(to), "move"))
    assert prepared.bound == (FileState(str(file), sha(b"text")), FileState(str(to), None))
    outcome = await bench.run("move_file", prepared)
    assert outcome.success
    assert not file.exists()
    assert to.read_text() == "text"
    assert to.stat().st_nlink == 1


async def test_a_file_system_without_hard_links_does_as_well(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert (await bench.do("write_file", path="a.txt", content="text")).success
    assert (await bench.do("move_file", path="a.txt", to="b.txt")).success
    assert [path.name for path in bench.workspace.iterdir()] == ["b.txt"]
    assert (bench.workspace / "b.txt").read_text() == "text"


async def test_a_link_inside_is_resolved_and_both_spellings_are_judged(bench: Workbench) -> None:
    file = bench.file("real/a.txt", "x")
    os.symlink("real", bench.workspace / "link")
    prepared = bench.prepare("write_file", path="link/a.txt", content="y")
    assert prepared.effects == (WritePath(str(bench.workspace / "link/a.txt"), "edit"), WritePath(str(file), "edit"))
    assert prepared.bound[0].path == str(file)
    await bench.run("write_file", prepared)
    assert file.read_text() == "y"
    assert (bench.workspace / "link").is_symlink()


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("write_file", {"path": "", "content": ""}, "empty"),
    ("write_file", {"path": "a\0b", "content": ""}, "cannot be a path"),
    ("write_file", {"path": "x" * 5000, "content": ""}, "longer than"),
    ("write_file", {"path": "binary", "content": "text"}, "binary"),
    ("write_file", {"path": "latin", "content": "text"}, "not UTF-8"),
    ("write_file", {"path": "folder", "content": "text"}, "is a folder"),
    ("write_file", {"path": "text/below", "content": "text"}, "no folder"),
    ("write_file", {"path": "text", "content": "hello hello"}, "exactly this content"),
    ("write_file", {"path": "new", "content": "\ud800"}, "half of a character"),
    ("write_file", {"path": "circle", "content": ""}, "circle"),
    ("write_file", {"path": "new", "content": "x" * (4 << 20) + "x"}, "longer than"),
    ("edit_file", {"path": "missing", "edits": [{"old_text": "a", "new_text": "b"}]}, "does not exist"),
    ("edit_file", {"path": "binary", "edits": [{"old_text": "a", "new_text": "b"}]}, "binary"),
    ("edit_file", {"path": "latin", "edits": [{"old_text": "a", "new_text": "b"}]}, "not UTF-8"),
    ("edit_file", {"path": "text", "edits": [{"old_text": "hello", "new_text": "b"}]}, "occurs 2 times"),
    ("edit_file", {"path": "text", "edits": [{"old_text": "hullo", "new_text": "b"}]}, "0 times"),
    ("delete_file", {"path": "missing"}, "does not exist"),
    ("delete_file", {"path": "folder"}, "is a folder"),
    ("delete_file", {"path": "link"}, "is a link to `text`"),
    ("move_file", {"path": "missing", "to": "x"}, "does not exist"),
    ("move_file", {"path": "link", "to": "x"}, "is a link"),
    ("move_file", {"path": "text", "to": "latin"}, "there is a `latin` already"),
    ("move_file", {"path": "text", "to": "folder"}, "is a folder"),
    ("move_file", {"path": "text", "to": "text"}, "already"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), REFUSED)
async def test_what_cannot_be_done_is_told_before_anybody_is_asked(
    bench: Workbench, name: str, arguments: dict[str, Any], told: str
) -> None:
    bench.file("text", "hello hello")
    bench.file("binary", b"\0\1")
    bench.file("latin", b"caf\xe9")
    bench.file("folder/inside")
    os.symlink("text", bench.workspace / "link")
    os.symlink("circle", bench.workspace / "circle")
    with pytest.raises(BadArguments, match=told):
        bench.prepare(name, **arguments)


GUARDED: list[tuple[str, dict[str, Any]]] = [
    ("edit_file", {"path": "{}", "edits": [{"old_text": "no such text", "new_text": "b"}]}),
    ("edit_file", {"path": "{}.missing", "edits": [{"old_text": "a", "new_text": "b"}]}),
    ("write_file", {"path": "{}", "content": "key = 1"}),
    ("delete_file", {"path": "{}.missing"}),
    ("move_file", {"path": "{}.missing", "to": "x"}),
]


@pytest.mark.parametrize(("name", "arguments"), GUARDED)
@pytest.mark.parametrize("place", ["outside", "secret"])
async def test_a_failure_that_tells_what_a_guarded_file_holds_waits_for_the_permit(
    bench: Workbench, name: str, arguments: dict[str, Any], place: str
) -> None:
    file = bench.outside / "a.txt" if place == "outside" else bench.workspace / ".env"
    file.write_text("key = 1")
    (bench.workspace / ".env.missing").unlink(missing_ok=True)
    filled = {key: value.format(file) if isinstance(value, str) else value for key, value in arguments.items()}
    prepared = bench.prepare(name, **filled)
    assert isinstance(prepared.preview, ToolPreview)
    assert any(isinstance(effect, WritePath) for effect in prepared.effects)
    before = bench.tree()
    outcome = await bench.run(name, prepared)
    assert not outcome.success
    assert outcome.output
    assert bench.tree() == before


async def test_editing_a_secret_needs_the_leave_to_read_it(bench: Workbench) -> None:
    file = bench.file(".env", "key = 1")
    prepared = bench.prepare("edit_file", path=".env", edits=[{"old_text": "1", "new_text": "2"}])
    assert prepared.effects == (ReadPath(str(file)), WritePath(str(file), "edit"))


async def test_a_permit_is_spent_by_its_first_use(bench: Workbench) -> None:
    prepared = bench.prepare("write_file", path="a.txt", content="x")
    permit = bench.permit("write_file", prepared)
    await BY_NAME["write_file"].run(permit, prepared, bench.bench)
    (bench.workspace / "a.txt").unlink()
    with pytest.raises(InternalError, match="twice"):
        await BY_NAME["write_file"].run(permit, prepared, bench.bench)
    assert list(bench.workspace.iterdir()) == []


@pytest.mark.parametrize("changes", [{"effects": ()}, {"bound": ()}])
async def test_a_permit_for_something_else_opens_nothing(bench: Workbench, changes: dict[str, Any]) -> None:
    bench.file("a.txt", "old")
    prepared = bench.prepare("write_file", path="a.txt", content="new")
    with pytest.raises(InternalError, match="does not fit"):
        await bench.run("write_file", prepared, **changes)
    assert (bench.workspace / "a.txt").read_text() == "old"


async def test_a_large_file_is_deleted_without_an_image_for_undo(bench: Workbench) -> None:
    bench.file("big", b"x" * (5 << 20) + b"x")
    outcome = await bench.do("delete_file", path="big")
    assert outcome.success
    assert outcome.before_image is None


async def test_a_change_over_a_mebibyte_says_so_on_its_preview_and_is_still_whole(bench: Workbench) -> None:
    text = "line\n" * 300_000
    prepared = bench.prepare("write_file", path="big", content=text)
    assert isinstance(prepared.preview, DiffPreview)
    assert prepared.preview.too_large
    assert prepared.preview.new_text == text
    outcome = await bench.run("write_file", prepared)
    assert outcome.diff == FileDiff(path=str(bench.workspace / "big"), added=300_000, removed=0)


async def test_a_full_disk_is_told_and_leaves_nothing(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.file("a.txt", "old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    before = bench.tree()
    for name in ("a.txt", "new/b.txt"):
        outcome = await bench.do("write_file", path=name, content="new")
        assert outcome.output == f"`{name}` failed: no space left on device; nothing was written"
    assert bench.tree() == before
