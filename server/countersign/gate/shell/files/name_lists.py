"""Programs that read the names of files out of a list: from the file that an option names, or from their input.

``tar -T list`` and ``zip a.zip -@ < list`` open files that no word of the command names, so that a rule for files could
speak of any of them. Which names a list holds is only known
where the text of the command writes it to the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.syntax.tree import Word


class Lists(NamedTuple):
    """How a program is given a list (the facet ``lists`` of its record). ``named``: long options whose value names a
    file that holds it, which may be abbreviated unless they are ``others``, options of their own; ``letters``: short
    ones, also among several, with ``old_letters`` also without a dash. ``fed``: words by which the input is one.
    ``at``: a word that begins with `@` names one. ``always``: without such a word too, unless one of ``unless`` is
    given. ``from_here``: a listed name is a path from here, as long as no word moves the program elsewhere."""

    named: Sequence[str] = ()
    letters: str = ""
    old_letters: bool = False
    fed: Sequence[str] = ()
    others: Sequence[str] = ()
    at: bool = False
    always: bool = False
    unless: Sequence[str] = ()
    from_here: bool = False


_IN_WORDS = frozenset({"named", "fed", "others", "unless"})
LISTS: Mapping[str, Lists] = {
    key[0]: Lists(**{name: value.split() if name in _IN_WORDS else value for name, value in fields.items()})
    for key, fields in FACETS["lists"].items()
}
_READS_NO_NAMED_FILE = frozenset({
    "check-attr", "check-ignore", "check-mailmap", "for-each-ref", "hash-object", "name-rev", "update-ref",
})  # fmt: skip
"""Commands of git whose ``--stdin`` is the contents of one file, or names of which no file is read."""
_MOVES = re.compile(r"-\w*[CD]|--(?:d|cd)")
_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


def _cluster(letters: str, text: str) -> re.Match[str] | None:
    """The word if one of these letters stands in it as an option: its dash, and what stands behind the letter."""
    # Some programs go on behind a letter that they do not know, whatever it is.
    return re.match(rf"(?:(-)(?!-)[^{letters}]*|\w*)[{letters}](.*)", text, re.DOTALL)


def takes_list_by_mark(name: str) -> bool:
    """Whether a word of this program that begins with `@` names a list."""
    return name in LISTS and LISTS[name].at


def read_lists(name: str, words: Sequence[Word], subcommand: str | None) -> Iterator[bool]:
    """Yield for each list of files that a command reads whether it surely is what comes in on its input."""
    lists = LISTS.get(name)
    if lists is None:
        return
    texts = [word.prefix for word in words[1:]]
    moved = any(_MOVES.match(text) for text in texts) or (lists.old_letters and any("C" in text for text in texts[:1]))
    counts_from_here = lists.from_here and not moved
    if lists.always and not any(_is_one_of(text, lists.unless) for text in texts):
        yield counts_from_here
    for index, text in enumerate(texts):
        front, equals, value = text.partition("=")
        if _is_given(front, lists.fed):
            if not (text == "--stdin" and subcommand in _READS_NO_NAMED_FILE):
                yield counts_from_here
        elif _is_given(front, lists.named) and front not in lists.others:
            yield counts_from_here and _value(words, index + 1, value if equals else None) in _INPUT
        elif lists.at and re.match(r"(?:-[^@\s]*)?@.", text):
            yield False
        elif lists.letters and (cluster := _cluster(lists.letters, text)):
            # Old options of tar need no dash, and their values come behind all of them.
            if cluster[1]:
                value = _value(words, index + 1, cluster[2] or None)
                yield counts_from_here and ("@" in lists.letters or value in _INPUT)
            elif index == 0 and lists.old_letters:
                yield False


def _is_given(text: str, options: Sequence[str]) -> bool:
    """Whether a word is one of these options, or short for one with two dashes."""
    return text in options or (len(text) > 2 and text[:2] == "--" and any(each.startswith(text) for each in options))


def _value(words: Sequence[Word], index: int, attached: str | None) -> str | None:
    """What the option at this place is given, None where that is not known."""
    if words[index].value is None:
        return None
    if attached is not None:
        return attached
    return words[index + 1].value if index + 1 < len(words) else None


def _is_one_of(text: str, options: Sequence[str]) -> bool:
    """Whether a word is one of these options, or several letters with one of them."""
    return text in options or any(
        len(option) == 2 and re.fullmatch(r"-[a-zA-Z]+", text) is not None and option[1] in text for option in options
    )


MOST_LISTED = 50
"""Names of one list that are judged one by one; a longer list counts as not known."""
_NAME = re.compile(r"[\w./@+,=%~ -]*[\w./@+,=%~-]", re.ASCII)
_BETWEEN = re.compile(r"[\n\0]|\\0|\\n")


def listed_in(texts: Sequence[str]) -> tuple[list[str], bool]:
    """Return the names that a list holds as it comes in, and whether that is all of them, to the letter."""
    names = list(dict.fromkeys(part for text in texts for part in _BETWEEN.split(text) if part))
    # To git, what stands behind the colon of a commit is a file.
    names = list(dict.fromkeys(part for name in names for part in (name, name.rpartition(":")[2]) if part))
    plain = all(_NAME.fullmatch(name) and name[0] not in "-~ " for name in names)
    return names[:MOST_LISTED], plain and len(names) <= MOST_LISTED
