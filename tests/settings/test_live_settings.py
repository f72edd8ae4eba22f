"""The desk keeps the one policy true to what the editor sends, what lies on disk, and what a person confirmed."""

import asyncio
import json
import os

import pytest

from countersign.settings.live_settings import LiveSettings
from countersign.wire.errors import InvalidAnswer, NotTrusted
from countersign.wire.settings import ByPerson, InitializationOptions, SettingsChanged, SettingsLayers
from tests.patience import PATIENCE

BYPASS = {"agents": {"Countersign": {"bypassPermissions": True}}}
IN_FILE = '{"countersign.agents": {"Countersign": {"bypassPermissions": true}}}'


class WorkspaceServer:
    """A workspace, a storage and a managed file on disk, and the desk over them."""

    def __init__(self, folder):
        self.workspace = folder / "workspace"
        self.storage = folder / "storage"
        self.managed = folder / "etc" / "settings.json"
        self.file = self.workspace / ".vscode" / "settings.json"
        self.file.parent.mkdir(parents=True)
        self.warnings = []
        self.changes = []

    def desk(self, describe=lambda _: None, **options):
        told = InitializationOptions.model_validate({"trusted": True, **options})
        desk = LiveSettings(
            told,
            workspace=self.workspace,
            storage=self.storage,
            warn=self.warnings.append,
            home="/home/me",
            managed=self.managed,
            environ={},
            interpreter=["/venv"],
            describe=describe,
        )
        desk.subscribe(lambda: self.changes.append(desk.policy))
        return desk

    def write(self, text):
        self.file.write_text(text)

    def administer(self, text):
        self.managed.parent.mkdir(exist_ok=True)
        self.managed.write_text(text)

    def keep(self, text):
        self.storage.mkdir(exist_ok=True)
        (self.storage / "rules.json").write_text(text)


@pytest.fixture
def house(tmp_path):
    return WorkspaceServer(tmp_path)


def changed(trusted=True, by_person=None, **layers):
    return SettingsChanged(settings=SettingsLayers(**layers), trusted=trusted, by_person=by_person)


def texts(desk):
    return [(rule.list, rule.text, rule.scope) for rule in desk.policy.rules]


def test_a_client_that_sends_no_settings_gets_the_workspaces_file(house):
    house.write('// mine\n{"countersign.permissions.deny": [\n"a"]}')
    (rule,) = house.desk().policy.rules
    assert (rule.text, rule.scope, rule.file, rule.line) == ("a", "workspace", str(house.file), 3)


def test_a_client_that_sends_layers_is_believed_and_the_file_only_gives_the_lines(house):
    house.write('{\n"countersign.permissions": {"deny": ["a"], "ask": ["on disk only"]}}')
    desk = house.desk(settings={"user": {"mode": "plan"}, "workspace": {"permissions": {"deny": ["a", "unsaved"]}}})
    assert [(rule.text, rule.line) for rule in desk.policy.rules] == [("a", 2), ("unsaved", None)]
    assert desk.policy.mode == "plan"


def test_an_editor_that_tells_no_workspace_layer_leaves_that_to_the_file(house):
    house.write('{"countersign.permissions.deny": ["a"]}')
    assert texts(house.desk(settings={"user": {}})) == [("deny", "a", "workspace")]
    assert texts(house.desk(settings={"user": {}, "workspace": {}})) == []


@pytest.mark.parametrize("announced", [{"client": {"settings": True}}, {"settings": None}])
def test_until_announced_settings_have_come_everything_asks(house, announced):
    house.write('{"countersign.permissions": {"deny": ["a"], "allow": ["b"]}}')
    desk = house.desk(**announced)
    assert (desk.policy.mode, desk.policy.tightening, texts(desk)) == ("ask", ("ask",), [("deny", "a", "workspace")])
    assert desk.unconfirmed() == ()
    desk.changed(changed(user={"mode": "auto"}, workspace={}))
    assert (desk.policy.mode, desk.policy.tightening, texts(desk)) == ("auto", (), [])


def test_new_layers_replace_all_layers_and_are_told(house):
    desk = house.desk(settings={"user": BYPASS, "workspace": {"mode": "plan"}})
    assert desk.policy.bypasses("Countersign")
    desk.changed(changed(user={}, workspace={}))
    assert not desk.policy.bypasses("Countersign")
    assert desk.policy.tightening == ()
    desk.changed(changed(user={}, workspace={}))
    assert len(house.changes) == 1


