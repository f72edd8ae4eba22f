"""A launch recipe: how one agent is started so that it asks for every call, as data.

An agent without its recipe may run what a repository's own files tell it to run, unasked. The table of recipes is
``known_recipes.py``; ``recipes.py`` finds and uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from countersign.wire.agents import AgentLabel
from countersign.wire.base import Json

GATE = "{gate}"
"""Stands for the folder that only the host writes, in arguments, environment and files."""
HOME = "{home}"
"""Stands for the person's home, in the environment."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A file of the person's own that the agent needs in the gate folder, because its folder at home is not used.

    It is ``file`` below what the environment's ``variable`` names, else below ``folder`` of the home, and becomes
    ``name``: a link, or where ``keys`` are given a copy of those keys of its JSON, with ``added`` over them.
    """

    name: str
    variable: str
    folder: str
    file: str
    keys: tuple[str, ...] = ()
    added: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to launch one agent so that it asks.

    ``marks``: package or program names that tell it. ``packages``: the npm packages that it is, without their
    platform. ``measured``: versions that ``label`` was measured with; another
    version counts as asks-only. ``files``: texts to be put into the gate folder. ``mode``: the session mode to set and
    to hold. ``config``: session options to set. ``fresh_shell``: each command starts in a new shell in the workspace;
    otherwise a command's text does not say where it runs, once one has changed the shell. ``shell``: what it runs
    commands with: always bash, what ``SHELL`` names, or not known. ``missing_reads_empty``: it
    cannot create files unless reading a missing one answers with empty text. ``brought``: files of the person's
    own that the agent gets in the gate folder instead of at home. ``refuse``: names of tools that are always rejected.
    ``hostile``: workspace files that silence
    or start things in this agent in spite of the recipe; where one is there, the label falls. ``caveat``: what stays
    open, told beside the label.
    """

    name: str
    label: AgentLabel
    marks: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    measured: frozenset[str] = frozenset()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session_meta: Mapping[str, Json] | None = None
    mode: str | None = None
    config: Mapping[str, Json] = field(default_factory=dict)
    fresh_shell: bool = False
    shell: Literal["bash", "variable", "unknown"] = "unknown"
    missing_reads_empty: bool = False
    brought: tuple[Brought, ...] = ()
    refuse: frozenset[str] = frozenset()
    hostile: tuple[str, ...] = ()
    caveat: str = ""


STRANGER = Recipe(
    name="none",
    label="unguarded",
    caveat="there is no recipe for this agent: what it does by itself is not seen, only what it asks for is gated",
)
