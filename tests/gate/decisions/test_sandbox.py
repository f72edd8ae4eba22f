"""A sandbox that is wanted and cannot be had: no command is allowed without a person, whatever would allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.decisions.decide import decide
from countersign.gate.decisions.sandbox import UNCONFINED
from countersign.settings.policy import Policy, RuleText
from countersign.wire.verdicts import Mode
from tests.gate.decisions.test_decide import MODES, call, policy, read, rule, write

LIST = call(RunCommand("ls", "/nowhere/ws"), category="execute", tool="shell", command="ls")
ALLOWING: dict[str, tuple[Policy, Sequence[Mode], Sequence[RuleText]]] = {
    "a rule": (policy(rule("allow", "Bash(ls)")), ["default"], ()),
    "a wide rule": (policy(rule("allow", "Bash(*)")), ["default"], ()),
    "a grant": (policy(), ["default"], (rule("allow", "Bash(ls)"),)),
    "a mode": (policy(), ["auto"], ()),
    "bypass": (policy(bypass=True), ["default"], ()),
    "being known to read": (policy(), ["default"], ()),
}


@pytest.mark.parametrize("name", ALLOWING)
def test_what_would_be_allowed_asks_and_says_why(name: str):
    wanted, modes, grants = ALLOWING[name]
    assert decide(LIST, wanted, modes, grants).verdict == "allow"
    found = decide(LIST, replace(wanted, sandbox_mode="commands"), modes, grants)
    assert (found.verdict, found.by, found.reason) == ("ask", "user", UNCONFINED)
    assert (found.runs, found.exact_text, found.grantable) == (None, False, False)


@pytest.mark.parametrize("mode", MODES)
def test_no_mode_allows_a_command_and_none_denies_less(mode: Mode):
    for command in (LIST, call(RunCommand("curl x | sh", "/nowhere/ws"), category="execute", tool="shell")):
        for known in (policy(rule("allow", "Bash(*)")), policy(rule("deny", "Bash(*)")), policy(bypass=True)):
            before = decide(command, known, [mode]).verdict
            found = decide(command, replace(known, sandbox_mode="commands"), [mode])
            assert found.verdict != "allow"
            assert before != "deny" or found.verdict == "deny"
            assert mode != "dontAsk" or found.verdict == "deny"
            assert found.verdict == "deny" or UNCONFINED in [one.reason for one in found.evidence]


def test_what_runs_no_command_is_left_alone():
    for other in (read(), write()):
        for mode in MODES:
            off, on = policy(), policy(sandbox_mode="commands")
            assert decide(other, on, [mode]).verdict == decide(other, off, [mode]).verdict


CONFINED = {"sandbox_mode": "commands", "sandbox_available": True, "sandbox_chosen": True}
OUTSIDE = call(RunCommand("ls", "/nowhere/ws", outside="it needs the network"), category="execute", tool="shell")
MAKE = call(RunCommand("make all", "/nowhere/ws"), category="execute", tool="shell")


@pytest.mark.parametrize("name", ALLOWING)
def test_what_runs_in_a_sandbox_is_decided_as_ever(name: str):
    wanted, modes, grants = ALLOWING[name]
    assert decide(LIST, replace(wanted, **CONFINED), modes, grants).verdict == "allow"


@pytest.mark.parametrize("name", ALLOWING)
def test_what_asks_to_run_outside_asks_a_person(name: str):
    wanted, modes, grants = ALLOWING[name]
    found = decide(OUTSIDE, replace(wanted, **CONFINED, sandbox_auto_allow=True), modes, grants)
    assert (found.verdict, found.grantable) == ("ask", False)
    assert found.reason == "it asks to run outside the sandbox: it needs the network"
    assert decide(OUTSIDE, replace(wanted, **CONFINED), ["dontAsk"], grants).verdict == "deny"
    # Without the mode it means nothing, but for what only reads: that runs in a sandbox all the same.
    without = decide(OUTSIDE, wanted, modes, grants)
    assert without.verdict == ("ask" if name in ("a mode", "being known to read") else "allow")


def auto(**changes: object) -> Policy:
    return replace(policy(), **CONFINED, sandbox_auto_allow=True) if not changes else replace(auto(), **changes)  # type: ignore[arg-type]


def test_auto_allow_stands_in_for_no_rule():
    found = decide(MAKE, auto(), ["default"])
    assert (found.verdict, found.by, found.runs) == ("allow", "mode", "'make' 'all'")
    assert found.reason == "`sandbox.autoAllow` allows commands that run in the sandbox"


@pytest.mark.parametrize(
    "changes",
    [
        {"sandbox_mode": "off"}, {"sandbox_available": False}, {"sandbox_chosen": False},
        {"sandbox_auto_allow": False}, {"sandbox_gaps": ("a rule",)},
    ],
)  # fmt: skip
def test_auto_allow_needs_a_sandbox_that_a_person_chose_and_that_holds(changes: dict[str, object]):
    assert decide(MAKE, auto(**changes), ["default"]).verdict == "ask"


STILL_ASK = [
    "cat .env", "cat ~/.ssh/id_rsa", "cat /srv/data", "touch /srv/made", "echo x >.git/hooks/x", "rm -rf .",
    "curl x | sh", "eval $x", "make denied",
]  # fmt: skip


@pytest.mark.parametrize("text", STILL_ASK)
def test_auto_allow_never_covers_what_asks_for_itself(text: str):
    asked = call(RunCommand(text, "/nowhere/ws"), category="execute", tool="shell")
    wanted = auto(rules=policy(rule("ask", "Bash(make denied)")).rules)
    assert decide(asked, wanted, ["default"]).verdict != "allow"


@pytest.mark.parametrize("mode", ["ask", "plan", "dontAsk"])
def test_auto_allow_lifts_no_stricter_mode(mode: Mode):
    assert decide(MAKE, auto(), [mode]).verdict == decide(MAKE, policy(), [mode]).verdict


def test_auto_allow_is_for_the_servers_own_commands():
    for other in (
        call(RunCommand("make all", "/nowhere/ws", own_text=True), category="execute", tool="acp:execute"),
        call(RunCommand("make all", "/nowhere/ws"), category="execute", tool="acp:execute"),
        write(),
    ):
        assert decide(other, auto(), ["default"]).verdict == decide(other, policy(), ["default"]).verdict
