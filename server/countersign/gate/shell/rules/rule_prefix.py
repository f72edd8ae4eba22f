"""The words of a command that say what it does, up to which a rule for "always" goes
(``programs/subcommand_depth.py``).

INVARIANT (strictest): where the end of these words is not certain, there are none: a rule that ended too early would
let the program do something else than was seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from countersign.gate.shell.programs.argv import Grammar, takes_value
from countersign.gate.shell.programs.subcommand_depth import (
    ALL_FLAGS,
    DEPTH,
    EITHER,
    FLAGS,
    GROUPS,
    HOLD_THEIR_VALUE,
    MANY,
    PLAIN,
    PLUGIN_GOALS,
    SAYING,
    TARGETS,
    TILL_VERB,
    VALUED,
    VERBS,
)
from countersign.gate.shell.programs.tables import TABLES

MOST_WORDS = 4
"""How many words may say what is done."""

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)*")
"""A word that looks like a subcommand: lower case, no path and no file's ending."""

_SCRIPT = re.compile(r"[^./]\.\w+$|:")
"""How an operand looks that may be a script, an address or a task."""

_FOLDERS = frozenset({"src", "tests", "lib", "packages"})

_TELLS = frozenset({"--version", "-V", "--help", "-h", "help", "version"})
"""Words with which a program only tells of itself, so that nothing is seen of what it does."""

_COMMAND_BEHIND = frozenset(
    {
        "exec",
        "execute",
        "eval",
        "sh",
        "shell",
        "bash",
        "console",
        "repl",
        "command",
        "cmd",
        "spawn",
        "call",
        "with",
    }
)
"""Subcommands behind which a program that no table knows may take any command or code."""

_NAMED_BEHIND = frozenset({"run", "start", "do", "task", "invoke", "launch", "job"})
"""The same for what it is told to run, in one word: a rule says that one, too."""

_FLAG = re.compile(r"--(?:no|allow|deny|unstable)-.*")


class Stem(NamedTuple):
    """``length`` is how many words there are, the program's among them, 0 where a rule may only say the whole.
    ``readings`` are the program's name and the words that say what is done, in each way that they can be read."""

    length: int
    readings: tuple[tuple[str, ...], ...] = ()

    def begins_with_any(self, commands: Collection[tuple[str, ...]]) -> bool:
        """Whether what is done may begin with the words of one of these commands."""
        beginnings = (reading[:end] for reading in self.readings for end in range(1, len(reading) + 1))
        return any(beginning in commands for beginning in beginnings)


def stem(name: str, words: Sequence[str | None]) -> Stem:
    """The stem of a command whose program is ``name``. A word that is None is not known before it runs."""
    found = _Telling(name, words)
    if name in DEPTH:
        return found.known(DEPTH[name])
    if name in TILL_VERB:
        return found.till_verb()
    if name in PLAIN or ((name,) in TABLES and name not in EITHER):
        return Stem(1, ((name,),))
    return found.looks()


def git_stem(name: str, subcommand: str, words: Sequence[str | None]) -> Stem:
    """The stem of a git command without options in front of its subcommand."""
    found = _Telling(name, words)
    if (name, subcommand) not in GROUPS:
        return Stem(2, ((name, subcommand),))
    return found.known(1, verbs=False)


def looks_like_subcommand(word: str | None) -> bool:
    """Whether it is a bare lower-case word; the commonest folders are none."""
    return word is not None and word not in _FOLDERS and _SUBCOMMAND.fullmatch(word) is not None


