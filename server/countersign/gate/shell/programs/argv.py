"""A program's words sorted into options with their values, operands, and words that could be anything.

One reading for all programs, by the few facts that ``Grammar`` holds of each. It is used to find escapes
(docs/gate.md S9) and file operands (S10, S11), so where a reading is doubtful the one that finds more is taken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Arithmetic, Glob, Text, Variable, Word

Attaches = Literal["any", "numbers", "equals"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a program reads its options.

    ``short`` are the letters that take a value, ``long`` the names (without dashes) that take one as the next word.
    ``single``: long options begin with one dash (``find -exec``, ``go -o``). ``ordered``: options end at the first
    operand. ``alone``: one letter a word, whatever follows it (``xxd -ps`` is ``-p``).

    ``flags`` are letters and ``names`` long options that never take the next word; ``maybe`` are letters whose value
    only stands in the same word. With ``whole`` these lists hold all that the program knows, so another option is a
    stranger, and an abbreviation is told from an option of its own. ``negates``: ``--no-`` stands before any name.
    ``texts`` are options, with dashes, whose value is text for certain and no file. ``apart``: what a letter takes
    never stands in its own word, so further letters follow it there, and digits are a number (``tree -L2o FILE``).
    ``pairs`` are long options that take two words of text; ``words`` are spelled as letters would be and take the next
    (``xxd -len 16``), and so may what begins like one. ``lone`` are options of one dash and several letters that are no
    letters in a row and take nothing but what stands behind a ``=`` (``gcc -nostdlib``). ``old_letters``: the first
    word may be letters without a dash, each of which takes the next word behind it if it takes one, whatever that looks
    like (``tar cf -- FILE``).
    ``past_dashes``: options count behind ``--`` as well (``find -- . -delete``).

    ``attaches`` says what a letter takes for its value in its own word: ``any`` text that follows it; ``numbers``, and
    what begins with no letter or digit (yargs, minimist); ``equals``, only what stands behind a ``=`` (mri). Else each
    further character is an option, too. ``several`` are options that take all words up to the next option.
    """

    short: frozenset[str] = frozenset()
    long: frozenset[str] = frozenset()
    single: bool = False
    ordered: bool = False
    alone: bool = False
    flags: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    whole: bool = False
    negates: bool = False
    abbreviates: bool = True
    apart: bool = False
    pairs: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    lone: frozenset[str] = frozenset()
    old_letters: bool = False
    past_dashes: bool = False
    attaches: Attaches = "any"
    several: frozenset[str] = frozenset()


@dataclass(slots=True)
class Option:
    """One option as used. ``name`` has its dashes; ``value`` is None where it has none or it is not constant.

    Never changed once made. ``index`` is that of its word, ``attached`` whether the value stands in the same word.
    """

    name: str
    index: int
    value: Word | None = None
    attached: bool = False


@dataclass(slots=True)
class Arguments:
    """``holes`` are words that could turn out to be options, and do not stand where only a value can.
    ``unrecognized_options`` are options that a whole grammar does not know: what they take is not known either.
    ``open_values`` stand behind an option that takes a value and may turn out to be options: some parsers read a word
    with a dash in front as one there, too. ``doubtful`` are the places of words that look like options and may be the
    values of those in front of them: they count as both, and so does what the former would take."""

    options: list[Option] = field(default_factory=list)
    operands: list[tuple[int, Word]] = field(default_factory=list)
    holes: list[tuple[int, Word]] = field(default_factory=list)
    unrecognized_options: list[Option] = field(default_factory=list)
    open_values: list[Word] = field(default_factory=list)
    doubtful: set[int] = field(default_factory=set[int])
    either: set[int] = field(default_factory=set[int])

    @property
    def settled(self) -> bool:
        """Whether each word can be read in one way alone: for what limits what a command looks at."""
        return not (self.doubtful or self.either)

    def has(self, *names: str) -> bool:
        """Whether one of these options is there by its whole name."""
        return bool(self.options) and any(option.name in names for option in self.options)

    def keeps(self, *names: str) -> bool:
        """Whether one of these options is there for certain by its whole name, and nothing takes it back
        (``--no-check``, ``--check=false``): for what spares a command a question."""
        there = any(option.name in names and option.index not in self.doubtful for option in self.options)
        return there and not any(_takes_back(option, names) for option in self.options)

    def may_have(self, *names: str) -> bool:
        """Whether one of these options is there, abbreviated or not: for what must not be missed."""
        return bool(self.spelled(*names))

    def values(self, *names: str) -> Iterable[Word]:
        if not self.options or not names:
            return ()
        return [option.value for option in self.options if option.name in names and option.value is not None]

    def valued(self, *names: str, others: Collection[str] = ()) -> Iterable[Word]:
        """``values``, abbreviated long options among them: for what must not be missed. ``others`` are options too, and
        so no abbreviations (``--exclude`` of ``--exclude-from``)."""
        return [option.value for option in self.spelled(*names, others=others) if option.value is not None]

    def spelled(self, *names: str, others: Collection[str] = ()) -> Sequence[Option]:
        """The options of these names, abbreviated long ones among them, as for ``valued``."""
        if not self.options or not names:
            return ()
        return [
            option
            for option in self.options
            if option.name in names or (option.name not in others and is_one_of(option.name, names))
        ]


