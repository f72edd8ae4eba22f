"""A settings file is read honestly and written whole or not at all."""

import os
import re
import stat

import pytest

from countersign.settings import files
from countersign.settings.edit import EditRefused, set_value
from countersign.settings.files import edit_file, load_file, set_aside, signature_of
from countersign.settings.tree import settings_tree

MODE = ("mode",)


def plan(text):
    return set_value(text, MODE, "plan")


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".vscode" / "settings.json"


def written(file, text):
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    return file


def test_a_file_that_is_not_there_is_neither_read_nor_broken(file):
    loaded = load_file(file, settings_tree)
    assert (loaded.tree, loaded.problem, loaded.signature) == (None, None, None)


def test_a_file_is_read_with_its_settings(file):
    assert load_file(written(file, '{"countersign.mode": "plan"}'), settings_tree).tree.root.value == {"mode": "plan"}


BROKEN = [
    (b'{\n "a": ]', 2, 7, "cannot be read: a value is missing"),
    (b"[]", 1, 1, "cannot be read: the file does not hold an object"),
    (b'{"a": "\xff"}', 1, 8, "cannot be read: the file is not UTF-8 text"),
    (b"{" + b" " * files.MAX_BYTES + b"}", 1, 1, f"cannot be read: it is larger than {files.MAX_BYTES} bytes"),
]


@pytest.mark.parametrize(("data", "line", "column", "message"), BROKEN)
def test_a_broken_file_is_told_with_its_place_and_is_not_empty(file, data, line, column, message):
    written(file, "").write_bytes(data)
    loaded = load_file(file, settings_tree)
    assert loaded.tree is None
    assert (loaded.problem.line, loaded.problem.column, loaded.problem.message) == (line, column, message)
    assert loaded.problem.severity == "error"


def test_a_pipe_or_a_folder_in_the_files_place_is_broken_and_waits_for_nobody(file):
    file.parent.mkdir()
    os.mkfifo(file)
    assert load_file(file, settings_tree).problem.message == "cannot be read: it is not a regular file"
    os.unlink(file)
    file.mkdir()
    assert load_file(file, settings_tree).problem is not None


def test_a_name_that_cannot_be_a_path_is_broken():
    assert load_file("a\x00b", settings_tree).problem is not None
    assert signature_of("a\x00b") is None


def test_a_missing_file_is_made_with_its_folder(file):
    edit_file(file, plan)
    assert file.read_text() == '{\n    "countersign.mode": "plan"\n}\n'


def test_nothing_but_the_key_changes_and_the_mode_stays(file):
    written(file, '\ufeff{\r\n  "a": 1, // one\r\n}\r\n')
    file.chmod(0o640)
    edit_file(file, plan)
    assert file.read_bytes() == b'\xef\xbb\xbf{\r\n  "a": 1, // one\r\n  "countersign.mode": "plan",\r\n}\r\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(file.parent) == ["settings.json"]


def test_a_link_stays_a_link_and_its_target_is_changed(file, tmp_path):
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    file.parent.mkdir()
    file.symlink_to(target)
    edit_file(file, plan)
    assert file.is_symlink()
    assert "plan" in target.read_text()


def test_a_new_file_of_ours_is_for_our_eyes_only(tmp_path):
    edit_file(tmp_path / "rules.json", plan, new_mode=0o600)
    assert stat.S_IMODE((tmp_path / "rules.json").stat().st_mode) == 0o600


def test_a_broken_file_is_left_as_it_is(file):
    written(file, '{"a": ')
    with pytest.raises(EditRefused, match="broken in line 1, column 7"):
        edit_file(file, plan)
    assert file.read_text() == '{"a": '


def test_a_read_only_file_is_left_as_it_is(file):
    written(file, "{}").chmod(0o444)
    with pytest.raises(EditRefused, match="read-only"):
        edit_file(file, plan)
    assert file.read_text() == "{}"


@pytest.mark.parametrize("before", ["{}", None])
def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(file, before):
    file.parent.mkdir()
    if before is not None:
        file.write_text(before)

    def meddled(text):
        file.write_text('{"theirs": 1}')
        return plan(text)

    with pytest.raises(EditRefused, match="meanwhile"):
        edit_file(file, meddled)
    assert file.read_text() == '{"theirs": 1}'
    assert os.listdir(file.parent) == ["settings.json"]


def test_a_change_that_fails_halfway_leaves_no_trace(file, monkeypatch):
    written(file, "{}")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EditRefused, match="no space left on device"):
        edit_file(file, plan)
    assert file.read_text() == "{}"
    assert os.listdir(file.parent) == ["settings.json"]


def test_a_file_system_without_hard_links_gets_its_file_all_the_same(file, monkeypatch):
    def unknown(source, target):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", unknown)
    edit_file(file, plan)
    assert "plan" in file.read_text()
    assert os.listdir(file.parent) == ["settings.json"]


def test_a_corrupt_store_is_kept_aside_under_a_name_of_its_own(tmp_path):
    for number in range(2):
        (tmp_path / "rules.json").write_text(str(number))
        aside = set_aside(tmp_path / "rules.json")
        assert re.fullmatch(r"rules\.json\.corrupt-\d{8}T\d{6}Z(-2)?", aside.name)
        assert aside.read_text() == str(number)
    assert not (tmp_path / "rules.json").exists()


ADMINISTERED = [
    ("root's own", 0, 0o644, 0, 0o755, True),
    ("the group may write", 0, 0o664, 0, 0o755, False),
    ("anybody may write", 0, 0o646, 0, 0o755, False),
    ("somebody else's", 1000, 0o644, 0, 0o755, False),
    ("in somebody else's folder", 0, 0o644, 1000, 0o755, False),
    ("in a folder that anybody may write to", 0, 0o644, 0, 0o777, False),
]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(
    ("owner", "mode", "folder_owner", "folder_mode", "safe"),
    [case[1:] for case in ADMINISTERED],
    ids=[case[0] for case in ADMINISTERED],
)
def test_only_what_the_administrator_alone_can_write_is_administered(
    file, owner, mode, folder_owner, folder_mode, safe
):
    written(file, "{}").chmod(mode)
    os.chown(file, owner, -1)
    file.parent.chmod(folder_mode)
    os.chown(file.parent, folder_owner, -1)
    assert load_file(file, settings_tree).administered is safe
