"""A sample of what ``make soak`` makes of searches beside ignore files (``tests/reference/ignored_texts.py``)."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from tests.reference import ignored_texts, trespass
from tests.reference.sandbox import sandbox

pytestmark = [
    pytest.mark.skipif(sandbox() is not None, reason=f"no sandbox here: {sandbox()}"),
    pytest.mark.skipif(shutil.which("rg", path=ignored_texts.SEARCH) is None, reason="no rg here"),
]


def test_rg_prints_no_secret_without_a_person() -> None:
    assert list(ignored_texts.ignored_trespasses(0, range(400))) == []


def test_a_gate_that_allows_every_search_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def allow(*asked: object, **named: object) -> object:
        decision = explain(*asked, **named)  # pyright: ignore[reportArgumentType] handed on as it came
        return dataclasses.replace(decision, verdict="allow")

    explain = trespass.explain
    monkeypatch.setattr(trespass, "explain", allow)
    assert "printed token-of-env" in " ".join(ignored_texts.ignored_trespasses(0, range(100)))
