"""The chats of this server: prompts in their order, turns as tasks, and taking turns up after a restart.

Owns every turn's task. What a turn does is the agent's (``agents/drive``, ``agents/acp``); what it may do is the
gate's.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, get_args

from countersign.agents.prompt import attached_places
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import Gate, StoredRequest, Turn, now
from countersign.lsp.base_protocol import EncodedResult
from countersign.lsp.encoded_chat import EncodedChat
from countersign.lsp.event_feed import Feed
from countersign.settings.policy import Policy
from countersign.wire.errors import (
    CountersignError,
    InvalidAnswer,
    LedgerUnavailable,
    ModelError,
    UnknownAgent,
    UnknownThread,
)
from countersign.wire.threads import (
    AgentCommand,
    DoneEvent,
    ErrorEvent,
    PromptEvent,
    StopReason,
    ThreadCreateParams,
    ThreadCreateResult,
    ThreadListResult,
    ThreadMemory,
    ThreadOpenResult,
    ThreadOption,
    ThreadPromptParams,
    ThreadSetOptionParams,
    ThreadState,
    ThreadSummary,
)
from countersign.wire.verdicts import Mode

log = logging.getLogger(__name__)
TITLE_LENGTH = 60
NEW_TITLE = "New chat"
LONGEST_TITLE = 200
"""Characters of a chat's title that its fork has, too."""


class Runner(Protocol):
    """Whoever carries out a turn, for the kind of agent that it has."""

    def resumable(self, agent: str) -> bool:
        """Whether a turn of this agent can be taken up by another server."""
        ...

    def memory(self, row: ThreadRow) -> ThreadMemory:
        """Whether the agent of a chat remembers all of it."""
        ...

    def offers(self, thread_id: str, agent: str) -> tuple[list[ThreadOption], list[AgentCommand]] | None:
        """The options and commands that the agent of a chat offers now; None where it has no session."""
        ...

    async def set_option(self, thread_id: str, agent: str, option: str, value: str | bool) -> list[ThreadOption]:
        """Set an option of a chat's agent; return all as they are then."""
        ...

    async def begin(self, turn: Turn, session_id: str | None = None) -> None:
        """Open the session of a chat ahead of its next prompt, this one of the agent's own list where it is given."""
        ...

    async def fork(self, turn: Turn, source: str) -> None:
        """Open a session for a new chat that goes on from that of another chat."""
        ...

    async def run(self, turn: Turn, prompt: ThreadPromptParams) -> StopReason: ...

    async def resume(self, turn: Turn, waiting: Mapping[str, StoredRequest]) -> StopReason: ...

    async def stop(self, turn: Turn) -> None:
        """Tell the agent to stop; the turn's task is cancelled afterwards."""
        ...


@dataclass(slots=True, eq=False)
class _Ticket:
    """A queued prompt. It stays in the queue until it begins, so that no later one can slip in before it."""

    called: asyncio.Future[None]
    unsent: bool = False


@dataclass(slots=True, eq=False)
class _Thread:
    """A chat while this server has it: the turn that runs and the prompts that wait behind it."""

    thread_id: str
    turn: Turn | None = None
    task: asyncio.Task[StopReason] | None = None
    waiting: deque[_Ticket] = field(default_factory=deque)


