"""The recipes that we have: one for each agent that was measured. Nothing else is written for an agent by name."""

from __future__ import annotations

import json

from countersign.agents.acp.recipe import GATE, HOME, Brought, Recipe
from countersign.wire.base import Json

_NO_SERVER = "no-such-server"
_NO_SERVERS = ("--allowed-mcp-server-names", _NO_SERVER)
"""The one MCP server that the agent may start does not exist."""
_ASKED = "every call asked in what was measured"

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
    "mcp": {"allowed": [_NO_SERVER]},
}
_QWEN_TOOLS: list[Json] = [
    "run_shell_command", "write_file", "edit", "read_file", "read_many_files", "list_directory", "glob", "grep_search",
    "web_fetch", "web_search", "save_memory", "monitor", "skill", "exit_plan_mode",
]  # fmt: skip
_QWEN_SYSTEM: dict[str, Json] = {
    "tools": {"approvalMode": "default", "autoAccept": False},
    "disableAllHooks": True,
    "mcp": {"allowed": [_NO_SERVER]},
    "permissions": {"ask": _QWEN_TOOLS, "deny": ["agent", "task"]},
}
_OPENCODE_PERMISSION: dict[str, Json] = {
    **dict.fromkeys(
        ("read", "edit", "write", "bash", "glob", "grep", "list", "webfetch", "websearch", "codesearch", "skill", "lsp",
         "todowrite", "todoread", "question", "external_directory", "doom_loop", "*"), "ask",
    ),
    "task": "deny",
}  # fmt: skip

_CODEX_PROMPTED = """
    cat cd cut echo expr false grep head id ls nl paste pwd rev seq stat tail tr true uname uniq wc which whoami base64
    find rg sed git numfmt tac bash sh zsh dash /bin/bash /bin/sh /usr/bin/bash /usr/bin/sh /bin/zsh env
""".split()
"""What Codex would run unasked because it only reads, and the shells that wrap a command."""
_CODEX_RULES = "".join(f'prefix_rule(pattern=["{name}"], decision="prompt")\n' for name in _CODEX_PROMPTED)
_CODEX_HOME = tuple(Brought(f"codex/{name}", "CODEX_HOME", ".codex", name) for name in ("auth.json", "config.toml"))

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        name="claude",
        label="gated",
        marks=frozenset({"claude-agent-acp", "claude-code-acp"}),
        packages=frozenset({"@agentclientprotocol/claude-agent-acp", "@zed-industries/claude-code-acp"}),
        measured=frozenset({"0.100.0"}),
        env={"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"},
        session_meta={"claudeCode": {"options": _CLAUDE_OPTIONS}},
        mode="default",
        fresh_shell=True,
        caveat=f"{_ASKED}; the project's own Claude settings and CLAUDE.md are not read",
    ),
    Recipe(
        name="gemini",
        label="gated",
        marks=frozenset({"gemini", "gemini-cli"}),
        packages=frozenset({"@google/gemini-cli"}),
        measured=frozenset({"0.61.0"}),
        args=(
            "--admin-policy",
            f"{GATE}/ask.toml",
            "--approval-mode",
            "default",
            *_NO_SERVERS,
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
        caveat=f"{_ASKED}; extensions and MCP servers of its own are switched off",
    ),
    Recipe(
        name="qwen",
        label="gated",
        marks=frozenset({"qwen", "qwen-code"}),
        packages=frozenset({"@qwen-code/qwen-code"}),
        measured=frozenset({"0.15.10"}),
        args=("--approval-mode", "default", *_NO_SERVERS),
        env={"QWEN_CODE_SYSTEM_SETTINGS_PATH": f"{GATE}/system.json"},
        files={"system.json": json.dumps(_QWEN_SYSTEM, indent=2)},
        mode="default",
        fresh_shell=True,
        shell="bash",
        missing_reads_empty=True,
        hostile=(".qwen/settings.json",),
        caveat=f"{_ASKED}; its sub-agents are switched off, because they never ask",
    ),
    Recipe(
        name="opencode",
        label="gated",
        marks=frozenset({"opencode", "opencode-ai"}),
        packages=frozenset({"opencode-ai", "opencode"}),
        measured=frozenset({"1.18.33"}),
        env={
            "OPENCODE_PERMISSION": json.dumps(_OPENCODE_PERMISSION),
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_PURE": "1",
            "XDG_CONFIG_HOME": f"{GATE}/config",
            "OPENCODE_TEST_HOME": f"{GATE}/home",
        },
        brought=(
            Brought(
                name="config/opencode/opencode.json",
                variable="XDG_CONFIG_HOME",
                folder=".config",
                file="opencode/opencode.json",
                keys=("provider", "model", "small_model", "enabled_providers", "disabled_providers"),
                added={
                    "autoupdate": False,
                    "share": "disabled",
                    "permission": _OPENCODE_PERMISSION,
                    "agent": {
                        name: {"permission": _OPENCODE_PERMISSION} for name in ("build", "plan", "general", "explore")
                    },
                },
            ),
        ),
        fresh_shell=True,
        caveat=f"{_ASKED}; of its own settings only models and providers are used",
    ),
    Recipe(
        name="codex",
        label="asksOnly",
        marks=frozenset({"@agentclientprotocol/codex-acp"}),
        packages=frozenset({"@agentclientprotocol/codex-acp"}),
        env={"INITIAL_AGENT_MODE": "read-only", "CODEX_HOME": f"{GATE}/codex"},
        files={"codex/rules/ask.rules": _CODEX_RULES},
        brought=_CODEX_HOME,
        mode="read-only",
        fresh_shell=True,
        hostile=(".codex",),
        caveat="what its own read-only sandbox lets it do may run unasked",
    ),
    Recipe(
        name="zed-codex",
        label="gated",
        marks=frozenset({"@zed-industries"}),
        packages=frozenset({"@zed-industries/codex-acp"}),
        measured=frozenset({"0.16.0"}),
        args=("-c", 'approval_policy="untrusted"', "-c", 'sandbox_mode="workspace-write"'),
        env={"CODEX_HOME": f"{GATE}/codex"},
        files={"codex/rules/ask.rules": _CODEX_RULES},
        brought=_CODEX_HOME,
        fresh_shell=True,
        caveat=f"{_ASKED}; the user's own rules for commands are not used",
    ),
    Recipe(
        name="copilot",
        label="asksOnly",
        marks=frozenset({"copilot"}),
        packages=frozenset({"@github/copilot"}),
        args=("--disallow-temp-dir",),
        env={"COPILOT_ALLOW_ALL": "false"},
        hostile=(".github/hooks", ".github/copilot", ".copilot"),
        caveat="it reads in the workspace without asking",
    ),
    Recipe(
        name="cline",
        label="gated",
        marks=frozenset({"cline"}),
        packages=frozenset({"cline", "@cline/cli"}),
        measured=frozenset({"3.0.65"}),
        args=("--auto-approve", "false"),
        env={
            "CLINE_DIR": f"{GATE}/cline",
            "CLINE_DATA_DIR": f"{HOME}/.cline/data",
            "CLINE_GLOBAL_SETTINGS_PATH": f"{GATE}/global-settings.json",
            "CLINE_MCP_SETTINGS_PATH": f"{GATE}/mcp.json",
        },
        files={"global-settings.json": '{"toolAutoApprove": false}', "mcp.json": '{"mcpServers": {}}'},
        config={"auto_approve": False},
        refuse=frozenset({"spawn_agent"}),
        hostile=(".cline", ".clinerules"),
        caveat=f"{_ASKED}; its plugins, hooks and MCP servers are not used",
    ),
)
