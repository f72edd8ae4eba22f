"""Regular expressions of the gate that take more than linear time on a text that repeats a few characters.

A pattern that tries again from each place, or parts a run between two of its repeats in every way, takes the square of
the text's length. Each is matched with short texts; one that takes long for its length is measured beside a text four
times as long in the same run. ``make soak ARGS="--only patterns"``; a text of a tenth of the longest one is enough.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType

from countersign import gate

SHORT, TIMES = 2_000, 4
SUSPICIOUS = 0.5e-3
"""Seconds for the short text above which it is measured: a linear match takes a tenth of it."""
MOST_GROWTH = 2.5 * TIMES
"""How much longer the longer text may take: four times is linear, and sixteen times is the square."""
CHARACTERS = "a.-=/:,{[(@ $'\"\\^~%0_+!*?&#;<>|}])\n"
UNITS = (
    *CHARACTERS,
    *(f"a{char}" for char in CHARACTERS),
    *("-a", ".a", "/a", "--a", "../", "./", "a-a=", "[a", "]a", "a b ", "-a ", "\n ", "$(", "${", "{,", "=\n", ";\n"),
)
_REPEATS = re.compile(r"[*+]|\{\d*,\}")
_SEARCHES = "search|finditer|findall|sub|split"

Match = Callable[[str], object]


@functools.cache
def patterns() -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """All patterns that the gate's modules hold, each with its name and whether it is searched for."""
    found: dict[tuple[str, int, bool], tuple[str, re.Pattern[str], bool]] = {}
    for each in pkgutil.walk_packages(gate.__path__, f"{gate.__name__}."):
        module = importlib.import_module(each.name)
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            for pattern, inside in _within(value, module):
                searched = re.search(rf"\b{inside or name}\.(?:{_SEARCHES})\(", source) is not None
                if isinstance(pattern.pattern, str) and _REPEATS.search(pattern.pattern):
                    key = (pattern.pattern, pattern.flags, searched)
                    found.setdefault(key, (f"{each.name}.{name}", pattern, searched))
    return tuple(found.values())


def _within(value: object, module: ModuleType) -> Iterator[tuple[re.Pattern[str], str]]:
    """The patterns in a value; of those that a function holds also the name that it has there."""
    if isinstance(value, re.Pattern):
        yield value, ""
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _within(each, module)
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _within(each, module)
    elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            for pattern, inside in _within(cell.cell_contents, module):
                yield pattern, inside or name


def slow(numbers: range) -> Iterator[str]:
    """Yield what is said of each of these patterns that takes more than linear time."""
    for name, pattern, searched in patterns()[numbers.start : numbers.stop]:
        for match in (pattern.match, pattern.fullmatch, *([pattern.search] if searched else [])):
            text = next((made for made in _texts(SHORT) if _seconds(match, made) > SUSPICIOUS), None)
            if text is not None and (growth := min(_growth(match, text) for _ in range(3))) > MOST_GROWTH:
                yield f"{name}: {match.__name__} of {text[:12]!r}…{text[-1]!r} takes {growth:.0f} times as long"


def _texts(size: int) -> Iterator[str]:
    for unit in UNITS:
        for front in ("", "-", "a"):
            for end in ("", "!"):
                yield front + unit * (size // len(unit)) + end


def _growth(match: Match, text: str) -> float:
    middle = text[1:-1]
    short = min(_seconds(match, text) for _ in range(5))
    return min(_seconds(match, text[0] + middle * TIMES + text[-1]) for _ in range(3)) / short


def _seconds(match: Match, text: str) -> float:
    start = time.perf_counter()
    match(text)
    return time.perf_counter() - start
