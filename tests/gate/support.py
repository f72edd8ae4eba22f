"""Few fakes for the gate's tests: a person who answers, a tool that only counts, and a scripted judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from countersign.gate.call import FileState, RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.gate import Gate
from countersign.gate.ledger.writer import Ledger
from countersign.gate.permit import Permit
from countersign.gate.plan import Plan
from countersign.gate.receipt import Outcome
from countersign.gate.turn import Turn
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.approvals import (
    ApprovalRequest,
    ApprovalResolved,
    ApprovalResponseParams,
    CommandPreview,
)
from countersign.wire.errors import InvalidAnswer
from countersign.wire.history import HistoryFilter
from countersign.wire.threads import ThreadEvent
from countersign.wire.verdicts import Evidence, Mode, Verdict
from tests.patience import PATIENCE

BOUND = PATIENCE
"""Seconds that any wait of a test may take."""


@dataclass
class Desk:
    """An Asker that notes what it is shown, and wakes whoever waits for it."""

    there: bool = True
    shown: list[ApprovalRequest] = field(default_factory=list)
    ended: list[ApprovalResolved] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def present(self) -> bool:
        return self.there

    def show(self, request: ApprovalRequest, said: str | None = None) -> None:
        self.shown.append(request)
        self.news.set()

    def resolved(self, notice: ApprovalResolved) -> None:
        self.ended.append(notice)
        self.news.set()

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    async def until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND):
            while not enough():
                self.news.clear()
                await self.news.wait()

    async def card(self, number: int = 1) -> ApprovalRequest:
        await self.until(lambda: len(self.shown) >= number)
        return self.shown[number - 1]


@dataclass
class Book:
    """A Keeper that notes what it is told to keep, or refuses."""

    fails: bool = False
    rules: list[tuple[str, str, str]] = field(default_factory=list)
    bypassed: list[str] = field(default_factory=list)

    async def save_rule(self, rule_list: str, rule: str, scope: str, agent: str) -> None:
        if self.fails:
            raise InvalidAnswer("the settings file cannot be written")
        self.rules.append((rule_list, rule, scope))

    async def set_bypass(self, agent: str) -> None:
        if self.fails:
            raise InvalidAnswer("the settings file cannot be written")
        self.bypassed.append(agent)

    async def set_session_bypass(self, agent: str) -> None:
        if self.fails:
            raise InvalidAnswer("bypass is switched off")
        self.bypassed.append(f"{agent} in this session")


@dataclass
class WorkspaceServer:
    """A gate with everything around it in memory. ``judge`` may be swapped while calls wait."""

    gate: Gate
    desk: Desk
    book: Book
    ledger: Ledger
    policy: Policy
    events: list[ThreadEvent] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    verdict: Verdict = "ask"
    source: str = "default"
    bound: tuple[FileState, ...] = ()

    def judge(self, call: ToolCall, policy: Policy, modes: Sequence[Mode], grants: Sequence[RuleText]) -> Decision:
        command = str(call.arguments["command"])
        if any(rule.list == "deny" and rule.text == f"Bash({command})" for rule in policy.rules):
            return decision("deny", "rule", command)
        if any(grant.text == f"Bash({command})" for grant in grants):
            return decision("allow", "grant", command)
        if any(rule.list == "allow" and rule.text == f"Bash({command})" for rule in policy.rules):
            return decision("allow", "rule", command)
        if "plan" in modes:
            return decision("deny", "mode", command)
        if command == "forbidden":
            return decision("deny", "rule", command)
        if command == "floored":
            return decision("ask", "floor", command)
        return decision(self.verdict, "floor" if self.source == "floor" else "mode", command, self.source)

    def turn(self, *modes: Mode, **changes) -> Turn:
        return Turn("thread", "turn", "Countersign", list(modes or ("default",)), self.events.append, **changes)

    def submit(self, command: str = "touch made", *, turn: Turn | None = None, run=None, **options):
        return asyncio.ensure_future(self.gate.submit(self.preparing(command, run), turn or self.turn(), **options))

    def preparing(self, command: str, run=None):
        async def note(permit: Permit) -> Outcome:
            self.runs.append(str(permit.use().arguments["command"]))
            return Outcome(True, "ran")

        def prepare(arguments: Mapping | None) -> Plan:
            given = dict(arguments) if arguments is not None else {"command": command}
            text = str(given["command"])
            call = ToolCall(
                tool_call_id=f"call-{command}",
                thread_id="thread",
                turn_id="turn",
                agent="Countersign",
                tool="shell",
                arguments=given,
                kind="execute",
                category="execute",
                effects=(RunCommand(text, "/projects"),),
                preview=CommandPreview(command=text, cwd="/projects", parts=[]),
                cwd="/projects",
                title=text,
                bound=self.bound,
            )
            return Plan(call, run or note)

        return prepare

    async def answer(self, card: ApprovalRequest, option: str | None = "allow_once", **more):
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        params = {
            "approvalId": card.approval_id,
            "digest": card.digest,
            "response": {"outcome": outcome},
            "bypassAll": False,
            **more,
        }
        return await self.gate.answering.answer(ApprovalResponseParams.model_validate(params))

    def rows(self) -> list[tuple[str, str | None, str | None]]:
        """The ledger, oldest first: phase, verdict and by."""
        entries = reversed(self.ledger.query(HistoryFilter(), workspace=None))
        return [(entry.phase, entry.verdict, entry.by) for entry in entries]

    def states(self) -> list[tuple[str, str]]:
        return [(notice.state, notice.by) for notice in self.desk.ended]


def decision(verdict: Verdict, by: str, command: str, source: str | None = None) -> Decision:
    evidence = Evidence.model_validate({"source": source or by, "reason": f"the judge says {verdict}"})
    return Decision(
        verdict,
        by,  # type: ignore[arg-type]
        (evidence,),
        (),
        evidence.reason,
        grantable=by != "floor",
        exact_rule=f"Bash({command})",
        proposals=(f"Bash({command})",),
    )


def make_house(path: Path | None = None, **policy) -> WorkspaceServer:
    desk, book = Desk(), Book()
    ledger = Ledger(path)
    house = WorkspaceServer(None, desk, book, ledger, None)  # type: ignore[arg-type]
    house.policy = replace(
        Policy("/projects", "/home/me", trusted=True, agents={"Countersign": AgentConfig("Countersign")}), **policy
    )
    house.gate = Gate(
        decide=lambda *given: house.judge(*given),  # noqa: PLW0108 tests swap `judge`
        policy=lambda: house.policy,
        ledger=ledger,
        asker=desk,
        keeper=book,
        owner="me",
    )
    return house
