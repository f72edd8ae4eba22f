"""Values of options that may say where a program writes, as far as no record says that they do not.

Compilers, build tools and test runners have more options that name an output than a record can list
(``rustc --print cfg=FILE``, ``gcc -fopt-info-vec=FILE``, ``webpack --records-path=FILE``). What such a value names is
compared with protected places and with rules for editing. Where the option is called like one for an output
(``unar -output-directory ../x``), a path outside asks; elsewhere the rule or mode for the program counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.word_patterns import OUTSIDE
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

SELECTS = re.compile(
    r"--?[\w-]*(?:exclu|ignore|skip|omit|prune|filter|(?<!file-)pattern|glob|match|include|without|name|title|message|body)"
)
"""Options whose value says what is chosen or left out, or is text for people."""

_SPELLED = re.compile(r"(--?[^=:]*)(?::=|=|:)(.*)", re.DOTALL)
"""``--option=VALUE``, ``-option:VALUE`` and ``-option:=VALUE``."""


def has_open_options(program: Program) -> bool:
    """Whether a program may have options that write, beside those of its record: none of the read-only set has."""
    return not program.known


def option_values(words: Sequence[Word], known: ProgramReading) -> Iterator[tuple[str, Word]]:
    """Yield each constant value of an option that is not known to read, in the option's word or the next one, behind
    the option's name, which is empty where that is not known."""
    assert known.program is not None
    for before, word in pairwise(words):
        text = word.value
        if not text:
            continue
        if text[0] != "-":
            option = before.value or ""
            if option[:1] == "-" and not _FLAG.match(option) and _may_write(option, known):
                yield from ((option, value) for value in _spellings(text, word))
        elif _may_write(text, known):
            spelled = _SPELLED.fullmatch(text)
            if spelled is not None:
                yield from ((spelled[1], value) for value in _spellings(spelled[2], None))
            elif text[1:2] not in {"-", ""}:
                yield from ((text[:2], each) for each in _spellings(text[2:], None))
                for value in behind_letters(text):
                    yield from (("", each) for each in _spellings(value, None))


def leads_out(name: str, option: str, value: str, known: ProgramReading) -> bool:
    """Whether an option is called like one for what is written, or may be any option of a program that runs or writes
    what lies where its words say, and its value is spelled as a path that may lie outside of the project."""
    assert known.program is not None
    said = option == "-o" or _OUTPUT.search(option) is not None or (name,) in _MAKES_PROJECTS
    return said and option not in known.program.grammar.texts and _LEADS_OUT.match(value) is not None


_MAKES_PROJECTS = frozenset(key for key, (operands, _, _) in OUTSIDE.items() if operands)
_OUTPUT = re.compile(
    r"(?i)(?:(?<![\w.-])-|[^\w.-])[\w.-]*(?:out|dest|dir\b|directory|folder|path|report|log|dump|save|export|target|cache|prefix|home|store"
    r"|archive|state|location|root|result|profile|trace|diag|sandbox|backup|record|pid-?file|snapshot|screenshot|video"
    r"|artifact|junit|write|emit|persist|metrics|timing|pipe-to|coverage|history|digest-?file|id-?file)|--to\Z|--?time\Z"
)
_LEADS_OUT = re.compile(r"/(?!/)|~(?:/|\Z)|\.\.(?:/|\Z)|.*/\.\.(?:/|\Z)", re.DOTALL)


def behind_letters(word: str) -> Iterator[str]:
    """Yield what may be the value of an option behind others in one word: ``-vofile``."""
    if word[:1] == "-" and word[1:3].isalpha() and word.isascii():
        for at in range(3, min(len(word), _MOST_LETTERS + 2)):
            yield word[at:]
            if not word[at].isalpha():
                break
    yield from (word[found.end() :] for found in (_JOINED.match(word), _BEGINS.match(word)) if found is not None)


_JOINED = re.compile(
    r"-(?:include(?:-pch)?|imacros|isystem|idirafter|iquote|iprefix|iwithprefix(?:before)?|isysroot|iwithsysroot"
    r"|import-objc-header|imultilib|cxx-isystem|stdlib\+\+-isystem)(?=.)"
)
"""Options of compilers whose value may stand behind them in the same word."""
_BEGINS = re.compile(r"-[A-Za-z][A-Za-z-]{0,40}(?=[./~])")
"""An option, where what follows it in the same word can only be a path."""
_MOST_LETTERS = 4
"""Letters in front of a value that are taken for options."""

_FLAG = re.compile(r"--no-|--?[^=]*=|-[a-zA-Z]\d+\Z")
"""An option that surely does not take the next word."""


def _may_write(option: str, known: ProgramReading) -> bool:
    name = option.partition("=")[0]
    return known.program is not None and name not in known.program.reads and SELECTS.match(option) is None


def _spellings(value: str, word: Word | None) -> Iterator[Word]:
    """The value, and each part of it (``dep-info=FILE,metadata``, ``-o,FILE``), also behind the letter of an option."""
    parts = _APART.split(value, _MOST_PARTS)
    attached = [part[2:] for part in parts if part[:1] == "-"]
    for text in dict.fromkeys((value, *parts, *attached)):
        if text:
            yield word if word is not None and text == word.value else constant(text)


_APART = re.compile(r"[=:!,]")
_MOST_PARTS = 100
"""Parts of one value that are compared by themselves."""
