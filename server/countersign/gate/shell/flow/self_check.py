"""A few dozen texts with what they must be read as, compared once in each process before anything is read.

The parser rests on regular expressions, and their engine differs between Python versions: possessive quantifiers gave
wrong matches until 3.11.5. Where this process reads one text differently from the table, no text counts as understood
(``parse_cache.py``), so nothing is allowed by reading. The tests run the table on every supported Python.
"""

from __future__ import annotations

from functools import cache

from countersign.gate.shell.flow.control_flow import course
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, NotUnderstood, Simple

Read = tuple[str, ...]
"""A simple command: its source, its words (``%`` marks what is only known at run time), its redirections."""

SAMPLES: dict[str, list[Read]] = {
    'git && git': [('git', 'git'), ('git', 'git')],
    'git status': [('git status', 'git', 'status')],
    'cargo build 2>/dev/null': [('cargo build 2>/dev/null', 'cargo', 'build', '>/dev/null')],
    'cargo build 2> /dev/null >> out/log <in': [('cargo build 2> /dev/null >> out/log <in', 'cargo', 'build', '>/dev/null', '>>out/log', '<in')],
    'a 1 2>&1; b 12 | c': [('a 1 2>&1', 'a', '1', '>&1'), ('b 12', 'b', '12'), ('c', 'c')],
    'make -j4 test & wait': [('make -j4 test', 'make', '-j4', 'test'), ('wait', 'wait')],
    'echo \'a b\' "c d" e=f#g': [('echo \'a b\' "c d" e=f#g', 'echo', 'a b', 'c d', 'e=f#g')],
    'echo a\\ b "x\\"y" z\'\'w': [('echo a\\ b "x\\"y" z\'\'w', 'echo', 'a b', 'x"y', 'zw')],
    'echo a;b||c&&d|e': [('echo a', 'echo', 'a'), ('b', 'b'), ('c', 'c'), ('d', 'd'), ('e', 'e')],
    'a>b': [('a>b', 'a', '>b')],
    'a 2>b c': [('a 2>b c', 'a', 'c', '>b')],
    'FOO=bar env make': [('FOO=bar env make', 'env', 'make')],
    '"git" commit -m \'x && rm y\'': [('"git" commit -m \'x && rm y\'', 'git', 'commit', '-m', 'x && rm y')],
    "g'i't log": [("g'i't log", 'git', 'log')],
    'echo $HOME "$x" ${y:-z}': [('echo $HOME "$x" ${y:-z}', 'echo', '%$HOME', '%"$x"', '%${y:-z}')],
    'a $(b `c`) "$(d)"': [('c', 'c'), ('b `c`', 'b', '%`c`'), ('d', 'd'), ('a $(b `c`) "$(d)"', 'a', '%$(b `c`)', '%"$(d)"')],
    'cat <(sort a) >(tee b)': [('sort a', 'sort', 'a'), ('tee b', 'tee', 'b'), ('cat <(sort a) >(tee b)', 'cat', '%<(sort a)', '%>(tee b)')],
    "cat <<'E' && b\nx $(c)\nE\n": [("cat <<'E'", 'cat'), ('b', 'b')],
    'cat <<E\n$(c)\nE\n': [('c', 'c'), ('cat <<E', 'cat')],
    'if a; then b; else c; fi': [('a', 'a'), ('b', 'b'), ('c', 'c')],
    'for x in 1 2; do a "$x"; done': [('a "$x"', 'a', '%"$x"')],
    'while read x; do b; done < in': [('< in', '<in'), ('read x', 'read', 'x'), ('b', 'b')],
    'case $x in a|b) c;; *) d;; esac': [('c', 'c'), ('d', 'd')],
    '(cd sub && make) | tee out': [('cd sub', 'cd', 'sub'), ('make', 'make'), ('tee out', 'tee', 'out')],
    '{ a; b; } > out': [('> out', '>out'), ('a', 'a'), ('b', 'b')],
    'f() { a; }; f': [('a', 'a'), ('f', 'f')],
    '! grep -q x y || exit 1': [('grep -q x y', 'grep', '-q', 'x', 'y'), ('exit 1', 'exit', '1')],
    '[[ -f a && b == c ]] && d': [('[[ -f a && b == c ]]', '-f', 'a', '&&', 'b', '==', 'c'), ('d', 'd')],
    '(( x + 1 )) ; e': [('(( x + 1 ))',), ('e', 'e')],
    'echo a # b; rm c': [('echo a', 'echo', 'a')],
    'a |& b': [('a', 'a'), ('b', 'b')],
    'a &> out': [('a &> out', 'a', '&>out')],
    'a >| out': [('a >| out', 'a', '>|out')],
    'éa --ü=1': [('éa --ü=1', 'éa', '--ü=1')],
    'echo *.py a?b [x]y ~/z {a,b}': [('echo *.py a?b [x]y ~/z {a,b}', 'echo', '%*.py', '%a?b', '%[x]y', '~/z', 'a', 'b')],
    'echo $\'a\\x41\\n\' $"t"': [('echo $\'a\\x41\\n\' $"t"', 'echo', 'aA\n', 't')],
    'x=1 y=$(a) b': [('a', 'a'), ('x=1 y=$(a) b', 'b')],
    'a \\\n  b': [('a   b', 'a', 'b')],
    '1>out a': [('1>out a', 'a', '>out')],
    'git-x 2': [('git-x 2', 'git-x', '2')],
}  # fmt: skip


@cache
def engine_fault() -> str | None:
    """Return why this Python's regular expressions cannot be relied on, or None if every sample is read as it must."""
    return fault_in(SAMPLES)


def fault_in(samples: dict[str, list[Read]]) -> str | None:
    """Return a sentence naming the first sample that is read differently, or None."""
    for text, expected in samples.items():
        try:
            found = [
                (step.command.source, *(word.shape for word in step.command.words), *_redirections(step.command))
                for step in course(read(text)).steps
            ]
        except NotUnderstood:
            found = None
        if found != [tuple(part.replace("%", UNKNOWN_TEXT) for part in command) for command in expected]:
            return f"this Python reads `{text}` differently from bash; run Countersign on another Python version"
    return None


def _redirections(command: Simple) -> list[str]:
    return [redirect.operator + redirect.target.shape for redirect in command.redirects if redirect.heredoc is None]
