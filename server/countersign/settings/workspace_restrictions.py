"""Sifting a workspace's layer: what tightens counts by itself, everything else is a Claim that waits for a person.

One claim per agent, server, model, hook, rule or value. A claim that is not yet confirmed is as if it were not
written. Bypass is claimed in ``bypass.py``, because its claim is also over what the agent would be.

INVARIANT (narrowing): what ``sift`` lets through without an answer can only narrow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from countersign.settings.confirmations import Subject, canonical, value_digest
from countersign.settings.escape_text import escaped, shown, shown_value
from countersign.settings.known_keys import CLIENT_KEYS, KNOWN
from countersign.settings.layers import Layer, Place
from countersign.settings.modes import as_mode, is_looser
from countersign.settings.policy_reader import (
    DEFAULT_TIMEOUT,
    SANDBOX_MODES,
    SANDBOX_NETWORKS,
    as_sandbox_mode,
    as_sandbox_network,
    as_seconds,
)
from countersign.settings.rules import MOST_ITEMS, is_rule
from countersign.settings.tree import Path, deep_merge, setting_name
from countersign.wire.base import Json
from countersign.wire.settings import UnconfirmedItem
from countersign.wire.verdicts import Mode

SHORTEST_BY_ITSELF = 10
"""Seconds; a workspace may shorten the time for an answer, but not so far that nobody can give one."""

SHORT = 200
"""Characters of a confirmed value that are kept, to say later what changed."""

LONGEST_KEY = 200
"""Characters of a key that a dialog shows."""

FOLDERS = ("permissions", "additionalDirectories")
SANDBOX_HOSTS = ("sandbox", "hosts")


@dataclass(frozen=True, slots=True)
class Claim:
    """A value of the workspace that loosens. ``digest`` binds the answer; ``text`` says what it would mean.

    ``resolved`` is where a folder really lies, ``agent`` the entry of the agent that a bypass would free. ``moot`` says
    that it would change nothing as things are, so nobody needs to be asked.
    """

    path: Path
    value: Json
    place: Place
    digest: str
    text: str
    moot: bool = False
    resolved: str | None = None
    agent: Json = None

    @property
    def subject(self) -> Subject:
        """What the claim is about, whatever it says: a setting, or one entry of a list."""
        return subject_of(self.path, self.value, self.resolved)

    def item(self) -> UnconfirmedItem:
        return UnconfirmedItem(
            key=escaped(setting_name(self.path), LONGEST_KEY),
            resolved=None if self.resolved is None else escaped(self.resolved),
            value=self.value,
            file=self.place.file,
            line=self.place.line,
            digest=self.digest,
            text=self.text,
        )


def subject_of(path: Path, value: Json, resolved: str | None = None) -> Subject:
    """The subject of a value at a path. An entry of a list has no earlier value, but a folder may have moved."""
    if path == SANDBOX_HOSTS or (path[0] in ("permissions", "hooks") and path != FOLDERS):
        return Subject(setting_name(path), None, "")
    name = (*path, canonical(value)) if path == FOLDERS else path
    said = resolved or (value if isinstance(value, str) else canonical(value))
    return Subject(setting_name(path), json.dumps(name), escaped(said, SHORT))


@dataclass(frozen=True, slots=True)
class Sifted:
    """What a layer comes to: ``counting`` as things are, ``wished`` if nobody refused anything; and its claims.

    ``tightening`` are those of the counting values that hold against everybody, the administrator too.
    """

    counting: Mapping[str, Json]
    wished: Mapping[str, Json]
    tightening: Mapping[str, Json]
    claims: tuple[Claim, ...]


def sift(
    layer: Layer,
    below: Layer,
    workspace: str,
    answers: Mapping[str, bool],
    resolve: Callable[[Json], str | None] = lambda _: None,
) -> Sifted:
    """Part what counts from what waits.

    Args:
        resolve: where a folder of ``additionalDirectories`` really lies.
        below: what the layers without this one come to.
        answers: digest to what a person said; empty when the workspace is not trusted.
    """
    counting, wished = _by_itself(layer, below), _by_itself(layer, below)
    claims: list[Claim] = []
    for loose in _loosening(layer, below):
        resolved = resolve(loose.value) if loose.path == FOLDERS else None
        digest = value_digest(workspace, layer.file or "", loose.path, loose.value, resolved=resolved)
        text = loose.text if resolved is None else f"the folder {shown(resolved)} would count like the workspace"
        claims.append(Claim(loose.path, loose.value, loose.place, digest, text, _is_moot(loose, below), resolved))
        if answers.get(digest) is True:
            _join(counting, loose.part())
        if answers.get(digest) is not False:
            _join(wished, loose.part())
    return Sifted(counting, wished, _tightening(layer, below), tuple(claims))


@dataclass(frozen=True, slots=True)
class _Loose:
    """A value that loosens. ``listed`` says that it is one item of the list at the path."""

    path: Path
    value: Json
    place: Place
    text: str
    listed: bool = False

    def part(self) -> dict[str, Any]:
        """A layer that holds this value and nothing else."""
        value: Json = [self.value] if self.listed else self.value
        for name in reversed(self.path[1:]):
            value = {name: value}
        return {self.path[0]: value}


def _join(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        known = whole.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            _join(known, value)
        elif isinstance(known, list) and isinstance(value, list):
            known.extend(value)
        else:
            whole[key] = value


def _is_moot(loose: _Loose, below: Layer) -> bool:
    said = None if loose.listed else below.get(*loose.path)
    return said is not None and canonical(deep_merge(said, loose.value)) == canonical(said)


def _by_itself(layer: Layer, below: Layer) -> dict[str, Any]:
    """What counts without anybody's confirmation."""
    kept: dict[str, Any] = _tightening(layer, below)
    permissions = layer.get("permissions")
    if isinstance(permissions, dict):
        forbidding = {key: permissions[key] for key in ("deny", "ask") if key in permissions}
        if permissions.get("disableBypass") not in (None, False):
            forbidding["disableBypass"] = True
        kept["permissions"] = forbidding
    elif "permissions" in layer.values:
        kept["permissions"] = permissions  # of the wrong form, which the rules' reader takes as a broken deny rule
    mode = as_mode(layer.get("mode"))
    if mode and not is_looser(mode, _mode_of(below)):
        kept["mode"] = mode
    return kept


