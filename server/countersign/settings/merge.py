"""Layers to one Policy: what every setting comes to, once trust and confirmations are looked at.

The order, from the weakest word to the strongest: default, user, workspace and folder (their tightening parts, and
what a person confirmed), managed. Rules are not overridden but added up; the gate lets the strictest stand.

INVARIANT (narrowing): a workspace's layer gets in here only through ``sift`` and ``bypass_of``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from countersign.settings.agents import DEMO_MODEL, HOUSE_AGENT, agent_config, model_config
from countersign.settings.bypass import Bypass, bypass_of
from countersign.settings.escape_text import shown_value
from countersign.settings.known_keys import unknown_keys
from countersign.settings.layers import Layer, Layers, Place
from countersign.settings.modes import as_mode
from countersign.settings.not_yet import not_yet
from countersign.settings.policy import AgentConfig, ModelConfig, Policy, Problem, RuleText
from countersign.settings.policy_reader import (
    DEFAULT_TIMEOUT,
    SANDBOX_MODES,
    Reading,
    as_count,
    as_flag,
    as_folder,
    as_positive,
    as_positive_seconds,
    as_sandbox_mode,
    as_sandbox_network,
    as_seconds,
    as_text,
    as_texts,
    is_relative_folder,
)
from countersign.settings.rules import rules_of, unique
from countersign.settings.tree import deep_merge, setting_name
from countersign.settings.workspace_restrictions import Claim, Sifted, sift
from countersign.wire.base import Json
from countersign.wire.settings import UnconfirmedItem
from countersign.wire.verdicts import Mode


@dataclass(frozen=True, slots=True)
class Built:
    """A Policy, what of the workspace waits for a person, and what a confirmation may still be about.

    ``claims`` are all by digest, answered or not; ``entries`` the agents' settings as they count,
    ``folders`` where each additional directory led.
    """

    policy: Policy
    unconfirmed: tuple[UnconfirmedItem, ...]
    claims: Mapping[str, Claim]
    entries: Mapping[str, Json]
    folders: Mapping[str, str]


def build_policy(
    layers: Layers,
    *,
    workspace: str,
    home: str,
    trusted: bool,
    answers: Mapping[str, bool],
    own_paths: Sequence[str] = (),
    control_paths: Sequence[str] = (),
    workspace_control_paths: Sequence[str] = (),
    temporary_base: str | None = None,
    environ: Mapping[str, str] | None = None,
    problems: Sequence[Problem] = (),
    resolve: Callable[[str], str] = os.path.realpath,
) -> Built:
    """What all layers come to. Pure, but for resolving additional directories.

    Args:
        workspace: resolved.
        answers: what a person on this machine said, by digest; nothing of it counts unless ``trusted``.
        own_paths: absolute paths that tools may not write.
        control_paths, workspace_control_paths, temporary_base: what ``Policy`` says of them.
        environ: where ``${env:NAME}`` is looked up.
        problems: what went wrong before, put in front of those found here.
    """
    counted = answers if trusted else {}
    led: dict[str, str] = {}

    def resolved_folder(value: Json) -> str | None:
        folder = as_folder(value, workspace, home)
        return led.setdefault(folder, resolve(folder)) if folder is not None else None

    sifted = _sifted(layers, workspace, counted, resolved_folder)
    counting = [replace(layer, values=one.counting) for layer, one in zip(layers.workspace, sifted, strict=True)]
    tightening = [replace(layer, values=one.tightening) for layer, one in zip(layers.workspace, sifted, strict=True)]
    reading = Reading((*layers.of_persons(), *counting, *layers.strongest(), *tightening))
    reading.problems += problems
    merged = _merged(reading.layers)
    wishes = [Layer("workspace", one.wished) for one in sifted]
    wished = _merged((*layers.of_persons(), *wishes, *layers.strongest()))
    agents, entries, bypass_claims = _agents(
        layers, merged, wished, workspace, trusted=trusted, answers=counted, environ=environ or {}, reading=reading
    )
    claims: dict[str, Claim] = {}
    for claim in (*(claim for one in sifted for claim in one.claims), *bypass_claims):
        claims.setdefault(claim.digest, claim)
    models = _models(layers, merged, reading)
    folders = _folders(layers, counting, workspace, home, reading.problems)
    unbuilt = tuple(not_yet(layers))
    reading.problems += (*unbuilt, *unknown_keys(layers))
    leading = tuple(led.setdefault(folder, resolve(folder)) for folder in folders)
    policy = Policy(
        workspace=workspace,
        home=home,
        trusted=trusted,
        rules=_rules(layers, counting, reading.problems),
        additional_directories=folders,
        additional_resolved=leading,
        mode=_mode(reading),
        tightening=_tightening(layers, merged),
        own_paths=tuple(own_paths),
        control_paths=tuple(control_paths),
        workspace_control_paths=tuple(workspace_control_paths),
        temporary_base=temporary_base,
        disable_bypass=any(layer.get("permissions", "disableBypass") not in (None, False) for layer in layers.all()),
        agents=agents,
        default_agent=_default_agent(reading, agents),
        models=models,
        recipes=_map(merged, "recipes", reading),
        approvals_timeout=_timeout(layers, reading),
        writes_per_turn=reading.read(("limits", "writesPerTurn"), as_count, 100, "a whole number from 0"),
        calls_per_message=reading.read(("limits", "callsPerMessage"), as_positive, 64, "a whole number from 1"),
        steps_per_turn=reading.read(("limits", "stepsPerTurn"), as_positive, 200, "a whole number from 1"),
        shell_timeout=reading.read(("shell", "timeout"), as_positive_seconds, 120.0, "seconds above 0"),
        shell_max_background=reading.read(("shell", "maxBackground"), as_count, 8, "a whole number from 0"),
        shell_env_pass=reading.read(("shell", "env", "pass"), as_texts, (), "a list of names"),
        sandbox_mode=reading.read(("sandbox", "mode"), as_sandbox_mode, "off", "off, commands or all"),
        sandbox_network=reading.read(("sandbox", "network"), as_sandbox_network, "none", "none, hosts or all"),
        sandbox_hosts=_sandbox_hosts(reading),
        sandbox_writable=_sandbox_writable(layers, workspace, home, reading.problems),
        sandbox_auto_allow=reading.read(("sandbox", "autoAllow"), as_flag, False, "true or false"),
        sandbox_chosen=_sandbox_chosen(layers),
        not_yet=tuple(dict.fromkeys(problem.message for problem in unbuilt)),
        secret_variables=frozenset(model.api_key_env for model in models.values() if model.api_key_env),
        raw={key: value for key, value in merged.items() if key != "permissions"},
        problems=tuple(dict.fromkeys(reading.problems)),
    )
    waiting = tuple(claim.item() for claim in claims.values() if not claim.moot and claim.digest not in answers)
    return Built(policy, waiting, claims, entries, led)


def fail_closed(current: Policy, last_good: Policy | None) -> Policy:
    """What counts while some settings are not known: ask every time, and every deny and ask rule that was ever seen.

    No allow rule, no bypass and no further folder counts, because what is unknown might forbid it; nor does a limit
    rise.
    """
    base = last_good if last_good is not None and last_good.trusted == current.trusted else current
    known = (*current.rules, *(last_good.rules if last_good else ()))
    modes_of_sandbox = (current.sandbox_mode, last_good.sandbox_mode if last_good else "off")
    modes: tuple[Mode, ...] = (*current.tightening, *(last_good.tightening if last_good else ()), "ask")
    return replace(
        current,
        agents={name: replace(agent, bypass=False) for name, agent in base.agents.items()},
        default_agent=base.default_agent,
        models=base.models,
        raw=base.raw,
        secret_variables=current.secret_variables | base.secret_variables,
        rules=unique(rule for rule in known if rule.list != "allow"),
        additional_directories=(),
        mode="ask",
        tightening=tuple(dict.fromkeys(modes)),
        disable_bypass=True,
        sandbox_mode=max(modes_of_sandbox, key=SANDBOX_MODES.index),
        sandbox_network="none",
        sandbox_hosts=(),
        sandbox_writable=(),
        sandbox_auto_allow=False,
        sandbox_chosen=False,
        writes_per_turn=min(current.writes_per_turn, (last_good or current).writes_per_turn),
        calls_per_message=min(current.calls_per_message, (last_good or current).calls_per_message),
        steps_per_turn=min(current.steps_per_turn, (last_good or current).steps_per_turn),
        shell_max_background=min(current.shell_max_background, (last_good or current).shell_max_background),
    )


def _sifted(
    layers: Layers, workspace: str, answers: Mapping[str, bool], resolve: Callable[[Json], str | None]
) -> list[Sifted]:
    sifted: list[Sifted] = []
    for layer in layers.workspace:
        counting = [Layer("workspace", one.counting) for one in sifted]
        tightening = [Layer("workspace", one.tightening) for one in sifted]
        below = _merged((*layers.of_persons(), *counting, *layers.strongest(), *tightening))
        sifted.append(sift(layer, Layer("workspace", below), workspace, answers, resolve))
    return sifted


def _merged(layers: Sequence[Layer]) -> dict[str, Json]:
    """Key by key; hooks of all layers, because one layer must not silence another's."""
    merged: Json = {}
    hooks: dict[str, list[Json]] = {}
    for layer in layers:
        merged = deep_merge(merged, dict(layer.values))
        said = layer.get("hooks")
        for event, entries in said.items() if isinstance(said, dict) else ():
            known = hooks.setdefault(event, [])
            known += [entry for entry in (entries if isinstance(entries, list) else [entries]) if entry not in known]
    assert isinstance(merged, dict)
    if hooks:
        merged["hooks"] = {event: list(entries) for event, entries in hooks.items()}
    return merged


