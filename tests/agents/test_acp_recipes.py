"""Launch recipes are found by program or package, win over a person's own settings, and never promise too much."""

from __future__ import annotations

import json
import pwd
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from countersign.agents.acp import recipe_file
from countersign.agents.acp.agent_environment import agent_environment
from countersign.agents.acp.recipe import STRANGER
from countersign.agents.acp.recipe_file import BadRecipe, known_recipes, own_recipes, parse_recipe, schema
from countersign.agents.acp.recipes import is_refused, prepare_launch, recipe_for, runs_bash
from countersign.settings.agents import RECIPE_NAMES
from countersign.settings.policy import AgentConfig

RECIPES = known_recipes()
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
        (("npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"), "codex"),
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
    launch = prepare_launch(recipe, config("program", "--own"), tmp_path / "gate", {})
    assert launch.command[:2] == ("program", "--own")
    assert "{gate}" not in json.dumps([launch.command, dict(launch.env)])
    for name in recipe.files:
        written = tmp_path / "gate/agent-it" / name
        assert written.stat().st_mode & 0o777 == 0o600
        assert not any(place in written.read_text() for place in ("{gate}", "{home}", "{hook}"))


def test_the_command_line_of_a_hook_stands_whole_in_a_file_of_json(tmp_path: Path):
    line = """/a b/python 'it"s' \\ $x"""
    recipe = replace(BY_NAME["copilot"], files={"hooks.json": json.dumps({"command": "{hook}"})})
    prepare_launch(recipe, config("program"), tmp_path, {}, line)
    assert json.loads((tmp_path / "agent-it/hooks.json").read_text()) == {"command": line}


@pytest.mark.parametrize("recipe", [recipe for recipe in RECIPES if recipe.files], ids=lambda recipe: recipe.name)
def test_a_link_in_the_gate_folder_is_not_written_through(recipe, tmp_path: Path):
    gate = tmp_path / "gate/agent-it"
    name = next(iter(recipe.files))
    (gate / name).parent.mkdir(parents=True)
    (tmp_path / "precious").write_text("mine")
    (gate / name).symlink_to(tmp_path / "precious")
    prepare_launch(recipe, config("program"), tmp_path / "gate", {}, "our hook")
    assert (tmp_path / "precious").read_text() == "mine"
    assert (gate / name).read_text() == recipe.files[name].replace("{hook}", "our hook")


def test_two_agents_do_not_share_a_gate_folder(tmp_path: Path):
    names = ("a b", "a_b", "..", "a/b")
    made = [prepare_launch(BY_NAME["qwen"], AgentConfig(name, "acp", command="qwen"), tmp_path, {}) for name in names]
    paths = {launch.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] for launch in made}
    assert len(paths) == len(names)
    assert all(Path(path).parent.parent == tmp_path for path in paths)


def test_what_a_recipe_sets_wins_over_the_agents_own_environment(tmp_path: Path):
    own = config("opencode", env={"OPENCODE_PERMISSION": '{"*": "allow"}', "MINE": "1"})
    launch = prepare_launch(BY_NAME["opencode"], own, tmp_path, {})
    found = agent_environment({"PATH": "/usr/bin:/bin"}, own, launch, "/projects")
    assert json.loads(found["OPENCODE_PERMISSION"])["bash"] == "ask"
    assert (found["MINE"], found["PWD"]) == ("1", "/projects")


def test_claude_is_asked_to_ask_for_everything():
    options = BY_NAME["claude"].session_meta["claudeCode"]["options"]
    assert options["settingSources"] == []
    assert options["settings"]["permissions"]["ask"] == ["*"]
    assert options["managedSettings"]["allowManagedHooksOnly"]


def test_a_persons_own_files_are_linked_and_of_settings_only_the_named_keys_are_copied(tmp_path: Path):
    home = tmp_path / "home"
    (home / ".codex/rules").mkdir(parents=True)
    (home / ".codex/auth.json").write_text("secret")
    (home / ".codex/rules/default.rules").write_text("allow everything")
    (home / ".config/opencode").mkdir(parents=True)
    own = {"permission": {"bash": "allow"}}
    given = "// mine\n" + json.dumps({"model": "m", **own, "agent": {"build": own}, "mcp": {}})
    (home / ".config/opencode/opencode.json").write_text(given)
    environment = {"HOME": str(home)}
    for _ in range(2):
        prepare_launch(BY_NAME["zed-codex"], config("codex"), tmp_path / "gate", environment)
        prepare_launch(BY_NAME["opencode"], config("opencode"), tmp_path / "gate", environment)
    gate = tmp_path / "gate/agent-it"
    assert (gate / "codex/auth.json").resolve() == home / ".codex/auth.json"
    assert not (gate / "codex/config.toml").exists()
    assert [path.name for path in (gate / "codex/rules").iterdir()] == ["ask.rules"]
    made = json.loads((gate / "config/opencode/opencode.json").read_text())
    assert (made["model"], made["permission"]["bash"], "mcp" in made) == ("m", "ask", False)
    assert made["agent"]["build"]["permission"]["bash"] == "ask"
    assert (home / ".config/opencode/opencode.json").read_text() == given


