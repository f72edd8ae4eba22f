"""From the pieces of a word to the Word: normal form, what is known of it, what braces make of it (docs/gate.md S4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from countersign.gate.patterns import escape_glob
from countersign.gate.shell.syntax.tree import (
    UNKNOWN_TEXT,
    Arithmetic,
    Form,
    Glob,
    NotUnderstood,
    Piece,
    Process,
    Script,
    Substitution,
    Text,
    Variable,
    Word,
)

MAX_CHOICES = 64
"""How many words a brace pattern may make before it counts as not known."""


def decode(text: str) -> str:
    """A byte string as text.

    Raises:
        NotUnderstood: it is no UTF-8 (only ``$'\\xff'`` can make such).
    """
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError as error:
        raise NotUnderstood("a word is no text in UTF-8") from error


def encode(text: str) -> str:
    """Text as a byte string: one character for each byte."""
    return text if text.isascii() else text.encode().decode("latin-1")


@lru_cache(maxsize=4096)
def quoted_word(source: str) -> Word:
    """A word that stands in one pair of quotes, with nothing in it that expands, as it was written."""
    text = decode(source[1:-1])
    return Word(decode(source), (Text(text, quoted=True),), "constant", text, text, text, bare=False)


@lru_cache(maxsize=4096)
def plain_word(text: str) -> Word:
    """A constant word without anything special in it, as it was written."""
    value = decode(text)
    return Word(value, (Text(value),), "constant", value, value, value, tilde=value[:1] == "~")


def constant(value: str) -> Word:
    """A word of our own making: the decoded part of another one."""
    return Word(value, (Text(value, quoted=True),), "constant", value, value, value, bare=False)


UNKNOWN = Word("…", (), "split", None, "", UNKNOWN_TEXT + "…", bare=False)
"""Words that come from somewhere else: what ``xargs`` reads, say."""


GIVEN_NAMES = ' "$@"'
"""Stands behind the text of a command to which a program gives names of its own choice."""


def with_names(command: str) -> str:
    """The text of a command as a program runs it that puts names behind it."""
    return command + GIVEN_NAMES if command.strip() else command


def make_word(source: str, pieces: Sequence[Piece], *, quoting: bool, bracing: bool = True) -> Word:
    """Put a word together. ``pieces`` hold byte strings, ``source`` too; ``quoting`` says that quotes were used."""
    shown = decode(source)
    found = tuple(_decoded(piece) for piece in _brackets(pieces))
    scripts = tuple(_scripts(found))
    tilde = bool(found) and isinstance(found[0], Text) and not found[0].quoted and found[0].text[:1] == "~"
    if tilde and isinstance(found[0], Text) and len(found) > 1 and isinstance(found[1], Text):
        # Where a quote stands in front of the first slash bash takes it for a name (`~''/x`).
        tilde = "/" in found[0].text or "{" in found[0].text or not found[1].quoted
    braces = bracing and any(isinstance(piece, Text) and not piece.quoted and "{" in piece.text for piece in found)
    choices = _brace_choices(found) if braces else ()
    form = _form(found, braced=choices != ())
    prefix = _prefix(found) if choices == () else _common(choices)
    if form == "constant":
        value = "".join(_constant(piece) or "" for piece in found)
        return Word(shown, found, form, value, value, value, tilde, not quoting, (), scripts)
    return Word(shown, found, form, None, prefix, UNKNOWN_TEXT + shown, tilde, not quoting, choices, scripts)


def with_pieces(word: Word, pieces: tuple[Piece, ...]) -> Word:
    """The word with other pieces, of which neither more nor less is constant."""
    form = _form(pieces, braced=word.choices != ())
    return word._replace(pieces=pieces, form=form, scripts=tuple(_scripts(pieces)))


def pattern_text(word: Word) -> str:
    """The text of a pathname pattern, with a backslash before each quoted character that would mean something."""
    out = ""
    for piece in word.pieces:
        if isinstance(piece, Glob):
            out += piece.text
        elif isinstance(piece, Text):
            out += escape_glob(piece.text) if piece.quoted else piece.text
    return out


def choice_patterns(word: Word) -> tuple[str, ...]:
    """The words that braces make, each as the text of a pathname pattern (``pattern_text``), in order."""
    return _brace_choices(word.pieces, escape_glob)


def expand_words(words: Sequence[Word]) -> list[Word]:
    """Expand braces as bash does, since the position of each word decides what it is to a program."""
    return [each for word in words for each in (_expanded(word) if word.choices else (word,))]


def _expanded(word: Word) -> tuple[Word, ...]:
    """Return the word itself where braces stand in another form than that of Plain Bash, or make an empty word."""
    text = "".join(
        piece.text if isinstance(piece, Glob) or (isinstance(piece, Text) and not piece.quoted) else "$"
        for piece in word.pieces
    )
    if (
        not _PLAIN_BRACES.fullmatch(text)
        or not all(word.choices)
        or any(UNKNOWN_TEXT in choice for choice in word.choices)
    ):
        return (word,)
    return tuple([_brace_word(choice) for choice in word.choices])


_PLAIN_BRACES = re.compile(r"[^{}$`~\\]*\{[A-Za-z0-9_./+@%:,-]*\}[^{}$`~\\]*")
"""One pair of braces, and nothing that means something to the expansions behind brace expansion but patterns."""


def _brace_word(choice: str) -> Word:
    split = [Glob(part) if part in _GLOB else Text(part) for part in _GLOB_CHARACTER.split(choice) if part]
    pieces = tuple(_brackets(split))
    if all(isinstance(piece, Text) for piece in pieces):
        return Word(choice, (Text(choice),), "constant", choice, choice, choice)
    return Word(choice, pieces, "pattern", None, _prefix(pieces), UNKNOWN_TEXT + choice)


_GLOB = frozenset("*?[")
_GLOB_CHARACTER = re.compile(r"([*?\[])")


def _decoded(piece: Piece) -> Piece:
    if isinstance(piece, Text):
        return piece if piece.text.isascii() else Text(decode(piece.text), piece.quoted)
    return piece


def _brackets(pieces: Sequence[Piece]) -> list[Piece]:
    """``[`` is a pattern only where a ``]`` follows in the same word."""
    found: list[Piece] = []
    closes = max(
        (index for index, piece in enumerate(pieces) if isinstance(piece, Text) and "]" in piece.text), default=-1
    )
    for index, given in enumerate(pieces):
        piece = Text("[") if isinstance(given, Glob) and given.text == "[" and index > closes else given
        if isinstance(piece, Text) and found and isinstance(found[-1], Text) and found[-1].quoted == piece.quoted:
            found[-1] = Text(found[-1].text + piece.text, piece.quoted)
        else:
            found.append(piece)
    return found


def _scripts(pieces: Iterable[Piece]) -> Iterable[Script]:
    for piece in pieces:
        match piece:
            case Substitution(script=script) | Process(script=script):
                yield script
            case Arithmetic(scripts=scripts):
                yield from scripts
            case Variable(words=words):
                for word in words:
                    yield from word.scripts


def _constant(piece: Piece) -> str | None:
    match piece:
        case Text(text=text):
            return text
        case Substitution(quoted=True, constant=text):
            return text
    return None


def _form(pieces: Sequence[Piece], *, braced: bool) -> Form:
    form: Form = "pattern" if braced else "constant"
    for piece in pieces:
        match piece:
            case Text():
                pass
            case Glob():
                form = "pattern" if form == "constant" else form
            case Substitution(quoted=True, constant=str()):
                pass
            case Variable(quoted=True, name=name) if name in {"@"} or name.endswith("[@]"):
                return "split"
            case Variable(quoted=True) | Substitution(quoted=True) | Arithmetic() | Process():
                form = "quoted"
            case Variable() | Substitution():
                return "split"
    return form


PROCESS_PREFIX = "/dev/fd/"
"""What ``<(…)`` becomes begins with this."""


def _prefix(pieces: Sequence[Piece]) -> str:
    prefix = ""
    for piece in pieces:
        if isinstance(piece, Process):
            return prefix + PROCESS_PREFIX
        text = _constant(piece)
        if text is None:
            break
        prefix += text
    return prefix


def _common(choices: Sequence[str]) -> str:
    """What all of these begin with."""
    first, last = min(choices), max(choices)
    return next((first[:index] for index, char in enumerate(first) if char != last[index]), first)


# --- braces ----------------------------------------------------------------------------------------------------------

_FIRST_MARK = 0xF0000
"""Characters from here on stand for quoted ones while braces are expanded, so that these are none of theirs."""

MAX_BRACED = 4_000
"""How many characters a word with braces may have before it counts as not known."""
_MOST_BRACES = 8
"""How many opening braces: in each pair its parts are looked for."""
_MOST_MADE = 2_000
"""How many characters the words may have together that it expands to."""


def _brace_choices(pieces: Sequence[Piece], spelled: Callable[[str], str] = str) -> tuple[str, ...]:
    """The words that brace expansion makes, empty if it makes nothing. Of too many, or of holes, one with a hole.
    ``spelled`` writes a quoted character."""
    originals: dict[str, str] = {}

    def marked(original: str) -> str:
        mark = chr(_FIRST_MARK + len(originals))
        originals[mark] = original
        return mark

    text = ""
    for piece in pieces:
        match piece:
            case Text(text=part, quoted=False):
                text += part
            case Text(text=part, quoted=True):
                text += "".join(map(marked, part)) or marked("")
            case Glob(text=part):
                text += part
            case _:
                text += marked(UNKNOWN_TEXT)
    if "{" not in text or ("," not in text and ".." not in text):
        return ()
    try:
        words = expand_braces(text)
    except OverflowError:
        return (UNKNOWN_TEXT, "-" + UNKNOWN_TEXT)
    if words == [text]:
        return ()
    if not originals:
        return tuple(words)
    table = {ord(mark): spelled(original) for mark, original in originals.items()}
    made = [word.translate(table) for word in words]
    if spelled is str:
        return tuple(made)
    # A tilde behind or in front of a quoted character, or of an empty pair of quotes, is a name.
    named = [not originals.keys().isdisjoint(word[:2]) for word in words]
    return tuple(f"\\{each}" if each[:1] == "~" and name else each for each, name in zip(made, named, strict=True))


def expand_braces(text: str) -> list[str]:
    """What bash's brace expansion makes of a word (``braces.c``).

    Raises:
        OverflowError: of more than ``MAX_CHOICES`` words, of long ones, or where finding out would take long.
    """
    if "{" in text and (len(text) > MAX_BRACED or text.count("{") > _MOST_BRACES or text.count(",") > MAX_CHOICES):
        raise OverflowError
    made = _expand_between(text, 0, len(text), _pairs_of_braces(text))
    if len(made) > 1 and sum(map(len, made)) > _MOST_MADE:
        raise OverflowError
    return made


def _expand_between(text: str, begin: int, end: int, pairs: Mapping[int, Sequence[int]]) -> list[str]:
    """The same of a part of the text; ``pairs`` holds those of the whole."""
    start = text.find("{", begin + 2 if text.startswith("{}", begin) else begin, end)
    while start >= 0 and (start not in pairs or pairs[start][-1] >= end):
        start = text.find("{", start + 1, end)
    if start < 0:
        return [text[begin:end]]
    stops = pairs[start]
    last = stops[-1]
    if text.find(",", start, last) > 0:
        made = list[str]()
        for before, stop in pairwise((start, *stops)):
            part = text[before + 1 : stop]
            made += _expand_between(text, before + 1, stop, pairs) if "{" in part else (part,)
    else:
        # What is no sequence stays as it is, and so do braces in it.
        made = _sequence(text[start + 1 : last]) or [text[start : last + 1]]
    tail = text[last + 1 : end]
    tails = _expand_between(text, last + 1, end, pairs) if "{" in tail else (tail,)
    if len(made) * len(tails) > MAX_CHOICES:
        raise OverflowError
    return [text[begin:start] + choice + tail for choice in made for tail in tails]


def _pairs_of_braces(text: str) -> dict[int, list[int]]:
    """By the place of each opening brace of a pair its own commas and, last, the brace that closes it. One closes a
    pair only behind a comma, or two dots, that belong to no pair in it; one that does not is passed over, but counts
    for the pairs around, so that several may wait for the same brace."""
    pairs: dict[int, list[int]] = {}
    # The opening braces still to be closed, in groups: those of the last group wait for the next brace, those in front
    # of it for one brace more each. With each its commas, and whether it may be closed.
    waiting: list[dict[int, tuple[list[int], bool]]] = [{}]
    for found in _OF_BRACES.finditer(text):
        mark, at = found[0], found.start()
        group = waiting[-1]
        if mark == "{":
            waiting.append({at: ([], False)})
        elif mark == "}":
            pairs |= {start: [*commas, at] for start, (commas, separated) in group.items() if separated}
            left = {start: each for start, each in group.items() if not each[1]}
            if len(waiting) > 1:
                waiting.pop()
                waiting[-1] |= left
            else:
                waiting[-1] = left
        else:
            for start, (commas, _) in group.items():
                if mark == ",":
                    commas.append(at)
                group[start] = (commas, True)
    return pairs


_OF_BRACES = re.compile(r"[{},]|\.\.(?!\})")


def _sequence(text: str) -> list[str] | None:
    found = _NUMBERS.fullmatch(text)
    if found:
        if len(text) > _LONGEST_SEQUENCE:
            raise OverflowError
        first, last, step = int(found[1]), int(found[2]), abs(int(found[3] or 1)) or 1
        if abs(last - first) // step >= MAX_CHOICES:
            raise OverflowError
        padded = any(_PADDED.match(part) for part in (found[1], found[2]))
        width = max(len(found[1]), len(found[2])) if padded else 0
        numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
        return [f"{number:0{width}d}" for number in numbers]
    found = _LETTERS.fullmatch(text)
    if found:
        if len(text) > _LONGEST_SEQUENCE:
            raise OverflowError
        first, last, step = ord(found[1]), ord(found[2]), abs(int(found[3] or 1)) or 1
        points = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
        return [chr(point) for point in points]
    return None


_NUMBERS = re.compile(r"([-+]?[0-9]+)\.\.([-+]?[0-9]+)(?:\.\.([-+]?[0-9]+))?")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.([-+]?[0-9]+))?")
_PADDED = re.compile(r"-?0[0-9]")
_LONGEST_SEQUENCE = 30
"""Characters, behind which a number may be too large for bash."""
