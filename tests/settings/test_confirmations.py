"""What a person confirmed is kept, is about one value only, and ends with it."""

import re
import sqlite3
import stat

import pytest

from countersign.settings.confirmations import STORE, Confirmations, ConfirmationsUnavailable, Subject, value_digest

KEY = Subject("key", None, "")


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def store(tmp_path, warnings):
    return Confirmations(tmp_path / "storage", warnings.append)


def test_nothing_is_confirmed_and_nothing_is_made_before_anybody_says_so(store, tmp_path):
    assert store.answers("/w") == {}
    assert not (tmp_path / "storage").exists()


def test_answers_outlive_the_server_and_belong_to_one_workspace(store, tmp_path, warnings):
    store.answer("/w", "a", KEY, accepted=True)
    store.answer("/w", "b", KEY, accepted=False)
    store.answer("/other", "c", KEY, accepted=True)
    again = Confirmations(tmp_path / "storage", warnings.append)
    assert again.answers("/w") == {"a": True, "b": False}
    again.answer("/w", "b", KEY, accepted=True)
    assert store.answers("/w") == {"a": True, "b": True}
    assert warnings == []


def test_the_store_is_for_the_persons_eyes_only(store, tmp_path):
    store.answer("/w", "a", KEY, accepted=True)
    assert stat.S_IMODE((tmp_path / "storage" / STORE).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "storage").stat().st_mode) == 0o700


def test_an_answer_is_forgotten_when_its_value_no_longer_stands(store):
    for digest in "abc":
        store.answer("/w", digest, KEY, accepted=digest != "b")
    store.answer("/other", "d", KEY, accepted=True)
    store.retain("/w", {"a"})
    assert store.answers("/w") == {"a": True}
    assert store.answers("/other") == {"d": True}


def test_an_answer_can_be_taken_back(store):
    store.answer("/w", "a", KEY, accepted=True)
    store.withdraw("/w", "a")
    assert store.answers("/w") == {}


def damaged(path):
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 5000)


def of_another_shape(path):
    path.unlink()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE answers (something TEXT)")
    database.commit()
    database.close()


@pytest.mark.parametrize("spoil", [lambda path: path.write_text("no database"), damaged, of_another_shape])
def test_a_corrupt_store_is_kept_aside_told_once_and_counts_as_empty(store, tmp_path, warnings, spoil):
    store.answer("/w", "a", KEY, accepted=True)
    spoil(tmp_path / "storage" / STORE)
    assert store.answers("/w") == {}
    assert store.answers("/w") == {}
    (kept,) = (tmp_path / "storage").glob("*.corrupt-*")
    assert re.fullmatch(rf"{STORE}\.corrupt-\d{{8}}T\d{{6}}Z", kept.name)
    assert warnings == [f"the store of confirmed settings was corrupt; it is kept as `{kept.name}` and counts as empty"]
    store.answer("/w", "b", KEY, accepted=True)
    assert store.answers("/w") == {"b": True}


def test_a_store_that_cannot_be_opened_confirms_nothing_and_says_so(tmp_path, warnings):
    (tmp_path / "file").write_text("")
    store = Confirmations(tmp_path / "file" / "below", warnings.append)
    with pytest.raises(ConfirmationsUnavailable):
        store.answer("/w", "a", KEY, accepted=True)
    (tmp_path / "storage" / STORE).mkdir(parents=True)
    store = Confirmations(tmp_path / "storage", warnings.append)
    assert store.answers("/w") == {}
    assert warnings == ["confirmations cannot be read or kept in the storage folder"]


ONE = ("/w", "/w/.vscode/settings.json", ("agents", "X", "bypassPermissions"), True, {"command": "x"})
OTHERS = [
    ("/v", *ONE[1:]),
    (ONE[0], "/w/other.json", *ONE[2:]),
    (*ONE[:2], ("agents", "Y", "bypassPermissions"), *ONE[3:]),
    (*ONE[:2], ("agents.X", "bypassPermissions"), *ONE[3:]),
    (*ONE, "/w/libs"),
    (*ONE[:3], 1, ONE[4]),
    (*ONE[:3], "true", ONE[4]),
    (*ONE[:4], {"command": "y"}),
    ONE[:4],
]


@pytest.mark.parametrize("other", OTHERS)
def test_another_workspace_file_key_value_or_agent_is_another_digest(other):
    assert value_digest(*other) != value_digest(*ONE)


def test_the_same_value_has_one_digest_however_it_is_written():
    where = ("/w", "f", ("k",))
    assert value_digest(*where, {"a": 1.0, "b": [True]}) == value_digest(*where, {"b": [True], "a": 1})
