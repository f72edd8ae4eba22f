"""One simple command with all that the tables make of it, worked out once and asked often.

INVARIANT (strictest): ``clear`` spares looks at commands that nothing was found in. False may be said of any, and then
everything is looked at; ``tests/gate/shell/test_shortcuts.py`` holds both ways against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from countersign.gate.patterns import may_begin_with
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet
from countersign.gate.shell.effects.code_on_input import code_on_input
from countersign.gate.shell.effects.escape_use import EscapeUse, ProgramReading
from countersign.gate.shell.effects.escapes import look_up
from countersign.gate.shell.effects.no_rule_needed import neutral_reason
from countersign.gate.shell.effects.partial_subcommands import may_be_subcommand
from countersign.gate.shell.effects.unwrap import Layer, could_run, may_run, program, written
from countersign.gate.shell.effects.wrapper_readers import GIVEN
from countersign.gate.shell.files.exact_patches import is_exact_input
from countersign.gate.shell.files.file_operands import file_uses
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.files.listed_files import listed_touches
from countersign.gate.shell.files.named_outputs import always_written
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.languages.find import FINDERS, words_around_exec
from countersign.gate.shell.languages.git import Git, only_reads
from countersign.gate.shell.programs.tables import FACETS, names_with
from countersign.gate.shell.syntax.tree import Text, Variable, Word
from countersign.gate.shell.syntax.words import UNKNOWN, constant
from countersign.gate.shell.variables.assignments import evaluated
from countersign.gate.shell.variables.bindings import Facts
from countersign.gate.shell.variables.listings import Listing, substituted_listing


class AnalyzedCommand:
    """One simple command with all that the tables make of it. What is worked out is kept, because several rules ask.

    ``layers`` are the commands that it runs, the whole first, ``names`` the program of each, empty where it is not
    known, and ``known`` what the tables know of each; ``shapes`` are the words of the first, as rules see them.
    ``plain`` says that its words are all constant, with nothing assigned in front; ``uses`` are its escapes, ``holes``
    words that could become such. ``clear``: a known program that runs nothing but itself, with neither. ``written`` is
    the command as it stands, if this is a reading of it (``printed_names.py``). Never changes once made.
    """

    __slots__ = (
        "_agent", "_candidates", "_evaluates", "_neutral", "_rules", "_touches", "clear", "facts", "holes", "known",
        "layers", "names", "plain", "shapes", "step", "uses", "written",
    )  # fmt: skip

    def __init__(self, step: Step, facts: Facts, written: AnalyzedCommand | None = None) -> None:
        self.step, self.facts, self.written = step, facts, written
        command = step.command
        self.layers: tuple[Layer, ...] = step.unwrapped.layers
        constant = (command.plain and len(self.layers) == 1) or (
            command.kind == "command"
            and not command.assignments
            and None not in [word.value for layer in self.layers for word in layer.words]
        )
        self.plain = constant
        if constant and len(self.layers) == 1:
            self._look_at_one(self.layers[0].words)
        else:
            self._look_at_all()
        self._evaluates: str | Literal[False] | None = False
        self._neutral: tuple[bool, str | None] | None = None
        self._touches: list[list[FileUse] | None] = [None] * len(self.layers)
        self._rules: RuleSet | None = None
        self._agent = ""
        self._candidates: dict[tuple[str, ...], Mapping[ListName, list[Rule]]] = {}

    def _look_at_one(self, words: tuple[Word, ...]) -> None:
        """The tables' word of constants that run nothing but themselves: what nearly all commands are."""
        name = program(words[0].value or "")
        known = look_up(name, words)
        self.names, self.known = (name,), (known,)
        self.shapes: tuple[str, ...] = tuple([word.shape for word in words])
        self.uses: tuple[EscapeUse, ...] = known.uses
        if self.step.input.comes:
            self.uses = (*self._fed(), *known.uses)
        self.holes: tuple[Word, ...] = known.holes
        runs = may_run(name) and (could_run(name, words) or self.step.unwrapped.texts)
        self.clear = not runs and not self.uses and not known.holes

    def _look_at_all(self) -> None:
        self.shapes = tuple([word.shape for word in self.layers[0].words]) if self.layers else ()
        self.names = tuple([program(layer.words[0].value or "") for layer in self.layers])
        self.known = tuple([look_up(name, layer.words) for name, layer in zip(self.names, self.layers, strict=True)])
        fed = self._fed() if self.step.input.comes else ()
        self.uses = (*fed, *[use for known in self.known for use in known.uses])
        self.holes = tuple(
            [
                hole
                for name, known in zip(self.names, self.known, strict=True)
                for hole in known.holes
                if not (is_known(hole, self.facts) or _names_a_file_below(hole, self.facts))
                and not (_turns_into_options_only(name, known, hole) and _begins_known(hole, self.facts))
            ]
            + [word for known in self.known for word in known.open_words if not is_known(word, self.facts)]
            + [
                word
                for name, layer, known in zip(self.names, self.layers, self.known, strict=True)
                if (word := may_be_subcommand(name, layer.words, known.arguments)) is not None
                and not is_known(word, self.facts)
            ]
        )
        self.clear = (
            len(self.layers) == 1
            and not self.uses
            and not self.holes
            and self.layers[0].words[0].value is not None
            and not may_run(self.names[0])
        )

    def _fed(self) -> list[EscapeUse]:
        """What comes in on the input, where a program may run it."""
        each = zip(self.names, self.layers, self.known, strict=True)
        found = [code_on_input(name, layer.words, known) for name, layer, known in each]
        return [use for use in found if use is not None]

    @property
    def unnamed(self) -> Word | None:
        """The first word of a layer whose program is only known at run time."""
        for layer in self.layers:
            first = layer.words[0]
            if first.value is None or (first.tilde and not first.value.startswith("~/")):
                return first
        return None

    @property
    def neutral(self) -> tuple[bool, str | None]:
        """Whether it is of the kind that needs no rule, and if so why this form of it does."""
        if self._neutral is None:
            self._neutral = neutral_reason(self.step.command, self.facts)
        return self._neutral

    @property
    def evaluates(self) -> str | None:
        """Why evaluating its words may run what a variable holds."""
        if self._evaluates is False:
            command = self.step.command
            # Constants are not evaluated; what stands in redirections may be.
            bare = self.plain and not command.redirects and not command.declared
            reason = None if bare else next(evaluated(command, self.facts), None)
            self._evaluates = reason or self.neutral[1]
        return self._evaluates

    @property
    def redefined(self) -> str | None:
        """A name in it that the text itself gives another meaning (S13). What a runner runs is another program."""
        if self.facts.functions:
            for layer in self.layers:
                value = layer.words[0].value
                if layer.way in ("self", "clear") and value is not None and value in self.facts.functions:
                    return value
        return None

    def candidates(self, words: tuple[str, ...], rules: RuleSet, agent: str) -> Mapping[ListName, list[Rule]]:
        """The rules that could match these words; kept for as long as the same rules are asked for the same agent."""
        if self._rules is not rules or self._agent != agent:
            self._rules, self._agent, self._candidates = rules, agent, {}
        found = self._candidates.get(words)
        if found is None:
            found = self._candidates[words] = rules.commands_by_list(words, agent)
        return found

    def own_words(self, index: int) -> Sequence[Word]:
        """The words of a wrapper in front of the command that it runs (``dotenv -f FILE command``), all of them where
        it runs none by its words."""
        words = self.layers[index].words
        inner = next((layer for layer in self.layers[index + 1 :] if layer.above == index), None)
        return words[1 : len(words) - len(inner.words)] if inner is not None else words[1:]

    def file_uses(self, layer: int) -> list[FileUse]:
        """The files that the words of this layer name."""
        found = self._touches[layer]
        if found is None:
            name, words = self.names[layer], self.layers[layer].words
            found = [*file_uses(name, words, self.known[layer]), *always_written(name, words)]
            if not self.clear:
                found += (FileUse("write", word) for word in written(name, words))
            if self.known[layer].git is not None and any(variable.startswith("GIT_") for variable in self.facts.values):
                # Another repository, in which the same names may be other files.
                found.append(FileUse("read", constant("."), shown=True, top=True))
            if (git := self.known[layer].git) is not None:
                if git.subcommand in _PRINT_SETTINGS and self._settings_elsewhere(git):
                    found.append(FileUse("read", unknown()))
                for tree in self._work_trees(git, layer):
                    found.append(FileUse("read", tree, below=True, shown=True))
                    if not only_reads(git):
                        found.append(FileUse("write", tree, unknown_names=True))
            patched = len(self.layers) == 1 and any(each.patched for each in found)
            if patched and is_exact_input(self.step.command.redirects):
                found = [each for each in found if not each.patched]
            if not self.plain:
                found = [each for file_use in found for each in self.named_by_listing(file_use, layer)]
            self._touches[layer] = found
        return found

    def _settings_elsewhere(self, git: Git) -> bool:
        """Whether words or variables name settings for git, which may include any file and are printed as well."""
        named = [word.prefix.lower() for word in git.before.values("-c", "--config-env")]
        given = any(name.startswith("GIT_CONFIG") or name in _LEAD_TO_SETTINGS for name in self.facts.values)
        return given or any(map(_INCLUDES.match, named))

    def _work_trees(self, git: Git, layer: int) -> Iterator[Word]:
        """The folders that options and variables name as the work tree, whose files the paths behind it mean."""
        yield from git.before.valued("--work-tree")
        yield from (
            word
            for option, word in pairwise(self.layers[layer].words)
            if len(option.prefix) > len("--w") and "--work-tree".startswith(option.prefix)
        )
        given = dict.fromkeys(each.plain for each in self.step.command.assignments if each.name == _WORK_TREE)
        given.update(dict.fromkeys(self.facts.values.get(_WORK_TREE, ())))
        for above in self.layers[:layer]:
            assigned = (word.value.partition("=") for word in above.words if word.value)
            given.update({value: None for name, _, value in assigned if name == _WORK_TREE})
        yield from (unknown() if value is None else constant(value) for value in given if value != "")

    def named_by_listing(self, file_use: FileUse, layer: int) -> list[FileUse]:
        """What a listing of the text's own says of a file whose name is only known at run time."""
        word = file_use.word
        if file_use.operation != "read" or word.value is not None or file_use.start:
            return [file_use]
        above = self.layers[layer].above
        given = above is not None and self.names[above] in FINDERS and word.source in _GIVEN
        if not given and not self._opens_where_listed(word, layer):
            return [file_use]
        expanded = not given and self._is_expanded(word)
        named = [listed_touches(each, split=not given, expanded=expanded) for each in self._listings(word, layer)]
        if not named or None in named:
            return [file_use]
        files = list(dict.fromkeys(each for found in named for each in found or ()))
        if self.names[layer] in _SENDING and any(each.listing is not None and not each.listing.names for each in files):
            return [file_use]  # what leaves the machine may be any file that is listed
        return [file_use._replace(listed=True), *files]

    def _opens_where_listed(self, word: Word, layer: int) -> bool:
        """Whether this layer surely runs in the folder where the names that a word stands for are listed."""
        if self.layers[layer].carried.folders != ():
            return False
        name = _own_variable(word)
        if name is None:
            return True
        return self.facts.in_one_place and self.step.places is not None

    def _is_expanded(self, word: Word) -> bool:
        """Whether bash takes the names that a word stands for as patterns, as it does with all but those that xargs
        gives and a quoted one that `read` has read."""
        if not word.pieces:
            return False
        name = _own_variable(word) or ""
        read = name in self.facts.read and len(self.facts.listings[name]) == 1
        return word.form != "quoted" or not read

    def given_names(self, layer: int) -> Iterable[str]:
        """Names that this layer may be given beside its constant words: those that listings of the text's own may
        print (a name in each folder that one lists stands for all), and those that the text writes to its input."""
        for word in self.layers[layer].words[1:]:
            for listing in self._listings(word, layer) if word.value is None else ():
                for each in listed_touches(listing) or ():
                    name = each.word.value or ""
                    yield f"{name.rstrip('/')}/x" if each.below else name
        above = self.layers[layer].above
        for each in self.file_uses(above) if above is not None else ():
            if each.operation in ("read", "list") and each.below and each.word.value:
                yield f"{each.word.value.rstrip('/')}/x"
        if above is not None and self.names[above] in GIVE_INPUT:
            for text in self.step.input.texts:
                yield from filter(None, _GAPS.split(text)[:_MOST_GIVEN])

    def _listings(self, word: Word, layer: int) -> Iterable[Listing]:
        """The listings that say all that a word may be; none if it may be anything else."""
        above = self.layers[layer].above
        if self.facts.functions or self.facts.aliases:
            return ()
        if not word.pieces and above is not None and word.source in _GIVEN:
            words = self.layers[above].words
            if self.names[above] in GIVE_INPUT:
                known = self.step.input.listing if self.layers[layer].way == "clear" else None
                ends = self.known[above].arguments.valued("-d", "--delimiter")
                by_line = all(end.value in {"\n", "\\n", "\\0"} for end in ends)
                return () if known is None or not by_line else (known,)
            return _found_by(self.names[above], words) if self.names[above] in FINDERS else ()
        substituted = substituted_listing(word)
        if substituted is not None:
            return (substituted,)
        name = _own_variable(word)
        return () if name is None or name in self.facts.loose else self.facts.listings.get(name, ())


