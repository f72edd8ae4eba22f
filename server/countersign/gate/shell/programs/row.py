"""The form of a row in the tables of programs (docs/gate.md S9 to S11), and the words to write one in.

A row says which options of a program run something, load code, write or change files, and what its operands are. An
allow rule for the program covers none of those options unless its literal part names them; paths are judged as paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from countersign.gate.shell.programs.argv import Attaches, Grammar

Role = Literal[
    "none", "read", "list", "write", "delete", "change", "pattern", "script", "copy", "move", "link", "second",
    "archive", "owner", "remote",
]  # fmt: skip
"""What operands are. ``read``, ``list`` (only names and kinds are looked at), ``write``, ``delete``; ``change``:
read and rewritten. ``pattern`` and ``script``: the first is none of files unless an option gives it, the rest are read.
``copy``, ``move``, ``link``: all but the last are sources. ``second``: the second is written (``uniq in out``).
``archive``: the first is written, the rest read. ``owner``: the first is a mode or owner, the rest are changed."""

EscapeKind = Literal["runs", "code", "writes", "changes"]
Brings = Literal["nothing", "below", "fetched", "named", "here", "tree"]
"""Where a program may put symlinks whose names and targets are not known: nowhere; below the paths that it writes; at
these and below, if a source lies on another machine; at the paths that it writes or moves, and below; there and
anywhere below the folder that it runs in; there and anywhere in the work tree of its repository."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One program, or one of its subcommands. Each row is one of a kind, so that what is found of it can be kept.

    ``escapes`` maps options to what they do. ``reads`` are options whose value is a file that is read, ``given``
    options that stand for the first operand of ``pattern`` and ``script``, or with ``here`` for operands. ``deep`` are
    options that go into folders, ``here``: without operands it looks at the folder it runs in. ``safe`` are options
    that only look like a short form of an escape. ``known`` says that it belongs to the fixed read-only set,
    ``not_known`` options that take it out, and ``without_rule``, if there is any, all options that leave it there, as
    they are spelled (``-NUM`` for a number alone).
    ``closed``: a language of its own, so a rule must name every word; ``reads_input``: commands in it, or code, may
    also come in on its input. ``one_dash``: its long options may be written with one dash as well, beside letters
    (``npm run -script-shell=x``). ``links`` are options by which a copy becomes a link.

    ``brings`` says where symlinks may stand once it has run. ``stays`` are options, or first operands, with which it
    brings none (``*``: whatever there is), ``stays_alone`` options with which it brings none where no operand stands,
    ``anyway`` options with which it does, whatever else there is.
    ``follows`` are options with which it follows symlinks below folders, ``-`` that it always does.
    ``alike`` maps options to all names that they have (``-f --force``). ``listed`` are the options that neither run,
    load nor write, where the record names all that the program has; else it is empty.
    """

    why: str
    grammar: Grammar
    escapes: Mapping[str, EscapeKind]
    reads: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    operands: Role = "none"
    deep: frozenset[str] = frozenset()
    here: bool = False
    safe: frozenset[str] = frozenset()
    known: bool = False
    not_known: frozenset[str] = frozenset()
    without_rule: frozenset[str] = frozenset()
    closed: bool = False
    reads_input: bool = False
    abbreviates: bool = True
    one_dash: bool = False
    links: frozenset[str] = frozenset()
    brings: Brings = "nothing"
    stays: frozenset[str] = frozenset()
    stays_alone: frozenset[str] = frozenset()
    anyway: frozenset[str] = frozenset()
    follows: frozenset[str] = frozenset()
    alike: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    listed: frozenset[str] = frozenset()


def row(
    why: str = "",
    *,
    short: str = "",
    long: str = "",
    single: bool = False,
    ordered: bool = False,
    alone: bool = False,
    flags: str = "",
    maybe: str = "",
    texts: str = "",
    negates: bool = False,
    runs: str = "",
    code: str = "",
    writes: str = "",
    changes: str = "",
    reads: str = "",
    given: str = "",
    operands: Role = "none",
    deep: str = "",
    here: bool = False,
    safe: str = "",
    known: bool = False,
    not_known: str = "",
    without_rule: str = "",
    closed: bool = False,
    reads_input: bool = False,
    abbreviates: bool = True,
    apart: bool = False,
    one_dash: bool = False,
    pairs: str = "",
    words: str = "",
    lone: str = "",
    old_letters: bool = False,
    past_dashes: bool = False,
    attaches: Attaches = "any",
    several: str = "",
    links: str = "",
    brings: Brings = "nothing",
    stays: str = "",
    stays_alone: str = "",
    anyway: str = "",
    follows: str = "",
    alike: str = "",
    listed: str = "",
) -> Program:
    """A row. ``short`` are letters and ``long`` names that take a value; options are written with their dashes.

    ``flags`` (letters in a row, and long options) and ``maybe`` take none as the next word. A row with ``flags`` is
    whole: with ``texts``, ``short``, ``long`` and those of ``reads`` and of the escapes they are all options that the
    program has. ``texts`` are options whose value was looked up and is text: what any other option takes may be a file.
    ``listed`` are the options that neither run, load nor write: with it, and the other lists, the record names all
    options that the program has, and any other counts as code.
    """
    named = f"{texts} {reads} {runs} {code} {writes} {changes}".split()
    valued = texts.split()
    plain, spelled = _split(flags)
    taking = frozenset(long.split()) | {option.lstrip("-") for option in valued if _is_long(option, single=single)}
    if flags:
        spelled |= {"help", "version"} | {
            option.lstrip("-")
            for option in named
            if _is_long(option, single=single) and option.lstrip("-") not in taking
        }
        plain |= {option[1] for option in named if not _is_long(option, single=single)}
    letters = frozenset(short) | {option[1] for option in valued if not _is_long(option, single=single)}
    kinds: Iterable[tuple[EscapeKind, str]] = (
        ("runs", runs),
        ("code", code),
        ("writes", writes),
        ("changes", changes),
    )
    return Program(
        why,
        Grammar(
            letters,
            taking,
            single=single,
            ordered=ordered,
            alone=alone,
            flags=frozenset(plain) - letters,
            names=frozenset(spelled),
            maybe=frozenset(maybe),
            texts=frozenset(valued),
            whole=flags != "",
            negates=negates,
            abbreviates=abbreviates,
            apart=apart,
            pairs=frozenset(pairs.split()),
            words=frozenset(words.split()),
            lone=frozenset(lone.split()),
            old_letters=old_letters,
            past_dashes=past_dashes,
            attaches=attaches,
            several=frozenset(several.split()),
        ),
        {option: kind for kind, options in kinds for option in options.split()},
        frozenset(reads.split()),
        frozenset(given.split()),
        operands,
        frozenset(deep.split()),
        here,
        frozenset(safe.split()),
        known,
        frozenset(not_known.split()),
        frozenset(without_rule.split()),
        closed,
        reads_input,
        abbreviates,
        one_dash,
        frozenset(links.split()),
        brings,
        frozenset(stays.split()),
        frozenset(stays_alone.split()),
        frozenset(anyway.split()),
        frozenset(follows.split()),
        alike_options(alike),
        frozenset(listed.split()),
    )


def alike_options(spelled: str) -> Mapping[str, frozenset[str]]:
    """By each option all names that it has, from groups such as ``-r=-R=--recursive``; of one that stands for several
    (``-D=-d+-f``) these."""
    groups = [frozenset(group.split("=")) for group in spelled.split()]
    found = {option: group for group in groups for option in group if not any("+" in each for each in group)}
    several = (group.split("=") for group in spelled.split() if "+" in group)
    return {**found, **{option: frozenset((parts,)) for option, parts in several}}


def _split(flags: str) -> tuple[set[str], set[str]]:
    """The letters and the long names (without dashes) of a row's flags."""
    letters: set[str] = set()
    names: set[str] = set()
    for each in flags.split():
        if each.startswith("-"):
            names.add(each.lstrip("-"))
        else:
            letters.update(each)
    return letters, names


def _is_long(option: str, *, single: bool) -> bool:
    return option.startswith("--") or single


def same(names: str, program: Program) -> dict[tuple[str, ...], Program]:
    """The same row under several names."""
    return {(name,): program for name in names.split()}
