"""What a person chose to have kept is written, confirmed exactly so, and counts at once; or nothing is changed."""

import asyncio
import hashlib
import json
import stat

import pytest

from countersign.settings.confirmations import Confirmations
from countersign.settings.live_settings import LiveSettings
from countersign.settings.tree import with_value
from countersign.settings.writer import SettingsWriter
from countersign.wire.errors import InvalidAnswer, NotTrusted
from countersign.wire.settings import InitializationOptions, SettingsChanged, SettingsLayers, SettingsUpdateResult
from tests.patience import PATIENCE


class Editor:
    """A client: sends layers if it has some, applies updates if it can, and tells of them if it is asked to."""

    def __init__(self, folder, **options):
        self.workspace, self.storage = folder / "workspace", folder / "storage"
        self.file = self.workspace / ".vscode" / "settings.json"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.asked, self.warnings = [], []
        self.answer = SettingsUpdateResult(applied=True)
        self.desk = LiveSettings(
            InitializationOptions.model_validate({"trusted": True, **options}),
            workspace=self.workspace,
            storage=self.storage,
            warn=self.warnings.append,
            managed=folder / "none.json",
            environ={},
        )
        self.keeper = SettingsWriter(self.desk, self.update)

    async def update(self, params):
        self.asked.append((params.layer, params.path, params.value))
        await asyncio.sleep(0)  # the wire lets others on meanwhile
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def changed(self, **layers):
        self.desk.changed(SettingsChanged(settings=SettingsLayers(**layers), trusted=True))

    def rules(self):
        return [(rule.list, rule.text, rule.scope) for rule in self.desk.policy.rules]


CAN_UPDATE = {"client": {"settingsUpdate": True}}


@pytest.fixture
def plain(tmp_path):
    """An editor that sends nothing and can do nothing."""
    return Editor(tmp_path)


@pytest.fixture
def code(tmp_path):
    """An editor like VS Code."""
    return Editor(tmp_path, settings={"user": {}, "workspace": {}}, **CAN_UPDATE)


async def test_bypass_is_written_into_the_workspaces_file_and_counts_at_once(plain):
    plain.file.write_text('{\n  // mine\n  "editor.tabSize": 2\n}\n')
    await plain.keeper.set_bypass("Countersign")
    assert plain.file.read_text() == (
        '{\n  // mine\n  "editor.tabSize": 2,\n  "countersign.agents": {\n    "Countersign": {\n'
        '      "bypassPermissions": true\n    }\n  }\n}\n'
    )
    assert plain.desk.policy.bypasses("Countersign")
    assert plain.desk.unconfirmed() == ()
    assert plain.asked == []


async def test_bypass_goes_through_the_editor_where_it_can(code):
    await code.keeper.set_bypass("Countersign")
    assert code.asked == [("workspace", ["agents", "Countersign", "bypassPermissions"], True)]
    assert not code.file.exists()
    assert code.desk.policy.bypasses("Countersign")
    code.changed(user={}, workspace={"agents": {"Countersign": {"bypassPermissions": True}}})
    assert code.desk.policy.bypasses("Countersign")
    assert code.desk.unconfirmed() == ()


async def test_bypass_turned_off_by_hand_ends_before_the_editor_tells(code):
    on = {"agents": {"Countersign": {"bypassPermissions": True}}}
    await code.keeper.set_bypass("Countersign")
    code.file.write_text('{"countersign.agents": {"Countersign": {"bypassPermissions": true}}}')
    code.changed(user={}, workspace=on)
    assert code.desk.policy.bypasses("Countersign")
    code.file.write_text('{"countersign.agents": {"Countersign": {"bypassPermissions": false}}}')
    code.desk.refresh()
    assert not code.desk.policy.bypasses("Countersign")
    code.changed(user={}, workspace=on)
    assert not code.desk.policy.bypasses("Countersign")


async def test_an_editor_that_sends_layers_but_cannot_update_gets_its_file_edited(tmp_path):
    editor = Editor(tmp_path, settings={"user": {}, "workspace": {"mode": "default"}})
    await editor.keeper.set_bypass("Countersign")
    assert "bypassPermissions" in editor.file.read_text()
    assert editor.desk.policy.bypasses("Countersign")
    editor.changed(user={}, workspace={"mode": "default"})  # it has not noticed yet
    assert not editor.desk.policy.bypasses("Countersign")
    editor.changed(user={}, workspace={"mode": "default", "agents": {"Countersign": {"bypassPermissions": True}}})
    assert editor.desk.policy.bypasses("Countersign")


