"""Subcommands of which only a beginning is written: ``hg bisec -c ./x``, ``composer exe x``, ``ip net e n x``.

Programs with the fact ``abbreviates_subcommands`` take the beginning of a name for the name. Such a command is also
judged with each name that the tables know to begin so, where it then does or touches more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.partial_subcommands import begun_by, is_subcommand
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.programs.other_subcommands import is_whole_name
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.rules.options_in_front import instead, touches_more
from countersign.gate.shell.rules.valued_options import does_more
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_ABBREVIATING = names_with("abbreviates_subcommands")

_MOST = 8
"""Readings of one command that are judged: no program has as many dangerous names with one beginning."""

_FARTHEST = 8
"""Words among which subcommands are looked for."""


def with_whole_subcommands(step: Step) -> Sequence[Step]:
    """Return the command with whole names of subcommands, for each program in it that takes beginnings of them."""
    found: list[Step] = []
    for layer in step.unwrapped.layers if step.command.kind == "command" else ():
        name = program(layer.words[0].value or "")
        if name in _ABBREVIATING:
            readings = {words: None for words in _whole(name, (), layer.words, 1) if words != tuple(layer.words)}
            found += [
                instead(step, layer.words, words)
                for words in list(readings)[:_MOST]
                if does_more(name, words, layer.words) or touches_more(name, words, layer.words)
            ]
    return found


def _whole(name: str, said: tuple[str, ...], words: Sequence[Word], index: int) -> Iterator[tuple[Word, ...]]:
    """The words with those from here on spelled out that begin a subcommand."""
    while index < min(len(words), _FARTHEST):
        word, before = words[index], words[index - 1]
        value = word.value or "-"
        if is_subcommand(name, *said, value) or (not said and is_whole_name(name, value)):
            said = (*said, value)
        elif value[0] not in "-+" and (fitting := begun_by(value, name, *said)):
            for each in fitting:
                spelled = (*words[:index], constant(each), *words[index + 1 :])
                yield from _whole(name, (*said, each), spelled, index + 1)
            return
        elif word.prefix[:1] != "-" and before.prefix[:1] != "-":
            break
        index += 1
    yield tuple(words)
