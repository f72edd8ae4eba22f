"""A sample of the texts with which ``make soak`` looks for work without bounds (``tests/reference/slow_texts.py``)."""

from __future__ import annotations

import pytest

from countersign.gate.shell import judge
from tests.reference import slow_texts


def test_a_text_that_repeats_words_of_a_program_takes_bounded_work() -> None:
    assert list(slow_texts.overworked(0, range(100))) == []


def test_a_gate_without_that_bound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    text = slow_texts.Repeated(" ".join(["bzip2", *(f"-S{number}" for number in range(300))]), "bzip2")
    assert slow_texts.calls(text) < slow_texts.MOST_CALLS
    monkeypatch.setattr(judge, "MOST_LOOKS", 1_000_000)
    assert slow_texts.calls(text) > slow_texts.MOST_CALLS
