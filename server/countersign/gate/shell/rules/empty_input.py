"""Commands that get words from an input which may be empty: ``xargs cp a .vscode/x`` then runs as it stands there."""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.shell.effects.unwrap import unwrap
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.rules.analyzed_command import GIVE_INPUT, AnalyzedCommand
from countersign.gate.shell.syntax.words import UNKNOWN

_NOT_RUN = ("-r", "--no-run-if-empty", "-I", "-i", "--replace")
"""Options with which nothing runs for an empty input."""


def with_empty_input(analyzed: AnalyzedCommand) -> Sequence[Step]:
    """Return the commands without the words that come in on the input, where something is left to judge."""
    found: list[Step] = []
    for layer in analyzed.layers[1:]:
        above = layer.above
        if above is None or len(layer.words) < _FEWEST or layer.words[-1] is not UNKNOWN:
            continue
        if analyzed.names[above] in GIVE_INPUT and not analyzed.known[above].arguments.may_have(*_NOT_RUN):
            words, step = layer.words[:-1], analyzed.step
            command = step.command._replace(words=words, redirects=(), plain=False)
            found.append(step._replace(command=command, unwrapped=unwrap(words)))
    return found


_FEWEST = 3
"""Words of a command with a name, an operand, and what is given to it."""
