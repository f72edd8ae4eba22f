"""Random trees of files and random words, expanded by bash and by us (docs/gate.md S4: globs, braces, tilde).

What bash makes of a word must be among what we say that it may mean; and nothing else may be, where no locale matters.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from countersign.gate.patterns import escape_glob, is_exact
from countersign.gate.probes import disk
from countersign.gate.shell.files.word_values import join, meaning, plain_path
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood, Simple, Word
from countersign.gate.shell.variables.bindings import Facts
from tests.patience import PATIENCE

WORDS_OF_A_TREE = 200
_ENDED = b"\1\1"
_NAMES = (
    "a b ab abc A B .a .b .ab .env .git a-b -a a.b a.py x.py ! ^ ] [ [ab] [a] [!a] a* ~ ~a 1 2 12 _ z Z é ' {a,b}"
).split()
_LITERALS = "a b c A Z z 1 2 . - _ ! ^ ] , = é x.py .a a.b }".split()
_QUOTED = "'*' '[' \"]\" '?' \\* \\[ \\] '!' \"a\" '-' \\- '.' \\. '~' '{' \\, '' \"^\" \\a".split()
_INNER = (
    "a b c z A Z 0 9 1 - - ! ^ ] . _ é a-c A-Z a-z 0-9 [:alpha:] [:lower:] [:digit:] [:punct:] [=a=] [.a.] [:no:] [: "
    "[ '-' \"]\" \\a \\]"
).split()
_BRACES = ("{a,b}", "{a,.a}", "{1..3}", "{a..c}", "{*,.*}", "{a,'*'}", "{~,a}", "x{,a}", "{a}", "{2..1}", "{.,..}")


def differences(seed: int, numbers: range) -> Iterator[str]:
    """What is wrong about the pairs of tree and word with these numbers, one sentence each."""
    for first in range(numbers.start, numbers.stop, WORDS_OF_A_TREE):
        count = min(WORDS_OF_A_TREE, numbers.stop - first)
        yield from _of_a_tree(random.Random(f"{seed}:{first}"), count)


def _of_a_tree(chance: random.Random, count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch).resolve()
        folder, home = top / "ws", top / "home"
        for place in (folder, home):
            place.mkdir()
            _plant(place, chance, depth=2)
        words = [random_word(chance) for _ in range(count)]
        for word, expanded in zip(words, by_bash(words, folder, home), strict=True):
            reason = _difference(word, expanded, str(folder), str(home))
            if reason is not None:
                yield f"{word!r} in {sorted(str(path.relative_to(top)) for path in top.rglob('*'))}: {reason}"


def _plant(folder: Path, chance: random.Random, depth: int) -> None:
    for name in chance.sample(_NAMES, chance.randint(2, 9)):
        if depth and chance.random() < 0.4:
            (folder / name).mkdir()
            _plant(folder / name, chance, depth - 1)
        else:
            (folder / name).touch()


def random_word(chance: random.Random) -> str:
    """One word of a command, in which nothing expands but patterns, braces and tildes."""
    word = chance.choice(("", "", "", "", "~/", "~", "./", "../ws/", "'~'/"))
    for segment in range(chance.choice((1, 1, 1, 2, 2, 3))):
        word += "/" if segment else ""
        for _ in range(chance.randint(1, 4)):
            word += _piece(chance)
    return word + chance.choice(("", "", "", "/"))


def _piece(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.35:
        return chance.choice(_LITERALS)
    if kind < 0.6:
        return chance.choice("**?")
    if kind < 0.7:
        return chance.choice(_QUOTED)
    if kind < 0.75:
        return chance.choice(_BRACES)
    inner = "".join(chance.choice(_INNER) for _ in range(chance.randint(1, 4)))
    return f"[{chance.choice(('', '', '!', '^'))}{inner}{chance.choice((']', ']', ']', ''))}"


def by_bash(words: Sequence[str], folder: Path, home: Path) -> list[list[str]]:
    """What bash expands each word to. ``.`` and ``..`` count as names, as in bash before 5.2."""
    script = "shopt -u globskipdots 2>/dev/null\n"
    script += "".join(f"printf '%s\\0' {word}\nprintf '\\1\\1\\0'\n" for word in words)
    done = subprocess.run(
        ["bash", "--norc", "--noprofile"],
        input=script.encode(),
        stdout=subprocess.PIPE,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"},
        check=True,
        timeout=PATIENCE,
    )
    found: list[list[str]] = [[]]
    for text in done.stdout.split(b"\0")[:-1]:
        if text == _ENDED:
            found.append([])
        else:
            found[-1].append(os.fsdecode(text))
    return found[:-1]


def _difference(text: str, expanded: Sequence[str], folder: str, home: str) -> str | None:
    words = _read(text)
    if words is None:
        return None
    ours: set[str] = set()
    exact = True
    for word in words:
        said = by_us(word, folder, home)
        if said is None:
            return None
        ours |= said[0]
        exact = exact and said[1]
    # What bash prints is a path as it is: a tilde that is left means nothing any more.
    theirs = {os.path.normpath(os.path.join(folder, path)) for path in expanded}
    if not theirs <= ours:
        return f"bash makes {sorted(theirs - ours)} of it as well"
    if exact and ours != theirs:
        return f"bash makes no {sorted(ours - theirs)} of it"
    return None


def _read(text: str) -> Sequence[Word] | None:
    """The words that braces make of one."""
    try:
        node = read(f": {text}").script.statements[0]
    except NotUnderstood:
        return None
    assert isinstance(node, Simple)
    assert len(node.words) >= 2, text
    return node.words[1:]


def by_us(word: Word, folder: str, home: str) -> tuple[set[str], bool] | None:
    """The paths that a word may mean, and whether it surely means each of them; None if it may mean any."""
    found = meaning(word, Facts(), home, folder)
    if not found.complete:
        return None
    paths = {join(folder, value, home) for value in found.values}
    exact = "" not in found.values  # bash drops what braces leave empty
    for pattern in found.patterns:
        spelled = f"{escape_glob(home)}{pattern[1:]}" if pattern.startswith("~/") else pattern
        matches = disk.matching(spelled, folder, 10_000)
        assert matches is not None
        sure = is_exact(pattern) and all(match.isascii() for match in matches)
        paths |= {os.path.normpath(os.path.join(folder, match)) for match in matches}
        exact = exact and sure
        if not matches or not sure:
            paths.add(join(folder, plain_path(pattern), home))
    return paths, exact
