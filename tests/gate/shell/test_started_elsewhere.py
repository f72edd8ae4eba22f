"""A command that starts in another folder is judged like a text that goes there by ``cd`` first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import STRICTNESS, decide, judge

COMMANDS = (
    "npm test",
    "make",
    "ls",
    "true",
    "echo hi",
    "git status",
    "cat a.txt",
    "npm run b && npm test",
    "x=1",
    "./t",
)
FOLDERS = (
    "{out}",
    "{ws}/link",
    "{ws}/..",
    "/etc",
    "{home}",
    "{home}/.ssh",
    "{ws}/sub/../..",
    "/proc/self/cwd",
    "{ws}/sub",
)
RULES = ["Bash(npm test)", "Bash(npm run:*)", "Bash(make)", "Bash(make:*)", "Bash(./t)"]
MODES = ("default", "acceptEdits", "plan", "auto", "ask", "dontAsk")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for folder in ("ws/sub", "out", "home/.ssh"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "ws/link").symlink_to("../out")
    return {"ws": str(tmp_path / "ws"), "out": str(tmp_path / "out"), "home": str(tmp_path / "home")}


@pytest.mark.parametrize("mode", [*MODES, "bypass"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_is_entered_more_easily_than_by_cd(folder: str, mode: str, places: dict[str, str]) -> None:
    there = folder.format(**places)
    how = {"bypass": True} if mode == "bypass" else {"mode": mode}
    asked = {"workspace": places["ws"], "home": places["home"], **how}
    for command in COMMANDS:
        started = decide(command, RULES, cwd=there, **asked)
        assert STRICTNESS[started] >= STRICTNESS[decide(f"cd {there} && {command}", RULES, **asked)], command


@pytest.mark.parametrize("command", COMMANDS)
def test_outside_a_rule_for_the_command_covers_nothing(command: str, places: dict[str, str]) -> None:
    asked = {"workspace": places["ws"], "home": places["home"], "cwd": places["out"]}
    assert decide(command, RULES, **asked) == "ask"
    assert decide(command, RULES, deny=[f"Read(/{places['out']}/**)"], **asked) in {"ask", "deny"}


def test_a_read_rule_or_an_additional_folder_covers_the_place(places: dict[str, str]) -> None:
    asked = {"workspace": places["ws"], "home": places["home"], "cwd": places["out"]}
    assert decide("npm test", [*RULES, f"Read(/{places['out']}/**)"], **asked) == "allow"
    assert decide("npm test", RULES, additionalDirectories=[places["out"]], **asked) == "allow"
    assert decide("npm test", RULES, **{**asked, "cwd": f"{places['ws']}/sub"}) == "allow"


@pytest.mark.parametrize("command", ["npm test", "make all", "ls"])
def test_no_rule_is_offered_that_would_not_cover_the_call(command: str, places: dict[str, str]) -> None:
    found = judge(command, workspace=places["ws"], home=places["home"], cwd=places["out"])
    assert found.offers() == (None, ())


def test_a_text_that_runs_nothing_keeps_what_is_wrong_with_it(places: dict[str, str]) -> None:
    asked = {"workspace": places["ws"], "home": places["home"], "cwd": places["out"], "bypass": True}
    assert decide("# only \u202e words", **asked) == "ask"
