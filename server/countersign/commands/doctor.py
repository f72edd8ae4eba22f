"""``countersign doctor``: what works on this machine, what does not, and what to do about it.

Each check gives lines, and each fault its fix. Nothing stays written, no agent is started, and no value of a variable
or setting is printed, only names. New parts of the product add a function to ``CHECKS``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TextIO

import countersign
from countersign.advice.lint import lint_rules
from countersign.agents.acp.agent_environment import agent_environment
from countersign.agents.acp.identity import Identity, identify
from countersign.agents.acp.label import Findings, files_in, label_of
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.recipes import Launch, agent_folder, recipe_for
from countersign.gate import LEDGER_FILE, Reader, engine_fault
from countersign.settings.escape_text import escaped
from countersign.settings.files import Loaded, load_file, managed_file
from countersign.settings.layers import Layer, Layers, file_layer
from countersign.settings.merge import build_policy
from countersign.settings.policy import AgentConfig, Policy
from countersign.settings.tree import policy_tree
from countersign.tools.cgroups import blocking_groups
from countersign.tools.sandbox.compile_boundary import blocking_gaps
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.shell.environment import filtered_environment, withheld
from countersign.tools.shell.process_tracking import LEFT_OUT, blocking_tracking
from countersign.wire.agents import AgentLabel
from countersign.wire.errors import LedgerUnavailable

State = Literal["ok", "warning", "fault"]
OLDEST_PYTHON, OLDEST_SQLITE, LOW_SPACE = (3, 11), (3, 37, 0), 100 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One result. ``fix`` is the next step; a fault always has one."""

    check: str
    state: State
    text: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """What is looked at. ``agents`` are all that the files name, also those that wait for a confirmation."""

    workspace: Path
    storage: Path | None
    environ: Mapping[str, str]
    managed: Path
    loaded: tuple[Loaded, Loaded]
    policy: Policy
    agents: Mapping[str, AgentConfig]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the subcommand."""
    parser.add_argument("--workspace", type=Path, default=Path(), help="the folder to look at; this one unless given")
    parser.add_argument("--storage", type=Path, help="the server's storage folder, to look at its ledger")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, out: TextIO = sys.stdout, managed: Path | None = None) -> int:
    """0: no fault, though there may be warnings; 1: a fault."""
    machine = machine_of(arguments.workspace, arguments.storage, os.environ, managed or managed_file())
    lines = [line for check in CHECKS for line in check(machine)]
    faults = sum(line.state == "fault" for line in lines)
    if arguments.json:
        said = [{key: value for key, value in asdict(line).items() if value is not None} for line in lines]
        print(json.dumps({"version": countersign.__version__, "faults": faults, "lines": said}), file=out)
    else:
        for line in lines:
            print(f"{line.state:<7}  {line.check}: {line.text}", file=out)
            if line.fix is not None:
                print(f"         -> {line.fix}", file=out)
        print(f"{len(lines)} lines, {faults} faults", file=out)
    return 1 if faults else 0


def machine_of(workspace: Path, storage: Path | None, environ: Mapping[str, str], managed: Path) -> Machine:
    """Read the settings files of a workspace and of the administrator. An editor's user settings are not known here."""
    resolved = os.path.realpath(workspace)
    own = load_file(Path(resolved, ".vscode", "settings.json"), policy_tree)
    administered = load_file(managed, policy_tree)
    layers = Layers(
        default=Layer("default"),
        workspace=(file_layer("workspace", own.path, own.tree),),
        managed=file_layer("managed", administered.path, administered.tree) if administered.tree else None,
    )
    home = os.path.expanduser("~")
    built = build_policy(layers, workspace=resolved, home=home, trusted=True, answers={}, environ=environ)
    confirmed = dict.fromkeys(built.claims, True)
    wished = build_policy(layers, workspace=resolved, home=home, trusted=True, answers=confirmed, environ=environ)
    agents = wished.policy.agents
    return Machine(Path(resolved), storage, environ, managed, (own, administered), built.policy, agents)


def python(_machine: Machine) -> Iterator[Line]:
    """The interpreter, its SQLite, and whether the parser reads as it should on it."""
    version = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        yield Line("python", "ok", f"{version} at {sys.executable}")
    else:
        yield Line("python", "fault", f"{version} is too old", "install Python 3.11 or newer")
    if sqlite3.sqlite_version_info >= OLDEST_SQLITE:
        yield Line("sqlite", "ok", sqlite3.sqlite_version)
    else:
        fix = "use a Python that is linked with SQLite 3.37 or newer"
        yield Line("sqlite", "fault", f"{sqlite3.sqlite_version} is too old", fix)
    if (fault := engine_fault()) is None:
        yield Line("parser", "ok", "reads its known texts as it should")
    else:
        fix = "use another Python; until then no command is allowed by reading"
        yield Line("parser", "fault", fault, fix)


