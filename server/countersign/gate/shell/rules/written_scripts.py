"""Scripts that a text writes and then runs: ``echo evil > s.sh; sh s.sh``.

Rules that deny a command, or ask about it, speak of those in such a script as well. Files are compared by their names
alone, in whatever order the commands stand: a script that does not run after all costs no more than a question.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from countersign.gate.patterns import glob_segment
from countersign.gate.shell.effects.escape_use import COPYING
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.files.word_values import meaning
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.flow.parse_cache import Followed, follow
from countersign.gate.shell.flow.stage_output import shown, stage_output
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS
from countersign.gate.shell.rules.analyzed_command import Analyses, AnalyzedCommand
from countersign.gate.shell.rules.filled_words import filled, printed_by_script
from countersign.gate.shell.syntax.tree import Heredoc, Process, Simple, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import Facts

_MOST_COPIES = 8
"""How often a name is followed to the name of a copy."""
_MOST_PIECES = 100
"""Texts that are written into one file, for each of which what stands in it by then counts as well."""
_MOST_READ = 20
"""Files that one command reads, and writes, which are taken for copies."""
_MOST_SPELLINGS = 20
"""Values of the variables in one command, and texts that a file written piece by piece may hold."""
_COPIES_ONE = 3
"""The fewest words of a command that copies."""


def written_scripts(analyses: Analyses) -> Mapping[str, Sequence[str]]:
    """The texts that these commands write, as far as their words tell, by the names of the files."""
    steps, facts = analyses.steps, analyses.facts
    found: defaultdict[str, list[str]] = defaultdict(list)
    wholes: dict[str, list[str]] = {}
    all_texts: list[str] | None = None
    for index, step in enumerate(steps):
        command = step.command
        names = [
            (name, ">>" in each.operator)
            for each in command.redirects
            if ">" in each.operator
            for name in _names(each.target, facts)
        ]
        if command.words and (step.input.texts or step.input.words):
            names += [(name, True) for name in _named_outputs(analyses[index])]
        if not names:
            continue
        if command.words:
            texts = list(dict.fromkeys(_printed(step, facts)))
        else:
            # A redirection of a whole group takes what any of its commands prints.
            if all_texts is None:
                all_texts = list(dict.fromkeys(text for each in steps for text in _printed(each, facts)))
            texts = all_texts
        for name, appends in names if any(texts) else ():
            # It may be written piece by piece: all of these texts by one command, or one of them by each.
            before = wholes.get(name, [""]) if appends else [""]
            joined = ("".join((front, text)) for front in before for text in ("".join(texts), *texts))
            wholes[name] = list(dict.fromkeys(itertools.islice(joined, _MOST_SPELLINGS)))
            found[name] += [*texts, *wholes[name]] if len(found[name]) < _MOST_PIECES else texts
    written = {name: list(dict.fromkeys((*texts, *wholes[name]))) for name, texts in found.items()}
    return _with_copies(written, analyses) if written else {}


def _printed(step: Step, facts: Facts) -> Iterator[str]:
    """The texts that a command may print. In messages of errors a word stands as it is, with all its lines."""
    yield from (word.value for word in step.command.words if word.value is not None and "\n" in word.value)
    for command in _spellings(step.command, facts):
        yield from stage_output(command)[0]
    yield from step.input.texts
    for word in step.input.words:
        yield from _texts(word, facts)
    for piece in (piece for word in step.command.words for piece in word.pieces):
        if isinstance(piece, Process) and not piece.writes:
            yield from printed_by_script(piece.script)
    for text in step.unwrapped.texts:
        inner = follow(text)
        for each in inner.course.steps if isinstance(inner, Followed) else ():
            yield from stage_output(each.command)[0]


def _spellings(command: Simple, facts: Facts) -> Iterator[Simple]:
    """A command that prints, and the same with each value that the text gives to what expands in its words."""
    yield command
    if command.plain:
        return
    redirects = [
        each._replace(target=constant(_texts(each.target, facts)[0]), heredoc=_filled(each.heredoc, facts))
        for each in command.redirects
    ]
    words = [[constant(text) for text in _texts(word, facts)] for word in command.words]
    for spelled in itertools.islice(itertools.product(*words), _MOST_SPELLINGS):
        yield command._replace(words=spelled, redirects=tuple(redirects))


def _filled(heredoc: Heredoc | None, facts: Facts) -> Heredoc | None:
    if heredoc is None or heredoc.word is None or heredoc.word.value is not None:
        return heredoc
    return Heredoc(_texts(heredoc.word, facts)[0], heredoc.word)


def _texts(word: Word, facts: Facts) -> Sequence[str]:
    """What a word may expand to, as far as the text says."""
    return (word.value is None and filled(word, facts)) or [shown(word)]


def _with_copies(written: dict[str, list[str]], analyses: Analyses) -> Mapping[str, Sequence[str]]:
    """These, and the same by the names that copies, links and renames give them."""
    facts = analyses.facts
    copies: dict[tuple[str, str], None] = {}
    joined: list[tuple[list[str], list[str]]] = []
    piped: list[str] = []
    for index, step in enumerate(analyses.steps):
        command, analyzed = step.command, analyses[index]
        for known in analyzed.known if len(command.words) >= _COPIES_ONE else ():
            if known.program is not None and known.program.operands in COPYING and known.arguments.operands:
                *sources, target = [_read_names(word, facts) for _, word in known.arguments.operands]
                copies |= dict.fromkeys(itertools.product(itertools.chain.from_iterable(sources), target))
        # What a filter reads may go on into its output.
        read = [name for each in command.redirects if each.operator == "<" for name in _read_names(each.target, facts)]
        read += [name for use in _uses(analyzed) if use.operation == "read" for name in _read_names(use.word, facts)]
        piped = [*piped, *read][-_MOST_READ:]
        read = piped if step.input.comes else read
        outputs = [name for each in command.redirects if ">" in each.operator for name in _names(each.target, facts)]
        outputs += _named_outputs(analyzed) if read else ()
        copies |= dict.fromkeys((source, target) for source in read[:_MOST_READ] for target in outputs[:_MOST_READ])
        joined.append((read[:_MOST_READ], outputs[:_MOST_READ]))
    for _ in range(min(len(copies), _MOST_COPIES)):
        known = sum(map(len, written.values()))
        whole = list(dict.fromkeys(itertools.chain.from_iterable(written.values())))
        for source, target in copies:
            texts = whole if source == _MATCHED else written.get(source)
            if texts and target != _MATCHED:
                written[target] = list(dict.fromkeys((*written.get(target, ()), *texts)))
        if sum(map(len, written.values())) == known:
            break
    for sources, targets in joined:
        texts = [written[source] for source in sources if source in written]
        whole = map("".join, itertools.islice(itertools.product(*texts), _MOST_SPELLINGS)) if len(texts) > 1 else ()
        for target in targets if texts else ():
            written[target] = list(dict.fromkeys((*written.get(target, ()), *whole)))
    return written


def _named_outputs(analyzed: AnalyzedCommand) -> list[str]:
    """The names of the files into which a command writes what it reads, where its words tell them (``tee s``, ``dd
    of=s``, ``sort -o s``)."""
    return [name for use in _uses(analyzed) if use.operation == "write" for name in _names(use.word, analyzed.facts)]


def _uses(analyzed: AnalyzedCommand) -> Iterator[FileUse]:
    for index in range(len(analyzed.layers)):
        yield from analyzed.file_uses(index)


def scripts_run(analyzed: AnalyzedCommand, written: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Of these texts, yield those that this command may run as a script for a shell."""
    step = analyzed.step
    words = [] if any(name in INTERPRETERS for name in analyzed.names) else [*step.unwrapped.programs]
    names = [
        name
        for word in (*words, *(layer.words[0] for layer in analyzed.layers))
        for name in (*_names(word, analyzed.facts), *_matched(word, analyzed.facts, written))
    ]
    for text in (text for name in names for text in written.get(name, ())):
        if text.startswith("#!"):
            yield text[2:].split("\n", 1)[0]  # it runs whatever it is: also `#!/bin/rm`
        if not text.startswith("#!") or program(text[2:].split("\n", 1)[0].split(" ")[-1]) in SHELLS:
            yield text


def _matched(word: Word | None, facts: Facts, names: Iterable[str]) -> list[str]:
    """Of these names, those that a pattern in the word may match."""
    patterns = () if word is None or word.value is not None else meaning(word, facts, "", None).patterns
    last = [glob_segment(pattern.rstrip("/").rpartition("/")[2]) for pattern in patterns]
    return [name for name in names if any(each.may_match_any_case(name) for each in last)] if last else []


def _read_names(word: Word, facts: Facts) -> list[str]:
    """The base names that a word may have as a file, ``_MATCHED`` among them if it holds a pattern."""
    matches = word.value is None and meaning(word, facts, "", None).patterns
    return [*_names(word, facts), _MATCHED] if matches else _names(word, facts)


_MATCHED = "\0"
"""Stands for all files that a pattern matches, which may be any of those that are written."""


def _names(word: Word | None, facts: Facts) -> list[str]:
    """The base names that a word may have as a file, none where nothing is known of them."""
    if word is None:
        return []
    texts = [word.value] if word.value is not None else filled(word, facts) or ()
    names = map(os.path.basename, itertools.islice(texts, _MOST_SPELLINGS))
    return [name for name in names if name not in {"", ".", ".."}]
