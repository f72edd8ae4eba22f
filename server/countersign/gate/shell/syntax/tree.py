"""What a command line is once it has been read: words, redirections, simple commands and what holds them together.

Frozen values only; of which a text has one for each word are named tuples, which are made in a fifth of the time.
``parser.py`` makes them, ``flow/control_flow.py`` walks them; nothing here knows rules, paths or the disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

UNKNOWN_TEXT = "\x02"
"""Stands in a word's shape for what is not known before it runs. It cannot occur in a text that may be shown."""

Form = Literal["constant", "pattern", "quoted", "split"]
"""``constant``: one word, known. ``pattern``: pathname or brace patterns only. ``quoted``: one word, not known.
``split``: none, one or many words."""


class NotUnderstood(Exception):
    """The text cannot be read (docs/gate.md S5); the message is one sentence for the card."""


class Text(NamedTuple):
    """Characters that stand for themselves."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Glob:
    """Unquoted pattern characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Formula:
    """Text that bash evaluates as arithmetic. ``unknown`` says that its own text is not known before it runs."""

    names: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """``$x``, ``${x}``, ``$1``, ``$?``, and ``${x…}`` with an operator.

    ``formula`` is a subscript or offset, ``assigns`` is ``${x:=word}``, ``length`` is ``${#x}``. ``evaluates`` says
    that the value itself is read as code of some kind (``${!x}``, ``${x@P}``). ``words`` are the operator's words,
    ``operator`` is the operator itself where it takes a word.
    """

    name: str
    quoted: bool
    plain: bool = True
    formula: Formula | None = None
    assigns: bool = False
    length: bool = False
    evaluates: bool = False
    words: tuple[Word, ...] = ()
    operator: str = ""

    @property
    def default(self) -> str | None:
        """What ``${x:-word}`` is where ``x`` has no value, if that is constant."""
        if self.operator in {":-", "-"} and len(self.words) == 1 and self.formula is None and not self.evaluates:
            return self.words[0].value
        return None

    @property
    def held(self) -> str | None:
        """The name under which it is known what this may be (``Facts.values``): its own, or for ``${x:-word}`` one that
        no variable has. None where nothing tells: it is worked out of what the variable holds."""
        if self.plain:
            return self.name
        default = self.default
        return None if default is None else f"{self.name}{self.operator}{default}"


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(…)`` or backquotes. ``constant`` is its output where that is known (a quoted heredoc through ``cat``)."""

    script: Script
    quoted: bool
    constant: str | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """``<(…)``, or ``>(…)`` where ``writes``."""

    script: Script
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((…))``; ``text`` is what stands between the parentheses, as written."""

    formula: Formula
    quoted: bool
    scripts: tuple[Script, ...] = ()
    text: str = ""


Piece = Text | Glob | Variable | Substitution | Process | Arithmetic


