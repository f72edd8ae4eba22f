"""Known evasions whose words bash makes of variables: none may be allowed for being spelled that way.

Each row of the corpora that asks or is denied and is one command of constant words is spelled with one of its words in
a variable, whole or by halves, in the same text or in one that `bash -c` runs. Of rows that no deny or ask rule
decides, the end of a word is left to a variable of which nothing is known, too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

from tests.corpora import commands, context

from .asked import decide
from .examples import evasions

FORMS = (
    "whole", "chained", "front", "back", "both", "looped", "inside", "inside twice",
    "bare", "made", "made bare", "matched", "matched bare", "input",
)  # fmt: skip
"""How a word is spelled."""

UNKNOWN_REST = frozenset({
    "beta -f@.env", "beta -o .vscode/x", "beta .git/config", "beta x=.env", "sometool --key=.env",
    "cargo add x --path ./../e", "cargo add x --path src/../../e", "docker build --build-arg X=@.env .",
    "gh api x -f a=@.env", "kubectl create configmap x --from-file=a=.env",
    "git config --blob HEAD:.env -l", "git config --blob HEAD:.env secret", "git config --blob=HEAD:.env --list",
    "git checkout HEAD .vscode/tasks.json", "git stash push --pathspec-from-file=.env", "beta --out=/etc/x",
    "git push --repo=foo::bar", "kubectl create secret generic x --from-file=.env", "rspec --deprecation-out=../x",
    "kubectl create secret generic x --from-env-file=.env", "foo a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,.env,v",
    "adb shell rm", "az ssh vm -n x -- rm",
})  # fmt: skip
"""Rows that ask for a name which stands somewhere in a word, and are allowed where the beginning that is known says
nothing of it (docs/known-limitations.md)."""

_CONSTANT = re.compile(r"[\w./:,@%+=^ '-]+")
_BARE = re.compile(r"[\w./:,@%+=^-]+")
_LONGEST = 200


@cache
def rows() -> list[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """The rows that are one command of constant words, with these."""
    found: list[tuple[Mapping[str, Any], tuple[str, ...]]] = []
    for row in (*evasions(), *(row for row in commands() if not row.get("layout"))):
        command = row.get("command")
        if not isinstance(command, str) or row["expect"] == "allow" or len(command) > _LONGEST:
            continue
        # Bash takes what stands in front for an assignment, and rules for a whole text mean that text.
        if not _CONSTANT.fullmatch(command) or "=" in command.split()[0] or "plain_bash" in row:
            continue
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        if len(words) > 1:
            found.append((row, tuple(words)))
    return found


def looser(seed: int, numbers: range) -> Iterator[str]:
    """What is allowed in another spelling only."""
    for number in numbers:
        random = Random(f"respelled {seed}/{number}")
        row, words = random.choice(rows())
        asked = {**row["rules"], **context(row)}
        if decide(" ".join(map(quoted, words)), **asked) == "allow":
            continue
        form = random.choice(FORMS)
        if form.startswith("matched") and not _speaks_of_files(row["rules"]):
            continue  # a pattern that matches nothing is no protected name
        text = respelled(words, random.randrange(1, len(words)), form, random)
        if text is not None and decide(text, **asked) == "allow":
            yield f"{text!r} is allowed, {row['command']!r} is not: {asked}"


def _speaks_of_files(rules: Mapping[str, Sequence[str]]) -> bool:
    return any(rule.startswith(("Read", "Edit")) for listed in ("deny", "ask") for rule in rules[listed])


def unfinished(seed: int, numbers: range) -> Iterator[str]:
    """What is allowed once the end of one of its words is not known."""
    left = [
        (row, words)
        for row, words in rows()
        if row["rules"]["allow"]
        and not (row["rules"]["deny"] or row["rules"]["ask"] or row.get("bypass"))
        and row.get("mode", "default") == "default"
        and row["command"].isascii()
        and row["command"] not in UNKNOWN_REST
    ]
    for number in numbers:
        random = Random(f"unfinished {seed}/{number}")
        row, words = random.choice(left)
        asked = {**row["rules"], **context(row)}
        index = random.randrange(1, len(words))
        if len(words[index]) < 2 or decide(" ".join(map(quoted, words)), **asked) == "allow":
            continue
        known = words[index][: random.randrange(1, len(words[index]))]
        text = " ".join((*map(quoted, words[:index]), quoted(known) + '"$x9"', *map(quoted, words[index + 1 :])))
        if decide(text, **asked) == "allow":
            yield f"{text!r} is allowed, {row['command']!r} is not: {asked}"


ABBREVIATING = frozenset(
    """
    git curl pip pip3 ld ar nm objdump gdb fish scons pnpm npm tar sort sed awk make cp mv ln install rm chmod chown
    grep less wget pylint mypy flake8 virtualenv hg diff xz xargs patch env timeout tee split csplit shuf du date stat
    gzip bzip2 rsync zip cpio python
