"""Rules for ``find … -exec COMMAND {} ;``: one covers find, and one each command that it runs (docs/gate.md S7).

The two are judged as commands of their own. What find gives to a command is a path that begins with one of its roots,
so it is no option. Commands that run others in turn, and ``-execdir``, which runs in each folder, are left to a rule
that spells them out.
"""

from __future__ import annotations

from countersign.gate.shell.effects.unwrap import unwrap
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.languages.find import FINDERS, without_exec
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Simple, Word
from countersign.gate.shell.syntax.words import UNKNOWN


def found_commands(analyzed: AnalyzedCommand) -> tuple[AnalyzedCommand, tuple[AnalyzedCommand, ...]] | None:
    """Return find without its ``-exec``, and the commands that it runs; None if they cannot be judged apart."""
    unwrapped, command = analyzed.step.unwrapped, analyzed.step.command
    if len(analyzed.layers) < 2 or analyzed.names[0] not in FINDERS or command.assignments or command.kind != "command":
        return None
    if (
        unwrapped.texts
        or unwrapped.unknown is not None
        or unwrapped.programs
        or unwrapped.reads_stdin
        or unwrapped.deep
    ):
        return None
    if any(layer.above != 0 for layer in analyzed.layers[1:]) or analyzed.facts.functions or analyzed.facts.aliases:
        return None
    own = without_exec(analyzed.layers[0].words)
    if own is None:
        return None
    inner = [tuple(FOUND if word is UNKNOWN else word for word in layer.words) for layer in analyzed.layers[1:]]
    if any(word.value is None and word is not FOUND for words in inner for word in words):
        return None
    alone, *commands = (analyzed_anew(analyzed, words) for words in (own, *inner))
    return None if any(len(each.layers) != 1 for each in (alone, *commands)) else (alone, tuple(commands))


FOUND = Word("{}", (), "quoted", None, "./", UNKNOWN_TEXT + "{}", bare=False)
"""A path that find gives: it begins like a root."""


def analyzed_anew(analyzed: AnalyzedCommand, words: tuple[Word, ...]) -> AnalyzedCommand:
    """Return these words as a command that runs where this one does."""
    command = Simple(" ".join(word.source for word in words), words)
    return AnalyzedCommand(Step(command, unwrap(words), analyzed.step.places), analyzed.facts)