def _takes_back(option: Option, names: Iterable[str]) -> bool:
    """Whether an option says that one of these does not count."""
    name, value = option.name, option.value
    if len(name) <= len("-x"):
        return False
    if option.attached and name in names and value is not None and (value.value is None or value.value in _OFF):
        return True
    opposite = f"--{name[5:]}" if name.startswith("--no-") else f"--no-{name[2:]}"
    return any(each.startswith(opposite) for each in names)


_OFF = frozenset({"false", "False", "FALSE", "f", "F", "0", "no", "off", "none", "never"})


def is_one_of(given: str, names: Iterable[str]) -> bool:
    """Whether an option is one of these, abbreviated or not."""
    if given in names:
        return True
    return given.startswith("--") and len(given) > 2 and any(name.startswith(given) for name in names)


NUMERIC_PARAMETERS = frozenset({"#", "?", "$", "!", "RANDOM", "SECONDS", "LINENO", "BASHPID", "PPID", "UID", "EUID"})
"""Parameters that bash itself keeps as numbers."""


def numeric(word: Word) -> bool:
    """Whether an expansion can only be a number: ``$#``, ``$((…))``, ``${#x}``."""
    return bool(word.pieces) and all(
        isinstance(piece, Arithmetic)
        or (isinstance(piece, Variable) and (piece.length or (piece.plain and piece.name in NUMERIC_PARAMETERS)))
        or (isinstance(piece, Text) and piece.text.isdigit())
        for piece in word.pieces
    )


def may_be_several(word: Word) -> bool:
    """Whether the word may expand to more words than one, so that it shifts the position of those behind it."""
    if word.form == "quoted":
        # The wildcard of `.*"$x"` stands outside the quotes.
        return any(isinstance(piece, Glob) for piece in word.pieces)
    return word.form == "pattern" or (word.form == "split" and not numeric(word))


def is_operand(word: Word) -> bool:
    """Whether the word is surely no option and exactly what it is shown as (S4): it begins with a literal that is not
    a dash, and does not split."""
    if word.value is not None:
        return word.value[:1] != "-" or word.value == "-"
    if word.choices and not any(choice[:1] in {"-", UNKNOWN_TEXT, ""} for choice in word.choices):
        return word.form == "pattern"
    return word.form in ("quoted", "pattern") and word.prefix[:1] not in {"", "-"}


