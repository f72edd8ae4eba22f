"""Agents, shells, rules, grants and history: what the side views are drawn from."""

from __future__ import annotations

from typing import Literal

from .base import Json, WireModel
from .verdicts import BypassScope, DecidedBy, Evidence, Scope, Verdict

AgentType = Literal["builtin", "acp"]
AgentLabel = Literal["gated", "asksOnly", "sandboxed", "unguarded"]
AgentState = Literal["idle", "starting", "running", "exited", "failed"]
ShellState = Literal["running", "exited", "killed"]
RuleList = Literal["allow", "ask", "deny"]
Phase = Literal["decided", "started", "finished"]


class AgentView(WireModel):
    """One agent. ``bypass_scope`` says where bypass comes from: settings (``workspace``) or this session alone."""

    agent_name: str
    type: AgentType
    state: AgentState
    label: AgentLabel
    bypass: bool
    bypass_scope: BypassScope | None = None
    default: bool
    detail: str | None = None


class AgentListResult(WireModel):
    agents: list[AgentView]


class AgentRestartParams(WireModel):
    agent_name: str


class AgentSetBypassParams(WireModel):
    """``agent/setBypass``: in the workspace's settings, or until this window is closed."""

    agent_name: str
    scope: BypassScope
    on: bool


class ShellView(WireModel):
    shell_id: str
    tool_call_id: str
    thread_id: str
    command: str
    state: ShellState
    exit_code: int | None = None
    background: bool


class ShellListResult(WireModel):
    shells: list[ShellView]


class ShellOutputParams(WireModel):
    """``from`` counts bytes of the command's whole output, from 0."""

    shell_id: str
    from_: int = 0

    model_config = WireModel.model_config | {"alias_generator": {"from_": "from", "shell_id": "shellId"}.__getitem__}


class ShellOutputResult(WireModel):
    text: str
    next: int
    state: ShellState
    truncated: bool | None = None


class ShellKillParams(WireModel):
    shell_id: str


class ShellKillResult(WireModel):
    state: ShellState


class ShellToBackgroundParams(WireModel):
    tool_call_id: str


class ShellToBackgroundResult(WireModel):
    shell_id: str


class HistoryFilter(WireModel):
    """Rows that fit all that is given; ``since`` (inclusive) and ``until`` (exclusive) are RFC 3339 with a zone."""

    thread_id: str | None = None
    agent_name: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    phase: Phase | None = None
    text: str | None = None
    since: str | None = None
    until: str | None = None


class HistoryQueryParams(WireModel):
    filter: HistoryFilter | None = None
    cursor: str | None = None
    limit: int | None = None


class HistoryEntry(WireModel):
    """One row of the ledger. ``at`` is RFC 3339 in UTC; ``input`` is redacted, ``digest`` is of the true bytes."""

    receipt_id: str
    seq: int
    at: str
    phase: Phase
    thread_id: str
    agent_name: str
    subagent: str | None = None
    tool_call_id: str
    approval_id: str | None = None
    tool: str
    input: Json = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    evidence: list[Evidence] = []
    digest: str
    outcome: dict[str, Json] | None = None


class HistoryQueryResult(WireModel):
    entries: list[HistoryEntry]
    cursor: str | None = None


class HistoryExportResult(WireModel):
    path: str
    entries: int
    head: str


class HistoryUndoParams(WireModel):
    receipt_id: str


class HistoryUndoResult(WireModel):
    path: str


class RuleIdle(WireModel):
    """A rule has decided nothing in the ``days`` since it was first seen, while ``calls`` calls were decided."""

    days: int
    calls: int


class RuleView(WireModel):
    """One rule that counts. ``hits`` are the calls it decided; ``problem`` is what the linter says of it."""

    rule_id: str
    list: RuleList
    rule: str
    scope: str
    file: str | None = None
    line: int | None = None
    hits: int = 0
    last_used: str | None = None
    problem: str | None = None
    idle: RuleIdle | None = None


class RuleListResult(WireModel):
    """``calls`` is what the figures rest on: all calls that history holds, the first of them of the day ``since``."""

    rules: list[RuleView]
    calls: int = 0
    since: str | None = None


class RuleProposal(WireModel):
    """An allow rule that would have spared ``spared`` cards, each tried; nothing applies it but ``rule/add``.

    ``since`` and ``last`` are when the first and the last of them were answered.
    """

    rule: str
    scopes: list[Scope]
    spared: int
    since: str
    last: str
    examples: list[str]
    agents: list[str]


class RuleProposalsResult(WireModel):
    """What the proposals rest on: the newest ``looked`` answers (at most ``most``), of which ``unjudged`` could not be
    judged again."""

    proposals: list[RuleProposal]
    looked: int
    most: int
    unjudged: int
    since: str | None = None


class RuleAddParams(WireModel):
    list: RuleList
    rule: str
    scope: Scope
    agent_name: str | None = None


class RuleAddResult(WireModel):
    rule_id: str


class RuleRemoveParams(WireModel):
    rule_id: str


class GrantView(WireModel):
    grant_id: str
    rule: str
    scope: Scope
    agent_name: str
    thread_id: str | None = None
    expires_at: str | None = None


class GrantListResult(WireModel):
    grants: list[GrantView]


class GrantRevokeParams(WireModel):
    grant_id: str