_PROGRAMS: Mapping[str, tuple[State, str, str]] = {
    "bash": ("fault", "commands run in bash", "install bash"),
    "git": ("warning", "agents use it, and nothing here needs it", "install git"),
    "rg": ("warning", "searches are slower without it", "install ripgrep"),
    "node": ("warning", "most hosted agents need it", "install Node.js"),
}


def programs(machine: Machine) -> Iterator[Line]:
    """Programs that commands, searches and agents use."""
    path = machine.environ.get("PATH")
    for name, (state, why, fix) in _PROGRAMS.items():
        found = shutil.which(name, path=path)
        yield Line(name, "ok", found) if found else Line(name, state, f"not found on PATH; {why}", fix)


def processes(_machine: Machine) -> Iterator[Line]:
    """Whether what a command leaves behind is found and ended."""
    match blocking_tracking():
        case "subReaper" as found:
            why = blocking_groups().reason
            yield Line("processes", "ok", f"sub-reaper, no control group ({why}): {LEFT_OUT[found]}")
        case "processGroup" as found:
            fix = "look for such processes by hand, or work on Linux"
            yield Line("processes", "warning", f"no control group and no sub-reaper: {LEFT_OUT[found]}", fix)
        case _:
            yield Line("processes", "ok", "control group: what a command leaves behind is ended with it")


def sandbox(machine: Machine) -> Iterator[Line]:
    """Whether the system can confine a command, what holds then, and what the settings make of it."""
    with tempfile.TemporaryDirectory() as folder:
        state = Confiner(machine.storage or Path(folder)).blocking_status(machine.policy)
    on = machine.policy.sandbox_mode != "off"
    if state.available:
        yield Line("sandbox", "ok", f"{state.backend}: {'; '.join(state.holds)}")
    else:
        effect = "every command asks while `sandbox.mode` is on" if on else "`sandbox.mode` is off"
        fix = "do what the reason says, or set `sandbox.mode` to `off`" if on else "do what the reason says, to use it"
        yield Line("sandbox", "warning", f"none: {state.reason}; {effect}", fix)
    for gap in blocking_gaps(machine.policy) if on else ():
        yield Line("sandbox", "warning", gap, "name a folder with `/**` in the rule, or a file that is there")


def environment(machine: Machine) -> Iterator[Line]:
    """Names of variables that commands do not get."""
    if names := withheld(machine.environ, machine.policy):
        text = f"withheld from commands and agents, because they look like secrets: {', '.join(names)}"
        yield Line("environment", "ok", text, "name one in `shell.env.pass` if a command needs it")
    else:
        yield Line("environment", "ok", "no variable is withheld from commands for looking like a secret")


_LABELS: Mapping[AgentLabel, str] = {
    "gated": "gated", "asksOnly": "asks only", "sandboxed": "sandboxed", "unguarded": "unguarded",
}  # fmt: skip


def agents(machine: Machine) -> Iterator[Line]:
    """Each agent that the files name: its program, its version, and its label with the reason. Starts none of them."""
    hosted = [config for config in machine.agents.values() if config.type == "acp"]
    for config in hosted:
        yield _agent(machine, config)
    if not hosted:
        yield Line("agent", "ok", "these files name no hosted agent; the editor's user settings are not read here")


def _agent(machine: Machine, config: AgentConfig) -> Line:
    command, name, workspace = config.command or "", escaped(config.name), str(machine.workspace)
    in_force = machine.policy.agents.get(config.name)
    waits = in_force is None or (in_force.command, in_force.args) != (command, config.args)
    clean = filtered_environment(machine.environ, machine.policy, workspace)
    folder = agent_folder(config, workspace)
    if not os.path.isdir(folder):
        text = f"{name}: its folder {escaped(folder)} is not there"
        return Line("agent", "warning" if waits else "fault", text, "make it, or correct `cwd`")
    environment = agent_environment(clean, config, Launch((), {}), folder)
    path = environment.get("PATH")
    program = shutil.which(os.path.join(folder, command) if os.sep in command else command, path=path)
    if program is None:
        text = f"{name}: the program {escaped(command)} is not found on PATH"
        return Line("agent", "warning" if waits else "fault", text, "install it, or correct `command`")
    recipe = recipe_for(config, machine.policy.recipes)
    identity = identify(recipe, (command, *config.args), environment, workspace, folder)
    version = identity.version if identity is not None else None
    label, why = label_of(recipe, _findings(machine, config, recipe, identity))
    known = f"version {escaped(version)}" if version is not None else "version not known"
    text = f"{name}: {escaped(program)}, {known}, recipe {recipe.name}; {_LABELS[label]}: {escaped(why)}"
    if waits:
        return Line("agent", "warning", f"{text}; it waits for a confirmation", "confirm or reject it in the editor")
    if label == "gated":
        return Line("agent", "ok", text)
    if version is None or version in recipe.measured or not recipe.measured:
        return Line("agent", "warning", text, "approve its calls with this in mind, or remove the cause that it names")
    return Line("agent", "warning", text, f"install version {', '.join(sorted(recipe.measured))}, which was measured")


