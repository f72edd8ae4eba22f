"""Approval requests and their answers: what a card is drawn from, and what comes back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from countersign.wire.base import Json, KeptModel, WireModel
from countersign.wire.errors import ErrorKind
from countersign.wire.exact_numbers import exactly_read
from countersign.wire.verdicts import BypassScope, Category, DecidedBy, EffectView, Evidence, Mode, Scope, Verdict

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]
OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
ApprovalState = Literal["allowed", "denied", "cancelled", "expired", "interrupted"]


class Location(KeptModel):
    path: str
    line: int | None = None


class ToolCallView(KeptModel):
    """A tool call as its card shows it. ``title`` is the agent's own word and is never the subject of a card."""

    tool_call_id: str
    agent_tool_call_id: str | None = None
    title: str | None = None
    kind: ToolKind
    category: Category
    tool: str
    raw_input: Json = None
    locations: list[Location] | None = None


class Risk(KeptModel):
    """What a card warns of. ``danger``: it can destroy, leak, escape the workspace, run unseen code or touch protected
    paths; ``caution`` is anything less."""

    id: str
    text: str
    severity: Literal["danger", "caution"]


class CommandPart(KeptModel):
    """One command of the line. ``start`` and ``end`` are its place there, in UTF-16 code units, where it stands there
    word for word."""

    text: str
    start: int | None = None
    end: int | None = None
    verdict: Verdict
    evidence: Evidence
    risks: list[Risk] | None = None


class SandboxPreview(KeptModel):
    """The sandbox that a command runs in. ``gaps`` are rules that it cannot hold in full, each with the reason."""

    mode: Literal["commands", "all"]
    network: Literal["none", "hosts", "all"]
    hosts: list[str]
    gaps: list[str] | None = None


class CommandPreview(KeptModel):
    """``sandbox`` is absent where the command runs outside any. ``outside``: there is a sandbox and this call is not to
    run in it."""

    kind: Literal["command"] = "command"
    command: str
    cwd: str
    parts: list[CommandPart]
    timeout: float | None = None
    background: bool | None = None
    sandbox: SandboxPreview | None = None
    outside: bool | None = None


class DiffPreview(KeptModel):
    """A change of a file. ``old_text`` is absent for a new file; ``to`` stands for a move."""

    kind: Literal["diff"] = "diff"
    path: str
    operation: Literal["create", "edit", "delete", "move"] | None = None
    old_text: str | None = None
    new_text: str
    to: str | None = None
    too_large: bool | None = None


class FetchPreview(KeptModel):
    kind: Literal["fetch"] = "fetch"
    url: str
    method: str


class HostPreview(KeptModel):
    """A host that ``command``, or the agent of this name, wanted to reach from the sandbox, on ``port``. An approval
    opens it for later runs."""

    kind: Literal["host"] = "host"
    host: str
    port: int
    command: str


class PlanPreview(KeptModel):
    """A plan that an agent wants to follow, in its own words as Markdown. An approval allows none of its calls."""

    kind: Literal["plan"] = "plan"
    markdown: str


class ToolPreview(KeptModel):
    """A tool's input as it is. Integers that a client would round (JavaScript's numbers are exact up to 2^53) are texts
    with all their digits."""

    kind: Literal["tool"] = "tool"
    server: str | None = None
    input: Json = None

    @field_validator("input")
    @classmethod
    def _exact(cls, given: Json) -> Json:
        return exactly_read(given)


Preview = Annotated[
    CommandPreview | DiffPreview | FetchPreview | HostPreview | PlanPreview | ToolPreview, Field(discriminator="kind")
]


class ApprovalOption(KeptModel):
    """One button or menu item. ``rule`` is what would be kept, in full; ``examples`` are what else it would match.
    ``mode`` is the one that the chat and its running turn have from then on."""

    option_id: str
    name: str
    kind: OptionKind
    scope: Scope | None = None
    rule: str | None = None
    examples: list[str] | None = None
    background: bool | None = None
    mode: Mode | None = None


class AgentOption(KeptModel):
    """An option that a hosted agent offered; for display only, the gate chooses by kind."""

    option_id: str
    name: str
    kind: str


