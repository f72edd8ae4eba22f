"""A person passes a withheld variable for the workspace: that name alone is confirmed, and nothing else in the file."""

from __future__ import annotations

import json

import pytest

from countersign.wire.errors import InvalidAnswer, NotTrusted
from countersign.wire.settings import SettingsUpdateResult

from .test_writer import CAN_UPDATE, Editor


def passing(*names: str) -> dict[str, object]:
    return {"shell": {"env": {"pass": list(names)}}}


async def test_the_name_is_written_and_counts_at_once(tmp_path):
    plain = Editor(tmp_path)
    plain.file.write_text('{\n  // mine\n  "editor.tabSize": 2\n}\n')
    await plain.keeper.pass_variable("MYAPP_PASS")
    assert "// mine" in plain.file.read_text()
    assert '"MYAPP_PASS"' in plain.file.read_text()
    assert plain.desk.policy.shell_env_pass == ("MYAPP_PASS",)
    assert plain.desk.unconfirmed() == ()
    await plain.keeper.pass_variable("DATABASE_URL")
    assert plain.desk.policy.shell_env_pass == ("MYAPP_PASS", "DATABASE_URL")
    before = plain.file.read_text()
    await plain.keeper.pass_variable("DATABASE_URL")
    assert plain.file.read_text() == before


async def test_the_workspaces_list_keeps_what_the_user_passes(tmp_path):
    code = Editor(tmp_path, settings={"user": passing("MINE"), "workspace": {}}, **CAN_UPDATE)
    await code.keeper.pass_variable("MYAPP_PASS")
    assert code.asked == [("workspace", ["shell", "env", "pass"], ["MINE", "MYAPP_PASS"])]
    assert code.desk.policy.shell_env_pass == ("MINE", "MYAPP_PASS")
    code.changed(user=passing("MINE"), workspace=passing("MINE", "MYAPP_PASS"))
    assert code.desk.policy.shell_env_pass == ("MINE", "MYAPP_PASS")
    assert code.desk.unconfirmed() == ()


@pytest.mark.parametrize("theirs", [["EVIL"], ["MYAPP_PASS", "EVIL"]])
async def test_a_name_that_the_workspace_added_itself_is_not_confirmed_along(tmp_path, theirs):
    code = Editor(tmp_path, settings={"user": {}, "workspace": passing(*theirs)}, **CAN_UPDATE)
    with pytest.raises(InvalidAnswer, match="do not count"):
        await code.keeper.pass_variable("MYAPP_PASS")
    assert code.asked == []
    assert code.desk.policy.shell_env_pass == ()


async def test_a_name_that_comes_in_beside_it_makes_the_whole_list_wait(tmp_path):
    """The file gets another entry while it is written: what then stands there is not what was confirmed."""
    code = Editor(tmp_path, settings={"user": {}, "workspace": {}}, **CAN_UPDATE)
    await code.keeper.pass_variable("MYAPP_PASS")
    code.changed(user={}, workspace=passing("EVIL", "MYAPP_PASS"))
    assert code.desk.policy.shell_env_pass == ()
    assert [item.value for item in code.desk.unconfirmed()] == [["EVIL", "MYAPP_PASS"]]


async def test_it_is_refused_where_it_could_not_count(tmp_path):
    with pytest.raises(NotTrusted):
        await Editor(tmp_path, trusted=False).keeper.pass_variable("MYAPP_PASS")
    with pytest.raises(InvalidAnswer, match="not known"):
        await Editor(tmp_path, client={"settings": True}).keeper.pass_variable("MYAPP_PASS")
    broken = Editor(tmp_path)
    broken.file.write_text('{"countersign.shell.env.pass": ')
    broken.desk.refresh()
    with pytest.raises(InvalidAnswer, match="correct it first"):
        await broken.keeper.pass_variable("MYAPP_PASS")
    assert broken.file.read_text() == '{"countersign.shell.env.pass": '


async def test_what_the_editor_did_not_write_is_not_confirmed(tmp_path):
    code = Editor(tmp_path, settings={"user": {}, "workspace": {}}, **CAN_UPDATE)
    code.answer = SettingsUpdateResult(applied=False, reason="the file has unsaved changes")
    with pytest.raises(InvalidAnswer, match="unsaved"):
        await code.keeper.pass_variable("MYAPP_PASS")
    code.changed(user={}, workspace=passing("MYAPP_PASS"))
    assert code.desk.policy.shell_env_pass == ()
    assert len(code.desk.unconfirmed()) == 1


async def test_it_counts_in_this_workspace_alone(tmp_path):
    first, second = Editor(tmp_path / "one"), Editor(tmp_path / "two")
    await first.keeper.pass_variable("MYAPP_PASS")
    second.file.write_text(first.file.read_text())
    second.desk.refresh()
    assert json.loads(second.file.read_text())
    assert second.desk.policy.shell_env_pass == ()
