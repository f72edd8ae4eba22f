"""Which commands nobody allowed but their being known to read: those run in a read-only sandbox where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.decisions.decide import decide
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.wire.verdicts import Mode
from tests.gate.decisions.test_decide import call, policy, rule


def command(text: str, folder: Path, outside: str | None = None):
    return call(RunCommand(text, str(folder), outside=outside), category="execute", tool="shell", command=text)


SYNTAX = BashSyntax()
READS = ("ls", "cat a", "cat a | wc -l", "true", "cd b && ls", "test -e a", "echo hi", "head -1 a; pwd")


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto", "plan"])
@pytest.mark.parametrize("text", READS)
def test_what_only_reads(tmp_path: Path, text: str, mode: Mode) -> None:
    (tmp_path / "b").mkdir()
    decision = decide(command(text, tmp_path), policy(workspace=str(tmp_path)), [mode], check_syntax=SYNTAX)
    assert (decision.verdict, decision.only_reads) == ("allow", True)


@pytest.mark.parametrize(
    ("text", "mode", "rules"),
    [
        ("ls", "default", [rule("allow", "Bash(ls)")]),
        ("ls && make", "default", [rule("allow", "Bash(make)")]),
        ("make", "auto", []),
        ("ls; make", "auto", []),
        ("cat /etc/hostname", "auto", []),
        ("echo x >a", "auto", []),
        ("cat .env", "default", [rule("allow", "Read(.env)")]),
    ],
)
def test_what_a_rule_or_a_mode_for_more_allows(tmp_path: Path, text: str, mode: Mode, rules: list) -> None:
    decision = decide(command(text, tmp_path), policy(*rules, workspace=str(tmp_path)), [mode], check_syntax=SYNTAX)
    assert decision.verdict == "allow"
    assert not decision.only_reads


def test_a_model_cannot_lead_it_outside_by_itself(tmp_path: Path) -> None:
    known = policy(workspace=str(tmp_path))
    asked = decide(command("ls", tmp_path, outside="it is slow"), known, ["default"], check_syntax=SYNTAX)
    assert (asked.verdict, asked.only_reads) == ("ask", False)
    assert "it asks to run outside the sandbox: it is slow" in asked.reason
    assert decide(command("ls", tmp_path, outside="it is slow"), known, ["dontAsk"]).verdict == "deny"
