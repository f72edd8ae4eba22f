"""The matrix of real agents: the agents that are always installed play it again, and the committed outcomes hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .matrix import CALLS, DECISIONS, RESULTS, is_safe, play_agent, unsafe
from .recipes_under_test import AGENTS, EVERY_TIME, RealAgent

KEPT = json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.mark.agents
@pytest.mark.parametrize("row", [agent for agent in AGENTS if agent.name in EVERY_TIME], ids=lambda row: row.name)
async def test_nothing_happens_that_was_not_allowed_and_the_outcomes_are_those_that_are_kept(
    tmp_path: Path, row: RealAgent
):
    result = await play_agent(tmp_path, row)
    assert unsafe(result) == []
    assert result.pop("notices") == []
    now, kept = dict(leaves(result)), dict(leaves(KEPT[row.name]))
    assert [(at, now.get(at), kept.get(at)) for at in sorted(now | kept) if now.get(at) != kept.get(at)] == []


def leaves(tree: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Give what a result comes to, each with where it stands."""
    if isinstance(tree, dict) and tree:
        for key, below in tree.items():
            yield from leaves(below, f"{at}, {key}" if at else key)
    else:
        yield at, tree


@pytest.mark.parametrize("name", sorted(KEPT))
def test_no_kept_outcome_is_unsafe_and_none_is_left_out(name: str):
    assert unsafe(KEPT[name]) == []
    plain = KEPT[name]["worlds"]["plain"]["outcomes"]
    assert [decision for decision in DECISIONS if plain.get(decision)] == list(DECISIONS)
    assert [decision for decision in DECISIONS[:-1] if set(plain[decision]) != set(CALLS)] == []


@pytest.mark.parametrize(
    ("decision", "call", "outcome", "safe"),
    [
        ("deny", "write", "asked, done", False),
        ("deny", "write", "done", False),
        ("deny", "write", "not done", True),
        ("deny rule", "edit", "done", False),
        ("plan", "shell", "done", False),
        ("cancel", "shell", "asked, done", False),
        ("acceptEdits", "edit", "done", True),
        ("acceptEdits", "shell", "done", False),
        ("acceptEdits", "write outside", "done", False),
        ("allow", "write", "done", True),
        ("stop", "shell", "runs on", False),
        ("stop", "shell", "not run", False),
        ("stop", "shell", "ended", True),
    ],
)
def test_what_counts_as_safe(decision: str, call: str, outcome: str, safe: bool):
    assert is_safe(decision, call, outcome) is safe
