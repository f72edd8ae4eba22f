"""The form of a row for programs that run another program named in their words (docs/gate.md S7), a script or a text.

``clear`` rows are looked through for allow as well; ``runner`` rows (package runners) are covered by a rule whose
literal words reach into the inner command; all others are looked through for deny and ask only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from countersign.gate.shell.programs.argv import Grammar
from countersign.gate.shell.programs.row import alike_options
from countersign.gate.shell.syntax.tree import Word

Kind = Literal["clear", "runner", "closed"]
Tail = Literal["command", "text", "operands"]
"""How the words behind the options are run: as a command, joined and read by a shell, or not at all."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """``skip`` operands stand in front of the command, ``assigns`` says that ``NAME=value`` may too. ``texts`` are
    options whose value a shell reads, ``commands`` those whose value is a command. ``bare``: looked through for allow
    only without any option. ``words`` are subcommands in front; ``dashes``: the command begins behind ``--``.
    ``writes`` are options whose value is a file that the wrapper itself writes; ``into``: its first operand is one.
    ``runs_itself``: what its words name is a command of its own. ``reached``: a rule whose literal words reach into the
    command covers it, where all options in front take a value or are among these.

    The options of its grammar are all that it is known to have: behind another one it is not known where the command
    begins."""

    kind: Kind
    grammar: Grammar
    why: str
    skip: int = 0
    assigns: bool = False
    texts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    tail: Tail = "command"
    bare: bool = False
    dashes: bool = False
    unknown_tail: bool = False
    writes: tuple[str, ...] = ()
    into: bool = False
    runs_itself: bool = False
    reached: frozenset[str] = frozenset()

    def may_begin_elsewhere(self, words: Sequence[Word]) -> bool:
        """Whether one of these words, which stand in front of the command, may take more words or fewer than is read
        here: an option that the row does not know, or letters in a row (``xargs -eE rm``) of which the last takes the
        next word unless one in front takes the rest of its own."""
        if self.grammar.single or (self.tail == "operands" and not self.grammar.flags):
            return False
        return any(is_unclear(word.value or word.prefix, self.grammar) for word in words)


def is_unclear(word: str, grammar: Grammar) -> bool:
    """Whether a word in front of a command may take more words than is read, or fewer: an option that the grammar does
    not know, or letters in a row of which the last one may or may not take the next word."""
    if len(word) < len("-x") or word[0] != "-" or word == "--":
        return False
    if word.startswith("--"):
        name = word.partition("=")[0].removeprefix("--")
        known = (*grammar.names, *grammar.long)
        return "=" not in word and not any(each.startswith(name) for each in known)
    for at, letter in enumerate(word[1:], 1):
        if letter in grammar.short:
            return False
        if letter in grammar.flags:
            continue
        return letter not in grammar.maybe or (at + 1 < len(word) and word[-1] in grammar.short)
    return False


def wrapper(
    kind: Kind,
    why: str,
    short: str = "",
    long: str = "",
    *,
    skip: int = 0,
    assigns: bool = False,
    texts: str = "",
    commands: str = "",
    tail: Tail = "command",
    bare: bool = False,
    dashes: bool = False,
    unknown_tail: bool = False,
    single: bool = False,
    permutes: bool = False,
    writes: str = "",
    into: bool = False,
    runs_itself: bool = False,
    reached: str = "",
    flags: str = "",
    names: str = "",
    maybe: str = "",
) -> Wrapper:
    grammar = replace(_grammar(short, long, flags, names, maybe), single=single, ordered=not permutes)
    return Wrapper(
        kind,
        grammar,
        why,
        skip,
        assigns,
        tuple(texts.split()),
        tuple(commands.split()),
        tail,
        bare,
        dashes,
        unknown_tail,
        tuple(writes.split()),
        into,
        runs_itself,
        frozenset(reached.split()),
    )


def _grammar(short: str, long: str, flags: str, names: str, maybe: str) -> Grammar:
    return Grammar(
        frozenset(short),
        frozenset(long.split()),
        flags=frozenset(flags),
        names=frozenset(names.split()),
        maybe=frozenset(maybe),
        ordered=True,
    )


RIGHTS = "it runs the command with other rights"
"""The reason of the shared part ``_rights``: what runs with other rights has another environment."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """``code`` are its options that take or load code, or change or write files (a ``*`` ends the beginning of many);
    beside one of ``instead`` no script runs, as its value is the code, unless one of ``interactive`` is there, with
    which it reads its input besides. Of ``loads`` the value is a script that runs before, and with one of ``several``
    each operand is a script. ``module`` runs a module by name, of which ``modules`` read code from their input.
    ``prompts`` are first operands with which it takes code from its input (`--` stands in front of one), ``script``
    options that name its script. Alone behind the name, one of ``tells`` makes it say something of itself and end.
    ``alike`` maps options to all names that they have. Behind a first operand of ``passes`` its own words go on
    (``tsx watch``). ``writes`` are options whose value is a file that it writes, ``subcommands`` first operands that
    are not a script but have it do something else (``jbang init``). A script is also found by its name without one of
    ``endings``, and what is loaded in the folders that ``searches`` name. What ``dotted`` load is a module, whose dots
    lead into folders, and ``settings`` are such that name a script in the value of an option (``php -d NAME=FILE``).
    An option that its grammar does not know may take the next word: another script follows then, or none
    (``rules/valued_options.py``)."""

    grammar: Grammar
    code: frozenset[str]
    module: str | None = None
    prompts: frozenset[str] = frozenset()
    script: frozenset[str] = frozenset()
    tells: frozenset[str] = frozenset()
    alike: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    passes: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    subcommands: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    interactive: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    several: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    endings: frozenset[str] = frozenset()
    searches: frozenset[str] = frozenset()
    dotted: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()

    def only_tells(self, words: Sequence[Word]) -> bool:
        """Whether it runs nothing and reads no input with these words."""
        return len(words) == 2 and words[1].value in self.tells

    def is_strange(self, option: str) -> bool:
        """Whether the record says nothing of a long option, so that its name alone tells what it does."""
        return option[:2] == "--" and option not in self.code | self.writes and self.takes_value(option) is None

    def is_unknown(self, word: str) -> bool:
        """Whether a word in front of the script is an option, or letters of options, of which the record says nothing.
        What it does is not known."""
        if len(word) < len("-x") or word[0] != "-" or word == "--" or word in self.code | self.writes | self.tells:
            return False
        return self.takes_value(word) is None

    def takes_value(self, option: str) -> bool | None:
        """Whether an option takes the next word; None if that is not known."""
        if option[:2] != "--":
            for index, letter in enumerate(option[1:], 2):
                if letter in self.grammar.short:
                    return index == len(option)
                if letter in self.grammar.maybe:
                    return False
                if letter not in self.grammar.flags:
                    return None
            return False
        bare = option[2:]
        if bare in self.grammar.long:
            return True
        plain = bare in self.grammar.names or any(
            name[-1] == "*" and bare.startswith(name[:-1]) for name in self.grammar.names
        )
        return False if plain else None


def interpreter(
    short: str = "",
    long: str = "",
    code: str = "",
    instead: str = "",
    module: str | None = None,
    prompts: str = "",
    script: str = "",
    tells: str = "",
    flags: str = "",
    names: str = "",
    maybe: str = "",
    alike: str = "",
    passes: str = "",
    writes: str = "",
    subcommands: str = "",
    interactive: str = "",
    loads: str = "",
    several: str = "",
    modules: str = "",
    endings: str = "",
    searches: str = "",
    dotted: str = "",
    settings: str = "",
) -> Interpreter:
    grammar = _grammar(short, long, flags, names, maybe)
    sets = (frozenset(words.split()) for words in (prompts, script, tells))
    return Interpreter(
        grammar,
        frozenset(code.split()),
        module,
        *sets,
        alike=alike_options(alike),
        passes=frozenset(passes.split()),
        writes=frozenset(writes.split()),
        subcommands=frozenset(subcommands.split()),
        instead=frozenset(instead.split()),
        interactive=frozenset(interactive.split()),
        loads=frozenset(loads.split()),
        several=frozenset(several.split()),
        modules=frozenset(modules.split()),
        endings=frozenset(endings.split()),
        searches=frozenset(searches.split()),
        dotted=frozenset(dotted.split()),
        settings=frozenset(settings.split()),
    )


SHELL_GRAMMAR = Grammar(frozenset("oO"), frozenset({"rcfile", "init-file"}), ordered=True)


@dataclass(frozen=True, slots=True)
class ShellRow:
    """``texts`` are the options of this shell's own grammar that take a text which it runs."""

    grammar: Grammar = SHELL_GRAMMAR
    texts: tuple[str, ...] = ()


def shell(short: str = "", long: str = "", texts: str = "") -> ShellRow:
    grammar = Grammar(frozenset(short), frozenset(long.split()), ordered=True) if short or long else SHELL_GRAMMAR
    return ShellRow(grammar, tuple(texts.split()))
