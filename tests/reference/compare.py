"""The engine beside the reference evaluator, pair by pair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from countersign.advice.explain import explain, policy_of
from countersign.gate.decision import Decision
from countersign.gate.shell.judge import SyntaxChecker
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.policy import Policy
from countersign.wire.verdicts import Mode, Verdict

from .evaluate import HOME, NAMES_FILES, WORKSPACE, Question, evaluate
from .generate import SIDE, make_question
from .trees import Trees

BLOCKS = 25
_BASH = BashSyntax()


@dataclass(frozen=True)
class Difference:
    question: Question
    engine: str
    reference: str

    def __str__(self) -> str:
        return f"engine {self.engine}, reference {self.reference}: {self.question}"


_READ_OTHERWISE = re.compile(
    r"\|&?(?:\s|\\\n)*time\b|\\\w+\s*\(\s*\)|\b(?:for|select)(?:\s|\\\n)+\\\w|[$<>]\(.*<<|/dev/n(?!ull\b)|cargo.*\.env\b",
    re.DOTALL,
)
"""Behind a pipe bash knows `time` as a program's name only; a function or a loop's variable whose name is quoted is not
understood, nor a here-document in a substitution beside other commands. Of devices and of cargo's files it knows
nothing."""


def differences(seed: int, numbers: range) -> Iterator[Difference]:
    """Where engine and reference disagree about the pairs of these numbers."""
    heap = SIDE * SIDE * BLOCKS
    for start in range(numbers.start, numbers.stop, heap):
        yield from compare([pair(seed, number) for number in range(start, min(start + heap, numbers.stop))])


def pair(seed: int, number: int) -> Question:
    """The pair of that number: the rules of one made question, and the command of another of its block."""
    block, place = divmod(number, SIDE * SIDE)
    policy = make_question(seed, block * SIDE + place // SIDE)
    return replace(policy, command=make_question(seed, block * SIDE + place % SIDE).command)


def compare(questions: Sequence[Question]) -> Iterator[Difference]:
    trees = Trees()
    for question, reference in zip(questions, evaluate(questions, trees), strict=True):
        engine = engine_verdict(question, _no_word_against)
        if engine == "allow" and not agree(engine, reference):
            # Bash's own word on the syntax is asked only where it can matter: it never loosens.
            engine = engine_verdict(question, _BASH)
        # The reference takes shfmt's word for what a text is; what bash does not accept asks.
        refused = _BASH(question.command) is not None
        stricter = engine != "allow" and (refused or _READ_OTHERWISE.search(question.command))
        # Where everything is allowed that is understood, it has no word of its own on what shfmt cannot read.
        free = question.bypass or question.mode == "auto"
        # It does not know Plain Bash either, which only ever turns an allow into an ask.
        asks = "deny" if question.mode == "dontAsk" else "ask"
        # Nor does it follow which files an expansion names; an unknown file only turns an allow into an ask.
        unnamed = NAMES_FILES.search(question.command) is not None and reads_unnamed(question)
        stricter = stricter or (engine == asks and reference == "allow" and (unnamed or not_plain(question)))
        mute = reference == "unsure" and free and not refused and trees.unread(question.command)
        if not agree(engine, reference) and not stricter and not mute:
            yield Difference(question, engine, reference)


def agree(engine: str, reference: str) -> bool:
    """The same, or the reference knows only that nothing may be allowed."""
    return engine == reference or (reference == "unsure" and engine != "allow")


def engine_verdict(question: Question, check_syntax: SyntaxChecker = _BASH, *, builtin_reads: bool = False) -> Verdict:
    return _decision(question, check_syntax, builtin_reads=builtin_reads).verdict


def not_plain(question: Question) -> bool:
    """True if the engine asks because the text is outside Plain Bash, or cannot be printed anew."""
    mode = "default" if question.mode == "dontAsk" else question.mode
    effects = _decision(replace(question, mode=mode), _no_word_against).effects
    return any(effect.evidence.source == "plainBash" for effect in effects)


def reads_unnamed(question: Question) -> bool:
    """True if the engine asks because a file is only known at run time."""
    mode = "default" if question.mode == "dontAsk" else question.mode
    effects = _decision(replace(question, mode=mode), _no_word_against).effects
    return any("only known at run time" in effect.evidence.reason for effect in effects)


def _decision(question: Question, check_syntax: SyntaxChecker, *, builtin_reads: bool = False) -> Decision:
    policy, mode = _policy(replace(question, command=""), builtin_reads)
    asked = {"tool": "bash", "args": {"command": question.command}}
    return explain(asked, policy, mode, check_syntax=check_syntax)


@lru_cache(SIDE)
def _policy(question: Question, builtin_reads: bool) -> tuple[Policy, Mode]:
    """The engine's policy; the same value for all commands of a block, so that its rules are compiled once."""
    return policy_of(
        {
            "rules": {"allow": [*question.allow], "ask": [*question.ask], "deny": [*question.deny]},
            "mode": question.mode,
            "bypass": question.bypass,
            "workspace": WORKSPACE,
            "home": HOME,
            "builtinReads": builtin_reads,
        }
    )


def _no_word_against(text: str) -> str | None:
    return None