async def test_bypass_for_an_agent_that_stands_in_no_settings_counts_for_its_name(plain):
    await plain.keeper.set_bypass("claude-cli")
    assert plain.desk.policy.bypasses("claude-cli")


async def test_bypass_beats_a_workspaces_own_false_which_it_replaces(code):
    off = {"agents": {"Countersign": {"bypassPermissions": False}}}
    code.changed(workspace=off, folder=off, user={})
    await code.keeper.set_bypass("Countersign")
    assert code.desk.policy.bypasses("Countersign")


async def test_bypass_can_be_ended_and_is_asked_anew_afterwards(plain):
    await plain.keeper.set_bypass("Countersign")
    await plain.keeper.end_bypass("Countersign")
    assert not plain.desk.policy.bypasses("Countersign")
    plain.file.write_text(plain.file.read_text().replace("false", "true"))
    plain.desk.refresh()
    assert not plain.desk.policy.bypasses("Countersign")
    assert len(plain.desk.unconfirmed()) == 1


async def test_bypass_is_refused_where_it_could_not_count(tmp_path):
    with pytest.raises(NotTrusted):
        await Editor(tmp_path, trusted=False).keeper.set_bypass("Countersign")
    switched_off = {"settings": {"user": {"permissions": {"disableBypass": True}}}}
    with pytest.raises(InvalidAnswer, match="disableBypass"):
        await Editor(tmp_path, **switched_off).keeper.set_bypass("Countersign")
    with pytest.raises(InvalidAnswer, match="name"):
        await Editor(tmp_path).keeper.set_bypass("Countersign/1")
    with pytest.raises(InvalidAnswer, match="not known"):
        await Editor(tmp_path, client={"settings": True}).keeper.set_bypass("Countersign")
    assert not Editor(tmp_path).file.exists()


BROKEN = '{"countersign.agents": '
REASONS = [
    (SettingsUpdateResult(applied=False, reason="the file has unsaved changes"), "the file has unsaved changes"),
    (SettingsUpdateResult(applied=False), "the setting could not be written"),
    (RuntimeError("boom"), "the editor could not change the setting"),
]


@pytest.mark.parametrize(("answer", "reason"), REASONS)
async def test_what_the_editor_did_not_apply_is_an_invalid_answer_and_confirms_nothing(code, answer, reason):
    code.answer = answer
    with pytest.raises(InvalidAnswer) as caught:
        await code.keeper.set_bypass("Countersign")
    assert str(caught.value) == reason
    code.changed(workspace={"agents": {"Countersign": {"bypassPermissions": True}}})
    assert not code.desk.policy.bypasses("Countersign")


@pytest.mark.parametrize("options", [{}, CAN_UPDATE | {"settings": {"user": {}, "workspace": {}}}])
async def test_a_file_that_cannot_be_parsed_is_an_invalid_answer_and_is_left_alone(tmp_path, options):
    editor = Editor(tmp_path, **options)
    editor.file.write_text(BROKEN)
    for attempt in (
        editor.keeper.set_bypass("Countersign"),
        editor.keeper.save_rule("allow", "Bash(ls)", "workspace", "Countersign"),
        editor.keeper.save_rule("deny", "Bash(ls)", "workspace", "Countersign"),
    ):
        with pytest.raises(InvalidAnswer, match=r"cannot be read|is broken"):
            await attempt
    assert editor.file.read_text() == BROKEN
    assert editor.asked == []


async def test_a_read_only_file_is_an_invalid_answer_and_is_left_alone(plain):
    plain.file.write_text("{}")
    plain.file.chmod(0o444)
    with pytest.raises(InvalidAnswer, match="read-only"):
        await plain.keeper.set_bypass("Countersign")
    plain.file.chmod(0o644)
    plain.file.write_text('{"countersign.agents": {"Countersign": {"bypassPermissions": true}}}')
    plain.desk.refresh()
    assert not plain.desk.policy.bypasses("Countersign")


async def test_a_settings_file_that_leads_into_our_own_folders_is_not_written(plain):
    plain.storage.mkdir()
    (plain.storage / "rules.json").write_text("{}")
    plain.file.symlink_to(plain.storage / "rules.json")
    with pytest.raises(InvalidAnswer, match="link"):
        await plain.keeper.save_rule("allow", "Bash(ls)", "workspace", "Countersign")
    assert (plain.storage / "rules.json").read_text() == "{}"


async def test_an_answer_that_is_called_off_confirms_nothing(code):
    asked = asyncio.Event()

    async def silent(params):
        asked.set()
        await asyncio.Future()

    keeper = SettingsWriter(code.desk, silent)
    setting = asyncio.create_task(keeper.set_bypass("Countersign"), name="set bypass")
    async with asyncio.timeout(PATIENCE):
        await asked.wait()
        setting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await setting
    code.changed(workspace={"agents": {"Countersign": {"bypassPermissions": True}}})
    assert not code.desk.policy.bypasses("Countersign")
    assert code.desk.writing == set()


