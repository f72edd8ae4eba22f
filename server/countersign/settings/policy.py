"""The one Policy: what all layers of settings come to, once trust and confirmations are looked at.

Plain values. What stands in here counts: rules and bypass of an untrusted or unconfirmed workspace layer never get
this far. Rules are still text here; reading them is the gate's business (``gate/rules/rule_set.py``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from countersign.wire.base import Json
from countersign.wire.verdicts import Mode

RuleScope = Literal["default", "managed", "user", "workspace", "chat", "grant"]


@dataclass(frozen=True, slots=True)
class RuleText:
    """One rule as it was written, and where. ``line`` and ``column`` count from 1. ``agent`` None is every agent.

    ``matching`` and ``not_matching`` are its own examples; a rule that fails one counts as broken. ``files`` are those
    that the card of a grant showed: it covers no others, below a folder neither. None: a person wrote its rule, and a
    path is covered as by any other rule. ``folder`` is where its command ran.
    """

    list: Literal["allow", "ask", "deny"]
    text: str
    scope: RuleScope = "user"
    file: str | None = None
    line: int | None = None
    column: int | None = None
    agent: str | None = None
    reason: str | None = None
    matching: tuple[str, ...] = ()
    not_matching: tuple[str, ...] = ()
    files: tuple[str, ...] | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class SecretText:
    """A value with secrets in it: the texts around them, one more than ``names``."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the value with these secrets. Raises KeyError where one is missing."""
        filled = (text + values[name] for text, name in zip(self.texts, self.names, strict=False))
        return "".join((*filled, self.texts[-1]))


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """One entry of ``agents``, merged over the layers key by key. ``bypass`` only if it counts
    (docs/gate.md "Trust and bypass");
    ``bypass_in_session``: a person set it for this window only. ``secret_env`` are the variables whose value holds a
    ``${secret:NAME}``, which is filled in only where the agent is started. ``written_env`` are all as they were
    written, with nothing filled in."""

    name: str
    type: Literal["builtin", "acp"] = "builtin"
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    secret_env: Mapping[str, SecretText] = field(default_factory=dict)
    written_env: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    cwd: str | None = None
    bypass: bool = False
    bypass_file: str | None = None
    bypass_line: int | None = None
    bypass_in_session: bool = False
    recipe: str | None = None


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One entry of ``models``. ``api_key_env`` names the environment variable that holds the key.

    ``api`` is of OpenAI and compatible servers. ``options`` are fields of the provider's own request.
    """

    name: str
    provider: Literal["demo", "ollama", "openai", "anthropic", "google", "vscode"]
    model: str = ""
    base_url: str | None = None
    api_key_env: str | None = None
    api: Literal["responses", "chat"] | None = None
    context_tokens: int | None = None
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the settings that does not count, and why; shown in the editor's Problems and the log."""

    file: str | None
    line: int | None
    column: int | None
    message: str
    severity: Literal["error", "warning"] = "warning"


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything the gate decides by, beside the call itself, the chat's mode and its grants.

    ``tightening`` are modes of the workspace layers that count only in the cells where they are stricter than the
    chat's own. ``additional_resolved`` are where the additional directories led when they were confirmed, in the same
    order; one that leads elsewhere does not count. ``own_paths`` are denied to tools for writing, whatever any rule
    says; so are ``control_paths`` (user and managed settings, stores), under every name that leads to them. Writing
    what ``workspace_control_paths`` (the workspace's settings) resolve to always asks. Times are seconds.
    ``sandbox_chosen`` says that a person or the administrator turned the sandbox on: a workspace may lock commands in
    by itself, but only then may being locked in stand for an approval. ``sandbox_available``: one was tried out for
    these folders and holds; else ``sandbox_reason`` says why there is none.
    ``temporary_base`` is the folder of this server in which each chat has a temporary folder of its own.
    ``sandbox_gaps`` are rules that it cannot hold in full. ``recipes`` are launch recipes as they were written
    (``agents/acp/recipe_file.py`` reads them).
    """

    workspace: str
    home: str
    trusted: bool = False
    rules: tuple[RuleText, ...] = ()
    additional_directories: tuple[str, ...] = ()
    additional_resolved: tuple[str, ...] = ()
    mode: Mode = "default"
    tightening: tuple[Mode, ...] = ()
    own_paths: tuple[str, ...] = ()
    control_paths: tuple[str, ...] = ()
    workspace_control_paths: tuple[str, ...] = ()
    temporary_base: str | None = None
    builtin_reads: bool = True
    disable_bypass: bool = False
    agents: Mapping[str, AgentConfig] = field(default_factory=dict)
    default_agent: str = "Countersign"
    models: Mapping[str, ModelConfig] = field(default_factory=dict)
    recipes: Mapping[str, Json] = field(default_factory=dict)
    approvals_timeout: float = 300.0
    writes_per_turn: int = 100
    steps_per_turn: int = 200
    calls_per_message: int = 64
    shell_timeout: float = 120.0
    shell_max_background: int = 8
    shell_env_pass: tuple[str, ...] = ()
    sandbox_mode: Literal["off", "commands", "all"] = "off"
    sandbox_network: Literal["none", "hosts", "all"] = "none"
    sandbox_hosts: tuple[str, ...] = ()
    sandbox_writable: tuple[str, ...] = ()
    sandbox_auto_allow: bool = False
    sandbox_chosen: bool = False
    not_yet: tuple[str, ...] = ()
    sandbox_available: bool = False
    sandbox_reason: str | None = None
    sandbox_gaps: tuple[str, ...] = ()
    secret_variables: frozenset[str] = frozenset()
    raw: Mapping[str, Json] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def bypasses(self, agent: str) -> bool:
        """Whether bypass counts for this settings key: only when trusted, and not at all when it is disabled."""
        config = self.agents.get(agent)
        return self.trusted and not self.disable_bypass and config is not None and config.bypass

    def temporary_root(self, thread_id: str) -> str | None:
        """Return the folder that the commands of this chat have as ``TMPDIR``, whether or not it exists yet."""
        if self.temporary_base is None:
            return None
        return f"{self.temporary_base}/{hashlib.sha256(thread_id.encode()).hexdigest()[:16]}"
