"""Launch recipes: how each known agent is started so that it asks for every call, as data, with an honest label.

An agent without its recipe may run what a repository's own files tell it to run, unasked. A recipe only says how to
launch and what was measured with it; nothing here or elsewhere is written for one agent beyond this table. What an
agent does in spite of its recipe, the host sees afterwards and says (``session.py``, the tripwire).
"""

from __future__ import annotations

import json
import os
import pwd
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from countersign.settings.policy import AgentConfig
from countersign.wire.agents import AgentLabel
from countersign.wire.base import Json

GATE = "{gate}"
"""Stands for the folder that only the host writes, in arguments, environment and files."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to launch one agent so that it asks.

    ``marks``: package or program names that tell it. ``measured``: versions that ``label`` was measured with; another
    version counts as asks-only. ``files``: texts to be put into the gate folder. ``mode``: the session mode to set and
    to hold. ``config``: session options to set. ``fresh_shell``: each command starts in a new shell in the workspace;
    otherwise a command's text does not say where it runs, once one has changed the shell. ``shell``: what it runs
    commands with: always bash, what ``SHELL`` names, or not known. ``missing_reads_empty``: it
    cannot create files unless reading a missing one answers with empty text. ``hostile``: workspace files that silence
    or start things in this agent in spite of the recipe; where one is there, the label falls. ``caveat``: what stays
    open, told beside the label.
    """

    name: str
    label: AgentLabel
    marks: frozenset[str] = frozenset()
    measured: frozenset[str] = frozenset()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session_meta: Mapping[str, Json] | None = None
    mode: str | None = None
    config: Mapping[str, Json] = field(default_factory=dict)
    fresh_shell: bool = False
    shell: Literal["bash", "variable", "unknown"] = "unknown"
    missing_reads_empty: bool = False
    hostile: tuple[str, ...] = ()
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start: the whole command line and what the recipe adds to the environment."""

    command: tuple[str, ...]
    env: Mapping[str, str]


def recipe_for(config: AgentConfig) -> Recipe:
    """The recipe that ``recipe`` names, else the one that program or package tell, else the one for strangers."""
    if config.recipe is not None:
        return next((recipe for recipe in RECIPES if recipe.name == config.recipe), STRANGER)
    told = {part for word in (config.command or "", *config.args) for part in _parts(word)}
    return next((recipe for recipe in RECIPES if recipe.marks & told), STRANGER)


def prepare_launch(recipe: Recipe, config: AgentConfig, gate_folder: Path) -> Launch:
    """Write the recipe's files (0600, in a 0700 folder for this agent) and say what to start. Blocking, small.

    Raises:
        OSError: the gate folder cannot be written; the agent must not be started then.
    """
    gate = gate_folder / f"agent-{quote(config.name, safe='')}"
    for name, text in recipe.files.items():
        _put(gate / name, text)
    # The recipe's arguments come last, so that they win over the person's own.
    command = (config.command or "", *config.args, *recipe.args)
    return Launch(
        command=tuple(word.replace(GATE, str(gate)) for word in command),
        env={name: value.replace(GATE, str(gate)) for name, value in recipe.env.items()},
    )


def _put(path: Path, text: str) -> None:
    """Write a file whole or not at all: another window may start the same agent at this moment and read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


def runs_bash(recipe: Recipe, environment: Mapping[str, str]) -> bool:
    """Return true if this agent is known to run commands with bash. Where its way is not known, both the variable and
    the user's login shell must name bash. Reads the password database."""
    if recipe.shell == "bash":
        return True
    named = [environment.get("SHELL", "")]
    if recipe.shell == "unknown":
        try:
            named.append(pwd.getpwuid(os.getuid()).pw_shell)
        except KeyError:
            return False
    return all(os.path.basename(shell) == "bash" for shell in named)


def label_of(recipe: Recipe, version: str | None, workspace: str) -> tuple[AgentLabel, str]:
    """The honest label for this version in this workspace, and a sentence that says why."""
    if recipe is STRANGER:
        return recipe.label, recipe.caveat
    found = next((name for name in recipe.hostile if os.path.lexists(os.path.join(workspace, name))), None)
    if found is not None:
        return "unguarded", f"the workspace holds `{found}`, with which this agent can act unasked"
    if recipe.label == "gated" and version not in recipe.measured:
        return "asksOnly", f"version {version or 'unknown'} of this agent has not been measured"
    return recipe.label, recipe.caveat


def _parts(word: str) -> list[str]:
    """The names in one word of a command line: path parts and package names, without versions and endings; a package of
    a scope also with it."""
    parts = [part for part in re.split(r"[\\/]", word) if part]
    bare = [re.sub(r"(?<=.)@[^@]*$", "", re.sub(r"\.(?:exe|cmd|js|mjs)$", "", part)) for part in parts]
    return [*bare, *(f"{scope}/{name}" for scope, name in pairwise(bare) if scope.startswith("@"))]


_CLAUDE_OPTIONS: dict[str, Json] = {
    "settingSources": [],
    "settings": {
        "permissions": {"ask": ["*"], "disableBypassPermissionsMode": "disable"},
        "disableAllHooks": True,
    },
    "strictMcpConfig": True,
    "allowDangerouslySkipPermissions": False,
    "managedSettings": {
        "permissions": {"ask": ["*"]},
        "allowManagedPermissionRulesOnly": True,
        "allowManagedHooksOnly": True,
    },
}

