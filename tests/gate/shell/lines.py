"""The three lines against a wrong reading, switched off one by one and all but one (``docs/security.md``).

A row counts against a set of lines if it is allowed with only those at work although it must not be. That is measured
for both ways to run a command: printed anew by us, or as it was written, by the agent itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.shell import judge
from countersign.gate.shell.flow.parse_cache import Followed
from countersign.gate.shell.printing import inner_texts
from countersign.tools.shell import shell
from tests.corpora import context

from .asked import decide
from .examples import evasions

LINES = ("recognizer", "printer", "second parser")
EVASIONS = [row for row in evasions() if "command" in row and row["expect"] != "allow"]
SETTINGS: Mapping[str, Collection[str]] = {
    "all": LINES,
    **{f"without the {line}": tuple(other for other in LINES if other != line) for line in LINES},
    **{f"the {line} alone": (line,) for line in LINES},
    "none": (),
}

VALUES_AND_NOT_PARSING = (
    "what only looks like it runs nothing", "a builtin was loaded", "auto, a variable that moves a path",
    "default, a locale in which", "heredoc line joined to the delimiter", "a heredoc whose delimiter is really quoted",
    "an assignment over two lines asked", "a duplicated descriptor gives a command another input",
    "bash gives `REPLY`, `LINES` and `COLUMNS` values of its own", "bash took a quote for a blank in a locale",
    "behind a division by 0 bash leaves out the rest of the line",
)  # fmt: skip
"""Rows that only the recognizer stops: builtins, variables and descriptors that mean something to bash itself, and
harmless texts."""


@contextmanager
def only(lines: Collection[str], *, own_text: bool) -> Iterator[None]:
    """Decide with these lines at work, for a command that we run or for one that the agent runs as it wrote it."""
    with pytest.MonkeyPatch.context() as patch:
        if "recognizer" not in lines:
            patch.setattr(judge, "outside", lambda _: None)
            patch.setattr(judge, "_outside", lambda _: None)
        if "printer" not in lines:
            patch.setattr(Followed, "printed", "")
        if "second parser" not in lines:
            patch.setattr(judge, "disagreement", lambda *_: None)
            patch.setattr(inner_texts, "disagreement", lambda _: None)
        patch.setattr(shell, "RunCommand", partial(RunCommand, own_text=own_text))
        yield


def wrong_allows(given: Sequence[Mapping[str, Any]], lines: Collection[str], *, own_text: bool) -> list[str]:
    """The names of rows that are allowed with only these lines at work."""
    with only(lines, own_text=own_text):
        return [row["name"] for row in given if decide(row["command"], **row["rules"], **context(row)) == "allow"]


def measured(given: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """The wrong allows for every set of lines and both ways to run a command."""
    return {
        way: {name: wrong_allows(given, lines, own_text=own) for name, lines in SETTINGS.items()}
        for way, own in (("printed anew", False), ("as written", True))
    }


def problems(given: Sequence[Mapping[str, Any]], told: Path | None = None) -> Iterator[str]:
    """Wrong allows beyond those known; with ``told``, what was measured is written there as JSON."""
    found = measured(given)
    if told is not None:
        counts = {way: {name: len(rows) for name, rows in each.items()} for way, each in found.items()}
        told.parent.mkdir(exist_ok=True)
        told.write_text(json.dumps({"rows": len(given), "wrong allows": counts}, indent=2) + "\n", encoding="utf-8")
    for way, each in found.items():
        for name, allowed in each.items():
            lines = SETTINGS[name]
            for row in allowed:
                parsing = not row.startswith(VALUES_AND_NOT_PARSING)
                if "recognizer" in lines or ("printer" in lines and parsing):
                    yield f"{row!r} is allowed: {way}, lines at work: {name}"