def _tightening(layer: Layer, below: Layer) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if _is_shorter(layer, below):
        kept["approvals"] = {"timeout": layer.get("approvals", "timeout")}
    sandbox: dict[str, Any] = {}
    mode, network = (layer.get("sandbox", name) for name in ("mode", "network"))
    if as_sandbox_mode(mode) in ("commands", "all") and not _is_looser_mode(layer, below):
        sandbox["mode"] = mode
    if as_sandbox_network(network) in ("none", "hosts") and not _is_looser_network(layer, below):
        sandbox["network"] = network
    if layer.get("sandbox", "autoAllow") is False:
        sandbox["autoAllow"] = False
    if sandbox:
        kept["sandbox"] = sandbox
    return kept


def _mode_of(below: Layer) -> Mode:
    said = below.get("mode")
    return "default" if said is None else as_mode(said) or "ask"


def _is_shorter(layer: Layer, below: Layer) -> bool:
    """Whether the layer's time-out tightens: no longer than the one below (0 is never), and long enough to answer."""
    wanted = layer.get("approvals", "timeout")
    if wanted is None:
        return False
    mine, theirs = _timeout(wanted), _timeout(below.get("approvals", "timeout"))
    return mine >= SHORTEST_BY_ITSELF and (theirs == 0 or mine <= theirs)


def _timeout(value: Json) -> float:
    found = as_seconds(value)
    return DEFAULT_TIMEOUT if found is None else found


def _loosening(layer: Layer, below: Layer) -> Iterator[_Loose]:
    for name, value in layer.values.items():
        match name:
            case "permissions":
                yield from _rules_and_folders(layer)
            case "mode":
                mode = as_mode(value)
                if mode and is_looser(mode, _mode_of(below)):
                    yield _value(layer, ("mode",), f"would be `{mode}`: new chats would start in this mode")
            case "approvals":
                timeout = layer.get("approvals", "timeout")
                if as_seconds(timeout) is not None and not _is_shorter(layer, below):
                    meaning = f"would be {shown_value(timeout)} seconds (0 is never)"
                    yield _value(layer, ("approvals", "timeout"), meaning)
            case "sandbox":
                yield from _sandbox(layer, below)
            case "agents" | "models" | "mcpServers":
                yield from _named(layer, name)
            case "hooks":
                yield from _hooks(layer)
            case "limits" | "shell":
                yield from _leaves(layer, (name,))
            case _:
                # What only the client reads, and of a workspace not even it, is no claim; nor is what nobody reads.
                if name in KNOWN and name not in CLIENT_KEYS and value is not None:
                    yield _value(layer, (name,), f"would be {shown_value(value)}")


