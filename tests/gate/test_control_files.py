"""Settings, stores and policies are protected as what they resolve to, under every name and in every mode.

Each layout links a control file into the workspace in its own way; each attack changes, removes, moves or redirects
something on the way to it. What leads to a person's own settings is denied, what leads to the workspace's asks, also
under bypass and with an allow rule for everything.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from countersign.advice.explain import supposed_call
from countersign.gate.decisions import decide as engine
from countersign.gate.decisions import decision_cache
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.live_settings import LiveSettings
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.settings import InitializationOptions
from countersign.wire.verdicts import Mode, Verdict
from tests.gate.decisions.test_decision_cache import call as shell_call

BASH = BashSyntax()
MODES: tuple[Mode, ...] = ("default", "acceptEdits", "auto")


@dataclass
class Machine:
    """A home with an editor's user settings, a storage, a managed file and a workspace."""

    top: Path

    def __post_init__(self) -> None:
        for folder in ("ws/src", "user/profiles/alt", "storage", "etc", "elsewhere"):
            (self.top / folder).mkdir(parents=True)
        for file in ("user/settings.json", "user/profiles/alt/settings.json", "storage/rules.json", "ws/src/a.py"):
            (self.top / file).write_text("{}")
        self.workspace = self.top / "ws"

    def write(self, name: str, text: str = "{}") -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, name: str, to: str | Path) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.is_file():
            path.unlink()
        path.symlink_to(to)

    def policy(self, *, bypass: bool = False) -> Policy:
        desk = LiveSettings(
            InitializationOptions.model_validate({"trusted": True, "client": {"ownPaths": [str(self.top / "user")]}}),
            workspace=self.workspace,
            storage=self.top / "storage",
            warn=lambda _: None,
            home=self.top / "home",
            managed=self.top / "etc/settings.json",
            environ={},
            interpreter=[],
        )
        allow = tuple(RuleText("allow", text) for text in ("Edit(//**)", "Edit", "Bash"))
        agents = {"Countersign": AgentConfig("Countersign", bypass=bypass)}
        return replace(desk.policy, rules=allow, agents=agents)


Setup = Callable[[Machine], None]