def test_trust_is_asked_of_the_client_and_bypass_ends_with_it(house):
    desk = house.desk(settings={"user": BYPASS})
    desk.changed(changed(user=BYPASS, trusted=False))
    assert not desk.policy.bypasses("Countersign")


def test_a_broken_file_asks_and_keeps_the_last_good_rules_until_it_is_mended(house):
    house.write('{"countersign.permissions": {"deny": ["a"]}, "countersign.mode": "plan"}')
    desk = house.desk(settings={"user": {"permissions": {"allow": ["b"]}} | BYPASS})
    assert desk.policy.bypasses("Countersign")
    house.write('{"countersign.permissions": {"deny": [')
    desk.refresh()
    assert texts(desk) == [("deny", "a", "workspace")]
    assert (desk.policy.mode, desk.policy.tightening) == ("ask", ("plan", "ask"))
    assert not desk.policy.bypasses("Countersign")
    (problem,) = desk.policy.problems
    assert (problem.severity, problem.file, problem.line) == ("error", str(house.file), 1)
    house.write("{}")
    desk.refresh()
    assert texts(desk) == [("allow", "b", "user")]
    assert desk.policy.bypasses("Countersign")


@pytest.mark.parametrize("left", ["", "// all gone", "\ufeff\n"])
def test_a_file_that_was_emptied_beneath_us_is_no_file_without_rules(house, left):
    house.write('// mine\n{"countersign.permissions": {"deny": ["a"]}}')
    desk = house.desk()
    house.write(left)
    desk.refresh()
    house.keep("{}")  # another file changes: the emptied one is still what it was
    desk.refresh()
    assert texts(desk) == [("deny", "a", "workspace")]
    assert desk.policy.mode == "ask"
    (problem,) = desk.policy.problems
    assert (problem.severity, problem.file, problem.line) == ("error", str(house.file), 1)
    house.write("{}")
    desk.refresh()
    assert (texts(desk), desk.policy.mode) == ([], "default")


def test_a_file_that_is_new_and_empty_says_nothing(house):
    desk = house.desk()
    house.write("")
    desk.refresh()
    assert (desk.policy.mode, desk.policy.problems) == ("default", ())


@pytest.mark.parametrize("name", [".vscode/settings.json", "storage/rules.json"])
def test_a_file_that_could_not_be_opened_for_a_moment_is_read_again_and_is_not_corrupt(house, monkeypatch, name):
    house.write('{"countersign.permissions": {"deny": ["a"]}}')
    house.keep('{"permissions": {"deny": ["b"]}}')
    opened, desk = os.open, house.desk()

    def too_many(path, *rest, **more):
        if os.fspath(path).endswith(name):
            raise OSError(24, "Too many open files")
        return opened(path, *rest, **more)

    before = texts(desk)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", too_many)
        for path in (house.file, house.storage / "rules.json"):
            path.touch()
        desk.refresh()
        assert (set(texts(desk)), desk.policy.mode) == (set(before), "ask")
        (problem,) = desk.policy.problems
        assert problem.file.endswith(name)
    desk.refresh()
    assert (texts(desk), desk.policy.mode) == (before, "default")
    assert house.warnings == []
    assert os.listdir(house.storage) == ["rules.json"]


def test_limits_that_a_broken_file_had_lowered_stay_lowered(house):
    house.write('{"countersign.limits": {"writesPerTurn": 3, "stepsPerTurn": 7, "callsPerMessage": 9}}')
    desk = house.desk()
    for item in desk.unconfirmed():
        desk.confirm(item.digest, accept=True)
    house.write('{"countersign.limits": ')
    desk.refresh()
    limits = (desk.policy.writes_per_turn, desk.policy.steps_per_turn, desk.policy.calls_per_message)
    assert limits == (3, 7, 9)


