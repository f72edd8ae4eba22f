"""Looking through a simple command to the commands that it runs in turn (docs/gate.md S7).

Which programs do so stands in their records (facet ``wraps``); what ``find -exec`` runs is found here as well, and
``rules/found_commands.py`` judges it as commands of their own where it can.
Everything found is for deny and ask rules; for allow a layer counts only where each wrapper above it is clear, or where
the rule itself names the inner command.
More than 500 lines, because all kinds of wrappers add to one state.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import Literal, NamedTuple

from countersign.gate.shell.effects.carried import ANYWHERE, UNCHANGED, Carried, carried_by, together
from countersign.gate.shell.effects.script_addresses import path_of_address
from countersign.gate.shell.effects.wrapper_readers import Inner, is_peculiar, peculiar, template
from countersign.gate.shell.languages.find import FINDERS, command_end
from countersign.gate.shell.languages.git import READ_HERE
from countersign.gate.shell.languages.git_options import GLOBAL
from countersign.gate.shell.programs.argv import Arguments, Grammar, Option, arguments, is_one_of, may_be_several
from countersign.gate.shell.programs.other_names import (
    NAMES_LIKE,
    OTHER_NAMES,
    plain_name,
    surely_means,
    without_version,
)
from countersign.gate.shell.programs.tables import (
    INTERPRETERS,
    SHELL_TEXTS,
    SHELLS,
    SUBCOMMANDS,
    TABLES,
    WRAPPERS,
    names_with,
    names_with_field,
    words_of,
)
from countersign.gate.shell.programs.wrapper_row import SHELL_GRAMMAR, Interpreter, Wrapper
from countersign.gate.shell.syntax.tree import Text, Word
from countersign.gate.shell.syntax.words import UNKNOWN, constant, with_names
from countersign.gate.shell.variables.assignments import (
    EVALUATING,
    STARTED,
    evaluated_texts,
    spelled_texts,
    starts_shells,
)

Way = Literal["self", "clear", "runner", "closed"]

MAX_LAYERS = 12
"""How many wrappers may stand in front of each other before the command counts as not understood."""

MOST_INNER = 60
"""How many commands and texts one command may run by its words before it counts as not understood."""

MOST_INNER_WORDS = 1_200
"""The same for the words of these commands together: each repeated option may stand before all the rest."""

LONGEST_NAME = 255
"""Bytes that a file's name can have on Linux: no program has a longer one."""

_ASSIGNS = re.compile(r"[^=]+=")
_POWER_SHELLS = names_with("power_shell")
NAMES_KEPT = 16_384
"""How many names of programs are kept with what they stand for: about as many as a text of 100 kB holds."""
_EACH_A_TEXT = names_with("each_word_a_text")
_ENCODED = re.compile(r"(?i)[-/]e(?:c|n\w*)?")
"""Options of PowerShell behind which a text stands in base64."""
_LIKE_BASH = names_with("like_bash")
_BASH_LETTERS = frozenset("abcefhiklmnoprstuvxBCDEHOPT")
_SHARED_LETTERS = frozenset("cefilnosuvx")
"""Letters of bash's options, and those that mean in other shells what they mean there, where their records do not say
otherwise. `-o` and `-O` take the next word."""
_SHELL_NAMES = frozenset({
    "--", "--command", "--commands", "--debug", "--debugger", "--dump-po-strings", "--dump-strings", "--help",
    "--init-file", "--interactive", "--login", "--no-config", "--no-rcs", "--noediting", "--noprofile", "--norc",
    "--posix", "--pretty-print", "--private", "--rcfile", "--rcs", "--restricted", "--verbose", "--version",
    "--wordexp",
})  # fmt: skip
"""Long options of shells that take nothing, or what `SHELL_GRAMMAR` says."""
_POWER_COMMAND = re.compile(r"(?i)[-/](?:c|co|com|comm|comma|comman|command|commandwithargs|cwa)")
_CHOSEN = re.compile(r"_[\d.]+_")
_TARGET = re.compile(r"\A(?:[\w.]+-){2,}(?=(?:gcc|g\+\+|clang|clang\+\+|ld|as|ar|nm|objcopy|strip)(?:-\d[\d.]*)?$)")
"""A compiler's target before its name."""


