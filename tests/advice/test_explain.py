"""``countersign check``: lines in, lines out, whatever they hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from countersign.advice.explain import (
    TOOL_NAMES,
    BadQuestion,
    answer_of,
    check_line,
    check_lines,
    explain,
    supposed_call,
)
from countersign.settings.policy import Policy, RuleText
from tests.patience import PATIENCE


def ask(**question: Any) -> dict[str, Any]:
    return json.loads(
        check_line(json.dumps({"workspace": "/nowhere/ws", "home": "/nowhere/home", **question}).encode())
    )


def test_an_answer_holds_the_decision_its_effects_and_their_evidence() -> None:
    answer = ask(id=7, tool="read", args={"path": "a"}, rules={"deny": ["Read(./a)"]})
    reason = answer["effects"][0]["evidence"].pop("reason")
    assert reason
    assert answer == {
        "id": 7,
        "decision": "deny",
        "effects": [
            {
                "kind": "read",
                "resource": "/nowhere/ws/a",
                "verdict": "deny",
                "evidence": {"source": "rule", "rule": "Read(./a)", "file": None, "line": None},
            }
        ],
        "reason": "a deny rule matches: `Read(./a)`",
    }


def test_a_floor_is_named_as_such() -> None:
    assert ask(tool="write", args={"path": ".git/x"}, bypass=True)["effects"][0]["evidence"]["source"] == "floor"


ANSWERS = [
    # question, decision
    ({"tool": "read", "args": {"path": "a"}}, "allow"),
    ({"tool": "read_file", "args": {"path": "a"}}, "allow"),
    ({"tool": "list_dir", "args": {"path": "."}}, "allow"),
    ({"tool": "glob", "args": {"pattern": "*"}}, "allow"),
    ({"tool": "search", "args": {"pattern": "x", "path": "/etc"}}, "ask"),
    ({"tool": "list_open_files", "args": {}}, "allow"),
    ({"tool": "get_selection", "args": {}, "rules": {"deny": ["get_selection"]}}, "deny"),
    ({"tool": "get_diagnostics", "args": {"path": "a"}, "mode": "plan"}, "allow"),
    ({"tool": "get_diagnostics", "args": {"path": ".env"}}, "ask"),
    ({"tool": "find_symbols", "args": {"query": "x"}, "rules": {"ask": ["Read"]}}, "ask"),
    ({"tool": "find_references", "args": {"path": "/etc/x", "line": 1, "name": "x"}}, "ask"),
    ({"tool": "find_references", "args": {"path": "a"}, "rules": {"deny": ["Read(./a)"]}}, "deny"),
    ({"tool": "write", "args": {"path": "a", "content": "x"}}, "ask"),
    ({"tool": "write", "args": {"path": "a"}, "mode": "acceptEdits"}, "allow"),
    ({"tool": "edit", "args": {"path": "a"}, "mode": "plan"}, "deny"),
    ({"tool": "edit_file", "args": {"path": "a"}, "rules": {"allow": ["Edit(./a)"]}}, "allow"),
    # Editing a secret tells what it holds, so it needs the leave to read it too, as in the real call.
    ({"tool": "edit_file", "args": {"path": ".env"}, "rules": {"allow": ["Edit(./.env)"]}}, "ask"),
    ({"tool": "edit_file", "args": {"path": ".env"}, "rules": {"allow": ["Edit(./.env)", "Read(./.env)"]}}, "allow"),
    ({"tool": "shell_input", "args": {"shell_id": "1", "text": "ls"}, "rules": {"allow": ["Bash(ls)"]}}, "ask"),
    ({"tool": "bash", "args": {"command": "ls", "shell": "zsh"}, "rules": {"allow": ["Bash(ls)"]}}, "ask"),
    ({"tool": "bash", "args": {"command": "ls", "cwd": "/other"}}, "ask"),
    ({"tool": "delete_file", "args": {"path": "a"}, "bypass": True}, "allow"),
    ({"tool": "delete_file", "args": {"path": "a"}, "bypass": True, "trusted": False}, "ask"),
    ({"tool": "move_file", "args": {"path": "a", "to": ".git/x"}, "bypass": True}, "ask"),
    (
        {
            "tool": "web_fetch",
            "args": {"url": "https://example.com"},
            "rules": {"allow": ["WebFetch(domain:example.com)"]},
        },
        "allow",
    ),
    ({"tool": "mcp__a__b", "args": {}, "rules": {"allow": ["mcp__a"]}}, "allow"),
    ({"tool": "mcp__a__b", "args": {}}, "ask"),
    ({"tool": "nobody_knows", "args": {}}, "ask"),
    ({"tool": "nobody_knows", "args": {}, "mode": "auto"}, "allow"),
    ({"tool": "nobody_knows", "args": {}, "mode": "plan"}, "deny"),
    ({"tool": "todo_write", "args": {"items": []}}, "allow"),
    ({"tool": "run_subtask", "args": {"prompt": "x", "agent": "R"}, "rules": {"deny": ["Agent(R)"]}}, "deny"),
    ({"tool": "run_workflow", "args": {"workflow_id": "x"}}, "ask"),
    ({"tool": "read", "args": {"path": "/other/a"}, "additionalDirectories": ["/other"]}, "allow"),
    ({"tool": "read", "args": {"path": "~/a"}, "rules": {"allow": ["Read(~/a)"]}}, "allow"),
    ({"tool": "read", "args": {"path": "x"}, "cwd": "/nowhere/ws/sub"}, "allow"),
    ({"tool": "read", "args": {"path": "../x"}, "cwd": "sub"}, "allow"),
    ({"tool": "read", "args": {"path": "../../x"}, "cwd": "sub"}, "ask"),
    ({"tool": "read", "args": {"path": "a"}, "agent": "Other", "bypass": True}, "allow"),
    ({"tool": "write", "args": {"path": "a"}, "agent": "Other", "bypass": True}, "allow"),
]


@pytest.mark.parametrize(("question", "decision"), ANSWERS)
def test_a_supposed_call_is_decided(question: dict[str, Any], decision: str) -> None:
    assert ask(**question).get("decision") == decision


BAD: list[bytes] = [
    b"nothing",
    b"[1]",
    b'"text"',
    b"{}",
    b'{"tool": 3, "args": {}}',
    b'{"tool": "read"}',
    b'{"tool": "read", "args": []}',
    b'{"tool": "read", "args": {}}',
    b'{"tool": "read", "args": {"path": 3}}',
    b'{"tool": "shell_input", "args": {"shell_id": "1"}}',
    b'{"tool": "bash", "args": {"command": ["ls"]}}',
    b'{"tool": "read", "args": {"path": "a"}, "mode": "wild"}',
    b'{"tool": "read", "args": {"path": "a"}, "rules": []}',
    b'{"tool": "read", "args": {"path": "a"}, "rules": {"deny": "Read"}}',
    b'{"tool": "read", "args": {"path": "a"}, "rules": {"deny": [3]}}',
    b'{"tool": "read", "args": {"path": "a"}, "workspace": "relative"}',
    b'{"tool": "read", "args": {"path": "a"}, "workspace": "/a\\u0000b"}',
    b'{"tool": "read", "args": {"path": "a"}, "trusted": "yes"}',
    b'{"tool": "read", "args": {"path": "a"}, "bypass": 1}',
    b"\xff\xfe",
    b"[" * 100_000,
]


@pytest.mark.parametrize("line", BAD)
def test_a_line_that_is_not_understood_gets_an_error(line: bytes) -> None:
    answer = json.loads(check_line(line))
    assert set(answer) == {"id", "error"}


def test_an_error_carries_the_id_of_its_line() -> None:
    assert json.loads(check_line(b'{"id": "q1", "tool": 3}'))["id"] == "q1"


def test_every_line_gets_one_answer_in_order_and_blank_lines_none() -> None:
    answers: list[str] = []
    lines = [
        b'{"id": 1, "tool": "read", "args": {"path": "a"}}\n',
        b"\n",
        b"  \n",
        b"broken\n",
        b'{"id": 3, "tool": "x", "args": {}}',
    ]
    check_lines(lines, answers.append)
    assert [json.loads(answer)["id"] for answer in answers] == [1, None, 3]
    assert all("\n" not in answer for answer in answers)


def test_explain_judges_by_the_live_policy() -> None:
    policy = Policy(
        workspace="/nowhere/ws", home="/nowhere/home", rules=(RuleText("deny", "Read(./a)", file="s", line=2),)
    )
    decision = explain({"tool": "read", "args": {"path": "a"}}, policy, "default")
    assert (decision.verdict, answer_of(decision)["effects"][0]["evidence"]["line"]) == ("deny", 2)
    with pytest.raises(BadQuestion):
        explain({"tool": "read"}, policy, "default")


def test_every_tool_of_ours_is_known_by_its_category() -> None:
    policy = Policy(workspace="/nowhere/ws", home="/nowhere/home")
    args = {"path": "a", "to": "b", "command": "x", "text": "y", "pattern": "*", "url": "https://example.com"}
    categories = {tool: supposed_call({"tool": tool, "args": args}, policy).category for tool in TOOL_NAMES}
    assert categories["shell"] == "execute"
    assert categories["web_fetch"] == "external"
    assert categories["run_subtask"] == "read"
    assert categories["write_file"] == "write"


def test_the_command_answers_line_by_line_and_ends_well(tmp_path: Path) -> None:
    lines = '{"id": 1, "tool": "read", "args": {"path": "a"}}\n\nbroken\n'
    lines += (
        '{"id": 2, "tool": "bash", "args": {"command": "printf \'%s\' x"}, "rules": {"allow": ["Bash(printf:*)"]}}\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "countersign", "check"],
        input=lines, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert [answer.get("decision", "error") for answer in answers] == ["allow", "error", "allow"]
    assert answers[0]["effects"][0]["resource"] == str(tmp_path / "a")