def _rules(layers: Layers, counting: Sequence[Layer], problems: list[Problem]) -> tuple[RuleText, ...]:
    for layer in layers.all():  # faults are reported in every layer, confirmed or not
        rules_of(layer, problems)
    order = (*layers.strongest(), *layers.user, *counting, layers.default)
    return unique(rule for layer in order for rule in rules_of(layer, []))


def _mode(reading: Reading) -> Mode:
    return reading.read(("mode",), as_mode, "ask", "a mode") if reading.said("mode") else "default"


def _tightening(layers: Layers, merged: Mapping[str, Json]) -> tuple[Mode, ...]:
    """Modes that hold where they are stricter, whatever a chat says; one that is not understood asks.

    Hooks are not run by this version. One that could have denied must not be passed over in silence: the mode is
    ``ask`` until it is taken out.
    """
    said = [layer.get("mode") for layer in (*layers.workspace, *layers.strongest())]
    modes: list[Mode] = [as_mode(value) or "ask" for value in said if value is not None]
    hooks = merged.get("hooks")
    if isinstance(hooks, dict) and hooks.get("beforeTool"):
        modes.append("ask")
    return tuple(dict.fromkeys(modes))


def _timeout(layers: Layers, reading: Reading) -> float:
    path, wanted = ("approvals", "timeout"), "seconds, 0 or more"
    for layer in layers.workspace:  # one that does not count is still worth a warning
        alone = Reading((layer,))
        alone.read(path, as_seconds, DEFAULT_TIMEOUT, wanted)
        reading.problems += alone.problems
    return reading.read(path, as_seconds, DEFAULT_TIMEOUT, wanted)


