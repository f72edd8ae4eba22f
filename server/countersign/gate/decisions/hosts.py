"""Which hosts programs in the sandbox may reach: what rules and grants say, for a card and for the sandbox's proxy.

The network opens by `sandbox.hosts`, which the proxy knows, and by grants that a person gave on a card; no allow rule,
mode or bypass opens it. Deny and ask rules for the host, those for fetching among them, close it.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.finding import Finding
from countersign.gate.patterns import ParamPattern
from countersign.gate.rules.rule import HOST_TOOL
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet, evidence
from countersign.settings.policy import RuleText
from countersign.wire.verdicts import Evidence, Verdict

REASON = "programs in the sandbox reach only hosts of `sandbox.hosts` and those that you allow"


def host_rule(host: str) -> str:
    """The rule that says this host and no other."""
    return f"{HOST_TOOL}(host:{host})"


def reach_finding(host: str, rules: RuleSet, agent: str) -> Finding:
    """What rules and grants say of reaching this host from the sandbox."""

    # As rules for fetching spell it.
    fetched = f"[{host}]" if ":" in host else host

    def first(listed: ListName) -> Evidence | None:
        fetching = [] if listed == "grant" else list(rules.hosts(listed, fetched, agent))
        matching = [*(rule for rule in rules.tools(listed, HOST_TOOL, agent) if _covers(rule, host)), *fetching]
        return evidence(matching[0]) if matching else None

    return Finding(
        kind="fetch",
        resource=host,
        category="external",
        deny=first("deny"),
        ask=first("ask"),
        requires_ask=Evidence(source="floor", reason=REASON),
        bypassable=False,
        grant=first("grant"),
    )


def host_verdict(host: str, rules: RuleSet, grants: Sequence[RuleText], agent: str) -> Verdict | None:
    """The strictest that rules and grants say of this host; None where they say nothing."""
    finding = reach_finding(host, rules.with_chat(tuple(grants)) if grants else rules, agent)
    if finding.deny is not None:
        return "deny"
    if finding.ask is not None:
        return "ask"
    return None if finding.grant is None else "allow"


def _covers(rule: Rule, host: str) -> bool:
    match rule.specifier:
        case None:
            return True
        case ParamPattern(param="host") as pattern:
            return pattern.matches(host)
        case _:
            return False
