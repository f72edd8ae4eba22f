"""What an answer may say, and what it brings about before the request ends.

Everything that can be refused is refused before anything is written: a wrong option, a missing digest, a rule that
does not cover the call. What must be written elsewhere (a rule, bypass) is written before the request ends, and if
that fails the card stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from countersign.gate.approvals.asking import Asking
from countersign.gate.approvals.edited_rule import examples, is_wider, parses, rule_digest
from countersign.gate.approvals.file_binding import blocking_still_true
from countersign.gate.approvals.grants import GrantBook
from countersign.gate.approvals.pending import Pending, Resolution
from countersign.gate.call import BadArguments, RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.finding import FILE_KINDS
from countersign.gate.ledger.writer import Ledger
from countersign.gate.plan import Plan
from countersign.gate.turn import Turn
from countersign.gate.workers import in_worker, sharing
from countersign.settings.policy import Policy
from countersign.wire.approvals import (
    ApprovalOption,
    ApprovalResponseParams,
    ApprovalState,
    RulePreviewParams,
    RulePreviewResult,
    SelectedOutcome,
)
from countersign.wire.errors import (
    AlreadyResolved,
    InvalidAnswer,
    NeedsConfirmation,
    NotTrusted,
    OptionNotOffered,
    StaleAnswer,
    UnknownApproval,
)
from countersign.wire.rules import RuleList
from countersign.wire.strict_json import BadJson, parse_json
from countersign.wire.verdicts import Scope


class Keeper(Protocol):
    """Whoever writes what a person chose to have kept. Each raises InvalidAnswer when it cannot, changing nothing."""

    async def save_rule(self, rule_list: RuleList, rule: str, scope: Scope, agent: str) -> None: ...

    async def set_bypass(self, agent: str) -> None: ...

    async def set_session_bypass(self, agent: str) -> None: ...


class Answering:
    """Takes answers to open requests. A class because answers widen rights only here."""

    def __init__(
        self,
        *,
        asking: Asking,
        ledger: Ledger,
        grants: GrantBook,
        keeper: Keeper,
        policy: Callable[[], Policy],
        judge: Callable[[ToolCall, Turn], Decision],
        covers: Callable[[ToolCall, RuleList, str], bool],
        changed: Callable[[], None],
    ) -> None:
        self._asking = asking
        self._ledger = ledger
        self._grants = grants
        self._keeper = keeper
        self._policy = policy
        self._judge = judge
        self._covers = covers
        self._changed = changed

    async def answer(self, params: ApprovalResponseParams) -> ApprovalState:
        """Carry out a person's answer and say how the request ended.

        Cancelled: an answer that has claimed its request is carried out all the same.

        Raises:
            UnknownApproval, AlreadyResolved, OptionNotOffered, StaleAnswer, NotTrusted, InvalidAnswer: nothing was
                changed, and but for a card whose bytes are no longer true the request is still open.
        """
        pending = self._asking.table.open(params.approval_id) or await self._find(params.approval_id)
        option = self._check(pending, params)
        if not pending.claim("user"):
            raise AlreadyResolved("this request has already been resolved")
        if option is None:
            closed = Resolution("cancelled", "user", params.reason or "the person closed the card")
            return (await self._asking.end(pending, closed)).state
        if (resolution := _at_once(pending, option, params)) is not None:
            return (await self._asking.end(pending, resolution)).state
        work = self._asking.own(self._carry_out(pending, option, params), f"answer {pending.approval_id}")
        return await asyncio.shield(work)

    async def preview(self, params: RulePreviewParams) -> RulePreviewResult:
        """Say what a rule that a person edited would do; keeps nothing.

        Raises:
            UnknownApproval, AlreadyResolved: there is no such open request.
        """
        pending = self._asking.table.open(params.approval_id) or await self._find(params.approval_id)
        rule, request = params.rule.strip(), pending.request
        with sharing(pending.turn.workers):
            covers = parses(rule) and await in_worker(self._covers, pending.call, "allow", rule)
            shown = await in_worker(examples, pending.call, rule) if covers else []
        return RulePreviewResult(
            covers=covers,
            wider=is_wider(rule, request.options),
            examples=shown,
            digest=rule_digest(request.digest, rule),
        )

    async def _find(self, approval_id: str) -> Pending:
        try:
            return self._asking.table.find(approval_id)
        except UnknownApproval:
            stored = await in_worker(self._ledger.request, approval_id)
            if stored is not None and stored.state != "open":
                raise AlreadyResolved(f"this request has already ended as `{stored.state}`") from None
            raise

    def _check(self, pending: Pending, params: ApprovalResponseParams) -> ApprovalOption | None:
        """The option that was chosen, None for a closed card; everything that needs no waiting is refused here."""
        outcome = params.response.outcome
        request = pending.request
        if params.digest is not None and params.digest != request.digest:
            raise StaleAnswer("the answer is for another version of this card; review the card again")
        option: ApprovalOption | None = None
        if isinstance(outcome, SelectedOutcome):
            for option in request.options:
                if option.option_id == outcome.option_id:
                    break
            else:
                raise OptionNotOffered(f"this card has no option `{outcome.option_id}`")
        allows = option is not None and option.kind in ("allow_once", "allow_always")
        if params.bypass_all and not allows:
            raise InvalidAnswer("bypass can only be turned on with an approval")
        if params.bypass_all and not self._policy().trusted:
            raise NotTrusted("bypass needs a trusted workspace; trust it in the editor first")
        widens = params.bypass_all or (
            option is not None and (option.scope not in (None, "call") or option.mode is not None)
        )
        if params.digest is None and (widens or params.edited_input is not None or params.rule is not None):
            raise StaleAnswer("such an answer must carry the digest of the card it was given on")
        if params.rule is not None and (option is None or option.rule is None):
            raise InvalidAnswer("a rule is only accepted with an option that saves one")
        if params.edited_input is not None:
            if not allows:
                raise InvalidAnswer("an edit is only accepted with an approval")
            if not pending.turn.editable:
                raise InvalidAnswer("the input of this agent's request cannot be edited; deny it with a reason")
        if option is not None and option.scope == "workspace" and not self._policy().trusted and allows:
            raise NotTrusted("a rule for the workspace needs a trusted one; trust it in the editor first")
        return option

    async def _carry_out(
        self, pending: Pending, option: ApprovalOption, params: ApprovalResponseParams
    ) -> ApprovalState:
        try:
            with sharing(pending.turn.workers):
                resolution = await self._resolution(pending, option, params)
        except BaseException:
            pending.release()
            raise
        ended = await self._asking.end(pending, resolution)
        if resolution.again and resolution.by == "change" and resolution.plan is None:
            raise StaleAnswer("the call has changed since this card was shown; a new card follows")
        if ended.state == "allowed" and option.mode is not None:
            # INVARIANT (no hidden state): the only way to a looser mode in a running turn is this answer.
            pending.turn.choose_mode(option.mode)
            self._changed()
        if ended.state == "allowed" and option.scope != "call":
            self._keep(pending, option, params.rule.strip() if params.rule is not None else option.rule)
        return ended.state

    def _keep(self, pending: Pending, option: ApprovalOption, rule: str | None) -> None:
        # Rules for the workspace or the user were saved in settings before the request ended.
        if rule is not None and option.scope in ("turn", "chat", "timed"):
            shown = dict.fromkeys(each.resource for each in pending.request.effects if each.kind in FILE_KINDS)
            shown |= dict.fromkeys(state.path for state in pending.call.bound)
            folders = [effect.cwd for effect in pending.call.effects if isinstance(effect, RunCommand)]
            self._grants.keep(
                rule,
                option.scope,
                agent=pending.request.agent_name,
                thread_id=pending.request.thread_id,
                turn_id=pending.turn.turn_id,
                files=tuple(shown) if rule == option.rule else None,
                folder=folders[0] if folders and rule == option.rule else None,
            )
        self._changed()

    async def _resolution(self, pending: Pending, option: ApprovalOption, params: ApprovalResponseParams) -> Resolution:
        rule = params.rule.strip() if params.rule is not None else option.rule
        if option.kind == "reject_always":
            if rule is not None and option.scope is not None:
                await self._check_cover(pending, "deny", rule)
                await self._keeper.save_rule("deny", rule, option.scope, pending.request.agent_name)
            return Resolution("denied", "user", params.reason)
        if pending.call.bound and not await in_worker(blocking_still_true, pending.call):
            return Resolution("interrupted", "change", "the call has changed since the card was shown", again=True)
        edited = await self._edited(pending, params.edited_input)
        if edited is not None and isinstance(edited, Resolution):
            return edited
        if rule is not None and option.scope != "call":
            if edited is not None:
                raise InvalidAnswer("an edited call can only be allowed once; a rule would cover a different call")
            await self._check_cover(pending, "allow", rule)
            _check_width(pending, rule, params)
        if params.bypass_all:
            match params.bypass_scope:
                case "session":
                    await self._keeper.set_session_bypass(pending.request.agent_name)
                case "workspace":
                    await self._keeper.set_bypass(pending.request.agent_name)
        if rule is not None and option.scope in ("workspace", "user"):
            await self._keeper.save_rule("allow", rule, option.scope, pending.request.agent_name)
        return Resolution(
            "allowed",
            "user",
            params.reason,
            background=bool(option.background),
            plan=edited,
            note=_note(option, rule, edited),
        )

    async def _check_cover(self, pending: Pending, rule_list: RuleList, rule: str) -> None:
        if not parses(rule) or not await in_worker(self._covers, pending.call, rule_list, rule):
            raise InvalidAnswer(f"the rule `{rule}` does not cover this call; correct it, or allow the call once")

    async def _edited(self, pending: Pending, text: str | None) -> Plan | Resolution | None:
        """The plan of what the person typed; a Resolution where the edit is denied or must be asked once more."""
        if text is None:
            return None
        try:
            arguments = parse_json(text)
        except BadJson as error:
            raise InvalidAnswer(f"the edited input cannot be read: {error}") from None
        if not isinstance(arguments, dict):
            raise InvalidAnswer("the edited input must be a JSON object like the one on the card")
        try:
            plan = await in_worker(pending.prepare, arguments)
        except BadArguments as error:
            raise InvalidAnswer(f"the edited input does not fit the tool: {error}") from None
        # The edit is of what the card showed; prepared anew, it is bound to the files as they are by now.
        shown = {state.path: state.sha256 for state in pending.call.bound}
        if any(shown.get(state.path, state.sha256) != state.sha256 for state in plan.call.bound):
            return Resolution("interrupted", "change", "the call has changed since the card was shown", again=True)
        decision = await in_worker(self._judge, plan.call, pending.turn)
        match decision.verdict:
            case "deny":
                return Resolution("denied", "rule", decision.reason, evidence=decision.evidence)
            case "ask" if any(evidence.source == "floor" for evidence in decision.evidence):
                return Resolution("interrupted", "change", "the edited call is asked once more", plan=plan, again=True)
            case "ask" | "allow":
                return plan


def _note(option: ApprovalOption, rule: str | None, edited: Plan | None) -> str | None:
    """What the record says beside the answer."""
    if edited is not None:
        return "edited by you"
    if option.mode is not None:
        return f"set the mode of this chat to {option.mode}"
    return f"kept {rule} ({option.scope})" if rule else None


def _check_width(pending: Pending, rule: str, params: ApprovalResponseParams) -> None:
    """Refuse a rule wider than those offered unless the person confirmed this very rule on this very card."""
    if not is_wider(rule, pending.request.options):
        return
    if params.confirmed is None or params.confirmed.rule_digest != rule_digest(pending.request.digest, rule):
        raise NeedsConfirmation(f"the rule `{rule}` is wider than those offered; check what it matches and confirm it")


def _at_once(pending: Pending, option: ApprovalOption, params: ApprovalResponseParams) -> Resolution | None:
    """What an answer comes to where nothing has to be looked at, judged or kept before; None for all others."""
    if option.kind == "reject_once":
        return Resolution("denied", "user", params.reason)
    plain = params.rule is None and params.edited_input is None and not params.bypass_all
    once = option.kind == "allow_once" and option.scope == "call" and option.rule is None and option.mode is None
    # INVARIANT (same bytes): a call that is bound to no file is the one that was shown.
    if plain and once and not pending.call.bound:
        return Resolution("allowed", "user", params.reason, background=bool(option.background))
    return None
