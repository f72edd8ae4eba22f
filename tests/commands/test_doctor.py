"""`countersign doctor`: each fault is found and named with its fix, and no secret is printed."""

from __future__ import annotations

import argparse
import io
import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from countersign.agents.acp.identity import identify
from countersign.agents.acp.recipe import STRANGER
from countersign.commands import doctor
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.tools.sandbox import confiner
from tests.gate.ledger.ledger_support import entry, harm, write


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    (workspace / ".vscode").mkdir(parents=True)
    storage.mkdir(mode=0o700)
    with closing(Ledger(storage / LEDGER_FILE)) as ledger:
        for number in range(3):
            write(ledger, entry(number))
    return workspace, storage


def examined(folders: tuple[Path, Path], *, as_json: bool = True) -> tuple[int, str]:
    parser = argparse.ArgumentParser()
    doctor.add_arguments(parser)
    words = ["--workspace", str(folders[0]), "--storage", str(folders[1]), *(["--json"] if as_json else [])]
    out = io.StringIO()
    return doctor.run(parser.parse_args(words), out, managed=folders[0].parent / "managed.json"), out.getvalue()


def lines(folders: tuple[Path, Path]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in json.loads(examined(folders)[1])["lines"]:
        found.setdefault(line["check"], []).append(line)
    return found


def test_a_sound_machine_has_no_fault_and_changes_nothing(folders: tuple[Path, Path]) -> None:
    before = {path: path.stat().st_mtime_ns for path in folders[1].iterdir()}
    code, out = examined(folders)
    assert (code, json.loads(out)["faults"]) == (0, 0)
    assert lines(folders)["ledger"][0]["text"] == "3 rows hold"
    assert {path: path.stat().st_mtime_ns for path in folders[1].iterdir() if path in before} == before
    code, text = examined(folders, as_json=False)
    assert (code, text.splitlines()[-1].endswith(" 0 faults")) == (0, True)


def _settings(folders: tuple[Path, Path], text: str) -> None:
    (folders[0] / ".vscode" / "settings.json").write_text(text)


FAULTS: dict[str, tuple[str, str, Callable[[tuple[Path, Path]], object]]] = {
    "a changed row": ("ledger", "fault", lambda f: harm(f[1] / LEDGER_FILE, "UPDATE entries SET tool = 'x'")),
    "garbage": ("ledger", "fault", lambda f: (f[1] / LEDGER_FILE).write_bytes(b"garbage" * 999)),
    "a pipe": ("ledger", "fault", lambda f: ((f[1] / LEDGER_FILE).unlink(), os.mkfifo(f[1] / LEDGER_FILE))),
    "no storage": ("storage", "fault", lambda f: f[1].rename(f[1].with_name("elsewhere"))),
    "no workspace": ("workspace", "fault", lambda f: f[0].rename(f[0].with_name("elsewhere"))),
    "a file as the workspace": (
        "workspace", "fault", lambda f: (f[0].rename(f[0].with_name("elsewhere")), f[0].write_text("")),
    ),
    "an open storage": ("storage", "warning", lambda f: f[1].chmod(0o755)),
    "broken settings": ("workspace settings", "fault", lambda f: _settings(f, '{"countersign.mode": ')),
    "a broken managed file": ("managed policy", "fault", lambda f: (f[0].parent / "managed.json").write_text("{")),
    "a broken rule": (
        "setting", "warning", lambda f: _settings(f, '{"countersign.permissions": {"deny": ["Bash(rm"]}}'),
    ),
    "a setting that does nothing yet": (
        "setting", "warning", lambda f: _settings(f, '{"countersign.mcpServers": {"x": {"command": "x"}}}'),
    ),
    "a misspelled setting": ("setting", "warning", lambda f: _settings(f, '{"countersign.agnets": {}}')),
    "a store that was set aside": (
        "set aside", "warning", lambda f: (f[1] / "chats.db.corrupt-20260101T000000Z").write_bytes(b""),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_with_its_fix(name: str, folders: tuple[Path, Path]) -> None:
    check, state, break_it = FAULTS[name]
    break_it(folders)
    found = [line for line in lines(folders)[check] if line["state"] == state]
    assert found, lines(folders)
    assert all(line["fix"] for line in found)
    assert examined(folders)[0] == (1 if state == "fault" else 0)


def test_missing_programs_are_named(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    found = lines(folders)
    assert [found[name][0]["state"] for name in ("bash", "git", "node")] == ["fault", "warning", "warning"]
    assert all(found[name][0]["fix"] for name in ("bash", "git", "node"))


@pytest.mark.parametrize(("mode", "effect"), [("commands", "every command asks"), ("off", "`sandbox.mode` is off")])
def test_a_missing_sandbox_is_named(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, mode: str, effect: str
) -> None:
    def absent(_policy: object) -> str:
        raise confiner.NoSandbox("bubblewrap is not installed")

    monkeypatch.setattr(confiner, "_bubblewrap", absent)
    _settings(folders, f'{{"countersign.sandbox.mode": "{mode}"}}')
    (line,) = lines(folders)["sandbox"]
    assert line["state"] == "warning"
    assert "bubblewrap is not installed" in line["text"]
    assert effect in line["text"]
    assert line["fix"]


def _install(folder: Path, package: str, version: str, program: str, run: Path) -> Path:
    """Put a package as npm does, with a program that would leave a trace if it were started."""
    root = folder / "lib" / "node_modules" / package
    root.mkdir(parents=True)
    (root / "package.json").write_text(json.dumps({"name": package, "version": version}))
    script = root / "cli.js"
    script.write_text(f"#!/bin/sh\ntouch {run}\n")
    script.chmod(0o755)
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / program).symlink_to(script)
    return folder / "bin"


AGENTS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "a measured version": ({"command": "fixed"}, "ok", ["version 1.0.0", "recipe fixed", "gated: as measured"]),
    "a version that is only claimed": ({"command": "gemini"}, "warning", ["0.61.0", "asks only: this calls itself"]),
    "another version": ({"command": "qwen"}, "warning", ["version 9.9.9", "asks only: version 9.9.9", "not been meas"]),
    "a version by its package": ({"command": "node", "args": ["opencode-ai"]}, "warning", ["version not known"]),
    "no recipe": ({"command": "stranger"}, "warning", ["recipe none", "unguarded: there is no recipe"]),
    "a recipe by name": ({"command": "stranger", "recipe": "copilot"}, "warning", ["recipe copilot", "asks only"]),
    "no program": ({"command": "absent-agent"}, "fault", ["the program absent-agent is not found on PATH"]),
    "a PATH of its own": ({"command": "gemini", "env": {"PATH": "/nonexistent"}}, "fault", ["gemini is not found"]),
    "a hidden character": ({"command": "a\u202eb"}, "fault", ["a\\u202eb"]),
    "no leave to run": ({"command": "./plain.txt"}, "fault", ["./plain.txt is not found"]),
}


@pytest.mark.parametrize("confirmed", [True, False])
@pytest.mark.parametrize("name", AGENTS)
def test_each_agent_is_named_with_its_label_and_none_is_started(
    name: str, confirmed: bool, folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, state, words = AGENTS[name]
    run = tmp_path / "was-started"
    _install(tmp_path / "npm", "@google/gemini-cli", "0.61.0", "gemini", run)
    _install(tmp_path / "npm", "@qwen-code/qwen-code", "9.9.9", "qwen", run)
    path = _install(tmp_path / "npm", "stranger", "1.0.0", "stranger", run)
    _install(tmp_path / "npm", "fixed", "1.0.0", "fixed", run)
    identity = identify(STRANGER, ["fixed"], {"PATH": str(path)}, str(folders[0]))
    assert identity is not None
    assert identity.digest is not None
    recipe = {"label": "gated", "marks": ["fixed"], "packages": ["fixed"], "caveat": "as measured",
              "measured": {"1.0.0": [identity.digest]}}  # fmt: skip
    (path / "node").symlink_to(path / "stranger")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    (folders[0] / "plain.txt").write_text("no program")
    managed, recipes = folders[0].parent / "managed.json", {"countersign.recipes": {"fixed": recipe}}
    settings = {"countersign.agents": {"Guest": {"type": "acp", **entry}}}
    # What an administrator names counts; what a workspace names waits for a person.
    managed.write_text(json.dumps({**recipes, **(settings if confirmed else {})}))
    if not confirmed:
        (folders[0] / ".vscode" / "settings.json").write_text(json.dumps(settings))
    (line,) = lines(folders)["agent"]
    assert line["text"].startswith("Guest: ")
    assert line["state"] == (state if confirmed else "warning")
    assert all(word in line["text"] for word in words), line
    assert ("waits for a confirmation" in line["text"]) == (not confirmed and state != "fault")
    assert ("fix" in line) == (line["state"] != "ok")
    assert not run.exists()


def test_a_hostile_file_in_the_workspace_lowers_the_label(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _install(tmp_path / "npm", "@qwen-code/qwen-code", "0.15.10", "qwen", tmp_path / "was-started")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    (folders[0].parent / "managed.json").write_text('{"countersign.agents": {"Guest": {"command": "qwen"}}}')
    assert "asks only" in lines(folders)["agent"][0]["text"]
    (folders[0] / ".qwen").mkdir()
    (folders[0] / ".qwen" / "settings.json").write_text("{}")
    (line,) = lines(folders)["agent"]
    assert "unguarded: the workspace holds `.qwen/settings.json`" in line["text"]


def test_no_agent_in_the_files_is_said(folders: tuple[Path, Path]) -> None:
    (line,) = lines(folders)["agent"]
    assert (line["state"], "no hosted agent" in line["text"]) == ("ok", True)


def test_no_secret_is_printed(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYAPP_PASSWORD", "hunter2-hunter2")
    agent = {"command": "sh", "args": ["--key", "hunter2"], "env": {"KEY": "hunter2", "OTHER": "${env:MYAPP_PASSWORD}"}}
    _settings(folders, json.dumps({"countersign.agents": {"Guest": agent}}))
    text = examined(folders)[1] + examined(folders, as_json=False)[1]
    assert "MYAPP_PASSWORD" in text
    assert "hunter2" not in text
    assert all(os.environ[name] not in text for name in os.environ if name.endswith(("_TOKEN", "_KEY", "_SECRET")))
