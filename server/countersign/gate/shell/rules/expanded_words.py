"""What bash makes of the words of a command before the program sees them, where that may name a file.

A word that is not constant becomes the values of the text's own variables, or the names that a pathname pattern
matches: a program whose words may name any file is judged by those as by names that were written out. The expansion of
a pattern also reads the folders that its wildcards stand in, whichever command the names are given to (``echo ~/*``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.patterns import glob_segment
from countersign.gate.shell.files.word_values import Meaning, meaning, plain_path
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.syntax.tree import Glob, Word
from countersign.gate.shell.syntax.words import constant


def expanded(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None
) -> Sequence[Word]:
    """The words that one word may become, as far as the text tells: constants and pathname patterns."""
    if word.value is not None:
        return (word,)
    found: dict[Word, None] = {}
    for meant in _meanings(context, analyzed, word, places):
        if not meant.complete:
            found[word] = None
        found |= dict.fromkeys(_path(value) for value in meant.values)
        for text in meant.patterns:
            found[_pattern(text)] = None
            if text[:1] in {"-", "@"} or "=" in text:
                found[_path(plain_path(text))] = (
                    None  # it rarely matches a name, and some programs expand it themselves
                )
    return tuple(found)


def searched_folders(
    context: JudgingContext, analyzed: AnalyzedCommand, words: Sequence[Word], places: Sequence[str] | None
) -> Iterator[Word]:
    """The folders, or patterns of folders, in which bash looks for names to expand these words."""
    for word in {word.source: word for word in words if word.value is None}.values():
        for meant in _meanings(context, analyzed, word, places):
            yield from map(_searched_folder, meant.patterns)


def _meanings(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None
) -> Iterator[Meaning]:
    for place in places if places is not None else (None,):
        yield meaning(word, analyzed.facts, context.paths.home, place)


def _path(value: str) -> Word:
    return constant(value)._replace(tilde=value.startswith("~/"))


def _pattern(text: str) -> Word:
    return Word(text, (Glob(text),), "pattern", None, "", text, bare=False)


def _searched_folder(pattern: str) -> Word:
    """The folder of the last segment with a wildcard."""
    segments = pattern.split("/")
    wild = [at for at, text in enumerate(segments) if glob_segment(text).literal is None]
    folder = "/".join(segments[: wild[-1]])
    if len(wild) > 1:
        return _pattern(folder)
    return _path(plain_path(folder) or ("/" if wild[-1] else "."))
