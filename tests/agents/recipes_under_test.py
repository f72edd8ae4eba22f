"""Real agents, run offline against `fake_llm.py`: how each is started, and what its own tools are scripted to do.

A row is data. The product's own recipe (`countersign.agents.acp.recipes`) is what makes the agent ask; here is only
what a person would have configured, the environment that points the agent at the scripted model, and its tools' names.
Each agent is installed from `tests/agents/NAME/package-lock.json` (`scripts/setup.py agents` or `all-agents`).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from countersign.settings.policy import AgentConfig

HERE = Path(os.environ.get("COUNTERSIGN_TEST_AGENTS") or Path(__file__).parent)
PLATFORM = f"{sys.platform}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"
SEED = "alpha\nbeta\ngamma\n"
Call = dict[str, object]


@dataclass(frozen=True)
class RealAgent:
    """One agent with its own binary. `tools` build one call of its tools each.

    ``command`` and ``env`` may hold `{at}` (the folder of the installation), `{node}`, `{home}` and `{url}`; ``files``
    are put into the person's home. ``read`` is None where the agent reads with commands.
    """

    name: str
    recipe: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    write: Callable[[str, str], Call]
    edit: Callable[[str, str, str], Call]
    shell: Callable[[str], Call]
    read: Callable[[str], Call] | None
    files: Mapping[str, object] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        """Whether `scripts/setup.py` has installed it."""
        return (HERE / self.name / "node_modules").is_dir()

    def config(self, url: str, home: Path) -> AgentConfig:
        """What stands in the settings for it; puts its files into the home."""
        node = shutil.which("node")
        assert node, "node is needed for the tests of real agents"
        known = {"at": str(HERE / self.name / "node_modules"), "node": node, "home": str(home), "url": url}

        def fill(text: str) -> str:
            for name, value in known.items():
                text = text.replace("{" + name + "}", value)
            return text

        machine = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "TERM": "dumb", "LANG": "C.UTF-8",
                   "PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
                   "XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".local/share"),
                   "XDG_STATE_HOME": str(home / ".local/state"), "XDG_CACHE_HOME": str(home / ".cache")}  # fmt: skip
        (home / "tmp").mkdir(exist_ok=True)
        for name, content in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill(content if isinstance(content, str) else json.dumps(content, indent=2)))
        command = [fill(word) for word in self.command]
        assert all(Path(word).exists() for word in command if word.startswith(known["at"])), (
            f"install {self.name} with `scripts/setup.py all-agents` first"
        )
        given = {name: fill(value) for name, value in self.env.items()}
        return AgentConfig(self.name, "acp", command=command[0], args=tuple(command[1:]), env={**machine, **given})

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
            "rm": _steps(self.shell(f"rm -f {ws}/seed.txt")),
            "hiddenrm": _steps(self.shell(": " + "x" * 700 + f"\nrm -f {ws}/seed.txt")),
            "where": _steps(self.shell("cd sub"), self.shell("pwd > where.txt")),
            "look": _steps(self.shell("ls")),
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


def _codex_config(model: str) -> str:
    return (
        f'model = "{model}"\nmodel_provider = "fake"\napproval_policy = "on-request"\nsandbox_mode = "read-only"\n'
        'check_for_update_on_startup = false\n[model_providers.fake]\nname = "Fake"\nbase_url = "{url}/v1"\n'
        'env_key = "FAKE_KEY"\nwire_api = "responses"\nsupports_websockets = false\nrequest_max_retries = 0\n'
        "stream_max_retries = 0\n[analytics]\nenabled = false\n"
    )


CLAUDE = RealAgent(
    name="claude",
    recipe="claude",
    command=("{node}", "{at}/@agentclientprotocol/claude-agent-acp/dist/index.js"),
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
_GOOGLE_SETTINGS = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
}
GEMINI = RealAgent(
    name="gemini",
    recipe="gemini",
    command=("{node}", "{at}/@google/gemini-cli/bundle/gemini.js", "--acp"),
    env={"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    files={".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}, **_GOOGLE_SETTINGS}},
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
    env={"OPENAI_API_KEY": "fake", "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "fake-model"},
    files={".qwen/settings.json": {"security": {"auth": {"selectedType": "openai"}}, **_GOOGLE_SETTINGS}},
    write=lambda path, text: _call("write_file", file_path=path, content=text),
    edit=lambda path, old, new: _call("edit", file_path=path, old_string=old, new_string=new),
    shell=lambda command: _call("run_shell_command", command=command, description="run a command", is_background=False),
    read=lambda path: _call("read_file", file_path=path),
)
OPENCODE = RealAgent(
    name="opencode",
    recipe="opencode",
    command=(f"{{at}}/opencode-{PLATFORM}/bin/opencode", "acp"),
    env={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
    files={
        ".config/opencode/opencode.json": {
            "autoupdate": False,
            "share": "disabled",
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "provider": {
                "fake": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Fake",
                    "options": {"baseURL": "{url}/v1", "apiKey": "fake"},
                    "models": {
                        "fake-model": {
                            "name": "Fake",
                            "tool_call": True,
                            "limit": {"context": 100000, "output": 8000},
                        }
                    },
                }
            },
        }
    },
    write=lambda path, text: _call("write", filePath=path, content=text),
    edit=lambda path, old, new: _call("edit", filePath=path, oldString=old, newString=new),
    shell=lambda command: _call("bash", command=command, description="Runs a command"),
    read=lambda path: _call("read", filePath=path),
)
CODEX = RealAgent(
    name="codex",
    recipe="codex",
    command=("{node}", "{at}/@agentclientprotocol/codex-acp/dist/index.js"),
    env={"CODEX_HOME": "{home}/.codex", "FAKE_KEY": "fake", "NO_BROWSER": "1"},
    files={".codex/config.toml": _codex_config("gpt-5.5")},
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
    env={"CODEX_HOME": "{home}/.codex", "FAKE_KEY": "fake", "NO_BROWSER": "1"},
    files={".codex/config.toml": _codex_config("gpt-5.4")},
    write=lambda path, text: _patch(_added(path, text)),
    edit=lambda path, old, new: _patch(_updated(path, old, new)),
    shell=lambda command: _call("exec_command", cmd=command),
    read=None,
)
COPILOT = RealAgent(
    name="copilot",
    recipe="copilot",
    command=("{at}/.bin/copilot", "--acp"),
    env={
        "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "fake",
        "COPILOT_MODEL": "fake-model",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    },
    write=lambda path, text: _call("create", path=path, file_text=text),
    edit=lambda path, old, new: _call("edit", path=path, old_str=old, new_str=new),
    shell=lambda command: _call("bash", command=command, description="Run a command"),
    read=lambda path: _call("view", path=path),
)
CLINE = RealAgent(
    name="cline",
    recipe="cline",
    command=(f"{{at}}/@cline/cli-{PLATFORM}/bin/cline", "--acp"),
    env={"CLINE_API_KEY": "fake", "CLINE_PROVIDER": "openai-compatible", "CLINE_MODEL": "fake-model"},
    files={
        ".cline/data/settings/providers.json": {
            "version": 1,
            "lastUsedProvider": "openai-compatible",
            "modes": {},
            "providers": {
                "openai-compatible": {
                    "settings": {
                        "provider": "openai-compatible",
                        "apiKey": "fake",
                        "model": "fake-model",
                        "baseUrl": "{url}/v1",
                    },
                    "updatedAt": "2026-01-01T00:00:00.000Z",
                    "tokenSource": "manual",
                }
            },
        }
    },
    write=lambda path, text: _call("apply_patch", input=_added(path, text)),
    edit=lambda path, old, new: _call("apply_patch", input=_updated(path, old, new)),
    shell=lambda command: _call("run_commands", commands=[command]),
    read=lambda path: _call("read_files", files=[{"path": path}]),
)
AGENTS = (CLAUDE, GEMINI, QWEN, OPENCODE, CODEX, ZED_CODEX, COPILOT, CLINE)
