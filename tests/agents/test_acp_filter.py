"""The filter between an adapter and its inner program: what it changes, and that nothing passes it unchanged."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from countersign.agents.acp import filter_program
from countersign.agents.acp.filter_program import changed
from countersign.agents.acp.line_filter import filter_command, filter_script
from countersign.agents.acp.recipe import Filter, Recipe
from countersign.agents.acp.recipe_file import BadRecipe, known_recipes, parse_recipe
from countersign.wire.errors import AgentExit
from tests.agents.scripted_agent_fixture import PROGRAM, Player

from .desk import BOUND, Place

CHANGES = [
    {"path": ["config", "projects", "*", "trust"], "value": "untrusted"},
    {"path": ["policy"], "value": "ask"},
    {"method": "turn", "path": ["policy"], "value": "ask"},
    {"method": "turn", "path": ["permissions"]},
    {"method": "turn", "path": ["none"], "value": None},
]
FILTER = Filter("INNER", "@x/inner/bin/inner", tuple(CHANGES))
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\nsys.exit(7)\n"


def after(method: str, params: object) -> object:
    return json.loads(changed(json.dumps({"method": method, "params": params}).encode(), CHANGES))["params"]


def test_a_change_without_a_method_replaces_what_is_there_in_every_message():
    told = {"config": {"projects": {"/a": {"trust": "trusted", "x": 1}, "/b": {"trust": "trusted"}}}, "policy": "never"}
    wanted = {"config": {"projects": {"/a": {"trust": "untrusted", "x": 1}, "/b": {"trust": "untrusted"}}},
              "policy": "ask"}  # fmt: skip
    assert after("any", told) == wanted
    for params in ({}, {"config": None}, {"config": {"projects": []}}, {"config": {"projects": {"/a": "x"}}}, [1]):
        assert after("any", params) == params


def test_a_change_with_a_method_puts_its_value_there_and_one_without_a_value_removes():
    assert after("turn", {"permissions": "all", "text": "x"}) == {"text": "x", "policy": "ask", "none": None}


def test_answers_and_messages_without_params_pass():
    for message in ({"id": 1, "result": {"policy": "never"}}, {"method": "turn"}, {"method": "turn", "params": None}):
        assert json.loads(changed(json.dumps(message).encode(), CHANGES)) == message


def run(tmp_path: Path, lines: bytes, inner: str = ECHO) -> subprocess.CompletedProcess[bytes]:
    """Run the filter's script before a program that says what it hears."""
    base = tmp_path / "node_modules"
    for name, text in (("@x/agent/agent", "#!/bin/sh\n"), ("@x/inner/bin/inner", f"#!{sys.executable}\n{inner}")):
        path = base / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    command = filter_command(FILTER, "it", [str(base / "@x/agent/agent")], {"INNER": "/other"}, str(tmp_path))
    script = tmp_path / "it's a filter"
    script.write_text(filter_script(command))
    script.chmod(0o700)
    return subprocess.run([script, "more"], input=lines, capture_output=True, check=False, timeout=BOUND)


def test_what_the_inner_program_hears_is_changed_and_its_end_is_the_filters(tmp_path: Path):
    ran = run(tmp_path, b'{"method": "turn", "params": {}}\n{"method": "x"}\n')
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [
        {"method": "turn", "params": {"policy": "ask", "none": None}}, {"method": "x"},
    ]  # fmt: skip
    assert ran.returncode == 7


@pytest.mark.parametrize("line", [b"policy", b'["policy"]', b'{"params": {"policy": "never"}', b"[" * 100_000, b"\xff"])
def test_a_line_that_cannot_be_read_does_not_pass(tmp_path: Path, line: bytes):
    ran = run(tmp_path, line + b'\n{"method": "x"}\n')
    assert ran.stdout == b'{"method":"x"}\n'
    assert b"left out" in ran.stderr


def test_the_inner_program_gets_the_arguments_and_a_signal(tmp_path: Path):
    told = "import os, signal, sys\nprint(sys.argv[1:], flush=True)\nos.kill(os.getppid(), 15)\nsignal.pause()\n"
    ran = run(tmp_path, b"", told)
    assert ran.stdout == b"['more']\n"
    assert ran.returncode == 128 + 15


