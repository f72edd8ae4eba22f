"""Rules, suggested rules and grants, as the rules view shows them."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import WireModel
from countersign.wire.verdicts import Scope

RuleList = Literal["allow", "ask", "deny"]


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


class RuleImportParams(WireModel):
    """``file`` is one that the person chose: permissions that were kept for another program."""

    file: str


class ImportedRule(WireModel):
    """A rule for an ``original`` entry of the file, in our grammar; nothing applies it but ``rule/add``.

    ``scopes`` are those it may be saved for, the usual one first. ``problem`` is what the linter says of it.
    """

    list: RuleList
    rule: str
    scopes: list[Scope]
    original: str
    line: int | None = None
    problem: str | None = None


class NotImported(WireModel):
    """An entry of the file that is not carried over, and why."""

    original: str
    reason: str
    line: int | None = None


class RuleImportResult(WireModel):
    """What a file of permissions would mean as rules: together they allow nothing that the file did not."""

    format: Literal["claudeCode", "codex", "gemini", "vscode"]
    rules: list[ImportedRule]
    left_out: list[NotImported]


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