def arguments(words: Sequence[Word], grammar: Grammar, start: int = 1) -> Arguments:
    """Sort the words from ``start`` on."""
    found = Arguments([], [], [], [])
    index, end = start, len(words)
    options_over = perhaps_over = False
    doubtful: int | None = None
    flags = () if grammar.single or grammar.apart else grammar.flags
    if grammar.old_letters:
        index = _old_letters(words, index, grammar, found)
    while index < end:
        word = words[index]
        index += 1
        value = word.value
        if value is not None and len(value) == 2 and value[0] == "-" and value[1] in flags and not options_over:
            # The plainest of options, as `_option` would read it.
            found.options.append(Option(value, index - 1))
            if perhaps_over:
                found.operands.append((index - 1, word))
            continue
        if options_over or (is_operand(word) if value is None else value[:1] != "-" or value == "-"):
            found.operands.append((index - 1, word))
            options_over = options_over or grammar.ordered
            continue
        if value == "--":
            options_over = not grammar.past_dashes
            if perhaps_over:
                found.operands.append((index - 1, word))
            continue
        if value is None and word.prefix[:1] != "-":
            found.operands.append((index - 1, word))
            if not numeric(word):
                found.holes.append((index - 1, word))
            continue
        at = index - 1
        index = _option(words, at, grammar, found)
        if at == doubtful or perhaps_over:
            # If the option in front took this one for its value, what this one takes are operands.
            taken = range(at if perhaps_over else at + 1, min(index, end))
            found.operands += [(each, words[each]) for each in taken]
            perhaps_over = perhaps_over or (grammar.ordered and bool(taken))
        shared = index == at + 1 < end and found.options and found.options[-1].value is words[index]
        doubtful = index if shared else None
        if shared:
            found.doubtful.add(index)
        if grammar.several and found.options and found.options[-1].index == at:
            _take_several(words[index:end], grammar, found)
    return found


def _take_several(words: Sequence[Word], grammar: Grammar, found: Arguments) -> None:
    """The further values of the last option, if it takes several. They stay operands as well."""
    option = found.options[-1]
    if one_spelling(option.name) not in _spellings(grammar.several):
        return
    for word in words:
        if word.prefix[:1] == "-" and word.value != "-":
            return
        found.options.append(Option(option.name, option.index, word))


@lru_cache(maxsize=64)
def _spellings(names: frozenset[str]) -> frozenset[str]:
    return frozenset(map(one_spelling, names))


def one_spelling(option: str) -> str:
    """Return the name of a long option without dashes and case: ``--global-setup`` is ``--globalSetup`` to many."""
    return option.replace("-", "").replace("_", "").lower() if len(option) > len("-x") else option


def _old_letters(words: Sequence[Word], index: int, grammar: Grammar, found: Arguments) -> int:
    """Read letters without a dash and the words that they take: the index behind these. All count as operands, and a
    word that looks like an option as one as well."""
    if index >= len(words):
        return index
    letters = words[index].value
    if letters is None and words[index].prefix[:1] != "-":
        # They may say that any of the words behind is a file or a program.
        found.holes.append((index, words[index]))
    if not letters or letters[0] == "-":
        return index
    end = index + 1
    for letter in letters:
        # The words behind are values, in the order of the letters.
        value = words[end] if letter in grammar.short and end < len(words) else None
        found.options.append(Option(f"-{letter}", index, value))
        end += letter in grammar.short
    for at, word in enumerate(words[index:end], index):
        found.operands.append((at, word))
        if may_be_several(word) or not (word.value or word.prefix):
            found.holes.append((at, word))
        if at > index and (word.value or word.prefix)[:1] == "-" and word.value not in {"-", "--"}:
            _option(words, at, grammar, found)
    return min(end, len(words))


