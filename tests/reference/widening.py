"""Ways to put something behind a command or around it, and whether the engine's verdict ever gets wider by that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from countersign.gate.decision import STRICTNESS

from .compare import engine_verdict
from .evaluate import Question
from .generate import make_question
from .trees import Trees

APPENDED = (
    "{0}\n{1}",
    "{0}; {1}",
    "{0} && {1}",
    "{0} || {1}",
    "{0} | {1}",
    "{0} & {1}",
    "{1}\n{0}",
    "{1}; {0}",
    "{1} | {0}",
)
WRAPPED = (
    "( {0}\n)", "{{ {0}\n}}", "if true; then {0}\nfi", "if {0}\nthen :; fi", "if true; then :; else {0}\nfi",
    "for i in one; do {0}\ndone", "while {0}\ndo break; done", "until true; do {0}\ndone", "case x in x) {0}\n;; esac",
    "f() {{ {0}\n}}", "! {{ {0}\n}}", "true && {{ {0}\n}}", "{{ {0}\n}} 2>/dev/null", "x=$( {0}\n)", ": \"$( {0}\n)\"",
    ": <( {0}\n)", "[ -n \"$( {0}\n)\" ]", "[[ -n $( {0}\n) ]]", "[[ -n <( {0}\n) ]]", "{0}\n:", "time {{ {0}\n}}",
)  # fmt: skip
FURTHER = (
    "omega", "alpha one", "true", "sudo rm -rf x", "echo hi > /etc/x", "$x", "cat .env", "cd ..", "f() { :; }", "x=1",
    "[ -d src ]", "(x=src)", "false && x=src", "x=src true",
)  # fmt: skip


def strictness(question: Question, *, builtin_reads: bool = True) -> int:
    """How strict the engine is, from 0 for allow. Bash's own word on the syntax only ever makes it stricter."""
    return STRICTNESS[engine_verdict(question, lambda text: None, builtin_reads=builtin_reads)]


def longer(question: Question, form: str, more: str = "") -> Question | None:
    """The question with something added; None where an open quote or the like would swallow it, which is another
    text."""
    added = form.format(question.command, more)
    trees = Trees()
    trees.load([question.command, added])
    whole = trees[question.command] is not None and trees[added] is not None
    return replace(question, command=added) if whole else None


def widenings(seed: int, numbers: range) -> Iterator[str]:
    """Where something added to a command of these numbers widened the verdict."""
    for number in numbers:
        random = Random(f"widening {seed}/{number}")
        question = make_question(seed, number)
        added = longer(question, random.choice((*APPENDED, *WRAPPED)), random.choice(FURTHER))
        if added is not None and strictness(added) < strictness(question):
            yield f"{added.command!r} is wider than {question.command!r}: {question}"
