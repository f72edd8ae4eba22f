"""Words by which a command takes back an option that an allow rule names.

``Bash(git push --dry-run:*)`` is about trying, so it does not cover ``git push --dry-run --no-dry-run``, and
``Bash(kubectl -n staging delete:*)`` not ``kubectl -n staging delete pod x -n prod``: the last of the two counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.patterns import CommandPattern

_OFF = frozenset({"false", "0", "no", "off", "none", "never", "null"})
_ON = frozenset({"true", "1", "on"})

_MEANT = {"-n": "dry-run"}
"""Letters that stand for the same in most programs, with the long name that may take them back."""


def taken_back(pattern: CommandPattern, words: Sequence[str]) -> str | None:
    """Return the word of a command that takes back, or sets anew, an option which the rule that covers it names."""
    options = pattern.options
    if not options or pattern.exact:
        return None
    known = len(pattern.literal_prefix)
    if 0 < known < len(words) and words[known].lower() in _OFF and words[known - 1] == options[-1][0]:
        return words[known]
    for index in range(known, len(words)):
        word = words[index]
        following = words[index + 1] if index + 1 < len(words) else ""
        if word[:1] == "-" and any(_is_against(word, following, *option) for option in options):
            return word
    return None


def _is_against(word: str, following: str, option: str, value: str | None) -> bool:
    """Whether a word, with the one behind it, says otherwise than this option of the rule with this value."""
    name, equals, given = word.partition("=")
    bare, wanted = name.lstrip("-"), option.lstrip("-")
    long = name.startswith("--") and len(bare) > 1
    alike = _spelled(bare) == _spelled(wanted) and (len(bare) > 1 or name in {option, f"-{option}"})
    if alike or (long and wanted.startswith(bare)):
        if equals:
            return given != value and (value is not None or given.lower() not in _ON)
        return following.lower() in _OFF if value is None else following != value
    short = len(option) == len("-n") and value is not None
    if short and name.startswith(option) and word[2:] not in {value, f"={value}"}:
        return True
    if short and word[1:2].isupper() and word[2:3] == option[1]:
        return True  # behind another letter, which is likely to take no value (`-Rn prod`)
    return any(_negates(bare, each) for each in _names(option, wanted))


def _names(option: str, wanted: str) -> Iterator[str]:
    yield wanted
    if option in _MEANT:
        yield _MEANT[option]


def _negates(bare: str, wanted: str) -> bool:
    """Whether a long option, abbreviated or not, is the opposite of another, in whatever letters. Some parsers take
    several `no-` for as many turns."""
    if bare == wanted:
        return False
    plain, meant = _NEGATIONS.sub("", bare.lower()), _NEGATIONS.sub("", wanted.lower())
    negated = plain != bare.lower() or (meant != wanted.lower() and plain == meant)
    return (negated and plain != "" and meant.startswith(plain)) or bare.lower() == f"no{wanted.lower()}"


def _spelled(name: str) -> str:
    """The name of an option as programs compare it that know it in several spellings."""
    return name.replace("-", "").replace("_", "").lower() if len(name) > 1 else name


_NEGATIONS = re.compile(r"(?:no-)+")
