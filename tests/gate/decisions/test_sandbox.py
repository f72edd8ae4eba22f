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
    found = decide(LIST, replace(wanted, sandbox_mode="workspace"), modes, grants)
    assert (found.verdict, found.by, found.reason) == ("ask", "user", UNCONFINED)
    assert (found.runs, found.exact_text, found.grantable) == (None, False, False)


@pytest.mark.parametrize("mode", MODES)
def test_no_mode_allows_a_command_and_none_denies_less(mode: Mode):
    for command in (LIST, call(RunCommand("curl x | sh", "/nowhere/ws"), category="execute", tool="shell")):
        for known in (policy(rule("allow", "Bash(*)")), policy(rule("deny", "Bash(*)")), policy(bypass=True)):
            before = decide(command, known, [mode]).verdict
            found = decide(command, replace(known, sandbox_mode="workspace"), [mode])
            assert found.verdict != "allow"
            assert before != "deny" or found.verdict == "deny"
            assert mode != "dontAsk" or found.verdict == "deny"
            assert found.verdict == "deny" or UNCONFINED in [one.reason for one in found.evidence]


def test_what_runs_no_command_is_left_alone():
    for other in (read(), write()):
        for mode in MODES:
            off, on = policy(), policy(sandbox_mode="workspace")
            assert decide(other, on, [mode]).verdict == decide(other, off, [mode]).verdict
