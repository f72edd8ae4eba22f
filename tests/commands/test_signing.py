"""Signed exports and heads: what somebody without the key changes is found, and nothing says more than was compared."""

from __future__ import annotations

import json
import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from countersign.gate.ledger.hash_chain import GENESIS, chain_hash
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.signature import key_name
from countersign.gate.ledger.writer import Ledger
from countersign.settings import system_keyring
from tests.commands import keyring_double
from tests.commands.test_history import said
from tests.gate.ledger.ledger_support import entry, harm, write

PROGRAMS = keyring_double.PROGRAMS


@pytest.fixture(params=PROGRAMS)
def keyring_file(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a keyring without a key keeps one, through a double of the system's program."""
    return keyring_double.install(request.param, tmp_path, monkeypatch) / "ledger-signing"


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    folder = tmp_path / "storage"
    folder.mkdir()
    with closing(Ledger(folder / LEDGER_FILE)) as ledger:
        for number in range(3):
            write(ledger, entry(number))
    return folder


def add_rows(storage: Path, *numbers: int) -> None:
    with closing(Ledger(storage / LEDGER_FILE)) as ledger:
        for number in numbers:
            write(ledger, entry(number))


def test_a_key_is_made_once_and_named_without_being_told(keyring_file: Path) -> None:
    first, second = said("--make-key"), said("--make-key")
    key = bytes.fromhex(keyring_file.read_text())
    assert first == second == (0, f"exports and heads are signed with the key {key_name(key)}\n", "")
    assert keyring_file.read_text() not in first[1]


@pytest.mark.parametrize("words", [("--export", "x", "--sign"), ("--rotate", "x", "--sign"), ("--sign-head", "x")])
def test_without_a_key_nothing_is_written(words, keyring_file: Path, storage: Path, tmp_path: Path) -> None:
    words = [str(tmp_path / word) if word == "x" else word for word in words]
    code, _, problems = said("--storage", str(storage), *words)
    assert (code, problems) == (
        2,
        "the keyring holds no signing key; make one with `countersign history --make-key`\n",
    )
    assert not (tmp_path / "x").exists()


FAILURES = {"linux": "echo 'secret-tool: the item is locked' >&2; exit 1", "darwin": "exit 36"}


@pytest.mark.parametrize("platform", FAILURES)
def test_a_keyring_that_does_not_answer_keeps_the_key_that_it_has(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new key would make each signature so far one of another key."""
    program = tmp_path / PROGRAMS[platform]
    stores = "store|-i) cat > stored ;;"
    program.write_text(f'#!/bin/sh\ncd {tmp_path}\ncase "$1" in {stores} *) {FAILURES[platform]} ;; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(system_keyring.sys, "platform", platform)
    status, _out, problems = said("--make-key")
    assert (status, "unlock the keyring" in problems) == (2, True)
    assert not (tmp_path / "stored").exists()


@pytest.mark.parametrize("path", ["{nowhere}:", ".:{nowhere}", "bin:{nowhere}"])
def test_a_program_of_the_current_folder_is_never_given_the_key(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for folder in (tmp_path, tmp_path / "bin"):
        program = folder / "secret-tool"
        program.write_text(f"#!/bin/sh\n: > {tmp_path}/ran\n")
        program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path.format(nowhere=tmp_path / "nowhere"))
    monkeypatch.setattr(system_keyring.sys, "platform", "linux")
    status, _out, problems = said("--make-key")
    assert (status, "is not on PATH" in problems) == (2, True)
    assert not (tmp_path / "ran").exists()


def test_without_a_keyring_the_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, problems = said("--make-key")
    assert code == 2
    assert "is not on PATH" in problems


def test_an_export_says_what_it_was_compared_with(keyring_file: Path, storage: Path, tmp_path: Path) -> None:
    export = tmp_path / "all.jsonl"
    said("--make-key")
    assert said("--storage", str(storage), "--export", str(export), "--sign")[0] == 0
    assert stat.S_IMODE(os.stat(f"{export}.sig").st_mode) == 0o600
    code, out, _ = said("--verify-export", str(export), "--sign")
    assert (code, "compared with its own last line and with the signature of" in out) == (0, True)
    code, out, _ = said("--verify-export", str(export))
    assert (code, "last line only; give `--sign`" in out) == (0, True)
    os.unlink(f"{export}.sig")
    code, out, _ = said("--verify-export", str(export))
    assert (code, "no signature is beside it" in out) == (0, True)


def _other_export(storage: Path, export: Path) -> None:
    """A whole and valid export of another chain, put in place."""
    add_rows(storage, 7)
    export.unlink()
    said("--storage", str(storage), "--export", str(export))


def _changed(name: str, value: object):
    def change(_storage: Path, export: Path) -> None:
        path = Path(f"{export}.sig")
        path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}, separators=(",", ":")) + "\n")

    return change


FORGERIES = {
    "another export": (_other_export, "not the one"),
    "no signature": (lambda _storage, export: os.unlink(f"{export}.sig"), "there is no signature"),
    "no JSON": (lambda _storage, export: Path(f"{export}.sig").write_text("x"), "not a signature"),
    "a list": (lambda _storage, export: Path(f"{export}.sig").write_text("[]"), "not a signature"),
    "another sum": (_changed("sha256", "0" * 64), "was changed"),
    "another head": (_changed("head", chain_hash(GENESIS, 1, [])), "was changed"),
    "another count": (_changed("count", 9), "was changed"),
    "another time": (_changed("at", "2020-01-01T00:00:00.000000Z"), "was changed"),
    "another subject": (_changed("of", "head"), "was changed"),
    "another key": (_changed("key", "0" * 16), "another key"),
    "another mac": (_changed("mac", "0" * 64), "was changed"),
    "a mac that is no ASCII": (_changed("mac", "é"), "not a signature"),
    "a further field": (_changed("x", 1), "was changed"),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("keyring_file", ["linux"], indirect=True)
def test_what_was_not_signed_does_not_hold(name: str, keyring_file: Path, storage: Path, tmp_path: Path) -> None:
    export, (forge, reason) = tmp_path / "all.jsonl", FORGERIES[name]
    said("--make-key")
    said("--storage", str(storage), "--export", str(export), "--sign")
    forge(storage, export)
    code, _, problems = said("--verify-export", str(export), "--sign")
    assert code == 1
    assert reason in problems


def test_a_signed_head_finds_a_chain_that_was_rolled_back(keyring_file: Path, storage: Path, tmp_path: Path) -> None:
    head, copy = tmp_path / "head.sig", {path: path.read_bytes() for path in storage.iterdir() if path.is_file()}
    said("--make-key")
    add_rows(storage, 4)
    assert said("--storage", str(storage), "--sign-head", str(head))[0] == 0
    add_rows(storage, 5)
    code, out, _ = said("--storage", str(storage), "--verify", "--signed-head", str(head))
    assert (code, "the head at row 4, signed" in out) == (0, True)
    for path in storage.iterdir():
        if path.is_file():
            path.unlink()
    for path, data in copy.items():
        path.write_bytes(data)
    assert said("--storage", str(storage), "--verify")[0] == 0  # the folder alone does not show it
    code, _, problems = said("--storage", str(storage), "--verify", "--signed-head", str(head))
    assert (code, "row 4" in problems) == (1, True)


def test_a_broken_chain_is_not_signed(keyring_file: Path, storage: Path, tmp_path: Path) -> None:
    said("--make-key")
    harm(storage / LEDGER_FILE, "UPDATE entries SET tool = 'other' WHERE seq = 2")
    code, _, problems = said("--storage", str(storage), "--sign-head", str(tmp_path / "head.sig"))
    assert (code, "does not hold" in problems, (tmp_path / "head.sig").exists()) == (1, True, False)
