"""One workspace in memory, prompt to receipt: real rules, tools and chats, and an editor that answers by a script."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from lsprotocol.types import ShowMessageParams

from countersign.agents.models.http_answer import environment_access
from countersign.agents.transcript import Transcripts
from countersign.gate.decisions.decide import decide
from countersign.gate.gate import Gate
from countersign.gate.ledger.writer import Ledger
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.lsp.builtin_agent import BuiltinAgent
from countersign.lsp.editor import Editor
from countersign.lsp.event_feed import Feed
from countersign.lsp.runner import Runner
from countersign.lsp.sessions import Sessions
from countersign.settings.policy import AgentConfig, ModelConfig, Policy, RuleText
from countersign.tools.registry import BY_NAME
from countersign.tools.shell.processes import SHELLS_SERVICE, ShellRegistry
from countersign.wire.approvals import ApprovalRequest, ApprovalResponseParams
from countersign.wire.base import WireModel
from countersign.wire.history import HistoryFilter
from countersign.wire.threads import ThreadCreateParams, ThreadPromptParams
from countersign.wire.verdicts import Mode
from tests.gate.support import Book

Answer = dict[str, object]
Person = Callable[[ApprovalRequest], Answer | None]
"""Says how a card is answered: fields of ``tool/approvalResponse`` with ``option`` for the option's id."""


@dataclass
class Line:
    """The editor's end: notes what it is sent, and answers cards as the person says."""

    person: Person
    answer: Callable[[ApprovalResponseParams], object] | None = None
    sent: list[tuple[str, WireModel]] = field(default_factory=list)
    tasks: list[asyncio.Task] = field(default_factory=list)
    connected: bool = True

    def window_show_message(self, params: ShowMessageParams) -> None:
        raise AssertionError(params.message)

    def notify(self, name: str, params: WireModel, said: str | None = None) -> None:
        self.sent.append((name, params))
        if isinstance(params, ApprovalRequest):
            self.tasks.append(asyncio.ensure_future(self._respond(params)))

    async def _respond(self, card: ApprovalRequest) -> None:
        said = self.person(card)
        if said is None:
            return
        option = said.pop("option", "allow_once")
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        params = {
            "approvalId": card.approval_id,
            "digest": card.digest,
            "response": {"outcome": outcome},
            "bypassAll": False,
        }
        assert self.answer is not None
        await self.answer(ApprovalResponseParams.model_validate({**params, **said}))  # type: ignore[misc]


@dataclass
class Flow:
    """What a test drives."""

    workspace: Path
    line: Line
    gate: Gate
    sessions: Sessions
    ledger: Ledger
    shells: ShellRegistry
    transcripts: Transcripts
    policy: Policy

    async def say(self, text: str, mode: Mode = "default") -> str:
        """One prompt in a new chat, to its end; gives the transcript as plain text."""
        thread = self.sessions.create(ThreadCreateParams(mode=mode)).thread_id
        await self.sessions.prompt(ThreadPromptParams(thread_id=thread, text=text))
        await asyncio.gather(*self.line.tasks)
        return self.transcript(thread)

    def transcript(self, thread: str) -> str:
        """Return what the chat showed, the cards, and the ledger's rows, without ids and times.

        Rows stand in the order in which they were written, call by call: calls of one message run side by side.
        """
        self.feed.flush(thread)
        events = self.transcripts.events(thread)
        position = _positions(events)
        lines = [_event_line(event) for event in _in_order(events)]
        oldest_first = [*reversed(self.ledger.query(HistoryFilter(), workspace=None))]
        cards = [
            f"card: {card.reason} [{' '.join(option.option_id for option in card.options)}]"
            for card in sorted(
                (card for _, card in self.line.sent if isinstance(card, ApprovalRequest)),
                key=lambda card: position[card.tool_call.tool_call_id],
            )
        ]
        rows = [
            f"ledger: {entry.phase} {entry.verdict} by {entry.by}: {entry.tool}"
            for entry in sorted(
                oldest_first,
                key=lambda entry: position[entry.tool_call_id],
            )
        ]
        told = "\n".join([*filter(None, lines), *cards, *rows, *self._files()])
        return re.sub(re.escape(str(self.workspace)), "WORK", told) + "\n"

    def _files(self) -> list[str]:
        return [
            f"file: {path.relative_to(self.workspace)}: {path.read_text()!r}"
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        ]


def _positions(events) -> dict[str, tuple[int, str]]:
    """Return where each call stands: the message that it came in, then its tool, since calls of a message overlap."""
    message, positions = 0, {}
    for event in events:
        if event.type == "text":
            message += 1
        elif event.type == "toolCall":
            positions[event.tool_call_id] = (message, event.tool)
    return positions


def _in_order(events):
    """Return the events without calls; results that follow each other in the order of their calls."""
    position = _positions(events)
    ordered = []
    for event in events:
        if event.type in ("toolCall", "usage"):
            continue
        ordered.append(event)
        start = len(ordered)
        while start and ordered[start - 1].type == "toolResult":
            start -= 1
        ordered[start:] = sorted(ordered[start:], key=lambda result: position[result.tool_call_id])
    return ordered


def _event_line(event) -> str | None:
    match event.type:
        case "prompt":
            return f"> {event.text}"
        case "text":
            return event.text
        case "toolResult":
            return f"{event.tool}: {'done' if event.success else 'not done'} by {event.decided_by}: {event.output}"
        case "done":
            return f"({event.stop_reason})"
        case _:
            return None


def make_flow(workspace: Path, person: Person, rules: Sequence[RuleText] = ()) -> Flow:
    """A workspace with these rules and this person."""
    line = Line(person)
    ledger, transcripts = Ledger(None), Transcripts(None)
    policy = Policy(
        str(workspace),
        str(workspace.parent / "home"),
        trusted=True,
        rules=tuple(rules),
        agents={"Countersign": AgentConfig("Countersign")},
        models={"demo": ModelConfig("demo", "demo")},
    )
    flow = Flow(workspace, line, None, None, ledger, None, transcripts, policy)  # type: ignore[arg-type]
    editor = Editor(line)
    flow.gate = Gate(
        decide=partial(decide, check_syntax=BashSyntax()),
        policy=lambda: flow.policy,
        ledger=ledger,
        asker=editor,
        keeper=Book(),
        owner="me",
    )
    line.answer = flow.gate.answering.answer
    feed = Feed(transcripts, lambda _update: None, lambda _thread: 0)
    editor.feed = flow.feed = feed
    flow.shells = ShellRegistry(lambda: flow.policy)
    builtin = BuiltinAgent(
        gate=flow.gate,
        policy=lambda: flow.policy,
        transcripts=transcripts,
        tools=lambda: BY_NAME,
        services={SHELLS_SERVICE: flow.shells},
        access=environment_access({}),
    )
    runner = Runner(
        policy=lambda: flow.policy,
        transcripts=transcripts,
        builtin=lambda: builtin,
        host_for=lambda config: None,  # type: ignore[arg-type,return-value]
        tell=lambda view: None,
        tell_offered=lambda thread_id: None,
    )
    flow.sessions = Sessions(
        transcripts=transcripts, feed=feed, gate=flow.gate, policy=lambda: flow.policy, runner=runner, owner="me"
    )
    return flow


async def close_flow(flow: Flow) -> None:
    await flow.sessions.close()
    await flow.shells.close()
    await flow.gate.asking.close()
    flow.ledger.close()
    flow.transcripts.close()


def bypassed(policy: Policy) -> Policy:
    """The same with bypass on for the built-in agent."""
    return replace(policy, agents={"Countersign": AgentConfig("Countersign", bypass=True)})
