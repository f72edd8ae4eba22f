"""The sandbox of a hosted agent's own process, where ``sandbox.mode`` is ``all``: what it shows beside the workspace.

The boundary is that of commands, compiled from the same policy. In addition the agent sees its own program, the files
of its recipe's private folder and of its login; its home and that folder are in memory, but for the folders of its
sessions, which are kept for each workspace and are not the person's own. What of the workspace would start or silence
something in it is hidden, and it reaches the hosts of its model. Where that sandbox cannot be made the agent is not
started.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from countersign.agents.acp.identity import LAUNCHERS, cached_by_npx
from countersign.agents.acp.recipe import GATE, HOME, Recipe
from countersign.agents.acp.recipes import Launch
from countersign.gate import compile_rules, host_verdict
from countersign.settings.policy import Policy, RuleText
from countersign.tools.sandbox.addresses import is_listed
from countersign.tools.sandbox.boundary import Additions, Mount
from countersign.tools.sandbox.compile_boundary import blocking_gaps
from countersign.tools.sandbox.confiner import Confined, Confiner, NoSandbox
from countersign.tools.sandbox.state import blocking_holds
from countersign.tools.sandbox.survey import lies_below
from countersign.tools.shell.environment import confined_environment
from countersign.wire.errors import AgentExit

INTERPRETERS = (*LAUNCHERS, "python", "python3", "deno", "ruby", "bash", "sh", "uv")
"""Programs whose first argument is the program that runs."""
MOST_COPY = 1 << 20
"""Bytes of a file of a recipe that is copied into the sandbox."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """A launch that is ready to be started in ``confined``; ``environment`` is the whole one."""

    launch: Launch
    environment: Mapping[str, str]
    confined: Confined


async def confine_agent(
    confiner: Confiner | None,
    policy: Policy,
    recipe: Recipe,
    name: str,
    launch: Launch,
    environment: Mapping[str, str],
    folder: str,
    may_reach: Callable[[str], bool],
    beside: Sequence[Sequence[str]] = (),
) -> Confinement:
    """Make the sandbox that this agent is to be started in. If cancelled, remove it once it is made. ``beside`` are
    command lines that the agent is to run there, with paths of files and sockets.

    INVARIANT (never outside by accident): without a sandbox the agent is not started.

    Raises:
        AgentExit: no sandbox can be made for it; the message says why.
    """
    if confiner is None:
        raise AgentExit(_not_started(name, "this server has none"))
    work = partial(_blocking_confine, confiner, policy, recipe, launch, environment, folder, may_reach, beside)
    making = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(making)
    except NoSandbox as error:
        raise AgentExit(_not_started(name, str(error))) from None
    except asyncio.CancelledError:
        making.add_done_callback(_give_back)
        raise


def agent_may_reach(
    policy: Callable[[], Policy], grants: Callable[[], Sequence[RuleText]], recipe: Recipe, agent: str
) -> Callable[[str], bool]:
    """Tell of each host, at the moment of the question, whether this agent may reach it: those of its recipe, and where
    ``sandbox.network`` opens a network, what commands may reach. A deny rule for fetching closes either."""

    def may_reach(host: str) -> bool:
        live = policy()
        verdict = host_verdict(host, compile_rules(live), grants(), agent)
        if verdict == "deny":
            return False
        if is_listed(host, recipe.hosts):
            return True
        if live.sandbox_network == "none" or verdict == "ask":
            return False
        return verdict == "allow" or live.sandbox_network == "all" or is_listed(host, live.sandbox_hosts)

    return may_reach


def blocking_agent_holds(policy: Policy, recipe: Recipe) -> tuple[str, ...]:
    """What holds for an agent in the sandbox of this policy, sentence by sentence."""
    hosts = [*recipe.hosts, *(policy.sandbox_hosts if policy.sandbox_network == "hosts" else ())]
    reached = "every public host" if policy.sandbox_network == "all" else ", ".join(hosts) or "no host"
    # A call that asks is asked about all the same; what the agent does by itself is not.
    gaps = (f"not held: {gap}" for gap in blocking_gaps(policy))
    return (*blocking_holds(policy, f"network only by a proxy, to {reached}"), *gaps)


def outlived(confined_by: Policy | None, policy: Policy) -> bool:
    """Whether a process that was started under ``confined_by`` (None: outside a sandbox) may not go on under this
    policy: it must be confined and is not, or the other way round, or its sandbox is wider than rules and folders say
    by now. A rule that only allows more ends nothing."""
    if (policy.sandbox_mode == "all") != (confined_by is not None):
        return True
    if confined_by is None:
        return False
    lost = _rules(confined_by, "allow") - _rules(policy, "allow")
    return bool(lost) or _limits(confined_by) != _limits(policy)


def _limits(policy: Policy) -> tuple[object, ...]:
    """What a boundary is compiled from, but for what only widens it."""
    return (
        _rules(policy, "deny", "ask"),
        policy.trusted,
        policy.workspace,
        policy.additional_resolved,
        policy.own_paths,
        policy.control_paths,
        policy.workspace_control_paths,
        policy.sandbox_network,
        policy.sandbox_writable,
    )


def _rules(policy: Policy, *lists: str) -> set[tuple[str, str, str]]:
    """These rules without the places that they were read from."""
    return {(rule.list, rule.text, rule.scope) for rule in policy.rules if rule.list in lists}


def _blocking_confine(
    confiner: Confiner,
    policy: Policy,
    recipe: Recipe,
    launch: Launch,
    environment: Mapping[str, str],
    folder: str,
    may_reach: Callable[[str], bool],
    beside: Sequence[Sequence[str]],
) -> Confinement:
    resolved = os.path.realpath(folder)
    if resolved != folder:
        raise NoSandbox(f"`{folder}` is reached by a link; open `{resolved}` instead")
    if any(lies_below(launch.folder, os.path.realpath(base)) for base in _folders(policy)):
        # There the recipe's files would be hidden, and an agent without them may not ask.
        raise NoSandbox(f"the agent's private folder `{launch.folder}` lies in a folder of the sandbox; open another")
    command = (*_direct(launch.command, environment, folder), *recipe.confined_args)
    additions = blocking_additions(recipe, replace(launch, command=command), environment, folder, policy)
    additions = replace(additions, mounts=(*additions.mounts, *_beside(beside, environment, folder)))
    confined = confiner.blocking_confine(policy, folder, may_reach=may_reach, additions=additions)
    inside = {**confined_environment(environment), **confined.environment()}
    return Confinement(replace(launch, command=command), inside, confined)


def blocking_additions(
    recipe: Recipe, launch: Launch, environment: Mapping[str, str], folder: str, policy: Policy
) -> Additions:
    """Work out what this agent's sandbox has beside what the policy says."""
    home = environment.get("HOME") or policy.home
    kept = _blocking_kept(recipe, launch.folder, home, policy)
    mounts, copies = _own_files(recipe, launch.folder)
    for entry in recipe.home:
        path = os.path.join(home, entry.file)
        if os.path.isfile(path):
            mounts.append(Mount(os.path.realpath(path), path, entry.renews))
    scratch = [launch.folder] if launch.folder else []
    if os.path.realpath(home) != os.path.realpath(policy.home):
        scratch.append(home)
    bases = tuple(dict.fromkeys((policy.workspace, folder)))

    def within(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(os.path.join(base, name) for base in bases for name in names)

    return Additions(
        mounts=(*_program(launch.command, environment, folder), *mounts, *kept),
        scratch=tuple(scratch),
        copies=tuple(copies),
        masked=within((*recipe.mask, *recipe.hostile, *recipe.held)),
        blanked=within(recipe.blank),
        proxied=True,
    )


def _blocking_kept(recipe: Recipe, gate: str, home: str, policy: Policy) -> list[Mount]:
    """The folders of the recipe's sessions: each is a folder beside the private one, of this workspace alone, that the
    agent sees in the place of the person's. It starts empty, and no agent outside the sandbox uses it."""
    if not gate or any(home == base or lies_below(home, base) for base in map(os.path.realpath, _folders(policy))):
        return []  # The home is the person's own there: a place in it would be made on disk.
    digest = hashlib.sha256(os.fsencode(policy.workspace)).hexdigest()[:32]
    mounts: list[Mount] = []
    for session in recipe.sessions:
        # No agent's private folder begins so (``prepare_launch``).
        base = os.path.join(os.path.dirname(gate), f"sessions-{os.path.basename(gate)}", digest)
        source = os.path.join(base, quote(session, safe=""))
        os.makedirs(source, mode=0o700, exist_ok=True)
        mounts.append(Mount(source, session.replace(HOME, home).replace(GATE, gate), writable=True))
    return mounts


def _folders(policy: Policy) -> tuple[str, ...]:
    return (policy.workspace, *policy.additional_directories, *policy.sandbox_writable)


def _own_files(recipe: Recipe, gate: str) -> tuple[list[Mount], list[tuple[str, str]]]:
    """The files of the recipe's private folder. Copies of a person's JSON may be written; they end with the agent."""
    places = [Mount(path, path) for path in (os.path.join(gate, name) for name in recipe.files)]
    copies: list[tuple[str, str]] = []
    for brought in recipe.brought:
        place = os.path.join(gate, brought.name)
        if os.path.islink(place):
            places.append(Mount(os.path.realpath(place), place, brought.renews))
        elif os.path.isfile(place) and (brought.added or os.path.getsize(place) > MOST_COPY):
            places.append(Mount(place, place))
        elif os.path.isfile(place):
            copies.append((place, Path(place).read_text(encoding="utf-8")))
    return places, copies


def _direct(command: Sequence[str], environment: Mapping[str, str], folder: str) -> tuple[str, ...]:
    """The command line without ``npx``, which would install: the program that it has in its cache."""
    if os.path.basename(command[0]) != "npx":
        return tuple(command)
    program = cached_by_npx(command, environment, folder)
    if program is None:
        raise NoSandbox(
            "`npx` cannot install a package in the sandbox; name an exact version (`PACKAGE@1.2.3`) and start it once "
            "outside, or install the package and name its program"
        )
    package = next(word for word in command[1:] if not word.startswith("-"))
    return (str(program), *command[command.index(package) + 1 :])


def _program(command: Sequence[str], environment: Mapping[str, str], folder: str) -> list[Mount]:
    """What must be shown for the agent's program to be found: it alone, or the packages among which it is installed."""
    words = [shutil.which(command[0], path=environment.get("PATH")) or command[0]]
    name = os.path.basename(command[0])
    if name in INTERPRETERS or name.startswith("python3."):
        words += [word for word in command[1:] if not word.startswith("-")][:1]
    mounts: list[Mount] = []
    for word in words:
        path = os.path.normpath(os.path.join(folder, word))
        if not os.path.isfile(path):
            continue
        resolved = os.path.realpath(path)
        parts = resolved.split(os.sep)
        packages = os.sep.join(parts[: parts.index("node_modules") + 1]) if "node_modules" in parts else resolved
        mounts.append(Mount(packages, packages))
        # A Python finds its library from where its program lies.
        library = os.path.join(os.path.dirname(os.path.dirname(resolved)), "lib")
        name = os.path.basename(resolved)
        if name.startswith("python") and os.path.isdir(os.path.join(library, name)):
            mounts.append(Mount(library, library))
        if path != resolved and not path.startswith(packages + os.sep):
            mounts.append(Mount(resolved, path))
    return [mount for mount in mounts if not mount.place.startswith(_SHOWN)]


def _beside(commands: Sequence[Sequence[str]], environment: Mapping[str, str], folder: str) -> list[Mount]:
    """What these command lines need there: their programs, and the files and sockets that their words name."""
    found: list[Mount] = []
    for command in commands:
        paths = [word for word in command if os.path.isabs(word)]
        found += [mount for path in paths[:1] for mount in _program([path], environment, folder)]
        found += [Mount(path, path) for path in paths[1:] if not path.startswith(_SHOWN)]
    return list(dict.fromkeys(found))


_SHOWN = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/nix/store/", "/gnu/store/", "/snap/")


def _not_started(name: str, why: str) -> str:
    return f"the agent {name} is not started, because `sandbox.mode` is `all` and there is no sandbox for it: {why}"


def _give_back(making: asyncio.Future[Confinement]) -> None:
    """Remove, in a thread, a sandbox that nobody waits for any more."""
    if not making.cancelled() and making.exception() is None:
        confined = making.result().confined
        confined.close_ours()
        making.get_loop().run_in_executor(None, partial(confined.blocking_finish, set_aside=None))