class Analyses:
    """What the tables make of each of a text's commands, by its place among them, worked out once when it is first
    asked for."""

    __slots__ = ("_found", "facts", "steps")

    def __init__(self, steps: Sequence[Step], facts: Facts) -> None:
        self.steps, self.facts = steps, facts
        self._found: dict[int, AnalyzedCommand] = {}

    def __getitem__(self, index: int) -> AnalyzedCommand:
        found = self._found.get(index)
        if found is None:
            found = self._found[index] = AnalyzedCommand(self.steps[index], self.facts)
        return found

    def of(self, index: int, step: Step) -> AnalyzedCommand:
        """The same of ``step``, which is the one at ``index`` or stands for it."""
        return self[index] if step is self.steps[index] else AnalyzedCommand(step, self.facts)


def _own_variable(word: Word) -> str | None:
    """The variable whose value is all that a word consists of."""
    pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
    only = pieces[0] if len(pieces) == 1 else None
    return only.held if isinstance(only, Variable) else None


_PRINT_SETTINGS = frozenset({"config", "var"})
_LEAD_TO_SETTINGS = frozenset({"HOME", "XDG_CONFIG_HOME"})
_INCLUDES = re.compile(r"include|\Z")

_WORK_TREE = "GIT_WORK_TREE"
"""The variable that says for git what ``--work-tree`` does."""