def test_a_variable_says_where_a_persons_own_files_lie(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/auth.json").write_text("secret")
    environment = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path / "elsewhere")}
    launch = prepare_launch(BY_NAME["zed-codex"], config("codex"), tmp_path / "gate", environment)
    assert (Path(launch.env["CODEX_HOME"]) / "auth.json").read_text() == "secret"


@pytest.mark.parametrize(
    ("names", "title", "refused"),
    [
        (("spawn_agent",), "", True),
        ((), "spawn_agent: {...}", True),
        ((), "spawn_agent", True),
        ((), "run_commands: spawn_agent", False),
        (("run_commands",), "ls", False),
    ],
)
def test_a_tool_that_starts_what_never_asks_is_refused(names, title, refused):
    assert is_refused(BY_NAME["cline"], names, title) == refused
    assert not is_refused(BY_NAME["claude"], names, title)


def test_settings_know_the_names_of_all_recipes():
    assert set(RECIPE_NAMES) == {*BY_NAME, STRANGER.name}


@pytest.mark.parametrize(
    ("shell", "variable", "login", "expected"),
    [
        ("bash", None, "/bin/zsh", True),
        ("bash", "/bin/fish", "/bin/fish", True),
        ("variable", "/bin/bash", "/bin/zsh", True),
        ("variable", "/usr/local/bin/bash", "/bin/bash", True),
        ("variable", "/bin/zsh", "/bin/bash", False),
        ("variable", "/bin/rbash", "/bin/bash", False),
        ("variable", "", "/bin/bash", False),
        ("variable", None, "/bin/bash", False),
        ("unknown", "/bin/bash", "/bin/bash", True),
        ("unknown", "/bin/bash", "/bin/zsh", False),
        ("unknown", "/bin/zsh", "/bin/bash", False),
        ("unknown", None, "/bin/bash", False),
        ("unknown", "/bin/bash", "", False),
        ("unknown", "/bin/bash", None, False),
    ],
)
def test_an_agent_runs_bash_only_where_all_that_may_choose_its_shell_says_so(
    shell, variable, login, expected, monkeypatch: pytest.MonkeyPatch
):
    def entry(uid: int) -> SimpleNamespace:
        if login is None:
            raise KeyError(uid)
        return SimpleNamespace(pw_shell=login)

    monkeypatch.setattr(pwd, "getpwuid", entry)
    environment = {} if variable is None else {"SHELL": variable}
    assert runs_bash(replace(STRANGER, shell=shell), environment) is expected


def test_a_stranger_s_shell_is_not_known():
    assert STRANGER.shell == "unknown"


SCHEMA = Path(recipe_file.__file__).parent / "known/recipe.schema.json"


def test_the_published_schema_is_that_of_the_model():
    assert json.loads(SCHEMA.read_text()) == schema()


@pytest.mark.parametrize("file", sorted(SCHEMA.parent.glob("*.json")), ids=lambda file: file.stem)
def test_every_recipe_file_has_its_own_name(file: Path):
    if file != SCHEMA:
        assert parse_recipe(json.loads(file.read_text())).name == file.stem


OWN = {"label": "asksOnly", "marks": ["mine-acp"], "args": ["--ask"], "config": {"auto": False}}


def test_a_recipe_of_the_settings_is_found_by_name_and_by_mark():
    own = {"mine": OWN}
    assert recipe_for(config("mine-acp"), own).args == ("--ask",)
    assert recipe_for(config("x", recipe="mine"), own).config == {"auto": False}
    assert recipe_for(config("mine-acp"), {}).name == "none"


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({**OWN, "lable": "gated"}, "lable"),
        ({**OWN, "label": "sandboxed"}, "label"),
        ({**OWN, "files": {"../outside": "x"}}, "files"),
        ({**OWN, "files": {"/outside": "x"}}, "files"),
        ({**OWN, "bring": [{"name": "a/../../b", "folder": ".x", "file": "y"}]}, "bring"),
        ({**OWN, "config": {"auto": 1}}, "config"),
        ({**OWN, "measured": {"1": ["md5:1"]}}, "measured"),
        ("no object", "the recipe"),
    ],
    ids=str,
)
def test_a_recipe_that_does_not_fit_the_schema_is_none_and_says_where(entry, named):
    found = own_recipes({"mine": entry})["mine"]
    assert isinstance(found, BadRecipe)
    assert named in str(found)
    stranger = recipe_for(config("x", recipe="mine"), {"mine": entry})
    assert (stranger.label, named in stranger.caveat) == ("unguarded", True)