class ApprovalRequest(KeptModel):
    """``tool/approvalRequest``: what a person is shown. ``digest`` binds the answer to these bytes. ``risks`` are the
    dangers among what the gate warns of, ``notes`` the rest. ``withheld`` are names of variables that the command
    mentions and does not get."""

    approval_id: str
    thread_id: str
    agent_name: str
    subagent: str | None = None
    tool_call: ToolCallView
    preview: Preview
    effects: list[EffectView]
    reason: str
    risks: list[str]
    notes: list[str] | None = None
    withheld: list[str] | None = None
    options: list[ApprovalOption]
    agent_options: list[AgentOption] | None = None
    digest: str
    created_at: str
    first_asked_at: str | None = None
    """When its call was asked about for the first time, if this is not the first request of it: it keeps its place."""
    expires_at: str | None = None
    postponed: bool | None = None
    """True while a person has put it off; its clock stands still."""


class SelectedOutcome(WireModel):
    outcome: Literal["selected"]
    option_id: str


class CancelledOutcome(WireModel):
    outcome: Literal["cancelled"]


Outcome = Annotated[SelectedOutcome | CancelledOutcome, Field(discriminator="outcome")]


class OutcomeHolder(WireModel):
    outcome: Outcome


class RuleConfirmation(WireModel):
    """The person's second word on a rule: the digest of its preview."""

    rule_digest: str


class ApprovalResponseParams(WireModel):
    """``tool/approvalResponse``: the person's answer. ``bypass_all`` approves and sets bypass for this agent, in the
    workspace's settings or until this window is closed."""

    approval_id: str
    digest: str | None = None
    response: OutcomeHolder
    bypass_all: bool
    bypass_scope: BypassScope = "workspace"
    reason: str | None = None
    edited_input: str | None = None
    rule: str | None = None
    confirmed: RuleConfirmation | None = None


class RulePreviewParams(WireModel):
    """``rule/preview``: what a rule that a person edited on a card would do."""

    approval_id: str
    rule: str


class RulePreviewResult(WireModel):
    """``covers``: the rule alone lets this call through. ``wider``: it may match more than the widest rule offered, and
    needs ``confirmed`` with this digest in the answer. ``examples`` are what else it would match."""

    covers: bool
    wider: bool
    examples: list[str]
    digest: str


class ApprovalResponseResult(WireModel):
    approval_id: str
    state: ApprovalState


class ApprovalResolved(WireModel):
    """``tool/approvalResolved``: sent exactly once for each request, whoever resolved it."""

    approval_id: str
    thread_id: str
    state: ApprovalState
    by: DecidedBy
    reason: str | None = None


class PendingApprovalsParams(WireModel):
    """``known``: the requests that the client still shows; the result says how each of them that is over ended."""

    thread_id: str | None = None
    known: list[str] = Field(default=[], max_length=10_000)


class EndedApproval(WireModel):
    """How a request ended whose notice may have been lost with the server that would have sent it."""

    approval_id: str
    state: ApprovalState
    by: DecidedBy


class PendingApprovalsResult(WireModel):
    approvals: list[ApprovalRequest]
    ended: list[EndedApproval] = []


class ApprovalBatchParams(WireModel):
    """``tool/approvalBatch``: one answer to several cards. ``digests`` are those that the person saw, in the order of
    ``approval_ids``: after a restart, a card can have other bytes under the same id."""

    approval_ids: list[str]
    decision: Literal["allow_once", "reject_once"]
    reason: str | None = None
    digests: list[str] | None = None


class BatchError(WireModel):
    kind: ErrorKind
    message: str


class BatchEntry(WireModel):
    approval_id: str
    state: ApprovalState | None = None
    error: BatchError | None = None


class ApprovalBatchResult(WireModel):
    results: list[BatchEntry]


class ApprovalPostponeParams(WireModel):
    """``tool/approvalPostpone``: decides nothing. The clock of a request that is ``postponed`` stands still."""

    approval_id: str
    postponed: bool


class ApprovalPostponeResult(WireModel):
    """``expires_at`` is when it expires now; absent while its clock stands still, and for one that has none."""

    approval_id: str
    expires_at: str | None = None
