"""A server that is killed in the middle of a change loses nobody's file, and the next one settles what it left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from countersign.settings.temporary_names import new_name, old_name
from countersign.tools.files.crash_leftovers import blocking_left, blocking_settle
from countersign.wire.base import Json
from tests.patience import PATIENCE

KILLED = textwrap.dedent("""
    import os, signal, sys
    from countersign.settings.policy import Policy
    from countersign.tools.files import change
    from countersign.tools.places import locate

    workspace, operation, step, when, plain = sys.argv[1:]
    count = int(when)

    def dying(function):
        def act(*given, **named):
            global count
            if count == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            count -= 1
            return function(*given, **named)
        return act

    policy = Policy(workspace=workspace, home="/nowhere", trusted=True)
    place = locate("a.txt", policy)
    before = change.blocking_before(place)
    if plain == "plain":
        from countersign.settings import rename
        rename._renameat2 = lambda: None
    home = change if hasattr(change, step) else os
    setattr(home, step, dying(getattr(home, step)))
    if operation == "write":
        change.blocking_write(place, before.state, b"new")
    else:
        change.blocking_delete(place, before.state)
    sys.exit(7)
""")


def killed(workspace: Path, *words: str) -> bool:
    """Change ``a.txt`` in a process that is killed at that step; False once there is no such step any more."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(workspace), *words], timeout=PATIENCE, check=False)
    assert done.returncode in (7, -signal.SIGKILL)
    return done.returncode != 7


def tree(workspace: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in workspace.iterdir()}


STEPS = ("open", "write", "fsync", "rename", "unlink", "replace", "exchange", "move_to_free")


@pytest.mark.parametrize("plain", ["by exchange", "plain"])
@pytest.mark.parametrize("operation", ["write", "delete"])
def test_the_old_bytes_are_there_or_the_change_is_whole(tmp_path: Path, operation: str, plain: str) -> None:
    place, tried = tmp_path / "a.txt", 0
    for step in STEPS:
        for when in range(20):
            for path in tmp_path.iterdir():
                path.unlink()
            place.write_text("old")
            if not killed(tmp_path, operation, step, str(when), plain):
                break
            tried += 1
            before = tree(tmp_path)
            said = blocking_settle(str(place))
            left = tree(tmp_path)
            strange = {name: text for name, text in left.items() if name != "a.txt"}
            whole = {"write": {"a.txt": "new"}, "delete": {}}[operation]
            case = (step, when, before, said, left)
            # Every byte of the person's that was there after the kill is there now, and what lies aside is said.
            assert ("old" in before.values()) <= ("old" in left.values()), case
            assert "old" in left.values() or left == whole, case
            assert not any(name.endswith(".new") for name in strange), case
            assert all(f"`{name}`" in (said or "") for name in strange), case
            assert operation == "write" or not strange, case
    assert tried >= 5


@pytest.mark.parametrize(
    "name",
    [
        ".countersign-0123456789abcdef.tmp",
        ".countersign-0123456789abcdef-0123456789abcdef.new",
        new_name("other.txt"),
        old_name("other.txt"),
        f"{new_name('a.txt')}.txt",
        f"my{new_name('a.txt')}",
    ],
    # The random part of a name is not part of the test's.
    ids=["too short", "of no file", "new of another", "old of another", "longer", "with a prefix"],
)
def test_what_is_not_left_of_this_file_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("somebody's")
    assert blocking_settle(str(tmp_path / "a.txt")) is None
    assert tree(tmp_path) == {name: "somebody's"}


def test_under_our_name_only_an_ordinary_file_without_a_second_name_is_removed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    linked, link, folder = (tmp_path / new_name("a.txt") for _ in range(3))
    os.link(tmp_path / "theirs", linked)
    link.symlink_to("theirs")
    folder.mkdir()
    before = sorted(os.listdir(tmp_path))
    assert blocking_settle(str(tmp_path / "a.txt")) is None
    assert sorted(os.listdir(tmp_path)) == before


