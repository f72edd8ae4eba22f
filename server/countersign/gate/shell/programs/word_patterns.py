"""Words that do more than they look like, told by how they are spelled (docs/gate.md S9): facets ``escaping_words`` and
``project_paths``.

For programs whose options hold their value after a colon or in the name itself, and for operands that name code
elsewhere; and words of build and test tools whose place matters, because what lies there is run or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from countersign.gate.shell.programs.tables import FACETS, Key
from countersign.gate.shell.syntax.tree import Word

SPELLED: Mapping[Key, tuple[re.Pattern[str], str]] = {
    key: (re.compile(fields["pattern"]), fields["why"]) for key, fields in FACETS["escaping_words"].items()
}
"""By the program's name, or with its subcommand: a pattern for the beginning of a word, and what such a word does."""

SAID_BY: Mapping[Key, tuple[str, ...]] = {
    key: tuple(fields.get("said_by", "").split()) for key, fields in FACETS["escaping_words"].items()
}
"""By the same keys: words of a rule that name what such words do, beside the words themselves."""

UNFINISHED: Mapping[Key, re.Pattern[str]] = {
    key: re.compile(fields.get("unfinished", fields["pattern"])) for key, fields in FACETS["escaping_words"].items()
}
"""By the same keys: a pattern for words whose end is only known at run time."""

OUTSIDE: Mapping[Key, tuple[str, str, str]] = {
    key: ("operands" if fields.get("operands") else "", fields.get("options", ""), fields.get("written", ""))
    for key, fields in FACETS["project_paths"].items()
}
"""Programs that run or write what lies where these words say: ``operands``, and the values of options. A rule for the
program means the project, so what is spelled as a path and lies outside of it asks
(docs/gate.md "Outside the workspace"). Last those options whose value is a file or folder that is written."""


SPELLED_PROGRAMS, OUTSIDE_PROGRAMS = (frozenset(key[0] for key in table) for table in (SPELLED, OUTSIDE))
"""The programs that these tables have rows of."""

_WITH_SECOND = frozenset(key[0] for table in (SPELLED, OUTSIDE) for key in table if len(key) > 1)


def keys_of(name: str, words: Sequence[Word], table: Mapping[Key, object]) -> Sequence[Key]:
    """The keys of a table that speak of these words: that of a subcommand right behind the name alone; where options
    stand in front, whose values look like subcommands, those of all words that may be one, beside the program's."""
    own = ((name,),) if (name,) in table else ()
    if name not in _WITH_SECOND or len(words) < 2:
        return own
    if (name, words[1].value) in table:
        return ((name, words[1].value or ""),)
    if words[1].value is not None and words[1].value[:1] not in {"-", "+"}:
        return own
    found = dict.fromkeys((name, word.value or "") for word in words[1:])
    return (*own, *(key for key in found if key in table))