""".split()
)
"""Programs that take the beginning of a long option for the whole."""


def abbreviated() -> Iterator[str]:
    """What is allowed once the last letters of a long option are left out, for every row and option."""
    for row, words in rows():
        asked = {**row["rules"], **context(row)}
        if words[0] not in ABBREVIATING or decide(" ".join(map(quoted, words)), **asked) == "allow":
            continue
        for index, word in enumerate(words):
            option, equals, value = word.partition("=")
            for length in range(len(option) - 2, len(option)) if _LONG_OPTION.fullmatch(option) else ():
                short = (*words[:index], option[:length] + equals + value, *words[index + 1 :])
                text = " ".join(map(quoted, short))
                if text not in NO_ABBREVIATION and decide(text, **asked) == "allow":
                    yield f"{text!r} is allowed, {row['command']!r} is not: {asked}"


_LONG_OPTION = re.compile(r"--[a-z][a-z-]{3,}")

NO_ABBREVIATION = frozenset({
    "ld --error=./x a.o", "ld --error-=./x a.o", "git push --for", "git push --forc", "curl --con x",
    "xz --fil=x", "xz --file=x", "tar --checkpoint=exec=./y -cf a b", "npm --cac ../x ci", "npm --cach ../x ci",
})  # fmt: skip
"""Texts that mean another option, or could mean several, which the program takes for an error."""


def respelled(words: Sequence[str], index: int, form: str, random: Random) -> str | None:
    """The command with the word at this place spelled so, or None if it is too short for that."""
    word = words[index]
    front = back = ""
    if form in {"front", "back", "both", "made", "made bare"}:
        if len(word) < 2:
            return None
        middle = random.randrange(1, len(word))
        front, back = word[:middle], word[middle:]

    def with_word(spelling: str) -> str:
        return " ".join((*map(quoted, words[:index]), spelling, *map(quoted, words[index + 1 :])))

    assigned, named = f"x9={shlex.quote(word)}", with_word('"$x9"')
    if "bare" in form and _BARE.fullmatch(word) is None:
        return None  # it would be split
    if form.startswith("matched") and (
        "/" not in word or set("=:@,") & set(word) or word[0] in "-/" or _BARE.fullmatch(word) is None
    ):
        return None  # no name that is surely a file's
    if form == "input" and (index != len(words) - 1 or _BARE.fullmatch(word) is None or words[0] in _BUILTINS):
        return None
    match form:
        case "whole":
            return f"{assigned}; {named}"
        case "front":
            return f"x9={shlex.quote(front)}; " + with_word('"$x9"' + quoted(back))
        case "back":
            return f"x9={shlex.quote(back)}; " + with_word(quoted(front) + '"$x9"')
        case "both":
            return f"x9={shlex.quote(front)} y9={shlex.quote(back)}; " + with_word('"$x9$y9"')
        case "looped":
            return f"for x9 in a {shlex.quote(word)}; do {named}; done"
        case "bare":
            return f"{assigned}; " + with_word("$x9")
        case "made":
            return f"x9={shlex.quote(front)}; y9=${{x9}}{quoted(back)}; " + with_word('"$y9"')
        case "made bare":
            return f"x9={shlex.quote(front)}; y9=${{x9}}{quoted(back)}; " + with_word("$y9")
        case "matched":
            return f"for x9 in {word[:-1]}?; do {named}; done"
        case "matched bare":
            return f"for x9 in {word[:-1]}?; do " + with_word("$x9") + "; done"
        case "input":
            return f"echo {word} | xargs " + " ".join(map(quoted, words[:index]))
        case "inside":
            return "bash -c " + shlex.quote(f"{assigned}; {named}")
        case "inside twice":
            texts = (f"x9=a.txt; {named}", f"{assigned}; {named}")
            return "; ".join("bash -c " + shlex.quote(text) for text in texts)
        case _:
            return f"{assigned} && {named}"


_BUILTINS = frozenset("command builtin enable eval exec source . export declare trap shopt set alias".split())
"""What xargs does not run."""


def quoted(word: str) -> str:
    """A word as a text that bash reads as this word."""
    return word if _BARE.fullmatch(word) else shlex.quote(word)
