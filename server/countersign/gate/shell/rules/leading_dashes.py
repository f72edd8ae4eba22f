"""Commands with ``--`` in front of the subcommand, whose options count behind it: ``go -- test -exec ./x``.

Many parsers read the program's own options up to ``--`` and hand the rest to the subcommand, which reads it anew: those
of Go, Mercurial, Click, GHC and Vagrant. So such a command is also judged without these dashes.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.shell.effects.unwrap import program, unwrap
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.languages.git import READ_HERE
from countersign.gate.shell.programs.argv import arguments
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.subcommand_depth import GROUPS
from countersign.gate.shell.syntax.tree import Word


def without_leading_dashes(step: Step) -> Sequence[Step]:
    """Return the command without the dashes in front of a subcommand, for each program in it."""
    words = step.command.words
    if not any(word.value == "--" for word in words):
        return ()
    found: list[Step] = []
    for layer in step.unwrapped.layers:
        at = _leading(layer.words)
        if at is None:
            continue
        front = words[: len(words) - len(layer.words)]
        if words[len(front) :] != layer.words:
            front = ()  # words are put into it (`xargs`, `find -exec`), so it is judged by itself
        each = (*front, *layer.words[:at], *layer.words[at + 1 :])
        # What it is redirected to is judged already.
        command = step.command._replace(words=each, redirects=(), plain=False)
        found.append(step._replace(command=command, unwrapped=unwrap(each)))
    return found


def _leading(words: Sequence[Word]) -> int | None:
    """Where the dashes stand, if a subcommand may stand behind them."""
    at = next((index for index, word in enumerate(words) if word.value == "--"), len(words))
    if at + 1 >= len(words) or words[at + 1].prefix[:1] == "-":
        return None
    name = program(words[0].value or "")
    if name in READ_HERE:
        return None  # git refuses it
    row, _ = find_program(name, words[:1])
    if row is None:
        operands = [word.value for word in words[1:at] if word.prefix[:1] != "-"]
    elif row.grammar.whole:
        return None  # such a program has no subcommands
    else:
        operands = [word.value for _, word in arguments(words[:at], row.grammar).operands]
    return at if not operands or (name, *operands) in GROUPS else None
