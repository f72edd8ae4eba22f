"""Scripts that a text writes and then runs: ``echo evil > s.sh; sh s.sh``.

Rules that deny a command, or ask about it, speak of those in such a script as well. Files are compared by their names
alone, in whatever order the commands stand: a script that does not run after all costs no more than a question.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from countersign.gate.shell.effects.escape_use import COPYING
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.flow.stage_output import stage_output
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.bindings import Facts

_MOST_COPIES = 8
"""How often a name is followed to the name of a copy."""
_MOST_PIECES = 100
"""Texts that are written into one file, for each of which what stands in it by then counts as well."""
_MOST_READ = 20
"""Files that one command reads, and writes, which are taken for copies."""
_COPIES_ONE = 3
"""The fewest words of a command that copies."""


def written_scripts(steps: Sequence[Step], facts: Facts) -> Mapping[str, Sequence[str]]:
    """The texts that these commands write, as far as their words tell, by the names of the files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    whole: dict[str, str] = {}
    for step in steps:
        command = step.command
        names = [(_name(each.target), ">>" in each.operator) for each in command.redirects if ">" in each.operator]
        if command.words and step.stdin_texts:
            names += [(name, True) for name in _named_outputs(AnalyzedCommand(step, facts))]
        for name, appends in names:
            # A redirection of a whole group takes what any of its commands prints.
            around = steps if not command.words else (step,)
            texts = [text for each in around for text in (*stage_output(each.command)[0], *each.stdin_texts)]
            if name and any(texts):
                # It may be written piece by piece.
                whole[name] = "".join((whole.get(name, "") if appends else "", *texts))
                found[name] += [*texts, whole[name]] if len(found[name]) < _MOST_PIECES else texts
    written = {name: list(dict.fromkeys((*texts, whole[name]))) for name, texts in found.items()}
    return _with_copies(written, steps, facts) if written else {}


def _with_copies(written: dict[str, list[str]], steps: Sequence[Step], facts: Facts) -> Mapping[str, Sequence[str]]:
    """These, and the same by the names that copies, links and renames give them."""
    copies: dict[tuple[str, str], None] = {}
    for step in steps:
        command = step.command
        if len(command.words) < _COPIES_ONE and not (command.words and command.redirects):
            continue
        analyzed = AnalyzedCommand(step, facts)
        for known in analyzed.known:
            if known.program is not None and known.program.operands in COPYING and known.arguments.operands:
                *sources, target = [_name(word) for _, word in known.arguments.operands]
                copies |= dict.fromkeys((source, target) for source in sources)
        # What a filter reads may go on into its output.
        read = [_name(redirect.target) for redirect in command.redirects if redirect.operator == "<"]
        read += [_name(use.word) for use in _uses(analyzed) if use.operation == "read"]
        outputs = [_name(redirect.target) for redirect in command.redirects if ">" in redirect.operator]
        outputs += _named_outputs(analyzed) if read else ()
        copies |= dict.fromkeys((source, target) for source in read[:_MOST_READ] for target in outputs[:_MOST_READ])
    for _ in range(min(len(copies), _MOST_COPIES)):
        for source, target in copies:
            if source in written and target:
                written[target] = list(dict.fromkeys((*written.get(target, ()), *written[source])))
    return written


def _named_outputs(analyzed: AnalyzedCommand) -> list[str]:
    """The names of the files into which a command writes what it reads, where its words tell them (``tee s``, ``dd
    of=s``, ``sort -o s``)."""
    return [_name(use.word) for use in _uses(analyzed) if use.operation == "write"]


def _uses(analyzed: AnalyzedCommand) -> Iterator[FileUse]:
    for index in range(len(analyzed.layers)):
        yield from analyzed.file_uses(index)


def scripts_run(analyzed: AnalyzedCommand, written: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Of these texts, yield those that this command may run as a script for a shell."""
    step = analyzed.step
    words = [] if any(name in INTERPRETERS for name in analyzed.names) else [*step.unwrapped.programs]
    for word in (*words, *(layer.words[0] for layer in analyzed.layers)):
        for text in written.get(_name(word), ()):
            if text.startswith("#!"):
                yield text[2:].split("\n", 1)[0]  # it runs whatever it is: also `#!/bin/rm`
            if not text.startswith("#!") or program(text[2:].split("\n", 1)[0].split(" ")[-1]) in SHELLS:
                yield text


def _name(word: Word | None) -> str:
    return os.path.basename(word.value) if word is not None and word.value else ""
