"""Agents and their states, as the agents view shows them."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import WireModel
from countersign.wire.verdicts import BypassScope

AgentType = Literal["builtin", "acp"]
AgentLabel = Literal["gated", "asksOnly", "sandboxed", "unguarded"]
AgentState = Literal["idle", "starting", "running", "exited", "failed"]


class AgentView(WireModel):
    """One agent. ``fallen``: something that it did here lowered its label (``agent/resetLabel``).

    ``bypass_scope`` says where bypass comes from: settings (``workspace``) or this session alone. ``images``: whether
    it takes images with a prompt; None where only the next prompt will tell."""

    agent_name: str
    type: AgentType
    state: AgentState
    label: AgentLabel
    bypass: bool
    bypass_scope: BypassScope | None = None
    default: bool
    detail: str | None = None
    fallen: bool | None = None
    images: bool | None = None


class AgentListResult(WireModel):
    agents: list[AgentView]


class AgentRestartParams(WireModel):
    agent_name: str


class AgentResetLabelParams(WireModel):
    """``agent/resetLabel``: what lowered this agent's label in this workspace shall no longer count."""

    agent_name: str


class AgentProbeParams(WireModel):
    """``agent/probe``: how this agent is probed. Nothing is started."""

    agent_name: str


class AgentProbeResult(WireModel):
    """A program and its arguments, for a terminal; it asks there before it starts the agent."""

    command: list[str]


class AgentSetBypassParams(WireModel):
    """``agent/setBypass``: in the workspace's settings, or until this window is closed."""

    agent_name: str
    scope: BypassScope
    on: bool
