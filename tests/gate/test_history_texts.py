"""A sample of what ``make soak`` makes of git's looking subcommands (``tests/reference/history_texts.py``)."""

from __future__ import annotations

import dataclasses

import pytest

from tests.reference import history_texts, trespass
from tests.reference.sandbox import sandbox

pytestmark = pytest.mark.skipif(sandbox() is not None, reason=f"no sandbox here: {sandbox()}")


def test_git_prints_no_secret_of_its_history_without_a_person() -> None:
    assert list(history_texts.history_trespasses(0, range(400))) == []


def test_a_gate_that_allows_git_everything_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def allow(*asked: object, **named: object) -> object:
        decision = explain(*asked, **named)  # pyright: ignore[reportArgumentType] handed on as it came
        return dataclasses.replace(decision, verdict="allow")

    explain = trespass.explain
    monkeypatch.setattr(trespass, "explain", allow)
    assert "printed token-of-env" in " ".join(history_texts.history_trespasses(0, range(60)))
