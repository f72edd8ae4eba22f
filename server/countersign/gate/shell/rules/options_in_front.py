"""Commands whose options stand in front of the subcommand, which may read them all the same.

Many parsers read the program's own options up to ``--`` and hand the rest to the subcommand, which reads it anew: those
of Go, Mercurial, Click, GHC and Vagrant (``go -- test -exec ./x``). Cobra hands it all options in front of its name,
with the word behind each (``gh -D ../x release download``). So such a command is also judged without these dashes, and
with the subcommand in front, where it then touches more.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.shell.effects.escapes import look_up
from countersign.gate.shell.effects.partial_subcommands import is_subcommand, takes_subcommands
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.files.file_operands import file_uses
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
        if at is not None:
            found.append(instead(step, layer.words, (*layer.words[:at], *layer.words[at + 1 :])))
    return found


def with_subcommand_first(step: Step) -> Sequence[Step]:
    """Return the command with the options in front of a subcommand behind it, for each program in it that does or
    touches more then."""
    found: list[Step] = []
    for layer in step.unwrapped.layers if step.command.kind == "command" else ():
        words = layer.words
        if len(words) < _FEWEST or not any(word.prefix[:1] == "-" for word in words[1:_FEWEST]):
            continue
        name = program(words[0].value or "")
        moved = _subcommand_first(name, words)
        if moved is not None and touches_more(name, moved, words):
            found.append(instead(step, words, moved))
    return found


_FEWEST = 4
"""Words of a command that has a name, an option, its value and a subcommand."""

_FARTHEST = 12
"""Words among which a subcommand is looked for."""


def instead(step: Step, written: Sequence[Word], words: tuple[Word, ...]) -> Step:
    """Return the command with other words for those of one of its programs."""
    front = step.command.words[: len(step.command.words) - len(written)]
    if step.command.words[len(front) :] != written:
        front = ()  # words are put into it (`xargs`, `find -exec`), so it is judged by itself
    return step.with_words((*front, *words))


def _subcommand_first(name: str, words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The words with those that name the subcommand in front; None if they stand there already."""
    if name in READ_HERE or not takes_subcommands(name):
        return None
    said, left, index = list[Word](), list[Word](), 1
    while index < min(len(words), _FARTHEST):
        word = words[index]
        if word.value is not None and is_subcommand(name, *[each.value or "" for each in said], word.value):
            said.append(word)
        elif word.prefix[:1] == "-" or words[index - 1].prefix[:1] == "-":
            left.append(word)
        else:
            break
        index += 1
    if not said or not left or (words[1] is said[0] and words[len(said)] is said[-1]):
        return None
    return (words[0], *said, *left, *words[index:])


def touches_more(name: str, moved: Sequence[Word], words: Sequence[Word]) -> bool:
    """Return whether a command does something, or names a file, that it does not as it is written."""
    now, before = look_up(name, moved), look_up(name, words)
    if {(use.kind, use.why) for use in now.uses} - {(use.kind, use.why) for use in before.uses}:
        return True
    written = {(each.operation, each.word.source) for each in file_uses(name, words, before)}
    return any((each.operation, each.word.source) not in written for each in file_uses(name, moved, now))


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