def _is_valued(option: Option, words: Sequence[Word], row: Interpreter, found: Arguments) -> bool:
    """Whether a word is surely this option, and its value there: some take what begins with a dash, or the letter
    behind theirs, for another option (``node -pe``), and others the letter itself for the value of one in front of it
    (``perl -0xe``)."""
    if option.index in found.doubtful or option.value is None or not _follows_flags(option, words, row):
        return False
    value = option.value.prefix
    if option.value.value is None and value == "":
        return True
    return f"-{value}" not in row.instead if option.attached else value[:1] not in ("", "-")


def _follows_flags(option: Option, words: Sequence[Word], row: Interpreter) -> bool:
    """Whether nothing but letters that take no value stand in front of an option in its word."""
    return option.name[:2] == "--" or row.grammar.flags.issuperset(
        words[option.index].prefix[1:].partition(option.name[1:])[0]
    )


@lru_cache(maxsize=NAMES_KEPT)
def program(name: str) -> str:
    """The program that a first word names, for our tables: without its folder, version and other names."""
    base = name.rsplit("/", 1)[-1]
    if len(base) > LONGEST_NAME:
        return base
    base = plain_name(base)
    if base.count("-") > 1:
        base = _TARGET.sub("", base)
    for pattern, named in NAMES_LIKE:
        if pattern.fullmatch(base):
            return named
    base = without_version(base)
    return OTHER_NAMES.get(base, base)


def is_wrapper(name: str, words: Sequence[Word]) -> bool:
    """Whether this program runs what its words name."""
    return peculiar(name, words) is not None or wrapper_row(name, words)[0] is not None


class Layer(NamedTuple):
    """One command that is run. ``start`` is where it begins among the words of the whole command, None where its
    words do not stand there as they are; ``way`` is how one comes to it from the layer ``above`` (an index), and
    ``carried`` what the wrappers above change for it."""

    words: tuple[Word, ...]
    way: Way
    start: int | None
    above: int | None
    carried: Carried = UNCHANGED


class Unwrapped(NamedTuple):
    """All layers, the whole command first. ``texts`` are read by a shell in turn; ``unknown`` says why some code that
    is run is not known; ``programs`` are files that are run; ``fed``: a shell or interpreter reads its input.
    ``carried`` is what all wrappers together change for the texts and programs."""

    layers: tuple[Layer, ...]
    texts: tuple[str, ...] = ()
    unknown: str | None = None
    programs: tuple[Word, ...] = ()
    reads_stdin: bool = False
    deep: bool = False
    carried: Carried = UNCHANGED


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """All that this command runs, as far as its words tell."""
    if words and words[0].value is not None and not could_run(name := program(words[0].value), words):
        texts = tuple(evaluated_texts(name, words)) if name in EVALUATING else ()
        if may_run(name):
            texts += tuple(spelled_texts(words))
        return Unwrapped((Layer(words, "self", 0, None),), texts)
    return _Unwrapping().run(words)


def could_run(name: str, words: Sequence[Word]) -> bool:
    """``may_run`` with these words: many programs run others by a subcommand only."""
    if not may_run(name):
        return False
    firsts = _BY_SUBCOMMAND_ONLY.get(name)
    return firsts is None or not firsts.isdisjoint([word.value for word in words[1:]])


@lru_cache(maxsize=NAMES_KEPT)
def may_run(name: str) -> bool:
    """Whether a program of this name could run what its words name: what ``_Unwrapping.look`` looks for."""
    return name in _SUBCOMMANDS_OF or _runs_others(name)


def _runs_others(name: str) -> bool:
    return (
        name in SHELLS
        or name in INTERPRETERS
        or name in WRAPPERS
        or name in FINDERS
        or name in {"source", "."}
        or is_peculiar(name)
    )


def _value_of(word: Word) -> str | None:
    return None if word.value is None else word.value.partition("=")[2]


_OTHER_OPTIONS = "POSIXLY_CORRECT"


def _unclear(name: str) -> str:
    return f"which word of `{name}` begins the command that it runs is not known"


