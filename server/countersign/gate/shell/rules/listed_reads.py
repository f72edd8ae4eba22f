"""Readers that are given names by a listing of the same text (docs/gate.md "Commands that only read").

``find src -name '*.py' -exec wc -l {} +``, ``find . -name '*.md' | xargs grep -n x`` and a loop over ``git ls-files``
need no rule where the listing needs none, the reader is of the read-only set whatever file it is given, and the disk
shows that no name which may be listed now asks. That holds in a text that only reads, so that nothing in it makes other
names before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from countersign.gate.probes import disk
from countersign.gate.shell.effects.wrapper_readers import GIVEN
from countersign.gate.shell.files.file_use import FileUse, Operation
from countersign.gate.shell.files.found_names import MOST_UNUSUAL
from countersign.gate.shell.files.given_names import (
    Given,
    GivenNames,
    find_roots,
    given_names,
    may_begin_an_operand,
    of_find,
    printed_roots,
)
from countersign.gate.shell.files.word_values import matching_paths
from countersign.gate.shell.flow.control_flow import CommandFlow
from countersign.gate.shell.flow.moves import HERE
from countersign.gate.shell.languages.find import FINDERS, RUNS, words_around_exec
from countersign.gate.shell.programs.argv import Arguments, Option
from countersign.gate.shell.rules.analyzed_command import GIVE_INPUT, AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.found_commands import FOUND, analyzed_anew, found_commands
from countersign.gate.shell.syntax.tree import Substitution, Text, Variable, Word
from countersign.gate.shell.syntax.words import UNKNOWN, constant, pattern_text
from countersign.gate.shell.variables.listings import Listing, substituted_listing

MOST_LISTINGS = 8
"""Listings of one text that are looked through, each in each folder where it may be made."""

Way = Literal["whole", "nul", "lines", "words", "shell"]
"""How names come: each as one word, split at NUL or at newlines, as xargs splits them, or as bash does."""


def may_read_listed(found: CommandFlow) -> bool:
    """Whether a text holds a command that may be given names by a listing. Cheap."""
    if found.facts.listings:
        return True
    for step in found.steps:
        words = step.command.words
        if step.input.listing is not None or any(map(_is_listing, words)):
            return True
        if any(_GOES_DEEP.match(word.prefix) for word in words[1:]):
            return True
        if len(step.unwrapped.layers) > 1 and words and (words[0].value or "").rsplit("/", 1)[-1] in FINDERS:
            return True
    return False


_GOES_DEEP = re.compile(r"-[A-Za-z]*r|--recursive")
"""What an option by which a search enters folders looks like."""


def _is_listing(word: Word) -> bool:
    return word.value is None and any(isinstance(piece, Substitution) for piece in word.pieces)


def keeps_names(found: CommandFlow) -> bool:
    """Whether a name that a variable of this text keeps is read in the folder where it was listed, and split at
    newlines and blanks or not at all."""
    commands = [step.command for step in found.steps]
    splits = [
        each.plain for command in commands for each in (*command.assignments, *command.declared) if each.name == "IFS"
    ]
    if not set(splits) <= {"", "\n"}:
        return False
    return found.facts.in_one_place


class ListedRead(NamedTuple):
    """``commands`` must only read, each by its constant words; ``reads`` are names that must not ask."""

    commands: tuple[AnalyzedCommand, ...]
    reads: tuple[NamesRead, ...]


class NamesRead(NamedTuple):
    """The names that a listing prints, or that find gives by its words where ``finds``, and what is done to each.
    ``enters_links``: as in ``Find``."""

    words: Listing
    finds: bool
    way: Way
    operation: Operation
    enters_links: bool = False

    def only_reads(self, context: JudgingContext, place: str) -> bool:
        """Whether none of these names asks, or is read as another, as the disk is now."""
        paths = context.paths
        context.walked.add((self.words, place))
        if len(context.walked) > MOST_LISTINGS:
            return False
        if self.finds:
            found = of_find(self.words[0], place, paths, enters_links=self.enters_links)
        else:
            found = given_names(self.words, place, paths)
        if found is None or len(found.names) > MOST_UNUSUAL:
            return False
        if self.way != "whole" and (self.way == "nul") != found.nul:
            return False
        roots = find_roots(self.words[0]) if self.finds else printed_roots(self.words[0])
        if roots is None or any(self._is_read_otherwise(root, quotes=found.quotes) for root in roots):
            return False
        return all(self._is_read(each, found, context, place) for each in found.names)

    def _is_read(self, each: Given, names: GivenNames, context: JudgingContext, place: str) -> bool:
        if each.broken:
            return self.way in ("whole", "nul")
        if self._is_read_otherwise(each.name, quotes=names.quotes) or (
            not names.begins and not may_begin_an_operand(each.name)
        ):
            return False
        name = f"./{each.name}" if each.name.startswith("~") else each.name
        found = context.paths.judge_read(name, cwd=place)
        if found.floors or found.deny or found.ask:
            return False
        shown = self.operation == "list" and found.requires_ask is not None and found.in_workspace
        return found.known_read or found.allow is not None or found.grant is not None or shown

    def _is_read_otherwise(self, name: str, *, quotes: bool) -> bool:
        """Whether this name comes as another, or as several."""
        match self.way:
            case "whole" | "nul":
                return False
            case "lines":
                return "\n" in name or (quotes and not _UNQUOTED.fullmatch(name))
            case "words":
                split = _SPLIT_BY_XARGS.search(name) is not None
            case "shell":
                split = disk.SPLITTING.search(name) is not None
        return split or (quotes and not _UNQUOTED.fullmatch(name))


_SPLIT_BY_XARGS = re.compile(r"[\s'\"\\]")

_UNQUOTED = re.compile(r"[ !#-\[\]-~]*")
"""Names that git prints as they are."""


def listed_read(context: JudgingContext, analyzed: AnalyzedCommand) -> ListedRead | None:
    """Take a command apart that reads what a listing gives to it; None for any other."""
    facts = analyzed.facts
    if facts.functions or facts.aliases:
        return None
    if analyzed.step.unwrapped.texts or analyzed.step.command.kind != "command" or len(analyzed.layers) < 1:
        return None
    if len(analyzed.layers) > 1 and analyzed.names[0] in FINDERS:
        return _by_find(analyzed) if context.prints else None
    if any(layer.way not in ("self", "clear") for layer in analyzed.layers):
        return None
    above = analyzed.layers[-1].above
    if above is not None and analyzed.names[above] in GIVE_INPUT:
        return _by_input(analyzed, above) if context.keeps_names else None
    if goes_deep(analyzed):
        return _by_recursion(context, analyzed)
    return _by_words(analyzed) if len(analyzed.layers) == 1 and context.keeps_names else None


def goes_deep(analyzed: AnalyzedCommand) -> bool:
    """Whether a command searches all files below the folders that it names."""
    known = analyzed.known[-1]
    row = known.program
    return row is not None and row.operands == "pattern" and bool(row.deep) and known.arguments.may_have(*row.deep)


def _by_recursion(context: JudgingContext, analyzed: AnalyzedCommand) -> ListedRead | None:
    """``grep -rn word src``: as if find gave it each file there."""
    words = tuple(_as_it_stands(context, analyzed, word) for word in analyzed.layers[-1].words)
    if any(word.value is None for word in words):
        return None
    known = analyzed_anew(analyzed, words).known[-1]
    row, found = known.program, known.arguments
    if row is None or found.may_have(*row.follows):
        return None
    files = found.operands if found.may_have(*row.given) else found.operands[1:]
    roots = [word.value or "" for _, word in files]
    if not all(map(_PLAIN_ROOT.fullmatch, roots)):
        return None
    if not (roots and found.settled):
        roots.append(".")  # the words may be none of files
    flat = _without_recursion(words, [index for index, _ in files], row.deep, found.options)
    tests = _narrowing(found, roots)
    if flat is None or tests is None:
        return None
    stands = _stand_ins(analyzed, (*flat, FOUND), FOUND, roots, several=True)
    if stands is None:
        return None
    looked = (_ANY_FINDER, *roots, *tests)
    # The grep of FreeBSD goes through links, and its options for names are about files.
    read = NamesRead((looked,), True, "whole", stands[1], enters_links=True)
    return ListedRead((analyzed_anew(analyzed, flat), *stands[0]), (read,))


def _as_it_stands(context: JudgingContext, analyzed: AnalyzedCommand, word: Word) -> Word:
    """A long option with a pattern (``--include=*.py``), which stays as it is where no file is called so."""
    if word.form != "pattern" or not word.prefix.startswith("--") or analyzed.step.places is not HERE:
        return word
    pattern = pattern_text(word)
    return (
        constant(pattern) if context.start and matching_paths(pattern, context.start, 1, context.spent) == () else word
    )


_ANY_FINDER = min(FINDERS)
_PLAIN_ROOT = re.compile(r"(?:[\w.][\w.-]*/)*[\w.][\w.-]*/?")


def _without_recursion(
    words: Sequence[Word], files: Sequence[int], deep: Collection[str], options: Sequence[Option]
) -> tuple[Word, ...] | None:
    """The words without those of the files, and without the options by which the command enters folders."""
    kept: dict[int, str] = {index: word.value or "" for index, word in enumerate(words) if index not in files}
    for option in options:
        if option.name not in deep:
            continue
        if option.value is not None:
            return None  # it says in the next word whether it enters folders (`-d recurse`)
        if option.name[:2] == "--":
            if kept.pop(option.index) != option.name:
                return None
        else:
            kept[option.index] = kept[option.index].replace(option.name[1], "", 1)
    return tuple(constant(text) for text in kept.values() if text != "-")


def _narrowing(found: Arguments, roots: Sequence[str]) -> tuple[str, ...] | None:
    """The words of find for the files and folders that a search leaves out, as far as every program of the name leaves
    out the same; None where that is not certain."""
    skipped = [word.value or "*" for word in found.values("--exclude-dir")]
    wanted = [word.value or "*" for word in found.values("--include")]
    if not all(map(_PLAIN_NAME.fullmatch, skipped)):
        return None
    if not found.settled:
        skipped, wanted = [], []  # any of these may be another option's value
    # Whether a folder that is named on the command line is left out, depends on how it is spelled.
    own = {part for root in roots for part in (root.rstrip("/").rpartition("/")[2], ".", "..")}
    if not own.isdisjoint(skipped):
        return None
    tests = [each for name in skipped for each in ("-type", "d", "-name", name, "-prune", "-o")]
    # Behind `--exclude`, GNU's grep takes in what matches neither.
    excludes = any(option.name.startswith("--ex") and option.name != "--exclude-dir" for option in found.options)
    if wanted and not excludes and all(map(_PLAIN_PATTERN.fullmatch, wanted)):
        tests += ["(", *[each for pattern in wanted for each in ("-o", "-name", pattern)][1:], ")"]
    return (*tests, RUNS)


_PLAIN_NAME = re.compile(r"[\w.-]+", re.ASCII)
_PLAIN_PATTERN = re.compile(r"\*?[\w.-]+", re.ASCII)
"""To some programs a pattern is one of the whole path, too."""


def _by_find(analyzed: AnalyzedCommand) -> ListedRead | None:
    """``find … -exec``."""
    found = found_commands(analyzed)
    words = words_around_exec(analyzed.layers[0].words)
    if found is None or words is None:
        return None
    alone, inner = found
    several = any(word.value == "+" for word in analyzed.layers[0].words)
    commands, reads = [alone], list[NamesRead]()
    for each in inner:
        stands = _stand_ins(analyzed, each.layers[-1].words, FOUND, find_roots(words), several=several)
        if stands is None:
            return None
        commands += stands[0]
        reads.append(NamesRead((words,), True, "whole", stands[1]))
    return ListedRead(tuple(commands), tuple(reads))


def _by_input(analyzed: AnalyzedCommand, above: int) -> ListedRead | None:
    """``… | xargs``."""
    listing, words = analyzed.step.input.listing, analyzed.layers[-1].words
    options = analyzed.known[above].arguments
    if listing is None or options.holes:
        return None
    replaces = options.may_have("-I", "--replace", "-i", "-J")
    if replaces:
        if not _replaces_for_sure(options):
            return None
        words = tuple(word for word in words if word is not UNKNOWN)
    way: Way = "words"
    if options.may_have("-0", "--null"):
        if options.may_have("-d", "--delimiter"):
            return None
        way = "nul"
    elif ends := list(options.valued("-d", "--delimiter")):
        if not all(end.value in {"\n", "\\n"} for end in ends):
            return None
        way = "lines"
    given = [word for word in words if word.value is None]
    if len(given) != 1 or given[0].pieces or given[0].source not in _GIVEN:
        return None
    return _read_of(analyzed, words, given[0], (listing,), way, several=not replaces)


def _replaces_for_sure(options: Arguments) -> bool:
    """Whether the mark of ``-I`` is replaced in any case: a further option may take that back, and some programs leave
    a long word as it is, so that the mark itself must be no name of a file."""
    marks = [option for option in options.options if option.name in {"-I", "--replace", "-i", "-J"}]
    if [option.name for option in marks] != ["-I"] or options.may_have("-n", "--max-args", "-L", "-l", "--max-lines"):
        return False
    value = marks[0].value.value if marks[0].value is not None else None
    return value is not None and _MARK.fullmatch(value) is not None


_MARK = re.compile(r"\{\w*\}|[%@+]{1,2}")

_GIVEN = (UNKNOWN.source, GIVEN)


def _by_words(analyzed: AnalyzedCommand) -> ListedRead | None:
    """``wc -l $(…)``, and ``wc -l "$f"`` in a loop over a listing."""
    words = analyzed.layers[-1].words
    given = [word for word in words if word.value is None]
    if len(given) != 1:
        return None
    word, facts = given[0], analyzed.facts
    pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
    listings: tuple[Listing, ...] = ()
    if (substituted := substituted_listing(word)) is not None:
        if word.form == "quoted":
            return None  # lines that come as one word may be another name
        listings = (substituted,)
    elif len(pieces) == 1 and isinstance(pieces[0], Variable) and (name := pieces[0].held) is not None:
        # Lines that together may be another name, and an input that others in the loop may read as well.
        lines = (word.form == "quoted" and name in facts.whole) or name in facts.read
        if facts.values.get(name) == {None} and not lines and name not in facts.loose and name not in facts.patterns:
            listings = tuple(facts.listings.get(name, ()))
    return _read_of(analyzed, words, word, listings, "shell", several=word.form != "quoted") if listings else None


def _read_of(
    analyzed: AnalyzedCommand,
    words: tuple[Word, ...],
    given: Word,
    listings: Sequence[Listing],
    way: Way,
    *,
    several: bool,
) -> ListedRead | None:
    """What a command reads that gets a word for each name, or several, and perhaps none at all."""
    commands = [analyzed_anew(analyzed, tuple(word for word in words if word is not given))]
    reads = list[NamesRead]()
    for listing in listings:
        roots = printed_roots(listing[0])
        stands = _stand_ins(analyzed, words, given, roots, several=several) if roots is not None else None
        if stands is None:
            return None
        commands += [analyzed_anew(analyzed, tuple(map(constant, listing[0]))), *stands[0]]
        reads.append(NamesRead(listing, False, way, stands[1]))
    return ListedRead(tuple(commands), tuple(reads))


def _stand_ins(
    analyzed: AnalyzedCommand, words: Sequence[Word], given: Word, roots: Sequence[str], *, several: bool
) -> tuple[list[AnalyzedCommand], Operation] | None:
    """Return the command with names in the place of those that are given to it, and what it does to them; None if that
    is not just to read or to list each. A folder stands for a name, as some programs do more to folders."""
    if sum(word is given for word in words) != 1 or any(word.value is None and word is not given for word in words):
        return None
    found: list[AnalyzedCommand] = []
    operations: set[Operation] = set()
    for root in roots:
        for number in (1, 3) if several else (1,):
            names = [constant(f"{(root or '.').rstrip('/')}/{'./' * at}.") for at in range(number)]
            stand_in = analyzed_anew(
                analyzed, tuple(each for word in words for each in (names if word is given else (word,)))
            )
            if len(stand_in.layers) != 1 or stand_in.known[0].git is not None or stand_in.step.unwrapped.texts:
                return None
            if stand_in.names[0] in FINDERS:
                return None  # any word behind the names may be an action
            for name in names:
                uses = [use for use in stand_in.file_uses(0) if use.word.value == name.value]
                if not uses or not all(map(_only_looks, uses)):
                    return None
                operations.update(use.operation for use in uses)
            found.append(stand_in)
    return found, "read" if "read" in operations else "list"


def _only_looks(use: FileUse) -> bool:
    if use.operation == "list":
        return not (use.through or use.free or use.doubtful)
    doubtful = use.shown or use.free or use.doubtful or use.found or use.if_there or use.start
    return use.operation == "read" and not (use.below or use.through or doubtful)
