"""The language server: every method of the table, each a few lines into the rooms.

``serve`` is the process. Nothing of the workspace is obeyed before ``initialize`` has said whether it is trusted.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

import platformdirs
from lsprotocol import types
from pydantic import ValidationError

import countersign
from countersign import gate
from countersign.advice.setting_effect import allows
from countersign.lsp import chats
from countersign.lsp.agent_probe import blocking_probe_command
from countersign.lsp.model_keys import list_models
from countersign.lsp.pygls_server import Server, make_server
from countersign.lsp.records import ended_requests, export_history, query_history, stats_history, undo
from countersign.lsp.rules import add_rule, import_rules, list_rules, note_rules, propose_rules, remove_rule
from countersign.lsp.workspace import StorageUnusable, WorkspaceServer, storage_folder, usable_storage
from countersign.settings.live_settings import LiveSettings
from countersign.tools.loading import load
from countersign.tools.shell.temporary_folders import TemporaryFolders
from countersign.wire import (
    agents,
    approvals,
    elicitation,
    history,
    rules,
    sandbox,
    settings,
    shells,
    threads,
    verdicts,
)
from countersign.wire.base import Empty, as_json
from countersign.wire.errors import CountersignError, InternalError, InvalidAnswer, LedgerUnavailable, UnknownRule

if TYPE_CHECKING:
    from countersign.lsp.language.service import LanguageService

log = logging.getLogger(__name__)
ACCEPT, IGNORE = "Accept", "Keep ignoring"
AT_ONCE = 100
"""Requests of a batch that are answered side by side."""
T = TypeVar("T")


def serve() -> int:
    """Serve an editor over stdin and stdout until it goes; the exit code of the process."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    server = make_server("countersign", countersign.__version__)
    App(server)
    return server.run()


