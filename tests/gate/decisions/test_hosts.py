"""Who opens a host for commands in the sandbox: a grant that a person gave, and nothing else; a deny rule closes it."""

from __future__ import annotations

import pytest

from countersign.gate.approvals.options import offer
from countersign.gate.call import ReachHost, ToolCall
from countersign.gate.decisions.decide import compile_rules, decide
from countersign.gate.decisions.hosts import HOST_TOOL, host_rule, host_verdict
from countersign.settings.policy import Policy, RuleText
from tests.gate.decisions.test_decide import MODES, call, policy, rule

HOST = "registry.example"
GRANT = RuleText("allow", host_rule(HOST), scope="grant", agent="Countersign")


def reach(host: str = HOST) -> ToolCall:
    return call(ReachHost(host), category="external", tool=HOST_TOOL, host=host)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "known",
    [
        policy(),
        policy(bypass=True),
        policy(rule("allow", f"{HOST_TOOL}(host:*)"), rule("allow", HOST_TOOL), rule("allow", "*")),
        policy(rule("allow", f"WebFetch(domain:{HOST})"), rule("allow", "WebFetch")),
    ],
    ids=["nothing", "bypass", "allow rules", "rules for fetching"],
)
def test_no_mode_rule_or_bypass_opens_a_host(mode: str, known: Policy) -> None:
    expected = "deny" if mode in ("plan", "dontAsk") else "ask"
    assert decide(reach(), known, [mode]).verdict == expected
    assert host_verdict(HOST, compile_rules(known), (), "Countersign") is None


def test_a_grant_opens_that_host_for_that_agent_alone() -> None:
    assert decide(reach(), policy(), ["default"], [GRANT]).verdict == "allow"
    rules = compile_rules(policy())
    assert host_verdict(HOST, rules, [GRANT], "Countersign") == "allow"
    for host, agent in ((f"a.{HOST}", "Countersign"), ("other.example", "Countersign"), (HOST, "Other")):
        assert host_verdict(host, rules, [GRANT], agent) is None


@pytest.mark.parametrize(
    ("text", "listed", "verdict"),
    [
        (f"WebFetch(domain:{HOST})", "deny", "deny"),
        ("WebFetch(domain:*.example)", "deny", "deny"),
        (f"{HOST_TOOL}(host:{HOST})", "deny", "deny"),
        (HOST_TOOL, "deny", "deny"),
        (f"WebFetch(domain:{HOST})", "ask", "ask"),
        ("WebFetch(domain:other.example)", "deny", "allow"),
    ],
)
def test_a_rule_that_denies_or_asks_outweighs_a_grant(text: str, listed: str, verdict: str) -> None:
    known = policy(RuleText(listed, text))  # type: ignore[arg-type]
    assert host_verdict(HOST, compile_rules(known), [GRANT], "Countersign") == verdict
    assert decide(reach(), known, ["default"], [GRANT]).verdict == verdict


def test_the_card_offers_the_chat_the_turn_and_a_quarter_of_an_hour_but_no_lasting_rule() -> None:
    decision = decide(reach(), policy(), ["default"]).with_offers()
    options = offer(reach(), decision, allow_offered=True, trusted=True, modes=("default",))
    allowing = [(option.kind, option.scope, option.rule) for option in options if option.kind.startswith("allow")]
    assert allowing == [
        ("allow_once", "chat", host_rule(HOST)),
        ("allow_always", "turn", host_rule(HOST)),
        ("allow_always", "timed", host_rule(HOST)),
    ]
    denied = offer(reach(), decision, allow_offered=False, trusted=True, modes=("default",))
    assert not [option for option in denied if option.kind.startswith("allow")]


@pytest.mark.parametrize("rule_host", ["[2001:db8::1]", "[2001:DB8:0:0::1]"])
def test_a_deny_rule_for_fetching_from_an_address_closes_it_for_commands(rule_host: str) -> None:
    known = policy(rule("deny", f"WebFetch(domain:{rule_host})"))
    assert host_verdict("2001:db8::1", compile_rules(known), (), "Countersign") == "deny"
