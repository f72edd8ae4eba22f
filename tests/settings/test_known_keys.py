"""A key under `countersign` that nobody reads is named where it stands, with the nearest name that there is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.settings.jsonc import parse_jsonc
from countersign.settings.known_keys import CLIENT_KEYS, KNOWN, MOST, Named, dotted_names, unknown_keys
from countersign.settings.layers import Layer, Layers, file_layer
from countersign.settings.merge import build_policy
from countersign.settings.policy import Policy
from countersign.settings.rules import MOST_UNKNOWN
from countersign.settings.tree import settings_tree

MANIFEST = Path(__file__).parents[2] / "client-ts" / "package.json"
NO_SETTING = "is no setting and does not count"


def told(text: str) -> list[tuple[int | None, str]]:
    layer = file_layer("workspace", "/w/s.json", settings_tree(parse_jsonc(text)))
    return [(problem.line, problem.message) for problem in unknown_keys(Layers(workspace=(layer,)))]


@pytest.mark.parametrize(
    ("written", "named", "nearest"),
    [
        ("zzz", "zzz", None),
        ("agnets", "agnets", "agents"),
        ("Agents", "Agents", "agents"),
        ("sandbx.mode", "sandbx", "sandbox"),
        ("sandbox.mod", "sandbox.mod", "sandbox.mode"),
        ("limits.writePerTurn", "limits.writePerTurn", "limits.writesPerTurn"),
        ("shell.env.pas", "shell.env.pas", "shell.env.pass"),
        ("writesPerTurn", "writesPerTurn", "limits.writesPerTurn"),
        ("allow", "allow", "permissions.allow"),
        ("permission.allow", "permission", "permissions"),
        ("mcpserver", "mcpserver", "mcpServers"),
        ("hooks.beforTool", "hooks.beforTool", "hooks.beforeTool"),
        ("agents.X.comand", "agents.X.comand", "agents.X.command"),
        ("models.m.apiKey", "models.m.apiKey", "models.m.apiKeyEnv"),
        ("models.m.qqq", "models.m.qqq", None),
    ],
)
def test_a_key_that_nobody_reads_is_named_with_the_nearest(written: str, named: str, nearest: str | None) -> None:
    advice = f"the nearest is `countersign.{nearest}`" if nearest else "correct or remove it"
    ((line, message),) = told(json.dumps({"editor.x": 1, f"countersign.{written}": {"a": 1}}, indent=0))
    assert message == f"`countersign.{named}` {NO_SETTING}; {advice}"
    assert line in (3, None)  # None: an object that only dotted keys add up to


@pytest.mark.parametrize("written", ["agnets", "agents.X.comand", "limits.zzz"])
def test_each_spelling_has_its_line(written: str) -> None:
    nested: Any = {}
    for name in reversed(written.split(".")):
        nested = {name: nested}
    text = json.dumps({"countersign": nested}, indent=0)
    line = 1 + text.count("\n", 0, text.index(f'"{written.rpartition(".")[2]}"'))
    assert [where for where, _ in told(text)] == [line]


def _properties() -> dict[str, Any]:
    return json.loads(MANIFEST.read_text())["contributes"]["configuration"]["properties"]


def test_the_names_are_those_of_the_manifest() -> None:
    """The manifest names each setting where the editor's own page and completion take it from."""
    inner = [f"hooks.{key}" for key in _properties()["countersign.hooks"]["properties"]]
    manifest = {name.removeprefix("countersign.") for name in _properties()} - {"hooks"} | {*inner}
    assert manifest == {*dotted_names()} - {"trace", "log"}
    assert {"trace", "log"} <= CLIENT_KEYS


@pytest.mark.parametrize("name", ["agents", "models"])
def test_the_keys_of_an_entry_are_those_of_the_manifest(name: str) -> None:
    shape = KNOWN[name]
    assert isinstance(shape, Named)
    assert {*shape.entry} == {*_properties()[f"countersign.{name}"]["additionalProperties"]["properties"]}


def test_no_setting_of_the_manifest_is_reported() -> None:
    defaults = {name: schema.get("default", {}) for name, schema in _properties().items()}
    assert told(json.dumps(defaults)) == []


def _leaves(shape: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in shape.items():
        if inner is None:
            yield (*path, name)
        else:
            yield from _leaves(inner.entry if isinstance(inner, Named) else inner, (*path, name))


NAMES = st.sampled_from([name for path in _leaves(KNOWN) for name in path] + ["zzz", "X"]) | st.text(max_size=9)
VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.dictionaries(NAMES, inner))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_a_key_that_nobody_reads_changes_nothing_that_counts(values: dict[str, Any]) -> None:
    """Taken out of a person's own settings, it leaves the same policy."""

    def policy(layer: Mapping[str, Any]) -> Policy:
        layers = Layers(user=(Layer("user", layer),))
        built = build_policy(layers, workspace="/w", home="/h", trusted=True, answers={}).policy
        return replace(built, raw={}, problems=())

    unknown = [name for name in values if name not in KNOWN]
    found = [problem.message for problem in unknown_keys(Layers(user=(Layer("user", values),)))]
    assert len(found) >= sum(not name.startswith("$") for name in unknown)
    assert all(NO_SETTING in message for message in found)
    assert policy(values) == policy({name: value for name, value in values.items() if name in KNOWN})


def test_a_key_of_the_workspace_that_nobody_reads_needs_no_confirmation() -> None:
    layers = Layers(workspace=(Layer("workspace", {"collections": {"docs": "."}}),))
    built = build_policy(layers, workspace="/w", home="/h", trusted=True, answers={})
    assert (built.unconfirmed, len(built.policy.problems)) == ((), 1)


def test_of_very_many_some_are_named() -> None:
    found = told(json.dumps({f"countersign.{'k' * 5000}{number}": 1 for number in range(2000)}))
    assert len(found) == MOST + 1
    assert "more than" in found[-1][1]
    assert max(len(message) for _, message in found) < 500


def test_of_very_many_keys_of_the_permissions_some_are_named() -> None:
    layers = Layers(workspace=(Layer("workspace", {"permissions": {f"alow{number}": [] for number in range(2000)}}),))
    problems = build_policy(layers, workspace="/w", home="/h", trusted=True, answers={}).policy.problems
    assert len(problems) == MOST_UNKNOWN + 1
    assert "more than" in problems[-1].message
