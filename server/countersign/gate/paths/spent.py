"""How much was looked at for one decision, so that no text makes it take long."""

from __future__ import annotations

from dataclasses import dataclass

_NAMES_A_LOOK, _COMPARED_A_LOOK, _LOOKS_A_PLACE = 5, 8, 4


@dataclass(slots=True)
class Spent:
    """Counts words and names of files, however often a text is judged (``looks``); ``names`` that patterns match, again
    whenever they are gone through, and paths that are judged, again each time; ``places``, paths that were looked up on
    the disk; places of links with which patterns were ``compared``; and seconds that were ``waited`` for git."""

    looks: int = 0
    names: int = 0
    places: int = 0
    compared: int = 0
    waited: float = 0.0

    @property
    def total(self) -> int:
        """All of it in looks."""
        return (
            self.looks + self.places * _LOOKS_A_PLACE + self.names // _NAMES_A_LOOK + self.compared // _COMPARED_A_LOOK
        )


_SHORT = 16
"""Parts of a path that count as one name."""


def weight_of(path: str) -> int:
    """For how many names a path counts, each of whose folders is compared with rules and lists."""
    return 1 + 2 * max(0, path.count("/") - _SHORT)
