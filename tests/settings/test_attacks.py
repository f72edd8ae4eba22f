"""What a hostile repository tries with its settings: nothing counts that a person did not confirm as it is now."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.advice.explain import explain
from countersign.settings.rules import MOST_ITEMS
from tests.settings.test_live_settings import WorkspaceServer, changed, texts


@pytest.fixture
def house(tmp_path: Path) -> WorkspaceServer:
    return WorkspaceServer(tmp_path)


def write(house: WorkspaceServer, **said: object) -> None:
    house.write(json.dumps({f"countersign.{key}": value for key, value in said.items()}))


def read_in(desk, path: Path) -> str:
    return explain({"tool": "read", "args": {"path": str(path)}}, desk.policy, "default").verdict


# --- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sends", [False, True])
def test_a_confirmed_folder_that_is_linked_elsewhere_ends(sends: bool, house: WorkspaceServer, tmp_path: Path) -> None:
    for name in ("libs", "secrets"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
    link = house.workspace / "libs"
    link.symlink_to(tmp_path / "libs")
    folders = {"permissions": {"additionalDirectories": ["libs"]}}
    write(house, **folders)
    desk = house.desk(**({"settings": {"user": {}, "workspace": folders}} if sends else {}))
    (item,) = desk.unconfirmed()
    assert (item.value, item.resolved) == ("libs", str(tmp_path / "libs"))
    assert str(tmp_path / "libs") in item.text
    desk.confirm(item.digest, accept=True)
    assert read_in(desk, link / "x") == "allow"
    link.unlink()
    link.symlink_to(tmp_path / "secrets")
    assert read_in(desk, link / "x") == "ask"  # at once, before anybody looked at the settings again
    assert read_in(desk, tmp_path / "secrets/x") == "ask"
    desk.refresh()
    assert read_in(desk, tmp_path / "libs/x") == "ask"
    (again,) = desk.unconfirmed()
    assert again.resolved == str(tmp_path / "secrets")
    assert again.changed == f"was `{tmp_path / 'libs'}` when it was last confirmed"
    link.unlink()
    link.symlink_to(tmp_path / "libs")
    desk.refresh()
    assert [item.resolved for item in desk.unconfirmed()] == [str(tmp_path / "libs")]


@pytest.mark.parametrize("folder", ["libs", "./libs", "../libs", ".", "~user/x"])
def test_a_relative_folder_of_user_settings_grants_nothing_and_is_an_error_on_its_line(
    folder: str, house: WorkspaceServer, tmp_path: Path
) -> None:
    user = tmp_path / "user/settings.json"
    user.parent.mkdir()
    said = {"permissions": {"additionalDirectories": [folder]}}
    user.write_text('{\n"countersign.permissions": {"additionalDirectories": [\n' + json.dumps(folder) + "]}}")
    desk = house.desk(settings={"user": said, "workspace": {}}, client={"ownPaths": [str(user.parent)]})
    assert desk.policy.additional_directories == ()
    assert [(one.file, one.line, one.severity) for one in desk.policy.problems] == [(str(user), 3, "error")]


# --- digests and texts -----------------------------------------------------------------------------------------------


def test_a_key_with_dots_is_another_key(house: WorkspaceServer) -> None:
    write(house, permissions={"allow": ["Bash"]})
    desk = house.desk()
    (rule,) = desk.unconfirmed()
    house.write('{"countersign": {"permissions.allow": "Bash"}}')
    desk.refresh()
    assert [item.digest for item in desk.unconfirmed()] != [rule.digest]


@pytest.mark.parametrize("name", ["a\nb", "a\u202eb", "x" * 300_000, "\x1b[31m"])
def test_a_dialog_gets_no_raw_or_endless_key(name: str, house: WorkspaceServer) -> None:
    write(house, agents={name: {"command": name}}, **{name: 1})
    for item in house.desk().unconfirmed():
        for text in (item.key, item.text, str(item.resolved)):
            assert text.isprintable()
            assert len(text) < 10_000


NULLS = (
    '{"countersign.permissions.deny": ["Bash(rm *)"], "countersign.permissions.ask": ["Edit"],'
    ' "countersign.permissions": null}',
    '{"countersign.permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit"]}, "countersign.permissions": null}',
    '{"countersign": {"permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit"]}, "permissions": null}}',
    '{"countersign.permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit"]}, "countersign.permissions.deny": null}',
)


@pytest.mark.parametrize("text", NULLS)
def test_a_later_null_takes_no_rule_away(text: str, house: WorkspaceServer) -> None:
    house.write(text)
    desk = house.desk()
    assert {(listed, rule) for listed, rule, _ in texts(desk)} == {("deny", "Bash(rm *)"), ("ask", "Edit")}
    assert any("null" in problem.message for problem in desk.policy.problems)


@pytest.mark.parametrize("said", [{"permissions": None}, {"permissions": {"deny": None}}])
def test_a_null_that_the_editor_sends_counts_as_a_broken_rule(said: dict[str, object], house: WorkspaceServer) -> None:
    desk = house.desk(settings={"user": {}, "workspace": said})
    asked = explain({"tool": "bash", "args": {"command": "make"}}, desk.policy, "auto")
    assert asked.verdict == "ask"


def test_a_value_that_leaves_and_returns_while_another_file_is_broken_asks_again(house: WorkspaceServer) -> None:
    write(house, permissions={"allow": ["Bash(ls)"]})
    house.administer("{}")
    desk = house.desk()
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    house.administer("{")
    desk.refresh()
    write(house)
    desk.refresh()
    write(house, permissions={"allow": ["Bash(ls)"]})
    desk.refresh()
    house.administer("{}")
    desk.refresh()
    assert [item.value for item in desk.unconfirmed()] == ["Bash(ls)"]


def test_an_endless_allow_list_is_refused_with_an_error_and_costs_no_time(house: WorkspaceServer) -> None:
    write(house, permissions={"allow": [f"Bash(tool{number})" for number in range(30_000)], "deny": ["Bash(rm *)"]})
    started = time.process_time()
    desk = house.desk()
    assert time.process_time() - started < 10
    assert desk.unconfirmed() == ()
    assert texts(desk) == [("deny", "Bash(rm *)", "workspace")]
    (problem,) = desk.policy.problems
    assert (problem.severity, f"no more than {MOST_ITEMS}" in problem.message) == ("error", True)


def confirming(house: WorkspaceServer, entries: int) -> float:
    """Processor seconds of confirming one entry of a list, the best of three."""
    write(house, permissions={"allow": [f"Bash(tool{number} {'x' * 400})" for number in range(entries)]})
    desk, best = house.desk(), float("inf")
    for item in desk.unconfirmed()[:3]:
        started = time.process_time()
        desk.confirm(item.digest, accept=True)
        best = min(best, time.process_time() - started)
    assert len(desk.unconfirmed()) == entries - 3
    return best


def test_a_confirmation_takes_time_linear_in_the_list(house: WorkspaceServer, tmp_path: Path) -> None:
    small, large = MOST_ITEMS // 4, MOST_ITEMS
    ratio = confirming(house, large) / confirming(WorkspaceServer(tmp_path / "small"), small)
    assert ratio < 3 * large / small


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"mode": "acceptEdits"}, {"mode": "auto"}, "was `acceptEdits` when it was last confirmed"),
        ({"mode": "auto"}, {"mode": "auto"}, None),
        (
            {"agents": {"A": {"command": "a"}}},
            {"agents": {"A": {"command": "b"}}},
            'was `{"command":"a"}` when it was last confirmed',
        ),
        ({"permissions": {"allow": ["Bash(ls)"]}}, {"permissions": {"allow": ["Bash"]}}, None),
    ],
)
def test_what_changed_since_a_confirmation_is_known_after_a_restart(
    before: dict[str, object], after: dict[str, object], changed: str | None, house: WorkspaceServer
) -> None:
    write(house, **before)
    desk = house.desk()
    for item in desk.unconfirmed():
        desk.confirm(item.digest, accept=True)
    write(house)
    house.desk()
    write(house, **after)
    assert [item.changed for item in house.desk().unconfirmed()] == [changed]


def test_a_bypass_of_an_agent_that_is_started_otherwise_says_so(house: WorkspaceServer) -> None:
    for command in ("a", "b"):
        write(house, agents={"A": {"command": command, "bypassPermissions": True}})
        desk = house.desk()
        bypass = next(item for item in desk.unconfirmed() if item.key.endswith("bypassPermissions"))
        if command == "a":
            desk.confirm(bypass.digest, accept=True)
        else:
            assert "started in another way" in str(bypass.changed)


# --- what counts never exceeds what was confirmed --------------------------------------------------------------------

ALLOWS = ("Bash(make)", "Bash", "Edit(./src/**)", "Read(//etc/**)")
FOLDERS = ("libs", "other", "../out")
ENTRIES = {
    "permissions": st.fixed_dictionaries(
        {},
        optional={
            "allow": st.lists(st.sampled_from(ALLOWS), max_size=3) | st.just("Bash"),
            "deny": st.lists(st.just("Bash(rm *)"), max_size=1) | st.none(),
            "additionalDirectories": st.lists(st.sampled_from(FOLDERS), max_size=2),
        },
    )
    | st.none(),
    "permissions.allow": st.just("Bash") | st.lists(st.sampled_from(ALLOWS), max_size=2) | st.none(),
    "permissions.deny": st.lists(st.just("Bash(rm *)"), max_size=1) | st.none(),
    "mode": st.sampled_from(["auto", "acceptEdits", "plan", 5]),
    "agents": st.just({"Countersign": {"bypassPermissions": True}}),
}
PAIRS = st.sampled_from(sorted(ENTRIES)).flatmap(lambda key: st.tuples(st.just(key), ENTRIES[key]))
STEPS = st.one_of(
    st.tuples(st.just("write"), st.lists(PAIRS, max_size=4)),
    st.tuples(st.just("broken"), st.just("{")),
    st.tuples(st.just("link"), st.tuples(st.sampled_from(["libs", "other"]), st.sampled_from(["a", "b", "none"]))),
    st.tuples(st.just("redirect"), st.sampled_from(["one.json", "two.json", "none.json"])),
    st.tuples(st.just("confirm"), st.integers(0, 5)),
    st.tuples(st.just("trust"), st.booleans()),
    st.tuples(st.just("look"), st.none()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_whatever_a_repository_does_what_counts_was_confirmed(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        house = WorkspaceServer(top)
        for name in ("a", "b", "out"):
            (top / name).mkdir()
        desk = house.desk(settings={"user": {}})
        confirmed: set[tuple[object, ...]] = set()
        for kind, what in steps:
            match kind, what:
                case "write", list(pairs):
                    house.write("{" + ",".join(f'"countersign.{key}": {json.dumps(said)}' for key, said in pairs) + "}")
                case "broken", str(text):
                    house.write(text)
                case "link", (str(name), str(to)):
                    link = house.workspace / name
                    link.unlink(missing_ok=True)
                    link.symlink_to(top / to)
                case "redirect", str(to):
                    text = house.file.read_text() if house.file.exists() else "{}"
                    house.file.unlink(missing_ok=True)
                    if to != "none.json":
                        (house.workspace / to).write_text(text)
                    house.file.symlink_to(house.workspace / to)
                case "confirm", int(number):
                    waiting = desk.unconfirmed()
                    if waiting and desk.policy.trusted:
                        item = waiting[number % len(waiting)]
                        desk.confirm(item.digest, accept=True)
                        confirmed.add(
                            (item.key, item.resolved or item.value if isinstance(item.value, str) else item.key)
                        )
                case "trust", bool(trusted):
                    desk.changed(changed(trusted, user={}))
                case _:
                    desk.refresh()
            policy = desk.policy
            for rule in policy.rules:
                if rule.list == "allow":
                    assert policy.trusted
                    assert ("countersign.permissions.allow", rule.text) in confirmed
            for _, resolved in zip(policy.additional_directories, policy.additional_resolved, strict=False):
                assert policy.trusted
                assert ("countersign.permissions.additionalDirectories", resolved) in confirmed
            if policy.bypasses("Countersign"):
                assert any("bypassPermissions" in str(key) for key, _ in confirmed)
            if policy.mode in ("auto", "acceptEdits"):
                assert ("countersign.mode", policy.mode) in confirmed