def _sandbox_chosen(layers: Layers) -> bool:
    """Whether the sandbox was turned on by a person or the administrator, not by the workspace."""
    last = Reading((*layers.of_persons(), *layers.strongest())).said("sandbox", "mode")
    return last is not None and as_sandbox_mode(last[1]) in ("commands", "all")


def _sandbox_hosts(reading: Reading) -> tuple[str, ...]:
    """The hosts of all layers: one layer must not silence another's."""
    path, found = ("sandbox", "hosts"), list[str]()
    for layer in reading.layers:
        alone = Reading((layer,))
        found += alone.read(path, as_texts, (), "a list of hosts")
        reading.problems += alone.problems
    return tuple(dict.fromkeys(found))


def _sandbox_writable(layers: Layers, workspace: str, home: str, problems: list[Problem]) -> tuple[str, ...]:
    """Folders that a person or the administrator named; a workspace grants none, because links in it may move."""
    path, found = ("sandbox", "writable"), list[str]()
    for layer in layers.workspace:
        if layer.get(*path) not in (None, []):
            words = f"`{setting_name(path)}` counts in user settings only; name a folder of this workspace's in "
            problems.append(
                layer.place(*path).problem(f"{words}`{setting_name(('permissions', 'additionalDirectories'))}`")
            )
    for layer in (*layers.of_persons(), *layers.strongest()):
        alone = Reading((layer,))
        named = alone.read(path, as_texts, (), "a list of folders")
        problems += alone.problems
        found += [folder for name in named if (folder := as_folder(name, workspace, home)) is not None]
    return tuple(dict.fromkeys(found))


