"""Decisions about commands that were made before, and hold as long as nothing that they rest on has changed.

A decision is a function of the call, the policy, the grants and the modes, what bash says of the text, and the disk.
The first are the key; each look at the disk was remembered (``probes/disk.py``) and is taken again before a decision
is: one that shows something else drops it, and the call is judged anew. So what is recalled is what judging would have
found, and no approval is in it: a call that asked asks again (decisions/006).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence

from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.probes.disk import Probe, unchanged, without_implied
from countersign.settings.policy import Policy, RuleText
from countersign.wire.verdicts import Mode

MOST_DECISIONS = 1024
"""How many are kept for one policy."""

MOST_POLICIES = 4

LONGEST = 2000
"""Characters of a command up to which its decision is kept."""

MOST_PROBES = 64
"""A decision that rests on more looks costs about as much to look at again as to make anew."""

_Kept = tuple[Decision, tuple[Probe, ...]]

_BY_POLICY: OrderedDict[int, tuple[Policy, OrderedDict[Hashable, _Kept]]] = OrderedDict()
"""By the policy's identity: comparing thousands of rules would cost more than deciding. It is kept alive beside its
decisions, so that its identity cannot become another's."""
_LOCK = threading.Lock()


def key_of(
    call: ToolCall, modes: Sequence[Mode], grants: Sequence[RuleText], check_syntax: Hashable
) -> Hashable | None:
    """What a decision rests on beside policy and disk; None where it is not to be kept.

    Only our own shell's commands are: rules for other tools may look at any argument of a call.
    """
    if call.tool != "shell" or len(call.effects) != 1:
        return None
    effect = call.effects[0]
    if not isinstance(effect, RunCommand) or len(effect.command) > LONGEST:
        return None
    said = (
        effect.command,
        effect.cwd,
        effect.understood,
        effect.own_text,
        effect.outside,
        call.cwd,
        call.agent,
        call.category,
    )
    return (*said, tuple(modes), tuple(grants), check_syntax)


def lookup_if_unchanged(policy: Policy, key: Hashable) -> Decision | None:
    """The decision of this key under this very policy, if all that it rests on is as it was."""
    kept = _BY_POLICY.get(id(policy))
    found = kept[1].get(key) if kept is not None and kept[0] is policy else None
    if found is None or not unchanged(found[1]):
        return None
    return found[0]


def store(policy: Policy, key: Hashable, decision: Decision, probes: Iterable[Probe]) -> None:
    """Keep a decision with the looks that it rests on, unless they are too many."""
    seen = without_implied(probes)
    if len(seen) > MOST_PROBES:
        return
    with _LOCK:
        kept = _BY_POLICY.get(id(policy))
        if kept is None or kept[0] is not policy:
            kept = _BY_POLICY[id(policy)] = (policy, OrderedDict())
        _BY_POLICY.move_to_end(id(policy))
        while len(_BY_POLICY) > MOST_POLICIES:
            _BY_POLICY.popitem(last=False)
        decisions = kept[1]
        decisions[key] = (decision, seen)
        decisions.move_to_end(key)
        while len(decisions) > MOST_DECISIONS:
            decisions.popitem(last=False)


def clear() -> None:
    """Drop them all."""
    with _LOCK:
        _BY_POLICY.clear()
