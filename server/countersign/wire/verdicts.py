"""Verdicts and their evidence, as they stand on the wire, on cards and in the ledger."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import KeptModel, WireModel

Verdict = Literal["allow", "ask", "deny"]
"""Strictest last: of all that apply, the strictest stands."""

Mode = Literal["plan", "ask", "default", "acceptEdits", "auto", "dontAsk"]
Category = Literal["read", "write", "execute", "external"]
EffectKind = Literal["read", "write", "command", "fetch", "external"]
BypassScope = Literal["session", "workspace"]
Scope = Literal["call", "turn", "chat", "timed", "workspace", "user"]
DecidedBy = Literal[
    "user", "rule", "grant", "mode", "bypass", "hook", "floor", "limit", "timeout", "cancel", "change", "agentExit",
    "restart", "nobody",
]  # fmt: skip
RefusalKind = Literal["denied", "planMode", "expired", "cancelled", "limit", "mode", "interrupted"]
Source = Literal["floor", "rule", "hook", "mode", "grant", "bypass", "default", "nobody", "error", "plainBash"]
"""Which rung of the precedence spoke; ``default`` is "no rule matches", ``error`` a fault of ours (which denies),
``plainBash`` that a command is written in bash beyond the subset that may be allowed without a person."""


class Evidence(KeptModel):
    """Why a verdict is what it is.

    ``rule`` is the rule's own text, ``file`` and ``line`` (from 1) where it stands, ``reason`` one sentence.
    """

    source: Source
    rule: str | None = None
    file: str | None = None
    line: int | None = None
    reason: str


class EffectView(KeptModel):
    """One thing that a call would touch, and what the gate says of it."""

    kind: EffectKind
    resource: str
    verdict: Verdict
    evidence: Evidence


class ExplainParams(WireModel):
    """A supposed call, as one input line of ``countersign check`` without ``id`` and ``rules``."""

    tool: str
    args: dict[str, object] = {}
    mode: Mode | None = None
    agent: str | None = None
    cwd: str | None = None


class ExplainResult(WireModel):
    decision: Verdict
    effects: list[EffectView]
    reason: str
