"""What should be seen of the life of an approval: plain Python, at most 150 lines, and nothing of the product.

Told each thing that happens, the model says what comes of it: the answer's state or error kind, and in ``seen`` every
ledger row, card, end and effect. Order within a step is left open; what must follow what is for ``machine`` to see.
"""

from __future__ import annotations

from tests.gate.stateful import stateful_values as values
from tests.gate.stateful.stateful_values import Chat, Request


class Model:
    def __init__(self) -> None:
        self.chats: list[Chat] = []
        self.requests, self.orphans = list[Request](), list[Request]()
        self.rules: dict[str, set[str]] = {"allow": set(), "ask": set(), "deny": set(), "workspace": set()}
        self.grants: list[tuple[Chat, str, str, float]] = []
        self.bypass: set[str] = set()
        self.trusted, self.script, self.moment = True, 0, 0.0
        self.up: dict[str, bool] = {}
        self.seen: list[tuple] = []

    def judge(self, chat: Chat, command: str) -> tuple[str, str]:
        rules, modes = self.rules, set(chat.modes)
        if command in rules["deny"] or "plan" in modes:
            return "deny", "rule" if command in rules["deny"] else "mode"
        asks = "floor" if command == values.FLOOR else "rule" if command in rules["ask"] else ""
        lifts = {
            "rule": command in rules["allow"] or (self.trusted and command in rules["workspace"]),
            "grant": any(grant[:2] == (chat, command) for grant in self.grants),
            "bypass": self.trusted and chat.agent in self.bypass,
            "mode": modes == {"auto"},
        }
        if not asks and any(lifts.values()):
            return "allow", next(by for by, holds in lifts.items() if holds)
        return ("deny", "mode") if "dontAsk" in modes else ("ask", asks or "mode")

    def call(self, chat: Chat, command: str) -> None:
        verdict, by = self.judge(chat, command)
        if (only_deny := (chat.agent, command) == (values.GUEST, values.GAMMA)) and verdict == "allow":
            verdict, by = "ask", "floor"
        self.seen.append(("row", command, "decided", verdict, by, verdict == "ask", None))
        if verdict != "ask":
            return self.run(command, by, asked=False) if verdict == "allow" else None
        offered = values.options(chat, by, trusted=self.trusted, only_deny=only_deny)
        request = Request(chat, command, offered, self.script, self.moment + values.TIMEOUT)
        chat.open.append(request)
        self.requests.append(request)
        self.seen.append(("card", request))

    def run(self, command: str, by: str, *, asked: bool) -> None:
        start = ("row", command, "started", "allow", by, asked, None)
        self.seen += [start, ("ran", command), ("row", command, "finished", "allow", by, asked, "done")]

    def end(self, request: Request, state: str, by: str) -> str:
        request.state, chat = state, request.chat
        chat.open.remove(request)
        if not chat.open:
            self.grants = [grant for grant in self.grants if grant[0] is not chat or grant[2] != "turn"]
        verdict = "allow" if state == "allowed" else "deny"
        self.seen += [("row", request.command, "decided", verdict, by, True, state), ("end", request, state, by)]
        return state

    def again(self, request: Request, edited: str | None = None) -> str:
        self.call(request.chat, edited or request.command)  # first, because the turn goes on
        self.end(request, "interrupted", "change")
        return "interrupted" if edited else "stale"

    def look(self, *chats: Chat) -> None:
        for request in self.live(*chats):
            verdict, by = self.judge(request.chat, request.command)
            if verdict == "deny":
                self.end(request, "denied", by)
            elif verdict == "allow" and by != "mode" and "allow_once" in request.offered:
                if request.is_true(self.script):
                    self.end(request, "allowed", by)
                    self.run(request.command, by, asked=True)
                else:
                    self.again(request)

    def live(self, *chats: Chat) -> list[Request]:
        return [one for chat in chats or self.chats if self.up[chat.window] for one in chat.open]

    def answer(self, window: str, request: Request | None, option: str | None, digest: str | None = "right",
               bypass: bool = False, edited: str | None = None, refuses: bool = False) -> str:  # fmt: skip
        if request is None or request.state or request.chat.window != window:
            return "alreadyResolved" if request and request.state else "unknownApproval"
        keeps, allows = option in {*values.GRANTS, *values.SAVED}, (option or "").startswith("allow")
        wrong = [
            (digest == "wrong", "stale"),
            (option is not None and option not in request.offered, "optionNotOffered"),
            (bypass and not allows, "invalid"),
            (bypass and not self.trusted, "notTrusted"),
            (digest is None and (bypass or edited or keeps or option == "reject_always"), "stale"),
            (edited and (not allows or request.chat.agent == values.GUEST), "invalid"),
            (option == "allow_always_workspace_1" and not self.trusted, "notTrusted"),
            (refuses and option == "reject_always", "invalid"),
        ]
        if kinds := [kind for holds, kind in wrong if holds]:
            return kinds[0]
        if allows and not request.is_true(self.script):
            return self.again(request)
        verdict, by = self.judge(request.chat, edited) if edited else ("allow", "user")
        if verdict == "deny" or by == "floor":
            return self.end(request, "denied", "rule") if verdict == "deny" else self.again(request, edited)
        if (keeps and (edited or request.command in self.rules["ask"])) or (
            refuses and (bypass or option in values.SAVED)
        ):
            return "invalid"
        state = self.end(request, "allowed" if allows else "denied" if option else "cancelled", "user")
        if allows:
            self.run(edited or request.command, "user", asked=True)
        if option in values.GRANTS and (request.chat.open or option != "allow_turn"):
            self.grants.append((request.chat, request.command, values.GRANTS[option], self.moment + values.TIMED))
        if option in values.SAVED or option == "reject_always":
            self.rules[values.SAVED.get(option, "deny")].add(request.command)
        self.bypass |= {request.chat.agent} if bypass else set()
        self.look()
        return state

    def pass_time(self, seconds: float) -> None:
        self.moment += seconds
        self.grants = [grant for grant in self.grants if grant[2] != "timed" or grant[3] > self.moment]
        for request in self.live():
            if request.deadline <= self.moment:
                self.end(request, "expired", "timeout")

    def leave(self, window: str, *, kill: bool) -> None:
        here = [one for one in self.live() if one.chat.window == window]
        self.orphans += here if kill else []
        for request in [one for one in here if one.chat.agent == values.GUEST and not kill]:
            self.end(request, "interrupted", "restart")
        self.grants = [grant for grant in self.grants if grant[0].window != window]
        self.up[window] = False

    def start(self, window: str) -> None:
        while self.orphans:
            self.end(self.orphans.pop(), "interrupted", "restart")
        left, self.up[window] = [chat for chat in self.chats if not self.up[chat.window]], True
        for chat in left:
            chat.window = window
            self.look(chat)
            for request in [one for one in self.live(chat) if one.approval_id]:
                if request.is_true(self.script):
                    request.offered = values.options(chat, self.judge(chat, request.command)[1], trusted=self.trusted)
                    self.seen.append(("card", request))
                else:
                    self.again(request)
        self.pass_time(0)