@pytest.mark.parametrize("sends", [False, True])
@pytest.mark.parametrize(
    ("broken", "stands"),
    [
        (IN_FILE[:-1], True),
        ("{ // half a line\n" + IN_FILE, True),
        ("{", False),
        ("", False),
        ("[]", False),
        ("/*" + IN_FILE, False),
        ("//" + IN_FILE + "\n{", False),
        (IN_FILE[:-1].replace("true", "false"), False),
        (IN_FILE[:-1].replace("Countersign", "Other"), False),
    ],
)
def test_a_value_that_leaves_and_returns_while_its_own_file_is_broken_asks_again(broken, stands, sends, house):
    house.write(IN_FILE)
    options = {"settings": {"user": {}, "workspace": BYPASS}} if sends else {}
    desk = house.desk(**options)
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    house.write(broken)
    if sends:
        desk.changed(changed(user={}, workspace={}))
    desk.refresh()
    assert not desk.policy.bypasses("Countersign")
    house.write(IN_FILE)
    if sends:
        desk.changed(changed(user={}, workspace=BYPASS))
    desk.refresh()
    assert desk.policy.bypasses("Countersign") is stands
    assert len(desk.unconfirmed()) == (0 if stands else 1)


def test_a_file_that_cannot_be_opened_for_a_moment_forgets_no_confirmation(house, monkeypatch):
    house.write(IN_FILE)
    desk = house.desk()
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)

    def too_many(path, *rest, **more):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        house.write(IN_FILE + "\n")
        patched.setattr("countersign.settings.files.os.open", too_many)
        desk.refresh()
        assert not desk.policy.bypasses("Countersign")
    desk.refresh()
    assert desk.policy.bypasses("Countersign")


def test_settings_nested_without_end_are_as_if_they_had_not_come(house):
    deep = value = {}
    for _ in range(80):
        value["a"] = {}
        value = value["a"]
    desk = house.desk(settings={"user": {}, "workspace": {}})
    desk.changed(changed(user=deep, workspace={}))
    assert desk.policy.mode == "ask"
    assert len(house.warnings) == 1


def test_a_confirmed_value_counts_here_and_in_the_next_server(house):
    house.write(IN_FILE)
    desk = house.desk()
    (item,) = desk.unconfirmed()
    assert (item.key, item.value, item.file, item.line) == (
        "countersign.agents.Countersign.bypassPermissions",
        True,
        str(house.file),
        1,
    )
    assert not desk.policy.bypasses("Countersign")
    desk.confirm(item.digest, accept=True)
    assert desk.policy.bypasses("Countersign")
    assert desk.unconfirmed() == ()
    assert len(house.changes) == 1
    assert house.desk().policy.bypasses("Countersign")


def test_a_refused_value_is_not_asked_again_and_can_be_accepted_later(house):
    house.write(IN_FILE)
    desk = house.desk()
    digest = desk.unconfirmed()[0].digest
    desk.confirm(digest, accept=False)
    assert house.desk().unconfirmed() == ()
    assert not desk.policy.bypasses("Countersign")
    desk.confirm(digest, accept=True)
    assert desk.policy.bypasses("Countersign")


def test_a_value_that_left_the_file_is_asked_anew_when_it_comes_back(house):
    house.write(IN_FILE)
    desk = house.desk()
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    for text in ("{}", IN_FILE):
        house.write(text)
        desk.refresh()
    assert not desk.policy.bypasses("Countersign")
    assert len(desk.unconfirmed()) == 1


def test_an_edit_of_the_file_confirms_nothing(house):
    house.write("{}")
    desk = house.desk()
    house.write(IN_FILE)
    desk.refresh()
    assert not desk.policy.bypasses("Countersign")
    assert len(desk.unconfirmed()) == 1


def test_a_clone_elsewhere_is_asked_for_itself(house, tmp_path):
    house.write(IN_FILE)
    desk = house.desk()
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    other = WorkspaceServer(tmp_path / "other")
    other.storage = house.storage
    other.write(IN_FILE)
    assert not other.desk().policy.bypasses("Countersign")
    assert house.desk().policy.bypasses("Countersign")


def test_a_link_to_the_workspace_is_the_workspace(house, tmp_path):
    house.write(IN_FILE)
    desk = house.desk()
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    (tmp_path / "link").symlink_to(house.workspace)
    house.workspace = tmp_path / "link"
    again = house.desk()
    assert again.policy.workspace == desk.policy.workspace
    assert again.policy.bypasses("Countersign")


def test_a_confirmation_that_fits_nothing_or_comes_untrusted_is_refused(house):
    house.write(IN_FILE)
    desk = house.desk(trusted=False)
    (item,) = desk.unconfirmed()
    with pytest.raises(NotTrusted):
        desk.confirm(item.digest, accept=True)
    with pytest.raises(InvalidAnswer):
        desk.confirm("0" * 64, accept=True)
    assert not house.desk().policy.bypasses("Countersign")


