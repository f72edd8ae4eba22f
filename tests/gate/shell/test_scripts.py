"""A deny or ask rule for a program holds however that program is started as a script."""

from __future__ import annotations

import pytest

from .asked import decide

RULES = ("Bash(evil:*)", "Bash(./evil:*)", "Bash(scripts/evil:*)", "Bash(evil)", "Bash(evil *)", "Bash(*evil*)")
STARTED = [
    "evil", "./evil", "source evil", "source ./evil", ". evil", ". ./evil", "source -- evil", "bash evil",
    "sh ./evil", "bash -x evil", "bash +x evil", "bash -o pipefail evil", "bash -- evil", "bash sub/../evil",
    "bash /opt/x/evil", "cd sub; bash ../evil", "python evil", "python3 -u evil", "perl ./evil", "node evil",
    "env bash evil", "sudo bash evil", "timeout 5 bash evil", "nohup sh evil &", "bash -c './evil'",
    "bash -c 'source evil'", "bash -c 'sh evil'", "find . -exec bash evil ';'", "git bisect run bash evil",
    "xargs bash evil", "busybox sh evil", "bash --rcfile evil -i", "if true; then . evil; fi", "x=$(bash evil)",
    "cat <(bash evil)", "eval 'bash evil'", "trap '. evil' EXIT", "exec bash evil", "command . evil",
]  # fmt: skip
WITH_WORDS = ["bash evil x", ". evil --x", "source ./evil y", "sh -e evil 'a b'", "sudo -u root bash evil x"]


@pytest.mark.parametrize("command", STARTED)
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_for_a_program_sees_it_run_as_a_script(rule: str, command: str) -> None:
    for more in ({"mode": "auto"}, {"bypass": True}):
        assert decide(command, deny=[rule], **more) != "allow"
        assert decide(command, ask=[rule], **more) != "allow"


@pytest.mark.parametrize("command", WITH_WORDS)
def test_the_words_behind_a_script_are_its_words(command: str) -> None:
    assert decide(command, deny=["Bash(evil:*)"], mode="auto") == "deny"
    assert decide(command, deny=["Bash(evil)"], mode="auto") != "deny"


@pytest.mark.parametrize(
    "command", ["bash other", ". other", "bash evil.sh", "python -c 'evil'", "bash other evil", "cat evil"]
)
def test_a_rule_for_a_program_says_nothing_of_others(command: str) -> None:
    assert decide(command, deny=["Bash(evil:*)"], mode="auto") == "allow"