class App:
    """Registers the handlers; holds the WorkspaceServer once there is one."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._house: WorkspaceServer | None = None
        self._closed: str | None = None
        self._ready = False
        self._warnings: list[str] = []
        self._asked: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking_back = asyncio.Lock()
        server.on_initialize(lambda params: self._initialize(params))  # noqa: PLW0108 pygls marks what it is given
        server.on_initialized(self._initialized)
        server.on_shutdown(self._shutdown)
        handle = server.handle
        handle("tool/approvalResponse", self._approval_response)
        handle("tool/pendingApprovals", self._pending_approvals)
        handle("tool/approvalBatch", self._approval_batch)
        handle("tool/approvalPostpone", self._approval_postpone)
        handle("rule/preview", self._rule_preview)
        handle("tool/explain", self._explain)
        handle("thread/create", self._thread_create)
        handle("thread/fork", lambda params: self.house.sessions.fork(params.thread_id))
        handle("thread/begin", self._thread_begin)
        handle("thread/list", lambda _params: self.house.sessions.list())
        handle("thread/open", lambda params: self.house.sessions.open(params.thread_id))
        handle("thread/delete", self._thread_delete)
        handle("thread/rename", self._thread_rename)
        handle("thread/search", lambda params: chats.search(self.house, params.text))
        handle("thread/export", lambda params: chats.export(self.house, params.thread_id))
        handle("thread/setMode", self._thread_set_mode)
        handle("thread/setOption", self._thread_set_option)
        handle("thread/prompt", self._thread_prompt)
        handle("thread/compact", self._thread_compact)
        handle("thread/cancel", lambda params: self.house.sessions.cancel(params.thread_id))
        handle("elicitation/respond", self._elicitation_respond)
        handle("model/list", lambda _params: list_models(self.house.settings.policy))
        handle("lm/part", lambda params: self.house.editor_models.part(params))  # noqa: PLW0108 the house comes later
        handle("agent/list", lambda _params: agents.AgentListResult(agents=self.house.runner.views()))
        handle("agent/known", lambda _params: self.house.known_agents.list())
        handle("agent/add", lambda params: self.house.known_agents.add(params))  # noqa: PLW0108 the house comes later
        handle("agent/restart", self._agent_restart)
        handle("agent/login", self._agent_login)
        handle("agent/sessions", lambda params: self.house.runner.list_sessions(params.agent_name))
        handle("agent/resetLabel", self._agent_reset_label)
        handle("agent/probe", self._agent_probe)
        handle("agent/setBypass", self._agent_set_bypass)
        handle("shell/list", lambda _params: shells.ShellListResult(shells=self.house.shells.list()))
        handle("shell/output", lambda params: self.house.shells.output(params.shell_id, params.from_))
        handle("shell/kill", self._shell_kill)
        handle("shell/toBackground", self._shell_to_background)
        handle("sandbox/status", self._sandbox_status)
        handle("history/query", lambda params: query_history(self.house, params))
        handle("history/export", lambda params: export_history(self.house, params))
        handle("history/stats", lambda params: stats_history(self.house, params))
        handle("history/undo", lambda params: undo(self.house, params.receipt_id))
        handle("ledger/status", self._ledger_status)
        handle("ledger/newChain", lambda params: self.house.ledger_watch.new_chain(params))  # noqa: PLW0108 the house comes later
        handle("rule/list", lambda _params: self._looked_back(list_rules))
        handle("rule/proposals", lambda _params: self._looked_back(propose_rules))
        handle("rule/import", lambda params: import_rules(self.house, params.file))
        handle("rule/add", lambda params: add_rule(self.house, params))
        handle("rule/remove", lambda params: remove_rule(self.house, params.rule_id))
        handle("grant/list", lambda _params: rules.GrantListResult(grants=self.house.gate.grants.views()))
        handle("grant/revoke", self._grant_revoke)
        handle("editor/saved", lambda params: self.house.editor_saved(params.paths))
        handle("settings/changed", self._settings_changed)
        handle("settings/confirm", self._settings_confirm)
        handle("environment/pass", self._environment_pass)
        for method in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE):
            server.feature(method)(lambda _params: self._language.changed())
        server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: self._language.hover(params))  # noqa: PLW0108 it comes later
        options = types.CompletionOptions(trigger_characters=['"', "(", "/"])
        server.feature(types.TEXT_DOCUMENT_COMPLETION, options)(lambda params: self._language.complete(params))  # noqa: PLW0108 likewise

    @cached_property
    def _language(self) -> LanguageService:
        from countersign.lsp.language.service import LanguageService  # noqa: PLC0415 loaded after the start

        return LanguageService(self._server, lambda: self.house)

    @property
    def house(self) -> WorkspaceServer:
        if self._house is not None:
            return self._house
        if self._closed is not None:
            raise LedgerUnavailable(self._closed)
        raise InternalError("the server is not initialized")

    # The life of the server.

    async def _initialize(self, params: types.InitializeParams) -> None:
        try:
            options = settings.InitializationOptions.model_validate(params.initialization_options or {})
        except ValidationError as error:
            raise InvalidAnswer(f"the initialization options do not fit: {misfit(error)}") from None
        wanted = options.storage or platformdirs.user_data_dir("countersign", appauthor=False)
        try:
            self._house = self._open(options, params, wanted)
        except StorageUnusable as error:
            # Serving without a house lets the person be told; an `initialize` that fails is only tried again.
            log.exception("the storage folder `%s` cannot be used", wanted)
            self._closed = f"{error}, so nothing runs; correct that and restart the server"

    def _open(
        self, options: settings.InitializationOptions, params: types.InitializeParams, wanted: str
    ) -> WorkspaceServer:
        with usable_storage(Path(wanted)):
            storage = storage_folder(wanted)
            workspace = workspace_of(params) or no_folder(storage)
            temporary = TemporaryFolders()
            live = LiveSettings(
                options,
                workspace=workspace,
                storage=storage,
                warn=self._warn,
                describe=allows,
                temporary_base=temporary.base,
            )
            house = WorkspaceServer(self._server, live, storage, temporary, options.ledger_anchor)
            for note in house.ledger.notes:
                self._warn(f"Countersign: in the ledger, {note}.")
            for note in house.transcripts.notes:
                self._warn(f"Countersign: {note}.")
        live.subscribe(self._policy_changed)
        return house

    async def _initialized(self) -> None:
        if self._closed is not None:
            self._show(f"Countersign: {self._closed}.", types.MessageType.Error)
            return
        for warning in self._warnings:
            self._show(warning)
        if self.house.settings.policy.not_yet:
            self._show(f"Countersign: {'; '.join(self.house.settings.policy.not_yet)}.")
        self._ready = True
        self._own(self.house.settings.watch(), "watch the settings files")
        self._own(self._tell_problems(), "tell problems of the settings files")
        self._tell_unconfirmed()
        self.house.runner.tell_changes()
        self._own(self._check_engine(), "check the reader of commands")
        self._own(load("countersign.lsp.builtin_agent"), "load what the first turn needs")
        self._own(self._note_rules(), "note which rules there are")
        self._own(self._settle_settings(), "settle edits of settings that were cut off")
        self._own(self.house.sweep_images(), "sweep old before-images")
        self.house.ledger_watch.start()

    async def _tell_problems(self) -> None:
        await load("countersign.lsp.language.service")
        await self._language.watch()

    async def _settle_settings(self) -> None:
        for said in await self.house.keeper.settle():
            self._warn(f"Countersign: {said}.")

    async def _shutdown(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._house is not None:
            await self._house.close()

    def _own(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", task.get_name(), exc_info=error)

    def _warn(self, message: str) -> None:
        """A warning for the person; what comes before the client is ready is kept until it is."""
        if self._ready:
            self._show(message)
        else:
            self._warnings.append(message)

    def _show(self, message: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=message))

    # Settings.

    def _policy_changed(self) -> None:
        self.house.gate.changed()
        self._language.changed()
        if self._ready:
            self._tell_unconfirmed()
            self.house.runner.tell_changes()
            self._own(self.house.runner.end_outlived(), "end agents outside the sandbox")
            self._own(self._note_rules(), "note which rules there are")

    async def _check_engine(self) -> None:
        """Load the reader of commands, and warn if its self-check fails; each decision looks at that by itself."""
        fault = await asyncio.to_thread(lambda: gate.engine_fault())  # noqa: PLW0108 loaded in the thread
        if fault is not None:
            log.error("the self-check of the parser failed: %s", fault)
            self._warn(f"Countersign: no command is allowed by reading it, because {fault}.")

    async def _note_rules(self) -> None:
        await note_rules(self.house)

    async def _looked_back(self, look: Callable[[WorkspaceServer], Awaitable[T]]) -> T:
        """One long look at history at a time: the few threads there are belong to calls that wait for their verdict."""
        async with self._looking_back:
            return await look(self.house)

    def _tell_unconfirmed(self) -> None:
        live = self.house.settings
        items = list(live.unconfirmed()) if live.policy.trusted else []
        if live.abilities.confirm:
            self._server.notify("settings/unconfirmed", settings.SettingsUnconfirmed(items=items))
            return
        for item in items:
            if item.digest not in self._asked:
                self._asked.add(item.digest)
                self._own(self._ask_to_confirm(item), f"ask about {item.key}")

    async def _ask_to_confirm(self, item: settings.UnconfirmedItem) -> None:
        """Ask in the editor's own way, where the client cannot draw the question itself. Closing it changes nothing."""
        place = f" ({item.file}:{item.line})" if item.file else ""
        chosen = await self._server.window_show_message_request_async(
            types.ShowMessageRequestParams(
                type=types.MessageType.Warning,
                message=f"The workspace's settings want: {item.text}{place}. It is ignored until you accept it.",
                actions=[types.MessageActionItem(title=ACCEPT), types.MessageActionItem(title=IGNORE)],
            )
        )
        if chosen is not None:
            self.house.settings.confirm(item.digest, accept=chosen.title == ACCEPT)

    def _settings_changed(self, params: settings.SettingsChanged) -> None:
        self.house.settings.changed(params)

    def _settings_confirm(self, params: settings.SettingsConfirmParams) -> Empty:
        self.house.settings.confirm(params.digest, accept=params.accept)
        return Empty()

    async def _environment_pass(self, params: settings.EnvironmentPassParams) -> Empty:
        if params.name not in self.house.shells.withheld():
            raise InvalidAnswer("no variable of this name is withheld from commands")
        await self.house.keeper.pass_variable(params.name)
        return Empty()

    # Approvals.

    async def _approval_response(self, params: approvals.ApprovalResponseParams) -> approvals.ApprovalResponseResult:
        state = await self.house.gate.answering.answer(params)
        return approvals.ApprovalResponseResult(approval_id=params.approval_id, state=state)

    async def _rule_preview(self, params: approvals.RulePreviewParams) -> approvals.RulePreviewResult:
        return await self.house.gate.answering.preview(params)

    async def _pending_approvals(self, params: approvals.PendingApprovalsParams) -> approvals.PendingApprovalsResult:
        ended = await ended_requests(self.house, params.known)
        views = self.house.gate.asking.table.views(params.thread_id)
        return approvals.PendingApprovalsResult(approvals=views, ended=ended)

    async def _approval_batch(self, params: approvals.ApprovalBatchParams) -> approvals.ApprovalBatchResult:
        """Each request is judged, recorded and answered on its own."""
        ids = params.approval_ids
        digests = params.digests if params.digests is not None else [None] * len(ids)
        if len(digests) != len(ids):
            raise InvalidAnswer("a batch has a digest for each of its requests, or none at all")
        cards = list(zip(ids, digests, strict=True))
        results: list[approvals.BatchEntry] = []
        # Together they share commits to disk; thousands at once would only take memory.
        for start in range(0, len(cards), AT_ONCE):
            some = cards[start : start + AT_ONCE]
            results += await asyncio.gather(*(self._one_of_batch(*card, params) for card in some))
        return approvals.ApprovalBatchResult(results=results)

    def _approval_postpone(self, params: approvals.ApprovalPostponeParams) -> approvals.ApprovalPostponeResult:
        asking = self.house.gate.asking
        if params.postponed:
            asking.postpone(params.approval_id)
            return approvals.ApprovalPostponeResult(approval_id=params.approval_id)
        expires_at = asking.take_up(params.approval_id)
        return approvals.ApprovalPostponeResult(approval_id=params.approval_id, expires_at=expires_at)

    async def _one_of_batch(
        self, approval_id: str, digest: str | None, params: approvals.ApprovalBatchParams
    ) -> approvals.BatchEntry:
        answer = approvals.ApprovalResponseParams(
            approval_id=approval_id,
            digest=digest,
            response=approvals.OutcomeHolder(
                outcome=approvals.SelectedOutcome(outcome="selected", option_id=params.decision)
            ),
            bypass_all=False,
            reason=params.reason,
        )
        try:
            state = await self.house.gate.answering.answer(answer)
        except CountersignError as error:
            return approvals.BatchEntry(
                approval_id=approval_id, error=approvals.BatchError(kind=error.kind, message=str(error))
            )
        except Exception:  # the boundary of one entry: the other entries get their answers
            log.exception("answering the request %r failed", approval_id)
            said = "answering it failed by a fault of the server; its log says why"
            return approvals.BatchEntry(
                approval_id=approval_id, error=approvals.BatchError(kind="internal", message=said)
            )
        return approvals.BatchEntry(approval_id=approval_id, state=state)

    async def _explain(self, params: verdicts.ExplainParams) -> verdicts.ExplainResult:
        from countersign.advice.explain import BadQuestion, answer_of, explain  # noqa: PLC0415 no start needs it

        policy = self.house.settings.policy
        question = {key: value for key, value in as_json(params).items() if key != "mode"}
        try:
            decision = await asyncio.to_thread(
                explain, question, policy, params.mode or policy.mode, check_syntax=self.house.check_syntax
            )
        except BadQuestion as error:
            raise InvalidAnswer(str(error)) from None
        return verdicts.ExplainResult.model_validate(answer_of(decision))

    def _elicitation_respond(
        self, params: elicitation.ElicitationRespondParams
    ) -> elicitation.ElicitationRespondResult:
        return elicitation.ElicitationRespondResult(state=self.house.questions.respond(params))

    def _ledger_status(self, _params: Empty) -> history.LedgerStatus:
        if self._house is None and self._closed is not None:
            return history.LedgerStatus(state="none", rows=0, head="", reason=self._closed)
        return self.house.ledger_watch.status()

    # Chats.

    async def _thread_create(self, params: threads.ThreadCreateParams) -> threads.ThreadCreateResult:
        sessions = self.house.sessions
        if params.session_id is None:
            return sessions.create(params)
        return await sessions.create_with(params, params.session_id)

    async def _thread_begin(self, params: threads.ThreadBeginParams) -> Empty:
        await self.house.sessions.begin(params.thread_id)
        return Empty()

    async def _thread_delete(self, params: threads.ThreadDeleteParams) -> Empty:
        await self.house.delete_chat(params.thread_id)
        return Empty()

    def _thread_rename(self, params: threads.ThreadRenameParams) -> Empty:
        chats.rename(self.house, params.thread_id, params.title)
        return Empty()

    def _thread_set_mode(self, params: threads.ThreadSetModeParams) -> threads.ThreadSetModeResult:
        return threads.ThreadSetModeResult(mode=self.house.sessions.set_mode(params.thread_id, params.mode))

    async def _thread_set_option(self, params: threads.ThreadSetOptionParams) -> threads.ThreadSetOptionResult:
        return threads.ThreadSetOptionResult(options=await self.house.sessions.set_option(params))

    async def _thread_prompt(self, params: threads.ThreadPromptParams) -> threads.ThreadPromptResult:
        return threads.ThreadPromptResult(stop_reason=await self.house.sessions.prompt(params))

    async def _thread_compact(self, params: threads.ThreadCompactParams) -> threads.ThreadCompactResult:
        return threads.ThreadCompactResult(dropped=await self.house.sessions.compact(params.thread_id))

    # Agents, shells, rules, grants, history.

    async def _agent_restart(self, params: agents.AgentRestartParams) -> Empty:
        await self.house.runner.restart(params.agent_name)
        return Empty()

    async def _agent_login(self, params: agents.AgentLoginParams) -> Empty:
        await self.house.runner.log_in(params.agent_name, params.method_id)
        return Empty()

    async def _agent_reset_label(self, params: agents.AgentResetLabelParams) -> Empty:
        await self.house.runner.reset_label(params.agent_name)
        return Empty()

    async def _agent_probe(self, params: agents.AgentProbeParams) -> agents.AgentProbeResult:
        house = self.house
        policy = house.settings.policy
        command = await asyncio.to_thread(blocking_probe_command, policy, params.agent_name, house.storage)
        return agents.AgentProbeResult(command=command)

    async def _agent_set_bypass(self, params: agents.AgentSetBypassParams) -> Empty:
        keeper = self.house.keeper
        self.house.runner.view(params.agent_name)
        match params.scope, params.on:
            case "session", True:
                await keeper.set_session_bypass(params.agent_name)
            case "session", False:
                keeper.end_session_bypass(params.agent_name)
            case "workspace", True:
                await keeper.set_bypass(params.agent_name)
            case "workspace", False:
                await keeper.end_bypass(params.agent_name)
        return Empty()

    async def _shell_kill(self, params: shells.ShellKillParams) -> shells.ShellKillResult:
        return shells.ShellKillResult(state=await self.house.shells.kill(params.shell_id))

    def _shell_to_background(self, params: shells.ShellToBackgroundParams) -> shells.ShellToBackgroundResult:
        return shells.ShellToBackgroundResult(shell_id=self.house.shells.to_background(params.tool_call_id))

    async def _sandbox_status(self, _params: Empty) -> sandbox.SandboxStatus:
        return await asyncio.to_thread(self.house.sandbox.blocking_status)

    def _grant_revoke(self, params: rules.GrantRevokeParams) -> Empty:
        if not self.house.gate.revoke(params.grant_id):
            raise UnknownRule("there is no such grant; it may have ended")
        return Empty()


def workspace_of(params: types.InitializeParams) -> Path | None:
    """The folder that the editor has open: the first of its folders, else its root."""
    uri = params.workspace_folders[0].uri if params.workspace_folders else params.root_uri
    if uri:
        parts = urlsplit(uri)
        return Path(unquote(parts.path)) if parts.scheme == "file" and parts.path else None
    return Path(params.root_path) if params.root_path else None


def no_folder(storage: Path) -> Path:
    """Where tools work while no folder is open: an empty one of ours, so that nothing of the person's is inside."""
    folder = storage / "no-folder"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def misfit(error: ValidationError) -> str:
    """What does not fit, without what was sent."""
    return "; ".join(f"`{'.'.join(map(str, item['loc']))}` {item['msg'].lower()}" for item in error.errors())
