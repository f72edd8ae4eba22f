"""Bypass for this session: counts at once, is written nowhere, has the limits of the saved one, and ends for good."""

from __future__ import annotations

import pytest

from countersign.wire.errors import InvalidAnswer, NotTrusted
from countersign.wire.settings import SettingsChanged, SettingsLayers
from tests.settings.test_writer import Editor

OFF = {"agents": {"Countersign": {"bypassPermissions": False}}}


@pytest.fixture
def editor(tmp_path):
    return Editor(tmp_path, settings={"user": {}, "workspace": {}}, client={"settings": True, "settingsUpdate": True})


def told(editor: Editor, *, trusted: bool = True, **layers) -> None:
    editor.desk.changed(SettingsChanged(settings=SettingsLayers(**{"user": {}, **layers}), trusted=trusted))


async def test_it_counts_at_once_and_is_written_nowhere(editor: Editor):
    heard = []
    editor.desk.subscribe(lambda: heard.append(editor.desk.policy.bypasses("Countersign")))
    await editor.keeper.set_session_bypass("Countersign")
    assert editor.desk.policy.bypasses("Countersign")
    assert editor.desk.policy.agents["Countersign"].bypass_in_session
    assert heard == [True]
    assert editor.asked == []
    assert not editor.file.exists()
    told(editor, workspace={"mode": "ask"})
    assert editor.desk.policy.bypasses("Countersign")
    editor.keeper.end_session_bypass("Countersign")
    assert not editor.desk.policy.bypasses("Countersign")
    assert heard[-1] is False


async def test_another_server_knows_nothing_of_it(editor: Editor, tmp_path):
    await editor.keeper.set_session_bypass("Countersign")
    assert not Editor(tmp_path, settings={"user": {}, "workspace": {}}).desk.policy.bypasses("Countersign")


async def test_saved_bypass_stays_when_that_of_the_session_ends(editor: Editor):
    await editor.keeper.set_bypass("Countersign")
    await editor.keeper.set_session_bypass("Countersign")
    assert not editor.desk.policy.agents["Countersign"].bypass_in_session
    editor.keeper.end_session_bypass("Countersign")
    assert editor.desk.policy.bypasses("Countersign")


REFUSED = [
    ("untrusted", {"trusted": False}, NotTrusted),
    ("disabled by the user", {"user": {"permissions": {"disableBypass": True}}}, InvalidAnswer),
    ("disabled by the workspace", {"workspace": {"permissions": {"disableBypass": True}}}, InvalidAnswer),
    ("switched off in the workspace", {"workspace": OFF}, InvalidAnswer),
    ("switched off in the folder", {"workspace": {}, "folder": OFF}, InvalidAnswer),
    (
        "switched off by something odd",
        {"workspace": {"agents": {"Countersign": {"bypassPermissions": 1}}}},
        InvalidAnswer,
    ),
]


@pytest.mark.parametrize(("layers", "error"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_where_it_would_not_count_it_is_refused(editor: Editor, layers, error):
    told(editor, **layers)
    with pytest.raises(error):
        await editor.keeper.set_session_bypass("Countersign")
    assert not editor.desk.policy.bypasses("Countersign")


@pytest.mark.parametrize("layers", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_what_forbids_it_later_ends_it_for_good(editor: Editor, layers):
    await editor.keeper.set_session_bypass("Countersign")
    told(editor, **layers)
    assert not editor.desk.policy.bypasses("Countersign")
    told(editor, workspace={})
    assert not editor.desk.policy.bypasses("Countersign")


@pytest.mark.parametrize(
    "changed", [{"command": "other"}, {"args": ["--more"]}, {"env": {"A": "b"}}, {"cwd": "/elsewhere"}], ids=str
)
async def test_it_is_over_the_agent_as_it_was(editor: Editor, changed):
    agent = {"command": "agent", "args": [], "env": {}}
    told(editor, user={"agents": {"Mine": agent}}, workspace={})
    await editor.keeper.set_session_bypass("Mine")
    assert editor.desk.policy.bypasses("Mine")
    told(editor, user={"agents": {"Mine": {**agent, **changed}}}, workspace={})
    assert not editor.desk.policy.bypasses("Mine")
    told(editor, user={"agents": {"Mine": agent}}, workspace={})
    assert not editor.desk.policy.bypasses("Mine")


async def test_an_agent_that_stands_nowhere_has_none(editor: Editor):
    with pytest.raises(InvalidAnswer):
        await editor.keeper.set_session_bypass("Unknown")
    told(editor, user={"agents": {"Unknown": {"command": "x"}}}, workspace={})
    assert not editor.desk.policy.bypasses("Unknown")


async def test_while_settings_are_uncertain_it_does_not_count(editor: Editor):
    await editor.keeper.set_session_bypass("Countersign")
    editor.file.write_text("{ broken")
    await editor.desk.look()
    assert editor.desk.uncertain
    assert not editor.desk.policy.bypasses("Countersign")