class Word(NamedTuple):
    """One word as written, and as much as is known of what it becomes.

    ``value`` is the normal form (S4) of a constant word, ``prefix`` the constant text that it surely begins with,
    ``shape`` what rules are compared with: the value, or a hole and the source, which no literal equals.
    ``choices`` are the words that braces expand to. ``tilde``: an unquoted ``~`` or ``~/`` stands at the front.
    ``bare``: written without any quoting, so that it can be a reserved word.
    """

    source: str
    pieces: tuple[Piece, ...]
    form: Form
    value: str | None
    prefix: str
    shape: str
    tilde: bool = False
    bare: bool = True
    choices: tuple[str, ...] = ()
    scripts: tuple[Script, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name=value``, ``name+=value``, ``name[subscript]=value``, ``name=(…)``."""

    name: str
    source: str
    value: Word | None = None
    items: tuple[Word, ...] | None = None
    formula: Formula | None = None
    scripts: tuple[Script, ...] = ()
    appends: bool = False

    @property
    def plain(self) -> str | None:
        """The constant that is assigned, or None."""
        if self.items is not None or self.formula is not None or self.appends:
            return None
        return "" if self.value is None else self.value.value


@dataclass(slots=True, unsafe_hash=True)
class Heredoc:
    """The text between the delimiters. ``word`` carries what expands in it; it is constant if the delimiter is quoted.

    Made where its operator stands and filled in once, when the reader comes to the newline behind it; frozen from then
    on.
    """

    body: str | None = None
    word: Word | None = None

    @property
    def scripts(self) -> tuple[Script, ...]:
        return self.word.scripts if self.word is not None else ()


class Redirect(NamedTuple):
    """One redirection. ``operator`` without descriptor; ``heredoc`` for ``<<``; ``variable`` for ``{name}>``;
    ``descriptor`` is the number in front of the operator, empty if there is none."""

    operator: str
    target: Word
    source: str
    heredoc: Heredoc | None = None
    variable: str | None = None
    descriptor: str = ""


SimpleKind = Literal["command", "test", "arithmetic"]


class Simple(NamedTuple):
    """A simple command. ``test`` is ``[[ … ]]`` (its words without the brackets), ``arithmetic`` is ``(( … ))``."""

    source: str
    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    kind: SimpleKind = "command"
    formula: Formula | None = None
    scripts: tuple[Script, ...] = ()
    declared: tuple[Assignment, ...] = ()
    """What ``export`` and its like assign in their arguments, which are among the words too."""
    plain: bool = False
    """Constant words that were written without anything to expand, and redirections to such bare words; nothing else.
    False may be said of any."""


class Pipeline(NamedTuple):
    """``a | b``; ``errors`` says that a ``|&`` is among its operators."""

    stages: tuple[Node, ...]
    errors: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    body: Node


@dataclass(frozen=True, slots=True)
class Timed:
    """The reserved word ``time`` in front of a pipeline; ``options`` says that options follow it."""

    body: Node
    options: bool = False


class Chain(NamedTuple):
    """``a && b || c``: ``links`` are (operator, node) after the first."""

    first: Node
    links: tuple[tuple[Literal["&&", "||"], Node], ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A list of statements. ``background`` holds the indexes of those ended by ``&``, ``line_ends`` of those after
    which a line ends."""

    statements: tuple[Node, ...]
    background: frozenset[int] = frozenset()
    line_ends: frozenset[int] = frozenset()


CompoundKind = Literal["group", "subshell", "if", "loop", "case", "function", "coproc"]


@dataclass(frozen=True, slots=True)
class Compound:
    """A compound command.

    ``bodies`` of an ``if``: condition, then-part, condition, …, else-part if there is one; of a ``loop``: condition
    (``while``, ``until``) and body; of a ``case``: its branches. ``name`` is the loop's variable or the function's
    name, ``words`` the list of a ``for``, or the subject and patterns of a ``case``; ``listed`` tells a ``for`` with
    ``in``. ``formulas`` are those of ``for ((…))``. ``keyword`` tells the loops apart. ``endings`` are what ends each
    branch of a ``case`` and the number of its patterns.
    """

    kind: CompoundKind
    source: str
    bodies: tuple[Script, ...]
    redirects: tuple[Redirect, ...] = ()
    words: tuple[Word, ...] = ()
    name: str | None = None
    listed: bool = False
    formulas: tuple[Formula, ...] = ()
    scripts: tuple[Script, ...] = ()
    keyword: str = ""
    endings: tuple[tuple[str, int], ...] = ()


Node = Simple | Pipeline | Not | Timed | Chain | Compound


@dataclass(frozen=True, slots=True)
class Reading:
    """A text and what it was read as. ``fragments`` are texts that bash should check by themselves (S5), ``defaults``
    its expansions with a constant default."""

    text: str
    script: Script
    fragments: tuple[str, ...] = field(default=())
    defaults: tuple[Variable, ...] = field(default=())