def test_what_a_person_typed_and_saved_is_confirmed_with_the_change_that_tells_it(house):
    desk = house.desk(settings={"workspace": {}})
    digest = house.desk(settings={"workspace": BYPASS}).unconfirmed()[0].digest
    said = [ByPerson(key="countersign.agents.Countersign.bypassPermissions", digest=digest)]
    desk.changed(changed(workspace=BYPASS, by_person=said))
    assert desk.policy.bypasses("Countersign")
    assert desk.unconfirmed() == ()


WRONG = [
    ("another key", "countersign.agents.Other.bypassPermissions", None, True),
    ("another value", "countersign.agents.Countersign.bypassPermissions", "0" * 64, True),
    ("no trust", "countersign.agents.Countersign.bypassPermissions", None, False),
]


@pytest.mark.parametrize(("key", "digest", "trusted"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_by_person_confirms_only_what_exactly_stands_there(house, key, digest, trusted):
    desk = house.desk(settings={"workspace": BYPASS})
    said = [ByPerson(key=key, digest=digest or desk.unconfirmed()[0].digest)]
    desk.changed(changed(workspace=BYPASS, by_person=said, trusted=trusted))
    desk.changed(changed(workspace=BYPASS))
    assert not desk.policy.bypasses("Countersign")


def test_an_editor_that_tells_late_does_not_end_a_confirmation_that_still_stands_on_disk(house):
    house.write(IN_FILE)
    desk = house.desk(settings={"workspace": BYPASS})
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    desk.changed(changed(workspace={}))
    assert not desk.policy.bypasses("Countersign")
    desk.changed(changed(workspace=BYPASS))
    assert desk.policy.bypasses("Countersign")


def test_a_value_that_left_the_file_by_hand_ends_before_the_editor_tells(house):
    house.write(IN_FILE)
    desk = house.desk(settings={"workspace": BYPASS})
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    house.write("")  # as a program that empties the file before it writes it leaves it for a moment
    desk.refresh()
    house.write(IN_FILE.replace("true", "false"))
    desk.refresh()
    assert not desk.policy.bypasses("Countersign")
    desk.changed(changed(workspace=BYPASS))  # something else made it send what it knew
    assert not desk.policy.bypasses("Countersign")
    assert not desk.unconfirmed()
    house.write(IN_FILE)  # by whatever program: the person's answer is forgotten
    desk.refresh()
    assert not desk.policy.bypasses("Countersign")
    assert len(desk.unconfirmed()) == 1


def test_a_value_survives_a_program_that_empties_the_file_first(house):
    house.write(IN_FILE)
    desk = house.desk(settings={"workspace": BYPASS})
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    house.write("")
    desk.refresh()
    assert not desk.policy.bypasses("Countersign")
    house.write(IN_FILE)
    desk.refresh()
    assert desk.policy.bypasses("Countersign")


def test_an_allow_rule_that_left_the_file_by_hand_ends_before_the_editor_tells(house):
    rules = {"permissions": {"allow": ["Shell(git *)", "Shell(make)"]}}
    house.write(json.dumps({"countersign.permissions": rules["permissions"]}))
    desk = house.desk(settings={"workspace": rules})
    for item in desk.unconfirmed():
        desk.confirm(item.digest, accept=True)
    house.write('{"countersign.permissions": {"allow": ["Shell(make)"]}}')
    desk.refresh()
    assert texts(desk) == [("allow", "Shell(make)", "workspace")]
    assert not desk.unconfirmed()


def test_users_rules_come_from_the_storage_where_no_editor_keeps_them(house):
    house.keep('{"permissions": {"allow": ["a"], "deny": [\n"b"]}}')
    desk = house.desk()
    assert [(rule.text, rule.scope, rule.line) for rule in desk.policy.rules] == [("b", "user", 2), ("a", "user", 1)]


def test_a_corrupt_store_of_rules_is_kept_aside_told_once_and_counts_as_empty(house):
    house.keep('{"permissions": ')
    desk = house.desk()
    desk.refresh()
    (kept,) = house.storage.glob("rules.json.corrupt-*")
    assert house.warnings == [f"the store of your rules was corrupt; it is kept as `{kept.name}` and counts as empty"]
    assert desk.policy.rules == ()
    assert desk.policy.mode == "default"


def test_a_store_that_breaks_beneath_us_forbids_what_it_forbade(house):
    house.keep('{"permissions": {"deny": ["d"], "ask": ["q"], "allow": ["a"]}}')
    desk = house.desk()
    house.keep('{"permissions": {"deny"')
    desk.refresh()
    assert texts(desk) == [("deny", "d", "user"), ("ask", "q", "user")]
    assert len(house.warnings) == 1
    house.keep('{"permissions": {"allow": ["b"], "deny": ["d"]}}')
    desk.refresh()
    assert set(texts(desk)) == {("deny", "d", "user"), ("allow", "b", "user"), ("ask", "q", "user")}


def test_a_store_that_could_not_be_opened_and_then_breaks_forbids_what_it_forbade(house, monkeypatch):
    house.keep('{"permissions": {"deny": ["d"]}}')
    desk = house.desk()

    def too_many(*_, **__):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", too_many)
        (house.storage / "rules.json").touch()
        desk.refresh()
    house.keep("{")
    desk.refresh()
    assert texts(desk) == [("deny", "d", "user")]


def test_a_managed_file_that_anybody_can_write_only_forbids(house):
    house.administer('{"permissions": {"deny": ["d"], "allow": ["a"]}, "mode": "auto"}')
    house.managed.chmod(0o666)
    desk = house.desk()
    assert texts(desk) == [("deny", "d", "managed")]
    assert desk.policy.mode == "default"
    assert "administrator" in desk.policy.problems[0].message


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root owns files as root")
def test_a_managed_file_of_the_administrator_counts_in_full(house):
    house.administer('{"countersign.permissions": {"allow": ["a"]}, "mode": "auto"}')
    desk = house.desk()
    assert texts(desk) == [("allow", "a", "managed")]
    assert desk.policy.mode == "auto"
    assert desk.policy.problems == ()


def test_a_managed_file_that_cannot_be_read_asks(house):
    house.administer("{")
    assert house.desk().policy.mode == "ask"


def test_tools_may_not_write_what_is_ours_or_the_editors(house):
    own = house.desk(client={"ownPaths": ["/editor/../profile", "relative"]}).policy
    assert own.own_paths == (str(house.storage), "/venv", str(house.managed), "/profile")
    assert "`relative`" in own.problems[0].message


def test_the_editors_user_file_gives_lines_to_the_users_rules(house, tmp_path):
    profile = tmp_path / "User"
    profile.mkdir()
    (profile / "settings.json").write_text('{\n"countersign.permissions.deny": [\n"a"]}')
    options = {"client": {"ownPaths": [str(profile)]}, "settings": {"user": {"permissions": {"deny": ["a", "b"]}}}}
    rules = house.desk(**options).policy.rules
    file = str(profile / "settings.json")
    assert [(rule.text, rule.file, rule.line) for rule in rules] == [("a", file, 3), ("b", file, None)]


def test_keys_that_do_not_count_are_told_with_their_place(house):
    house.write('{\n"countersign.mode": "ask",\n"countersign.mode": "plan"}')
    (problem,) = house.desk().policy.problems
    assert (problem.line, problem.message) == (2, "`countersign.mode` stands here more than once; the last one counts")


async def test_a_hand_edit_takes_effect_while_somebody_watches(house):
    desk = house.desk()
    seen = asyncio.Event()
    desk.subscribe(seen.set)
    watching = asyncio.create_task(desk.watch(0.01), name="watch settings for the test")
    try:
        for text, mode in (('{"countersign.mode": "plan"}', "plan"), ("{}", "default")):
            seen.clear()
            house.write(text)
            async with asyncio.timeout(PATIENCE):
                await seen.wait()
            assert desk.policy.mode == mode
    finally:
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching


async def test_a_look_that_finds_nothing_new_changes_nothing(house):
    desk = house.desk()
    before = desk.policy
    await desk.look()
    assert desk.policy is before


def test_a_listener_that_fails_keeps_nobody_from_hearing(house, caplog):
    desk = house.desk(settings={})
    heard = []

    def fails():
        raise RuntimeError("mine")

    desk.subscribe(fails)
    end = desk.subscribe(lambda: heard.append(1))
    desk.changed(changed(user={"mode": "plan"}))
    end()
    desk.changed(changed(user={"mode": "ask"}))
    assert heard == [1]
    assert "a listener of the settings failed" in caplog.text


def test_policies_can_be_told_apart_by_value(house):
    house.write(json.dumps({"countersign.mode": "plan"}))
    assert house.desk().policy == house.desk().policy
