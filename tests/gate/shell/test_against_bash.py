"""Our reading against bash itself: what really starts is what was found.

Set ``COUNTERSIGN_TRACES`` for more texts than the few hundred of an ordinary run, ``COUNTERSIGN_SEED`` for others.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from countersign.gate.shell.flow.control_flow import course
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood

from .asked import BASH, decide
from .replay import PlainTexts
from .tracing import STUBS, Texts, ToolContext

COUNT = int(os.environ.get("COUNTERSIGN_TRACES", "120"))
SEED = int(os.environ.get("COUNTERSIGN_SEED", "1"))


@pytest.fixture
def bench(tmp_path: Path) -> ToolContext:
    return ToolContext.make(tmp_path)


def found_in(text: str) -> set[str | None] | None:
    """All programs that the reading names; None if it does not know them all, or does not understand the text."""
    try:
        reading = read(text)
    except NotUnderstood:
        return None
    if any(BASH(each) is not None for each in (text, *reading.fragments)):
        return None
    walked = course(reading)
    names: set[str | None] = set()
    for step in walked.steps:
        case = AnalyzedCommand(step, walked.facts)
        if case.unnamed is not None or step.unwrapped.unknown is not None:
            return None
        names.update(layer.words[0].value for layer in case.layers)
    return names


@pytest.mark.parametrize(("mutations", "at_least"), [(0, 0.8), (4, 0.1)], ids=["well formed", "mutated"])
def test_bash_starts_nothing_that_was_not_found(bench: ToolContext, mutations: int, at_least: float) -> None:
    compared = 0
    for seed in range(SEED * 100_000, SEED * 100_000 + COUNT):
        text = Texts(seed).text(mutations=mutations)
        names = found_in(text)
        started = bench.run(text) if names is not None else None
        if names is not None and started is not None:
            compared += 1
            assert started <= names, text
    assert compared >= COUNT * at_least


def test_bash_starts_nothing_that_was_not_allowed(bench: ToolContext) -> None:
    """Texts mostly in Plain Bash in Auto mode, where deny rules alone keep two of the programs from running."""
    denied = STUBS[4:]
    deny = [f"Bash({name}:*)" for name in denied]
    allowed = 0
    for seed in range(SEED * 200_000, SEED * 200_000 + COUNT * 2):
        text = PlainTexts(seed).text(mutations=seed % 3)
        if decide(text, deny=deny, mode="auto") != "allow":
            continue
        allowed += 1
        started = bench.run(text)
        assert started is None or started.isdisjoint(denied), text
    assert allowed >= COUNT / 20