async def test_an_editor_that_never_answers_is_waited_for_only_so_long(code, monkeypatch):
    monkeypatch.setattr("countersign.settings.writer.EDITOR_WAIT", 0.01)

    async def silent(params):
        await asyncio.Future()

    with pytest.raises(InvalidAnswer, match="did not answer"):
        await SettingsWriter(code.desk, silent).set_bypass("Countersign")


async def test_an_editor_that_tells_of_the_change_before_it_answers_is_not_asked_to_confirm_it(code):
    seen = []
    code.desk.subscribe(lambda: seen.append(code.desk.unconfirmed()))

    async def eager(params):
        code.changed(user={"mode": "plan"}, workspace={})  # something else, sent before the editor got round to it
        code.changed(user={}, workspace=with_value({}, tuple(params.path), params.value))
        return SettingsUpdateResult(applied=True)

    await SettingsWriter(code.desk, eager).set_bypass("Countersign")
    assert code.desk.policy.bypasses("Countersign")
    assert set(seen) == {()}


async def test_a_refusal_of_before_comes_back_when_the_write_fails(code):
    code.changed(workspace={"permissions": {"allow": ["Bash(ls)"]}})
    code.desk.confirm(code.desk.unconfirmed()[0].digest, accept=False)
    code.changed(workspace={"permissions": {"allow": "Bash(ls)"}})
    before = dict(code.desk.confirmations.answers(code.desk.workspace))
    with pytest.raises(InvalidAnswer, match="not a list"):
        await code.keeper.save_rule("allow", "Bash(ls)", "workspace", "Countersign")
    assert before == {}
    assert code.desk.confirmations.answers(code.desk.workspace) == {}


async def test_a_write_that_failed_while_the_file_broke_confirms_nothing(code):
    async def breaks(params):
        code.file.write_text("{")
        code.desk.refresh()
        return SettingsUpdateResult(applied=False)

    with pytest.raises(InvalidAnswer):
        await SettingsWriter(code.desk, breaks).set_bypass("Countersign")
    code.file.write_text("{}")
    code.changed(workspace={"agents": {"Countersign": {"bypassPermissions": True}}})
    assert not code.desk.policy.bypasses("Countersign")


async def test_a_rule_for_the_workspace_is_saved_confirmed_and_counts(plain):
    await plain.keeper.save_rule("allow", "Bash(npm test)", "workspace", "Countersign")
    await plain.keeper.save_rule("deny", "Read(x)", "workspace", "Countersign")
    await plain.keeper.save_rule("allow", "Bash(npm test)", "workspace", "Countersign")
    assert json.loads(plain.file.read_text()) == {
        "countersign.permissions.allow": ["Bash(npm test)"],
        "countersign.permissions.deny": ["Read(x)"],
    }
    assert plain.rules() == [("deny", "Read(x)", "workspace"), ("allow", "Bash(npm test)", "workspace")]
    assert plain.desk.policy.rules[1].line == 3
    assert plain.desk.unconfirmed() == ()


async def test_a_rule_that_stands_there_unconfirmed_is_confirmed_by_choosing_it(plain):
    plain.file.write_text('{"countersign.permissions.allow": ["Bash(ls)", "Bash(rm *)"]}')
    plain.desk.refresh()
    await plain.keeper.save_rule("allow", "Bash(ls)", "workspace", "Countersign")
    assert plain.rules() == [("allow", "Bash(ls)", "workspace")]
    assert [item.value for item in plain.desk.unconfirmed()] == ["Bash(rm *)"]


async def test_two_rules_saved_at_once_are_both_kept(code):
    code.changed(user={}, workspace={"permissions": {"allow": ["Bash(a)"]}})
    await asyncio.gather(
        code.keeper.save_rule("allow", "Bash(b)", "workspace", "Countersign"),
        code.keeper.save_rule("allow", "Bash(c)", "workspace", "Countersign"),
    )
    assert code.asked[-1] == ("workspace", ["permissions", "allow"], ["Bash(a)", "Bash(b)", "Bash(c)"])
    assert [text for _, text, _ in code.rules()] == ["Bash(b)", "Bash(c)"]


