"""One workspace's rooms, put together: settings, ledger, gate, tools, agents and chats.

Made once the editor has said which workspace it has open and where we may keep things; ended in the order in which
nothing can be lost. What an editor may ask of it is in ``app.py``.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from countersign.agents.acp.questions import Questions
from countersign.agents.transcript import CHATS_FILE, Transcripts
from countersign.gate import (
    LEDGER_FILE,
    BashSyntax,
    BeforeImages,
    Decision,
    Gate,
    Ledger,
    Owner,
    RunCommand,
    ToolCall,
    decide,
    secret_values,
)
from countersign.lsp.editor import Editor
from countersign.lsp.editor_models import EditorModels
from countersign.lsp.event_feed import Feed
from countersign.lsp.known_agents import KnownAgents
from countersign.lsp.ledger_watch import LedgerWatch
from countersign.lsp.model_keys import ModelKeys
from countersign.lsp.pygls_server import Server
from countersign.lsp.recovery import recover
from countersign.lsp.runner import Runner
from countersign.lsp.sandbox_watch import SandboxWatch
from countersign.lsp.session_feed import Offers, SessionFeed
from countersign.lsp.sessions import Sessions
from countersign.settings.escape_text import escaped
from countersign.settings.live_settings import LiveSettings
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.settings.writer import SettingsWriter
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.sandbox.forecast import blocking_forecast
from countersign.tools.sandbox.state import runs_confined
from countersign.tools.shell.environment import withheld_names, withheld_note
from countersign.tools.shell.locked_folder import HOOKS_PREFIX, blocking_sweep
from countersign.tools.shell.process_tracking import tracking_note
from countersign.tools.shell.processes import SHELLS_SERVICE, ShellRegistry
from countersign.tools.shell.temporary_folders import TemporaryFolders
from countersign.wire.agents import AgentView
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.history import LedgerHead
from countersign.wire.shells import ShellView
from countersign.wire.verdicts import Mode

if TYPE_CHECKING:
    from countersign.agents.acp.change_watch import ChangeWatch
    from countersign.agents.acp.host import AcpAgent
    from countersign.agents.models.http_answer import Network
    from countersign.lsp.builtin_agent import BuiltinAgent

log = logging.getLogger(__name__)
SWEEP_EVERY = 3600.0
"""Seconds between two sweeps of old before-images, beside the one at the start."""


class WorkspaceServer:
    """Everything of one server. A class because it owns what must be closed, in order."""

    def __init__(
        self,
        server: Server,
        settings: LiveSettings,
        storage: Path,
        temporary: TemporaryFolders,
        anchor: LedgerHead | None = None,
    ) -> None:
        """Open the storage and build the rooms.

        Raises:
            LedgerUnavailable, OSError: the storage cannot be used; nothing can run without it.
        """
        self.server = server
        self.settings = settings
        self.storage = storage
        self.temporary = temporary
        self.confiner = Confiner(storage)
        self.sandbox = SandboxWatch(self.confiner, lambda: settings.policy, self._sandbox_tried)
        self.owner = Owner(storage)
        self.keys = ModelKeys(ask=server.request, can_ask=lambda: settings.abilities.secrets)
        self.editor_models = EditorModels(ask=server.request, offers_models=lambda: settings.abilities.lm)
        self.ledger = Ledger(
            storage / LEDGER_FILE, secret_names=lambda: self._policy().secret_variables, secrets=self.keys.values
        )
        self.ledger_watch = LedgerWatch(self.ledger, server, anchor, whole=self.take_up)
        self.transcripts = Transcripts(
            storage / CHATS_FILE,
            secrets=lambda: secret_values(names=self._policy().secret_variables) | self.keys.values(),
        )
        self.editor = Editor(server)
        self.feed = Feed(self.transcripts, self.editor.update, self._seq_of)
        self.editor.feed = self.feed
        self.keeper = SettingsWriter(settings, partial(server.request, "settings/update"))
        self.images = BeforeImages(storage / "before")
        self.images.blocking_sweep()
        self.check_syntax = BashSyntax()
        self.gate = Gate(
            decide=self._decide,
            policy=self._policy,
            ledger=self.ledger,
            asker=self.editor,
            keeper=self.keeper,
            owner=self.owner.name,
            images=self.images,
        )
        self.questions = Questions(
            show=self.editor.show_question,
            resolved=self.editor.question_resolved,
            can_ask=lambda: settings.abilities.elicitation and self.editor.present(),
        )
        self.shells = ShellRegistry(self._policy, on_change=self._tell_shell, confiner=self.confiner)
        self._gate_folder = storage / "agents"
        self.changes: ChangeWatch | None = None
        self.runner = Runner(
            policy=self._policy,
            transcripts=self.transcripts,
            builtin=lambda: self.builtin_agent,
            host_for=self._host_for,
            tell=self._tell_agent,
            tell_offered=lambda thread_id: self.session_feed.offered(thread_id),  # noqa: PLW0108 it comes next
            sandbox_tried=self.sandbox.tried,
        )
        self.session_feed = SessionFeed(server, self.transcripts, self._offers)
        self.known_agents = KnownAgents(self)
        self.sessions = Sessions(
            transcripts=self.transcripts,
            feed=self.feed,
            gate=self.gate,
            policy=self._policy,
            runner=self.runner,
            owner=self.owner.name,
            questions=self.questions.waiting,
        )

    @cached_property
    def builtin_agent(self) -> BuiltinAgent:
        """The built-in agent, which brings every tool: loaded after the start."""
        from countersign.agents.models.http_answer import Access  # noqa: PLC0415 loaded after the start
        from countersign.lsp.builtin_agent import BuiltinAgent  # noqa: PLC0415 likewise
        from countersign.tools.editor.asking import EDITOR_SERVICE  # noqa: PLC0415 likewise
        from countersign.tools.registry import ALWAYS, BY_NAME  # noqa: PLC0415 likewise
        from countersign.tools.search.ripgrep import RIPGREP_SERVICE  # noqa: PLC0415 likewise

        return BuiltinAgent(
            gate=self.gate,
            policy=self._policy,
            transcripts=self.transcripts,
            tools=lambda: BY_NAME if self.settings.abilities.editor else ALWAYS,
            services={
                SHELLS_SERVICE: self.shells,
                RIPGREP_SERVICE: self._ripgrep,
                EDITOR_SERVICE: lambda: self.server.request if self.settings.abilities.editor else None,
            },
            access=Access(self.keys.key, self._network),
            editor_models=self.editor_models,
        )

    def _ripgrep(self) -> str | None:
        from countersign.tools.search.ripgrep import usable_ripgrep  # noqa: PLC0415 loaded after the start

        policy = self._policy()
        folders = [policy.workspace, *policy.additional_directories]
        return usable_ripgrep(self.settings.abilities.ripgrep, os.environ.get("PATH"), folders)

    async def take_up(self) -> None:
        """Settle what earlier servers left behind; called each time the whole chain was found to hold, because what is
        taken up rests on its rows."""
        await asyncio.to_thread(self.confiner.blocking_sweep)
        await asyncio.to_thread(self.temporary.blocking_sweep)
        await asyncio.to_thread(blocking_sweep, HOOKS_PREFIX)
        await recover(
            ledger=self.ledger,
            owner=self.owner,
            gate=self.gate,
            sessions=self.sessions,
            transcripts=self.transcripts,
            feed=self.feed,
            workspace=self._policy().workspace,
        )

    async def delete_chat(self, thread_id: str) -> None:
        """Stop what runs in a chat, forget it and remove its temporary folder. Raises UnknownThread."""
        await self.sessions.delete(thread_id)
        self.questions.forget_thread(thread_id)
        self.runner.forget_chat(thread_id)
        await asyncio.to_thread(self.temporary.blocking_remove, self._policy().temporary_root(thread_id))

    async def sweep_images(self) -> None:
        """Remove old images from before a change, again and again; never returns."""
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            try:
                await asyncio.to_thread(self.images.blocking_sweep)
            except OSError:
                log.exception("old images from before a change cannot be removed")

    async def close(self) -> None:
        """End everything: turns first, so that their receipts and requests are written, the ledger last."""
        try:
            await self.sessions.close()
            await asyncio.gather(self.shells.close(), self.runner.close())
            if self.changes is not None:
                await self.changes.close()
            await self.gate.asking.close()
            self.feed.close()
            self.session_feed.close()
        finally:
            await asyncio.to_thread(self.temporary.blocking_close)
            await asyncio.to_thread(self.ledger.close)
            self.ledger_watch.close()
            self.transcripts.close()
            self.owner.release()

    def _policy(self):
        return self.sandbox.policy()

    def _decide(self, call: ToolCall, policy: Policy, modes: Sequence[Mode], grants: Sequence[RuleText]) -> Decision:
        """Decide a call, and name for its card the variables that its command mentions and does not get, that its
        processes may outlive it where they may, and what the sandbox will refuse to it."""
        decision = decide(call, policy, modes, grants, check_syntax=self.check_syntax)
        commands = [effect.command for effect in call.effects if isinstance(effect, RunCommand)]
        agent = policy.agents.get(call.agent)
        own = (*agent.env, *agent.secret_env) if agent is not None else ()
        names = withheld_names(commands, os.environ, policy, own)
        notes = [withheld_note(names)] if names else []
        if commands and not runs_confined(policy) and (note := tracking_note()) is not None:
            notes.append(note)
        notes += blocking_forecast(call, decision, policy)
        return replace(decision, risks=(*decision.risks, *notes), withheld=names) if notes else decision

    def _sandbox_tried(self) -> None:
        """Told in a thread that a try-out has ended."""
        state = self.confiner.known_state(self.settings.policy)
        if state is not None and not state.available:
            log.warning("there is no sandbox here: %s", state.reason)

    def _seq_of(self, thread_id: str) -> int:
        row = self.transcripts.thread(thread_id)
        return row.seq if row else 0

    def _host_for(self, config: AgentConfig) -> AcpAgent:
        from countersign.agents.acp.host import AcpAgent  # noqa: PLC0415 loaded when an agent is hosted
        from countersign.agents.acp.label_store import LabelStore  # noqa: PLC0415 likewise
        from countersign.agents.acp.last_greeting import GreetingStore  # noqa: PLC0415 likewise
        from countersign.agents.acp.session_store import SessionStore  # noqa: PLC0415 likewise

        return AcpAgent(
            config,
            gate=self.gate,
            policy=self._policy,
            environment=self.shells.environment,
            gate_folder=self._gate_folder,
            shell_registry=self.shells,
            labels=LabelStore(self._gate_folder),
            changes=self._change_watch(),
            sessions=SessionStore(self.transcripts, lambda: self._policy().workspace),
            confiner=self.confiner,
            secrets=self.keys.agent_variables,
            login_keys=self.keys,
            greetings=GreetingStore(self._gate_folder),
            questions=self.questions,
            terminal_logins=lambda: self.settings.abilities.terminal and self.editor.present(),
            changed=lambda: self._tell_agent(self.runner.view(config.name)),
            tell_offered=self.session_feed.offered,
            tell_title=self.session_feed.titled,
        )

    def _offers(self, thread_id: str) -> Offers | None:
        row = self.transcripts.thread(thread_id)
        return None if row is None else self.runner.offers(thread_id, row.agent_name)

    def _network(self) -> Network:
        from countersign.agents.models.http_answer import Network  # noqa: PLC0415 loaded after the start

        network = self.settings.abilities.network
        return Network(network.proxy or None, tuple(network.no_proxy), network.strict_tls)

    def _change_watch(self) -> ChangeWatch:
        from countersign.agents.acp.change_watch import ChangeWatch  # noqa: PLC0415 loaded when an agent is hosted

        if self.changes is None:
            self.changes = ChangeWatch(self._policy().workspace, self.gate.running, self.shells)
        return self.changes

    def editor_saved(self, paths: Sequence[str]) -> None:
        """A person saved these files in the editor."""
        if self.changes is not None:
            self.changes.saved(paths)

    def _tell_agent(self, view: AgentView) -> None:
        self.server.notify("agent/status", view)

    def _tell_shell(self, view: ShellView) -> None:
        self.server.notify("shell/update", view)


class StorageUnusable(Exception):
    """The storage folder cannot be read or written; the message is why, without a path above the folder."""


@contextmanager
def usable_storage(storage: Path) -> Iterator[None]:
    """Around whatever opens the storage folder: each of the ways in which that fails becomes ``StorageUnusable``."""
    try:
        yield
    except (LedgerUnavailable, sqlite3.Error) as error:
        why = error.__cause__ or error
        raise StorageUnusable(f"the storage folder cannot be used ({why})") from error
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        if error.filename is not None and Path(os.fsdecode(error.filename)) != storage:
            why = f"`{escaped(os.path.basename(os.fsdecode(error.filename)))}`: {why}"
        raise StorageUnusable(f"the storage folder cannot be used ({why})") from error


def storage_folder(wanted: str) -> Path:
    """The storage folder, made and closed to others.

    Raises:
        OSError: it cannot be made.
    """
    folder = Path(wanted)
    folder.mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o700)
    return folder