def _value(layer: Layer, path: Path, meaning: str) -> _Loose:
    return _Loose(path, layer.get(*path), layer.place(*path), f"{shown(setting_name(path))} {meaning}")


def _leaves(layer: Layer, path: Path) -> Iterator[_Loose]:
    value = layer.get(*path)
    if isinstance(value, dict):
        for name in value:
            yield from _leaves(layer, (*path, name))
    elif value is not None:
        yield _value(layer, path, f"would be {shown_value(value)}")


def _items(layer: Layer, path: Path, meaning: Callable[[str], str]) -> Iterator[_Loose]:
    value = layer.get(*path)
    place_of = layer.item_places(path)
    for item in value if isinstance(value, list) and len(value) <= MOST_ITEMS else ():
        yield _Loose(path, item, place_of(item), meaning(shown_value(item)), listed=True)


def _rules_and_folders(layer: Layer) -> Iterator[_Loose]:
    allow = ("permissions", "allow")
    for rule in _items(layer, allow, lambda text: f"calls that {text} covers would run without asking"):
        if is_rule(rule.value):
            yield rule
    yield from _items(layer, FOLDERS, lambda text: f"the folder {text} would count like the workspace")


def _sandbox(layer: Layer, below: Layer) -> Iterator[_Loose]:
    mode, network = layer.get("sandbox", "mode"), layer.get("sandbox", "network")
    if as_sandbox_mode(mode) is not None and _is_looser_mode(layer, below):
        meaning = f"would be {shown_value(mode)}: hosted agents would run outside the sandbox"
        if as_sandbox_mode(mode) == "off":
            meaning = f"would be {shown_value(mode)}: commands would run outside the sandbox"
        yield _value(layer, ("sandbox", "mode"), meaning)
    if as_sandbox_network(network) is not None and _is_looser_network(layer, below):
        meaning = f"would be {shown_value(network)}: commands in the sandbox would reach the network"
        yield _value(layer, ("sandbox", "network"), meaning)
    if layer.get("sandbox", "autoAllow") is True:
        meaning = "would be `true`: commands in the sandbox would run without asking"
        yield _value(layer, ("sandbox", "autoAllow"), meaning)
    yield from _items(layer, SANDBOX_HOSTS, lambda host: f"commands in the sandbox would reach {host}")


def _is_looser_mode(layer: Layer, below: Layer) -> bool:
    mine, theirs = (as_sandbox_mode(each.get("sandbox", "mode")) or "off" for each in (layer, below))
    return SANDBOX_MODES.index(mine) < SANDBOX_MODES.index(theirs)


def _is_looser_network(layer: Layer, below: Layer) -> bool:
    mine, theirs = (as_sandbox_network(each.get("sandbox", "network")) or "none" for each in (layer, below))
    return SANDBOX_NETWORKS.index(mine) > SANDBOX_NETWORKS.index(theirs)


_NOUNS = {"agents": "the agent", "models": "the model", "mcpServers": "the tool server"}


def _named(layer: Layer, kind: str) -> Iterator[_Loose]:
    entries = layer.get(kind)
    for name, said in entries.items() if isinstance(entries, dict) else ():
        entry = said
        if kind == "agents" and isinstance(entry, dict):
            entry = {key: value for key, value in entry.items() if key != "bypassPermissions"}
        if entry is not None and entry != {}:
            text = f"{_NOUNS[kind]} {shown(name)} would be {shown_value(entry)}"
            yield _Loose((kind, name), entry, layer.place(kind, name), text)


def _hooks(layer: Layer) -> Iterator[_Loose]:
    hooks = layer.get("hooks")
    for event in hooks if isinstance(hooks, dict) else ():
        yield from _items(layer, ("hooks", event), _hook_meaning(event))


def _hook_meaning(event: str) -> Callable[[str], str]:
    return lambda hook: f"the hook {hook} would run at every {shown(event)}"
