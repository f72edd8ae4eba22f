"""INVARIANT (same bytes): whatever changes between the card and the act voids the permit, and nothing is done."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from countersign.gate.permit import Stale
from countersign.settings import rename
from countersign.tools.files import change

from .workbench import Workbench

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("write_file", {"path": "dir/new.txt", "content": "new"}),
    "create deep": ("write_file", {"path": "dir/x/y/new.txt", "content": "new"}),
    "replace": ("write_file", {"path": "dir/a.txt", "content": "new"}),
    "replace by link": ("write_file", {"path": "link", "content": "new"}),
    "edit": ("edit_file", {"path": "dir/a.txt", "edits": [{"old_text": "old", "new_text": "new"}]}),
    "delete": ("delete_file", {"path": "dir/a.txt"}),
    "move": ("move_file", {"path": "dir/a.txt", "to": "dir/moved/b.txt"}),
    "delete by link": ("delete_file", {"path": "dir-link/a.txt"}),
    "move by link": ("move_file", {"path": "dir-link/a.txt", "to": "b.txt"}),
    "move to link": ("move_file", {"path": "other.txt", "to": "dir-link/b.txt"}),
}
BY_FOLDER_LINK = ("delete by link", "move by link", "move to link")
EXISTING = ("replace", "replace by link", "edit", "delete", "move")


def write(name: str, text: str = "changed") -> Callable[[Workbench], None]:
    def disturb(bench: Workbench) -> None:
        bench.file(name, text)

    return disturb


def remove(name: str) -> Callable[[Workbench], None]:
    return lambda bench: (bench.workspace / name).unlink()


def become_link(name: str, target: str) -> Callable[[Workbench], None]:
    """What stands there is replaced by a link; the same content is behind it."""

    def disturb(bench: Workbench) -> None:
        path = bench.workspace / name
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.exists():
            path.rename(path.with_name("away"))
        path.parent.mkdir(exist_ok=True)
        os.symlink(str(target).format(outside=bench.outside, workspace=bench.workspace), path)

    return disturb


def become_folder(name: str) -> Callable[[Workbench], None]:
    def disturb(bench: Workbench) -> None:
        (bench.workspace / name).unlink(missing_ok=True)
        (bench.workspace / name).mkdir(parents=True)

    return disturb


def become_pipe(name: str) -> Callable[[Workbench], None]:
    def disturb(bench: Workbench) -> None:
        (bench.workspace / name).unlink(missing_ok=True)
        os.mkfifo(bench.workspace / name)

    return disturb


def gone_folder(bench: Workbench) -> None:
    shutil.rmtree(bench.workspace / "dir")


def folder_to_file(bench: Workbench) -> None:
    shutil.rmtree(bench.workspace / "dir")
    bench.file("dir", "a file now")


DISTURBANCES: list[tuple[str, Callable[[Workbench], None]]] = [
    *((call, write("dir/a.txt")) for call in EXISTING),
    *((call, remove("dir/a.txt")) for call in EXISTING),
    *((call, become_folder("dir/a.txt")) for call in EXISTING),
    *((call, become_pipe("dir/a.txt")) for call in EXISTING),
    *((call, become_link("dir/a.txt", "{outside}/a.txt")) for call in EXISTING),
    *((call, become_link("dir/a.txt", "{workspace}/other.txt")) for call in EXISTING),
    *((call, become_link("dir", "{outside}")) for call in CALLS),
    *((call, become_link("dir", "away")) for call in CALLS),
    *((call, become_link("dir-link", "{outside}")) for call in BY_FOLDER_LINK),
    *((call, gone_folder) for call in EXISTING),
    *((call, folder_to_file) for call in CALLS),
    ("create", write("dir/new.txt")),
    ("create", write("dir/new.txt", "")),
    ("create", become_link("dir/new.txt", "{outside}/made.txt")),
    ("create", become_link("dir/new.txt", "nowhere")),
    ("create", become_folder("dir/new.txt")),
    ("create deep", become_link("dir/x", "{outside}")),
    ("create deep", write("dir/x", "a file")),
    ("replace by link", become_link("link", "{outside}/a.txt")),
    ("replace by link", become_link("link", "other.txt")),
    ("replace by link", remove("link")),
    ("move", write("dir/moved/b.txt")),
    ("move", become_link("dir/moved", "{outside}")),
    ("move", become_link("dir/moved/b.txt", "{outside}/made.txt")),
]


def lay_out(bench: Workbench) -> None:
    bench.file("dir/a.txt", "old text")
    bench.file("other.txt", "old text")
    (bench.outside / "a.txt").write_text("old text")
    os.symlink("dir/a.txt", bench.workspace / "link")
    os.symlink("dir", bench.workspace / "dir-link")


@pytest.mark.parametrize(("call", "disturb"), DISTURBANCES)
async def test_what_changed_since_the_card_is_left_alone(
    bench: Workbench, call: str, disturb: Callable[[Workbench], None]
) -> None:
    lay_out(bench)
    name, arguments = CALLS[call]
    prepared = bench.prepare(name, **arguments)
    disturb(bench)
    before = bench.tree()
    with pytest.raises(Stale):
        await bench.run(name, prepared)
    assert bench.tree() == before


LAST_MOMENT: list[tuple[str, Callable[[Workbench], None]]] = [
    ("create", write("dir/new.txt")),
    ("create", become_link("dir/new.txt", "{outside}/made.txt")),
    ("create", become_link("dir", "{outside}")),
    ("create deep", become_link("dir", "{outside}")),
    ("replace", write("dir/a.txt")),
    ("replace", become_link("dir/a.txt", "{outside}/a.txt")),
    ("replace", become_link("dir", "{outside}")),
    ("edit", write("dir/a.txt")),
]


@pytest.mark.parametrize(("call", "disturb"), LAST_MOMENT)
async def test_what_changes_while_the_new_bytes_are_written_is_left_alone(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, call: str, disturb: Callable[[Workbench], None]
) -> None:
    lay_out(bench)
    name, arguments = CALLS[call]
    prepared = bench.prepare(name, **arguments)
    disturbed: list[dict[str, str]] = []
    flush = os.fsync

    def flush_and_disturb(descriptor: int) -> None:
        flush(descriptor)
        if not disturbed:
            disturb(bench)
            disturbed.append(bench.tree())

    monkeypatch.setattr(os, "fsync", flush_and_disturb)
    with pytest.raises(Stale):
        await bench.run(name, prepared)
    # Our own temporary file and the folders we made were there at that moment, and have gone since.
    expected = {path: shown for path, shown in disturbed[0].items() if ".countersign-" not in path}
    left = bench.tree()
    assert {path: expected[path] for path in left} == left
    assert all("/x" in path for path in expected.keys() - left.keys())


@pytest.fixture
def plain_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that can neither exchange names nor move to where nothing is."""
    monkeypatch.setattr(rename, "_renameat2", lambda: None)


