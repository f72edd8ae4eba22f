"""Whether a session still has the mode and the options in which its agent asks.

The one place that judges this, whoever told of it: the answer to opening a session, answers to what we set, updates and
what is repeated while a session is loaded. What follows from it is ``host.py``'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.translate import LONGEST_NAME, Raw, as_object
from countersign.wire.base import Json

MOST_MODES = 100
"""Options for modes whose first value is kept; one beyond them counts as changed."""
MOST_WATCHED = 500
"""Other options whose first value is kept; an agent that tells of more is not watched for those beyond."""
MOST_JUDGED = 100
"""Options that one message changes and whose words are judged; each beyond them counts as asking less."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A value with which the agent may ask less. ``kind``: it left its mode, changed an option that is held, or had
    this mode when the session was opened."""

    option_id: str
    value: str | bool
    kind: Literal["mode", "option", "opening"]


class Held:
    """The mode and held options of one session. A class because they are told piece by piece.

    ``asks_less`` says whether the words of a value say so, ``is_refused`` whether a person could not choose the value
    that an option has (None where it had no other one before).
    """

    def __init__(
        self,
        recipe: Recipe,
        asks_less: Callable[[str, str | bool], bool],
        is_refused: Callable[[Raw, str | bool | None], bool] = lambda option, before: False,
    ) -> None:
        self._recipe = recipe
        self._asks_less = asks_less
        self._is_refused = is_refused
        self._others: dict[str, str | bool] = {}
        self._refused: dict[str, str | bool] = {}
        self._opened: dict[str, str | bool] = {}
        self._modes: dict[str, str | bool] = {}
        self._options: dict[str, str | bool] = {}
        self._first: dict[str, str | bool] = {}
        self._chosen: dict[str, str | bool] = {}
        self._begun = False
        self._reported: set[str] = set()
        self._new: list[Stray] = []
        self.strays: dict[str, Stray] = {}

    def begin(self) -> None:
        """The session is open: what it told so far is what it began with, or ``open_again`` says that."""
        self._first = {**dict(list(self._modes.items())[:MOST_MODES]), **self._opened}
        self._begun = True

    def open_again(self, modes: Mapping[str, str | bool]) -> None:
        """The session is taken up, and was in these modes when it was first opened."""
        self._opened = dict(modes)

    def opening_modes(self) -> dict[str, str | bool]:
        """The modes that the session began with, or that the person has chosen since."""
        return {option_id: self._chosen.get(option_id, value) for option_id, value in self._first.items()}

    def hear_options(self, raw: Json) -> None:
        """Take the whole list of options that the session has now."""
        modes: dict[str, str | bool] = {}
        judged = 0
        for entry in raw if isinstance(raw, list) else ():
            option = as_object(entry)
            option_id, value = option.get("id"), option.get("currentValue")
            if not isinstance(option_id, str) or not isinstance(value, str | bool):
                continue
            value = value[: LONGEST_NAME + 1] if isinstance(value, str) else value
            if option_id in self._recipe.config:
                self._options[option_id] = value
            elif is_mode(option_id, option.get("category")) or option_id in self._first:
                modes[option_id] = value
                if self._begun and not self._first:
                    self._first[option_id] = value
            else:
                judged += self._hear_other(option_id, value, option, judged < MOST_JUDGED)
        # One that is no longer listed keeps the value that it had.
        self._modes = dict(list({**self._modes, **modes}.items())[-MOST_MODES:]) if modes else self._modes
        self._reported = {*modes, *self._options}

    def _hear_other(self, option_id: str, value: str | bool, option: Raw, judges: bool) -> bool:
        """Watch an option that is no mode; return whether its words were judged."""
        before = self._others.get(option_id)
        if before is None and len(self._others) < MOST_WATCHED:
            self._others[option_id] = value
        if not self._begun:
            self._others[option_id] = value
            return False
        if value == before or value == self._chosen.get(option_id) or self._refused.get(option_id) == value:
            if value == before or value == self._chosen.get(option_id):
                self._refused.pop(option_id, None)
            return False
        if not judges or self._is_refused(option, before):
            self._refused[option_id] = value
        else:
            self._refused.pop(option_id, None)
        return True

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
        if value in (self._others.get(option_id), self._chosen.get(option_id)):
            self._refused.pop(option_id, None)

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
        for option_id, value in self._modes.items():
            if option_id not in self._recipe.config and value not in self._known(option_id):
                opening = self._recipe.mode is None and value == self._first.get(option_id)
                found[option_id] = Stray(option_id, value, "opening" if opening else "mode")
        for option_id, value in self._options.items():
            if value != self._recipe.config[option_id]:
                found[option_id] = Stray(option_id, value, "option")
        for option_id, value in self._refused.items():
            found[option_id] = Stray(option_id, value, "option")
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
        first = self.first(option_id)
        return None if first is None or self._asks_less(option_id, first) else first

    def first(self, option_id: str) -> str | bool | None:
        """The value of an option at opening. A mode reported later has the value of the only mode there was then."""
        if option_id in self._others:
            return self._others[option_id]
        opening = self._first.get(option_id)
        return opening if opening is not None or len(self._first) != 1 else next(iter(self._first.values()))

    def _known(self, option_id: str) -> set[str | bool | None]:
        known = {self.asking_mode(option_id), self._chosen.get(option_id), *self._recipe.stricter}
        if option_id not in self._first and self._recipe.mode is None:
            # Another name for a mode that was told before, or that the person chose.
            known |= {value for each, value in self.opening_modes().items() if not self._asks_less(each, value)}
        return known


def is_mode(option_id: str, category: Json) -> bool:
    """Whether an option is the mode of its session, by its category or its id."""
    return option_id.casefold() == "mode" or (isinstance(category, str) and category.strip().casefold() == "mode")
