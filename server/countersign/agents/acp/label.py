"""The label of an agent: what holds it here, and why, in one sentence. A plain function over what was found.

"Gated" means: a recipe was measured with exactly this content, or a probe on this machine passed for it, nothing in the
workspace silences it in spite of the recipe, and no fall is on record. What an agent says of itself can only lower it.
"Sandboxed" means: its process runs in the sandbox at this moment, whether it asks or not. What is hidden from it there
cannot silence it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from countersign.agents.acp.identity import Identity
from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.wire.agents import AgentLabel

Probed = AgentLabel | Literal["unreadable"]
"""The label that a probe found; or there was a probe, and what it found cannot be read any more."""
Seen = tuple[str, int, int, int]
"""A path, with the device and number of what lies there, and when it was changed last."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an agent says of itself in ``agentInfo``."""

    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known of an agent beside its recipe. ``probed`` is the label that a probe of this identity found;
    ``fallen`` why its label fell in this workspace; ``claim`` is None before it was started;
    ``holds`` what holds for its process in the sandbox, empty where it runs in none; ``hidden`` those of ``files`` that
    are hidden from it there."""

    identity: Identity | None = None
    claim: Claim | None = None
    probed: Probed | None = None
    fallen: str | None = None
    files: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


def label_of(recipe: Recipe, found: Findings) -> tuple[AgentLabel, str]:
    """Return the label and the sentence that says why."""
    label, why = _label_of(recipe, found)
    held = [name for name in recipe.held if name in found.files]
    if held and label != "unguarded":
        why = f"{why}; its recipe keeps out {_listed(held)} of this workspace"
    if found.holds:
        hidden = [name for name in recipe.hostile if name in found.hidden]
        if hidden:
            why = f"{why}; the sandbox hides {_listed(hidden)} of this workspace"
        return "sandboxed", f"in the sandbox: {'; '.join(found.holds)}. What it does inside: {_WORDS[label]} ({why})"
    return label, why


_WORDS: dict[AgentLabel, str] = {"gated": "gated", "asksOnly": "asks only", "unguarded": "unguarded"}


def _label_of(recipe: Recipe, found: Findings) -> tuple[AgentLabel, str]:
    if found.fallen is not None:
        return "unguarded", found.fallen
    if found.probed == "unreadable":
        return "unguarded", "what a probe of this agent found cannot be read any more; probe it again"
    if recipe.name == STRANGER.name and found.probed is None:
        return STRANGER.label, recipe.caveat
    seen = set(found.files) - set(found.hidden if found.holds else ())
    hostile = next((name for name in recipe.hostile if name in seen), None)
    if hostile is not None:
        return "unguarded", f"the workspace holds `{hostile}`, with which this agent can act unasked"
    if found.probed is not None and _contradiction(recipe, found) is None:
        return weaker(recipe, found.probed), f"a probe on this machine found this; {recipe.caveat}".rstrip("; ")
    if recipe.label != "gated":
        return recipe.label, recipe.caveat
    if found.identity is None or found.identity.version is None:
        return "asksOnly", "which version of this agent runs is not known; start it from its package, or name a version"
    if (wrong := _contradiction(recipe, found)) is not None:
        return "asksOnly", wrong
    version = found.identity.version
    if found.identity.package not in recipe.packages or version not in recipe.measured:
        return "asksOnly", f"version {version} of this agent has not been measured"
    if not is_measured(recipe, found):
        return "asksOnly", f"this calls itself version {version}, but its files are not those that were measured"
    return recipe.label, recipe.caveat


def is_measured(recipe: Recipe, found: Findings) -> bool:
    """Return true if exactly these files were measured with this recipe, and the agent does not contradict that."""
    identity = found.identity
    if identity is None or identity.version is None or identity.digest is None or _contradiction(recipe, found):
        return False
    return identity.package in recipe.packages and identity.digest in recipe.measured.get(identity.version, ())


def weaker(recipe: Recipe, probed: AgentLabel) -> AgentLabel:
    """Return what a probe may say of an agent that is started by this recipe: no more than the recipe says itself,
    because whoever wrote it knows of ways that a probe does not try. A stranger's recipe says nothing."""
    if recipe.name == STRANGER.name or _ORDER.index(probed) > _ORDER.index(recipe.label):
        return probed
    return recipe.label


_ORDER: tuple[AgentLabel, ...] = ("gated", "asksOnly", "unguarded")


def files_in(recipe: Recipe, *folders: str) -> tuple[str, ...]:
    """Return which of the files that matter to this agent lie in one of these folders. Reads the disk."""
    named = (*recipe.hostile, *recipe.held)
    return tuple(name for name in named if any(os.path.lexists(os.path.join(folder, name)) for folder in folders))


def blocking_hostile_now(recipe: Recipe, *folders: str) -> frozenset[Seen]:
    """Return the hostile files and folders that lie in these folders. A sandbox that is made from now on hides them,
    for as long as they are as they were; a link may lead to something that it does not hide."""
    paths = {os.path.join(folder, name) for folder in folders for name in recipe.hostile}
    return frozenset(seen for path in paths if os.path.realpath(path) == path and (seen := _seen(path)) is not None)


def blocking_hidden(recipe: Recipe, hidden: frozenset[Seen], *folders: str) -> tuple[str, ...]:
    """Return the hostile names of which everything that lies in these folders is hidden."""
    found: list[str] = []
    for name in recipe.hostile:
        there = [seen for folder in folders if (seen := _seen(os.path.join(folder, name))) is not None]
        if there and hidden.issuperset(there):
            found.append(name)
    return tuple(found)


def _seen(path: str) -> Seen | None:
    try:
        state = os.lstat(path)
    except (OSError, ValueError):
        return None
    return path, state.st_dev, state.st_ino, state.st_ctime_ns


def _contradiction(recipe: Recipe, found: Findings) -> str | None:
    """How the agent's own words contradict what is installed."""
    identity, claim = found.identity, found.claim
    if identity is None or claim is None:
        return None
    if claim.version is not None and identity.version is not None and claim.version != identity.version:
        return f"version {identity.version} of this agent is installed, but it reports version {claim.version}"
    if claim.name is not None and recipe.names and claim.name not in recipe.names:
        return f"this agent calls itself `{claim.name}`, which is not the one of its recipe"
    return None


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