def _findings(machine: Machine, config: AgentConfig, recipe: Recipe, identity: Identity | None) -> Findings:
    """What is known of an agent without starting it."""
    workspace = str(machine.workspace)
    files = files_in(recipe, workspace, agent_folder(config, workspace))
    if machine.storage is None:
        return Findings(identity, files=files)
    stored = LabelStore(machine.storage / "agents")
    return Findings(
        identity,
        probed=stored.blocking_probed(identity, recipe.name),
        fallen=stored.blocking_fallen(config.name, identity, workspace),
        files=files,
    )


def workspace(machine: Machine) -> Iterator[Line]:
    """Whether there is such a folder."""
    if machine.workspace.is_dir():
        yield Line("workspace", "ok", escaped(str(machine.workspace)))
    else:
        what = "is not a folder" if os.path.lexists(machine.workspace) else "is not there"
        yield Line(
            "workspace", "fault", f"{escaped(str(machine.workspace))} {what}", "name a folder with `--workspace`"
        )


def settings(machine: Machine) -> Iterator[Line]:
    """The settings files, and what in them is not in force."""
    for name, loaded in zip(("workspace settings", "managed policy"), machine.loaded, strict=True):
        if loaded.problem is not None:
            text = f"{loaded.path}: {loaded.problem.message}"
            yield Line(name, "fault", text, "correct the file; until then every call asks")
        elif loaded.tree is None:
            yield Line(name, "ok", f"there is no {loaded.path}")
        else:
            count = sum(rule.file == loaded.path for rule in machine.policy.rules)
            yield Line(name, "ok", f"{loaded.path}: {count} rules count without a confirmation")
    for problem in (*machine.policy.problems, *lint_rules(machine.policy.rules)):
        place = f"{problem.file}:{problem.line or 1}: " if problem.file else ""
        yield Line("setting", "warning", f"{place}{problem.message}", "change it or take it out")


def storage(machine: Machine) -> Iterator[Line]:
    """The storage folder: its rights, its space, its ledger."""
    folder = machine.storage
    if folder is None:
        yield Line("storage", "ok", "not looked at", "name it with `--storage`")
        return
    if not folder.is_dir():
        yield Line("storage", "fault", f"{folder} is not a folder", "name the folder that holds `ledger.db`")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Line("storage", "fault", f"{folder} cannot be written", "make it writable for this user")
    elif folder.stat().st_mode & 0o077:
        yield Line("storage", "warning", f"{folder} is open to other users", f"chmod 700 {folder}")
    else:
        yield Line("storage", "ok", f"{folder}")
    if (free := shutil.disk_usage(folder).free) < LOW_SPACE:
        yield Line("disk", "fault", f"{free >> 20} MiB are left", "free the disk; nothing runs that cannot be recorded")
    else:
        yield Line("disk", "ok", f"{free >> 20} MiB are left")
    yield _ledger(folder)
    for aside in sorted((*folder.glob("*.corrupt-*Z*"), *folder.glob("*.broken-*Z*"))):
        if not aside.name.endswith(("-wal", "-shm")):
            yield Line("set aside", "warning", aside.name, "look at it, and remove it once you know what happened")


def _ledger(folder: Path) -> Line:
    file = folder / LEDGER_FILE
    if not file.exists():
        return Line("ledger", "ok", "there is none yet")
    if not file.is_file():
        return Line("ledger", "fault", f"`{LEDGER_FILE}` is not a regular file", f"move `{file}` away")
    try:
        found = Reader(file).verify()
    except (LedgerUnavailable, OSError) as error:
        return Line("ledger", "fault", str(error), f"countersign history --new-chain --storage {folder}")
    if found.fault is None:
        return Line("ledger", "ok", f"{found.rows} rows hold")
    fix = f"countersign history --verify --storage {folder}, then --new-chain"
    return Line("ledger", "fault", f"the chain does not hold: {found.fault}; only reads run", fix)


CHECKS: tuple[Callable[[Machine], Iterator[Line]], ...] = (
    python,
    programs,
    processes,
    sandbox,
    environment,
    workspace,
    agents,
    settings,
    storage,
)