def _folders(
    layers: Layers, counting: Sequence[Layer], workspace: str, home: str, problems: list[Problem]
) -> tuple[str, ...]:
    path = ("permissions", "additionalDirectories")
    found: list[str] = []
    for layer in (*layers.of_persons(), *layers.strongest(), *counting):
        entries = layer.get(*path)
        if entries is not None and not isinstance(entries, list):
            problems.append(layer.place(*path).problem(f"`{setting_name(path)}` is not a list and does not count"))
        place_of = layer.item_places(path)
        for entry in entries if isinstance(entries, list) else ():
            folder = as_folder(entry, workspace, home)
            if folder is not None and layer.scope != "workspace" and is_relative_folder(entry):
                place = place_of(entry)
                words = f"{shown_value(entry)} counts from each workspace and grants nothing; write an absolute folder"
                problems.append(Problem(place.file, place.line, place.column, words, "error"))
            elif folder is None:
                problems.append(place_of(entry).problem(f"{shown_value(entry)} is not a folder's path"))
            else:
                found.append(folder)
    return tuple(dict.fromkeys(found))


def _agents(
    layers: Layers,
    merged: Mapping[str, Json],
    wished: Mapping[str, Json],
    workspace: str,
    *,
    trusted: bool,
    answers: Mapping[str, bool],
    environ: Mapping[str, str],
    reading: Reading,
) -> tuple[dict[str, AgentConfig], dict[str, Json], list[Claim]]:
    counting, wishes = _map(merged, "agents", reading), _map(wished, "agents", None)
    spoken = {name for layer in layers.all() for name in _keys(layer.get("agents"))}
    entries: dict[str, Json] = {HOUSE_AGENT: {}, **counting}
    recipes = _keys(merged.get("recipes"))
    agents: dict[str, AgentConfig] = {}
    claims: list[Claim] = []
    for name in dict.fromkeys((*entries, *sorted(spoken))):
        bypass = bypass_of(name, layers, workspace, counting.get(name), wishes.get(name), answers)
        claims += bypass.claims
        if name not in entries and not bypass.counts:
            continue
        place, recipe_place = layers.place("agents", name), layers.place("agents", name, "recipe")
        config = agent_config(name, entries.get(name, {}), place, environ, reading.problems, recipes, recipe_place)
        if config is not None:
            agents[name] = _with_bypass(config, bypass, trusted)
    return agents, entries, claims


def _with_bypass(config: AgentConfig, bypass: Bypass, trusted: bool) -> AgentConfig:
    if not (bypass.counts and trusted):
        return config
    return replace(config, bypass=True, bypass_file=bypass.place.file, bypass_line=bypass.place.line)


def _models(layers: Layers, merged: Mapping[str, Json], reading: Reading) -> dict[str, ModelConfig]:
    models = {DEMO_MODEL: ModelConfig(DEMO_MODEL, "demo")}
    for name, entry in _map(merged, "models", reading).items():
        config = model_config(name, entry, layers.place("models", name), reading.problems)
        if config is not None:
            models[name] = config
    return models


def _default_agent(reading: Reading, agents: Mapping[str, AgentConfig]) -> str:
    def as_known(value: Json) -> str | None:
        name = as_text(value)
        return name if name in agents else None

    return reading.read(("defaultAgent",), as_known, HOUSE_AGENT, "the name of an agent")


def _map(merged: Mapping[str, Json], key: str, reading: Reading | None) -> dict[str, Json]:
    value = merged.get(key)
    if value is not None and not isinstance(value, dict) and reading is not None:
        reading.problems.append(Place().problem(f"`{setting_name((key,))}` is not an object and does not count"))
    return dict(value) if isinstance(value, dict) else {}


def _keys(value: Json) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, dict) else ()
