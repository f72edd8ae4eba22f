"""The time of a decision grows with the text and no faster, whatever the text repeats and where.

Each atom is repeated in each frame, so that every loop of the lexer, the parser, the tables and the patterns meets a
text that is long for it. Four times the text may take eight times as long (linear: four, quadratic: sixteen).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import parse_command, parse_path
from countersign.gate.patterns.name import HostPattern, NamePattern
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.judge import judge_command
from countersign.settings.policy import RuleText

from .asked import HOME, WS

SHORT, LONG, MOST_GROWTH, TRIES = 4_000, 16_000, 8, 4
QUICK = 0.1
"""Seconds of processor time; what takes less is not compared."""

ATOMS = [
    "a", "a-", "a.", "a:", "a[", "a/", "a=", "a,", "a@", "1", "a1", "-", "--", "*", "*a", "?", "[a", "[a]",
    "{", "{a,", "{a}", "a,b}", "\\a", "\\\\", "'a'", '"a"', "''", "$a", "${a}", "$((1", "$(a ", "`a` ", "é",
    "#", "#(", "%", "!", "~", "^", "+", "a ", " -a", " --a=b", "a;", "a|", "a&&", "a\n", "(", ")", "<<E\n",
    " >b", " <b", "x=1 ", "++ ", "a++", "load_", "s/a/b/;", "@=", "a]",
]  # fmt: skip
FRAMES: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "operand": lambda text: f"cat {text}",
    "assigned": lambda text: f"x='$({text.replace(chr(39), '')}'; echo $x",
    "doubly quoted": lambda text: f'echo "{text}"',
    "arithmetic": lambda text: f"echo $(({text}))",
    "test": lambda text: f"[[ {text} ]]",
    "substitution": lambda text: f"echo $({text})",
    "here-document": lambda text: f"cat <<E\n{text}\nE\n",
}
PROGRAMS = [
    "git show", "git -c", "curl -F", "rg -g", "rg x -t", "sed",
    "awk", "jq", "find . -name", "chmod", "tmux", "make", "tar -cf x", "dd",
    "python -c", "env -S", "xargs", "bash -c", "bind -x",
    "export", "read", "find . -exec",
    "test -v",
]  # fmt: skip
RULES = RuleSet(
    [RuleText("allow", f"Bash({'ab*' * 8}{number}:*)") for number in range(20)]
    + [RuleText("deny", f"Bash(*{'a*a' * 7}{number})") for number in range(20)]
    + [RuleText("deny", f"Read(**/{'a*a' * 7}{number})") for number in range(20)]
)


_COUNTER = itertools.count()


def _repeated(atom: str, size: int) -> str:
    """About so many characters, never the same text twice in a row: readings are cached."""
    return atom * (size // len(atom) + next(_COUNTER) % 97)


def _decide(text: str) -> None:
    paths = PathJudge(WS, HOME, (), (), RULES, "A")
    judge_command(RunCommand(text, WS), RULES, paths, "A", check_syntax=lambda _: None, builtin_reads=True)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _grows(work: Callable[[int], object]) -> str | None:
    """What is wrong with the growth, after the best of a few tries; None if nothing is."""
    said = None
    for _ in range(TRIES):
        long = _seconds(lambda: work(LONG))
        if long < QUICK or long < MOST_GROWTH * (short := _seconds(lambda: work(SHORT))):
            return None
        said = f"{short:.3f} s, then {long:.3f} s"
    return said


@pytest.mark.parametrize("atom", ATOMS)
def test_a_decision_takes_time_in_proportion_to_the_text(atom: str) -> None:
    slow = {}
    for name, frame in FRAMES.items():
        found = _grows(lambda size, frame=frame: _decide(frame(_repeated(atom, size))))
        if found is not None:
            slow[name] = found
    assert slow == {}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_table_takes_time_in_proportion_to_the_words(program: str) -> None:
    slow = {}
    for atom in ATOMS:
        if not {"'", "\n"} & set(atom):
            found = _grows(lambda size, atom=atom: _decide(f"{program} '{_repeated(atom, size)}'"))
            if found is not None:
                slow[atom] = found
    assert slow == {}


_STARS = "a*a" * 30
PATTERNS: dict[str, Callable[[str], object]] = {
    "command": lambda text: parse_command(f"*{_STARS}b").touches((text,)),
    "command, narrow": lambda text: parse_command(f"x{_STARS}b").covers(("x" + text,)),
    "name": lambda text: NamePattern(f"{_STARS}b").matches(text),
    "host": lambda text: HostPattern(f"*.{_STARS}b").matches(f"x.{text}"),
    "path": lambda text: parse_path(f"{'a*' * 8}b").touches((text,)),
    "path, narrow": lambda text: parse_path(f"{'a*' * 8}b").covers((text,)),
}


@pytest.mark.parametrize("kind", PATTERNS)
@pytest.mark.parametrize("atom", ["a", "aa.", "ab", "aaab"])
def test_a_rule_is_matched_in_time_in_proportion_to_the_text(kind: str, atom: str) -> None:
    assert _grows(lambda size: PATTERNS[kind](_repeated(atom, size))) is None


OPEN_RULES = RuleSet(
    [
        RuleText(listed, f"Bash(*{'*'.join(f'{chr(97 + (number + at) % 26) * 3}{number}{at}' for at in range(7))}*)")
        for number in range(100)
        for listed in ("allow", "deny")
    ]
)


def test_rules_that_begin_and_end_with_a_star_cost_little_for_each_command() -> None:
    def work(rules: RuleSet) -> None:
        commands = "\n".join(f"c{number} x{next(_COUNTER)}" for number in range(1_000))
        paths = PathJudge(WS, HOME, (), (), rules, "A")
        judge_command(RunCommand(commands, WS), rules, paths, "A", check_syntax=lambda _: None, builtin_reads=True)

    seconds = [(_seconds(lambda: work(RuleSet([]))), _seconds(lambda: work(OPEN_RULES))) for _ in range(TRIES)]
    assert min(with_rules for _, with_rules in seconds) < 2 * min(without for without, _ in seconds)
