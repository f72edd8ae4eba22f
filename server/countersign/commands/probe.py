"""``countersign probe -- COMMAND…``: find out on this machine whether an agent asks before it acts.

It starts the agent in a throw-away home and workspace, against a scripted model on this machine, and prints which
scenarios asked, the label that follows, and a recipe file with what was measured. Where bubblewrap works, the agent has
no network and can write only in its throw-away folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO, get_args

from countersign.agents.acp.identity import Identity, identify
from countersign.agents.acp.label import Claim
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.agents.acp.recipe_file import BadRecipe, known_recipe_text, known_recipes, parse_recipe
from countersign.agents.acp.recipes import recipe_for
from countersign.agents.probe.run import probe
from countersign.agents.probe.scenarios import SCENARIOS, WORLDS
from countersign.agents.probe.verdict import Ending, Findings, Result, label_with, recipe_file, table
from countersign.settings.escape_text import escaped
from countersign.settings.policy import AgentConfig
from countersign.wire.agents import AgentLabel
from countersign.wire.base import Json

EXITS: Mapping[AgentLabel, int] = {"gated": 0, "asksOnly": 1, "unguarded": 2}
NOT_MEASURED = 3
LABELS = {"gated": "gated", "asksOnly": "asks only", "unguarded": "unguarded"}
SANDBOX = ("--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net",
           "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run",
           "--ro-bind-try", "/run/current-system", "/run/current-system",
           "--ro-bind-try", "/run/media", "/run/media")  # fmt: skip
"""A new session, because a program could type into the terminal that it shares; no ``/run``, because a socket can be
connected to on a read-only mount too."""
PASSED = frozenset(("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"))
"""All that the process inside gets of the person's environment: the agent can read it there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the subcommand."""
    parser.add_argument("--recipe", help="a known recipe, or a JSON file; found by the program or package unless given")
    parser.add_argument("--storage", type=Path, help="the server's storage folder, where the result is kept")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the recipe file here, not to standard output")
    parser.add_argument("--results", type=Path, help="write the results here, as JSON")
    parser.add_argument("--json", action="store_true", help="print results, label and recipe as one JSON object")
    parser.add_argument("--yes", action="store_true", help="do not ask before the agent is started")
    parser.add_argument("--no-sandbox", action="store_true", help="run outside bubblewrap, with the network")
    parser.add_argument("--pause", action="store_true", help="wait for Enter at the end, in a window that would close")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what starts the agent, after `--`")


def run(arguments: argparse.Namespace, out: TextIO = sys.stdout, asked: TextIO = sys.stdin) -> int:
    """0: gated; 1: asks only; 2: unguarded; 3: not measured, or not started. With ``pause`` always 0, because the
    editor would show any other code as an error of the terminal."""
    status = _run(arguments, out, asked)
    if arguments.pause:
        print("Press Enter to close. ", end="", file=out, flush=True)
        asked.readline()
        return 0
    return status


def _run(arguments: argparse.Namespace, out: TextIO, asked: TextIO) -> int:
    command = [_absolute(arguments.command[0]), *arguments.command[1:]]
    try:
        recipe, written = _recipe(arguments.recipe, command)
    except (BadRecipe, OSError, ValueError) as error:
        print(f"the recipe cannot be used: {escaped(str(error))}", file=sys.stderr)
        return NOT_MEASURED
    if arguments.inside is not None:
        # The outer process asked, and reads what this one prints.
        found = asyncio.run(probe(command, recipe, arguments.inside, tell=lambda line: print(line, file=sys.stderr)))
        print(json.dumps(_to_json(found)))
        return 0
    # Where standard output is JSON, everything for people goes beside it.
    words = sys.stderr if arguments.json else out
    sandbox = None if arguments.no_sandbox else _sandbox()
    if not arguments.yes and not _confirmed(command, recipe, sandboxed=sandbox is not None, out=words, asked=asked):
        return NOT_MEASURED
    with tempfile.TemporaryDirectory(prefix="countersign-probe-", ignore_cleanup_errors=True) as folder:
        identity = identify(recipe, command, os.environ, folder)
        found = _measure(command, arguments.recipe, recipe, Path(os.path.realpath(folder)), sandbox)
    label, why = label_with(recipe, found)
    version = identity.version if identity is not None else None
    told = {**_to_json(found), "version": version, "label": label, "why": why}
    if arguments.results is not None:
        arguments.results.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    made = None
    if label is not None:
        made = recipe_file(recipe, written, found, identity, f"{datetime.now(UTC):%Y-%m-%d}")
    if arguments.json:
        print(json.dumps({**told, "recipe": made}, indent=2), file=out)
    else:
        print("\n".join(table(found, WORLDS)), file=out)
        ending = "not measured" if label is None else f"label: {LABELS[label]}"
        print(f"{ending}: {escaped(why)}", file=out)
    if label is None:
        return NOT_MEASURED
    _keep(arguments.storage, identity, recipe, label, words)
    if arguments.keep is not None:
        arguments.keep.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        print(f"recipe: {escaped(str(arguments.keep))}", file=words)
    elif not arguments.json:
        print(f"recipe, for `countersign.recipes` in your settings:\n{json.dumps(made, indent=2)}", file=out)
    return EXITS[label]


def _absolute(word: str) -> str:
    """The program; a path is meant from here, and the agent is started elsewhere."""
    return os.path.abspath(word) if os.sep in word else word