def linked_user_settings(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("user/settings.json", machine.top / "ws/vscode/settings.json")


def linked_user_folder(machine: Machine) -> None:
    (machine.top / "user").rename(machine.top / "ws/vscode")
    machine.link("user", machine.top / "ws/vscode")


def chain_of_links(machine: Machine) -> None:
    machine.write("ws/dot/real/settings.json")
    machine.link("ws/vscode", "dot/real")
    machine.link("user/settings.json", machine.top / "ws/vscode/settings.json")


def dangling_user_settings(machine: Machine) -> None:
    machine.link("user/settings.json", machine.top / "ws/vscode/settings.json")


def linked_profile(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("user/profiles/alt/settings.json", machine.top / "ws/vscode/settings.json")


def linked_profile_folder(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("user/profiles/home", machine.top / "ws/vscode")


def linked_rules(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("storage/rules.json", machine.top / "ws/vscode/settings.json")


def linked_policy(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("etc/settings.json", machine.top / "ws/vscode/settings.json")


def workspace_is_user_folder(machine: Machine) -> None:
    machine.write("user/vscode/settings.json")
    machine.workspace = machine.top / "user"


def workspace_is_profile(machine: Machine) -> None:
    machine.write("user/profiles/alt/vscode/settings.json")
    machine.workspace = machine.top / "user/profiles/alt"


def linked_workspace_settings(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("ws/.vscode/settings.json", "../vscode/settings.json")


def linked_workspace_folder(machine: Machine) -> None:
    machine.write("ws/vscode/settings.json")
    machine.link("ws/.vscode", "vscode")


def dangling_workspace_settings(machine: Machine) -> None:
    machine.link("ws/.vscode/settings.json", "../vscode/settings.json")


def dangling_workspace_folder(machine: Machine) -> None:
    machine.link("ws/.vscode", "vscode")


def workspace_chain(machine: Machine) -> None:
    machine.write("ws/dot/real/settings.json")
    machine.link("ws/vscode", "dot/real")
    machine.link("ws/.vscode", "vscode")


DENIED: tuple[Setup, ...] = (
    linked_user_settings, linked_user_folder, chain_of_links, dangling_user_settings, linked_profile,
    linked_profile_folder, linked_rules, linked_policy, workspace_is_user_folder, workspace_is_profile,
)  # fmt: skip
ASKED: tuple[Setup, ...] = (
    linked_workspace_settings, linked_workspace_folder, dangling_workspace_settings, dangling_workspace_folder,
    workspace_chain,
)  # fmt: skip

FILE = "vscode/settings.json"
BY_TOOL = (
    ("write", FILE),
    ("edit", FILE),
    ("delete_file", FILE),
    ("move_file", FILE),
    ("write", "VSCODE/Settings.json"),
)
COMMANDS = (
    f"echo x > {FILE}", f"echo x >> ./src/../{FILE}", f"tee {FILE} < src/a.py", f"cp src/a.py {FILE}",
    f"mv src/a.py {FILE}", f"mv {FILE} src/b", f"rm {FILE}", f"rm -f {FILE}",
    f"ln -sf /dev/null {FILE}", f"ln -f src/a.py {FILE}", f"sed -i s/a/b/ {FILE}", f"truncate -s 0 {FILE}",
    f"touch {FILE}", f"install src/a.py {FILE}", f"dd if=src/a.py of={FILE}", "cd vscode && echo x > settings.json",
    "echo x > vsc*/settings.json",
)  # fmt: skip
TAKING_AWAY = ("rm -rf vscode", "mv vscode src/b", "ln -sfn src vscode", "mv -T src vscode")


def verdict_of_tool(tool: str, path: str, policy: Policy, mode: Mode) -> Verdict:
    call = supposed_call({"tool": tool, "args": {"path": path, "to": "src/moved", "content": ""}}, policy)
    return engine.decide(call, policy, (mode,)).verdict


def verdict_of_command(command: str, policy: Policy, mode: Mode) -> Verdict:
    return engine.decide(shell_call(command, policy.workspace), policy, (mode,), check_syntax=BASH).verdict


def attacks(machine: Machine) -> Iterator[tuple[str, Verdict]]:
    for bypass, mode in itertools.product((False, True), MODES):
        policy = machine.policy(bypass=bypass)
        for tool, path in BY_TOOL:
            yield f"{tool} {path} {mode} {bypass}", verdict_of_tool(tool, path, policy, mode)
        exists = (machine.workspace / "vscode").exists()
        in_own_folder = machine.workspace != machine.top / "ws"
        for command in (*COMMANDS, *(() if in_own_folder else TAKING_AWAY)):
            if "*" in command and not exists:
                continue
            yield f"{command} {mode} {bypass}", verdict_of_command(command, policy, mode)


@pytest.mark.parametrize("setup", DENIED, ids=lambda setup: setup.__name__)
def test_a_persons_settings_are_denied_under_every_name(setup: Setup, tmp_path: Path) -> None:
    decision_cache.clear()
    machine = Machine(tmp_path)
    setup(machine)
    assert {name: said for name, said in attacks(machine) if said != "deny"} == {}


@pytest.mark.parametrize("setup", ASKED, ids=lambda setup: setup.__name__)
def test_a_workspaces_settings_ask_under_every_name(setup: Setup, tmp_path: Path) -> None:
    decision_cache.clear()
    machine = Machine(tmp_path)
    setup(machine)
    assert {name: said for name, said in attacks(machine) if said != "ask"} == {}


@pytest.mark.parametrize("setup", [*DENIED[:8], *ASKED], ids=lambda setup: setup.__name__)
def test_other_files_of_the_workspace_are_as_free_as_before(setup: Setup, tmp_path: Path) -> None:
    decision_cache.clear()
    machine = Machine(tmp_path)
    setup(machine)
    policy = machine.policy()
    for command in ("echo x > src/b", "cp src/a.py src/b", "rm -r src", "mkdir -p new/deep", "cp src/a.py ."):
        assert verdict_of_command(command, policy, "auto") == "allow", command
    assert verdict_of_tool("write", "settings.json", policy, "acceptEdits") == "allow"


def test_a_hard_link_to_a_control_file_is_that_file(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for number, name in enumerate(("user/settings.json", "user/profiles/alt/settings.json", "storage/rules.json")):
        os.link(tmp_path / name, machine.workspace / f"twin{number}")
        for mode in MODES:
            policy = machine.policy(bypass=True)
            assert verdict_of_tool("write", f"twin{number}", policy, mode) == "deny"
            assert verdict_of_command(f"echo x >> twin{number}", policy, mode) == "deny"
    (machine.workspace / ".vscode").mkdir()
    os.link(machine.workspace / "src/a.py", machine.workspace / ".vscode/settings.json")
    assert verdict_of_tool("delete_file", "src/a.py", machine.policy(bypass=True), "auto") == "ask"


def relink(machine: Machine) -> None:
    machine.link("user/settings.json", machine.top / "ws/vscode/settings.json")


def relink_folder(machine: Machine) -> None:
    (machine.top / "ws/other").mkdir()
    (machine.top / "user/profiles").rename(machine.top / "elsewhere/profiles")
    machine.link("user/profiles", machine.top / "elsewhere/profiles")
    machine.link("elsewhere/profiles/alt/settings.json", machine.top / "ws/vscode/settings.json")


def relink_workspace(machine: Machine) -> None:
    machine.link("ws/.vscode/settings.json", "../vscode/settings.json")


@pytest.mark.parametrize("change", [relink, relink_folder, relink_workspace], ids=lambda change: change.__name__)
def test_a_link_made_after_a_decision_counts_in_the_next(change: Setup, tmp_path: Path) -> None:
    decision_cache.clear()
    machine = Machine(tmp_path)
    machine.write("ws/vscode/settings.json")
    policy = machine.policy()
    assert verdict_of_command(f"echo x > {FILE}", policy, "auto") == "allow"
    change(machine)
    assert verdict_of_command(f"echo x > {FILE}", policy, "auto") != "allow"
    assert verdict_of_tool("write", FILE, policy, "acceptEdits") != "allow"