def test_the_inner_program_may_end_while_the_agent_could_still_ask():
    inner = [sys.executable, "-c", "raise SystemExit(3)"]
    command = [sys.executable, filter_program.__file__, "[]", *inner]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        assert ran.stderr is not None
        assert (ran.wait(BOUND), ran.stderr.read()) == (3, b"")


async def test_an_adapter_starts_our_filter_in_the_place_of_its_program(place: Place):
    base = place.folder / "node_modules/@x"
    inner, adapter = base / "inner/bin/inner", base / "agent/agent.py"
    for path in (inner, adapter):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!{sys.executable}\n{PROGRAM.read_text()}")
        path.chmod(0o755)
    recipe = Recipe("filtered", "gated", caveat="for tests", filter=FILTER)
    player = Player(place, [], recipe=recipe, env={"INNER": "/elsewhere"})
    config = replace(player.agent.config, command=str(adapter), args=player.agent.config.args[1:])
    player.agent = place.agent(config, recipe=recipe)
    await player.play()
    check_script(player.told()[0]["started"]["env"]["INNER"], place.folder / "gate", inner)


def check_script(told: str, gate: Path, inner: Path) -> None:
    script = Path(told)
    assert script.is_relative_to(gate)
    assert stat.S_IMODE(os.stat(script).st_mode) == 0o700
    assert str(inner) in script.read_text()


async def test_an_adapter_whose_program_is_not_there_is_not_started(place: Place):
    player = Player(place, [], recipe=Recipe("filtered", "gated", caveat="for tests", filter=FILTER))
    with pytest.raises(AgentExit, match="`@x/inner/bin/inner`, which it needs, was not found"):
        await player.play()
    assert player.told() == []


def test_a_program_of_javascript_needs_node(tmp_path: Path):
    for name in ("agent/agent", "inner/inner.js"):
        path = tmp_path / "node_modules" / name
        path.parent.mkdir(parents=True)
        path.touch()
    told = Filter("INNER", "inner/inner.js", FILTER.changes)
    command = [str(tmp_path / "node_modules/agent/agent")]
    with pytest.raises(AgentExit, match="`node`"):
        filter_command(told, "it", command, {"PATH": str(tmp_path)}, str(tmp_path))
    (tmp_path / "node").touch(mode=0o755)
    found = filter_command(told, "it", command, {"PATH": str(tmp_path)}, str(tmp_path))
    assert found[-2:] == (str(tmp_path / "node"), str(tmp_path / "node_modules/inner/inner.js"))


def test_a_recipe_tells_its_filter():
    entry = {"variable": "V", "program": "@x/y/z.js", "changes": [{"path": ["a"]}, {"path": ["a"], "value": None}]}
    read = parse_recipe({"name": "x", "label": "gated", "filter": entry}).filter
    assert read is not None
    assert [dict(each) for each in read.changes] == [{"path": ("a",)}, {"path": ("a",), "value": None}]
    for wrong in ({"program": "../x"}, {"program": "/x"}, {"changes": []}, {"changes": [{"path": []}]}):
        with pytest.raises(BadRecipe):
            parse_recipe({"name": "x", "label": "gated", "filter": {**entry, **wrong}})


def test_no_recipe_with_a_filter_leaves_a_policy_or_a_trust_to_the_adapter():
    filters = {recipe.name: recipe.filter for recipe in known_recipes() if recipe.filter is not None}
    assert set(filters) == {"codex"}
    told = {"method": "turn/start", "params": {"approvalPolicy": "never", "permissions": ":danger", "sandboxPolicy": {
        "type": "dangerFullAccess"}, "approvalsReviewer": "auto", "config": {"projects": {"/x": {
            "trust_level": "trusted"}}}}}  # fmt: skip
    changes = [dict(each) for each in filters["codex"].changes]
    params = json.loads(changed(json.dumps(told).encode(), changes))["params"]
    assert (params["approvalPolicy"], params["approvalsReviewer"]) == ("untrusted", "user")
    assert params["sandboxPolicy"]["type"] == "workspaceWrite"
    assert params["config"] == {"projects": {"/x": {"trust_level": "untrusted"}}}
    assert "permissions" not in params
