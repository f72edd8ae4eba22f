"""A bash older than 5.2 looks for the end of `$(…)` before it reads what stands inside, and may find it elsewhere.

Every text here starts ``evil`` in one of the versions from 3.2 to 5.1, or may; all read otherwise in 5.2. What is
printed anew holds neither here-documents nor patterns of `case` without their parentheses, so it means one thing.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.shell.printing.second_opinion import disagreement
from countersign.gate.shell.syntax import bash_check
from countersign.gate.shell.syntax.bash_check import INNER_HEREDOCS, BashSyntax
from countersign.gate.shell.syntax.plain_bash import outside
from countersign.tools.shell import shell

from .asked import BASH, decide

MESSAGE = "git commit -m \"$(cat <<'EOF'\nfix: it's (nearly) done\n\n- one\nEOF\n)\""
FOUND_ELSEWHERE = (
    "echo $({ case a in b) : | evil\n;; esac; })",  # 5.1
    'echo "$(case a in b) : ; evil ;; esac)"',
    "cat <(case a in b) echo evil ;; esac)",  # 4.2
    "echo $(cat <<'E'\nE\\\n\nevil\nE\n)",  # 4.4
    "echo $(cat <<'E'\n\\\n| evil\nE\n)",  # 5.1
    "cat <(cat <<E\nx) | evil\nE\n)",  # 4.2
)
IN_OLD_HEREDOCS = ("echo $(cat <<E\n) ; evil ; : '\nE\n)\n: ' #'", "echo $(cat <<evil\n)\nevil\n)")
"""Only in 3.2, which macOS has."""


def old(text: str) -> str | None:
    """What the bash of macOS says."""
    return "syntax error near `)`" if text == INNER_HEREDOCS else None


@pytest.fixture
def _of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "RunCommand", partial(RunCommand, own_text=True))


@pytest.mark.usefixtures("_of_an_agent")
@pytest.mark.parametrize("text", FOUND_ELSEWHERE)
def test_an_agent_that_runs_its_own_text_asks(text: str) -> None:
    assert disagreement(text) is not None
    assert decide(text, allow=["Bash(evil:*)"]) == "ask"


@pytest.mark.parametrize("text", [*IN_OLD_HEREDOCS, MESSAGE])
def test_where_a_bash_knows_no_such_here_documents_they_ask(text: str) -> None:
    assert disagreement(text, BASH) is None
    assert "here-document" in (disagreement(text, old) or "")


@pytest.mark.usefixtures("_of_an_agent")
def test_a_message_by_a_here_document_needs_no_question() -> None:
    assert decide(MESSAGE, allow=["Bash(git commit:*)"]) == "allow"


@pytest.mark.parametrize("text", [*FOUND_ELSEWHERE[1:3], MESSAGE])
def test_what_is_printed_anew_needs_none_either(text: str) -> None:
    assert decide(text, allow=["Bash(evil:*)", "Bash(git commit:*)"]) == "allow"


def test_a_line_that_begins_like_the_end_is_outside_plain_bash() -> None:
    """There 5.2 itself ends the body, and goes on behind it."""
    found = outside("echo $(cat <<E\nE) ; evil\nE\n)")
    assert found is not None
    assert found.offset == 15
    assert outside("cat <<E\nE) ; evil\nE\n") is None


def test_every_bash_of_the_machine_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "bash"
    other.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    other.chmod(0o755)
    monkeypatch.setattr(bash_check, "_PLACES", (str(other),))
    assert BashSyntax()(INNER_HEREDOCS) is not None
    assert BashSyntax()("echo a; echo b") is None
