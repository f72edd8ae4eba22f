"""The rules that layers hold, as texts with file and line. Reading the texts is the gate's business.

INVARIANT (strictest): a deny or ask entry is never lost. One that is no text is kept as its JSON, which the gate's
grammar reports as broken and which fails closed there; a broken allow entry grants nothing and is reported here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

from countersign.settings.confirmations import canonical
from countersign.settings.escape_text import shown, shown_value
from countersign.settings.layers import Layer, Place
from countersign.settings.policy import Problem, RuleText
from countersign.settings.policy_reader import as_text, as_texts
from countersign.settings.tree import Path, setting_name
from countersign.wire.base import Json

ListName = Literal["allow", "ask", "deny"]
LISTS: tuple[ListName, ...] = ("deny", "ask", "allow")
MOST_ITEMS = 2000
"""Entries of one list of a workspace that a person could be asked about; of a longer one none counts."""
MOST_UNKNOWN = 100
"""Unknown keys of `permissions` of one layer that are reported: a hostile repository may write any number."""
KNOWN_KEYS = frozenset({*LISTS, "additionalDirectories", "disableBypass"})


def rules_of(layer: Layer, problems: list[Problem]) -> list[RuleText]:
    """Every rule of a layer, in the order deny, ask, allow; what does not count is added to ``problems``."""
    permissions = layer.get("permissions")
    if permissions is None:
        if "permissions" in layer.values and layer.scope != "default":
            return [_broken_list(layer, ("permissions",), "deny", None, problems)]
        return []
    if not isinstance(permissions, dict):
        return [_broken_list(layer, ("permissions",), "deny", permissions, problems)]
    unknown = [key for key in permissions if key not in KNOWN_KEYS]
    for key in unknown[:MOST_UNKNOWN]:
        place = layer.place("permissions", key)
        near = difflib.get_close_matches(key[:100], sorted(KNOWN_KEYS), 1)
        hint = f" (the nearest is `{near[0]}`)" if near else ""
        problems.append(place.problem(f"{shown(key)} is no setting of `permissions` and does not count{hint}"))
    if len(unknown) > MOST_UNKNOWN:
        words = f"more than {MOST_UNKNOWN} keys of `permissions` are no settings; take them out"
        problems.append(layer.place("permissions").problem(words))
    found: list[RuleText] = []
    for listed in LISTS:
        if listed != "allow" and listed in permissions and permissions[listed] is None and layer.scope != "default":
            found.append(_broken_list(layer, ("permissions", listed), listed, None, problems))
        found += _listed(layer, listed, permissions.get(listed), problems)
    return found


def rule_entry(text: str, agent: str | None = None) -> Json:
    """How a rule is written into a list: its text, or an object where it speaks of one agent only."""
    return text if agent is None else {"rule": text, "agent": agent}


def is_entry_of(entry: Json, text: str, agent: str | None) -> bool:
    """Whether an entry of a list is this rule, for this agent or, with None, for every agent."""
    if isinstance(entry, str):
        return agent is None and entry == text
    return isinstance(entry, dict) and entry.get("rule") == text and entry.get("agent") == agent


def is_rule(entry: Json) -> bool:
    """A text, or ``{"rule", "agent"?, "reason"?, "match"?, "notMatch"?}`` and nothing that might narrow it further."""
    if not isinstance(entry, dict):
        return isinstance(entry, str)
    texts = all(isinstance(entry.get(key), (str, type(None))) for key in ("agent", "reason"))
    lists = all(entry.get(key) is None or as_texts(entry[key]) is not None for key in ("match", "notMatch"))
    known = entry.keys() <= {"rule", "agent", "reason", "match", "notMatch"}
    return isinstance(entry.get("rule"), str) and texts and lists and known


def unique(rules: Iterable[RuleText]) -> tuple[RuleText, ...]:
    """Without repetitions; an editor tells a folder's settings twice, as workspace and as folder."""
    return tuple(dict.fromkeys(rules))


def _listed(layer: Layer, listed: ListName, entries: Json, problems: list[Problem]) -> list[RuleText]:
    path = ("permissions", listed)
    if entries is None:
        return []
    if not isinstance(entries, list):
        if listed == "allow":
            problems.append(layer.place(*path).problem("`permissions.allow` is not a list and grants nothing"))
            return []
        return [_broken_list(layer, path, listed, entries, problems)]
    if listed == "allow" and layer.scope == "workspace" and len(entries) > MOST_ITEMS:
        message = f"`permissions.allow` has {len(entries)} entries; no more than {MOST_ITEMS} can count, so none does"
        place = layer.place(*path)
        problems.append(Problem(place.file, place.line, place.column, message, "error"))
        return []
    place_of = layer.item_places(path)
    rules = [_rule(layer, listed, entry, place_of(entry), problems) for entry in entries]
    return [rule for rule in rules if rule is not None]


def _rule(layer: Layer, listed: ListName, entry: Json, place: Place, problems: list[Problem]) -> RuleText | None:
    at = (layer.scope, place.file, place.line, place.column)
    if isinstance(entry, str):
        return RuleText(listed, entry, *at)
    if isinstance(entry, dict) and is_rule(entry):
        return RuleText(
            listed,
            str(entry["rule"]),
            *at,
            agent=as_text(entry.get("agent")),
            reason=as_text(entry.get("reason")),
            matching=as_texts(entry.get("match")) or (),
            not_matching=as_texts(entry.get("notMatch")) or (),
        )
    if listed == "allow":
        problems.append(place.problem(f"the rule {shown_value(entry)} has the wrong form and grants nothing"))
        return None
    return RuleText(listed, _no_rule(entry), *at)


def _no_rule(value: Json) -> str:
    """What stands where a rule should, as text that is none: `7` and `true` alone would be names of tools."""
    return canonical(value if isinstance(value, dict | list) else [value])


def _broken_list(layer: Layer, path: Path, listed: ListName, value: Json, problems: list[Problem]) -> RuleText:
    """A list that is none: kept as one entry, so that what was meant to be forbidden is at least asked for."""
    place = layer.place(*path)
    problems.append(place.problem(f"`{setting_name(path)}` is malformed and counts as one broken rule; correct it"))
    text = value if isinstance(value, str) else _no_rule(value)
    return RuleText(listed, text, layer.scope, place.file, place.line, place.column)