def test_what_was_taken_away_never_overwrites_what_came_since(tmp_path: Path) -> None:
    aside = tmp_path / old_name("a.txt")
    aside.write_text("old")
    (tmp_path / "a.txt").write_text("fresh")
    said = blocking_settle(str(tmp_path / "a.txt"))
    assert said == f"what `a.txt` held before, or was to hold, is beside it as `{aside.name}`"
    assert tree(tmp_path) == {"a.txt": "fresh", aside.name: "old"}


def test_where_there_is_no_folder_nothing_is_left(tmp_path: Path) -> None:
    assert blocking_settle(str(tmp_path / "gone/a.txt")) is None


def test_the_call_that_was_cut_off_names_the_file(tmp_path: Path) -> None:
    (tmp_path / old_name("a.txt")).write_text("old")
    said = blocking_left({"path": "a.txt"}, str(tmp_path), "delete_file")
    assert said == "`a.txt` was being taken away and was put back"
    assert tree(tmp_path) == {"a.txt": "old"}
    others: list[Json] = [None, {"command": "ls"}, {"path": 1}, "a.txt"]
    assert {blocking_left(other, str(tmp_path), "shell") for other in others} == {None}


@pytest.mark.parametrize("tool", ["acp:read", "acp:edit", "write_file", "shell"])
@pytest.mark.parametrize("folder", [True, False])
def test_nothing_is_put_where_no_tool_of_ours_took_it_away(tmp_path: Path, tool: str, folder: bool) -> None:
    """An agent may plant a file of such a name beside any path that a call of its own names and never ends."""
    planted = tmp_path / old_name(".vscode")
    if folder:
        planted.mkdir()
        (planted / "tasks.json").write_text("run")
    else:
        planted.write_text("run")
    said = blocking_left({"path": ".vscode"}, str(tmp_path), tool)
    assert said == f"what `.vscode` held before, or was to hold, is beside it as `{planted.name}`"
    assert os.listdir(tmp_path) == [planted.name]


@pytest.mark.parametrize("tool", ["delete_file"])
@pytest.mark.parametrize("path", [".vscode/tasks.json", ".git/hooks/pre-commit", ".git/config", "sub/.envrc", ".npmrc"])
def test_nothing_is_put_in_a_protected_place(tmp_path: Path, tool: str, path: str) -> None:
    """The deletion was whole, and somebody planted a file for the next start, or a second one beside ours."""
    place = tmp_path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    planted = place.with_name(old_name(place.name))
    planted.write_text("run")
    said = str(blocking_left({"path": path}, str(tmp_path), tool))
    assert f"is beside it as `{planted.name}`" in said
    assert [each.read_text() for each in place.parent.iterdir() if each.is_file()] == ["run"]
    assert not place.exists()


def test_of_several_files_none_is_taken_for_the_one_that_was_there(tmp_path: Path) -> None:
    ours, planted = (tmp_path / old_name("a.txt") for _ in range(2))
    ours.write_text("old")
    planted.write_text("planted")
    said = str(blocking_left({"path": "a.txt"}, str(tmp_path), "delete_file"))
    assert f"`{ours.name}`" in said
    assert f"`{planted.name}`" in said
    assert tree(tmp_path) == {ours.name: "old", planted.name: "planted"}


def test_nothing_is_put_behind_a_link_that_came_since_and_no_folder_anywhere(tmp_path: Path) -> None:
    aside = tmp_path / old_name(".envrc")
    aside.write_text("run")
    (tmp_path / "a.txt").symlink_to(".envrc")
    assert "is beside it" in str(blocking_left({"path": "a.txt"}, str(tmp_path), "delete_file"))
    (tmp_path / old_name(".vscode")).mkdir()
    assert "is beside it" in str(blocking_left({"path": ".vscode"}, str(tmp_path), "delete_file"))
    assert not any((tmp_path / name).exists() for name in (".envrc", ".vscode"))


def test_a_folder_that_cannot_be_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    said = blocking_left({"path": "a.txt"}, str(tmp_path), "write_file")
    assert said is not None
    assert "could not be seen" in said
