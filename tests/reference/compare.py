"""The engine beside the reference evaluator, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from countersign.gate.check import explain, policy_of
from countersign.gate.shell.syntax import BashSyntax

from .evaluate import Question, evaluate
from .generate import make_question
from .trees import Trees

HEAP = 400
_BASH = BashSyntax()


@dataclass(frozen=True)
class Difference:
    question: Question
    engine: str
    reference: str


def differences(seed: int, numbers: range) -> Iterator[Difference]:
    """Where engine and reference disagree about the pairs of a seed."""
    for start in range(numbers.start, numbers.stop, HEAP):
        questions = [make_question(seed, number) for number in range(start, min(start + HEAP, numbers.stop))]
        yield from compare(questions)


def compare(questions: Sequence[Question]) -> Iterator[Difference]:
    for question, reference in zip(questions, evaluate(questions, Trees()), strict=True):
        engine = engine_verdict(question)
        if engine == "allow" and not agree(engine, reference):
            # Bash's own word on the syntax is asked only where it can matter: it never loosens.
            engine = engine_verdict(question, _BASH)
        if not agree(engine, reference):
            yield Difference(question, engine, reference)


def agree(engine: str, reference: str) -> bool:
    """The same, or the reference knows only that nothing may be allowed."""
    return engine == reference or (reference == "unsure" and engine != "allow")


def engine_verdict(question: Question, check_syntax=lambda text: None) -> str:
    asked = {
        "tool": "bash",
        "args": {"command": question.command},
        "rules": {"allow": [*question.allow], "ask": [*question.ask], "deny": [*question.deny]},
        "mode": question.mode,
        "bypass": question.bypass,
        "workspace": question.workspace,
        "home": question.home,
        "builtinReads": False,
    }
    policy, mode = policy_of(asked)
    return explain(asked, policy, mode, check_syntax=check_syntax).verdict
