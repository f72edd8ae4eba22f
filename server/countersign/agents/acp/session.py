"""One ACP session: a chat's side of an agent. What it asked, and what is open in the running turn.

Requests of the agent become calls at the gate here, its updates become events of the chat. It owns the tasks of the
open requests and closes every one of them when the prompt returns, is stopped, or the agent dies. Files and terminals
that the agent uses through us are in ``files.py`` and ``terminals.py``. Its lines stay in one file because requests,
their ends and the turn change one state together.

INVARIANT (once): every request of the agent gets exactly one answer, whoever ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from countersign.agents.acp.command_shapes import MOVES_SHELL
from countersign.agents.acp.effects import evidence_of
from countersign.agents.acp.exceeded import blocking_exceeding, blocking_reads_inside
from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.ndjson import TooMuch
from countersign.agents.acp.offered import Offered
from countersign.agents.acp.options import CANCELLED, Answer, answer_allowed, answer_rejected, can_allow, read_options
from countersign.agents.acp.pre_approval import Approved, CreditBook
from countersign.agents.acp.proposed_plan import PlanAsksForPermissions
from countersign.agents.acp.questions import Questions
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.recipes import is_refused
from countersign.agents.acp.reports import Reports, title_of
from countersign.agents.acp.requests import Entry, Request, outcome_of, prepare_request
from countersign.agents.acp.session_hook import OPTIONS as HOOK_OPTIONS
from countersign.agents.acp.session_hook import HookCall, HookJoin
from countersign.agents.acp.spending import Spending
from countersign.agents.acp.started import Started
from countersign.agents.acp.translate import (
    LONGEST_NAME,
    BadMessage,
    ChatNews,
    ContextNews,
    Raw,
    SettingNews,
    TitleNews,
    ToolNews,
    ToolReport,
    as_object,
    read_text,
    read_update,
)
from countersign.agents.acp.unasked import Labels, Tripwire
from countersign.agents.acp.unpermitted import Unpermitted
from countersign.agents.pace import Pace
from countersign.gate import (
    BadArguments,
    Effect,
    Gate,
    Outcome,
    Permit,
    Prepare,
    Refused,
    Resolution,
    RunCommand,
    Settled,
    ToolCall,
    Turn,
    Workers,
    in_worker,
)
from countersign.settings.policy import Policy
from countersign.tools.shell.processes import Shell, ShellRegistry
from countersign.wire.approvals import AgentOption, DiffPreview, PlanPreview
from countersign.wire.base import Json
from countersign.wire.sizes import size_of, size_of_few
from countersign.wire.threads import NoticeEvent, ThreadEvent, ToolResultEvent

log = limited_logger(__name__)

FAREWELL_SECONDS = 5.0
"""How long the ends of open calls may take to be written down once a turn is over; a commit takes milliseconds."""
MOST_OPEN = 100
"""Calls of one session at the gate at once; nobody reads more cards than that."""
MOST_SAID = 64 << 20
"""Characters, about, of all updates of one turn; some agents repeat a growing input with each of its words."""
MOST_CHAT = 8 << 20
"""Characters, about, of the messages and thoughts of one turn: the chat keeps them all."""
MOST_HELD_TEXTS = 1
"""Texts of files that were read for the agent and wait until it reads its input."""
MOST_NOTES = 50
"""Refusals that are reported to the agent with the next prompt."""
NEVER = "this agent's recipe never allows this tool: what it starts would act without asking"
TOO_LARGE = "it is too large to be shown on a card"
NO_TURN = "no prompt is running in this chat"
NOT_RUN = "This call was not run: the turn is over"
PLAIN_DENIAL = "the person denied it"
"""What the gate says of a denial without a reason; there is nothing to bring to the agent then."""


class Session:
    """The state of one session, upheld over its turns.

    ``labels`` hears that the agent acted without asking, ``tell_settings`` that its session told of its
    mode, options or commands, ``tell_title`` that the agent gave the chat a title.
    ``offered`` is what the session lets a person choose; ``cost`` what it had cost before, None where nobody knows.
    """

    def __init__(
        self,
        session_id: str,
        *,
        agent: str,
        recipe: Recipe,
        gate: Gate,
        policy: Callable[[], Policy],
        shell_registry: ShellRegistry | None,
        workers: Workers,
        labels: Labels,
        tell_settings: Callable[[Session], None],
        tell_title: Callable[[Session, str], None] = lambda session, title: None,
        offered: Offered | None = None,
        cost: float | None = 0.0,
        runs_bash: bool,
        folder: str,
        root: Callable[[], int | None],
        questions: Questions | None = None,
    ) -> None:
        self.session_id = session_id
        self.folder = folder
        self.agent = agent
        self.recipe = recipe
        self.gate = gate
        self.policy = policy
        self.shell_registry = shell_registry
        self.questions = questions
        self.asked = 0
        self.workers = workers
        self._held_texts = asyncio.Semaphore(MOST_HELD_TEXTS)
        self._said = self._chatted = 0
        self._pace = Pace()
        self.shells: dict[str, Shell] = {}
        self.limits: dict[str, int] = {}
        self.turn: Turn | None = None
        self.stopping = False
        self._closing = False
        self.ended = asyncio.Event()
        self.urgent = False
        self._notes: list[str] = []
        self._notes_sent = 0
        self.credits = CreditBook()
        self._asked: dict[str, list[Request]] = {}
        self._labels = labels
        self._root = root
        self._refused = False
        self._new_reports("")
        self._tell_settings = tell_settings
        self._tell_title = tell_title
        self.offered = offered or Offered(agent, recipe)
        self._spending = Spending(cost)
        self._runs_bash = runs_bash
        self._shell_moved = False
        self._entries: set[Entry] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last_turn: Turn | None = None

    def introduce(self, turn: Turn) -> None:
        """What the agent tells before the first prompt stands in this turn's chat; the agent may not act for it."""
        self._last_turn = turn

    def begin(self, turn: Turn) -> None:
        """A prompt is about to be sent; what the agent does from now on belongs to this turn."""
        self.turn = self._last_turn = turn
        turn.workers = self.workers
        turn.emit = partial(self._emit_of_gate, turn.emit)
        self.stopping = False
        self.ended.clear()
        self._said = self._chatted = self.asked = 0
        self._asked = {}
        self.reopen()
        self._refused = False
        self._new_reports(turn.thread_id)

    def _emit_of_gate(self, emit: Callable[[ThreadEvent], None], event: ThreadEvent) -> None:
        if isinstance(event, ToolResultEvent):
            self.reports.hear_result(event.tool_call_id)
        emit(event)

    def open_turn(self) -> Turn | None:
        """Return the turn that the agent may act for now: none once it was stopped or its end has begun."""
        return None if self.stopping or self._closing else self.turn

    def reopen(self) -> None:
        """Let the agent act again: another prompt is about to be sent."""
        self._closing = False
        self.credits = CreditBook()

    def stop(self) -> None:
        """A person stops the turn: every open request is answered ``cancelled`` now; the agent stops what runs."""
        self.stopping = True
        self.credits.close()
        self._end_questions()
        self._own(self._started.stop(), "end what stopped calls started")
        for entry in list(self._entries):
            if entry.acting:
                continue
            if isinstance(entry, Request):
                entry.reply(CANCELLED)
            if entry.task is not None:
                entry.task.cancel()

    async def end(self, resolution: Resolution) -> None:
        """The turn is over, or the agent is gone: ends what is open, and the turn with it."""
        await self.close_open(resolution)
        if self.turn is not None:
            cut_short = self.stopping or self._refused or resolution.by == "agentExit"
            for report in self.reports.unended():
                if report.status == "in_progress" or not cut_short:
                    await self._compare(report)
            await self._tripwire.hear_turn_end(cut_short=cut_short)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=FAREWELL_SECONDS)
        if self.turn is not None:
            if self.shell_registry is not None:
                await self._started.list_left(self.shell_registry, self.turn.thread_id)
            self.reports.end()
        self.turn = None
        self.ended.set()

    async def close_open(self, resolution: Resolution) -> None:
        """End every open card and every running call of the agent; takes ``FAREWELL_SECONDS`` or so at most.

        From here on the agent can open nothing, so that what is open can be counted.
        """
        self._closing = True
        self.credits.close()
        self._end_questions()
        entries = list(self._entries)
        running = [shell for shell in self.shells.values() if not shell.background and not shell.ended.is_set()]
        for entry in entries:
            if isinstance(entry, Request):
                entry.reply(CANCELLED)
                entry.end(None)
        await asyncio.gather(*(self._withdraw(entry, resolution) for entry in entries if not entry.acting))
        if self.shell_registry is not None:
            await asyncio.gather(*(self.shell_registry.kill(shell.shell_id) for shell in running))
        if tasks := {entry.task for entry in entries if entry.task is not None}:
            _, late = await asyncio.wait(tasks, timeout=FAREWELL_SECONDS)
            for task in late:
                task.cancel()

    def _end_questions(self) -> None:
        if self.questions is not None:
            self.questions.end(self)

    def notes_due(self) -> list[str]:
        """Return the refusals that the agent has not heard of, as one text. They stay due until ``notes_accepted``."""
        self._notes_sent, self.urgent = len(self._notes), False
        return ["\n".join(self._notes)] if self._notes else []

    def notes_accepted(self) -> None:
        """The agent answered the prompt that brought them, and not with an error."""
        del self._notes[: self._notes_sent]
        self._notes_sent = 0

    def unheard_notes(self) -> list[str]:
        """Return the refusals that no answered prompt has brought, each by itself."""
        return list(self._notes)

    def note_again(self, notes: Sequence[str]) -> None:
        """Bring these with the next prompt: a session of this chat that has ended did not hear of them."""
        self._notes[:0] = notes

    # What the agent tells.

    async def update(self, raw: Json) -> None:
        """Take a ``session/update``. The connection waits for it, so that updates come before what follows them; what
        takes long is done in the agent's workers.

        Raises:
            BadMessage: it is no update.
            TooMuch: the agent has said too much in this turn; it must be ended.
        """
        characters = (size_of_few(raw) or await in_worker(size_of, raw)).characters
        self._said += characters
        if self._said > MOST_SAID:
            self._end_flood(MOST_SAID)
        match read_update(raw):
            case ChatNews(events=events):
                self._chatted += characters
                if self._chatted > MOST_CHAT:
                    self._end_flood(MOST_CHAT)
                for event in events:
                    self.emit(event)
                    await self._pace.said(characters // len(events))
            case ToolNews(call_id=told_id, raw=fields):
                _check_call_id(told_id)
                reports, join = self.reports, self._join
                join.hear(told_id, fields)
                call_id = await self._call_of(reports, told_id, fields)
                report, just_ended = await reports.hear(call_id, fields)
                join.heard()
                if just_ended:
                    self._started.end(call_id)
                    await self._hear_end(report)
                elif report.status == "in_progress":
                    self._tripwire.hear_progress(report)
                    self._started.begin(call_id, reports.shown_id(call_id), runs=False)
            case news:
                self._hear_news(news)
                await self._pace.said(characters)

    def _hear_news(self, news: SettingNews | TitleNews | ContextNews) -> None:
        match news:
            case TitleNews(title=title):
                self._tell_title(self, title)
            case ContextNews():
                if (event := self._spending.hear(news)) is not None:
                    self.emit(event)
            case _:
                self.offered.hear(news)
                self._tell_settings(self)

    def _end_flood(self, most: int) -> NoReturn:
        message = f"{self.agent} said more than {most >> 20} MiB in one turn, so it is ended"
        self.emit(NoticeEvent(level="error", message=message))
        raise TooMuch(message)

    def emit(self, event: ThreadEvent) -> None:
        """Put an event into the chat of the running turn, or of the last one."""
        if self._last_turn is not None:
            self._last_turn.emit(event)

    async def _call_of(self, reports: Reports, told_id: str, fields: Raw) -> str:
        """The id under which this report counts. One that says of a call which has ended that it did more is another
        call, which the agent did not ask about."""
        call_id = reports.current(told_id)
        again = reports.says_more(call_id, fields)
        if again is None or await reports.excused(again):
            return call_id
        asked = self._asked_of(call_id)
        return reports.reopen(told_id) if not asked or await self._exceeds(asked, again) else call_id

    def _asked_of(self, call_id: str) -> list[Request]:
        """The requests for this call that were permitted, or all of them where none was."""
        requests = self._asked.get(call_id, [])
        return [request for request in requests if request.acting] or requests

    async def _exceeds(self, asked: Sequence[Request], told: ToolReport) -> bool:
        """Return true if the agent tells of more than it asked for here. To read in the workspace is no more, if no
        rule holds that back."""
        if any(evidence_of(request.report) == evidence_of(told) for request in asked):
            return False
        requests, ground, turn = tuple(request.asked for request in asked), self.ground(), self._last_turn
        beyond = await in_worker(blocking_exceeding, requests, told, ground)
        if not beyond:
            return False
        call = next((request.drawn for request in asked if request.drawn is not None), None)
        if call is None or turn is None or not await in_worker(blocking_reads_inside, beyond, ground):
            return True
        reads = replace(call, tool="acp:read", kind="read", category="read", effects=tuple(beyond))
        return not await self.gate.still_allowed(reads, turn, "rule")

    async def _compare(self, report: ToolReport) -> None:
        """Compare what a call did, by its last report, with what the agent had asked for."""
        asked = self._asked_of(report.call_id)
        if asked and await self._exceeds(asked, report):
            await self._tripwire.fall(report, "exceeded")

    async def _hear_end(self, report: ToolReport) -> None:
        for request in [entry for entry in self._entries if isinstance(entry, Request)]:
            if request.report.call_id != report.call_id:
                continue
            request.end(report)
            if not request.acting and not self.stopping:
                request.reply(CANCELLED)
                gone = Resolution("interrupted", "change", "the agent went on without waiting for the answer")
                self._own(self._withdraw(request, gone), "withdraw a card that nobody waits for")
                if report.status == "completed":
                    await self._tripwire.fall(report, "early")
        await self._compare(report)
        await self._tripwire.hear_end(report)

    def _new_reports(self, thread_id: str) -> None:
        self.reports = Reports(self.agent, self.emit, self.ground, self.recipe.quiet)
        self._started = Started(self.agent, self._root)
        self.unpermitted = Unpermitted(self.agent, thread_id, self.gate, self._labels, self.reports, self.emit)
        self._tripwire = Tripwire(self.agent, self.reports, self._labels, self.unpermitted.say_call, self._own)
        self._join = HookJoin(self.reports)

    # What the agent asks.

    async def request_permission(self, params: Raw) -> Answer:
        """Put the agent's request to the gate and answer with one of its own options, or ``cancelled``.

        Cancelled (the agent took it back, or is gone): its card ends.

        Raises:
            BadMessage: it is no such request.
        """
        raw = as_object(params.get("toolCall"))
        told_id = read_text(raw, "toolCallId")
        options = read_options(params.get("options"))
        _check_call_id(told_id)
        call_id = self.reports.current(told_id)
        if self.reports.says_more(call_id, raw) is not None:
            call_id = self.reports.reopen(told_id)
        return await self._ask(self.reports.merge(call_id, raw), options)

    async def request_by_hook(self, asked: HookCall) -> str | None:
        """Put a call that the agent's hook asks about to the gate: None where it is allowed, else why it is not.

        Cancelled: as ``request_permission``.
        """
        reports, join = self.reports, self._join
        if self.open_turn() is None:
            log.warning("the hook of %s asked while no turn was running; it was refused", self.agent)
            return NO_TURN
        quiet = asked.tool in self.recipe.quiet
        told_id = await join.find(asked, wait=not quiet)
        call_id = join.expect(asked) if told_id is None else reports.current(told_id)
        raw = asked.raw() if told_id is not None else {"title": asked.tool, **asked.raw()}
        if reports.says_more(call_id, raw) is not None:
            call_id = reports.reopen(call_id)
        try:
            report = reports.merge(call_id, raw)
        except BadMessage as error:
            return str(error)
        if quiet and self.open_turn() is not None and not is_refused(self.recipe, report.names, report.title):
            return None
        why: list[str] = []
        answer = await self._ask(report, HOOK_OPTIONS, why.append)
        return None if answer == answer_allowed(HOOK_OPTIONS) else " ".join(why) or NOT_RUN

    async def _ask(
        self, report: ToolReport, options: tuple[AgentOption, ...], tell: Callable[[str], None] | None = None
    ) -> Answer:
        """``tell`` takes the reason of a refusal to the agent; without it the next prompt does."""
        call_id = report.call_id
        self._tripwire.hear_request(call_id)
        turn = self.open_turn()
        if turn is None:
            log.warning("%s asked for permission while no turn was running; it was refused", self.agent)
            return CANCELLED
        if self.is_full():
            log.warning("%s has %d calls open; it was refused", self.agent, MOST_OPEN)
            return answer_rejected(options)
        if report.too_large:
            self._refuse(report, self.reports.ask(call_id), TOO_LARGE, tell)
            return answer_rejected(options)
        if is_refused(self.recipe, report.names, report.title):
            self._refuse(report, self.reports.ask(call_id), NEVER, tell)
            return answer_rejected(options)
        loop = asyncio.get_running_loop()
        request = Request(
            self.reports.ask(call_id),
            report=report,
            options=options,
            subagent=self.reports.subagent(report),
            answer=loop.create_future(),
            final=loop.create_future(),
            tell=tell,
        )
        self._asked.setdefault(call_id, []).append(request)
        prepare = prepare_request(request, turn, self.agent, self.ground, self._act)
        task = self.submit(request, prepare, allow_offered=can_allow(options))
        task.add_done_callback(lambda done: self._settled(request, done))
        try:
            return await asyncio.shield(request.answer)
        except asyncio.CancelledError:
            request.reply(CANCELLED)
            gone = Resolution("cancelled", "cancel", "the agent took its request back")
            self._own(self._withdraw(request, gone), "withdraw a card that the agent took back")
            raise

    def submit(self, entry: Entry, prepare: Prepare, *, allow_offered: bool = True) -> asyncio.Task[Settled]:
        """Send a call to the gate as a task of this session; only while ``open_turn`` gives a turn."""
        turn = self.open_turn()
        assert turn is not None
        entry.task = asyncio.create_task(
            self.gate.submit(prepare, turn, allow_offered=allow_offered),
            name=f"{self.agent} asks for {entry.tool_call_id}",
        )
        self._entries.add(entry)
        entry.task.add_done_callback(lambda _: self._forget(entry))
        return entry.task

    def _forget(self, entry: Entry) -> None:
        """The call has ended. Its task goes too: with its error it would be a cycle that keeps the files it read."""
        self._entries.discard(entry)
        entry.task = None

    async def hold_text(self, request: asyncio.Task[Any] | None) -> None:
        """Wait until few enough long texts wait for the agent to read them; this one does until its request ends."""
        await self._held_texts.acquire()
        if request is None or request.done():
            self._held_texts.release()
        else:
            request.add_done_callback(lambda _: self._held_texts.release())

    def is_full(self) -> bool:
        """Whether so many calls are open that another one is refused."""
        return len(self._entries) >= MOST_OPEN

    async def honors(self, approved: Approved, effects: Sequence[Effect]) -> bool:
        """Decide again, under the policy of this moment, whether this approval still covers what the agent does now.

        ``effects`` are of the call that uses the approval; they count beside those that were approved.
        """
        credits, turn = self.credits, self.open_turn()
        if turn is None:
            return False
        call = replace(approved.call, effects=tuple(dict.fromkeys((*approved.call.effects, *effects))))
        return await self.gate.still_allowed(call, turn, approved.by) and not credits.closed

    def ground(self) -> AgentContext:
        """Where the agent stands now."""
        policy = self.policy()
        return AgentContext(
            self.folder,
            policy.home,
            shell_moved=self._shell_moved,
            runs_bash=self._runs_bash,
            workspace=policy.workspace,
            plan_tools=self.recipe.plan_tools,
        )

    async def _act(self, permit: Permit, request: Request) -> Outcome:
        """Tell the agent yes and wait for what becomes of it, so that the receipt says how it ended."""
        call = permit.use()
        request.acting = True
        moved = not self.recipe.fresh_shell and await in_worker(_moves_shell, call)
        if request.answer.done() or self.open_turn() is None:
            return Outcome(False, "the agent had taken its request back before the answer came")
        self._shell_moved = self._shell_moved or moved
        request.approved = self.credits.open(call, permit.by, ended=request.report.ended)
        runs = any(isinstance(effect, RunCommand) for effect in call.effects)
        self._started.begin(request.report.call_id, request.tool_call_id, runs=runs)
        request.reply(answer_allowed(request.options))
        if request.report.ended:
            request.end(request.report)
        report = await request.final
        return await outcome_of(call, report, request.approved.done)

    def _settled(self, request: Request, task: asyncio.Task[Settled]) -> None:
        if task.cancelled():
            request.reply(CANCELLED)
        elif isinstance(error := task.exception(), BadArguments):
            self.urgent = self.urgent or isinstance(error, PlanAsksForPermissions)
            self._refuse(request.report, request.tool_call_id, str(error), request.tell)
            request.reply(answer_rejected(request.options))
        elif error is not None:
            # INVARIANT (strictest): an error of ours denies.
            log.error("a request of %s failed in the gate", self.agent, exc_info=error)
            request.reply(answer_rejected(request.options))
            why = "the gate failed, so it denied this"
            self._own(self.reports.show_refused(request.report, request.tool_call_id, why), "show a refusal")
        elif isinstance(settled := task.result(), Refused):
            self._refused = True
            if settled.seen is not None and request.drawn is not None:
                self.say_late(request.drawn)
            gone = settled.by in ("cancel", "agentExit", "restart")
            if request.tell is not None:
                request.tell(_said_at_once(settled))
            request.reply(CANCELLED if gone else answer_rejected(request.options))
            if not gone and request.tell is None:
                plans = request.drawn is not None and isinstance(request.drawn.preview, PlanPreview)
                self.note_refusal(title_of(request.report), settled, plans=plans)

    def _refuse(
        self, report: ToolReport, tool_call_id: str, why: str, tell: Callable[[str], None] | None = None
    ) -> None:
        """Show a call that the gate never saw as refused, and tell the agent why, at once or with the next prompt."""
        self._refused = True
        self.reports.refuse(tool_call_id)
        (tell or self._note)(f"`{title_of(report)}` was not run: {why}")
        self._own(self.reports.show_refused(report, tool_call_id, why), "show a refusal")

    def say_late(self, call: ToolCall) -> None:
        """The agent did by itself what was refused."""
        path = call.preview.path if isinstance(call.preview, DiffPreview) else call.title
        self._own(self.unpermitted.say_late(path), "tell of a write that was refused")

    def note_refusal(self, title: str, refused: Refused, *, plans: bool = False) -> None:
        """Keep the reason of a refusal for the next prompt: ACP has no field for it. ``plans``: it was a plan."""
        if refused.by == "user" and refused.kind == "denied":
            if refused.reason != PLAIN_DENIAL:
                self.urgent = True
                did = "wants you to keep planning" if plans else f"denied `{title}`"
                self._note(f"The person {did} and said: {refused.reason}")
        else:
            # The agent was told "rejected", which it takes for the person's word; of a time-out that is not true.
            self.urgent = self.urgent or refused.kind == "expired"
            self._note(f"`{title}` was not run ({refused.kind}): {refused.reason}")

    def _note(self, text: str) -> None:
        if len(self._notes) < MOST_NOTES:
            self._notes.append(text)
        elif len(self._notes) == MOST_NOTES:
            self._notes.append("More of your calls were refused than can be listed here.")

    async def _withdraw(self, entry: Entry, resolution: Resolution) -> None:
        """End the card of this entry; a call that has none yet is taken back before it gets one. A second withdrawal
        changes nothing: an agent that dies is seen to be gone from two sides."""
        for pending in self.gate.asking.table:
            if pending.call.tool_call_id == entry.tool_call_id and pending.shown:
                entry.withdrawn = entry.withdrawn or pending.claimed_by is None
                await self.gate.asking.end_now(pending, resolution)
                return
        if entry.task is not None and not entry.acting and not entry.withdrawn:
            entry.task.cancel()

    def _own(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _said_at_once(refused: Refused) -> str:
    """A refusal in the words of an answer that takes its reason along."""
    if refused.by == "user" and refused.kind == "denied":
        said = "" if refused.reason == PLAIN_DENIAL else f" and said: {refused.reason}"
        return f"The person denied this call{said}"
    return f"This call was not run ({refused.kind}): {refused.reason}"


def _moves_shell(call: ToolCall) -> bool:
    return any(MOVES_SHELL.search(effect.command) for effect in call.effects if isinstance(effect, RunCommand))


def _check_call_id(call_id: str) -> None:
    if len(call_id) > LONGEST_NAME:
        raise BadMessage(f"`toolCallId` is longer than {LONGEST_NAME} characters")
