"""A sample of what ``make soak`` makes of texts that move, copy and link files (``tests/reference/moved_texts.py``)."""

from __future__ import annotations

import dataclasses

import pytest

from tests.reference import moved_texts, trespass
from tests.reference.sandbox import sandbox

pytestmark = pytest.mark.skipif(sandbox() is not None, reason=f"no sandbox here: {sandbox()}")


def test_earlier_commands_open_nothing_for_later_ones() -> None:
    assert list(moved_texts.moved_trespasses(0, range(1_000))) == []


def test_a_gate_that_allows_every_step_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def allow(*asked: object, **named: object) -> object:
        decision = explain(*asked, **named)  # pyright: ignore[reportArgumentType] handed on as it came
        return dataclasses.replace(decision, verdict="allow")

    explain = trespass.explain
    monkeypatch.setattr(trespass, "explain", allow)
    told = " ".join(moved_texts.moved_trespasses(0, range(400)))
    assert "printed token-of-" in told
    assert "changed [" in told
    assert "copied token-of-" in told
