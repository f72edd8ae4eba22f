"""The processor time of a decision grows with the text and no faster, whatever the text repeats and where.

Each atom is repeated in each frame, so that every loop of the lexer, the parser, the tables and the patterns meets a
text that is long for it. Four times the text may take eight times as long (linear: four, quadratic: sixteen). A bench
and no test, because what it compares are times.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from tests.gate.shell.asked import HOME, WS

from countersign.gate.call import RunCommand
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import parse_command, parse_path
from countersign.gate.patterns.name import HostPattern, NamePattern
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.judge import judge_command
from countersign.settings.policy import RuleText

SHORT, LONG, MOST_GROWTH, TRIES = 4_000, 16_000, 8, 4
QUICK = 0.1
"""Seconds of processor time; what takes less is not compared."""

ATOMS = [
    "a", "a-", "a.", "a:", "a[", "a/", "a=", "a,", "a@", "1", "a1", "-", "--", "*", "*a", "?", "[a", "[a]",
    "{", "{a,", "{a}", "a,b}", "\\a", "\\\\", "'a'", '"a"', "''", "$a", "${a}", "$((1", "$(a ", "`a` ", "é",
    "#", "#(", "%", "!", "~", "^", "+", "a ", " -a", " --a=b", " --a b", "a;", "a|", "a&&", "a\n", "(", ")", "<<E\n",
    " >b", " <b", "x=1 ", "++ ", "a++", "load_", "s/a/b/;", "@=", "a]",
    "[[:", "[[", "[]a]", "getline x ", "a* ",
]  # fmt: skip
FRAMES: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "operand": lambda text: f"cat {text}",
    "assigned": lambda text: f"x='$({text.replace(chr(39), '')}'; echo $x",
    "doubly quoted": lambda text: f'echo "{text}"',
    "arithmetic": lambda text: f"echo $(({text}))",
    "test": lambda text: f"[[ {text} ]]",
    "substitution": lambda text: f"echo $({text})",
    "sed's address": lambda text: f"sed '/{text.replace(chr(39), '')}/p'",
    "sed's substitution": lambda text: f"sed 's/{text.replace(chr(39), '')}/x/'",
    "awk's action": lambda text: f"awk '{{print 1{text.replace(chr(39), '')}}}'",
    "here-document": lambda text: f"cat <<E\n{text}\nE\n",
}
PROGRAMS = [
    "git show", "git -c", "curl -F", "rg -g", "rg x -t", "sed",
    "awk", "jq", "find . -name", "chmod", "tmux", "make", "tar -cf x", "dd",
    "python -c", "env -S", "xargs", "bash -c", "bind -x",
    "export", "read", "find . -exec",
    "test -v", "npm test", "cp a", "kubectl cp a:b",
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


def _growth(work: Callable[[int], object]) -> float:
    """How many times as long four times the text takes, in the best of a few tries; 0 for what is always quick."""
    found = float("inf")
    for _ in range(TRIES):
        long = _seconds(lambda: work(LONG))
        if long < QUICK:
            return 0
        found = min(found, long / _seconds(lambda: work(SHORT)))
        if found < MOST_GROWTH:
            break
    return found


_STARS = "a*a" * 30
PATTERNS: dict[str, Callable[[str], object]] = {
    "command": lambda text: parse_command(f"*{_STARS}b").touches((text,)),
    "command, narrow": lambda text: parse_command(f"x{_STARS}b").covers(("x" + text,)),
    "name": lambda text: NamePattern(f"{_STARS}b").matches(text),
    "host": lambda text: HostPattern(f"*.{_STARS}b").matches(f"x.{text}"),
    "path": lambda text: parse_path(f"{'a*' * 8}b").touches((text,)),
    "path, narrow": lambda text: parse_path(f"{'a*' * 8}b").covers((text,)),
}


OPEN_RULES = RuleSet(
    [
        RuleText(listed, f"Bash(*{'*'.join(f'{chr(97 + (number + at) % 26) * 3}{number}{at}' for at in range(7))}*)")
        for number in range(100)
        for listed in ("allow", "deny")
    ]
)


TEXTS, TABLES, RULE, STARRED = (
    "growth of a decision with four times the text",
    "growth of a table with four times the word",
    "growth of a rule's match with four times the text",
    "decision under 200 rules that begin with a star, to one without rules",
)
LIMITS = {TEXTS: MOST_GROWTH, TABLES: MOST_GROWTH, RULE: MOST_GROWTH, STARRED: 2}


def run() -> dict[str, float]:
    words = [atom for atom in ATOMS if not {"'", "\n"} & set(atom)]
    return {
        TEXTS: max(
            _growth(lambda size, atom=atom, frame=frame: _decide(frame(_repeated(atom, size))))
            for atom in ATOMS
            for frame in FRAMES.values()
        ),
        TABLES: max(
            _growth(lambda size, atom=atom, program=program: _decide(f"{program} '{_repeated(atom, size)}'"))
            for program in PROGRAMS
            for atom in words
        ),
        RULE: max(
            _growth(lambda size, atom=atom, match=match: match(_repeated(atom, size)))
            for match in PATTERNS.values()
            for atom in ("a", "aa.", "ab", "aaab")
        ),
        STARRED: _starred(),
    }


def _starred() -> float:
    def work(rules: RuleSet) -> None:
        commands = "\n".join(f"c{number} x{next(_COUNTER)}" for number in range(1_000))
        paths = PathJudge(WS, HOME, (), (), rules, "A")
        judge_command(RunCommand(commands, WS), rules, paths, "A", check_syntax=lambda _: None, builtin_reads=True)

    seconds = [(_seconds(lambda: work(RuleSet([]))), _seconds(lambda: work(OPEN_RULES))) for _ in range(TRIES)]
    return min(with_rules for _, with_rules in seconds) / min(without for without, _ in seconds)
