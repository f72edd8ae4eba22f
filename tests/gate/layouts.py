"""The files and links that a row of the corpora supposes, and the places that its texts leave open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

Spots = Mapping[str, str]
"""The real folders behind `{ws}`, `{home}` and `{out}`."""


def lay_out(things: Iterable[Mapping[str, str]], spots: Spots) -> None:
    """Make them. A file that an earlier row made stays as it is."""
    for spot in spots.values():
        Path(spot).mkdir(parents=True, exist_ok=True)
    for thing in things:
        place = Path(filled(thing["path"], spots))
        place.parent.mkdir(parents=True, exist_ok=True)
        match thing["type"]:
            case "dir":
                place.mkdir(parents=True, exist_ok=True)
            case "file":
                if not place.exists():
                    place.write_text("x\n", encoding="utf-8")
            case "symlink":
                place.symlink_to(filled(thing["target"], spots))
            case "hardlink":
                place.hardlink_to(filled(thing["target"], spots))
            case other:
                raise AssertionError(other)


def filled(text: str, spots: Spots) -> str:
    for name, spot in spots.items():
        text = text.replace("{" + name + "}", spot)
    return text
