"""The life of an approval, played out at random: what may happen, in the world and in the model alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from countersign.wire.approvals import ApprovalBatchResult, ApprovalResponseResult
from countersign.wire.errors import CountersignError, UnknownRule
from countersign.wire.rules import GrantListResult
from tests.gate.stateful.stateful_values import (
    ALPHA,
    BETA,
    BUILTIN,
    FLOOR,
    GAMMA,
    GRANTS,
    GUEST,
    SAVED,
    SCRIPT,
    Chat,
    Request,
)

from .watched import Watched
from .world import NAMES

COMMANDS = (ALPHA, BETA, GAMMA, SCRIPT, FLOOR)
RULED = (ALPHA, BETA, SCRIPT)
MODES = ("plan", "ask", "default", "default", "auto", "auto", "dontAsk")
OPTIONS = ("allow_once", "allow_once", *GRANTS, *SAVED, "allow_background", "reject_once", "reject_always")
OTHER = {"left": "right", "right": "left"}


ENABLED: dict[str, Callable[[Approvals], bool]] = {
    "request": lambda it: any(not chat.open and it.model.up[chat.window] for chat in it.model.chats),
    "approve": lambda it: bool(it.live),
    "approve and keep": lambda it: any(not one.offered.isdisjoint({*GRANTS, *SAVED}) for one in it.live),
    "edit": lambda it: bool(it.live),
    "deny": lambda it: bool(it.live),
    "close": lambda it: bool(it.live),
    "stop": lambda it: bool(it.live),
    "time-out": lambda it: bool(it.live),
    "disconnect": lambda it: any(it.model.up.values()),
    "crash": lambda it: any(it.model.up.values()),
    "reload": lambda it: any(it.model.up.values()),
    "start": lambda it: not all(it.model.up.values()),
    "agent death": lambda it: any(one.chat.agent == GUEST for one in it.live),
    "rule change": lambda it: True,
    "mode change": lambda it: any(it.model.up[chat.window] for chat in it.model.chats),
    "bypass change": lambda it: True,
    "trust change": lambda it: True,
    "file change": lambda it: any(one.command == SCRIPT for one in it.live),
    "revoke": lambda it: any(it.model.up.values()),
    "duplicate answer": lambda it: bool(it.live),
    "forged id": lambda it: any(it.model.up.values()),
    "late answer": lambda it: any(it.model.up.values()) and any(one.state for one in it.model.requests),
    "other window's": lambda it: all(it.model.up.values()) and bool(it.live),
    "stale digest": lambda it: bool(it.live),
    "not offered option": lambda it: bool(it.live),
    "wrong answer": lambda it: bool(it.live),
    "batch": lambda it: bool(it.live),
    "tighten meanwhile": lambda it: bool(it.rulable),
}


def action(name: str) -> Callable[[Callable[..., None]], Any]:
    """A step of this name, taken only where it can be."""

    def wrap(step: Callable[..., None]) -> Any:
        return rule(data=st.data())(precondition(lambda self: self.may(name))(step))

    return wrap


class Approvals(Watched):
    """One history. ``only`` leaves out all other actions."""

    only: frozenset[str] | None = None

    def may(self, name: str) -> bool:
        """Whether this action can be taken now."""
        return (self.only is None or name in self.only) and ENABLED[name](self)

    def can(self) -> list[str]:
        return [name for name in ENABLED if ENABLED[name](self)]

    # What there is.

    @property
    def live(self) -> list[Request]:
        """Open requests whose server is there."""
        return self.model.live()

    @property
    def rulable(self) -> list[Request]:
        return [one for one in self.live if one.command in RULED and one.command not in self.model.rules["ask"]
                and one.is_true(self.model.script) and "allow_once" in one.offered]  # fmt: skip

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            self.world.start(name)
            self.model.start(name)
            for agent in (BUILTIN, GUEST):
                chat = Chat(agent, name)
                self.model.chats.append(chat)
                self.threads[chat] = self.ask(name, "thread/create", agentName=agent).thread_id

    def answer_params(self, request: Request, option: str | None, digest: str | None = "right", **more: Any) -> dict:
        outcome = {"outcome": "selected", "optionId": option} if option is not None else {"outcome": "cancelled"}
        digest = request.digest if digest == "right" else "f" * 64 if digest == "wrong" else None
        return {"approvalId": request.approval_id, "digest": digest, "response": {"outcome": outcome},
                "bypassAll": False, **more}  # fmt: skip

    def answer(self, request: Request, option: str | None, *, window: str | None = None, digest: str | None = "right",
               bypass: bool = False, edited: str | None = None, refuses: bool = False) -> None:  # fmt: skip
        window = window or request.chat.window
        params = self.answer_params(request, option, digest, bypassAll=bypass)
        if edited is not None:
            params["editedInput"] = json.dumps({"command": edited})
        self.world.refuses_writing = refuses
        got = self.ask(window, "tool/approvalResponse", **params)
        self.world.refuses_writing = False
        self.same(got, self.model.answer(window, request, option, digest=digest, bypass=bypass, edited=edited,
                                         refuses=refuses))  # fmt: skip

    def same(self, got: Any, wanted: str) -> None:
        told = got.kind if isinstance(got, CountersignError) else got.state
        if isinstance(got, CountersignError):
            self.reached.errors[told] += 1
        assert told == wanted, f"the answer was told {told} ({got!r}), not {wanted}"

    # What may happen.

    def _request(self, data: st.DataObject) -> None:
        free = [chat for chat in self.model.chats if not chat.open and self.model.up[chat.window]]
        chat = data.draw(st.sampled_from(free))
        commands = data.draw(st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3))
        commands += commands[:1] if data.draw(st.booleans()) else []  # a twin, for what a person decides of both
        chat.modes = [chat.mode]
        for command in commands:
            self.model.call(chat, command)
        self.ask(chat.window, "thread/prompt", threadId=self.threads[chat], text=json.dumps(commands))

    # Told several times, because nearly everything else needs an open request.
    request, another, one_more, and_one, yet_one = map(action("request"), [_request] * 5)

    @action("approve")
    def approve(self, data: st.DataObject) -> None:
        option = data.draw(st.sampled_from(OPTIONS))
        # With a rule or grant beside it, bypass would give a twin two reasons, of which either may come first.
        self.answer(data.draw(st.sampled_from(self.live)), option,
                    digest=data.draw(st.sampled_from(("right", "right", None))),
                    bypass=data.draw(st.sampled_from((False, False, False, True))) and option not in {*GRANTS, *SAVED},
                    refuses=data.draw(st.sampled_from((False, False, False, True))))  # fmt: skip

    @action("approve and keep")
    def keep(self, data: st.DataObject) -> None:
        keepers = {*GRANTS, *SAVED}
        request = data.draw(st.sampled_from([one for one in self.live if one.offered & keepers]))
        self.answer(request, data.draw(st.sampled_from(sorted(request.offered & keepers))))

    @action("edit")
    def edit(self, data: st.DataObject) -> None:
        self.answer(data.draw(st.sampled_from(self.live)), data.draw(st.sampled_from(("allow_once", *OPTIONS))),
                    edited=data.draw(st.sampled_from(COMMANDS)))  # fmt: skip

    @action("deny")
    def deny(self, data: st.DataObject) -> None:
        self.answer(data.draw(st.sampled_from(self.live)), "reject_once")

    @action("close")
    def shut(self, data: st.DataObject) -> None:
        self.answer(data.draw(st.sampled_from(self.live)), None)

    @action("stop")
    def stop(self, data: st.DataObject) -> None:
        chat = data.draw(st.sampled_from(self.live)).chat
        self.ask(chat.window, "thread/cancel", threadId=self.threads[chat])
        self.end_all(chat, "cancelled", "cancel")

    def end_all(self, chat: Chat, state: str, by: str) -> None:
        for request in self.model.live(chat):
            self.model.end(request, state, by)

    @action("time-out")
    def wait(self, data: st.DataObject) -> None:
        seconds = data.draw(st.sampled_from((20.5, 150.5, 301.5, 901.5)))
        self.world.advance(seconds)
        self.model.pass_time(seconds)

    def leave(self, data: st.DataObject, *, kill: bool) -> str:
        window = data.draw(st.sampled_from([name for name in NAMES if self.model.up[name]]))
        self.world.leave(window, kill=kill)
        self.model.leave(window, kill=kill)
        self.look(window)
        self.world.forget(window)
        return window

    @action("disconnect")
    def disconnect(self, data: st.DataObject) -> None:
        self.leave(data, kill=False)

    @action("crash")
    def crash(self, data: st.DataObject) -> None:
        self.leave(data, kill=True)

    @action("reload")
    def reload(self, data: st.DataObject) -> None:
        self.begin_again(self.leave(data, kill=False))

    def _start(self, data: st.DataObject) -> None:
        down = [name for name in NAMES if not self.model.up[name]]
        self.begin_again(*data.draw(st.sampled_from([(name,) for name in down] + [tuple(down)])))

    start, return_, come_back = map(action("start"), [_start] * 3)

    def begin_again(self, *windows: str) -> None:
        """Start these servers at once; the first takes up what was left, whichever that is."""
        self.world.start(*windows)
        for window in windows:
            self.model.start(window)

    @action("agent death")
    def die(self, data: st.DataObject) -> None:
        window = data.draw(st.sampled_from([one.chat.window for one in self.live if one.chat.agent == GUEST]))
        self.world.windows[window].app.house.runner._hosts[GUEST][1]._link.die()
        self.world.settle()
        for chat in self.model.chats:
            if (chat.window, chat.agent) == (window, GUEST):
                self.end_all(chat, "interrupted", "agentExit")

    @action("rule change")
    def change_rule(self, data: st.DataObject) -> None:
        command, kind = data.draw(st.sampled_from(RULED)), data.draw(st.sampled_from(("allow", "ask", "deny")))
        lists = [self.model.rules[name] for name in ("allow", "ask", "deny")]
        if any(command in known for known in lists):
            for known in lists:
                known.discard(command)
        else:
            self.model.rules[kind].add(command)
        self.settings()

    @action("bypass change")
    def change_bypass(self, data: st.DataObject) -> None:
        agent = data.draw(st.sampled_from((BUILTIN, GUEST)))
        on = data.draw(st.sampled_from((False, False, True)))
        self.model.bypass = self.model.bypass | {agent} if on else self.model.bypass - {agent}
        self.settings()

    @action("trust change")
    def change_trust(self, data: st.DataObject) -> None:
        self.model.trusted = data.draw(st.booleans())
        self.settings()

    def settings(self) -> None:
        """The person edits their own settings; every window is told."""
        world, user = self.world, self.world.layers["user"]
        user["permissions"] = {name: [f"Bash({command})" for command in sorted(self.model.rules[name])]
                               for name in ("allow", "ask", "deny")}  # fmt: skip
        for agent in (BUILTIN, GUEST):
            for layer in ("user", "workspace"):
                named = world.layers[layer].setdefault("agents", {}).setdefault(agent, {})
                if agent not in self.model.bypass:
                    named.pop("bypassPermissions", None)
                elif layer == "user":
                    named["bypassPermissions"] = True
        world.trusted = self.model.trusted
        world.tell_settings()
        world.settle()
        self.model.look()

    @action("mode change")
    def change_mode(self, data: st.DataObject) -> None:
        chat = data.draw(st.sampled_from([chat for chat in self.model.chats if self.model.up[chat.window]]))
        chat.mode = data.draw(st.sampled_from(MODES))
        self.ask(chat.window, "thread/setMode", threadId=self.threads[chat], mode=chat.mode)
        if chat.open and chat.mode not in chat.modes:
            chat.modes.append(chat.mode)
        self.model.look()

    @action("file change")
    def change_file(self, data: st.DataObject) -> None:
        self.model.script += 1
        self.world.write_script(self.model.script)

    @action("revoke")
    def revoke(self, data: st.DataObject) -> None:
        window = data.draw(st.sampled_from([name for name in NAMES if self.model.up[name]]))
        here = [grant for grant in self.model.grants if grant[0].window == window]
        listed = self.ask(window, "grant/list")
        assert isinstance(listed, GrantListResult)
        known = {(one.thread_id, one.rule, one.scope): one.grant_id for one in listed.grants}
        named = [(self.threads[chat], f"Bash({command})", scope) for chat, command, scope, _ in here]
        assert sorted(known) == sorted(set(named)), f"listed: {sorted(known)}"
        if not here:
            assert isinstance(self.ask(window, "grant/revoke", grantId="made-up"), UnknownRule)
            return
        given = data.draw(st.sampled_from(here))
        again = [one for one in here if one[:3] == given[:3]]
        for _ in again:
            grants = self.ask(window, "grant/list").grants
            wanted = (self.threads[given[0]], f"Bash({given[1]})", given[2])
            self.ask(window, "grant/revoke", grantId=next(
                one.grant_id for one in grants if (one.thread_id, one.rule, one.scope) == wanted))  # fmt: skip
        self.model.grants = [one for one in self.model.grants if one not in again]

    @action("duplicate answer")
    def answer_twice(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.live))
        first, second = (data.draw(st.sampled_from(("allow_once", "reject_once"))) for _ in range(2))
        window = self.world.windows[request.chat.window]
        tasks = [
            window.call("tool/approvalResponse", self.answer_params(request, option)) for option in (first, second)
        ]
        self.world.settle()
        for task, option in zip(tasks, (first, second), strict=True):
            self.same(task.result(), self.model.answer(request.chat.window, request, option))

    @action("forged id")
    def forge(self, data: st.DataObject) -> None:
        window = data.draw(st.sampled_from([name for name in NAMES if self.model.up[name]]))
        forged = data.draw(st.sampled_from(("made-up", "", "../ledger.db", "x" * 32)))
        outcome = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        got = self.ask(window, "tool/approvalResponse", approvalId=forged, response=outcome, bypassAll=False)
        self.same(got, self.model.answer(window, None, "allow_once"))

    @action("late answer")
    def answer_late(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from([one for one in self.model.requests if one.state]))
        window = data.draw(st.sampled_from([name for name in NAMES if self.model.up[name]]))
        self.answer(request, data.draw(st.sampled_from(OPTIONS)), window=window)

    @action("other window's")
    def answer_elsewhere(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.live))
        self.answer(request, data.draw(st.sampled_from(OPTIONS)), window=OTHER[request.chat.window])

    @action("stale digest")
    def answer_stale(self, data: st.DataObject) -> None:
        self.answer(data.draw(st.sampled_from(self.live)), data.draw(st.sampled_from(OPTIONS)), digest="wrong")

    @action("not offered option")
    def answer_unoffered(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.live))
        others = sorted({"allow_everything", "", *OPTIONS} - request.offered)
        self.answer(request, data.draw(st.sampled_from(others)))

    @action("wrong answer")
    def answer_wrongly(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.live))
        option = data.draw(st.sampled_from(("reject_once", None, "allow_chat")))
        if not self.model.trusted:
            self.answer(request, "allow_once", bypass=True)
        else:
            edits = option == "allow_chat" or data.draw(st.booleans())
            self.answer(request, option, bypass=not edits, edited=BETA if edits else None)

    @action("batch")
    def batch(self, data: st.DataObject) -> None:
        window = data.draw(st.sampled_from(self.live)).chat.window
        known = [one for one in self.model.requests if one.approval_id]
        chosen = data.draw(st.lists(st.sampled_from([*self.live, *known[-4:], None]), min_size=1, max_size=5))
        decision = data.draw(st.sampled_from(("allow_once", "reject_once")))
        ids = [one.approval_id if one else "made-up" for one in chosen]
        got = self.ask(window, "tool/approvalBatch", approvalIds=ids, decision=decision)
        assert isinstance(got, ApprovalBatchResult), f"the batch ended with {got!r}"
        assert [one.approval_id for one in got.results] == ids
        for request, one in zip(chosen, got.results, strict=True):
            wanted = self.model.answer(window, request, decision, digest=None)
            assert (one.error.kind if one.error else one.state) == wanted, f"in a batch: {one!r}, not {wanted}"

    @action("tighten meanwhile")
    def tighten(self, data: st.DataObject) -> None:
        """A deny rule comes while the approval, or its start, is being written."""
        request = data.draw(st.sampled_from(self.rulable))
        commits = data.draw(st.sampled_from((0, 1)))
        window = self.world.windows[request.chat.window]
        task = window.call("tool/approvalResponse", self.answer_params(request, "allow_once"))
        self.world.rest()
        for _ in range(commits):
            window.commit()
            self.world.rest()
        self.model.end(request, "allowed", "user")
        self.model.rules["deny"].add(request.command)
        row = ("row", request.command)
        if commits:
            self.model.seen += [(*row, "started", "allow", "user", True, None),
                                (*row, "finished", "allow", "user", True, "stale")]  # fmt: skip
        self.model.seen.append((*row, "decided", "deny", "rule", False, None))
        self.settings()
        got = task.result()
        assert isinstance(got, ApprovalResponseResult), f"the answer was told {got!r}"
        assert got.state == "allowed"
