"""A settings file behind a symlink: what it forbade holds whatever becomes of the symlink and of what it leads to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from countersign.settings import files
from countersign.settings.edit import EditRefused
from countersign.settings.files import edit_file
from countersign.settings.links import leads_nowhere, links_to
from countersign.settings.writer import SettingsWriter
from countersign.wire.errors import InvalidAnswer
from tests.settings.test_live_settings import WorkspaceServer, changed, texts

RULES = '{"countersign.permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit"], "allow": ["Bash(ls)"]}}'
FORBIDDEN = {("deny", "Bash(rm *)"), ("ask", "Edit")}


@pytest.fixture
def house(tmp_path: Path) -> WorkspaceServer:
    return WorkspaceServer(tmp_path)


def link_file(house: WorkspaceServer) -> Path:
    real = house.workspace / "conf/settings.json"
    real.parent.mkdir()
    real.write_text(RULES)
    house.file.symlink_to("../conf/settings.json")
    return real


def link_folder(house: WorkspaceServer) -> Path:
    real = house.workspace / "conf/settings.json"
    house.file.parent.rmdir()
    real.parent.mkdir()
    real.write_text(RULES)
    house.file.parent.symlink_to("conf")
    return real


def remove_target(house: WorkspaceServer, real: Path) -> None:
    real.unlink()


def remove_folder(house: WorkspaceServer, real: Path) -> None:
    real.unlink()
    real.parent.rmdir()


def swap(house: WorkspaceServer, real: Path) -> None:
    other = house.workspace / "other/settings.json"
    other.parent.mkdir()
    other.write_text("{}")
    link = house.file if house.file.is_symlink() else house.file.parent
    link.unlink()
    link.symlink_to(other if link == house.file else other.parent)


def replace_by_a_file(house: WorkspaceServer, real: Path) -> None:
    link = house.file if house.file.is_symlink() else house.file.parent
    link.unlink()
    house.file.parent.mkdir(exist_ok=True)
    house.file.write_text("{}")


CHANGES = (remove_target, remove_folder, swap, replace_by_a_file)


@pytest.mark.parametrize("sends", [False, True], ids=["reads the file", "sends layers"])
@pytest.mark.parametrize(
    "change", [remove_target, remove_folder, swap, replace_by_a_file], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("link", [link_file, link_folder], ids=lambda one: one.__name__)
def test_what_a_linked_file_forbade_holds_whatever_becomes_of_the_link(
    link: Callable[[WorkspaceServer], Path],
    change: Callable[[WorkspaceServer, Path], None],
    sends: bool,
    house: WorkspaceServer,
) -> None:
    real = link(house)
    permissions = {"deny": ["Bash(rm *)"], "ask": ["Edit"], "allow": ["Bash(ls)"]}
    desk = house.desk(**({"settings": {"user": {}, "workspace": {"permissions": permissions}}} if sends else {}))
    assert {(rule.list, rule.text) for rule in desk.policy.rules} == FORBIDDEN
    change(house, real)
    for _ in range(2):
        desk.refresh()
        if sends:
            desk.changed(changed(user={}, workspace={}))
        assert {(listed, text) for listed, text, _ in texts(desk)} == FORBIDDEN
        assert any("symlink" in problem.message for problem in desk.policy.problems)


def test_a_link_that_is_turned_back_is_as_before(house: WorkspaceServer) -> None:
    real = link_file(house)
    desk = house.desk()
    before = desk.policy
    swap(house, real)
    desk.refresh()
    assert desk.policy != before
    house.file.unlink()
    house.file.symlink_to("../conf/settings.json")
    desk.refresh()
    assert desk.policy == before


def test_a_start_on_a_dangling_link_asks(house: WorkspaceServer) -> None:
    house.file.symlink_to("../nothing.json")
    assert house.desk().policy.mode == "ask"


def test_user_settings_behind_a_link_that_breaks_keep_what_they_forbade(house: WorkspaceServer, tmp_path: Path) -> None:
    user, real = tmp_path / "user/settings.json", tmp_path / "dotfiles/settings.json"
    for path in (user, real):
        path.parent.mkdir()
    real.write_text(RULES)
    user.symlink_to(real)
    options = {"client": {"ownPaths": [str(user.parent)]}}
    desk = house.desk(settings={"user": {"permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit"]}}}, **options)
    real.unlink()
    desk.changed(changed(user={}, workspace={}))
    assert {(listed, text) for listed, text, _ in texts(desk)} == FORBIDDEN
    assert desk.policy.mode == "ask"


def test_a_file_that_is_simply_deleted_is_an_edit_like_any_other(house: WorkspaceServer) -> None:
    house.write(RULES)
    desk = house.desk()
    house.file.unlink()
    desk.refresh()
    assert texts(desk) == []


def test_links_are_found_in_the_order_in_which_they_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to(tmp_path / "c")
    assert links_to(tmp_path / "a/x") == ((f"{tmp_path}/a", "b"), (f"{tmp_path}/b", f"{tmp_path}/c"))
    assert leads_nowhere(links_to(tmp_path / "a"))
    (tmp_path / "loop").symlink_to("loop")
    assert links_to(tmp_path / "loop") == ((f"{tmp_path}/loop", "loop"),)


@pytest.mark.parametrize("can_update", [False, True])
async def test_a_settings_file_that_leads_out_of_the_workspace_is_refused_with_the_reason(
    can_update: bool, house: WorkspaceServer, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    house.file.symlink_to(outside)
    desk = house.desk(settings={"user": {}, "workspace": {}}, client={"settingsUpdate": can_update})

    async def update(_):
        raise AssertionError("the editor was asked")

    with pytest.raises(InvalidAnswer, match=r"leads out of the workspace, to `.*outside\.json`"):
        await SettingsWriter(desk, update).save_rule("deny", "Bash(rm *)", "workspace", "Countersign")
    assert outside.read_text() == "{}"


@pytest.mark.parametrize("left", [b"", b"\n", b"\xef\xbb\xbf"])
async def test_a_file_that_is_empty_for_a_moment_is_not_taken_for_no_settings(
    left: bytes, house: WorkspaceServer
) -> None:
    house.write(RULES)
    desk = house.desk()
    house.file.write_bytes(left)
    with pytest.raises(InvalidAnswer, match="empty, though it held settings"):
        await SettingsWriter(desk).save_rule("deny", "Bash(mv *)", "workspace", "Countersign")
    assert house.file.read_bytes() == left


@pytest.mark.parametrize("wins", ["by truncating it", "by replacing it"])
def test_another_writer_in_the_last_moment_loses_nothing(
    wins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    honest = files.exchange

    def raced(folder: int, one: str, other: str) -> None:
        monkeypatch.setattr(files, "exchange", honest)
        if wins == "by replacing it":
            (tmp_path / "new").write_text('{"theirs": 1}')
            os.replace(tmp_path / "new", file)
        else:
            file.write_text("")
        honest(folder, one, other)

    monkeypatch.setattr(files, "exchange", raced)
    with pytest.raises(EditRefused, match="changed meanwhile"):
        edit_file(file, lambda _: '{"ours": 1}')
    assert file.read_text() == ('{"theirs": 1}' if wins == "by replacing it" else "")
    assert set(os.listdir(tmp_path)) == {"settings.json"}
