"""A sample of what ``make soak`` makes of known evasions (``respelled.py``)."""

from __future__ import annotations

import pytest

from . import otherwise, respelled


def test_no_evasion_is_allowed_for_a_variable_in_its_words() -> None:
    assert list(respelled.looser(0, range(1_600))) == []


def test_a_gate_that_does_not_look_into_variables_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = respelled.decide
    monkeypatch.setattr(respelled, "decide", lambda text, **asked: "allow" if "x9" in text else decide(text, **asked))
    assert len(list(respelled.looser(0, range(30)))) > 15


def test_a_gate_that_takes_unknown_ends_for_harmless_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = respelled.decide
    monkeypatch.setattr(respelled, "decide", lambda text, **asked: "allow" if "x9" in text else decide(text, **asked))
    assert len(list(respelled.unfinished(0, range(30)))) > 5


def test_no_evasion_is_allowed_once_the_end_of_a_word_is_not_known() -> None:
    assert list(respelled.unfinished(0, range(1_500))) == []


def test_no_evasion_is_allowed_for_an_abbreviated_option() -> None:
    assert list(respelled.abbreviated()) == []


def test_a_gate_that_knows_whole_names_only_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    decide, seen = respelled.decide, {row["command"] for row, _ in respelled.rows()}
    monkeypatch.setattr(respelled, "decide", lambda text, **asked: decide(text, **asked) if text in seen else "allow")
    assert len(list(respelled.abbreviated())) > 500


def test_no_evasion_is_allowed_for_another_spelling() -> None:
    assert list(otherwise.looser(0, range(1_500))) == []


def test_a_gate_that_looks_at_the_first_word_only_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    decide, seen = otherwise.decide, {" ".join(map(respelled.quoted, words)) for _, words in respelled.rows()}
    monkeypatch.setattr(otherwise, "decide", lambda text, **asked: decide(text, **asked) if text in seen else "allow")
    assert len(list(otherwise.looser(0, range(30)))) > 10
