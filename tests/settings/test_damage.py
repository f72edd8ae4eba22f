"""A settings file with cuts and flips never widens a right; ``make soak`` looks at more of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from countersign.settings import files, live_settings, sources
from countersign.settings.merge import fail_closed

from .damage import TEXTS, Damage, Damaged, FileName, wider

NUMBER = 100


def test_no_cut_and_no_flip_widens_a_right() -> None:
    assert list(wider(1, range(NUMBER))) == []


def drop_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_settings, "fail_closed", lambda current, _: fail_closed(current, None))


def keep_the_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(current, last_good):
        closed = fail_closed(current, last_good)
        return replace(closed, mode=current.mode, tightening=current.tightening)

    monkeypatch.setattr(live_settings, "fail_closed", lenient)


def take_empty_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.Loaded, "unless_emptied", lambda self, before: self)


def forget_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "only_forbidding", lambda layer: replace(layer, values={}))


def say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_settings.LiveSettings, "_tell_once", lambda self, message: None)
    monkeypatch.setattr(sources.Sources, "problems", lambda self: iter(()))


@pytest.mark.parametrize(
    ("defect", "name", "left", "told"),
    [
        (drop_the_rules, "workspace", 200, "went from deny to ask"),
        (keep_the_mode, "workspace", 200, "the mode is not `ask`"),
        (take_empty_for_nothing, "workspace", 0, "went from deny"),
        (take_empty_for_nothing, "managed", 0, "went from deny"),
        (forget_the_store, "rules", 80, "went from ask"),
        (say_nothing, "workspace", 200, "not told on its line"),
        (say_nothing, "rules", 80, "told once"),
    ],
)
def test_a_reader_of_settings_that_widens_is_found(
    monkeypatch: pytest.MonkeyPatch, defect, name: FileName, left: int, told: str
) -> None:
    before = TEXTS[name][0].encode()
    with Damaged(Damage(name, before, before[:left])) as honest:
        assert list(honest.faults()) == []
    defect(monkeypatch)
    with Damaged(Damage(name, before, before[:left])) as defective:
        assert any(told in fault for fault in defective.faults())
