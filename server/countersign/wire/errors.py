"""Every error of the project, sorted by whose doing it is.

    CountersignError
    ├── PersonError            the person's (or their client's) choice; reaches the client as -32603's friendlier
    │   │                      cousin -32803 with ``data.kind``
    │   ├── UnknownApproval    no such request was ever made here
    │   ├── AlreadyResolved    it was answered, cancelled, expired or interrupted before
    │   ├── OptionNotOffered   the answer names an option that the card did not have
    │   ├── StaleAnswer        the answer's digest is missing or is not that of the card
    │   ├── NotTrusted         the workspace is not trusted, so the answer may not widen anything
    │   ├── InvalidAnswer      the answer contradicts itself or cannot be carried out
    │   ├── NeedsConfirmation  the answer keeps a rule wider than those offered; it has to be confirmed
    │   ├── UnknownThread, UnknownAgent, UnknownReceipt, UnknownShell, UnknownRule
    │   └── Conflict           the file is no longer as the receipt left it
    ├── AgentError             an agent's or a model's doing
    │   ├── ModelError         the model failed, refused or could not be reached
    │   │   ├── ModelBusy      the server asks to come back later
    │   │   ├── ContextTooLong the conversation is longer than the model takes
    │   │   └── LoginNeeded    a person must log in to the hosted agent first; nothing was started
    │   └── AgentExit          a hosted agent died or broke the protocol
    ├── WorldError             disk, network, other programs
    │   ├── LedgerUnavailable  the ledger or the chats cannot be written; therefore nothing runs
    │   └── ClientError        the editor answered a request of ours with an error, or with what does not fit
    │       └── ClientGone     the editor is gone, so nobody answers
    └── InternalError             ours: a promise was about to be broken; always a bug, always a denial

A refusal (a denied tool call) is a result, not an error. Messages are one sentence, lower case, without a full stop,
foreign text in backticks, and end with what to do next where there is something.
"""

from __future__ import annotations

from typing import Literal

REQUEST_FAILED = -32803
"""LSP's code for a request that was well formed but could not be carried out."""

ErrorKind = Literal[
    "unknownApproval",
    "alreadyResolved",
    "optionNotOffered",
    "stale",
    "notTrusted",
    "invalid",
    "needsConfirmation",
    "unknownThread",
    "unknownAgent",
    "unknownReceipt",
    "unknownShell",
    "unknownRule",
    "conflict",
    "modelError",
    "needsLogin",
    "agentExit",
    "ledgerUnavailable",
    "internal",
    "tooLarge",
]


class CountersignError(Exception):
    """Anything this project raises on purpose. ``kind`` stands in ``error.data.kind`` on the wire."""

    kind: ErrorKind = "internal"


class PersonError(CountersignError):
    """The request cannot be carried out as asked; nothing was changed."""

    kind = "invalid"


class UnknownApproval(PersonError):
    kind = "unknownApproval"


class AlreadyResolved(PersonError):
    kind = "alreadyResolved"


class OptionNotOffered(PersonError):
    kind = "optionNotOffered"


class StaleAnswer(PersonError):
    kind = "stale"


class NotTrusted(PersonError):
    kind = "notTrusted"


class InvalidAnswer(PersonError):
    kind = "invalid"


class NeedsConfirmation(PersonError):
    kind = "needsConfirmation"


class UnknownThread(PersonError):
    kind = "unknownThread"


class UnknownAgent(PersonError):
    kind = "unknownAgent"


class UnknownReceipt(PersonError):
    kind = "unknownReceipt"


class UnknownShell(PersonError):
    kind = "unknownShell"


class UnknownRule(PersonError):
    kind = "unknownRule"


class Conflict(PersonError):
    kind = "conflict"


class AgentError(CountersignError):
    """An agent or a model did not do its part."""

    kind = "agentExit"


class ModelError(AgentError):
    kind = "modelError"


class LoginNeeded(ModelError):
    """A person must log in to the hosted agent first."""

    kind = "needsLogin"


class ModelBusy(ModelError):
    """The server limits requests, is overloaded or away. ``retry_after``: the seconds that it names."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ContextTooLong(ModelError):
    """The conversation has more tokens than the model takes."""


class AgentExit(AgentError):
    kind = "agentExit"


class WorldError(CountersignError):
    """Disk, network or another program failed us."""


class LedgerUnavailable(WorldError):
    kind = "ledgerUnavailable"


class ClientError(WorldError):
    """The editor did not do what we asked of it."""


class ClientGone(ClientError):
    """The connection ended before the editor answered."""


class InternalError(CountersignError):
    """A promise of ours was about to be broken. It is a bug, and it denies."""
