"""The ``countersign`` command finds the room for a word."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from countersign import __version__
from countersign.cli import COMMANDS, main


def test_without_a_word_it_tells_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    told = capsys.readouterr().out
    assert all(word in told for word in COMMANDS)
    assert main(["--help"]) == 0


def test_an_unknown_word_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frobnicate"]) == 2
    assert "unknown command `frobnicate`" in capsys.readouterr().err


def test_it_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_serve_takes_the_transport_that_editors_name(monkeypatch: pytest.MonkeyPatch) -> None:
    room = types.ModuleType("countersign.lsp.app")
    room.serve = lambda: 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "countersign.lsp.app", room)
    assert main(["serve", "--stdio"]) == 3
    assert main(["serve"]) == 3


def test_a_folder_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["doctor"]) == 2
    assert "folder" in capsys.readouterr().err