class Sessions:
    """All chats of a workspace in this server. A class because each turn's task has its owner here.

    ``questions`` names the chat of each open question of an agent."""

    def __init__(
        self,
        *,
        transcripts: Transcripts,
        feed: Feed,
        gate: Gate,
        policy: Callable[[], Policy],
        runner: Runner,
        owner: str,
        questions: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._transcripts = transcripts
        self._feed = feed
        self._gate = gate
        self._policy = policy
        self._runner = runner
        self._owner = owner
        self._questions = questions
        self._threads: dict[str, _Thread] = {}
        self._deleting: set[str] = set()
        self._closing = False

    # What a client asks for.

    def create(self, params: ThreadCreateParams) -> ThreadCreateResult:
        """A new chat. Raises UnknownAgent."""
        policy = self._policy()
        agent = params.agent_name or policy.default_agent
        self._known_agent(agent)
        row = self._new_row(agent, params.mode or policy.mode, NEW_TITLE)
        return ThreadCreateResult(thread_id=row.thread_id, agent_name=agent, mode=row.mode)

    async def create_with(self, params: ThreadCreateParams, session_id: str) -> ThreadCreateResult:
        """A new chat that takes up a session of its agent's own list and shows what was said in it. Raises
        UnknownAgent, and as ``Runner.begin``; then there is no chat."""
        made = self.create(params)
        await self._open_new(self._row(made.thread_id), lambda turn: self._runner.begin(turn, session_id))
        return made

    async def fork(self, thread_id: str) -> ThreadCreateResult:
        """A second chat that shows what was said in this one and goes on from there. Raises UnknownThread,
        UnknownAgent, InvalidAnswer while a turn runs, and as ``Runner.fork``; then there is no second chat."""
        source = self._row(thread_id)
        self._known_agent(source.agent_name)
        thread = self._threads.get(thread_id)
        if thread is not None and thread.task is not None:
            raise InvalidAnswer("a turn of this chat is running; fork it once that has ended")
        row = self._new_row(source.agent_name, source.mode, f"{source.title[:LONGEST_TITLE]} (fork)")

        async def opened(turn: Turn) -> None:
            await asyncio.to_thread(self._transcripts.blocking_copy_events, thread_id, row.thread_id)
            await self._runner.fork(turn, thread_id)

        await self._open_new(row, opened)
        return ThreadCreateResult(thread_id=row.thread_id, agent_name=row.agent_name, mode=row.mode)

    async def begin(self, thread_id: str) -> None:
        """Let the hosted agent of a chat open its session ahead of the next prompt. A new chat is not listed then until
        it gets a message. Raises as ``Runner.begin``, UnknownThread, UnknownAgent."""
        row = self._row(thread_id)
        self._known_agent(row.agent_name)
        if self._policy().agents[row.agent_name].type == "acp":
            thread = self._threads.get(thread_id)
            if row.seq == 0 and row.title == NEW_TITLE and (thread is None or thread.task is None):
                self._transcripts.mark_begun(thread_id)
            await self._runner.begin(self._make_turn(row, [row.mode], secrets.token_urlsafe(9)))

    def _new_row(self, agent: str, mode: Mode, title: str) -> ThreadRow:
        row = ThreadRow(
            thread_id=secrets.token_urlsafe(12),
            workspace=self._policy().workspace,
            title=title,
            agent_name=agent,
            mode=mode,
            seq=0,
            updated_at=now(),
        )
        self._transcripts.save_thread(row)
        return row

    async def _open_new(self, row: ThreadRow, work: Callable[[Turn], Awaitable[None]]) -> None:
        """Open the session of a chat that was just made; where that fails, there is no chat."""
        try:
            await work(self._make_turn(row, [row.mode], secrets.token_urlsafe(9)))
            self._feed.flush(row.thread_id)
            await asyncio.to_thread(self._transcripts.blocking_redact, row.thread_id)
        except BaseException:
            self._feed.forget(row.thread_id)
            self._transcripts.delete_thread(row.thread_id)
            raise

    def list(self) -> ThreadListResult:
        """The chats of this workspace, the latest first, without those that were only begun (``begin``)."""
        waiting: dict[str, int] = {}
        for pending in self._gate.asking.table:
            waiting[pending.request.thread_id] = waiting.get(pending.request.thread_id, 0) + 1
        for thread_id in self._questions():
            waiting[thread_id] = waiting.get(thread_id, 0) + 1
        return ThreadListResult(
            threads=[
                ThreadSummary(
                    thread_id=row.thread_id,
                    title=row.title,
                    agent_name=row.agent_name,
                    mode=row.mode,
                    updated_at=row.updated_at,
                    waiting=waiting.get(row.thread_id, 0),
                    state=self._state(row.thread_id, waiting.get(row.thread_id, 0)),
                )
                for row in self._transcripts.listed_threads(self._policy().workspace)
            ]
        )

    def _state(self, thread_id: str, waiting: int) -> ThreadState:
        if waiting:
            return "waiting"
        thread = self._threads.get(thread_id)
        if thread is not None and thread.task is not None:
            return "working"
        last = self._transcripts.last_event(thread_id)
        if last is None:
            return "new"
        if not isinstance(last, DoneEvent):
            return "stopped"
        return {"error": "failed", "cancelled": "stopped"}.get(last.stop_reason, "done")  # type: ignore[return-value]

    async def open(self, thread_id: str) -> EncodedResult:
        """A chat whole, as it stands at the end of this, before anything else is sent. Raises UnknownThread."""
        self._row(thread_id)
        chat = EncodedChat(self._transcripts, thread_id, lambda: self._gate.asking.table.views(thread_id))
        await chat.catch_up()
        row = self._row(thread_id)
        thread = self._threads.get(thread_id)
        options, commands = self._runner.offers(thread_id, row.agent_name) or (None, None)
        head = ThreadOpenResult(
            thread_id=thread_id,
            agent_name=row.agent_name,
            mode=row.mode,
            seq=self._feed.flush(thread_id),
            events=[],
            approvals=[],
            # As the events say it: the task goes on for a while after the turn has told its end.
            running=thread is not None and thread.turn is not None,
            memory=self._runner.memory(row),
            options=options,
            commands=commands,
        )
        return chat.finish(head)

    async def delete(self, thread_id: str) -> None:
        """Stop what runs in a chat and forget it. The ledger keeps what was done. Raises UnknownThread."""
        self._row(thread_id)
        # From here on nothing begins in it: a prompt that came while its turn is being stopped would run in no chat.
        self._deleting.add(thread_id)
        try:
            await self.cancel(thread_id)
            self._transcripts.delete_thread(thread_id)
        finally:
            self._deleting.discard(thread_id)
        self._threads.pop(thread_id, None)
        self._feed.forget(thread_id)
        self._gate.grants.end_thread(thread_id)

    def set_mode(self, thread_id: str, mode: Mode) -> Mode:
        """Set a chat's mode at once; a running turn is only ever tightened by it. Raises UnknownThread."""
        self._row(thread_id)
        self._transcripts.update_thread(thread_id, mode=mode)
        thread = self._threads.get(thread_id)
        if thread is not None and thread.turn is not None:
            thread.turn.tighten(mode)
            self._transcripts.update_thread(thread_id, open_turn=self._mark(thread.turn))
            self._gate.changed()
        return mode

    async def set_option(self, params: ThreadSetOptionParams) -> list[ThreadOption]:
        """Set an option of a chat's agent at once. Raises as ``AcpAgent.set_option``, UnknownThread, UnknownAgent."""
        row = self._row(params.thread_id)
        self._known_agent(row.agent_name)
        return await self._runner.set_option(row.thread_id, row.agent_name, params.option, params.value)

    async def prompt(self, params: ThreadPromptParams) -> StopReason:
        """Run a turn to its end; behind another one it waits its turn.

        Cancelled (``$/cancelRequest``): the turn, if it is this prompt's, is stopped and the result is ``cancelled``.

        Raises:
            UnknownThread, UnknownAgent: nothing was started.
            ModelError, AgentExit: the turn broke off; the chat says so too.
        """
        row = self._row(params.thread_id)
        self._known_agent(row.agent_name)
        thread = self._threads.setdefault(params.thread_id, _Thread(params.thread_id))
        if (thread.task is not None or thread.waiting) and not await self._queue(thread):
            return "cancelled"
        if self._closing:
            return "cancelled"
        try:
            row = self._row(params.thread_id)
        except UnknownThread:  # another window deleted it; whoever waits behind this prompt is to hear of it, too
            _call_next(thread)
            raise
        task = self._begin(thread, self._turn(thread, row, params))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._stop(thread, task)
            return "cancelled"

    async def compact(self, thread_id: str) -> int:
        """Summarize a chat for its model, behind what runs; return of how many messages. Raises UnknownThread."""
        before = self._transcripts.context(thread_id).summarized
        await self.prompt(ThreadPromptParams(thread_id=thread_id, text="/compact"))
        return self._transcripts.context(thread_id).summarized - before

    async def cancel(self, thread_id: str) -> None:
        """Stop the running turn and hand queued prompts back unsent. Without either it does nothing."""
        thread = self._threads.get(thread_id)
        if thread is None:
            return
        self._unsend(thread)
        if thread.task is not None:
            await self._stop(thread, thread.task)

    # Restarts.

    def resume(self, thread_id: str, waiting: Mapping[str, StoredRequest]) -> bool:
        """Take up a turn whose requests waited on disk; False when the chat or its agent is gone."""
        row = self._transcripts.thread(thread_id)
        if row is None or row.agent_name not in self._policy().agents or not self._runner.resumable(row.agent_name):
            return False
        thread = self._threads.setdefault(thread_id, _Thread(thread_id))
        turn_id, modes = _open_turn(row.open_turn)
        # What counted for the turn counts on; a mode that was set since can only tighten it.
        turn = self._make_turn(row, list(dict.fromkeys((*modes, row.mode))), turn_id or secrets.token_urlsafe(9))
        self._begin(thread, self._carry(thread, turn, lambda: self._runner.resume(turn, waiting)))
        return True

    async def close(self) -> None:
        """Stop every turn; open requests that can wait stay on disk for the next server."""
        self._closing = True
        await self._gate.park()
        for thread in self._threads.values():
            self._unsend(thread)
        tasks = [thread.task for thread in self._threads.values() if thread.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # A turn.

    def _begin(self, thread: _Thread, work) -> asyncio.Task[StopReason]:
        task = asyncio.get_running_loop().create_task(work, name=f"turn of {thread.thread_id}")
        thread.task = task
        task.add_done_callback(partial(self._ended, thread))
        return task

    def _ended(self, thread: _Thread, task: asyncio.Task[StopReason]) -> None:
        thread.task = None
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, CountersignError):
            log.error("%s failed", task.get_name(), exc_info=error)
        _call_next(thread)

    async def _queue(self, thread: _Thread) -> bool:
        """Wait behind what runs; whether the prompt may begin now (False: it was handed back unsent)."""
        ticket = _Ticket(asyncio.get_running_loop().create_future())
        thread.waiting.append(ticket)
        try:
            await ticket.called
        except asyncio.CancelledError:
            ticket.unsent = True
        thread.waiting.remove(ticket)
        if ticket.unsent and thread.task is None:
            _call_next(thread)
        return not ticket.unsent

    def _unsend(self, thread: _Thread) -> None:
        for ticket in thread.waiting:
            ticket.unsent = True
            if not ticket.called.done():
                ticket.called.set_result(None)

    async def _turn(self, thread: _Thread, row: ThreadRow, params: ThreadPromptParams) -> StopReason:
        mode: Mode = params.mode or row.mode
        modes = list(dict.fromkeys((mode, params.shown_mode or mode)))
        turn = self._make_turn(row, modes, secrets.token_urlsafe(9))
        named = row.seq > 0 or row.title != NEW_TITLE or params.text.strip() == "/compact"
        title = row.title if named else " ".join(params.text.split())[:TITLE_LENGTH] or row.title
        self._transcripts.mark_prompted(row.thread_id)
        self._transcripts.update_thread(row.thread_id, mode=mode, title=title, open_turn=self._mark(turn))
        turn.emit(PromptEvent(text=params.text, attachments=attached_places(params.attachments)))
        return await self._carry(thread, turn, lambda: self._runner.run(turn, params))

    async def _carry(self, thread: _Thread, turn: Turn, run) -> StopReason:
        thread.turn = turn
        reason: StopReason = "error"
        try:
            reason = await run()
            return reason
        except asyncio.CancelledError:
            reason = "cancelled"
            raise
        except CountersignError as error:
            turn.emit(ErrorEvent(message=str(error), data={"kind": error.kind}))
            raise
        except Exception as error:  # the boundary of a turn: the chat says that it broke, the log says how
            log.exception("a turn of %s failed", turn.agent)
            turn.emit(ErrorEvent(message="the turn failed inside the server; see its log", data={"kind": "internal"}))
            raise ModelError("the turn failed inside the server; see its log") from error
        finally:
            thread.turn = None
            self._gate.grants.end_turn(turn.turn_id)
            if not self._closing:
                # A turn that was stopped because the server ends is still open: the next one takes it up.
                turn.emit(DoneEvent(stop_reason=reason))
            # The end of the turn is on disk before it counts as over; after a crash in between it is known from there.
            self._feed.flush(turn.thread_id)
            if not self._closing:
                try:
                    self._transcripts.update_thread(turn.thread_id, open_turn=None)
                except LedgerUnavailable:  # the turn itself went well; the next server finds its end, or ends it
                    log.exception("the end of a turn in %s is not kept", turn.thread_id)
                try:
                    await asyncio.to_thread(self._transcripts.blocking_redact, turn.thread_id)
                except LedgerUnavailable:  # the disk is full: the next turn tries it again
                    log.exception("known secrets in %s are not redacted yet", turn.thread_id)

    def _mark(self, turn: Turn) -> str:
        """How a chat's row names the turn under way: whose it is, which, and the modes that count for it."""
        return f"{self._owner}:{turn.turn_id}:{'+'.join(turn.modes)}"

    def _make_turn(self, row: ThreadRow, modes: list[Mode], turn_id: str) -> Turn:
        resumable = self._runner.resumable(row.agent_name)
        return Turn(
            thread_id=row.thread_id,
            turn_id=turn_id,
            agent=row.agent_name,
            modes=modes,
            emit=partial(self._feed.emit, row.thread_id),
            resumable=resumable,
            editable=resumable,
            keep_mode=partial(self._keep_mode, row.thread_id),
        )

    def _keep_mode(self, thread_id: str, mode: Mode) -> None:
        """Make a mode that a person chose on a card of the running turn the chat's own."""
        thread = self._threads.get(thread_id)
        if thread is None or thread.turn is None:
            return
        self._transcripts.update_thread(thread_id, mode=mode, open_turn=self._mark(thread.turn))

    async def _stop(self, thread: _Thread, task: asyncio.Task[StopReason]) -> None:
        if thread.turn is not None:
            await self._runner.stop(thread.turn)
        task.cancel()
        await asyncio.wait({task})

    def _row(self, thread_id: str) -> ThreadRow:
        row = self._transcripts.thread(thread_id)
        if row is None or row.workspace != self._policy().workspace or thread_id in self._deleting:
            raise UnknownThread(f"there is no chat `{thread_id}`; it may have been deleted")
        return row

    def _known_agent(self, name: str) -> None:
        if name not in self._policy().agents:
            raise UnknownAgent(f"there is no agent `{name}` in the settings; choose another for this chat")


def _call_next(thread: _Thread) -> None:
    if thread.waiting and not thread.waiting[0].called.done():
        thread.waiting[0].called.set_result(None)


def _open_turn(mark: str | None) -> tuple[str, list[Mode]]:
    """The turn's id and its modes, as ``Sessions._mark`` wrote them."""
    _owner, _, rest = (mark or "").partition(":")
    turn_id, _, modes = rest.partition(":")
    return turn_id, [mode for mode in get_args(Mode) if mode in modes.split("+")]
