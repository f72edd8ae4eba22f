"""Which options of a subcommand count together. One that would be ignored is refused, with what it belongs to.

Each subcommand has one table. Options that choose what is done are its actions, of which one at most is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LISTING = ""
"""In place of an action: none was given."""


@dataclass(frozen=True, slots=True)
class OptionUses:
    """``actions`` are options without which the subcommand does what ``LISTING`` stands for; ``only_with`` are the
    actions that read each further option. An option that is in neither counts always."""

    actions: Sequence[str]
    only_with: Mapping[str, Sequence[str]]


def ignored_option(arguments: argparse.Namespace, uses: OptionUses) -> str | None:
    """Return what is wrong with a call whose options do not go together and what to do, or None."""
    actions = [option for option in uses.actions if _given(arguments, option)]
    if len(actions) > 1:
        return f"{' and '.join(f'`{option}`' for option in actions)} cannot be combined; give one at a time"
    action = actions[0] if actions else LISTING
    for option, with_actions in uses.only_with.items():
        if _given(arguments, option) and action not in with_actions:
            named = [f"`{each}`" for each in with_actions if each != LISTING]
            if action == LISTING:
                return f"`{option}` does nothing without {_either(named)}; add it"
            wanted = f"; give it with {_either(named)}" if named else ""
            return f"`{option}` does nothing with `{action}`{wanted or '; take one of them out'}"
    return None


def _given(arguments: argparse.Namespace, option: str) -> bool:
    value = getattr(arguments, option.lstrip("-").replace("-", "_"))
    return value is not None and value is not False and value != ""


def _either(named: Sequence[str]) -> str:
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"
