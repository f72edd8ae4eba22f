"""A sample of what ``make soak`` makes of the options in programs' help (``tests/reference/option_texts.py``)."""

from __future__ import annotations

import dataclasses

import pytest

from tests.reference import option_texts, trespass
from tests.reference.sandbox import sandbox

pytestmark = pytest.mark.skipif(sandbox() is not None, reason=f"no sandbox here: {sandbox()}")

PROGRAMS = ("cat", "cp", "cut", "diff", "find", "git", "grep", "head", "ls", "od", "sed", "sort", "split", "tar", "wc")
"""On every machine, and quick to tell their options."""


def test_the_options_of_common_programs_do_nothing_that_a_policy_forbids() -> None:
    assert list(option_texts.option_trespasses(0, range(800), PROGRAMS)) == []


def test_a_gate_that_allows_every_option_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def allow(*asked: object, **named: object) -> object:
        decision = explain(*asked, **named)  # pyright: ignore[reportArgumentType] handed on as it came
        return dataclasses.replace(decision, verdict="allow")

    explain = trespass.explain
    monkeypatch.setattr(trespass, "explain", allow)
    found = " ".join(option_texts.option_trespasses(0, range(2_000), PROGRAMS))
    for sign in ("changed", "printed token-of-", "copied token-of"):
        assert sign in found
