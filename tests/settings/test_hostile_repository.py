"""A generated hostile repository, in every trust and mode: what counts never exceeds what a person confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from countersign.settings.live_settings import LiveSettings

from .hostile_repository import History, widenings

HISTORIES, SEARCHED = 80, 400
"""How many are played, and how many a seeded defect may take to be found. ``make soak`` plays more."""
REACHED = {"wrote", "pull", "link", "trust", "restart", "allow", "mode", "additionalDirectories", "bypassPermissions"}


def test_what_counts_never_exceeds_what_a_person_confirmed() -> None:
    reached: set[str] = set()

    class Watched(History):
        def _let_go(self) -> None:
            reached.update(line.split(" ")[0] for line in self.log)
            reached.update("wrote" for line in self.log if line.startswith("act") and "writes" in line)
            for item in self.accepted.values():
                reached.update((str(item.file).rsplit("/", 1)[-1], item.key.rsplit(".", 1)[-1]))
            super()._let_go()

    assert list(widenings(1, range(HISTORIES), Watched)) == []
    assert {*REACHED, "settings.json", "app.code-workspace", "Guest"} <= reached


@contextmanager
def trust_assumed() -> Iterator[None]:
    true = LiveSettings._build

    def trusting(self, layers, *, trusted: bool):
        return true(self, layers, trusted=True)

    with patch.object(LiveSettings, "_build", trusting):
        yield


def test_a_seeded_defect_is_found() -> None:
    with trust_assumed():
        assert next(widenings(3, range(SEARCHED)), None) is not None
