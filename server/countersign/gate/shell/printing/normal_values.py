"""The values of a normal form: what bash would do, without how it was written.

``normal_form`` makes them of syntax trees, ``print_tree`` prints them. They are dataclasses, not tuples, so that values
of two classes never compare equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class NotPrintable(Exception):
    """The tree holds something that cannot be printed with the same meaning; the message names it."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal beside other parts. A word that is one literal is a plain string (``Parts``)."""

    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """``*``, ``?`` or a bracket expression of literal characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Home:
    """A leading ``~/``, or ``~`` alone."""

    slash: bool


@dataclass(frozen=True, slots=True)
class Value:
    """``${name}``, or ``${name:-default}``."""

    name: str
    quoted: bool
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    script: List
    quoted: bool


@dataclass(frozen=True, slots=True)
class Sum:
    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Channel:
    """``<(…)``."""

    script: List


@dataclass(frozen=True, slots=True)
class Inner:
    """A literal word that a shell reads as a text in turn (``bash -c TEXT``). ``text`` is how it was written."""

    script: List
    text: str = field(default="", compare=False)


Part = Literal | Pattern | Home | Value | Output | Sum | Channel | Inner
Parts = str | tuple[Part, ...]
"""A word: its text where it is one literal, which nearly all words are, else its parts."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """``name=value``, before a command or as an argument of ``export``."""

    name: str
    value: Parts


@dataclass(frozen=True, slots=True)
class Redirected:
    """``descriptor`` is empty where it is the operator's own."""

    operator: str
    descriptor: str
    target: Parts


@dataclass(frozen=True, slots=True)
class Command:
    assignments: tuple[Assigned, ...]
    words: tuple[Parts | Assigned, ...]
    redirects: tuple[Redirected, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """``&&``, ``-f``, ``==`` and their like in ``[[ … ]]``."""

    text: str


@dataclass(frozen=True, slots=True)
class Test:
    """``[[ … ]]``."""

    items: tuple[Parts | Operator, ...]
    redirects: tuple[Redirected, ...]


@dataclass(frozen=True, slots=True)
class Prefixed:
    """``!`` or ``time`` in front of a pipeline."""

    keyword: str
    body: Statement


@dataclass(frozen=True, slots=True)
class Piped:
    stages: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Chained:
    first: Statement
    links: tuple[tuple[str, Statement], ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A compound command: its keyword, its lists, and for ``for`` and ``case`` its name, words and patterns."""

    keyword: str
    bodies: tuple[List, ...]
    redirects: tuple[Redirected, ...]
    name: str = ""
    words: tuple[Parts, ...] = ()
    patterns: tuple[tuple[Parts, ...], ...] = ()


Statement = Command | Test | Prefixed | Piped | Chained | Block


@dataclass(frozen=True, slots=True)
class List:
    """Statements; the indexes of those in the background, and at top level of those after which a line ends: after an
    expansion error bash skips the rest of the line only."""

    statements: tuple[Statement, ...]
    background: frozenset[int]
    line_ends: frozenset[int]
