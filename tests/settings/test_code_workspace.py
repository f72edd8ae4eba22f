"""Settings of a ``.code-workspace`` file: reported, confirmed and protected under that file, never under another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from countersign.advice.explain import explain
from countersign.settings.writer import SettingsWriter
from countersign.wire.settings import SettingsUpdateResult
from tests.settings.test_live_settings import WorkspaceServer, changed, texts

ALLOW = {"permissions": {"allow": ["Bash(make)"]}}
CAN_UPDATE = {"settingsUpdate": True}


@pytest.fixture
def house(tmp_path: Path) -> WorkspaceServer:
    return WorkspaceServer(tmp_path)


def write(file: Path, **said: object) -> None:
    settings = {f"countersign.{key}": value for key, value in said.items()}
    file.write_text("{\n" + f'"folders": [{{"path": "workspace"}}],\n"settings": {json.dumps(settings)}' + "}")


@pytest.fixture(params=["beside", "inside"])
def file(house: WorkspaceServer, request: pytest.FixtureRequest) -> Path:
    folder = house.workspace.parent if request.param == "beside" else house.workspace
    return folder / "app.code-workspace"


def desk_of(house: WorkspaceServer, file: str | None, **layers: object):
    return house.desk(
        settings={"user": {}, **layers}, files={} if file is None else {"workspace": file}, client=CAN_UPDATE
    )


def test_a_value_is_reported_and_confirmed_under_the_file_it_stands_in(house: WorkspaceServer, file: Path) -> None:
    write(file, **ALLOW)
    desk = desk_of(house, str(file), workspace=ALLOW, folder={})
    (item,) = desk.unconfirmed()
    assert (item.value, item.file, item.line) == ("Bash(make)", str(file), 3)
    desk.confirm(item.digest, accept=True)
    assert texts(desk) == [("allow", "Bash(make)", "workspace")]


def test_a_confirmation_in_one_file_is_none_in_another(house: WorkspaceServer, file: Path) -> None:
    write(file, **ALLOW)
    desk = desk_of(house, str(file), workspace=ALLOW, folder={})
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    house.write(json.dumps({"countersign.permissions": ALLOW["permissions"]}))
    write(file)
    desk.changed(changed(user={}, workspace={}, folder=ALLOW))
    assert texts(desk) == []
    (item,) = desk.unconfirmed()
    assert item.file == str(house.file)


def test_a_value_that_leaves_the_file_and_returns_asks_again(house: WorkspaceServer, file: Path) -> None:
    write(file, **ALLOW)
    desk = desk_of(house, str(file), workspace=ALLOW, folder={})
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    write(file)
    desk.changed(changed(user={}, workspace={}, folder={}))
    write(file, **ALLOW)
    desk.changed(changed(user={}, workspace=ALLOW, folder={}))
    assert [item.value for item in desk.unconfirmed()] == ["Bash(make)"]


def test_a_workspace_that_is_not_saved_has_no_file(house: WorkspaceServer) -> None:
    house.write(json.dumps({"countersign.permissions": ALLOW["permissions"]}))
    desk = desk_of(house, None, workspace=ALLOW, folder={})
    assert [(item.file, item.line) for item in desk.unconfirmed()] == [(None, None)]


def test_a_broken_file_asks_and_keeps_its_deny_rules(house: WorkspaceServer, file: Path) -> None:
    rules = {"permissions": {"deny": ["Bash(rm *)"]}}
    write(file, **rules)
    desk = desk_of(house, str(file), workspace=rules, folder={})
    file.write_text("{")
    desk.changed(changed(user={}, workspace={}, folder={}))
    assert desk.policy.mode == "ask"
    assert texts(desk) == [("deny", "Bash(rm *)", "workspace")]
    assert [problem.file for problem in desk.policy.problems] == [str(file)]


def test_a_file_behind_a_link_keeps_what_it_forbade(house: WorkspaceServer, file: Path) -> None:
    rules = {"permissions": {"deny": ["Bash(rm *)"]}}
    real = house.workspace / "real.json"
    write(real, **rules)
    file.symlink_to(real)
    desk = desk_of(house, str(file), workspace=rules, folder={})
    real.unlink()
    desk.changed(changed(user={}, workspace={}, folder={}))
    assert texts(desk) == [("deny", "Bash(rm *)", "workspace")]


def test_writing_what_the_file_resolves_to_always_asks(house: WorkspaceServer, file: Path) -> None:
    real = house.workspace / "real.json"
    write(real, **ALLOW)
    file.symlink_to(real)
    desk = desk_of(house, str(file), workspace=ALLOW, folder={})
    for path in (file, real):
        asked = explain({"tool": "edit", "args": {"path": str(path)}}, desk.policy, "acceptEdits")
        assert asked.verdict == "ask"
    other = explain({"tool": "edit", "args": {"path": str(house.workspace / "a.py")}}, desk.policy, "acceptEdits")
    assert other.verdict == "allow"


@pytest.mark.parametrize("saved", [True, False])
async def test_what_a_card_keeps_is_confirmed_under_the_file_that_the_editor_writes(
    saved: bool, house: WorkspaceServer, file: Path
) -> None:
    write(file)
    desk = desk_of(house, str(file) if saved else None, workspace={}, folder={})

    async def update(_) -> SettingsUpdateResult:
        return SettingsUpdateResult(applied=True)

    keeper = SettingsWriter(desk, update)
    await keeper.save_rule("allow", "Bash(make)", "workspace", "Countersign")
    await keeper.set_bypass("Countersign")
    told = {**ALLOW, "agents": {"Countersign": {"bypassPermissions": True}}}
    write(file, **told)
    desk.changed(changed(user={}, workspace=told, folder={}))
    assert texts(desk) == [("allow", "Bash(make)", "workspace")]
    assert desk.policy.bypasses("Countersign")
    assert desk.unconfirmed() == ()


@pytest.mark.parametrize("text", ["[]", "{}", '{"settings": []}', '{"countersign.permissions": {"allow": ["Bash"]}}'])
def test_what_stands_outside_its_settings_is_none(text: str, house: WorkspaceServer, file: Path) -> None:
    file.write_text(text)
    desk = house.desk(settings={"user": {}}, files={"workspace": str(file)})
    assert desk.unconfirmed() == ()
