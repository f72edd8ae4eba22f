"""What a stage of a pipeline prints, as far as its words tell: a shell behind it may read that as commands."""

from __future__ import annotations

import re

from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.programs.tables import FACETS, SHELLS
from countersign.gate.shell.syntax.tree import Glob, Node, Simple, Text, Word


def stage_output(node: Node) -> tuple[tuple[str, ...], bool]:
    """What a stage of a pipeline may print, where the next one may read it as commands, and whether that is surely
    all of it to the letter: text that is worked out (escapes, formats, expansions, files) is not."""
    if not isinstance(node, Simple) or not node.words or node.words[0].value is None:
        return (), False
    name = program(node.words[0].value)
    if name not in _PRINTING:
        return (), False
    words = node.words[1:]
    values = [shown(word) for word in words]
    constant = all(word.form == "constant" for word in words)
    if name == "echo":
        options = next(
            (number for number, value in enumerate(values) if not _ECHO_OPTIONS.fullmatch(value)), len(values)
        )
        plain = constant and not any("e" in option for option in values[:options])
        return (" ".join(values[options:]),), plain
    if name == "printf":
        texts = tuple(value.replace("\\n", "\n") for value in values)
        return texts, constant and len(texts) == 1 and "%" not in texts[0] and "\\" not in texts[0]
    if name in _PRINTING_INPUT or name in SHELLS:
        heredocs = [redirect.heredoc for redirect in node.redirects if redirect.heredoc is not None]
        known = [heredoc.word is not None and heredoc.word.value is not None for heredoc in heredocs]
        sure = _PRINTING_INPUT.get(name) == "only" and not words and len(node.redirects) == 1 and known == [True]
        return tuple(heredoc.body or "" for heredoc in heredocs), sure
    return (), False


def shown(word: Word) -> str:
    """The text of a word, with a digit in the place of what is only known at run time."""
    if word.value is not None:
        return word.value
    return "".join(piece.text if isinstance(piece, Text | Glob) else "1" for piece in word.pieces)


_PRINTING_INPUT = {key[0]: how for key, how in FACETS["prints_input"].items()}
_PRINTING = frozenset({"echo", "printf", *_PRINTING_INPUT, *SHELLS})
_ECHO_OPTIONS = re.compile(r"-[neE]+")