class _Telling:
    """Goes through the words once. ``at`` is the next one, ``told`` those that say what is done, the program first;
    ``doubtful`` are words that could be such, or else the value of an option in front of them."""

    def __init__(self, name: str, words: Sequence[str | None]) -> None:
        self.name, self.words = name, words
        self.at = 1
        self.told: list[str] = [name]
        self.doubtful: list[str] = []

    def known(self, depth: int, *, verbs: bool = True) -> Stem:
        """Of a program of which it is known how many words say what it does."""
        while depth:
            if not self.tell(depth):
                bare = self.name in TARGETS and not self.doubtful
                return self.up_to(1 if bare and not any("=" in (word or "") for word in self.words) else 0)
            if tuple(self.told) not in GROUPS:
                break
            depth += 1
        if verbs and self.told[1:2] != ["run"] and self.name not in MANY:
            self.on_to_verb()
        while self.name in MANY and self.is_operand():
            if self.name in PLUGIN_GOALS and ":" in (self.words[self.at] or ""):
                return self.up_to(0)  # a plug-in's goal may do anything
            self.at += 1
        while self.at < len(self.words) and self.says(self.words[self.at] or ""):
            self.tell(len(self.told))
        return self.up_to(self.at)

    def till_verb(self) -> Stem:
        """Of a program whose groups nest."""
        while len(self.told) <= MOST_WORDS and self.tell(len(self.told)) and looks_like_subcommand(self.told[-1]):
            if _is_verb(self.told[-1]) and tuple(self.told) not in GROUPS:
                return self.up_to(self.at)
        return self.up_to(0)

    def looks(self) -> Stem:
        """Of a program that no table knows: its first operand, if that looks like a subcommand."""
        if len(self.words) == 2 and self.words[1] in _TELLS:
            return self.up_to(0)
        found = self.tell(1)
        doubt = any(map(looks_like_subcommand, self.doubtful))
        if found and looks_like_subcommand(self.told[1]):
            self.on_to_verb()
            if self.told[-1] in _NAMED_BEHIND and not self.doubtful and self.tell(len(self.told)):
                return self.up_to(self.at if self.told[-1] not in _COMMAND_BEHIND else 0)
            return self.up_to(0 if self.told[-1] in _COMMAND_BEHIND | _NAMED_BEHIND else self.at)
        if not doubt:
            if found and _SCRIPT.search(self.told[1]):
                return self.up_to(self.at)  # it may run what it is given, or do what the name of a task says
            return self.up_to(1 if found or self.at >= len(self.words) else 0)
        return self.up_to(self.at if found else 0)

    def up_to(self, length: int) -> Stem:
        """No stem either where a word of it is not known before it runs."""
        known = length <= len(self.words) and None not in self.words[:length]
        return Stem(length if known else 0, (tuple(self.told), (self.name, *self.doubtful, *self.told[1:])))

    # --- steps -------------------------------------------------------------------------------------------------------

    def tell(self, depth: int) -> bool:
        """Go on until as many words say what is done; False where there are not enough."""
        doubted = False
        while len(self.told) <= depth:
            if self.at >= len(self.words) or (word := self.words[self.at]) is None:
                return False
            self.at += 1
            if self.says(word):
                self.told.append(word)
                self.at += word in SAYING[self.name]
            elif _is_option(word):
                takes = self.takes(word)
                doubted = takes == "doubtful"
                self.at += takes == "value"
            elif word[:1] == "@" or ("=" in word and self.name in TARGETS):
                return False  # a file with further words; a variable
            elif "=" in word or word.isdigit():
                continue
            elif doubted:
                self.doubtful.append(word)
                doubted = False
            else:
                self.told.append(word)
        return self.at <= len(self.words)

    def on_to_verb(self) -> None:
        """Words of groups are followed by what is done to them: ``toolchain install``."""
        while (
            len(self.told) <= MOST_WORDS
            and not _is_verb(self.told[-1])
            and self.at < len(self.words)
            and looks_like_subcommand(word := self.words[self.at])
            and word is not None
            and _is_verb(word)
        ):
            self.told.append(word)
            self.at += 1

    def is_operand(self) -> bool:
        word = self.words[self.at] if self.at < len(self.words) else None
        return word is not None and not _is_option(word) and "=" not in word

    def says(self, option: str) -> bool:
        """Whether an option says with its value what is done."""
        return any(
            option == known or option.startswith(f"{known}=" if known.startswith("--") else known)
            for known in SAYING.get(self.name, ())
        )

    def takes(self, option: str) -> Literal["value", "nothing", "doubtful"]:
        """Whether the next word is an option's value."""
        if option in VALUED.get(self.name, ()):
            return "value"
        if option[0] == "+" or "=" in option or option in ALL_FLAGS or option in FLAGS.get(self.name, ()):
            return "nothing"
        if _FLAG.fullmatch(option) or (self.name in HOLD_THEIR_VALUE and re.match(r"-[DPX].", option)):
            return "nothing"
        for key in {tuple(self.told), (self.name,)}:
            row = TABLES.get(key)
            found = _by_grammar(option, row.grammar) if row is not None else None
            if found is not None:
                return found
        return "doubtful"


def _by_grammar(option: str, grammar: Grammar) -> Literal["value", "nothing"] | None:
    """What the tables say of an option; None where they do not tell."""
    if option.startswith("--") or grammar.single:
        if takes_value(option, grammar):
            return "value"
        return "nothing" if option.lstrip("-") in grammar.names else None
    for at, letter in enumerate(option[1:], 2):
        if letter in grammar.short:
            return "value" if at == len(option) else "nothing"
        if letter in grammar.maybe:
            return "nothing"
        if letter not in grammar.flags:
            return None
    return "nothing"


def _is_option(word: str) -> bool:
    """Whether it is an option; a word for the tool chain (``+nightly``) is one as well."""
    return (word[:1] in {"-", "+"}) and word != "-"


def _is_verb(word: str) -> bool:
    return word.partition("-")[0] in VERBS
