"""Recorded reports of eight real agents about their calls (`wires/NAME.json`), each read as the right effects.

A recording holds, by scenario, everything that the agent reported about its last call before asking; `{ws}` and
`{outside}` stand for folders, `{ws-bare}` for one without its first slash. Rules, modes and cards must work on them
alike, whatever the agent is: `rm` is denied by a rule for commands, an edit shows its true change.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from countersign.agents.acp.effects import Touch, show, work_out
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.translate import ToolReport
from countersign.gate.call import ReadPath, RunCommand, ToolCall, WritePath
from countersign.gate.decisions.decide import decide
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.approvals import Preview

WIRES = Path(__file__).parent / "wires"
AGENTS = ("claude", "gemini", "qwen", "opencode", "codex", "zed-codex", "copilot", "cline")
ONLY_HINTED = {("gemini", "rm"), ("gemini", "look")}
"""Gemini says its command only in the title, with nothing that says in which folder."""


def recorded(name: str) -> dict[str, list[dict]]:
    return json.loads((WIRES / f"{name}.json").read_text())


ROWS = [(name, scenario) for name in AGENTS for scenario in recorded(name)]


def of(*scenarios: str) -> list[tuple[str, str]]:
    return [row for row in ROWS if row[1] in scenarios]


class Desk:
    """A workspace with the file that the recordings work on, and what is made of a recording there."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "ws"
        self.outside = folder / "outside"
        self.workspace.mkdir()
        self.outside.mkdir()
        (self.workspace / "seed.txt").write_text("alpha\nbeta\ngamma\n")
        (self.outside / "secret.txt").write_text("outside-secret\n")
        self.ground = AgentContext(str(self.workspace), "/home/me", runs_bash=True)

    def hear(self, name: str, scenario: str) -> ToolReport:
        report = None
        for said in recorded(name)[scenario]:
            text = json.dumps(said)
            for mark, folder in (("ws", self.workspace), ("outside", self.outside)):
                text = text.replace("{" + mark + "}", str(folder)).replace("{" + mark + "-bare}", str(folder)[1:])
            raw = json.loads(text)
            report = (report or ToolReport(raw["toolCallId"])).merged(raw)
        assert report is not None
        return report

    def read(self, name: str, scenario: str) -> tuple[Touch, Preview]:
        report = self.hear(name, scenario)
        touch = work_out(report, self.ground)
        return touch, show(touch, report, self.ground)[0]

    def verdict(
        self, name: str, scenario: str, *rules: tuple[str, str], mode: str = "default", bypass: bool = False
    ) -> str:
        report = self.hear(name, scenario)
        touch = work_out(report, self.ground)
        preview, bound = show(touch, report, self.ground)
        call = ToolCall("a", "t", "u", name, f"acp:{report.tool_kind}", {}, report.tool_kind, touch.category,
                        touch.effects, preview, str(self.workspace), bound=bound)  # fmt: skip
        agents = {name: AgentConfig(name, "acp", bypass=bypass)}
        texts = tuple(RuleText(*rule) for rule in rules)
        given = Policy(str(self.workspace), "/home/me", trusted=True, rules=texts, agents=agents)
        return decide(call, given, [mode], check_syntax=lambda text: None).verdict  # type: ignore[list-item]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path.resolve())


CHANGES = {
    "write": ("made.txt", None, "made by the agent\nline two\n"),
    "edit": ("seed.txt", "alpha\nbeta\ngamma\n", "alpha\nBETA\ngamma\n"),
    "over": ("seed.txt", "alpha\nbeta\ngamma\n", "overwritten\n"),
}


@pytest.mark.parametrize(("name", "scenario"), of("write", "edit", "over"))
def test_a_change_of_a_file_is_shown_as_that_change(desk: Desk, name: str, scenario: str):
    touch, preview = desk.read(name, scenario)
    file, old, new = CHANGES[scenario]
    assert touch.understood
    assert {effect.path for effect in touch.effects if isinstance(effect, WritePath)} == {str(desk.workspace / file)}
    assert len(touch.effects) == 1
    assert preview.kind == "diff"
    assert (preview.path, preview.old_text, preview.new_text) == (str(desk.workspace / file), old, new)


