"""Real agents, run offline against the scripted model server: how each is started, and what its tools are to do.

A row is data. The product's own recipe (`countersign.agents.acp.recipes`) is what makes the agent ask; here is only
what a person would have configured, the environment that points the agent at the scripted model, and its tools' names.
Each agent is installed from `tests/agents/NAME/package-lock.json` (`scripts/setup.py agents` or `all-agents`).
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from countersign.agents.acp.recipe_file import known_recipes
from countersign.agents.probe.bench import lead_to_model
from countersign.settings.policy import AgentConfig

HERE = Path(os.environ.get("COUNTERSIGN_TEST_AGENTS") or Path(__file__).parent)
PLATFORM = f"{sys.platform}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"
BY_NAME = {recipe.name: recipe for recipe in known_recipes()}
SEED = "alpha\nbeta\ngamma\n"
Call = dict[str, object]


@dataclass(frozen=True)
class RealAgent:
    """One agent with its own binary. `tools` build one call of its tools each.

    ``command`` may hold `{at}` (the folder of the installation) and `{node}`. ``read`` is None where the agent reads
    with commands. The recipe leads it to the scripted model as in a probe.
    """

    name: str
    recipe: str
    command: tuple[str, ...]
    write: Callable[[str, str], Call]
    edit: Callable[[str, str, str], Call]
    shell: Callable[[str], Call]
    read: Callable[[str], Call] | None

    @property
    def installed(self) -> bool:
        """Whether `scripts/setup.py` has installed it."""
        return (HERE / self.name / "node_modules").is_dir()

    def config(self, url: str, home: Path) -> AgentConfig:
        """What stands in the settings for it; puts its files into the home."""
        command = self.command_line()
        (home / "tmp").mkdir(exist_ok=True)
        env = lead_to_model(BY_NAME[self.recipe], url, home)
        return AgentConfig(self.name, "acp", command=command[0], args=tuple(command[1:]), env=env)

    def command_line(self) -> list[str]:
        """What starts it."""
        node = shutil.which("node")
        assert node, "node is needed for the tests of real agents"
        at = str(HERE / self.name / "node_modules")
        command = [word.replace("{at}", at).replace("{node}", node) for word in self.command]
        assert all(Path(word).exists() for word in command if word.startswith(at)), (
            f"install {self.name} with `scripts/setup.py all-agents` first"
        )
        return command

    def script(self, workspace: Path) -> dict:
        """Scenarios for the scripted model, chosen by `[[name]]` in the prompt."""
        ws = str(workspace)
        out = str(workspace.parent / "outside")
        first = [self.read(f"{ws}/seed.txt")] if self.read else []
        scenarios = {
            "plain": _steps(),
            "write": _steps(self.write(f"{ws}/made.txt", "made by the agent\nline two\n")),
            "writeout": _steps(self.write(f"{out}/made.txt", "made by the agent\n")),
            "shell": _steps(self.shell(f"echo ran > {ws}/shell.txt")),
            "redirect": _steps(self.shell(f"cd . > {ws}/redirected.txt")),
            "rm": _steps(self.shell(f"rm -f {ws}/seed.txt")),
            "hiddenrm": _steps(self.shell(": " + "x" * 700 + f"\nrm -f {ws}/seed.txt")),
            "where": _steps(self.shell("cd sub"), self.shell("pwd > where.txt")),
            "look": _steps(self.shell("ls")),
            "date": _steps(self.shell("date")),
            "edit": _steps(*first, self.edit(f"{ws}/seed.txt", "beta", "BETA")),
            "over": _steps(*first, self.write(f"{ws}/seed.txt", "overwritten\n")),
            "two": {"steps": [{"text": "Both.", "tools": [self.write(f"{ws}/made.txt", "made by the agent\n"),
                                                          self.shell(f"echo ran > {ws}/shell.txt")]}]},
            "slow": _steps(self.shell(f"echo $$ > {ws}/pid; tail -f /dev/null")),
        }  # fmt: skip
        if self.read:
            scenarios["read"] = _steps(self.read(f"{ws}/seed.txt"))
            scenarios["readout"] = _steps(self.read(f"{out}/secret.txt"))
        return {"scenarios": scenarios, "default": "plain"}


def _steps(*calls: Call) -> dict:
    return {"steps": [{"text": "I will do it.", "tools": [call]} for call in calls]}


def _call(name: str, **args: object) -> Call:
    return {"name": name, "args": args}


def _added(path: str, text: str) -> str:
    body = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch\n"


def _updated(path: str, old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n alpha\n-{old}\n+{new}\n gamma\n*** End Patch\n"


def _patch(text: str) -> Call:
    return {"name": "apply_patch", "freeform": True, "args": {"input": text}}


CLAUDE = RealAgent(
    name="claude",
    recipe="claude",
    command=("{node}", "{at}/@agentclientprotocol/claude-agent-acp/dist/index.js"),
    write=lambda path, text: _call("Write", file_path=path, content=text),
    edit=lambda path, old, new: _call("Edit", file_path=path, old_string=old, new_string=new),
    shell=lambda command: _call("Bash", command=command, description="Run a command"),
    read=lambda path: _call("Read", file_path=path),
)
GEMINI = RealAgent(
    name="gemini",
    recipe="gemini",
    command=("{node}", "{at}/@google/gemini-cli/bundle/gemini.js", "--acp"),
    write=lambda path, text: _call("write_file", file_path=path, content=text),
    edit=lambda path, old, new: _call(
        "replace", file_path=path, old_string=old, new_string=new, instruction="change one word"
    ),
    shell=lambda command: _call("run_shell_command", command=command, description="run a command"),
    read=lambda path: _call("read_file", file_path=path),
)
QWEN = RealAgent(
    name="qwen",
    recipe="qwen",
    command=("{node}", "{at}/@qwen-code/qwen-code/cli.js", "--acp"),
    write=lambda path, text: _call("write_file", file_path=path, content=text),
    edit=lambda path, old, new: _call("edit", file_path=path, old_string=old, new_string=new),
    shell=lambda command: _call("run_shell_command", command=command, description="run a command", is_background=False),
    read=lambda path: _call("read_file", file_path=path),
)
OPENCODE = RealAgent(
    name="opencode",
    recipe="opencode",
    command=(f"{{at}}/opencode-{PLATFORM}/bin/opencode", "acp"),
    write=lambda path, text: _call("write", filePath=path, content=text),
    edit=lambda path, old, new: _call("edit", filePath=path, oldString=old, newString=new),
    shell=lambda command: _call("bash", command=command, description="Runs a command"),
    read=lambda path: _call("read", filePath=path),
)
CODEX = RealAgent(
    name="codex",
    recipe="codex",
    command=("{node}", "{at}/@agentclientprotocol/codex-acp/dist/index.js"),
    write=lambda path, text: _patch(_added(path, text)),
    edit=lambda path, old, new: _patch(_updated(path, old, new)),
    shell=lambda command: _call(
        "exec_command", cmd=command, sandbox_permissions="require_escalated", justification="May I run this command?"
    ),
    read=None,
)
ZED_CODEX = RealAgent(
    name="zed-codex",
    recipe="zed-codex",
    command=(f"{{at}}/@zed-industries/codex-acp-{PLATFORM}/bin/codex-acp",),
    write=lambda path, text: _patch(_added(path, text)),
    edit=lambda path, old, new: _patch(_updated(path, old, new)),
    shell=lambda command: _call("exec_command", cmd=command),
    read=None,
)
COPILOT = RealAgent(
    name="copilot",
    recipe="copilot",
    command=("{at}/.bin/copilot", "--acp"),
    write=lambda path, text: _call("create", path=path, file_text=text),
    edit=lambda path, old, new: _call("edit", path=path, old_str=old, new_str=new),
    shell=lambda command: _call("bash", command=command, description="Run a command"),
    read=lambda path: _call("view", path=path),
)
CLINE = RealAgent(
    name="cline",
    recipe="cline",
    command=(f"{{at}}/@cline/cli-{PLATFORM}/bin/cline", "--acp"),
    write=lambda path, text: _call("apply_patch", input=_added(path, text)),
    edit=lambda path, old, new: _call("apply_patch", input=_updated(path, old, new)),
    shell=lambda command: _call("run_commands", commands=[command]),
    read=lambda path: _call("read_files", files=[{"path": path}]),
)
AGENTS = (CLAUDE, GEMINI, QWEN, OPENCODE, CODEX, ZED_CODEX, COPILOT, CLINE)
EVERY_TIME = ("claude", "gemini", "zed-codex")
"""They run wherever the tests run: they start fast, and differ most in what they say."""


def parameters(*agents: RealAgent) -> list[ParameterSet]:
    """Return these agents, or all, as parameters of a test; one that need not be there and is not is skipped."""
    why = "it is not installed here; `make test-agents` installs all but Qwen Code (see `scripts/setup.py`)"
    absent = pytest.mark.skipif(True, reason=why)
    return [
        pytest.param(agent, id=agent.name, marks=() if agent.name in EVERY_TIME or agent.installed else (absent,))
        for agent in agents or AGENTS
    ]
