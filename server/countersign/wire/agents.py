"""Agents and their states, as the agents view shows them."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import WireModel
from countersign.wire.elicitation import UrlNote
from countersign.wire.verdicts import BypassScope

AgentType = Literal["builtin", "acp"]
AgentLabel = Literal["gated", "asksOnly", "sandboxed", "unguarded"]
AgentState = Literal["idle", "starting", "running", "needsLogin", "exited", "failed"]


class AgentSecret(WireModel):
    """A ``${secret:NAME}`` in an agent's ``env``, or a variable that a login method of the agent names. ``secret`` is
    the name under which a client keeps it, ``origin`` the command line that it is given to. ``label`` is what the agent
    calls it; ``optional``: the login works without it. ``plain``: the value is no secret, by the agent's word and by
    its names, so it is shown while it is typed."""

    name: str
    secret: str
    origin: str
    label: str | None = None
    optional: bool | None = None
    plain: bool | None = None


class LoginLink(WireModel):
    """A page on which a person gets the keys of a login method. ``url`` is the agent's, as it is; a client shows it
    whole and opens it only when the person says so. ``host`` and ``notes`` as in ``elicitation/request``."""

    url: str
    host: str
    notes: list[UrlNote] | None = None


class LoginMethod(WireModel):
    """One way to log in to a hosted agent, in the agent's words.

    ``command`` is to be run in a terminal, after the person saw it; then the agent is restarted. ``keys`` are to be
    entered by the person; ``agent/login`` then starts the agent anew with them. Without both, the agent does it itself
    (``agent/login``), often in a browser."""

    method_id: str
    name: str
    description: str | None = None
    command: list[str] | None = None
    keys: list[AgentSecret] | None = None
    link: LoginLink | None = None


class AgentView(WireModel):
    """One agent. ``fallen``: something that it did here lowered its label (``agent/resetLabel``).

    ``servers``: which MCP servers of the agent's own settings are off here, and which run outside the gate.
    ``bypass_scope`` says where bypass comes from: settings (``workspace``) or this session alone. ``images``: whether
    it takes images with a prompt; None where only the next prompt will tell. ``login``: how to
    log in, in state ``needsLogin``. ``secrets``: what it is started with from the client's secret storage.
    ``lists_sessions`` and ``forks``: whether ``agent/sessions`` and ``thread/fork`` work with it, as it said when it
    was last started; None where it was not started yet, and for the built-in agent."""

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
    login: list[LoginMethod] | None = None
    servers: str | None = None
    secrets: list[AgentSecret] | None = None
    lists_sessions: bool | None = None
    forks: bool | None = None


class AgentListResult(WireModel):
    agents: list[AgentView]


class AgentRestartParams(WireModel):
    agent_name: str


class AgentResetLabelParams(WireModel):
    """``agent/resetLabel``: what lowered this agent's label in this workspace shall no longer count."""

    agent_name: str


class AgentLoginParams(WireModel):
    """``agent/login``: the agent is to log in by a method without ``command``; answered when it has."""

    agent_name: str
    method_id: str


class AgentSessionsParams(WireModel):
    """``agent/sessions``: the agent is started if it does not run."""

    agent_name: str


class AgentSession(WireModel):
    """A session that a hosted agent keeps of this folder. ``title`` is in its words. ``thread_id``: the chat that has
    it already."""

    session_id: str
    title: str | None = None
    updated_at: str | None = None
    thread_id: str | None = None


class AgentSessionsResult(WireModel):
    """The latest first. ``more``: the agent has further ones, which are not listed."""

    sessions: list[AgentSession]
    more: bool


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


class InstalledAgent(WireModel):
    """Where an agent's program lies. ``version`` is that of its npm package."""

    path: str
    version: str | None = None


class KnownAgent(WireModel):
    """An agent that a recipe describes. ``label`` and ``why`` are those of the installed program, else the recipe's.

    ``install`` and ``login`` are commands for a person to run. ``command`` is what ``agent/add`` would write.
    ``missing`` are programs that it runs with and that are not in ``PATH``; ``configured`` names the agents of the
    settings that have this recipe."""

    recipe: str
    title: str
    installed: InstalledAgent | None = None
    install: str
    login: str | None = None
    label: AgentLabel
    why: str
    command: list[str] | None = None
    missing: list[str]
    configured: list[str]


class AgentKnownResult(WireModel):
    agents: list[KnownAgent]


class AgentAddParams(WireModel):
    """``agent/add``: a person wants this agent in the user's settings; ``command`` is the one that they were shown."""

    recipe: str
    command: list[str]


class AgentAddResult(WireModel):
    agent_name: str
