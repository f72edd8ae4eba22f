"""What is stored of agents, damaged in every way: no label becomes better, nothing waits, and nothing is raised."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from countersign.agents.acp.label import Claim, Findings, label_of
from countersign.agents.acp.label_state import LabelState
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.last_greeting import GreetingStore, LastGreeting
from countersign.agents.acp.recipe import STRANGER
from countersign.wire.agents import AgentLabel
from countersign.wire.errors import Conflict

from .test_acp_labels import MEASURED, TRUE


def _replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _elsewhere(path: Path, text: str) -> None:
    other = path.parent.parent / "elsewhere.json"
    other.write_text(text)
    path.symlink_to(other)


def _folder(path: Path, make: Callable[[Path], object]) -> None:
    path.parent.rename(path.parent.with_name("former"))
    make(path.parent)


GATED = json.dumps({"label": "gated", "lists": True})
DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(b"\0" * 200),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe{"),
    "null": lambda path: path.write_text("null"),
    "a list": lambda path: path.write_text('["gated"]'),
    "an empty object": lambda path: path.write_text("{}"),
    "a label of another type": lambda path: path.write_text('{"label": ["gated"], "why": 7}'),
    "a label that nobody knows": lambda path: path.write_text('{"label": "GATED"}'),
    "deep nesting": lambda path: path.write_text("[" * 100_000),
    "a deep value": lambda path: path.write_text('{"label": ' + '{"a":' * 50_000),
    "a number without end": lambda path: path.write_text('{"label": ' + "9" * 200_000 + "}"),
    "huge": lambda path: path.write_text('{"label": "gated", "more": "' + "x" * (1 << 20) + '"}'),
    "a pipe": lambda path: _replaced(path, os.mkfifo),
    "a folder": lambda path: _replaced(path, Path.mkdir),
    "a link to nothing": lambda path: _replaced(path, lambda at: at.symlink_to("/nowhere/at/all")),
    "a link to itself": lambda path: _replaced(path, lambda at: at.symlink_to(at)),
    "a link to another file": lambda path: _replaced(path, lambda at: _elsewhere(at, GATED)),
    "an endless device": lambda path: _replaced(path, lambda at: at.symlink_to("/dev/zero")),
    "its folder is a file": lambda path: _folder(path, lambda at: at.write_text("")),
    "its folder is a pipe": lambda path: _folder(path, os.mkfifo),
    "its folder is a link to nothing": lambda path: _folder(path, lambda at: at.symlink_to("/nowhere/at/all")),
    "its folder is a link to itself": lambda path: _folder(path, lambda at: at.symlink_to(at)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_fall_still_counts(name: str, tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    store.blocking_fall("it", TRUE, "/w", "it acted")
    (path,) = (tmp_path / "falls").iterdir()
    DAMAGE[name](path)
    fallen = store.blocking_fallen("it", TRUE, "/w")
    assert fallen
    assert label_of(MEASURED, Findings(TRUE, fallen=fallen))[0] == "unguarded"


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("found", ["unguarded", "asksOnly"])
def test_a_damaged_probe_makes_no_label_better(name: str, found: AgentLabel, tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    store.blocking_keep_probe(TRUE, "gemini", found, Claim())
    (path,) = (tmp_path / "probes").iterdir()
    DAMAGE[name](path)
    for recipe in (MEASURED, STRANGER, replace(MEASURED, label="asksOnly")):
        label, why = label_of(recipe, Findings(TRUE, probed=store.blocking_probed(TRUE, "gemini")))
        assert label == "unguarded"
        assert "probe it again" in why


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_greeting_counts_as_no_greeting(name: str, tmp_path: Path) -> None:
    store = GreetingStore(tmp_path)
    store.blocking_keep("it", "binding", LastGreeting(lists=True, variables=("A_KEY",)))
    (path,) = store.folder.iterdir()
    DAMAGE[name](path)
    assert store.blocking_find("it", "binding") in (None, LastGreeting())


@pytest.mark.parametrize("name", ["a folder", "its folder is a file"])
async def test_a_fall_that_cannot_be_removed_is_not_reset_and_the_error_says_what_to_do(
    name: str, tmp_path: Path
) -> None:
    store = LabelStore(tmp_path)
    store.blocking_fall("it", None, "/w", "it acted")
    (path,) = (tmp_path / "falls").iterdir()
    DAMAGE[name](path)
    state = LabelState("it", MEASURED, "/w", store, lambda: None)
    await state.find_out(["absent"], {})
    with pytest.raises(Conflict, match="remove it by hand"):
        await state.reset()
    assert state.label == "unguarded"
    assert store.blocking_fallen("it", None, "/w")


def test_no_probe_and_no_fall_are_missing_and_not_damaged(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not" / "there"):
        store = LabelStore(folder)
        assert store.blocking_fallen("it", TRUE, "/w") is None
        assert store.blocking_probed(TRUE, "gemini") is None
        assert not store.blocking_reset("it", TRUE, "/w")