_GEMINI_POLICY = """\
[[rule]]
toolName = "run_shell_command"
argsPattern = ".*"
decision = "ask_user"
priority = 999

[[rule]]
toolName = "*"
decision = "ask_user"
priority = 998
"""
_GEMINI_SYSTEM: dict[str, Json] = {
    "security": {"disableYoloMode": True, "folderTrust": {"enabled": True}},
    "hooksConfig": {"enabled": False},
    "mcp": {"allowed": ["no-such-server"]},
}
_QWEN_TOOLS: list[Json] = [
    "run_shell_command", "write_file", "edit", "read_file", "read_many_files", "list_directory", "glob", "grep_search",
    "web_fetch", "web_search", "save_memory", "monitor", "skill", "exit_plan_mode",
]  # fmt: skip
_QWEN_SYSTEM: dict[str, Json] = {
    "tools": {"approvalMode": "default", "autoAccept": False},
    "disableAllHooks": True,
    "mcp": {"allowed": ["no-such-server"]},
    "permissions": {"ask": _QWEN_TOOLS, "deny": ["agent", "task"]},
}
_OPENCODE_PERMISSION: dict[str, Json] = {
    **dict.fromkeys(
        ("read", "edit", "write", "bash", "glob", "grep", "list", "webfetch", "websearch", "codesearch", "skill", "lsp",
         "todowrite", "todoread", "question", "external_directory", "doom_loop", "*"), "ask",
    ),
    "task": "deny",
}  # fmt: skip

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        name="claude",
        label="gated",
        marks=frozenset({"claude-agent-acp", "claude-code-acp"}),
        measured=frozenset({"0.100.0"}),
        env={"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"},
        session_meta={"claudeCode": {"options": _CLAUDE_OPTIONS}},
        mode="default",
        fresh_shell=True,
        caveat="every call asked in what was measured; the project's own Claude settings and CLAUDE.md are not read",
    ),
    Recipe(
        name="gemini",
        label="gated",
        marks=frozenset({"gemini", "gemini-cli"}),
        measured=frozenset({"0.61.0"}),
        args=(
            "--admin-policy",
            f"{GATE}/ask.toml",
            "--approval-mode",
            "default",
            "--allowed-mcp-server-names",
            "no-such-server",
            "--extensions",
            "none",
        ),
        env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{GATE}/system.json", "GEMINI_CLI_TRUST_WORKSPACE": ""},
        files={"ask.toml": _GEMINI_POLICY, "system.json": json.dumps(_GEMINI_SYSTEM, indent=2)},
        mode="default",
        fresh_shell=True,
        shell="bash",
        missing_reads_empty=True,
        hostile=("/etc/gemini-cli/policies",),
        caveat="every call asked in what was measured; extensions and MCP servers of its own are switched off",
    ),
    Recipe(
        name="qwen",
        label="gated",
        marks=frozenset({"qwen", "qwen-code"}),
        args=("--approval-mode", "default", "--allowed-mcp-server-names", "no-such-server"),
        env={"QWEN_CODE_SYSTEM_SETTINGS_PATH": f"{GATE}/system.json"},
        files={"system.json": json.dumps(_QWEN_SYSTEM, indent=2)},
        mode="default",
        fresh_shell=True,
        shell="bash",
        missing_reads_empty=True,
        caveat="every call asked in what was measured; its sub-agents are switched off, because they never ask",
    ),
    Recipe(
        name="opencode",
        label="asksOnly",
        marks=frozenset({"opencode", "opencode-ai"}),
        measured=frozenset({"1.18.33"}),
        env={
            "OPENCODE_PERMISSION": json.dumps(_OPENCODE_PERMISSION),
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_PURE": "1",
        },
        fresh_shell=True,
        caveat="permissions in the user's own OpenCode settings can still silence it",
    ),
    Recipe(
        name="codex",
        label="asksOnly",
        marks=frozenset({"@agentclientprotocol/codex-acp"}),
        env={"INITIAL_AGENT_MODE": "read-only"},
        mode="read-only",
        fresh_shell=True,
        hostile=(".codex",),
        caveat="what its own read-only sandbox lets it do runs unasked, and it obeys the user's own rules for commands",
    ),
    Recipe(
        name="zed-codex",
        label="asksOnly",
        marks=frozenset({"@zed-industries"}),
        args=("-c", 'approval_policy="untrusted"', "-c", 'sandbox_mode="read-only"'),
        fresh_shell=True,
        caveat="it judges by itself which commands are known to be safe",
    ),
    Recipe(
        name="copilot",
        label="asksOnly",
        marks=frozenset({"copilot"}),
        args=("--disallow-temp-dir",),
        env={"COPILOT_ALLOW_ALL": "false"},
        hostile=(".github/hooks", ".github/copilot", ".copilot"),
        caveat="it reads in the workspace without asking",
    ),
    Recipe(
        name="cline",
        label="asksOnly",
        marks=frozenset({"cline"}),
        args=("--auto-approve", "false"),
        config={"auto_approve": False},
        hostile=(".cline", ".clinerules"),
        caveat="commands of a sub-agent that it was allowed to start run unasked",
    ),
)
STRANGER = Recipe(
    name="none",
    label="unguarded",
    caveat="there is no recipe for this agent: what it does by itself is not seen, only what it asks for is gated",
)
