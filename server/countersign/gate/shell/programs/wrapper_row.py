"""The form of a row in the tables of programs that run another program named in their words (RULES.md S7).

``clear`` rows are looked through for allow as well; ``runner`` rows (package runners) are covered by a rule whose
literal words reach into the inner command; all others are looked through for deny and ask only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from countersign.gate.shell.programs.argv import Grammar

Kind = Literal["clear", "runner", "closed"]
Tail = Literal["command", "text", "operands"]
"""How the words behind the options are run: as a command, joined and read by a shell, or not at all."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """``skip`` operands stand in front of the command, ``assigns`` says that ``NAME=value`` may too. ``texts`` are
    options whose value a shell reads, ``commands`` those whose value is a command. ``bare``: looked through for allow
    only without any option. ``words`` are subcommands in front; ``dashes``: the command begins behind ``--``.
    ``writes`` are options whose value is a file that the wrapper itself writes; ``into``: its first operand is one."""

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
) -> Wrapper:
    grammar = Grammar(frozenset(short), frozenset(long.split()), single=single, ordered=not permutes)
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
    )


RUNS = "it runs the command in its arguments"
RIGHTS = "it runs the command with other rights"
SHELL = "it passes its arguments to a shell"
TRACE = "it runs the command and watches it"
PLACE = "it runs the command in other surroundings"
FAR = "it runs the command on another machine or in a container"
PACKAGE = "it runs a program of a package, and may fetch it first"