async def test_a_deny_rule_that_another_window_wrote_meanwhile_stays(code):
    said = []

    async def eager(params):
        """The editor finds a rule in its list that the server was not told of, and tells it before it answers."""
        said.append((params.insert, params.remove))
        now = [rule for rule in ("Bash(dd:*)", "Bash(old)") if rule not in (params.remove or [])]
        code.changed(user={"permissions": {"deny": [*now, *(params.insert or [])]}}, workspace={})
        return SettingsUpdateResult(applied=True)

    code.changed(user={"permissions": {"deny": ["Bash(old)"]}}, workspace={})
    keeper = SettingsWriter(code.desk, eager)
    await keeper.save_rule("deny", "Bash(rm:*)", "user", "Claude")
    assert code.rules() == [("deny", rule, "user") for rule in ("Bash(dd:*)", "Bash(old)", "Bash(rm:*)")]
    await keeper.remove_rule(code.desk.policy.rules[1])
    assert ("deny", "Bash(dd:*)", "user") in code.rules()
    assert said == [(["Bash(rm:*)"], None), (None, ["Bash(old)"])]


@pytest.mark.parametrize("listed", ["deny", "ask"])
async def test_the_whole_list_for_a_client_that_cannot_edit_lists_keeps_what_its_file_has_just_got(tmp_path, listed):
    editor = Editor(tmp_path, settings={"user": {}, "workspace": {"permissions": {listed: ["a"]}}}, **CAN_UPDATE)
    editor.file.write_text(json.dumps({f"countersign.permissions.{listed}": ["a", "just written"]}))
    await editor.keeper.save_rule(listed, "new", "workspace", "Countersign")
    assert editor.asked[-1][2] == ["a", "just written", "new"]
    await editor.keeper.remove_rule(next(rule for rule in editor.desk.policy.rules if rule.text == "a"))
    assert sorted(editor.asked[-1][2]) == ["just written", "new"]


async def test_an_allow_rule_of_an_untrusted_workspace_is_refused_and_a_deny_rule_is_kept(tmp_path):
    editor = Editor(tmp_path, trusted=False)
    with pytest.raises(NotTrusted):
        await editor.keeper.save_rule("allow", "Bash(ls)", "workspace", "Countersign")
    await editor.keeper.save_rule("deny", "Bash(rm *)", "workspace", "Countersign")
    assert editor.rules() == [("deny", "Bash(rm *)", "workspace")]


async def test_a_users_rule_goes_into_the_editors_settings_where_it_can(code):
    code.changed(user={"permissions": {"allow": ["Bash(a)"]}}, workspace={})
    await code.keeper.save_rule("allow", "Bash(b)", "user", "Countersign")
    assert code.asked == [("user", ["permissions", "allow"], ["Bash(a)", "Bash(b)"])]
    assert code.rules() == [("allow", "Bash(a)", "user"), ("allow", "Bash(b)", "user")]


@pytest.mark.parametrize("options", [{}, CAN_UPDATE, CAN_UPDATE | {"settings": {"workspace": {}}}])
async def test_a_users_rule_goes_into_the_storage_where_no_editor_told_its_list(tmp_path, options):
    editor = Editor(tmp_path, **options)
    await editor.keeper.save_rule("allow", "Bash(b)", "user", "Countersign")
    kept = editor.storage / "rules.json"
    assert json.loads(kept.read_text()) == {"countersign.permissions.allow": ["Bash(b)"]}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert editor.asked == []
    assert editor.rules() == [("allow", "Bash(b)", "user")]
    await editor.keeper.remove_rule(editor.desk.policy.rules[0])
    assert editor.rules() == []


async def test_a_rule_can_speak_of_one_agent_only(plain):
    await plain.keeper.save_rule_for("claude", "allow", "Bash(ls)", "workspace")
    (rule,) = plain.desk.policy.rules
    assert (rule.text, rule.agent) == ("Bash(ls)", "claude")
    await plain.keeper.remove_rule(rule)
    assert plain.desk.policy.rules == ()


async def test_a_rule_is_removed_where_it_stands(code):
    code.changed(user={"permissions": {"deny": ["a", "b"]}}, workspace={"permissions": {"deny": ["a", "c"]}})
    user, _, workspace, _ = code.desk.policy.rules
    await code.keeper.remove_rule(user)
    await code.keeper.remove_rule(workspace)
    assert code.asked == [("user", ["permissions", "deny"], ["b"]), ("workspace", ["permissions", "deny"], ["c"])]
    assert code.rules() == [("deny", "b", "user"), ("deny", "c", "workspace")]


