"""Decide a call under the policy, modes and grants of this moment; everything here blocks and runs in worker threads.

``gate.py`` decides when that is done and what follows from it; the verdict itself is ``decisions/decide.py``'s.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from countersign.gate.approvals.file_binding import blocking_states, risks_left
from countersign.gate.approvals.grants import GrantBook
from countersign.gate.approvals.reevaluate import still_asked
from countersign.gate.approvals.script_files import blocking_named_programs
from countersign.gate.approvals.stored_requests import arguments_digest
from countersign.gate.call import ToolCall
from countersign.gate.decision import Decision
from countersign.gate.finding import FILE_KINDS
from countersign.gate.plan import Plan
from countersign.gate.refusals import only_deny
from countersign.gate.risk import with_parts
from countersign.gate.submission import Submission
from countersign.gate.turn import Turn
from countersign.settings.policy import Policy, RuleText
from countersign.wire.rules import RuleList
from countersign.wire.verdicts import Evidence, Mode

log = logging.getLogger(__name__)

Decide = Callable[[ToolCall, Policy, Sequence[Mode], Sequence[RuleText]], Decision]
"""``decisions.decide`` with everything it needs beside these already given."""


class Decider:
    """Decides with the policy and the grants as they are when it is asked. An error in deciding denies."""

    def __init__(self, decide: Decide, policy: Callable[[], Policy], grants: GrantBook) -> None:
        self._decide = decide
        self._policy = policy
        self._grants = grants

    def bind(self, plan: Plan, submission: Submission) -> tuple[Plan, Decision]:
        """Decide the plan; bind it to the scripts it names and put the verdicts of its parts on the preview.

        A card is bound to all that its text could mean by a program, since nobody but the person looks at it.
        """
        decision = self.decide(plan.call, submission.turn)
        if decision.verdict == "allow" and not submission.allow_offered:
            decision = only_deny(decision)
        if decision.verdict == "ask":
            decision = _never_raising(plan.call, decision.with_offers)
        if submission.restored is not None:
            decision = still_asked(decision)
        call = plan.call
        scripts = decision.scripts
        if decision.verdict == "ask":
            scripts = (*scripts, *blocking_named_programs(call, decision, self._policy().workspace))
        missing = [path for path in scripts if all(state.path != path for state in call.bound)]
        if missing:
            call = call.rebound(blocking_states(missing))
        decision = replace(decision, risks=(*decision.risks, *risks_left(call, decision)))
        call = replace(call, preview=with_parts(call.preview, decision.parts))
        submission.digest, submission.arguments_digest = call.digest(), arguments_digest(call.arguments)
        return Plan(call, plan.run), decision

    def decide(self, call: ToolCall, turn: Turn) -> Decision:
        """Decide the call with the policy and the grants of its agent, thread and turn."""
        grants = self._grants.live(agent=call.agent, thread_id=call.thread_id, turn_id=turn.turn_id)
        return self._decided(call, self._policy(), turn.modes, grants)

    def covers(self, call: ToolCall, rule_list: RuleList, rule: str) -> bool:
        """Return true if this rule alone, in this list, allows the call or forbids it. Of a command it is enough that
        it allows a part: a card offers rules for each part that nothing covers yet."""
        kept = RuleText(rule_list, rule, scope="user", agent=call.agent)
        policy = self._policy()
        if rule_list != "allow":
            return self._decided(call, replace(policy, rules=(kept,)), ["auto"], ()).verdict == rule_list
        stern = tuple(known for known in policy.rules if known.list != "allow")
        alone = replace(policy, rules=(*stern, kept), agents={})
        decision = self._decided(call, alone, ["ask"], ())
        if decision.verdict == "allow" or (decision.part_findings and _allows_a_part(decision, rule)):
            return True
        files = dict.fromkeys(each.resource for each in decision.effects if each.kind in FILE_KINDS)
        grant = replace(kept, scope="grant", files=tuple(files))
        return self._decided(call, replace(alone, rules=stern), ["ask"], (grant,)).verdict == "allow"

    def _decided(self, call: ToolCall, policy: Policy, modes: Sequence[Mode], grants: Sequence[RuleText]) -> Decision:
        return _never_raising(call, lambda: self._decide(call, policy, tuple(modes), grants))


def _never_raising(call: ToolCall, decide: Callable[[], Decision]) -> Decision:
    try:
        return decide()
    except Exception as error:  # INVARIANT (strictest): an error of ours denies
        log.exception("deciding %s failed", call.tool)
        evidence = Evidence(source="error", reason=f"the gate failed ({type(error).__name__}), so it denies")
        return Decision("deny", "floor", (evidence,), (), evidence.reason, grantable=False)


def _allows_a_part(decision: Decision, rule: str) -> bool:
    """Whether this rule is why something of the call is allowed."""
    return any(
        each.verdict == "allow" and any(said.rule == rule for said in each.evidence) for each in decision.weighed
    )
