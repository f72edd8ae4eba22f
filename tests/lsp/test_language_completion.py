"""What is offered in settings files, and what stands in the text once it was taken."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from countersign.gate.rules.rule import parse_rule
from countersign.lsp.language.completion import Surroundings
from countersign.lsp.language.rule_descriptions import AGENT_KEYS, MODES
from countersign.settings.policy import AgentConfig, ModelConfig, Policy, RuleText
from tests.lsp.language_support import completed, decision

POLICY = Policy(
    workspace="/projects",
    home="/home/me",
    agents={"Countersign": AgentConfig("Countersign"), "Claude": AgentConfig("Claude", type="acp", command="c")},
    models={"demo": ModelConfig("demo", "demo"), "big": ModelConfig("big", "ollama")},
    raw={"mcpServers": {"github": {"command": "gh-mcp"}, "an odd name": {}}},
)
TREE = {"": ["src", "docs", ".git", ".vscode", "a b", "x\u202ey"], "src": ["lib"], "src/lib": []}


def around(**more: object) -> Surroundings:
    folders = {"folders": lambda folder: TREE.get(folder, ())}
    return Surroundings(**{"policy": POLICY, "snippets": True, "tools": ["todo_write"], **folders, **more})  # type: ignore[arg-type]


TAKEN = [
    ("a form", '{"countersign.permissions.allow": ["|"]}', "Bash(command *)", '["Bash(${1:command} *)"]}'),
    ("without quotes", '{"countersign.permissions.allow": [|]}', "Read(folder/**)", '["Read(${1:folder}/**)"]}'),
    ("over what is there", '{"countersign.permissions.deny": ["Ba|sh"]}', "WebFetch", '["WebFetch"]}'),
    ("two holes", '{"countersign.permissions.ask": ["|"]}', "mcp__server__tool", '["mcp__${1:server}__${2:tool}"]}'),
    ("a server", '{"countersign.permissions.allow": ["|"]}', "mcp__github", '["mcp__github"]}'),
    ("an agent", '{"countersign.permissions.allow": ["Agent(|"]}', "Agent(Claude)", '["Agent(Claude)"]}'),
    ("another tool", '{"countersign.permissions.allow": ["|"]}', "todo_write", '["todo_write"]}'),
    ("in an object", '{"countersign.permissions.deny": [{"rule": "|"}]}', "Bash", '[{"rule": "Bash"}]}'),
    ("a folder", '{"countersign.permissions.allow": ["Edit(s|"]}', "Edit(src/**)", '["Edit(src/**)"]}'),
    ("deeper", '{"countersign.permissions.allow": ["Read(src/|"]}', "Read(src/lib/**)", '["Read(src/lib/**)"]}'),
    ("anchored", '{"countersign.permissions.allow": ["Read(./|"]}', "Read(./docs/**)", '["Read(./docs/**)"]}'),
    ("a blank in a name", '{"countersign.permissions.allow": ["Read(|"]}', r"Read(a\ b/**)", '["Read(a\\\\ b/**)"]}'),
    ("no closing quote", '{"countersign.permissions.allow": ["Read(|\n]}', "Read(./**)", '["Read(./**)"\n]}'),
    ("a mode", '{"countersign.mode": "|"}', "plan", ' "plan"}'),
    ("a bare mode", '{"countersign.mode": pl|}', "plan", ' "plan"}'),
    ("a key", '{"countersign.agents": {"X": {|}}}', "command", '{"command": }}}'),
    ("a key in quotes", '{"countersign.agents": {"X": {"|": 1}}}', "command", '{"command": 1}}}'),
    ("bypass", '{"countersign.agents": {"X": {"bypassPermissions": |}}}', "false", ": false}}}"),
    ("a model", '{"countersign.agents": {"X": {"model": "|"}}}', "big", ' "big"}}}'),
    ("the default agent", '{"countersign.defaultAgent": "|"}', "Claude", ' "Claude"}'),
]


@pytest.mark.parametrize(("text", "label", "ending"), [pytest.param(*case[1:], id=case[0]) for case in TAKEN])
def test_taking_an_offer_leaves_the_text_right(text: str, label: str, ending: str) -> None:
    assert completed(text, around())[label].endswith(ending)


NONE = [
    '{"editor.font": "|"}',
    '{"countersign.permissions.additionalDirectories": ["|"]}',
    '{"permissions": {"allow": ["|"]}}',
    "// |\n{}",
    '{"countersign.agents": {"X": {"bypassPermissions": "|"}}}',
]


@pytest.mark.parametrize("text", NONE)
def test_elsewhere_nothing_is_offered(text: str) -> None:
    assert completed(text, around()) == {}


def test_in_a_policy_file_the_prefix_may_be_left_out() -> None:
    assert "Bash(command *)" in completed('{"permissions": {"allow": ["|"]}}', around(), "rules")


def test_in_a_code_workspace_file_offers_stand_in_its_settings() -> None:
    assert "Bash(command *)" in completed(
        '{"settings": {"countersign.permissions.allow": ["|"]}}', around(), "code_workspace"
    )
    assert completed('{"countersign.permissions.allow": ["|"]}', around(), "code_workspace") == {}


def test_modes_are_offered_with_what_they_do() -> None:
    assert list(completed('{"countersign.mode": "|"}', around())) == list(MODES)


def test_keys_that_stand_there_already_are_not_offered() -> None:
    text = '{"countersign.agents": {"X": {"command": "c", "|", "args": []}}}'
    assert list(completed(text, around())) == [key for key in AGENT_KEYS if key not in ("command", "args")]


FOLDERS = [
    ("Read(|", ["Read(.vscode/**)", r"Read(a\ b/**)", "Read(docs/**)", "Read(src/**)", "Read(./**)"]),
    ("Edit(|", [r"Edit(a\ b/**)", "Edit(docs/**)", "Edit(src/**)"]),
    ("Read(src/l|", ["Read(src/lib/**)"]),
    ("Read(src/../|", []),
    ("Read(~/|", []),
]


@pytest.mark.parametrize(("typed", "expected"), FOLDERS)
def test_folders_are_offered_but_for_those_that_no_rule_should_open(typed: str, expected: Sequence[str]) -> None:
    offered = [*completed(f'{{"countersign.permissions.allow": ["{typed}"]}}', around())]
    assert offered == list(expected)


PAST = [
    decision("npm run test"),
    decision("npm run test"),
    decision("make fmt"),
    decision("make fmt; curl evil"),
    decision("echo $HOME"),
    decision("echo [redacted]"),
    decision("ls *"),
    decision("python -c pass"),
    decision("git push", verdict="deny"),
    decision("ls", by="mode"),
    decision("x" * 200),
]
COMMANDS = [
    ("allow", ["Bash(npm run test)", "Bash(make fmt)", "Bash(python -c pass)"]),
    ("deny", ["Bash(git push)"]),
    ("ask", ["Bash(npm run test)", "Bash(make fmt)", "Bash(python -c pass)", "Bash(git push)"]),
]


@pytest.mark.parametrize(("listed", "expected"), COMMANDS)
def test_commands_that_a_person_answered_for_are_offered_word_for_word(listed: str, expected: list[str]) -> None:
    offered = completed(f'{{"countersign.permissions.{listed}": ["|"]}}', around(past=PAST))
    past = {"Bash(" + entry.input["command"] + ")" for entry in PAST if isinstance(entry.input, dict)}
    assert [label for label in offered if label in past] == expected


def test_whatever_is_offered_for_a_list_is_a_rule_of_that_list() -> None:
    for listed in ("allow", "ask", "deny"):
        for typed in ("", "Read(", "Edit(src/"):
            text = f'{{"countersign.permissions.{listed}": ["{typed}|"]}}'
            for taken in completed(text, around(past=PAST, snippets=False)).values():
                rule = json.loads(taken)["countersign.permissions." + listed][0]
                if not rule.endswith(("(", "domain:", "mcp__", "mcp__github__")):  # what is to be filled in
                    parse_rule(RuleText(listed, rule))


def test_a_client_without_snippets_gets_the_text_up_to_what_is_to_be_filled_in() -> None:
    offered = completed('{"countersign.permissions.allow": ["|"]}', around(snippets=False))
    assert json.loads(offered["Bash(command *)"]) == {"countersign.permissions.allow": ["Bash("]}