class _Unwrapping:
    """Gathers what is found on the way down."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []
        self.texts: list[str] = []
        self.unknown: str | None = None
        self.programs: list[Word] = []
        self.reads_stdin = False
        self.deep = False
        self.inner = 0
        self.inner_words = 0
        self.changes: dict[int, Carried] = {}

    def run(self, words: tuple[Word, ...]) -> Unwrapped:
        if words:
            self.layers.append(Layer(words, "self", 0, None))
        at = 0
        while at < len(self.layers):
            self.deep = self.deep or at > MAX_LAYERS
            if self.deep:
                break
            self.look(at)
            at += 1
        texts, programs = tuple(self.texts), tuple(self.programs)
        carried = together(self.changes.values())
        return Unwrapped(tuple(self.layers), texts, self.unknown, programs, self.reads_stdin, self.deep, carried)

    def look(self, at: int) -> None:
        words = self.layers[at].words
        if not words or words[0].value is None:
            return
        name = program(words[0].value)
        if name in EVALUATING:
            self.texts += evaluated_texts(name, words)
        if at == 0:
            self.texts += spelled_texts(words)
            if any(starts_shells(word.prefix.partition("=")[0], _value_of(word)) for word in words[1:]):
                self.unknown = STARTED
        if name in SHELLS:
            self.shell(words)
        elif name in INTERPRETERS:
            self.interpreter(at, words, name)
        elif name in FINDERS:
            self.find(at, words)
        elif name in {"source", "."}:
            self.source(words)
        else:
            own = peculiar(name, words)
            if own is not None:
                self.own(at, own)
                return
            row, skip = wrapper_row(name, words)
            if row is not None:
                self.wrapper(at, words, row, skip, name)

    def change(self, at: int, carried: Carried) -> None:
        """Keep what a wrapper changes for what it runs."""
        self.changes[at] = carried
        if _OTHER_OPTIONS in carried.variables:
            self.unknown = f"with `{_OTHER_OPTIONS}` a program takes options for files"

    def counted(self, words: Sequence[Word]) -> bool:
        """Whether so much is looked at that this command or text may be as well."""
        self.inner += 1
        self.inner_words += len(words)
        self.deep = self.deep or self.inner > MOST_INNER or self.inner_words > MOST_INNER_WORDS
        return not self.deep

    def add(self, above: int, words: Sequence[Word], way: Way, offset: int | None) -> None:
        if not words or not self.counted(words):
            return
        by = (self.layers[above].words[0].value or "").rpartition("/")[2]
        if (way == "clear" and not surely_means(by, program(by))) or (way != "closed" and plain_name(by) != by):
            way = "closed"  # it may be another program, as it is where case counts
        start = self.layers[above].start
        inside = None if start is None or offset is None else start + offset
        carried = self.layers[above].carried.then(self.changes.get(above, UNCHANGED))
        self.layers.append(Layer(tuple(words), way, inside, above, carried))

    def own(self, at: int, found: Iterable[Inner]) -> None:
        """What a wrapper with ways of its own runs."""
        # It yields each before it looks at the next, of which there may be thousands.
        runs = list(islice(found, MOST_INNER + 1))
        words = self.layers[at].words
        self.change(at, carried_by(program(words[0].value or ""), words[1:], None, None))
        for inner in runs:
            if inner.unclear:
                self.unknown = _unclear(program(words[0].value or ""))
            elif inner.text:
                self.code(inner.words)
            else:
                self.add(at, inner.words, "closed", inner.start)

    def code(self, words: Sequence[Word]) -> None:
        """Words that a shell reads, joined by blanks. What is not known of them stands as a variable in the text."""
        if not words or not self.counted(()):
            return
        if any(word.value is None for word in words):
            self.unknown = "it runs a text that is only known at run time"
        shown = [word.value if word.value is not None else _as_variable(word) for word in words]
        if any(part != _ANYTHING for part in shown):
            self.texts.append(" ".join(shown))

    # --- the kinds ---------------------------------------------------------------------------------------------------

    def wrapper(self, at: int, words: tuple[Word, ...], row: Wrapper, skip: int, name: str) -> None:
        if name == "command" and len(words) > 1 and (words[1].value or "") in {"-v", "-V"}:
            return
        found = arguments(words, row.grammar, skip)
        inner = _inner_start(words, row, found, skip)
        self.change(at, carried_by(name, words[1:] if row.tail == "operands" else words[1:inner], row, found))
        for option in found.options:
            if is_one_of(option.name, row.texts) and option.value is not None:
                said = option.value.value
                self.code([constant(with_names(said)) if row.unknown_tail and said is not None else option.value])
            if (
                is_one_of(option.name, row.writes)
                and option.value is not None
                and option.value.prefix[:1] in {"|", "!"}
            ):
                said = option.value.value
                self.code([option.value if said is None else constant(said[1:])])  # `strace -o '|command'`
            if is_one_of(option.name, row.commands) and option.value is not None:
                self.add(at, [option.value], "closed", None)
        shifted = any(may_be_several(word) for word in words[skip:inner])
        doubtful = shifted or any(index < inner for index, _ in found.holes)
        if doubtful:
            self.unknown = "the command it runs is only known at run time"
        elif row.may_begin_elsewhere(words[skip:inner]):
            doubtful, self.unknown = True, _unclear(name)
        rest = words[inner:]
        mark = replaced_text(name, found)
        if mark:
            rest = tuple(template(word, mark) for word in rest)
        if rest and rest[0].value == "run" and name in _WITH_RUN_WORD:
            rest, inner = rest[1:], inner + 1
        if rest and rest[0].value == "--":
            rest, inner = rest[1:], inner + 1
        if len(rest) > 1 and rest[0].value in {"-c", "--command"}:
            self.code(rest[1:2])  # `flock file -c text`
            return
        handed = [word for _, word in found.operands if word.value != "-"][1:] if row.tail == "operands" else []
        if handed and name in _SHELL_STARTERS:
            shells = [option.value for option in found.options if is_one_of(option.name, row.commands)]
            for shell in [value for value in shells if value is not None] or [constant("sh")]:
                self.add(at, [shell, *handed], "closed", None)  # `su user script`, `su -s /bin/rm user file`
        if row.kind == "runner" and not rest:
            self.reads_stdin = True  # `npx` alone starts a shell
        bare = not rest or row.tail == "operands"
        if bare and name in _SHELL_STARTERS and not any(is_one_of(option.name, row.texts) for option in found.options):
            self.reads_stdin = True
        if row.runs_itself and skip == 2 and rest:
            rest, inner = (constant(name), *rest), len(words)
        if row.unknown_tail:
            rest = (*rest, UNKNOWN) if rest else rest
        if row.tail == "text":
            self.texts_of(rest[:1] if name == "trap" else rest, name)
        elif row.tail == "command":
            kept = name in _INPUT_OPTIONS and all(option.name in _INPUT_OPTIONS[name] for option in found.options)
            clear = row.kind == "clear" and not doubtful and not (row.bare and inner > skip and not kept)
            # An older `timeout` has no operand for the time and runs what stands there.
            clear = clear and all(_TIME.fullmatch(word.value or "") for _, word in found.operands[: row.skip])
            way: Way = row.kind if row.kind != "clear" else "clear" if clear else "closed"
            self.add(at, rest, way, inner)
            # `faketime -f '-1 day' rm x`: it is an operand, so the command begins further in front.
            if row.skip and any(_NUMBER.match(word.prefix) for word in words[skip:inner]):
                for index, _ in found.operands[: row.skip]:
                    self.add(at, words[index:], "closed", index)
        ahead = found.operands[row.skip : row.skip + 1] if row.dashes else ()
        if ahead and ahead[0][0] < inner - 1:
            # `oc rsh pod rm -- x`: the dashes may be the command's.
            if row.tail == "text":
                self.texts_of([word for word in words[ahead[0][0] :] if word.value != "--"], name)
            else:
                self.add(at, words[ahead[0][0] :], "closed", ahead[0][0])

    def texts_of(self, words: Sequence[Word], name: str) -> None:
        if not words or (name == "trap" and words[0].value in {"-", "", "-l", "-p"}):
            return
        if name in _EACH_A_TEXT:
            for word in words:
                self.code([word])
            return
        self.code([word for word in words if word is not UNKNOWN])

    def shell(self, words: tuple[Word, ...]) -> None:
        for index, word in enumerate(words):
            # PowerShell takes the beginning of an option for the whole, and all that follows for its text.
            if index and _POWER_COMMAND.fullmatch(word.value or "") and program(words[0].value or "") in _POWER_SHELLS:
                self.code(words[index + 1 :])
                return
        if (own := SHELL_TEXTS.get(program(words[0].value or ""))) is not None:
            for text in arguments(words, own[0]).valued(*own[1]):
                self.code([text])
        if program(words[0].value or "") not in _POWER_SHELLS:
            self.known_options(words)
        elif any(_ENCODED.fullmatch(word.value or "") for word in words[1:]):
            self.unknown = "the text the shell runs is encoded"
        plain = _plus_as_dash(words)
        readings = [plain]
        # Long options count as such only in front of all others: behind these they are clusters of letters.
        for found in (_set_options_apart(plain), _set_options_apart(_long_options(plain))):
            if found not in readings:
                readings.append(found)
        for reading in readings:
            self.shell_words(reading)
        if len(readings) > 1:
            self.unknown = "the options of the shell can be read in several ways"

    def known_options(self, words: Sequence[Word]) -> None:
        """Any option that shells do not share may take the next word: another text, or another script, is run then."""
        name = program(words[0].value or "")
        own = SHELL_TEXTS[name][0].short if name in SHELL_TEXTS else frozenset[str]()
        letters = _BASH_LETTERS if name in _LIKE_BASH else _SHARED_LETTERS - own | {"c"}
        end = next((index for index, _ in arguments(words, SHELL_GRAMMAR).operands), len(words))
        for word in words[1:end]:
            text = word.value or word.prefix
            option, attached, _ = text.partition("=")
            long = option.startswith("--")
            known = (option in _SHELL_NAMES or bool(attached)) if long else letters.issuperset(text[1:])
            if text[:1] in {"-", "+"} and not known:
                self.unknown = f"what `{option}` means to the shell is not known"

    def shell_words(self, words: Sequence[Word]) -> None:
        """What a shell runs, in one reading of its options."""
        found = arguments(words, SHELL_GRAMMAR)
        if found.holes and (not found.operands or found.holes[0][0] <= found.operands[0][0]):
            self.unknown = "the text the shell runs is only known at run time"
        operands = [word for _, word in found.operands]
        if found.has("-c", "--command", "--commands", "-Command"):
            if operands:
                self.code(operands[:1])
                self.positional(operands[1:])
            # `--rcfile -c`: the letter may be the value of the option in front, and then it reads its input.
            self.reads_stdin = self.reads_stdin or not operands or not found.settled
        elif found.has("-s") or not operands:
            self.reads_stdin = True
        else:
            self.script(operands[0])
        for option in found.options:
            if option.name in {"--rcfile", "--init-file"} and option.value is not None:
                self.script(option.value)

    def positional(self, words: Sequence[Word]) -> None:
        """What stands behind the text becomes ``$0``, ``$1`` … of it, and may be run there (``"$@"``)."""
        known = [shlex.quote(word.value) for word in words if word.value is not None]
        for start in range(min(len(known), 2)):
            self.texts.append(" ".join(known[start:]))

    def script(self, word: Word) -> None:
        if word.value is None:
            self.unknown = "the script it runs is only known at run time"
        elif word.value in {"", "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
            self.reads_stdin = True
        else:
            self.programs.append(word)

    def source(self, words: tuple[Word, ...]) -> None:
        rest = words[2:] if len(words) > 1 and words[1].value == "--" else words[1:]
        if rest:
            self.script(rest[0])

    def interpreter(self, at: int, words: tuple[Word, ...], name: str) -> None:
        row = INTERPRETERS[name]
        found = arguments(words, row.grammar)
        if row.module is not None and found.has(row.module):
            option = next(option for option in found.options if option.name == row.module)
            if option.value is not None:
                inner = option.index + 1 if not option.attached else None
                named = option.value
                if named.value is not None and named.value.endswith(".__main__"):
                    named, inner = constant(named.value.removesuffix(".__main__")), None
                self.add(at, (named, *words[option.index + 2 - option.attached :]), "runner", inner)
            prompts = option.value is None or option.value.value is None or option.value.value in row.modules
            self.reads_stdin = self.reads_stdin or prompts or found.may_have(*row.interactive)
            if option.index not in found.doubtful:
                return
        interactive = found.may_have(*row.interactive)
        self.reads_stdin = self.reads_stdin or interactive
        for option in found.options:
            if option.value is not None and (option.name in row.loads or option.name.replace("_", "-") in row.loads):
                self.loaded(option, row)
            if row.settings and option.value is not None:
                setting, _, value = (option.value.value or option.value.prefix).partition("=")
                if setting.strip() in row.settings:
                    self.script(option.value if option.value.value is None else constant(value.strip(" \t'\"")))
        code = [option for option in found.options if option.name in row.instead]
        # Behind an option that may take the next word, or leave it as the script, all others may be the script's own.
        sure = takewhile(lambda option: _follows_flags(option, words, row), found.options) if code else ()
        if not interactive and any(_is_valued(option, words, row, found) for option in sure if option in code):
            return
        scripts = [*found.valued(*row.script)]
        taken = [each for each in found.options if each in code or not _follows_flags(each, words, row)]
        operands = [option.value for option in taken if option.value is not None and not option.attached]
        operands += [word for _, word in found.operands]
        if code or not (scripts or operands):
            self.reads_stdin = self.reads_stdin or not row.only_tells(words)
        if not scripts:
            several = bool(taken) or found.may_have(*row.several) or any(word.value in row.prompts for word in operands)
            scripts = operands if several else operands[:1]
        for word in scripts:
            self.script(word)

    def loaded(self, option: Option, row: Interpreter) -> None:
        """What an option loads: a script, also by an address or as a module."""
        word = option.value
        if word is None:
            return
        self.script(word)
        if word.value is not None and (path := path_of_address(word.value)) is not None:
            self.script(constant(path))
        if word.value is not None and option.name in row.dotted:
            self.script(constant((word.value.partition("=")[2] or word.value).replace(".", "/").lstrip("/")))

    def find(self, at: int, words: tuple[Word, ...]) -> None:
        index = 1
        while index < len(words):
            if words[index].value in {"-exec", "-execdir", "-ok", "-okdir"}:
                stop = command_end(words, index)
                if (words[index].value or "").endswith("dir"):
                    self.changes[at] = ANYWHERE  # in each folder where something is found
                # GNU find replaces the braces inside a word as well.
                inner = [UNKNOWN if word.value == "{}" else template(word, "{}") for word in words[index + 1 : stop]]
                self.add(at, inner, "closed", index + 1)
                index = stop
            index += 1


def wrapper_row(name: str, words: Sequence[Word]) -> tuple[Wrapper | None, int]:
    """The row of a wrapper, and where its own arguments start. Options may stand before a subcommand."""
    firsts = _SUBCOMMANDS_OF.get(name)
    if firsts is not None and not firsts.isdisjoint([word.value for word in words[1:]]):
        for plain in _subcommands(name, words):
            for length in range(min(3, len(plain)), 0, -1):
                row = SUBCOMMANDS.get((name, *(value for _, value in plain[:length])))
                if row is not None:
                    return row, plain[length - 1][0] + 1
    return WRAPPERS.get(name), 1


_WRITING = frozenset(
    [name for name, row in WRAPPERS.items() if row.writes or row.into]
    + [key[0] for key, row in SUBCOMMANDS.items() if row.writes or row.into]
)
"""Wrappers that write files by themselves, as their rows say."""


def _subcommands(name: str, words: Sequence[Word]) -> Iterator[list[tuple[int, str]]]:
    """The words that may be subcommands, with their places: options in front of them, and their values, left out."""
    if len(words) > 2 and words[1].value == "-E":
        yield [(index, word.value or "") for index, word in enumerate(words[1:4], 1)]
    row = TABLES.get((name,))
    grammar = GLOBAL if name in READ_HERE else row.grammar if row is not None else Grammar()
    found = arguments(words, grammar)
    # `cargo +nightly` and `bundle _2.0_` say which of several is meant.
    plain = [
        (index, word.value)
        for index, word in found.operands
        if word.value is not None and word.value[:1] != "+" and not _CHOSEN.fullmatch(word.value)
    ]
    yield plain[:3]
    # `git submodule -q foreach`: options stand between the two as well.
    yield [(index, value) for index, value in plain if value[:1] != "-"][:3]


_SUBCOMMANDS_OF = {
    name: frozenset(key[1] for key in SUBCOMMANDS if key[0] == name) for name in {key[0] for key in SUBCOMMANDS}
}
"""By program the first words of its rows: where a command has none of them, it need not be sorted to find that out."""


_BY_SUBCOMMAND_ONLY = {name: firsts for name, firsts in _SUBCOMMANDS_OF.items() if not _runs_others(name)}
"""Of them those that run nothing else."""


_NUMBER = re.compile(r"-\s*\d")
_TIME = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)[smhd]?|inf")


def _inner_start(words: Sequence[Word], row: Wrapper, found: Arguments, skip: int) -> int:
    """Where the inner command begins."""
    if row.dashes:
        for index, word in enumerate(words):
            if word.value == "--" and skip <= index < len(words) - 1:
                return index + 1
    starts = [index for index, word in found.operands if word.value != "-" or not row.assigns]
    if row.assigns:
        starts = [index for index in starts if not _ASSIGNS.match(words[index].prefix)]
    starts = starts[row.skip :]
    return starts[0] if starts else len(words)


def written(name: str, words: Sequence[Word]) -> Iterator[Word]:
    """The files that a wrapper writes by itself, whatever it runs."""
    row, skip = wrapper_row(name, words) if name in _WRITING else (None, 0)
    if row is None or not (row.writes or row.into):
        return
    found = arguments(words, row.grammar, skip)
    for option in found.options:
        if (
            is_one_of(option.name, row.writes)
            and option.value is not None
            and option.value.prefix[:1] not in {"|", "!"}
        ):
            yield option.value
    if row.into:
        yield from (word for _, word in found.operands[:1])


_ANYTHING = '"$_"'
_WITH_RUN_WORD = names_with_field("carries", "run_word")
"""Wrappers in front of whose command the word `run` may stand."""
_SHELL_STARTERS = names_with_field("carries", "starts_shell")
"""Wrappers that start a shell where they are given no command; it reads their input."""


def _as_variable(word: Word) -> str:
    """A word that is not known, in a text that is read for deny rules only; what is constant of it stands as it is."""
    if not word.pieces:
        return word.source if word.source != "…" else _ANYTHING
    return "".join([piece.text if isinstance(piece, Text) else _ANYTHING for piece in word.pieces])


_INPUT_OPTIONS = words_of("input_words", "options")
"""Of programs that give the words of their input to a command, options that say how the input is split, and how often
the command runs."""


def replaced_text(name: str, found: Arguments) -> str | None:
    """The text that ``xargs -I{}`` replaces by words from elsewhere."""
    if name not in _INPUT_OPTIONS or not found.may_have("-I", "-i", "--replace"):
        return None
    value = next(iter(found.valued("-I", "--replace")), None)
    return value.value if value is not None and value.value else "{}"


def _long_options(words: Sequence[Word]) -> list[Word]:
    """The same with two dashes in front of bash's long options, which may have one."""
    return [constant(f"-{word.value}") if _LONG_OPTION.fullmatch(word.value or "") else word for word in words]


