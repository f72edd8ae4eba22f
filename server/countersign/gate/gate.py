"""The one door: decide → ask through the Asker it is handed → Permit or Refusal → Receipt.

Every call of every agent enters by ``submit``. Its ``prepare`` names the effects and ``deciding.py`` returns the
verdict; here the call is recorded, asked, permitted once and run, and its end is recorded.

INVARIANT (permit): this is the only module that issues permits.
INVARIANT (record first): ``started`` is durable before ``run`` is awaited. No ledger, no run.
INVARIANT (narrowing): if rules tighten while a call waits, it is decided again before it runs (cards:
``approvals/reevaluate.py``).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from countersign.gate.approvals.answering import Answering, Keeper
from countersign.gate.approvals.asking import Asker, Asking
from countersign.gate.approvals.file_binding import blocking_still_true
from countersign.gate.approvals.grants import GrantBook
from countersign.gate.approvals.pending import Pending, Resolution
from countersign.gate.approvals.records import (
    call_event,
    entry_for,
    ran_record,
    request_for,
    result_event,
    waiting_time,
)
from countersign.gate.approvals.reevaluate import OUTDATED, Reevaluator, withdrawn
from countersign.gate.approvals.stored_requests import Question, Tampered, asked_entry, blocking_restored
from countersign.gate.call import BadArguments, ToolCall
from countersign.gate.deciding import Decide, Decider
from countersign.gate.decision import Decision
from countersign.gate.ledger.before_images import BeforeImages
from countersign.gate.ledger.entry import Adopted, Entry, StoredRequest
from countersign.gate.ledger.writer import Ledger
from countersign.gate.noticed import Noticed
from countersign.gate.permit import Permit, Stale, _issue
from countersign.gate.plan import Plan, Prepare
from countersign.gate.receipt import Outcome, Ran, Refused, Settled
from countersign.gate.refusals import failure_text, limit_reached, may_write, refusal_kind, refused
from countersign.gate.running_calls import RunningCalls
from countersign.gate.submission import Room, Submission
from countersign.gate.turn import Turn
from countersign.gate.workers import in_worker, sharing
from countersign.settings.policy import Policy
from countersign.wire.base import Json
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.verdicts import DecidedBy, Evidence

log = logging.getLogger(__name__)

MOST_ROUNDS = 20
"""How often one call is judged afresh because something changed beneath it, before it is refused as restless."""


class Gate:
    """The gate of one server. Holds the open requests, the grants and the ledger; upholds the promises named above."""

    def __init__(
        self,
        *,
        decide: Decide,
        policy: Callable[[], Policy],
        ledger: Ledger,
        asker: Asker,
        keeper: Keeper,
        owner: str,
        grants: GrantBook | None = None,
        images: BeforeImages | None = None,
    ) -> None:
        self._policy = policy
        self._ledger = ledger
        self._asker = asker
        self._owner = owner
        self._images = images
        self._parking = False
        self._parked_calls: set[str] = set()
        self._room = Room()
        self.grants = grants or GrantBook()
        self._decider = Decider(decide, policy, self.grants)
        self.running = RunningCalls()
        self.noticed = Noticed(ledger, policy, owner)
        self.asking = Asking(ledger, asker)
        self._live = Reevaluator(self.asking, self._decider.decide)
        self.answering = Answering(
            asking=self.asking,
            ledger=ledger,
            grants=self.grants,
            keeper=keeper,
            policy=policy,
            judge=self._decider.decide,
            covers=self._decider.covers,
            changed=self.changed,
        )

    async def submit(
        self, prepare: Prepare, turn: Turn, *, allow_offered: bool = True, restored: StoredRequest | None = None
    ) -> Settled:
        """Let one call through, or refuse it; both are recorded and told to the chat.

        ``allow_offered`` False: whoever waits for the verdict can only be told no. ``restored``: the request that
        waited on disk for this very call. Cancelled: an open request ends as cancelled, a running call is stopped
        and its receipt says how far it got.

        Raises:
            BadArguments: ``prepare`` found that it cannot be done; nothing was recorded.
        """
        receipt_id = restored.receipt_id if restored else secrets.token_urlsafe(12)
        passage = Submission(receipt_id, prepare, turn, turn.line.join(), self._room, allow_offered)
        try:
            with sharing(turn.workers):
                return await self._submitted(passage, restored)
        finally:
            passage.place.leave()
            self._room.give_back(passage)

    async def _submitted(self, passage: Submission, restored: StoredRequest | None) -> Settled:
        turn, receipt_id = passage.turn, passage.receipt_id
        try:
            plan = await in_worker(passage.blocking_plan)
            if restored is not None:
                try:
                    passage.restored, passage.edited, plan = await in_worker(
                        blocking_restored, self._ledger, restored, plan, passage.prepare
                    )
                except Tampered as found:
                    refusal = await self.asking.end_tampered(restored, found)
                    turn.emit(call_event(plan.call, "pending"))
                    turn.emit(result_event(plan.call, refusal))
                    return refusal
        except BadArguments:
            await passage.place.reached()  # whoever submitted it tells the chat next
            if restored is not None:
                await self.asking.end_stored(restored, Resolution("interrupted", "change", "it can no longer be done"))
            raise
        try:
            settled = await self._rounds(plan, passage)
            if isinstance(settled, Refused) and plan.look_after is not None:
                settled = replace(settled, seen=await plan.look_after())
        except LedgerUnavailable as error:
            settled = Refused("denied", "floor", str(error), None)
        except BadArguments as error:
            # A file changed beneath the open card in such a way that the call makes no sense any more.
            settled = Refused("interrupted", "change", str(error), receipt_id)
        except asyncio.CancelledError:
            if plan.call.tool_call_id not in self._parked_calls:
                passage.announce_once(plan.call)
                turn.emit(result_event(plan.call, Refused("cancelled", "cancel", "the turn was stopped", receipt_id)))
            if passage.restored is not None and not self._parking:
                end = Resolution("cancelled", "cancel", "the turn was stopped")
                self.asking.own(self.asking.end_stored(passage.restored.stored, end), f"cancel {receipt_id}")
            raise
        turn.emit(result_event(plan.call, settled))
        return settled

    async def still_allowed(self, call: ToolCall, turn: Turn, by: DecidedBy) -> bool:
        """Decide a call that ``by`` allowed before again, under the policy of this moment.

        Return false if it is denied now, if it asks now and no person had allowed it, or while the chain is broken.
        """
        if self._broken_chain(call) is not None:
            return False
        while True:
            version = self._live.version
            if withdrawn(await in_worker(self._decider.decide, call, turn), by):
                return False
            if version == self._live.version:
                return True

    async def by_hand(self, plan: Plan, turn: Turn) -> Ran:
        """Do what a person does themselves (taking a change back): recorded like everything else, asked of nobody.

        Raises:
            Stale: what it is about has changed; nothing was done.
            LedgerUnavailable: it could not be recorded; nothing was done.
        """
        evidence = Evidence(source="default", reason="a person did this themselves")
        decision = Decision("allow", "user", (evidence,), (), evidence.reason)
        entry = self._entry(plan.call, decision, secrets.token_urlsafe(12), plan.call.digest(), turn)
        await self._ledger.append(entry)
        ran = await self._run(plan, turn, entry, background=False)
        assert isinstance(ran, Ran)  # only the agent's own writes are limited
        return ran

    async def _rounds(self, plan: Plan, passage: Submission) -> Settled:
        turn, receipt_id = passage.turn, passage.receipt_id
        for _ in range(MOST_ROUNDS):
            version = self._live.version
            plan, decision = await in_worker(self._decider.bind, plan, passage)
            await passage.place.reached()
            entry = self._entry(plan.call, decision, receipt_id, passage.digest, turn)
            writes = may_write(plan.call, decision)
            passage.announce(plan.call)
            background, runs, only_reads = False, decision.runs, decision.only_reads
            if decision.verdict != "ask":
                passage.place.leave()
            if decision.verdict == "deny":
                await self._record(entry, plan.call, decision.reason, passage)
                return Refused(refusal_kind(decision, turn), decision.by, decision.reason, receipt_id)
            if (refusal := self._unaskable(plan.call, decision, turn, receipt_id, writes=writes)) is not None:
                passage.place.leave()
                await self._record(entry._replace(verdict="deny", by=refusal.by), plan.call, refusal.reason, passage)
                return refusal
            if decision.verdict == "allow":
                entry = await self._record(entry, plan.call, decision.reason, passage)
            else:
                asking = self._ask(plan, decision, entry, passage, version)
                del decision  # it holds all that was found, which ten thousand waiting cards would keep for nothing
                resolution = await asking
                if resolution.plan is not None:
                    plan, passage.edited = resolution.plan, resolution.plan.call.arguments
                if resolution.again:
                    if resolution.plan is None:
                        plan = await in_worker(passage.blocking_plan)
                    continue
                if resolution.state != "allowed":
                    return refused(resolution, turn, receipt_id)
                background = resolution.background
                entry = entry._replace(by=resolution.by, verdict="allow", approval_id=resolution.approval_id)
                if resolution.by != "user":
                    # A rule, grant, mode or bypass ended the request: what was judged runs, not what was shown.
                    lifted = await in_worker(self._decider.decide, plan.call, turn)
                    if lifted.verdict != "allow":
                        plan = await in_worker(passage.blocking_plan)
                        continue
                    runs, only_reads = lifted.runs, lifted.only_reads
            if version != self._live.version or passage.edited is not None:
                # Something changed while we waited: what denies now stands, and what a rule had allowed may ask.
                version = self._live.version
                plan, later = await in_worker(self._decider.bind, plan, passage)
                if withdrawn(later, entry.by):
                    continue
                runs, writes, only_reads = later.runs, may_write(plan.call, later), later.only_reads
                entry = self._entry(plan.call, later, receipt_id, passage.digest, turn)._replace(by=entry.by,
                                verdict="allow", approval_id=entry.approval_id)  # fmt: skip
            try:
                # INVARIANT (same bytes): after a person's yes the original bytes run, as they were shown.
                runs = None if entry.by == "user" else runs
                only_reads = only_reads and entry.by != "user"
                return await self._run(
                    plan, turn, entry, background, version, runs, writes=writes, only_reads=only_reads
                )
            except Stale:
                plan = await in_worker(passage.blocking_plan)
        return Refused("interrupted", "change", "the files of the call keep changing", receipt_id)

    def _unaskable(
        self, call: ToolCall, decision: Decision, turn: Turn, receipt_id: str, *, writes: bool
    ) -> Refused | None:
        if (broken := self._broken_chain(call, by_person=decision.verdict == "ask")) is not None:
            return Refused("denied", "floor", broken, receipt_id)
        most = self._policy().writes_per_turn
        if writes and turn.written.count >= most:
            return limit_reached(most, receipt_id)
        if decision.verdict == "ask" and not self._asker.present():
            return Refused("denied", "nobody", f"{decision.reason}; there is nobody to ask", receipt_id)
        return None

    def _broken_chain(self, call: ToolCall, *, by_person: bool = False) -> str | None:
        """Why the ledger's chain forbids this call; a read that needs no person may run."""
        return self._ledger.chain.refusal if by_person or not call.only_reads else None

    async def _ask(self, plan: Plan, decision: Decision, entry: Entry, passage: Submission, version: int) -> Resolution:
        seconds = self._policy().approvals_timeout or None
        kept = await self._adopted(plan.call, passage.restored) if passage.restored is not None else None
        passage.restored = None
        created_at = entry.at if kept is None else kept.asked.at
        passage.first_asked_at = passage.first_asked_at or created_at
        request = request_for(
            plan.call, decision, self._policy(), entry.digest, seconds=seconds, allow_offered=passage.allow_offered,
            created_at=created_at, first_asked_at=passage.first_asked_at, kept=kept,
            modes=tuple(passage.turn.modes),
        )  # fmt: skip
        if kept is not None:
            seconds = waiting_time(request, seconds)
        del decision
        pending = Pending(
            request=request,
            call=plan.call,
            receipt_id=entry.receipt_id,
            turn=passage.turn,
            prepare=passage.prepare,
            allow_offered=passage.allow_offered,
        )
        passage.turn.emit(call_event(plan.call, "waiting"))
        passage.place.leave()  # cards are shown in the order in which the ledger takes them, and it has this one next
        resolution = await self.asking.ask(
            pending,
            asked_entry(entry, request, passage.arguments_digest),
            adopted=kept is not None,
            seconds=seconds,
            shown=lambda: self._live.shown(version),
        )
        return resolution._replace(approval_id=request.approval_id)

    async def _record(self, entry: Entry, call: ToolCall, reason: str, passage: Submission) -> Entry:
        """Write down what was decided; for a request that waited on disk, its end says so, once.

        One that would be allowed, but whose card is no longer true, ends for that, and what was decided is of the call
        as it is now.
        """
        kept, passage.restored = passage.restored, None
        if kept is not None:
            stored = kept.stored
            if entry.verdict == "deny" or kept.asked.digest == call.digest():
                state = "allowed" if entry.verdict == "allow" else "denied"
                end = Resolution(state, entry.by or "mode", reason, evidence=entry.evidence)
                await self.asking.end_stored(stored, end)
                return entry._replace(approval_id=stored.approval_id)
            await self.asking.end_stored(stored, OUTDATED)
        await self._ledger.append(entry)
        return entry

    async def _adopted(self, call: ToolCall, kept: Question) -> Question | None:
        """Take over the request that waited on disk; None if what it showed is no longer true: then it has ended."""
        if kept.asked.digest == call.digest():
            await self._ledger.append(Adopted(kept.stored.approval_id, self._owner))
            return kept
        await self.asking.end_stored(kept.stored, OUTDATED)
        return None

    async def _run(
        self,
        plan: Plan,
        turn: Turn,
        entry: Entry,
        background: bool,
        version: int | None = None,
        runs: str | None = None,
        *,
        writes: bool = False,
        only_reads: bool = False,
    ) -> Settled:
        """Run the plan and record how it went; refuse a write past the limit of the turn.

        ``version`` is that of the rules that allowed it; None where no rule was asked. ``runs`` is the text that runs
        in place of the call's command. ``writes``: it counts against the limit. ``only_reads``: nothing
        allowed it but that it reads.
        """
        call, by = plan.call, entry.by or "user"
        began = time.monotonic()
        ran = ran_record(call, runs)
        try:
            await self._ledger.append(entry.next("started", outcome=ran or None))
            await self._check_at_use(call, turn, entry, version, runs)
            # INVARIANT (record first): a chain may be found broken while a card waits, or by this very commit.
            if (broken := self._broken_chain(call, by_person=by == "user")) is not None:
                await self._finish(entry, {"ended": "interrupted"})
                raise LedgerUnavailable(broken)
            permit = self._permit(
                call, by, turn, background=background, runs=runs, writes=writes, only_reads=only_reads
            )
            if permit is None:
                await self._finish(entry, {"ended": "limit"})
                return limit_reached(self._policy().writes_per_turn, entry.receipt_id)
            turn.emit(call_event(call, "running"))
            with self.running.running(call):
                outcome = await plan.run(permit)
        except LedgerUnavailable:
            raise
        except Stale:
            await self._finish(entry, {"ended": "stale"})
            raise
        except asyncio.CancelledError as cancelled:
            # A tool that was stopped says on the cancellation how far it got.
            far = getattr(cancelled, "outcome", None)
            record = far.record if isinstance(far, Outcome) else {}
            await self._keep_image(entry, far)
            await self._finish(entry, {"ended": "cancelled", "durationMs": _milliseconds(began), **record, **ran})
            raise
        except Exception as error:  # the boundary around tools: whatever goes wrong in one is its result
            outcome = Outcome(False, failure_text(error, call))
        duration = _milliseconds(began)
        await self._keep_image(entry, outcome)
        ended = {"ended": "done" if outcome.success else "failed", "durationMs": duration, **outcome.record, **ran}
        await self._finish(entry, ended)
        return Ran(outcome, by, entry.receipt_id, duration)

    def _permit(
        self,
        call: ToolCall,
        by: DecidedBy,
        turn: Turn,
        *,
        background: bool,
        runs: str | None,
        writes: bool,
        only_reads: bool,
    ) -> Permit | None:
        """Make the permit and count it, in one step; None past the turn's limit of writes."""
        if writes:
            if turn.written.count >= self._policy().writes_per_turn:
                return None
            turn.written.count += 1
        return _issue(call, by, background=background, runs=runs, only_reads=only_reads)

    async def _check_at_use(
        self, call: ToolCall, turn: Turn, entry: Entry, version: int | None, runs: str | None
    ) -> None:
        """Look again, as late as can be, whether files and rules are as they were when leave was given.

        Raises:
            Stale: they are not.
        """
        while True:
            if version not in (None, self._live.version):
                version = self._live.version
                later = await in_worker(self._decider.decide, call, turn)
                if withdrawn(later, entry.by) or (entry.by != "user" and later.runs != runs):
                    raise Stale("the rule or grant that allowed it no longer applies")
            # INVARIANT (same bytes): the tool looks again by descriptor.
            if call.bound and not await in_worker(blocking_still_true, call):
                raise Stale("the files that it is about have changed")
            if version in (None, self._live.version):
                return

    async def _keep_image(self, entry: Entry, outcome: Outcome | None) -> None:
        if outcome is None or outcome.before_image is None or self._images is None:
            return
        try:
            await in_worker(self._images.blocking_keep, entry.receipt_id, outcome.before_image)
        except OSError:
            log.exception("what a file held before could not be kept; its change cannot be taken back")

    async def _finish(self, entry: Entry, ended: Mapping[str, Json]) -> None:
        """Close the receipt; goes on when the turn is cancelled, and a failing ledger does not undo what was done."""
        row = entry.next("finished", outcome=dict(ended))
        await asyncio.shield(self.asking.own(self.asking.finish(row), f"finish {entry.receipt_id}"))

    # Deciding again: rules, grants, modes and settings change while cards are open.

    def changed(self) -> None:
        """Decide every open request again, soon: rules, grants, modes, trust or bypass changed."""
        self._live.changed()

    def revoke(self, grant_id: str) -> bool:
        """Take a grant back at once, for calls under way too; whether there was such a grant."""
        if not self.grants.revoke(grant_id):
            return False
        self.changed()
        return True

    async def park(self) -> None:
        """The server is about to end: requests that can be taken up again stay on disk, the others are interrupted."""
        self._parking = True
        for pending in self.asking.table:
            if pending.claimed_by is not None:
                continue
            if pending.turn.resumable:
                self._parked_calls.add(pending.call.tool_call_id)
                self.asking.park(pending)
            else:
                await self.asking.end_now(pending, Resolution("interrupted", "restart", "the window was closed"))

    def _entry(self, call: ToolCall, decision: Decision, receipt_id: str, digest: str, turn: Turn) -> Entry:
        workspace, model = self._policy().workspace, turn.model
        return entry_for(call, decision, receipt_id, digest, workspace=workspace, owner=self._owner, model=model)


def _milliseconds(since: float) -> int:
    return int((time.monotonic() - since) * 1000)
