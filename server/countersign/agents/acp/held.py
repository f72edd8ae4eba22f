"""Whether a session still has the mode and the options in which its agent asks.

The one place that judges this, whoever told of it: the answer to opening a session, answers to what we set, updates and
what is repeated while a session is loaded. What follows from it is ``host.py``'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.translate import LONGEST_NAME, as_object
from countersign.wire.base import Json

MOST_MODES = 100
"""Options for modes whose first value is kept; one beyond them counts as changed."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A value with which the agent may ask less. ``kind``: it left its mode, changed an option that is held, or had
    this mode when the session was opened."""

    option_id: str
    value: str | bool
    kind: Literal["mode", "option", "opening"]


class Held:
    """The mode and held options of one session. A class because they are told piece by piece.

    ``asks_less`` says whether the words of a value say so.
    """

    def __init__(self, recipe: Recipe, asks_less: Callable[[str, str | bool], bool]) -> None:
        self._recipe = recipe
        self._asks_less = asks_less
        self._modes: dict[str, str | bool] = {}
        self._options: dict[str, str | bool] = {}
        self._first: dict[str, str | bool] = {}
        self._chosen: dict[str, str | bool] = {}
        self._begun = False
        self._reported: set[str] = set()
        self._new: list[Stray] = []
        self.strays: dict[str, Stray] = {}

    def begin(self) -> None:
        """The session is open: what it told so far is what it began with."""
        self._first = dict(list(self._modes.items())[:MOST_MODES])
        self._begun = True

    def hear_options(self, raw: Json) -> None:
        """Take the whole list of options that the session has now."""
        modes: dict[str, str | bool] = {}
        for entry in raw if isinstance(raw, list) else ():
            option = as_object(entry)
            option_id, value = option.get("id"), option.get("currentValue")
            if not isinstance(option_id, str) or not isinstance(value, str | bool):
                continue
            value = value[: LONGEST_NAME + 1] if isinstance(value, str) else value
            if option_id in self._recipe.config:
                self._options[option_id] = value
            if is_mode(option_id, option.get("category")):
                modes[option_id] = value
                if self._begun and len(self._first) < MOST_MODES:
                    self._first.setdefault(option_id, value)
        self._modes = modes or self._modes
        self._reported = {*modes, *self._options}

    def hear_mode(self, mode: str) -> None:
        """The session is in this mode now."""
        option_id = "mode" if "mode" in self._modes else next(iter(self._modes), "mode")
        self._modes[option_id] = mode[: LONGEST_NAME + 1]
        self._reported = {option_id}

    def hear_value(self, option_id: str, value: str | bool) -> None:
        """An option was set by us."""
        if option_id in self._modes:
            self._modes[option_id] = value
        if option_id in self._recipe.config:
            self._options[option_id] = value

    def choose(self, option_id: str, value: str | bool | None) -> str | bool | None:
        """The person chooses this value, None: no value; return the one chosen before."""
        before = self._chosen.pop(option_id, None)
        if value is not None:
            self._chosen[option_id] = value
        return before

    def judge(self) -> None:
        """Compare what was told with what is held."""
        if not self._begun:
            return
        found: dict[str, Stray] = {}
        for option_id, value in self._options.items():
            if value != self._recipe.config[option_id]:
                found[option_id] = Stray(option_id, value, "option")
        for option_id, value in self._modes.items():
            if option_id not in self._recipe.config and value not in self._known(option_id):
                opening = self._recipe.mode is None and value == self._first.get(option_id)
                found[option_id] = Stray(option_id, value, "opening" if opening else "mode")
        self._new += [stray for option_id, stray in found.items() if self.strays.get(option_id) != stray]
        self.strays = found

    def judge_anew(self) -> None:
        """Judge again what was judged before."""
        self._new, self.strays = [], {}
        self.judge()

    def forgive(self) -> None:
        """Drop what was found of options that the last report told otherwise: a session that is loaded repeats itself,
        and only the end counts."""
        self._new = [
            stray for stray in self._new if stray.option_id in self.strays or stray.option_id not in self._reported
        ]

    def take(self) -> list[Stray]:
        """Return what was found since the last time."""
        new, self._new = self._new, []
        return new

    def asking_mode(self, option_id: str) -> str | bool | None:
        """The mode that a session is put back into; None where none is known."""
        if self._recipe.mode is not None:
            return self._recipe.mode
        first = self._first.get(option_id)
        return None if first is None or self._asks_less(option_id, first) else first

    def _known(self, option_id: str) -> set[str | bool | None]:
        return {self.asking_mode(option_id), self._chosen.get(option_id), *self._recipe.stricter}


def is_mode(option_id: str, category: Json) -> bool:
    """Whether an option is the mode of its session, by its category or its id."""
    return option_id.casefold() == "mode" or (isinstance(category, str) and category.strip().casefold() == "mode")