_LONG_OPTION = re.compile(
    r"-(?:init-file|rcfile|login|posix|noprofile|norc|noediting|verbose|version|help|restricted|debug(?:ger)?|wordexp"
    r"|dump-strings|dump-po-strings|pretty-print|protected)"
)


def _set_options_apart(words: Sequence[Word]) -> list[Word]:
    """The same with each ``-o`` and ``-O`` of a cluster as bash and dash read it: the other letters stay options, and
    its name is a word of its own (``bash -oc errexit TEXT``)."""
    found: list[Word] = []
    ahead = list(words)[::-1]
    while ahead:
        word = ahead.pop()
        cluster = _CLUSTER.fullmatch(word.value or "")
        if word.value in {"-", "--"} or (found and not (word.value or "-").startswith("-")):
            break
        found.append(word)
        if cluster is None:
            if _TAKES_NEXT.fullmatch(word.value or "") and ahead:
                found.append(ahead.pop())
            continue
        others = re.sub("[oO]", "", cluster[0])
        found[-1:] = [constant(others)] if others != "-" else []
        for letter in re.findall("[oO]", cluster[0]):
            found += [constant(f"-{letter}"), *([ahead.pop()] if ahead else [])]
    else:
        return found
    return [*found, word, *ahead[::-1]]


_TAKES_NEXT = re.compile(r"-[a-zA-Z]*[oO]|--(?:rcfile|init-file)")
_CLUSTER = re.compile(r"-[a-zA-Z]*[oO][a-zA-Z]+")
"""An `o` with letters behind it: other shells take these for its value."""


def _plus_as_dash(words: Sequence[Word]) -> list[Word]:
    """Shells take ``+x`` as an option too, and ``+`` for one without letters."""
    return [
        constant("-" + word.value[1:])
        if index and word.value is not None and re.fullmatch(r"\+[a-zA-Z]+", word.value)
        else word
        for index, word in enumerate(words)
        if not index or word.value != "+"
    ]
