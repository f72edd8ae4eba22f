"""A launch recipe: how one agent is started so that it asks for every call, as data.

An agent without its recipe may run what a repository's own files tell it to run, unasked. Recipes are JSON files in
``known/``, or entries of ``recipes`` in a person's settings; ``recipe_file.py`` reads them, ``recipes.py`` uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from countersign.wire.agents import AgentLabel
from countersign.wire.base import Json

GATE = "{gate}"
"""Stands for the folder that only the host writes, in arguments, environment and files."""
HOOK = "{hook}"
"""Stands for the command line of our program for the agent's pre-tool hook, in files."""
HOME = "{home}"
"""Stands for the person's home, in the environment."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A file of the person's own that the agent needs in the gate folder, because its folder at home is not used.

    It is ``file`` below what the environment's ``variable`` names, else below ``folder`` of the home, and becomes
    ``name``: a link, or where ``keys`` are given a copy of those keys of its JSON, with ``added`` over them.
    ``renews``: the agent writes it, as it does a login that it renews; in the sandbox every other link is read-only.
    """

    name: str
    variable: str
    folder: str
    file: str
    renews: bool = False
    keys: tuple[str, ...] = ()
    added: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HomeFile:
    """A file below the person's home that the agent sees in the private home of the sandbox. ``renews``: it writes
    it, as it does a login that it renews."""

    file: str
    renews: bool = False


@dataclass(frozen=True, slots=True)
class OwnServers:
    """Where an agent keeps the MCP servers that a person set up for it: under ``key`` of a JSON or TOML file, below
    ``{home}`` or the workspace. ``runs``: the recipe does not switch them off, so they run outside the gate."""

    file: str
    key: str
    runs: bool = False


@dataclass(frozen=True, slots=True)
class Hook:
    """How an agent's pre-tool hook asks: fields of the JSON on its standard input, and what it prints.

    ``session`` are fields with the id of a session of the protocol, or of a sub-agent in one. ``seconds``: after so
    long the answer is a refusal; below the agent's own time-out, after which an agent may go on as if it had no hook.
    In ``deny``, ``{reason}`` stands for the reason.
    """

    tool: str
    input: str
    session: tuple[str, ...]
    allow: Mapping[str, Json]
    deny: Mapping[str, Json]
    seconds: float
    subagent: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """A program of ours between an adapter and the inner program that it starts: the adapter takes that program from
    ``variable``, and without it from its own ``program``, a path below ``node_modules``. ``changes`` are made in the
    ``params`` of the JSON lines that it sends: at ``path``, where ``*`` stands for every key, ``value`` is put in the
    place of what is there, and with a ``method`` also where nothing is; without ``value`` the key goes."""

    variable: str
    program: str
    changes: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class Pointing:
    """How an agent is led to another model while it is probed: environment, and files of its throw-away home. ``{url}``
    stands for the model's address, ``{home}`` for that home."""

    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to launch one agent so that it asks.

    ``marks``: package or program names that tell it. ``packages``: the npm packages that it is, without their
    platform; ``parts``: patterns of further packages that belong to its content. ``names``: what it calls itself.
    ``measured``: by version, the digests (``identity.py``) that ``label`` was measured with; any other counts as
    asks-only. ``files``: texts to be put into the gate folder. ``mode``: the session mode to set and to hold;
    ``stricter``: modes that it may enter by itself. ``config``: session options to set and to hold. ``fresh_shell``:
    each command starts in a new shell in the workspace; otherwise a command's text does not say where it runs, once
    one has changed the shell. ``shell``: what it runs commands with: always bash, what ``SHELL`` names, or not known.
    ``missing_reads_empty``: it cannot create files unless reading a missing one answers with empty text. ``brought``:
    files of the person's own that the agent gets in the gate folder instead of at home. ``refuse``: names of tools that
    are always rejected. ``quiet``: names of tools that have no effect of their own, so that they need not ask.
    ``plan_tools``: names of tools that only show a plan and wait for a person's word.
    ``announces_calls``: it reports or asks for every call before it runs it, so a call first reported as failed never
    ran; counts only for versions in ``measured``. ``drops_resources``: it says that it takes embedded resources, but
    its model does not get their text, so what is attached goes in the words of the prompt.
    ``hook``: the agent asks a hook of ours before each call, and obeys that above all else.
    ``filter``: what it asks of an inner program is changed on the way.
    ``hostile``: workspace files that silence or start things in this agent in spite of the recipe; where one is there,
    the label falls. ``held``: files that would without the recipe, which are only shown. ``mask``: what the sandbox
    hides from it beside ``hostile`` and ``held``; ``blank``: those of all these that are empty for it there, since it
    does not start where it cannot open them. ``home``: files that its private home in the sandbox holds.
    ``sessions``: folders below ``{home}`` or ``{gate}`` that hold its sessions; those of the sandbox outlast it.
    ``hosts``: those of its model and its login, which it reaches from the sandbox. ``confined_args``: arguments that
    come last there, such as one that turns off a sandbox of its own, which cannot be made in ours. ``instructions``:
    files of the workspace that the agent would read without the recipe, so that the host hands their text in.
    ``servers``: where its own MCP servers stand. ``caveat``: what
    stays open, told beside the label. ``install``, ``login``: commands, for people. ``program``, ``program_args``:
    what speaks ACP where it is installed; ``requires``: programs that its npm package runs with. ``probe``: how a probe
    leads it to its model. ``evidence``: how it was measured.
    """

    name: str
    label: AgentLabel
    title: str = ""
    marks: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    install: str = ""
    login: str = ""
    program: str = ""
    program_args: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session_meta: Mapping[str, Json] | None = None
    mode: str | None = None
    stricter: frozenset[str] = frozenset()
    config: Mapping[str, Json] = field(default_factory=dict)
    fresh_shell: bool = False
    shell: Literal["bash", "variable", "unknown"] = "unknown"
    missing_reads_empty: bool = False
    brought: tuple[Brought, ...] = ()
    refuse: frozenset[str] = frozenset()
    quiet: frozenset[str] = frozenset()
    plan_tools: frozenset[str] = frozenset()
    announces_calls: bool = False
    drops_resources: bool = False
    hook: Hook | None = None
    filter: Filter | None = None
    hostile: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    home: tuple[HomeFile, ...] = ()
    sessions: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    confined_args: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    servers: tuple[OwnServers, ...] = ()
    caveat: str = ""
    probe: Pointing = field(default_factory=Pointing)
    evidence: str = ""


STRANGER = Recipe(
    name="none",
    label="unguarded",
    caveat="there is no recipe for this agent: what it does by itself is not seen, only what it asks for is gated",
)