@pytest.mark.parametrize(("name", "scenario"), of("writeout"))
def test_a_file_outside_is_named_with_its_whole_path(desk: Desk, name: str, scenario: str):
    touch, _ = desk.read(name, scenario)
    assert str(desk.outside / "made.txt") in {each.path for each in touch.effects if isinstance(each, WritePath)}
    assert desk.verdict(name, scenario, mode="acceptEdits") == "ask"
    assert desk.verdict(name, scenario, ("deny", f"Edit(/{desk.outside}/**)")) == "deny"


@pytest.mark.parametrize(("name", "scenario"), of("rm"))
def test_a_command_is_shown_as_that_command_in_its_folder(desk: Desk, name: str, scenario: str):
    touch, preview = desk.read(name, scenario)
    command = f"rm -f {desk.workspace}/seed.txt"
    assert command in {effect.command for effect in touch.effects if isinstance(effect, RunCommand)}
    if (name, scenario) in ONLY_HINTED:
        assert (touch.understood, preview.kind) == (False, "tool")
    else:
        assert (touch.understood, preview.kind, preview.command) == (True, "command", command)
        assert preview.cwd == str(desk.workspace)


@pytest.mark.parametrize(("name", "scenario"), of("rm"))
def test_a_deny_rule_for_commands_denies_and_an_ask_rule_asks(desk: Desk, name: str, scenario: str):
    assert desk.verdict(name, scenario, ("deny", "Bash(rm:*)")) == "deny"
    assert desk.verdict(name, scenario, ("deny", "Bash(rm:*)"), ("allow", "Bash(rm:*)"), ("allow", "Bash")) == "deny"
    assert desk.verdict(name, scenario, ("ask", "Bash(rm:*)"), ("allow", "Bash")) == "ask"
    assert desk.verdict(name, scenario, mode="plan") == "deny"
    assert desk.verdict(name, scenario) == "ask"


@pytest.mark.parametrize(("name", "scenario"), of("look"))
def test_a_harmless_command_runs_without_a_card_where_it_is_understood(desk: Desk, name: str, scenario: str):
    assert desk.verdict(name, scenario) == ("ask" if (name, scenario) in ONLY_HINTED else "allow")
    assert desk.verdict(name, scenario, ("deny", "Bash(ls:*)")) == "deny"


@pytest.mark.parametrize(("name", "scenario"), of("write", "edit"))
def test_rules_and_modes_for_files_work_alike(desk: Desk, name: str, scenario: str):
    file = CHANGES[scenario][0]
    assert desk.verdict(name, scenario) == "ask"
    assert desk.verdict(name, scenario, ("deny", f"Edit({file})")) == "deny"
    assert desk.verdict(name, scenario, ("allow", f"Edit({file})")) == "allow"
    assert desk.verdict(name, scenario, mode="acceptEdits") == "allow"
    assert desk.verdict(name, scenario, mode="plan") == "deny"
    assert desk.verdict(name, scenario, bypass=True) == "allow"


@pytest.mark.parametrize(("name", "scenario"), of("read"))
def test_a_read_inside_is_that_read(desk: Desk, name: str, scenario: str):
    touch, _ = desk.read(name, scenario)
    assert touch.effects == (ReadPath(str(desk.workspace / "seed.txt")),)
    assert desk.verdict(name, scenario) == "allow"
    assert desk.verdict(name, scenario, ("deny", "Read(seed.txt)")) == "deny"


@pytest.mark.parametrize(("name", "scenario"), of("readout"))
def test_a_read_outside_asks(desk: Desk, name: str, scenario: str):
    touch, _ = desk.read(name, scenario)
    assert str(desk.outside / "secret.txt") in {each.path for each in touch.effects if isinstance(each, ReadPath)}
    assert desk.verdict(name, scenario, mode="acceptEdits") == "ask"
