"""Layers: who says what, and in which file and line.

A Layer is one source of settings, nested as under ``countersign``. Values that an editor sent come without lines; they
are looked up in the file the editor read them from. How layers come to one Policy is ``merge.py``'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from countersign.settings.confirmations import canonical
from countersign.settings.jsonc import MAX_DEPTH, Element
from countersign.settings.policy import Problem
from countersign.settings.tree import Path, Tree, nested
from countersign.wire.base import Json

LayerScope = Literal["default", "managed", "user", "workspace"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands; line and column from 1, None where they are not known."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def problem(self, message: str) -> Problem:
        return Problem(self.file, self.line, self.column, message)

    def error(self, message: str) -> Problem:
        return Problem(self.file, self.line, self.column, message, "error")


@dataclass(frozen=True, slots=True)
class Layer:
    """One source. ``file`` is where it is kept, ``tree`` that file as read, if it could be."""

    scope: LayerScope
    values: Mapping[str, Json] = field(default_factory=dict)
    file: str | None = None
    tree: Tree | None = None

    def get(self, *path: str) -> Json:
        """The value at a path, None where there is none."""
        value: Json = dict(self.values)
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def place(self, *path: str) -> Place:
        """Where the value at a path stands; the file alone if it says something else there."""
        spot = self.tree.find(path) if self.tree else None
        if spot is None or spot.element is None or canonical(spot.value) != canonical(self.get(*path)):
            return Place(self.file)
        return self._at(spot.element)

    def item_places(self, path: Path) -> Callable[[Json], Place]:
        """Where the items of the list at a path stand; of equal ones the first."""
        spot = self.tree.find(path) if self.tree else None
        elements = spot.node.elements if spot and spot.node and isinstance(spot.value, list) else ()
        known = {canonical(element.node.value): element for element in reversed(elements)}
        whole = self.place(*path)

        def place_of(item: Json) -> Place:
            element = known.get(canonical(item))
            return self._at(element) if element else whole

        return place_of

    def _at(self, element: Element) -> Place:
        assert self.tree is not None
        return Place(self.file, *self.tree.document.position(element.start))


@dataclass(frozen=True, slots=True)
class Layers:
    """All that is said, from the widest to the narrowest. ``workspace`` holds the folder's layer too, if there is one.

    ``managed`` beats everybody; of one that anybody could have written only what forbids is in here.
    """

    default: Layer = field(default_factory=lambda: Layer("default"))
    user: tuple[Layer, ...] = ()
    workspace: tuple[Layer, ...] = ()
    managed: Layer | None = None

    def of_persons(self) -> tuple[Layer, ...]:
        """Those that count without anybody's confirmation, the managed one apart."""
        return (self.default, *self.user)

    def strongest(self) -> tuple[Layer, ...]:
        """Those that override everybody."""
        return (self.managed,) if self.managed else ()

    def all(self) -> tuple[Layer, ...]:
        """Every layer, strongest first."""
        return (*self.strongest(), *reversed(self.workspace), *reversed(self.user), self.default)

    def place(self, *path: str) -> Place:
        """Where the strongest word on a path stands."""
        return next((layer.place(*path) for layer in self.all() if layer.get(*path) is not None), Place())


class TooDeep(ValueError):
    """A client's layer is nested deeper than settings ever are."""


def sent_layer(
    scope: LayerScope, values: Mapping[str, Json] | None, file: str | None = None, tree: Tree | None = None
) -> Layer:
    """A layer as an editor sent it.

    Raises:
        TooDeep: it cannot be a person's settings.
    """
    known = dict(values or {})
    if _is_deeper(known, MAX_DEPTH):
        raise TooDeep("settings are nested too deeply")
    return Layer(scope, nested(known), file, tree)


def file_layer(scope: LayerScope, file: str, tree: Tree | None) -> Layer:
    """A layer as its file was read; empty if there is no file."""
    values = tree.root.value if tree else {}
    return Layer(scope, values if isinstance(values, dict) else {}, file, tree)


def only_forbidding(layer: Layer) -> Layer:
    """What is left of a managed file that somebody else could have written: nothing that allows."""
    said = layer.get("permissions")
    if not isinstance(said, dict):
        return Layer(layer.scope, {} if said is None else {"permissions": said}, layer.file, layer.tree)
    kept = {key: said[key] for key in ("deny", "ask") if key in said}
    if said.get("disableBypass") not in (None, False):
        kept["disableBypass"] = True
    return Layer(layer.scope, {"permissions": kept}, layer.file, layer.tree)


def _is_deeper(value: Json, limit: int) -> bool:
    level: list[Json] = [value]
    for _ in range(limit + 1):
        level = [
            child
            for one in level
            if isinstance(one, (dict, list))
            for child in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
