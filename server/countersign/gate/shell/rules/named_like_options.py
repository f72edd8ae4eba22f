"""Files that are named like options, which a pathname pattern hands to a program (docs/gate.md S4).

A repository may hold a file named ``--checkpoint-action=exec=x``: beside it ``tar cf a *`` runs ``x``. What such an
option runs, reads or writes is not looked up; a mode that allows commands does not cover it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.patterns import may_begin_with
from countersign.gate.probes import disk
from countersign.gate.shell.files.name_lists import takes_list_by_mark
from countersign.gate.shell.files.word_paths import MAX_MATCHES
from countersign.gate.shell.files.word_values import meaning
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.made_names import makes_marked
from countersign.gate.shell.syntax.tree import Word


def named_like_option(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> Word | None:
    """The first word that could be an option and whose pattern matches the name of a file that begins with a dash."""
    made = makes_marked(context.made, "-")
    takes_list = bool(context.made and analyzed.names) and takes_list_by_mark(analyzed.names[-1])
    for word in _words(analyzed):
        for place in places or ():
            for pattern in meaning(word, analyzed.facts, context.paths.home, place).patterns:
                dashed = _with_dash(pattern)
                if dashed is not None and (made or disk.matching(dashed, place, MAX_MATCHES) != ()):
                    return word
                if takes_list and names_marked("@", pattern, place, made=makes_marked(context.made, "@")):
                    return word
    return None


def _words(analyzed: AnalyzedCommand) -> Iterator[Word]:
    for known, layer in zip(analyzed.known, analyzed.layers, strict=True):
        if all(word.value is not None for word in layer.words):
            continue
        if known.program is None and known.git is None:
            yield from (word for word in layer.words[1:] if word.value is None)
        else:
            yield from known.holes
            yield from (word for _, word in known.arguments.holes)


def _with_dash(pattern: str) -> str | None:
    """The pattern of those names of a pattern that begin with a dash, if there can be any."""
    match pattern[:1]:
        case "*":
            return f"-{pattern}"
        case "?":
            return f"-{pattern[1:]}"
        case "-":
            return pattern
        case _:
            return pattern if pattern.startswith("\\-") else None


def names_marked(mark: str, pattern: str, folder: str, *, made: bool) -> bool:
    """Whether a pathname pattern may make a word that begins with a mark, such as the dash of an option: it says so, or
    such a file is there. ``made``: the text makes one."""
    if not may_begin_with(mark, pattern):
        return False
    if made:
        return True
    matches = disk.matching(pattern, folder, MAX_MATCHES)
    return pattern[0] in {mark, "\\"} or matches is None or any(name.startswith(mark) for name in matches)
