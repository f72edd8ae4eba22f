"""Typed values out of layers: each setting's last word, or its default and a Problem where that cannot be meant."""

from __future__ import annotations

import math
import os.path
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar, get_args

from countersign.settings.escape_text import shown_value
from countersign.settings.layers import Layer
from countersign.settings.policy import Problem
from countersign.settings.tree import setting_name
from countersign.wire.base import Json

T = TypeVar("T")

SandboxMode = Literal["off", "commands", "all"]
SandboxNetwork = Literal["none", "hosts", "all"]
SANDBOX_MODES: tuple[SandboxMode, ...] = get_args(SandboxMode)
SANDBOX_NETWORKS: tuple[SandboxNetwork, ...] = get_args(SandboxNetwork)
"""Modes from the loosest to the strictest, networks from the strictest to the loosest."""

DEFAULT_TIMEOUT = 300.0
LONGEST = 10 * 365 * 24 * 3600.0
"""Seconds of ten years; a longer time is taken as this one, because dates beyond the calendar cannot be told."""


class Reading:
    """Reads settings from layers, the last one that says something counting; keeps the problems it met."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = layers
        self.problems: list[Problem] = []

    def said(self, *path: str) -> tuple[Layer, Json] | None:
        """The last word and whose it is."""
        found = [(layer, value) for layer in self.layers if (value := layer.get(*path)) is not None]
        return found[-1] if found else None

    def read(self, path: Sequence[str], as_value: Callable[[Json], T | None], default: T, what: str) -> T:
        """The value, or ``default`` and a problem that says ``what`` it should have been."""
        last = self.said(*path)
        if last is None:
            return default
        layer, value = last
        found = as_value(value)
        if found is None:
            message = f"`{setting_name(path)}` is {shown_value(value)} but must be {what}; {default!r} counts"
            self.problems.append(layer.place(*path).problem(message.replace("'", "`")))
            return default
        return found


def as_count(value: Json) -> int | None:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 or value != value // 1:
        return None
    return int(value)


def as_positive(value: Json) -> int | None:
    """A whole number from 1."""
    return as_count(value) or None


def as_seconds(value: Json) -> float | None:
    """A span of time from 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        return None
    return float(min(value, LONGEST))


def as_positive_seconds(value: Json) -> float | None:
    """A span of time above 0."""
    return as_seconds(value) or None


def as_text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def as_texts(value: Json) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(str(item) for item in value)


def as_sandbox_mode(value: Json) -> SandboxMode | None:
    """How far the sandbox reaches; ``workspace`` is what ``commands`` was called before."""
    value = "commands" if value == "workspace" else value
    return next((mode for mode in SANDBOX_MODES if mode == value), None)


def as_sandbox_network(value: Json) -> SandboxNetwork | None:
    """What the sandbox reaches; ``off`` is what ``none`` was called before."""
    value = "none" if value == "off" else value
    return next((network for network in SANDBOX_NETWORKS if network == value), None)


def as_flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def is_relative_folder(value: Json) -> bool:
    """Whether a folder counts from the workspace."""
    return isinstance(value, str) and not os.path.isabs(value) and value != "~" and not value.startswith("~/")


def as_folder(value: Json, workspace: str, home: str) -> str | None:
    """An absolute folder: as it is, from ``~/``, or from the workspace. None for what cannot be one."""
    if not isinstance(value, str) or not value or not value.isprintable():
        return None
    if value == "~" or value.startswith("~/"):
        value = home + value[1:]
    return os.path.normpath(os.path.join(workspace, value))
