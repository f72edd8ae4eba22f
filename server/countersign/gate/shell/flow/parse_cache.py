"""Texts of any size to their courses, kept by the text alone: what one was read as depends on nothing else.

Rules and the disk are asked each time anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from countersign.gate.shell.flow.control_flow import CommandFlow, course
from countersign.gate.shell.flow.self_check import engine_fault
from countersign.gate.shell.printing.judged_values import JudgedValues
from countersign.gate.shell.printing.normal_values import NotPrintable
from countersign.gate.shell.printing.print_tree import printed_form
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood, Script, Variable

MAX_BYTES = 100 * 1024
"""Longer texts are never allowed (S5)."""

MAX_READ = 1_000_000
"""Bytes up to which a text is read properly, so that deny rules see all of it; past this it is only scanned."""

KEEP = 8192
"""Characters up to which a text is kept with what it was read as, so that 1024 of them stay small."""


@dataclass(frozen=True)
class Followed:
    """A text that was read. ``fragments`` are texts inside it that bash does not look at with the whole."""

    course: CommandFlow
    fragments: tuple[str, ...]
    script: Script
    defaults: tuple[Variable, ...] = ()

    @cached_property
    def printed(self) -> str | NotPrintable:
        """The text printed anew from its tree, or why that cannot be done."""
        return self.printed_as(self.script)

    def printed_as(self, script: Script) -> str | NotPrintable:
        """The same of this tree, which may have guards in it."""
        values = self.course.facts.constants()
        texts_inside = any(step.unwrapped.texts for step in self.course.steps)
        return printed_form(script, JudgedValues(values, _judged_values) if values or texts_inside else None)


def _judged_values(text: str) -> JudgedValues:
    found = follow(text)
    values = found.course.facts.constants() if isinstance(found, Followed) else {}
    return JudgedValues(values, _judged_values)


def follow(text: str) -> Followed | str:
    """What a text was read as, or why it was not."""
    if (fault := engine_fault()) is not None:
        return fault
    if "\0" in text:
        return "the text contains NUL"
    if len(text) > MAX_READ:
        return "the text is too long to be read"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "the text contains characters that cannot be shown"
    return _kept(text) if len(text) <= KEEP else _follow(text)


def _follow(text: str) -> Followed | str:
    try:
        reading = read(text)
        return Followed(course(reading), reading.fragments, reading.script, reading.defaults)
    except NotUnderstood as error:
        return str(error)


_kept = lru_cache(maxsize=1024)(_follow)
