"""The command line that the client runs in a terminal to probe an agent."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest

from countersign.agents.acp.recipe_file import parse_recipe
from countersign.commands import probe
from countersign.lsp.agent_probe import blocking_probe_command
from countersign.settings.policy import AgentConfig, Policy
from countersign.wire.errors import InvalidAnswer, UnknownAgent


def line(tmp_path: Path, config: AgentConfig, recipes: dict | None = None) -> list[str]:
    policy = Policy(str(tmp_path / "work"), str(tmp_path), agents={config.name: config}, recipes=recipes or {})
    return blocking_probe_command(policy, config.name, tmp_path / "storage")


def read(command: list[str]):
    """Read the line as the program does."""
    assert command[:7] == [sys.executable, "-I", "-X", "utf8", "-m", "countersign", "probe"]
    parser = argparse.ArgumentParser()
    probe.add_arguments(parser)
    return parser.parse_args(command[7:])


@pytest.mark.parametrize(
    ("config", "recipe", "started"),
    [
        (AgentConfig("a", "acp", command="gemini", args=("--acp", "--yes")), "gemini", ["gemini", "--acp", "--yes"]),
        (AgentConfig("a", "acp", command="strange", args=("--", "-x")), "none", ["strange", "--", "-x"]),
        (AgentConfig("a", "acp", command="./bin/it"), "none", ["{ws}/./bin/it"]),
        (AgentConfig("a", "acp", command="./it", cwd="sub"), "none", ["{ws}/sub/./it"]),
        (AgentConfig("a", "acp", command="it", recipe="cline"), "cline", ["it"]),
        (AgentConfig("a", "acp", command="gemini", recipe="none"), "none", ["gemini"]),
    ],
    ids=lambda value: value.command if isinstance(value, AgentConfig) else "",
)
def test_the_line_names_recipe_storage_and_agent(tmp_path: Path, config: AgentConfig, recipe: str, started: list[str]):
    found = read(line(tmp_path, config))
    assert found.command == [word.replace("{ws}", str(tmp_path / "work")) for word in started]
    assert (found.recipe, found.storage) == (recipe, tmp_path / "storage")
    assert found.pause
    assert not found.yes


def test_a_recipe_of_the_settings_is_written_where_the_program_reads_it(tmp_path: Path):
    config = AgentConfig("a", "acp", command="it", recipe="mine")
    found = read(line(tmp_path, config, {"mine": {"label": "asksOnly", "args": ["--ask"]}}))
    recipe = parse_recipe(json.loads(Path(found.recipe).read_text()))
    assert (recipe.name, recipe.args) == ("mine", ("--ask",))


@pytest.mark.parametrize(
    ("config", "recipes", "error"),
    [
        (AgentConfig("a"), {}, InvalidAnswer),
        (AgentConfig("a", "acp"), {}, InvalidAnswer),
        (AgentConfig("a", "acp", command="it", recipe="mine"), {"mine": {"label": "perfect"}}, InvalidAnswer),
    ],
)
def test_what_cannot_be_probed_is_an_error(tmp_path: Path, config: AgentConfig, recipes: dict, error: type[Exception]):
    with pytest.raises(error):
        line(tmp_path, config, recipes)


def test_an_unknown_agent_is_an_error(tmp_path: Path):
    with pytest.raises(UnknownAgent):
        blocking_probe_command(Policy(str(tmp_path), str(tmp_path)), "nobody", tmp_path)
