"""Who takes part in a history: commands, agents, options, and the chats and requests that the model keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

ALPHA, BETA, GAMMA, SCRIPT, FLOOR = "probe alpha", "probe beta", "probe gamma", "./job.sh", "touch .git/config"
"""Plain commands, a script of the workspace, and what always asks. For ``GAMMA`` the guest offers no allow-once."""
BUILTIN, GUEST = "Countersign", "Guest"
GRANTS = {"allow_turn": "turn", "allow_chat": "chat", "allow_15min": "timed"}
SAVED = {"allow_always_workspace_1": "workspace", "allow_always_user_1": "allow"}
TIMEOUT, TIMED = 300.0, 900.0


@dataclass(eq=False)
class Chat:
    """``mode`` is the next turn's, ``modes`` are the running one's."""

    agent: str
    window: str
    mode: str = "default"
    modes: list[str] = field(default_factory=list)
    open: list[Request] = field(default_factory=list, repr=False)


@dataclass(eq=False)
class Request:
    """``script`` is the version of the script that its card was drawn from; ``state`` how it ended."""

    chat: Chat
    command: str
    offered: frozenset[str] = field(repr=False)
    script: int
    deadline: float
    state: str | None = None
    approval_id: str | None = None
    digest: str = ""

    def is_true(self, script: int) -> bool:
        """Whether its card shows what would run, if the script is of this version now."""
        return self.command != SCRIPT or self.script == script


def options(chat: Chat, by: str, *, trusted: bool, only_deny: bool = False) -> frozenset[str]:
    """Return what a card offers that is drawn now; a card that waited on disk is drawn anew."""
    offered = {"reject_once", "reject_always"} if by == "mode" else {"reject_once"}
    if not only_deny:
        offered |= {"allow_once"} | ({"allow_background"} if chat.agent == BUILTIN else set())
        if by == "mode":
            offered |= {*GRANTS, *SAVED} - (set() if trusted else {"allow_always_workspace_1"})
    return frozenset(offered)