_GAPS = re.compile(r"[\s'\"]+")
_MOST_GIVEN = 200
"""Names on its input that are looked at."""

_SENDING = frozenset(key[0] for key, risk in FACETS["risks"].items() if "network" in risk)

_GIVEN = (UNKNOWN.source, GIVEN)
"""Words that stand for what xargs or find gives to its command, and for nothing beside that."""


def _found_by(name: str, words: Sequence[Word]) -> tuple[Listing, ...]:
    """The listing that a finder runs its command for."""
    known = words_around_exec(words)
    return (((name, *known[1:]),),) if known is not None else ()


GIVE_INPUT = names_with("input_words")
"""Programs that give the words of their input to a command."""

_FILTERING = names_with("reads_behind_filter")


def _turns_into_options_only(name: str, known: ProgramReading, hole: Word) -> bool:
    """Whether nothing but an option that this word could turn into would matter: what such a program reads
    behind its filter is a file, and what is copied is judged as one."""
    if name in _FILTERING:
        operands = known.arguments.operands
        return any(word is hole for _, word in operands[1:])
    return known.copies


def is_known(word: Word, facts: Facts) -> bool:
    """Whether the text says all that the variables in a word may hold, so that it is judged with that."""
    first = word.pieces[0] if word.pieces else None
    if word.form == "quoted" and isinstance(first, Variable) and first.plain and first.name in {"HOME", "PWD"}:
        return True  # it begins with a slash, and counts as a path
    return (
        bool(word.pieces)
        and word.form in ("quoted", "split")
        and all(
            isinstance(piece, Text)
            or (isinstance(piece, Variable) and None not in facts.values.get(piece.held or "", {None}))
            for piece in word.pieces
        )
    )


def _names_a_file_below(word: Word, facts: Facts) -> bool:
    """Whether a word is one, and what a pattern of the text's own matches in a folder that it names."""
    if word.form != "quoted" or not _begins_known(word, facts):
        return False
    name = next(piece.held or "" for piece in word.pieces if isinstance(piece, Variable))
    return all(_IN_FOLDER.match(pattern) for pattern in facts.patterns.get(name, ())) and all(
        value is None or "/" in value for value in facts.values.get(name, ())
    )


_IN_FOLDER = re.compile(r"[\w.][\w.-]*/")


def _begins_known(word: Word, facts: Facts) -> bool:
    """Whether a word is one, and begins with a value or a pattern of the text's own that is none of an option."""
    first = next((piece for piece in word.pieces if not isinstance(piece, Text) or piece.text), None)
    held = first.held if isinstance(first, Variable) else None
    if word.form != "quoted" or held is None:
        return False
    values, patterns = facts.values.get(held), facts.patterns.get(held, ())
    if not values or (None in values and (not patterns or held in facts.loose)):
        return False
    return all(value is None or value[:1] not in {"", "-"} for value in values) and not any(
        may_begin_with("-", pattern) for pattern in patterns
    )
