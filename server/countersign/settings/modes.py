"""The matrix of modes: the verdict of each mode on each category, where no rule matches.

The gate decides by this table (``gate/decisions/decide.py``); settings compare modes by it, to see which is looser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from countersign.wire.base import Json
from countersign.wire.verdicts import Category, Mode, Verdict

MODES: tuple[Mode, ...] = get_args(Mode)

CELLS: Mapping[Mode, Mapping[Category, Verdict]] = {
    "plan": {"read": "allow", "write": "deny", "execute": "deny", "external": "deny"},
    "ask": {"read": "ask", "write": "ask", "execute": "ask", "external": "ask"},
    "default": {"read": "allow", "write": "ask", "execute": "ask", "external": "ask"},
    "acceptEdits": {"read": "allow", "write": "allow", "execute": "ask", "external": "ask"},
    "auto": {"read": "allow", "write": "allow", "execute": "allow", "external": "allow"},
    "dontAsk": {"read": "allow", "write": "deny", "execute": "deny", "external": "deny"},
}
"""`acceptEdits` allows writing inside the workspace only. `dontAsk` also denies, last of all, whatever still asks."""

_ORDER: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def as_mode(value: Json) -> Mode | None:
    """The mode of this name, or None."""
    return next((mode for mode in MODES if mode == value), None)


def is_looser(mode: Mode, than: Mode) -> bool:
    """Whether some category is treated less strictly."""
    return any(_ORDER[verdict] < _ORDER[CELLS[than][category]] for category, verdict in CELLS[mode].items())
