"""Bypass: for which agents calls are allowed without asking, and what a person has to have confirmed for that.

The user's or the administrator's word counts in a trusted workspace. A workspace's ``false`` always counts; its
``true`` only when confirmed for the agent as it really is: its type, command, arguments, environment and folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from countersign.settings.confirmations import value_digest
from countersign.settings.escape_text import shown
from countersign.settings.layers import Layer, Layers, Place
from countersign.settings.tree import Path
from countersign.settings.workspace_restrictions import Claim
from countersign.wire.base import Json

BYPASS = "bypassPermissions"


@dataclass(frozen=True, slots=True)
class Bypass:
    """What is said of one agent's bypass, before trust. ``claims`` are what a workspace's ``true`` waits for."""

    counts: bool
    place: Place
    claims: tuple[Claim, ...] = ()


def bypass_path(agent: str) -> Path:
    return ("agents", agent, BYPASS)


def bypass_digest(workspace: str, file: str, agent: str, entry: Json) -> str:
    """What a person confirms: bypass for this agent, in this file, as ``entry`` (merged over the layers) has it."""
    described = entry if isinstance(entry, dict) else {}
    what = {key: described.get(key) for key in ("command", "args", "env", "cwd")}
    kind = "acp" if described.get("command") else "builtin"
    return value_digest(workspace, file, bypass_path(agent), True, {"type": kind, **what})


def bypass_of(
    agent: str, layers: Layers, workspace: str, actual: Json, wished: Json, answers: Mapping[str, bool]
) -> Bypass:
    """Whether bypass counts for an agent, and which claims there are.

    Args:
        actual: the agent's entry as it counts.
        wished: the entry as it would be if every open claim were accepted; that is what a person is asked about, so
            that accepting all of a workspace's values comes out the same in any order.
        answers: digest to what a person said; empty when the workspace is not trusted.
    """
    path = bypass_path(agent)
    said = [(layer, layer.get(*path)) for layer in layers.workspace]
    if (refused := refused_at(agent, layers)) is not None:
        return Bypass(False, refused)
    general = _general(layers, path)
    if layers.managed and (value := layers.managed.get(*path)) is not None:
        general = (layers.managed, value)
    freed = general is not None and general[1] is True
    claims: list[Claim] = []
    confirmed: Place | None = None
    for layer, value in said:
        if value is not True:
            continue
        place = layer.place(*path)
        for entry in (wished, actual):
            digest = bypass_digest(workspace, layer.file or "", agent, entry)
            moot = freed or entry is not wished
            claims.append(Claim(path, True, place, digest, _meaning(agent, entry), moot, None, entry))
        if answers.get(bypass_digest(workspace, layer.file or "", agent, actual)) is True:
            confirmed = confirmed or place
    if general is not None and freed:
        return Bypass(True, general[0].place(*path), tuple(claims))
    return Bypass(confirmed is not None, confirmed or Place(), tuple(claims))


def refused_at(agent: str, layers: Layers) -> Place | None:
    """Return where the workspace, or else the administrator, switches bypass off for this agent; None if neither
    does."""
    path = bypass_path(agent)
    for layer in (*layers.workspace, *layers.strongest()):
        value = layer.get(*path)
        if value is not None and value is not True:
            return layer.place(*path)
    return None


def _general(layers: Layers, path: Path) -> tuple[Layer, Json] | None:
    """The last word of those that need no confirmation."""
    said = [(layer, value) for layer in layers.of_persons() if (value := layer.get(*path)) is not None]
    return said[-1] if said else None


def _meaning(agent: str, entry: Json) -> str:
    command = entry.get("command") if isinstance(entry, dict) else None
    which = f"{shown(agent)} (started as {shown(str(command))})" if command else shown(agent)
    return (
        f"the agent {which} would act in this workspace without asking; deny and ask rules, protected files and keys"
        " in the home folder still stop it"
    )
