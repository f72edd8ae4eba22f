"""Whether what the world shows is what the model told: the half of the machine that looks, after each step.

Every message, ledger row and effect of the step must have been told by the model, and nothing that it told may be
missing; in the ledger, what must come after what does.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, invariant

from countersign.wire.approvals import PendingApprovalsParams
from tests.gate.stateful.stateful_values import GAMMA, Chat, Request

from .model import Model
from .world import World

STEPS = 50
"""Of one history."""


@dataclass
class Reached:
    """What the histories came to: how often each action could be taken, and each end and error kind."""

    histories: int = 0
    whole: int = 0
    steps: int = 0
    enabled: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    by: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Watched(RuleBasedStateMachine):
    """The world and the model side by side. ``reached`` is set by whoever plays it."""

    reached = Reached()

    def __init__(self) -> None:
        super().__init__()
        self.world, self.model = World(), Model()
        self.world.no_allow = {GAMMA}
        self.threads: dict[Chat, str] = {}
        self.steps = 0
        self.lives: dict[str, list[tuple]] = {}
        self.told: Counter[tuple] = Counter()

    def teardown(self) -> None:
        self.reached.histories += 1
        self.reached.whole += self.steps >= STEPS
        self.world.close()

    def ask(self, window: str, method: str, **params: Any) -> Any:
        task = self.world.windows[window].call(method, params)
        self.world.settle()
        return task.result() if task.done() else None

    def can(self) -> list[str]:
        """The actions that can be taken now."""
        raise NotImplementedError

    @invariant()
    def is_as_told(self) -> None:
        if not self.threads:
            return
        self.reached.steps += 1
        self.steps += 1
        self.reached.enabled.update(self.can())
        for name in self.world.windows:
            self.look(name)
        for number, tool_call, given, phase, verdict, by, approval, outcome in self.world.new_rows():
            told = json.loads(outcome) if outcome else {}
            command = json.loads(given)["command"]
            self.told[
                "row", command, phase, verdict, by, approval is not None, told.get("state", told.get("ended"))
            ] += 1
            self.follow(number, tool_call, phase, verdict)
        for command in self.world.ran:
            self.told["ran", command] += 1
        self.world.ran.clear()
        wanted = Counter(self.model.seen)
        missing, unexpected = wanted - self.told, self.told - wanted
        assert wanted == self.told, f"missing: {[*missing]}, unexpected: {[*unexpected]}"
        self.model.seen.clear()
        self.told.clear()
        for name in self.world.windows:
            pending = self.world.windows[name].wire.handlers["tool/pendingApprovals"]
            listed = self.world.run(pending(PendingApprovalsParams()))
            ids = Counter(one.approval_id for one in listed.approvals)
            assert ids == Counter(one.approval_id for one in self.live if one.chat.window == name), f"listed: {ids}"

    def look(self, name: str) -> None:
        """Match what the window was sent with what the model knows."""
        for method, params in self.world.news(name):
            if method == "tool/approvalRequest":
                self.told["card", self.known(params, name)] += 1
            elif method == "tool/approvalResolved":
                request = next(one for one in self.model.requests if one.approval_id == params.approval_id)
                self.told["end", request, params.state, params.by] += 1
                self.reached.ends[params.state] += 1
                self.reached.by[params.by] += 1

    def known(self, card: Any, window: str) -> Request | Any:
        command = card.tool_call.raw_input["command"]
        offered = {option.option_id for option in card.options if not option.option_id.endswith("_2")}
        for one in self.model.requests:
            if one.approval_id == card.approval_id and offered - {"reject_always"} == one.offered - {"reject_always"}:
                one.offered = frozenset(offered)
                return one
        for one in self.model.requests:
            waits = one.approval_id is None and (self.threads[one.chat], one.command) == (card.thread_id, command)
            if waits and offered - {"reject_always"} == one.offered - {"reject_always"}:
                one.approval_id, one.offered = card.approval_id, frozenset(offered)
                one.digest = card.digest
                return one
        return f"a card for {command} with {[option.option_id for option in card.options]}"

    def follow(self, number: int, call: str, phase: str, verdict: str | None) -> None:
        """What must come after what in one call: nothing starts undecided, and nothing runs twice."""
        life = self.lives.setdefault(call, [])
        if phase == "started":
            assert life[-1:] == [("decided", "allow")], f"row {number}: started after {life}"
        if phase == "finished":
            assert [phase for phase, _ in life[-1:]] == ["started"], f"row {number}: finished after {life}"
        life.append((phase, verdict))
