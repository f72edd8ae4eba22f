"""Real agents, run offline against `fake_llm.py`: how each is started, and what its own tools are scripted to do.

A row is data. The product's own recipe (`countersign.agents.acp.recipes`) is what makes the agent ask; here is only
what a person would have configured, the environment that points the agent at the scripted model, and its tools' names.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from countersign.settings.policy import AgentConfig

HERE = Path(__file__).parent
SEED = "alpha\nbeta\ngamma\n"
Call = dict[str, object]


@dataclass(frozen=True)
class RealAgent:
    """One agent with its own binary. `tools` build one call of its tools each."""

    name: str
    program: Path
    env: dict[str, str]
    write: Callable[[str, str], Call]
    edit: Callable[[str, str, str], Call]
    shell: Callable[[str], Call]
    read: Callable[[str], Call]

    def config(self, url: str, home: Path) -> AgentConfig:
        """What stands in the settings for it."""
        given = {name: value.format(url=url, home=home) for name, value in self.env.items()}
        machine = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "TERM": "dumb", "LANG": "C.UTF-8",
                   "PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1"}  # fmt: skip
        (home / "tmp").mkdir(exist_ok=True)
        node = shutil.which("node")
        assert node, "node is needed for the tests of real agents"
        assert self.program.exists(), f"run `npm ci --prefix {self.program.parents[5]}` first"
        return AgentConfig(self.name, "acp", command=node, args=(str(self.program),), env={**machine, **given})

    def script(self, workspace: Path) -> dict:
        """Scenarios for the scripted model, chosen by `[[name]]` in the prompt."""
        ws = str(workspace)
        read = self.read(f"{ws}/seed.txt")
        scenarios = {
            "plain": _steps(),
            "write": _steps(self.write(f"{ws}/made.txt", "made by the agent\nline two\n")),
            "shell": _steps(self.shell(f"echo ran > {ws}/shell.txt")),
            "where": _steps(self.shell("cd sub"), self.shell("pwd > where.txt")),
            "look": _steps(self.shell("ls")),
            "read": _steps(read),
            "edit": _steps(read, self.edit(f"{ws}/seed.txt", "beta", "BETA")),
            "over": _steps(read, self.write(f"{ws}/seed.txt", "overwritten\n")),
            "two": {"steps": [{"text": "Both.", "tools": [self.write(f"{ws}/made.txt", "made by the agent\n"),
                                                          self.shell(f"echo ran > {ws}/shell.txt")]}]},
            "slow": _steps(self.shell(f"echo $$ > {ws}/pid; tail -f /dev/null")),
        }  # fmt: skip
        return {"scenarios": scenarios, "default": "plain"}


def _steps(*calls: Call) -> dict:
    return {"steps": [{"text": "I will do it.", "tools": [call]} for call in calls]}


def _call(name: str, **args: object) -> Call:
    return {"name": name, "args": args}


CLAUDE = RealAgent(
    name="claude",
    program=HERE / "claude/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
    env={
        "ANTHROPIC_BASE_URL": "{url}",
        "ANTHROPIC_API_KEY": "sk-ant-fake",
        "IS_SANDBOX": "1",
        "CLAUDE_CONFIG_DIR": "{home}/.claude",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
    },
    write=lambda path, text: _call("Write", file_path=path, content=text),
    edit=lambda path, old, new: _call("Edit", file_path=path, old_string=old, new_string=new),
    shell=lambda command: _call("Bash", command=command, description="Run a command"),
    read=lambda path: _call("Read", file_path=path),
)
