"""Carries out turns: the built-in agent's by ``builtin_agent.py``, a hosted agent's by its host."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from countersign.agents.acp.session_store import stored_session
from countersign.agents.attached_images import attached_images
from countersign.agents.model_option import checked_choice, model_entry, model_options
from countersign.agents.models.known_models import takes_images
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import StoredRequest, Turn
from countersign.lsp.model_keys import agent_secrets
from countersign.settings.policy import AgentConfig, Policy
from countersign.wire.agents import AgentSessionsResult, AgentView
from countersign.wire.errors import InvalidAnswer, ModelError, NotTrusted, UnknownAgent
from countersign.wire.threads import AgentCommand, StopReason, ThreadMemory, ThreadOption, ThreadPromptParams

COMPACT = "/compact"
"""A prompt that summarizes the chat instead of asking the model."""
COMPACT_SAYS = "Summarizes the older messages of this chat, so that the model has room for new ones."

if TYPE_CHECKING:
    from countersign.agents.acp.host import AcpAgent
    from countersign.lsp.builtin_agent import BuiltinAgent


class Runner:
    """The agents of one server. A class because hosted agents are processes that it owns."""

    def __init__(
        self,
        *,
        policy: Callable[[], Policy],
        transcripts: Transcripts,
        builtin: Callable[[], BuiltinAgent],
        host_for: Callable[[AgentConfig], AcpAgent],
        tell: Callable[[AgentView], None],
        tell_offered: Callable[[str], None],
        sandbox_tried: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """``builtin`` gives the built-in agent, once a turn needs it. ``tell_offered`` receives each chat whose options
        have changed. ``sandbox_tried`` waits until it is known whether there is a sandbox; each turn begins with it."""
        self._policy = policy
        self._transcripts = transcripts
        self._builtin = builtin
        self._host_for = host_for
        self._tell = tell
        self._tell_offered = tell_offered
        self._sandbox_tried = sandbox_tried
        self._told: dict[str, AgentView] = {}
        self._offered: dict[str, tuple[str, list[ThreadOption]]] = {}
        self._hosts: dict[str, tuple[AgentConfig, AcpAgent]] = {}

    def resumable(self, agent: str) -> bool:
        """Whether a turn of this agent can be taken up by another server: only the built-in one's can."""
        config = self._policy().agents.get(agent)
        return config is None or config.type == "builtin"

    def memory(self, row: ThreadRow) -> ThreadMemory:
        """Whether the agent of a chat remembers all of it, as far as is known before its next turn."""
        config = self._policy().agents.get(row.agent_name)
        if config is None or config.type == "builtin":
            return "kept"
        stored = stored_session(row)
        if stored is None:
            return "kept" if row.seq == 0 else "lost"
        host = self._seen(config)
        if _launch(self._hosts[config.name][0]) != _launch(config):
            host = self._host_for(config)  # only asked: the next turn closes the other one
        return host.memory(row.thread_id, stored)

    def offers(self, thread_id: str, agent: str) -> tuple[list[ThreadOption], list[AgentCommand]] | None:
        """The options and commands that the agent of a chat offers now; None where it has no session."""
        config = self._policy().agents.get(agent)
        if config is not None and config.type == "builtin":
            options = self._model_options(thread_id, config)
            self._offered[thread_id] = agent, options
            return options, [AgentCommand(name=COMPACT.removeprefix("/"), description=COMPACT_SAYS)]
        known = self._hosts.get(agent)
        offered = known[1].offered(thread_id) if known is not None else None
        return None if offered is None else (offered.options, offered.commands)

    async def set_option(self, thread_id: str, agent: str, option: str, value: str | bool) -> list[ThreadOption]:
        """Set an option of a chat's agent; the built-in one's is its model, from the next message on. Raises as
        ``AcpAgent.set_option`` and ``checked_choice``, and UnknownAgent."""
        config = self._config(agent)
        if config.type == "builtin":
            self._transcripts.choose_model(thread_id, checked_choice(agent, option, value, self._policy().models))
            self._tell_offered(thread_id)
            return self._model_options(thread_id, config)
        known = self._hosts.get(agent)
        if known is None:
            raise InvalidAnswer(f"{agent} has not begun with this chat yet; send a message first, then choose")
        return await known[1].set_option(thread_id, option, value)

    def _model_options(self, thread_id: str, config: AgentConfig) -> list[ThreadOption]:
        return model_options(config, self._policy().models, self._transcripts.chosen_model(thread_id))

    def forget_chat(self, thread_id: str) -> None:
        """Forget what a chat that is gone was offered."""
        self._offered.pop(thread_id, None)

    async def list_sessions(self, agent: str) -> AgentSessionsResult:
        """The sessions that a hosted agent keeps. Raises as ``AcpAgent.list_sessions``, NotTrusted, UnknownAgent."""
        sessions, more = await (await self._started_ahead(agent)).list_sessions()
        return AgentSessionsResult(sessions=sessions, more=more)

    async def begin(self, turn: Turn, session_id: str | None = None) -> None:
        """Open the session of a chat ahead of its next prompt, this one of the agent's list where it is given.

        Raises:
            NotTrusted: nothing is started ahead of a prompt in this workspace.
            InvalidAnswer, AgentExit, ModelError, UnknownAgent: it was not opened.
        """
        host = await self._started_ahead(turn.agent)
        await (host.begin(turn) if session_id is None else host.begin_with(turn, session_id))

    async def fork(self, turn: Turn, source: str) -> None:
        """Open a session for a new chat that goes on from another chat's. Raises as ``begin``."""
        await (await self._started_ahead(turn.agent)).fork(turn, source)

    async def _started_ahead(self, agent: str) -> AcpAgent:
        # INVARIANT (quiet before trust)
        if not self._policy().trusted:
            raise NotTrusted(
                "in an untrusted workspace an agent is started by a message only; trust the workspace first"
            )
        config = self._config(agent)
        if config.type != "acp":
            raise InvalidAnswer(f"{agent} is no hosted agent, so it keeps no sessions of its own")
        await self._ready()
        return await self._host(config)

    async def run(self, turn: Turn, prompt: ThreadPromptParams) -> StopReason:
        """Carry out one prompt. Cancelled: see ``Drive.run`` and ``AcpAgent.prompt``.

        Raises:
            ModelError, AgentExit, UnknownAgent: the turn broke off.
            InvalidAnswer: what was attached cannot be sent.
        """
        await self._ready()
        config = self._config_of_chat(turn)
        if config.type == "builtin" and turn.thread_id not in self._offered:
            self._tell_offered(turn.thread_id)  # a chat that was made and not opened
        if config.type == "builtin" and prompt.text.strip() == COMPACT:
            return await self._builtin().compact(config, turn)
        images = await asyncio.to_thread(attached_images, prompt.attachments)
        if config.type == "acp":
            return await (await self._host(config)).prompt(prompt.text, turn, images, prompt.attachments or ())
        return await self._builtin().prompt(config, turn, prompt, images)

    async def resume(self, turn: Turn, waiting: Mapping[str, StoredRequest]) -> StopReason:
        """Take up a turn of the built-in agent whose requests waited on disk."""
        await self._ready()
        return await self._builtin().resume(self._config_of_chat(turn), turn, waiting)

    async def _ready(self) -> None:
        if self._sandbox_tried is not None:
            await self._sandbox_tried()

    async def stop(self, turn: Turn) -> None:
        """Tell a hosted agent to stop its turn; bounded by the host."""
        known = self._hosts.get(turn.agent)
        if known is not None:
            await known[1].cancel(turn.thread_id)

    async def restart(self, agent: str) -> None:
        """End a hosted agent's process; its next prompt starts it anew. Raises UnknownAgent."""
        self._config(agent)
        known = self._hosts.pop(agent, None)
        if known is not None:
            await known[1].retire()
        self._tell(self.view(agent))

    async def log_in(self, agent: str, method_id: str) -> None:
        """Let a hosted agent log in by one of its methods. Raises as ``AcpAgent.log_in``, and UnknownAgent."""
        config = self._config(agent)
        if config.type != "acp":
            raise InvalidAnswer(f"{agent} is no hosted agent, so it has no login")
        await (await self._host(config)).log_in(method_id)

    async def reset_label(self, agent: str) -> None:
        """Clear what lowered a hosted agent's label here. Raises UnknownAgent."""
        config = self._config(agent)
        if config.type == "acp":
            await self._seen(config).reset_label()
            self._tell(self.view(agent))

    async def end_outlived(self) -> None:
        """End the hosted agents that run outside the sandbox although the settings by now put them into it."""
        hosts = [host for _, host in self._hosts.values()]
        await asyncio.gather(*(host.end_if_outlived() for host in hosts))

    def tell_changes(self) -> None:
        """Tell the client of every agent, and of the options of each chat that it was told of, that the settings have
        changed since it was last told."""
        for view in self.views():
            if self._told.get(view.agent_name) != view:
                self._told[view.agent_name] = view
                self._tell(view)
        agents = self._policy().agents
        for thread_id, (agent, options) in self._offered.items():
            if agent in agents and self._model_options(thread_id, agents[agent]) != options:
                self._tell_offered(thread_id)

    def views(self) -> list[AgentView]:
        """Every agent of the settings, with its honest label."""
        return [self.view(name) for name in self._policy().agents]

    def view(self, agent: str) -> AgentView:
        """One agent as its picker shows it."""
        policy = self._policy()
        config = self._config(agent)
        if config.type == "builtin":
            view = AgentView(
                agent_name=agent,
                type="builtin",
                state="idle",
                label="gated",
                bypass=False,
                default=False,
                images=_known_to_take_images(config, policy),
            )
        else:
            host = self._seen(config)
            view = AgentView(
                agent_name=agent,
                type="acp",
                state=host.state,
                label=host.label,
                bypass=False,
                default=False,
                detail=host.detail,
                fallen=host.fallen or None,
                images=host.takes_images,
                login=host.login_methods,
                servers=host.servers,
                lists_sessions=host.lists_sessions,
                forks=host.forks,
                secrets=agent_secrets(config, host.binding(), host.key_variables, host.plain_variables)
                if config.secret_env or host.key_variables
                else None,
            )
        bypass = policy.bypasses(agent)
        scope = ("session" if config.bypass_in_session else "workspace") if bypass else None
        default = agent == policy.default_agent
        return view.model_copy(update={"bypass": bypass, "bypass_scope": scope, "default": default})

    async def close(self) -> None:
        """End every hosted agent, a bounded time each."""
        hosts, self._hosts = [host for _, host in self._hosts.values()], {}
        await asyncio.gather(*(host.retire() for host in hosts), return_exceptions=True)

    def _seen(self, config: AgentConfig) -> AcpAgent:
        """The host of an agent that is shown: it looks at what is installed, and starts nothing."""
        known = self._hosts.get(config.name)
        if known is None:
            known = self._hosts[config.name] = (config, self._host_for(config))
        known[1].look()
        return known[1]

    async def _host(self, config: AgentConfig) -> AcpAgent:
        """The one host of an agent, as the settings are now; an earlier one is ended, and out of the table, first."""
        while (known := self._hosts.get(config.name)) is not None:
            if _launch(known[0]) == _launch(config):
                return known[1]
            del self._hosts[config.name]
            await known[1].retire()
            # Meanwhile another prompt may have made the next one, or the settings may have changed again.
            config = self._config(config.name)
        host = self._host_for(config)
        self._hosts[config.name] = (config, host)
        return host

    def _config_of_chat(self, turn: Turn) -> AgentConfig:
        """An agent with the model that was chosen for this chat."""
        config = self._config(turn.agent)
        chosen = self._transcripts.chosen_model(turn.thread_id) if config.type == "builtin" else None
        return config if chosen is None else replace(config, model=chosen)

    def _config(self, agent: str) -> AgentConfig:
        config = self._policy().agents.get(agent)
        if config is None:
            raise UnknownAgent(f"there is no agent `{agent}` in the settings; choose another for this chat")
        return config


def _known_to_take_images(config: AgentConfig, policy: Policy) -> bool | None:
    """As ``model_takes_images``, asking nobody; None where only the model's server knows, or there is no such model."""
    try:
        entry = model_entry(config, policy)
    except ModelError:
        return None
    said = entry.options.get("images")
    return None if entry.provider == "ollama" and not isinstance(said, bool) else takes_images(entry)


def _launch(config: AgentConfig) -> tuple[object, ...]:
    """What a process is started from: when it changes, the process is another."""
    return (config.command, config.args, dict(config.env), dict(config.secret_env), config.cwd, config.recipe)