def _option(words: Sequence[Word], index: int, grammar: Grammar, found: Arguments) -> int:
    """Read the option at ``index``; the index behind it and its value."""
    word = words[index]
    text = word.prefix if word.value is None else word.value
    name, equals, rest = text.partition("=")
    if text.startswith("--") or grammar.single:
        return _long(words, index, grammar, found, name, rest if equals else None)
    if grammar.apart:
        return _apart(words, index, grammar, found)
    if text in grammar.words:
        return _with_value(words, index, text[:2], found, grammar)
    if grammar.words and any(word.startswith(text[:3]) for word in grammar.words) and len(text) > len("-x"):
        # Only the beginning of such a word is compared (`xxd -colsx`).
        found.unrecognized_options.append(Option(text[:2], index))
        found.either.add(index + 1)
        return _with_value(words, index, text[:2], found, grammar)
    if name in grammar.lone and word.value is not None:
        found.options.append(Option(name, index, _rest(word, rest) if equals else None, attached=bool(equals)))
        return index + 1
    counted = text[1:2].isdigit() and text[1] in grammar.flags
    for at in range(1, min(2, len(text)) if grammar.alone else len(text)):
        letter = text[at]
        takes = letter in grammar.short or letter in grammar.maybe
        if grammar.attaches != "any" and text[at + 1 : at + 2] == ".":
            # A key of the option's: `-w.onStart x` is `--watch.onStart x`.
            found.options.append(Option(text.partition("=")[0], index, attached="=" in text))
            return index + 1
        if grammar.attaches != "any" and (at + 1 < len(text) or word.value is None):
            if _is_attached(text[at + 1 :], grammar.attaches, whole=word.value is not None):
                _take_attached(word, index, f"-{letter}", text[at + 1 :], found)
                return index + 1
            takes = False
        if takes and counted:
            # To some the letters behind a number are flags (`head -5c FILE`), to others they take a value
            # (`rg -0g GLOB PATTERN`): both readings are kept.
            _take_either_way(words, index, at, found)
        elif takes and (at + 1 < len(text) or word.value is None):
            _take_attached(word, index, f"-{letter}", text[at + 1 :], found)
            return index + 1
        elif takes and letter in grammar.short:
            return _with_value(words, index, f"-{letter}", found, grammar)
        option = Option(f"-{letter}", index)
        found.options.append(option)
        known = letter in grammar.flags or letter in grammar.maybe or letter in grammar.short
        if grammar.whole and not known:
            found.unrecognized_options.append(option)
    if word.value is None:
        found.holes.append((index, word))
    return index + 1


def _is_attached(rest: str, attaches: Attaches, *, whole: bool) -> bool:
    """Whether what follows a letter in its word is its value to a parser that takes not any text for one. ``whole``:
    the word has no other end than this."""
    if attaches == "equals" or rest[:1] == "=":
        return rest[:1] == "="
    return _NO_LETTER.match(rest) is not None or (whole and _NUMBER.fullmatch(rest) is not None)


_NO_LETTER = re.compile(r"[^A-Za-z0-9_]")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?")


def _take_attached(word: Word, index: int, name: str, text: str, found: Arguments) -> None:
    """A short option with its value in the same word. Many parsers leave out a `=` between them (`rg -g=GLOB`), and
    others take it for a part of the value, so both readings are kept."""
    found.options.append(Option(name, index, _rest(word, text), attached=True))
    if len(text) > 1 and text[0] == "=":
        found.options.append(Option(name, index, _rest(word, text[1:]), attached=True))


def _take_either_way(words: Sequence[Word], index: int, at: int, found: Arguments) -> None:
    """The value that a letter takes if it takes one, while the words behind it stay what they are."""
    word = words[index]
    text = word.prefix if word.value is None else word.value
    name = f"-{text[at]}"
    if at + 1 < len(text) or word.value is None:
        _take_attached(word, index, name, text[at + 1 :], found)
    elif index + 1 < len(words):
        found.options.append(Option(name, index, words[index + 1]))
        found.either.add(index + 1)


def _apart(words: Sequence[Word], index: int, grammar: Grammar, found: Arguments) -> int:
    """Letters that take the words behind theirs one after the other, as ``tree -Po PATTERN FILE`` does."""
    word = words[index]
    text = word.prefix if word.value is None else word.value
    after, next_option = index + 1, None
    for letter, digits in re.findall(r"(.)(\d*)", text[1:], re.DOTALL):
        name = f"-{letter}"
        if letter not in grammar.short or digits or after >= len(words):
            found.options.append(Option(name, index))
            if grammar.whole and letter not in grammar.flags | grammar.short:
                found.unrecognized_options.append(found.options[-1])
            continue
        value = words[after]
        found.options.append(Option(name, index, value))
        if may_be_several(value):
            found.holes.append((after, value))
            found.unrecognized_options.append(found.options[-1])
        if next_option is None and value.value is not None and value.value[:1] == "-" and value.value != "-":
            next_option = after
        after += 1
    if word.value is None:
        found.holes.append((index, word))
    return after if next_option is None else next_option


