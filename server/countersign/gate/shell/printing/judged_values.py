"""Puts the value that a variable was judged to hold in the variable's place, so that the judged value is what runs.

``x=src; cat "$x/a"`` is judged as ``cat src/a``, and is printed as that. Should bash find another value in ``x`` for a
reason that nobody saw (the assignment was skipped, ran later, or in another shell), the program still gets what was
judged. Only variables with one value in the whole text are put in; those of a loop keep their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from countersign.gate.shell.printing.normal_form import merged
from countersign.gate.shell.printing.normal_values import (
    Assigned,
    Block,
    Chained,
    Channel,
    Command,
    Inner,
    List,
    Literal,
    NotPrintable,
    Output,
    Part,
    Parts,
    Piped,
    Prefixed,
    Redirected,
    Statement,
    Test,
    Value,
)

MOST_ADDED = 20_000
"""Characters of values in a text, so that what is printed stays about as long as what was written."""

_ONE_WORD = re.compile(r"[\w./,:@%+=-]+")
"""What bash neither splits nor takes for a pattern where it stands without quotes."""


@dataclass(frozen=True, slots=True)
class JudgedValues:
    """The value of each variable that has one in a text, and how to find those of a text that a shell reads in turn."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    inside: Callable[[str], JudgedValues] | None = None


def with_values(form: List, judged: JudgedValues) -> List:
    """The normal form with values in place of the variables that hold them.

    Raises:
        NotPrintable: the values are too long.
    """
    return _Filling(judged).script(form)


class _Filling:
    def __init__(self, judged: JudgedValues, left: int = MOST_ADDED) -> None:
        self.judged, self.left = judged, left

    def script(self, script: List) -> List:
        return replace(script, statements=tuple(map(self.statement, script.statements)))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Command(assignments=assignments, words=words, redirects=redirects):
                return Command(
                    tuple(map(self.assigned, assignments)),
                    tuple([self.assigned(each) if isinstance(each, Assigned) else self.word(each) for each in words]),
                    self.redirects(redirects),
                )
            case Test(items=items, redirects=redirects):
                filled = tuple(self.word(each) if isinstance(each, str | tuple) else each for each in items)
                return Test(filled, self.redirects(redirects))
            case Prefixed(body=body):
                return replace(statement, body=self.statement(body))
            case Piped(stages=stages):
                return Piped(tuple(map(self.statement, stages)))
            case Chained(first=first, links=links):
                return Chained(self.statement(first), tuple((each, self.statement(link)) for each, link in links))
            case Block(bodies=bodies, redirects=redirects, words=words, patterns=patterns):
                return replace(
                    statement,
                    bodies=tuple(map(self.script, bodies)),
                    redirects=self.redirects(redirects),
                    words=tuple(map(self.word, words)),
                    patterns=tuple(tuple(map(self.word, each)) for each in patterns),
                )
            case _:
                assert_never(statement)

    def assigned(self, assigned: Assigned) -> Assigned:
        value = self.word(assigned.value)
        return replace(assigned, value=() if value == "" else value)

    def redirects(self, redirects: tuple[Redirected, ...]) -> tuple[Redirected, ...]:
        return tuple(replace(each, target=self.word(each.target)) for each in redirects)

    def word(self, word: Parts) -> Parts:
        return word if isinstance(word, str) or not word else merged(self.parts(word))

    def parts(self, parts: tuple[Part, ...]) -> Iterator[Part]:
        for part in parts:
            match part:
                case Value(name=name, quoted=quoted, default=None):
                    value = self.judged.values.get(name)
                    if value is None or not (quoted or _ONE_WORD.fullmatch(value)):
                        yield part
                        continue
                    self.left -= len(value)
                    if self.left < 0:
                        raise NotPrintable("values of variables that are too long to be put in their places")
                    yield Literal(value)
                case Output(script=script) | Channel(script=script):
                    yield replace(part, script=self.script(script))
                case Inner(script=script, text=text):
                    judged = JudgedValues() if self.judged.inside is None else self.judged.inside(text)
                    inner = _Filling(judged, self.left)
                    yield replace(part, script=inner.script(script))
                    self.left = inner.left
                case _:
                    yield part
