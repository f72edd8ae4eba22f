"""A deny rule for commands holds for every call that could run one, in whatever shape an agent says it.

Rows are (what the agent said, rule, verdict): a call whose shape is not understood is judged by every string in it that
could be a command, for deny and ask rules alone; nothing in such a call is allowed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.agents.acp.effects import show, work_out
from countersign.agents.acp.hints import MOST_COMMANDS
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.translate import ToolReport
from countersign.gate.call import ToolCall
from countersign.gate.decisions.decide import decide
from countersign.settings.policy import Policy, RuleText


def verdict(workspace: Path, *said: dict, rules: tuple[tuple[str, str], ...], mode: str = "default") -> str:
    report = ToolReport("a")
    for raw in said:
        report = report.merged(raw)
    ground = AgentContext(str(workspace), "/home/me", runs_bash=True)
    touch = work_out(report, ground)
    preview, bound = show(touch, report, ground)
    call = ToolCall("a", "t", "u", "agent", f"acp:{report.tool_kind}", {}, report.tool_kind, touch.category,
                    touch.effects, preview, str(workspace), bound=bound)  # fmt: skip
    policy = Policy(str(workspace), "/home/me", trusted=True, rules=tuple(RuleText(*rule) for rule in rules))
    return decide(call, policy, [mode], check_syntax=lambda text: None).verdict  # type: ignore[list-item]


RM = ("deny", "Bash(rm:*)")
SHAPES = {
    "a list of commands": {"commands": ["rm -f x"]},
    "a list, not at its head": {"commands": ["ls", "rm -f x"]},
    "a list of objects": {"commands": [{"command": "ls"}, {"command": "rm -f x"}]},
    "a list of objects with other keys": {"steps": [{"do": "rm -f x"}]},
    "a text": "rm -f x",
    "a list at the top": ["rm -f x"],
    "words at the top": ["rm", "-f", "x"],
    "words": {"commands": ["rm", "-f", "x"]},
    "words under a name nobody knows": {"argv": ["rm", "-f", "x"]},
    "a program and its arguments": {"command": "rm", "args": ["-f", "x"]},
    "a program and its arguments, by other names": {"executable": "rm", "arguments": "-f x"},
    "a shell and its words": {"command": ["bash", "-lc", "rm -f x"], "stdin": ""},
    "a shell and its words under a name nobody knows": {"exec": ["bash", "-lc", "rm -f x"]},
    "a script": {"script": "ls\nrm -f x\n"},
    "a script after other lines": {"language": "bash", "code": "cd /tmp\nif true; then rm -f x; fi"},
    "a key nobody knows": {"command": "rm -f x", "sudo": True},
    "deep inside": {"input": {"request": [{"tool": {"line": "rm -f x"}}]}},
    "a key that is the command": {"rm -f x": True},
    "JSON in a text": {"input": '{"commands": ["rm -f x"]}'},
    "JSON in JSON": {"input": '{"input": "{\\"command\\": \\"rm -f x\\"}"}'},
    "a path beside it": {"path": "x", "then": "rm -f x"},
    "under the name of a path": {"file": "rm -f x"},
    "a file and its arguments": {"file": "rm", "args": ["-f", "x"]},
    "a path and its arguments": {"args": ["-f", "x"], "path": "rm", "cwd": "."},
    "under the name of a query": {"query": "rm -f x"},
    "behind many others": {"commands": [*["true"] * 200, "rm -f x"]},
}
"""Inputs of a call that says it executes, or says nothing of what it is."""


@pytest.mark.parametrize("kind", ["execute", "other", None, "made-up"])
@pytest.mark.parametrize("raw", SHAPES.values(), ids=SHAPES)
def test_a_deny_rule_denies_whatever_shape_the_command_comes_in(tmp_path: Path, raw, kind):
    said = {"kind": kind, "rawInput": raw, "title": "Run it"}
    assert verdict(tmp_path, said, rules=(RM,)) == "deny"
    assert verdict(tmp_path, said, rules=(RM, ("allow", "Bash"), ("allow", "Bash(ls:*)"))) == "deny"


@pytest.mark.parametrize("kind", ["read", "edit", "search", "fetch", "think", "delete", "move", "switch_mode"])
@pytest.mark.parametrize(
    "raw",
    [raw for name, raw in SHAPES.items() if not name.startswith("under the name")],
    ids=[name for name in SHAPES if not name.startswith("under the name")],
)
def test_a_claimed_kind_hides_no_command(tmp_path: Path, raw, kind):
    assert verdict(tmp_path, {"kind": kind, "rawInput": raw}, rules=(RM,)) == "deny"


@pytest.mark.parametrize("raw", SHAPES.values(), ids=SHAPES)
def test_an_ask_rule_is_named_on_the_card_and_without_a_rule_it_asks(tmp_path: Path, raw):
    said = {"kind": "execute", "rawInput": raw}
    assert verdict(tmp_path, said, rules=(("ask", "Bash(rm:*)"), ("allow", "Bash"))) == "ask"
    assert verdict(tmp_path, said, rules=()) == "ask"


def test_a_cut_title_is_not_judged_where_the_input_holds_the_command(tmp_path: Path):
    said = {"kind": "execute", "title": "rm -f x", "rawInput": {"commands": ["make"]}}
    assert verdict(tmp_path, said, rules=(RM,)) == "ask"


def test_a_title_is_judged_where_nothing_else_is_said(tmp_path: Path):
    for kind in ("execute", "other", "search", None):
        said = {"kind": kind, "title": "rm -f x [current working directory /w] (Remove a file)"}
        assert verdict(tmp_path, said, rules=(RM,)) == "deny", kind


MANY = [f"echo {number}" for number in range(MOST_COMMANDS + 1)]
LONG = [f"echo {letter * 100_000}" for letter in "abc"]


def test_a_list_that_is_longer_than_is_judged_is_refused_whole(tmp_path: Path):
    for commands in (MANY, LONG):
        report = ToolReport("a").merged({"kind": "execute", "rawInput": {"commands": commands, "more": True}})
        assert work_out(report, AgentContext(str(tmp_path), "/home/me", runs_bash=True)).too_much


def test_what_a_file_is_to_hold_is_no_command(tmp_path: Path):
    said = {"kind": "edit", "rawInput": {"path": "a.sh", "content": "rm -f x\n"}}
    assert verdict(tmp_path, said, rules=(RM, ("allow", "Edit(a.sh)"))) == "allow"


LISTS = {
    "one command": (["ls -la"], "allow"),
    "two commands": (["ls", "cat seed.txt"], "allow"),
    "a denied one": (["ls", "rm x"], "deny"),
    "one that no rule covers": (["ls", "make it"], "ask"),
}


@pytest.mark.parametrize(("commands", "expected"), LISTS.values(), ids=LISTS)
def test_a_list_of_commands_is_understood_as_those_commands(tmp_path: Path, commands, expected):
    said = {"kind": "execute", "rawInput": {"commands": commands}}
    assert verdict(tmp_path, said, rules=(RM, ("allow", "Bash(ls:*)"), ("allow", "Bash(cat:*)"))) == expected


def put(raw: object, leaf: object, draw) -> object:
    """The value with the leaf somewhere in it."""
    choice = draw(st.integers(0, 2))
    key = draw(st.sampled_from(["command", "input", "x", "args", "commands", "line", "cmd", "data", "a b"]))
    if choice == 0:
        return {"more": raw, key: leaf}
    if choice == 1:
        return [raw, leaf]
    return {key: [leaf, raw]}


@st.composite
def hidden(draw) -> object:
    """Some JSON that holds the command anywhere."""
    noise = st.sampled_from(["", "hello", 1, True, None, "a/b.txt", ["z"], {"k": "v"}])
    value: object = "rm -f x"
    for _ in range(draw(st.integers(0, 5))):
        value = put(draw(noise), value, draw)
    return value


@given(raw=hidden(), kind=st.sampled_from(["execute", "other", "unknown", None]))
@settings(deadline=None)
def test_a_command_anywhere_in_the_input_is_denied(tmp_path_factory: pytest.TempPathFactory, raw, kind):
    place = tmp_path_factory.getbasetemp()
    assert verdict(place, {"kind": kind, "rawInput": raw}, rules=(RM,)) == "deny"


@pytest.mark.parametrize(
    "raw",
    [
        {"address": "https://bad.example/x"},
        {"address": " HTTPS://bad.example/x"},
        {"steps": [{"url": "bad.example/x", "then": 1}]},
        {"url": "Http://bad.example", "strange": True},
    ],
)
@pytest.mark.parametrize("kind", ["fetch", "other", "execute"])
def test_an_address_counts_in_any_spelling(tmp_path: Path, raw: dict, kind: str) -> None:
    said = {"kind": kind, "rawInput": raw}
    assert verdict(tmp_path, said, rules=(("deny", "WebFetch(domain:bad.example)"),), mode="auto") == "deny"
