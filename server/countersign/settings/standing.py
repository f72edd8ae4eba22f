"""Which confirmed values still stand in a settings file that is broken, so that nobody is asked anew about each of them
because a brace was missing for a moment.

A broken text has no tree, so its tokens are compared: a value stands there only if every name on its path and every
name and scalar in it do, outside comments. In doubt it does not, and the person is asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from countersign.settings.confirmations import canonical
from countersign.settings.tree import PREFIX
from countersign.settings.workspace_restrictions import Claim
from countersign.wire.base import Json

_TOKEN = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|("(?:[^"\\\n]|\\.)*")|([^\s"/{}\[\],:]+)', re.DOTALL)


class BrokenText:
    """The tokens of a text that is no JSON. A class because many claims are compared with one text."""

    def __init__(self, text: str) -> None:
        self._scalars: set[str] = set()
        self._names: set[str] = set()
        for found in _TOKEN.finditer(text):
            token = found[1] or found[2]
            if token is None:
                continue
            try:
                value = json.loads(token)
            except (ValueError, RecursionError):
                continue
            self._scalars.add(canonical(value))
            if isinstance(value, str):
                self._names.add(value)
                if value.startswith(PREFIX + "."):
                    self._names.update(value.split("."))

    def holds(self, claim: Claim) -> bool:
        """Whether every part of the claim stands somewhere in the text."""
        return self._names.issuperset(claim.path) and all(part in self._scalars for part in _parts(claim.value))


def _parts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield canonical(name)
            yield from _parts(child)
    elif isinstance(value, list):
        for child in value:
            yield from _parts(child)
    else:
        yield canonical(value)
