"""What a sandbox that is configured and cannot be had does to a decision.

This version confines no command. While `sandbox.mode` is not `off`, whoever turned it on counts on a wall that is not
there: so a command that would be allowed asks, and its card says that it runs outside a sandbox. This is the only place
that decides so; a confiner replaces it.
"""

from __future__ import annotations

from dataclasses import replace

from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.settings.policy import Policy
from countersign.wire.verdicts import Evidence, Mode

UNCONFINED = "`sandbox.mode` is on, and this version has no sandbox: the command would run outside it"


def ask_outside_sandbox(decision: Decision, call: ToolCall, policy: Policy, modes: tuple[Mode, ...]) -> Decision:
    """Return the decision on a command while a sandbox is configured: allow becomes ask, or deny in `dontAsk`."""
    if policy.sandbox_mode == "off" or decision.verdict == "deny":
        return decision
    if not any(isinstance(effect, RunCommand) for effect in call.effects):
        return decision
    unconfined = Evidence(source="floor", reason=UNCONFINED)
    if decision.verdict == "ask":
        return replace(decision, evidence=(*decision.evidence, unconfined), grantable=False)
    denied = "dontAsk" in modes
    return replace(
        decision,
        verdict="deny" if denied else "ask",
        by="floor" if denied else "user",
        evidence=(unconfined, *decision.evidence),
        reason=UNCONFINED,
        grantable=False,
        exact_text=False,
        runs=None,
    )
