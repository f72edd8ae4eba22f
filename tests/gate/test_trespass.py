"""A few thousand of the texts that ``make soak`` lets loose under real bash (``tests/reference/trespass.py``)."""

from __future__ import annotations

import dataclasses

import pytest

from tests.reference import trespass
from tests.reference.sandbox import sandbox

pytestmark = pytest.mark.skipif(sandbox() is not None, reason=f"no sandbox here: {sandbox()}")


def test_what_is_allowed_does_nothing_that_its_policy_forbids() -> None:
    assert list(trespass.trespasses(0, range(1_500))) == []


def test_a_gate_that_allows_everything_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def allow(*asked: object, **named: object) -> object:
        decision = explain(*asked, **named)  # pyright: ignore[reportArgumentType] handed on as it came
        return dataclasses.replace(decision, verdict="allow")

    explain = trespass.explain
    monkeypatch.setattr(trespass, "explain", allow)
    found = " ".join(trespass.trespasses(0, range(600)))
    for sign in ("started ['omega']", "changed", "printed token-of-held", "copied token-of"):
        assert sign in found
