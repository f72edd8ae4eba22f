"""A desk for tests: a real gate with the real judge, a ledger on disk, and a person who answers as told.

`Person` notes every card; `answers` maps what a card is about to an option, `None` closes it, absent leaves it open.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from countersign.agents.acp.host import AcpAgent
from countersign.agents.acp.tracked_files import PLACEHOLDERS
from countersign.agents.probe import model_server
from countersign.gate.decisions.decide import decide
from countersign.gate.gate import Gate
from countersign.gate.ledger.writer import Ledger
from countersign.gate.turn import Turn
from countersign.settings.policy import AgentConfig, Policy
from countersign.tools.shell.environment import filtered_environment
from countersign.tools.shell.processes import ShellRegistry
from countersign.wire.approvals import ApprovalRequest, ApprovalResolved, ApprovalResponseParams
from countersign.wire.history import HistoryEntry, HistoryFilter
from countersign.wire.threads import ThreadEvent
from tests.patience import PATIENCE

BOUND = PATIENCE


@dataclass
class Person:
    """Stands for the editor and whoever sits before it."""

    shown: list[ApprovalRequest] = field(default_factory=list)
    ended: list[ApprovalResolved] = field(default_factory=list)
    decide: Callable[[ApprovalRequest], dict | None] = lambda card: None
    answering: set[asyncio.Task] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    gate: Gate | None = None

    def present(self) -> bool:
        return True

    def show(self, request: ApprovalRequest, said: str | None = None) -> None:
        self.shown.append(request)
        self.changed.set()
        given = self.decide(request)
        if given is not None:
            task = asyncio.ensure_future(self.answer(request, **given))
            self.answering.add(task)

    def resolved(self, notice: ApprovalResolved) -> None:
        self.ended.append(notice)
        self.changed.set()

    def warn(self, message: str) -> None:
        raise AssertionError(message)

    async def answer(self, card: ApprovalRequest, option: str | None = "allow_once", **more) -> str:
        assert self.gate is not None
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        params = {"approvalId": card.approval_id, "digest": card.digest, "response": {"outcome": outcome},
                  "bypassAll": False, **more}  # fmt: skip
        return await self.gate.answering.answer(ApprovalResponseParams.model_validate(params))

    def forget(self) -> None:
        """Forget the cards so far, and their ends."""
        self.shown.clear()
        self.ended.clear()

    async def card(self, number: int = 1) -> ApprovalRequest:
        await self.until(lambda: len(self.shown) >= number)
        return self.shown[number - 1]

    async def until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND):
            while not enough():
                self.changed.clear()
                await self.changed.wait()

    def states(self) -> list[tuple[str, str]]:
        return [(notice.state, notice.by) for notice in self.ended]


@dataclass
class Keeper:
    """Keeps nothing; says what it was told to keep."""

    kept: list[tuple[str, ...]] = field(default_factory=list)

    async def save_rule(self, rule_list: str, rule: str, scope: str, agent: str) -> None:
        self.kept.append((rule_list, rule, scope, agent))

    async def set_bypass(self, agent: str) -> None:
        self.kept.append(("bypass", agent))


@dataclass
class Place:
    """One workspace with everything around it: person, gate, shells, and the events of its chats."""

    folder: Path
    policy: Policy
    person: Person
    gate: Gate
    ledger: Ledger
    shells: ShellRegistry
    events: list[ThreadEvent] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    agents: list[AcpAgent] = field(default_factory=list)
    turns: int = 0

    @property
    def workspace(self) -> Path:
        return Path(self.policy.workspace)

    def agent(self, config: AgentConfig, **options) -> AcpAgent:
        self.change(agents={config.name: config})
        agent = AcpAgent(
            config,
            gate=self.gate,
            policy=lambda: self.policy,
            environment=lambda: filtered_environment(os.environ, self.policy, self.policy.workspace),
            gate_folder=self.folder / "gate" / config.name,
            **{"shell_registry": self.shells, **options},
        )
        self.agents.append(agent)
        return agent

    def change(self, **changes) -> None:
        self.policy = replace(self.policy, **changes)

    def turn(self, agent: str, mode: str = "default", thread: str = "thread") -> Turn:
        self.turns += 1
        return Turn(thread, f"turn-{self.turns}", agent, [mode], self.emit, resumable=False, editable=False)  # type: ignore[list-item]

    def emit(self, event: ThreadEvent) -> None:
        self.events.append(event)
        self.heard.set()

    async def until(self, enough: Callable[[], bool], seconds: float = BOUND) -> None:
        """Wait until the chat's events say so."""
        async with asyncio.timeout(seconds):
            while not enough():
                self.heard.clear()
                await self.heard.wait()

    def texts(self) -> str:
        return "".join(event.text for event in self.events if event.type == "text")

    def of(self, kind: str) -> list:
        return [event for event in self.events if event.type == kind]

    def rows(self) -> list[HistoryEntry]:
        """The ledger, oldest first."""
        return list(reversed(self.ledger.query(HistoryFilter(), workspace=None)))

    def digest(self) -> str:
        """SHA-256 over every name, kind and byte in the workspace, without what an agent's own sandbox puts there."""
        summed = hashlib.sha256()
        for path in sorted(self.workspace.rglob("*")):
            if path.parent == self.workspace and path.name in PLACEHOLDERS and _is_empty(path):
                continue
            kind = "l" if path.is_symlink() else "d" if path.is_dir() else "f"
            content = os.readlink(path).encode() if kind == "l" else path.read_bytes() if kind == "f" else b""
            summed.update(f"{kind} {path.relative_to(self.workspace)} {len(content)}\n".encode() + content)
        return summed.hexdigest()

    async def close(self) -> None:
        for agent in self.agents:
            await agent.close()
        await self.shells.close()
        await self.gate.asking.close()
        self.ledger.close()


async def until_gone(pid: int) -> None:
    """Wait for the end of a process that is not our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        async with asyncio.timeout(BOUND):
            await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def make_place(folder: Path) -> Place:
    workspace = (folder / "ws").resolve()
    workspace.mkdir(parents=True)
    (folder / "home").mkdir()
    policy = Policy(str(workspace), str((folder / "home").resolve()), trusted=True)
    person, ledger = Person(), Ledger(folder / "ledger.db")
    place: Place = None  # type: ignore[assignment]
    gate = Gate(
        decide=decide,
        policy=lambda: place.policy,
        ledger=ledger,
        asker=person,
        keeper=Keeper(),
        owner="test",
    )
    person.gate = gate
    shells = ShellRegistry(lambda: place.policy)
    place = Place(folder, policy, person, gate, ledger, shells)
    return place


def _is_empty(path: Path) -> bool:
    try:
        return not any(path.iterdir()) if path.is_dir() else not path.lstat().st_size
    except FileNotFoundError:
        return True


def last_chat_request(log: Path) -> dict[str, Any]:
    """The last request of a chat in the scripted model's log; a request for a title, for example, offers no tools."""
    return [row for row in model_server.requests_in(log) if row["tools"]][-1]


"""Seconds that any wait of a test may take."""