async def test_a_rule_of_the_administrator_or_of_an_editor_out_of_reach_is_not_ours_to_remove(tmp_path):
    editor = Editor(tmp_path, settings={"user": {"permissions": {"deny": ["a"]}}})
    with pytest.raises(InvalidAnswer, match="by hand"):
        await editor.keeper.remove_rule(editor.desk.policy.rules[0])
    (tmp_path / "none.json").write_text('{"permissions": {"deny": ["m"]}}')
    editor.desk.refresh()
    with pytest.raises(InvalidAnswer, match="managed"):
        await editor.keeper.remove_rule(editor.desk.policy.rules[0])


async def test_a_written_value_is_not_confirmed_by_being_written(plain):
    result = await plain.keeper.write("workspace", ("mode",), "auto")
    assert result == SettingsUpdateResult(applied=True)
    assert plain.desk.policy.mode == "default"
    assert [item.value for item in plain.desk.unconfirmed()] == ["auto"]
    await plain.keeper.write("workspace", ("mode",), None)
    assert json.loads(plain.file.read_text()) == {}
    assert (await plain.keeper.write("user", ("mode",), "auto")).applied is False


async def test_a_store_that_cannot_keep_a_confirmation_keeps_the_card_open(plain):
    plain.storage.write_text("a file in its place")
    with pytest.raises(InvalidAnswer, match="confirmations"):
        await plain.keeper.set_bypass("Countersign")
    assert not plain.file.exists()


async def test_confirmations_of_a_write_are_in_the_one_store(plain):
    await plain.keeper.set_bypass("Countersign")
    kept = Confirmations(plain.storage, plain.warnings.append).answers(plain.desk.workspace)
    assert list(kept.values()) == [True]


EDITS = [
    # text of the file, what is asked of the writer, the text that the client is sent
    (
        '{\n  // mine\n  "countersign.permissions.deny": ["A"]\n}\n',
        lambda keeper: keeper.save_rule("deny", "Bash(rm *)", "workspace", "Countersign"),
        '{\n  // mine\n  "countersign.permissions.deny": ["A", "Bash(rm *)"]\n}\n',
    ),
    (
        '\ufeff{\r\n  "countersign.permissions.ask": ["Bash(rm *)"]\r\n}\r\n',
        lambda keeper: keeper.save_rule("ask", "Bash(rm *)", "workspace", "Countersign"),
        None,
    ),
    (
        '\ufeff{\r\n  "a": 1\r\n}\r\n',
        lambda keeper: keeper.write("workspace", ("mode",), "plan"),
        '{\n  "a": 1,\n  "countersign.mode": "plan"\n}\n',
    ),
    (None, lambda keeper: keeper.write("workspace", ("mode",), "plan"), '{\n    "countersign.mode": "plan"\n}\n'),
]


@pytest.mark.parametrize(("text", "act", "after"), EDITS)
async def test_the_editor_is_sent_the_edit_of_the_file_as_it_stands_on_disk(code, text, act, after):
    if text is not None:
        code.file.write_bytes(text.encode())
    sent = []

    async def update(params):
        sent.append(params.edit)
        return SettingsUpdateResult(applied=True)

    await act(SettingsWriter(code.desk, update))
    if after is None:
        assert sent == []
        return
    before = (text or "").removeprefix("\ufeff").replace("\r\n", "\n")
    digest = hashlib.sha256(before.encode()).hexdigest()
    assert [(edit.replaces, edit.text) for edit in sent] == [(digest, after)]


DROPPING = [
    ('{"countersign.permissions.deny": ["A", "B"]}', ("permissions", "deny"), ["A"]),
    ('{"countersign": {"permissions": {"ask": ["A"]}}}', ("permissions", "ask"), None),
    ('{"countersign.permissions": {"deny": ["A"]}}', ("permissions",), {"allow": ["Bash"]}),
    ('{"countersign": {"permissions": {"ask": ["A"], "allow": []}}}', ("permissions",), {"allow": []}),
]


@pytest.mark.parametrize(("text", "path", "value"), DROPPING)
async def test_an_edit_that_would_drop_a_deny_or_ask_rule_unnamed_is_not_sent(code, text, path, value):
    code.file.write_text(text)
    result = await code.keeper.write("workspace", path, value)
    assert not result.applied
    assert "would drop a deny or ask rule" in result.reason
    assert (code.asked, code.file.read_text()) == ([], text)


@pytest.mark.parametrize("text", ['{"a": ', "[]", '{"a": 1 "b": 2}', '{"countersign.agents": 7}'])
async def test_a_file_that_cannot_be_edited_is_refused_before_the_editor_is_asked(code, text):
    code.file.write_text(text)
    result = await code.keeper.write("workspace", ("agents", "Claude", "bypassPermissions"), False)
    assert (result.applied, code.asked, code.file.read_text()) == (False, [], text)
