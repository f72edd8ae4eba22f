"""Launch recipes are found by program or package, win over a person's own settings, and never promise too much."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from countersign.agents.acp.host import agent_environment
from countersign.agents.acp.recipes import RECIPES, STRANGER, label_of, prepare_launch, recipe_for
from countersign.settings.policy import AgentConfig

BY_NAME = {recipe.name: recipe for recipe in RECIPES}


def config(*words: str, **more) -> AgentConfig:
    return AgentConfig("it", "acp", command=words[0], args=words[1:], **more)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("claude-agent-acp",), "claude"),
        (("npx", "-y", "@agentclientprotocol/claude-agent-acp@0.100.0"), "claude"),
        (("node", "/x/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"), "claude"),
        (("/usr/bin/gemini", "--acp"), "gemini"),
        (("npx", "@google/gemini-cli", "--acp"), "gemini"),
        (("opencode", "acp"), "opencode"),
        (("/x/opencode.exe", "acp"), "opencode"),
        (("npx", "@zed-industries/codex-acp"), "zed-codex"),
        (("npx", "@zed-industries/claude-code-acp"), "claude"),
        (("codex-acp",), "none"),
        (("my-claude-agent-acp-wrapper",), "none"),
        (("python", "agent.py"), "none"),
        (("claude",), "none"),
    ],
    ids=str,
)
def test_a_recipe_is_found_by_program_or_package(words, name):
    assert recipe_for(config(*words)).name == name


def test_a_recipe_can_be_named_and_an_unknown_name_is_a_stranger():
    assert recipe_for(config("x", recipe="claude")).name == "claude"
    assert recipe_for(config("claude-agent-acp", recipe="none")) is STRANGER


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_recipe_writes_its_files_for_nobody_else_and_leaves_no_placeholder(recipe, tmp_path: Path):
    launch = prepare_launch(recipe, config("program", "--own"), tmp_path / "gate")
    assert launch.command[:2] == ("program", "--own")
    assert "{gate}" not in json.dumps([launch.command, dict(launch.env)])
    for name in recipe.files:
        assert (tmp_path / "gate/agent-it" / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("recipe", [recipe for recipe in RECIPES if recipe.files], ids=lambda recipe: recipe.name)
def test_a_link_in_the_gate_folder_is_not_written_through(recipe, tmp_path: Path):
    gate = tmp_path / "gate/agent-it"
    gate.mkdir(parents=True)
    (tmp_path / "precious").write_text("mine")
    name = next(iter(recipe.files))
    (gate / name).symlink_to(tmp_path / "precious")
    prepare_launch(recipe, config("program"), tmp_path / "gate")
    assert (tmp_path / "precious").read_text() == "mine"
    assert (gate / name).read_text() == recipe.files[name]


def test_two_agents_do_not_share_a_gate_folder(tmp_path: Path):
    names = ("a b", "a_b", "..", "a/b")
    made = [prepare_launch(BY_NAME["qwen"], AgentConfig(name, "acp", command="qwen"), tmp_path) for name in names]
    paths = {launch.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] for launch in made}
    assert len(paths) == len(names)
    assert all(Path(path).parent.parent == tmp_path for path in paths)


@pytest.mark.parametrize(
    ("name", "version", "plant", "label"),
    [
        ("claude", "0.100.0", None, "gated"),
        ("claude", "0.101.0", None, "asksOnly"),
        ("claude", None, None, "asksOnly"),
        ("qwen", "1.0", None, "asksOnly"),
        ("opencode", "1.18.33", None, "asksOnly"),
        ("copilot", "1", None, "asksOnly"),
        ("copilot", "1", ".github/hooks", "unguarded"),
        ("cline", "1", ".clinerules", "unguarded"),
    ],
)
def test_the_label_promises_only_what_was_measured(tmp_path: Path, name, version, plant, label):
    if plant:
        (tmp_path / plant).mkdir(parents=True)
    found, why = label_of(BY_NAME[name], version, str(tmp_path))
    assert found == label
    assert why


def test_a_stranger_is_unguarded(tmp_path: Path):
    assert label_of(STRANGER, "1", str(tmp_path))[0] == "unguarded"


def test_what_a_recipe_sets_wins_over_the_agents_own_environment(tmp_path: Path):
    own = config("opencode", env={"OPENCODE_PERMISSION": '{"*": "allow"}', "MINE": "1"})
    launch = prepare_launch(BY_NAME["opencode"], own, tmp_path)
    found = agent_environment({"PATH": "/usr/bin:/bin"}, own, launch, "/projects")
    assert json.loads(found["OPENCODE_PERMISSION"])["bash"] == "ask"
    assert (found["MINE"], found["PWD"]) == ("1", "/projects")


def test_claude_is_asked_to_ask_for_everything():
    options = BY_NAME["claude"].session_meta["claudeCode"]["options"]
    assert options["settingSources"] == []
    assert options["settings"]["permissions"]["ask"] == ["*"]
    assert options["managedSettings"]["allowManagedHooksOnly"]
