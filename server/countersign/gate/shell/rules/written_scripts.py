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
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.flow.stage_output import stage_output
from countersign.gate.shell.programs.tables import FACETS, INTERPRETERS, SHELLS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.bindings import Facts

_KEEPS_INPUT = frozenset(key[0] for key, how in FACETS["prints_input"].items() if how == "also-written")
_MOST_COPIES = 8
"""How often a name is followed to the name of a copy."""
_COPIES_ONE = 3
"""The fewest words of a command that copies."""


def written_scripts(steps: Sequence[Step], facts: Facts) -> Mapping[str, Sequence[str]]:
    """The texts that these commands write, as far as their words tell, by the names of the files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for step in steps:
        command = step.command
        names = [_name(redirect.target) for redirect in command.redirects if ">" in redirect.operator]
        if command.words and program(command.words[0].value or "") in _KEEPS_INPUT:
            names += map(_name, command.words[1:])
        for name in filter(None, names):
            # A redirection of a whole group takes what any of its commands prints.
            around = steps if not command.words else (step,)
            found[name] += [text for each in around for text in (*stage_output(each.command)[0], *each.stdin_texts)]
    written = {name: texts for name, texts in found.items() if any(texts)}
    return _with_copies(written, steps, facts) if written else {}


def _with_copies(written: dict[str, list[str]], steps: Sequence[Step], facts: Facts) -> Mapping[str, Sequence[str]]:
    """These, and the same by the names that copies, links and renames give them."""
    copies: list[tuple[str, str]] = []
    for step in steps:
        if len(step.command.words) >= _COPIES_ONE:
            for known in AnalyzedCommand(step, facts).known:
                if known.program is not None and known.program.operands in COPYING and known.arguments.operands:
                    *sources, target = [_name(word) for _, word in known.arguments.operands]
                    copies += [(source, target) for source in sources]
    for _ in range(min(len(copies), _MOST_COPIES)):
        for source, target in copies:
            if source in written and target:
                written[target] = list(dict.fromkeys((*written.get(target, ()), *written[source])))
    return written


def scripts_run(analyzed: AnalyzedCommand, written: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Of these texts, yield those that this command may run as a script for a shell."""
    step = analyzed.step
    words = [] if any(name in INTERPRETERS for name in analyzed.names) else [*step.unwrapped.programs]
    for word in (*words, *(layer.words[0] for layer in analyzed.layers)):
        for text in written.get(_name(word), ()):
            if not text.startswith("#!") or program(text[2:].split("\n", 1)[0].split(" ")[-1]) in SHELLS:
                yield text


def _name(word: Word | None) -> str:
    return os.path.basename(word.value) if word is not None and word.value else ""