@pytest.mark.usefixtures("plain_names")
async def test_a_file_that_is_moved_away_while_it_is_linked_is_not_lost(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(bench)
    link = os.link

    def swap_and_link(name: str, *arguments: Any, **keywords: Any) -> None:
        link(name, *arguments, **keywords)
        bench.file("fresh", "somebody else's")
        os.replace(bench.workspace / "fresh", bench.workspace / "dir/a.txt")

    monkeypatch.setattr(os, "link", swap_and_link)
    with pytest.raises(Stale):
        await bench.do("move_file", path="dir/a.txt", to="b.txt")
    assert (bench.workspace / "dir/a.txt").read_text() == "somebody else's"
    assert not (bench.workspace / "b.txt").exists()


@pytest.mark.usefixtures("plain_names")
async def test_a_folder_that_takes_a_moving_files_name_leaves_nothing_behind(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(bench)
    unlink = os.unlink

    def swap_and_unlink(name: str, *arguments: Any, **keywords: Any) -> None:
        monkeypatch.setattr(os, "unlink", unlink)
        (bench.workspace / "dir/a.txt").rename(bench.workspace / "away")
        (bench.workspace / "dir/a.txt").mkdir()
        unlink(name, *arguments, **keywords)

    monkeypatch.setattr(os, "unlink", swap_and_unlink)
    outcome = await bench.do("move_file", path="dir/a.txt", to="b.txt")
    assert outcome.output == "`dir/a.txt` is a folder; nothing was moved"
    assert not (bench.workspace / "b.txt").exists()


@pytest.mark.usefixtures("plain_names")
@pytest.mark.parametrize("call", CALLS)
async def test_where_names_cannot_be_exchanged_the_tools_do_the_same(bench: Workbench, call: str) -> None:
    lay_out(bench)
    name, arguments = CALLS[call]
    assert (await bench.do(name, **arguments)).success
    left = bench.tree()
    assert not any(".countersign-" in path for path in left)
    old, new = (sum(text.encode().hex() in shown for shown in left.values()) for text in ("old text", "new"))
    assert (old, new) == {"write_file": (3 - ("replace" in call), 1), "edit_file": (2, 1), "delete_file": (2, 0)}.get(
        name, (3, 0)
    )


WITHIN_THE_LAST_LOOK: list[tuple[str, Callable[[Workbench], None]]] = [
    *((call, write("dir/a.txt", "theirs")) for call in EXISTING),
    *((call, become_link("dir/a.txt", "{outside}/a.txt")) for call in EXISTING),
    *((call, become_folder("dir/a.txt")) for call in EXISTING),
    *((call, remove("dir/a.txt")) for call in EXISTING),
]


@pytest.mark.parametrize(("call", "disturb"), WITHIN_THE_LAST_LOOK)
async def test_what_takes_a_files_place_right_after_the_last_look_is_put_back(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, call: str, disturb: Callable[[Workbench], None]
) -> None:
    lay_out(bench)
    name, arguments = CALLS[call]
    prepared = bench.prepare(name, **arguments)
    look, disturbed = change._same_or_stale, list[dict[str, str]]()

    def look_and_disturb(*given: Any) -> None:
        look(*given)
        disturb(bench)
        disturbed.append(bench.tree())

    monkeypatch.setattr(change, "_same_or_stale", look_and_disturb)
    with pytest.raises(Stale):
        await bench.run(name, prepared)
    expected = {path: shown for path, shown in disturbed[0].items() if ".countersign-" not in path}
    left = bench.tree()
    assert {path: shown for path, shown in left.items() if path != "workspace/dir/moved"} == {
        path: shown for path, shown in expected.items() if path != "workspace/dir/moved"
    }


@pytest.mark.parametrize(
    ("name", "arguments", "disturb"),
    [
        ("read_file", {"path": "dir/a.txt"}, become_link("dir/a.txt", "{outside}/a.txt")),
        ("read_file", {"path": "dir/a.txt"}, become_link("dir", "{outside}")),
        ("read_file", {"path": "link"}, become_link("link", "{outside}/a.txt")),
        ("list_dir", {"path": "dir"}, become_link("dir", "{outside}")),
        ("glob", {"pattern": "dir/*.txt"}, become_link("dir", "{outside}")),
        ("search", {"pattern": "old", "path": "dir"}, become_link("dir", "{outside}")),
        ("search", {"pattern": "old", "path": "dir/a.txt"}, become_link("dir/a.txt", "{outside}/a.txt")),
        ("shell", {"command": "touch made", "cwd": "dir"}, become_link("dir", "{outside}")),
        ("shell", {"command": "touch made", "cwd": "dir-link"}, become_link("dir-link", "{outside}")),
    ],
)
async def test_what_leads_elsewhere_since_is_not_read(
    bench: Workbench, name: str, arguments: dict[str, Any], disturb: Callable[[Workbench], None]
) -> None:
    lay_out(bench)
    prepared = bench.prepare(name, **arguments)
    disturb(bench)
    before = bench.tree()
    with pytest.raises(Stale):
        await bench.run(name, prepared)
    assert bench.tree() == before


async def test_two_new_files_in_one_new_folder_do_not_disturb_each_other(bench: Workbench) -> None:
    prepared = [bench.prepare("write_file", path=f"new/folder/{n}.txt", content=str(n)) for n in range(2)]
    outcomes = [await bench.run("write_file", each) for each in prepared]
    assert all(outcome.success for outcome in outcomes)
