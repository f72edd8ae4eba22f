"""Whatever is swapped while a file tool works, nothing but what was approved happens; ``make soak`` races longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from countersign.gate.call import FileState
from countersign.tools.files import change
from countersign.tools.places import Place

from .swaps import races

pytestmark = pytest.mark.skipif(os.uname().sysname != "Linux", reason="the swapper exchanges names as Linux does")
NUMBER = 200


def test_no_swap_lets_a_file_tool_touch_what_was_not_approved() -> None:
    assert list(races(1, range(NUMBER))) == []


def follow_links(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(path: str) -> Iterator[int]:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    monkeypatch.setattr(change, "held_folder", opened)
    monkeypatch.setattr(change, "held_or_made_folder", opened)
    monkeypatch.setattr(change, "still_there", lambda path, folder: True)
    monkeypatch.setattr(Place, "same_or_stale", lambda self: None)


def take_any_content(monkeypatch: pytest.MonkeyPatch) -> None:
    look = change._seen_or_stale

    def lenient(folder: int, place: Place, before: FileState) -> Any:
        now = change.look(folder, place.name, change.MOST_BEFORE_IMAGE)
        return look(folder, place, replace(before, sha256=now.sha256))

    monkeypatch.setattr(change, "_seen_or_stale", lenient)


@pytest.mark.parametrize("defect", [follow_links, take_any_content])
def test_a_tool_that_looks_less_is_found(monkeypatch: pytest.MonkeyPatch, defect: Any) -> None:
    defect(monkeypatch)
    assert next(races(1, range(2_000)), None) is not None