def _recipe(named: str | None, command: Sequence[str]) -> tuple[Recipe, Mapping[str, Json] | None]:
    """The recipe to start it by, and that recipe as it is written.

    Raises:
        BadRecipe, OSError, ValueError: no recipe has this name, or its file cannot be read.
    """
    if named is not None and _is_file(named):
        written = json.loads(Path(named).read_text(encoding="utf-8"))
        return parse_recipe(written), written
    names = [recipe.name for recipe in known_recipes()]
    if named is not None and named not in (*names, STRANGER.name):
        raise ValueError(f"`{named}` is not known; use a JSON file, or one of {', '.join((*names, STRANGER.name))}")
    config = AgentConfig("probed", "acp", command=command[0], args=tuple(command[1:]), recipe=named)
    recipe = recipe_for(config)
    return recipe, (known_recipe_text(recipe.name) if recipe is not STRANGER else None)


def _is_file(named: str) -> bool:
    return os.sep in named or named.endswith(".json")


def _confirmed(command: Sequence[str], recipe: Recipe, *, sandboxed: bool, out: TextIO, asked: TextIO) -> bool:
    by = f"the recipe {recipe.name}" if recipe is not STRANGER else "no recipe"
    within = (
        "without network, able to write only in a throw-away folder"
        if sandboxed
        else "OUTSIDE a sandbox: it could use the network and your files"
    )
    print(
        f"This starts {escaped(shlex.join(command))}\n"
        f"by {by}, {len(WORLDS)} times, for {len(SCENARIOS)} scenarios each, {within}.\n"
        "Its home and workspace are throw-away folders, its model is scripted and runs on this machine; your settings "
        "and login are not used. It takes some minutes.",
        file=out,
    )
    print("Start it? [y/N] ", end="", file=out, flush=True)
    if asked.readline().strip().lower() in ("y", "yes"):
        return True
    print("not started", file=out)
    return False


def _sandbox() -> str | None:
    """The path of a bubblewrap that works here."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return None
    tried = subprocess.run([bwrap, *SANDBOX, "--", "true"], capture_output=True, check=False)
    return bwrap if tried.returncode == 0 else None


def _measure(command: Sequence[str], named: str | None, recipe: Recipe, folder: Path, bwrap: str | None) -> Findings:
    """Run the probe below this folder; with bubblewrap, all of it in a process of its own inside."""
    if bwrap is None:
        return asyncio.run(probe(command, recipe, folder / "worlds", tell=lambda line: print(line, file=sys.stderr)))
    chosen = ["--recipe", os.path.abspath(named) if _is_file(named) else named] if named is not None else []
    program = [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "countersign"]
    own = [*program, "probe", *chosen, "--inside", str(folder / "worlds"), "--", *command]
    environment = {**{name: value for name, value in os.environ.items() if name in PASSED}, "TMPDIR": str(folder)}
    ran = subprocess.run(
        _sandboxed(bwrap, folder, own), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, check=False
    )
    try:
        return _from_json(json.loads(ran.stdout))
    except (ValueError, KeyError, TypeError):
        return Findings((), 0, fault=f"the probe ended with status {ran.returncode} inside the sandbox")


def _sandboxed(bwrap: str, folder: Path, words: Sequence[str]) -> list[str]:
    """The command line that runs these words inside, able to write in this folder only and to reach no service."""
    hidden = [word for path in _sockets() for word in ("--ro-bind", "/dev/null", path)]
    return [bwrap, *SANDBOX, *hidden, "--bind", str(folder), str(folder), "--chdir", str(folder), "--", *words]


def _sockets() -> list[str]:
    """Paths of the sockets that programs listen on now, such as those of a container engine or an SSH agent."""
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    named = {found[1] for line in lines if (found := re.fullmatch(r"(?:\S+ +){7}(/.*)", line)) is not None}
    return sorted(
        path for path in map(os.path.realpath, named) if not path.startswith("/run/") and os.path.exists(path)
    )


def _keep(storage: Path | None, identity: Identity | None, recipe: Recipe, label: AgentLabel, out: TextIO) -> None:
    if storage is None:
        return
    if identity is None or identity.digest is None:
        print("not kept: its program or package could not be digested", file=out)
        return
    LabelStore(storage / "agents").blocking_keep_probe(identity, recipe.name, label, Claim(version=identity.version))
    print("kept for this program and version; it counts from the agent's next start", file=out)


def _to_json(found: Findings) -> dict[str, object]:
    return {
        "results": [asdict(result) for result in found.results],
        "requests": found.requests,
        "autorun": sorted(found.autorun),
        "covered": sorted(found.covered),
        "fault": found.fault,
    }


def _from_json(read: Mapping[str, Json]) -> Findings:
    """What the inner process printed. It runs beside the agent, so nothing but known words is taken from it."""
    results = read["results"]
    assert isinstance(results, list)
    endings = get_args(Ending)
    taken = tuple(
        Result(world, scenario, ending, str(each.get("detail") or ""))
        for each in results
        if isinstance(each, dict)
        for world in WORLDS
        for scenario in SCENARIOS
        for ending in endings
        if (each["world"], each["scenario"], each["ending"]) == (world, scenario, ending)
    )
    requests, fault = read["requests"], read["fault"]

    def worlds(key: str) -> frozenset:
        named = read[key]
        return frozenset(world for world in WORLDS if isinstance(named, list) and world in named)

    return Findings(
        taken,
        requests if isinstance(requests, int) else 0,
        worlds("autorun"),
        worlds("covered"),
        str(fault) if fault is not None else None,
    )