def _long(
    words: Sequence[Word], index: int, grammar: Grammar, found: Arguments, name: str, attached: str | None
) -> int:
    word = words[index]
    name = full_name(name, grammar)
    if grammar.whole and not is_listed(name, grammar):
        found.unrecognized_options.append(Option(name, index))
    if attached is not None:
        if word.form == "split":
            found.holes.append((index, word))
        found.options.append(Option(name, index, _rest(word, attached), attached=True))
        return index + 1
    if word.value is None:
        found.holes.append((index, word))
        return index + 1
    if name in grammar.pairs:
        option = Option(name, index)
        found.options.append(option)
        if all(each.value is not None or each.form == "quoted" for each in words[index + 1 : index + 3]):
            return index + 3
        # How many words these become is not known, nor what the ones behind them are then.
        found.unrecognized_options.append(option)
        return index + 1
    if takes_value(name, grammar):
        return _with_value(words, index, name, found, grammar)
    found.options.append(Option(name, index))
    return index + 1


def takes_value(name: str, grammar: Grammar) -> bool:
    """Whether this long option, or one that it abbreviates, takes the next word as its value."""
    bare = name.lstrip("-")
    if grammar.whole and is_listed(name, grammar):
        return bare in grammar.long
    if bare in grammar.long or len(bare) <= 1 or grammar.single or bare in grammar.names:
        return bare in grammar.long
    return f"\0{bare}" in _in_a_row(grammar.long)


@lru_cache(maxsize=1024)
def _in_a_row(names: frozenset[str]) -> str:
    """The names in one string, each behind a NUL, which no word holds: looking for a beginning is fast in it."""
    return "".join(f"\0{name}" for name in names)


def full_name(name: str, grammar: Grammar) -> str:
    """The long option that this one abbreviates; the name itself where it is one, or could be several."""
    if not grammar.whole or grammar.single or not grammar.abbreviates or is_listed(name, grammar):
        return name
    bare = name.removeprefix("--")
    found = [known for known in (*grammar.long, *grammar.names) if bare and known.startswith(bare)]
    return f"--{found[0]}" if len(found) == 1 else name


def is_listed(name: str, grammar: Grammar) -> bool:
    """Whether the record lists this option."""
    bare = name.lstrip("-")
    if bare in grammar.long or bare in grammar.names:
        return True
    return grammar.negates and bare.startswith("no-") and bare[3:] in grammar.long | grammar.names


def _with_value(words: Sequence[Word], index: int, name: str, found: Arguments, grammar: Grammar) -> int:
    """An option whose value is the next word."""
    if index + 1 >= len(words):
        found.options.append(Option(name, index))
        return index + 1
    value = words[index + 1]
    found.options.append(Option(name, index, value))
    if may_be_several(value):
        # Only the first of these words is the value. The others are operands, options or the command of a wrapper.
        found.holes.append((index + 1, value))
        found.unrecognized_options.append(found.options[-1])
    elif value.value is None and value.prefix[:1] in {"", "-"}:
        found.open_values.append(value)
    # A word that looks like an option is read as one as well: a table that is wrong must not hide it. `-mtime -1` is
    # none: the option was looked up, takes text, and no program of one-dash names has numbers among them.
    text = value.prefix if value.value is None else value.value
    looks = text[:1] == "-" and value.value not in {"-", "--"}
    if looks and grammar.single and name in grammar.texts and _NO_NAME.fullmatch(value.value or ""):
        looks = False
    return index + 1 if looks else index + 2


_NO_NAME = re.compile(r"-\d+[a-zA-Z]?|-\d+ ?(?:sec|min|hour|day|week|month|year)s?(?: ago)?|-[ugoa]+[-+=][rwxXst]+")
"""A number, an age or a mode with a dash before it, which names no option of ``find``."""


def _rest(word: Word, text: str) -> Word:
    """The part of a word that is an option's value."""
    if word.value is not None:
        return Word(text, (), "constant", text, text, text, tilde=text[:1] == "~")
    return Word(text + "…", word.pieces, word.form, None, text, UNKNOWN_TEXT + text, bare=False)
