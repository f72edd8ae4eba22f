"""The sentence on what a value of a workspace would allow says what the gate would do with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from countersign.advice.explain import explain
from countersign.advice.setting_effect import allows
from countersign.settings.layers import Place
from countersign.settings.workspace_restrictions import Claim
from countersign.wire.base import Json
from tests.settings.test_live_settings import WorkspaceServer

RULES = [
    ("Bash", "Every command would run without asking, unless something stricter applies."),
    ("Bash(npm test)", "The command `npm test` would run without asking, unless something stricter applies."),
    ("Bash(npm run:*)", "Every `npm run …` command would run"),
    ("Bash(npm run *)", "Every `npm run …` command would run"),
    ("Bash(git * main)", "Every command that `git * main` matches would run"),
    ("Read", "Every read of a file would run"),
    ("Read(//etc/**)", "Every read of a file that `//etc/**` matches would run"),
    ("Edit(/src/**)", "Every creation, change or deletion of a file that `/src/**` matches would run"),
    ("WebFetch(domain:example.org)", "Every request to `example.org` would run"),
    ("mcp__db__query", "Every call of the tool `mcp__db__query` would run"),
    ({"rule": "Bash(make)", "agent": "Claude"}, "The command `make` of the agent `Claude` would run"),
    ("Bash(", "Nothing: the rule `Bash(` cannot be read"),
]
OTHERS = [
    ({"mode": "acceptEdits"}, "In new chats reads in the workspace and file changes in the workspace would run"),
    ({"mode": "auto"}, "In new chats reads in the workspace, file changes in the workspace, commands and calls to"),
    (
        {"agents": {"Claude": {"command": "claude", "args": ["--acp", "a b"]}}},
        "Starting a chat with `Claude` would run a program with your rights (`claude --acp 'a b'`).",
    ),
    (
        {"agents": {"Countersign": {"bypassPermissions": True}}},
        "Every call of the agent `Countersign` would run in this workspace without asking; deny and ask rules",
    ),
    ({"limits": {"writesPerTurn": 500}}, None),
]


def items_of(said: dict[str, Json], folder: Path):
    house = WorkspaceServer(folder)
    house.write(json.dumps({f"countersign.{key}": value for key, value in said.items()}))
    return house.desk(describe=allows).unconfirmed()


@pytest.mark.parametrize(("rule", "sentence"), RULES)
def test_a_rule(rule: Json, sentence: str, tmp_path: Path) -> None:
    (item,) = items_of({"permissions": {"allow": [rule]}}, tmp_path)
    assert item.allows is not None
    assert item.allows.startswith(sentence)


@pytest.mark.parametrize(("said", "sentence"), OTHERS)
def test_a_setting(said: dict[str, Json], sentence: str | None, tmp_path: Path) -> None:
    (item,) = items_of(said, tmp_path)
    assert (item.allows is None) if sentence is None else str(item.allows).startswith(sentence)


def test_a_folder_is_named_as_it_resolves(tmp_path: Path) -> None:
    house = WorkspaceServer(tmp_path)
    (tmp_path / "libs").mkdir()
    (house.workspace / "libs").symlink_to(tmp_path / "libs")
    house.write('{"countersign.permissions.additionalDirectories": ["libs"]}')
    (item,) = house.desk(describe=allows).unconfirmed()
    assert f"every file in `{tmp_path / 'libs'}`" in str(item.allows)


@pytest.mark.parametrize(
    ("rule", "runs", "asks"),
    [
        ("Bash(npm run:*)", "npm run build", "npm install"),
        ("Bash(npm test)", "npm test", "npm test --x"),
        ("Bash(make)", "make", "make install"),
    ],
)
def test_what_it_says_is_what_the_gate_does(rule: str, runs: str, asks: str, tmp_path: Path) -> None:
    house = WorkspaceServer(tmp_path)
    house.write(json.dumps({"countersign.permissions": {"allow": [rule]}}))
    desk = house.desk(describe=allows)
    desk.confirm(desk.unconfirmed()[0].digest, accept=True)
    verdicts = [explain({"tool": "bash", "args": {"command": text}}, desk.policy, "default") for text in (runs, asks)]
    assert [one.verdict for one in verdicts] == ["allow", "ask"]


@pytest.mark.parametrize("text", ["Bash(a\nb)", "Bash(\u202e)", "x" * 100_000, "Bash(" + "a" * 100_000 + ")"])
def test_a_hostile_rule_is_shown_bounded_and_visible(text: str) -> None:
    sentence = allows(Claim(("permissions", "allow"), text, Place(), "", ""))
    assert sentence is not None
    assert sentence.isprintable()
    assert len(sentence) < 10_000
