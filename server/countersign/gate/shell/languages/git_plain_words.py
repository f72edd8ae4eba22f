"""Which words of git's are plain: a closed grammar of revisions and paths (docs/gate.md S9).

git reads a word in many ways, one after the other: as a number, as what ``git describe`` prints, as a date or a search
behind a revision, as a path in one, as a pattern with magic in front. A reader that knows most of them is wrong about
the rest, and then a word that seems to limit what git prints does not. So no command of git's that prints what is in
files goes without a rule unless each of its words has a form of this grammar; its terms are those of `gitrevisions(7)`
and of `gitglossary(7)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.syntax.tree import Word

_PART = r"(?!\.(?:/|\Z))(?:[\w+,=%#$&()@ -]|\.(?!\.))+"
_PATH = rf"(?=.)(?:\.{{1,2}}/)*(?:\.{{1,2}}|/?{_PART}(?:/{_PART})*)?/?"
"""A path without wildcards: it leads upwards only in front, and each folder stands behind one slash."""

_NAME = r"(?:@|[\w+#][\w+#-]*(?:[./@][\w+#-]+)*/?)"
"""The name of a branch, a tag or a commit, or a number. With a slash behind it, git knows no such name."""
_STEP = r"(?:~\d*|\^\d*|\^\{(?:commit|tree)?\}|@\{-?[\w. ]+\})"
"""From a revision to another: a parent, what a tag names, an earlier state, or the branch that it follows."""
_REVISION = rf"(?:{_NAME}|(?=@\{{)){_STEP}*"
_RANGE = rf"\^?{_REVISION}|(?:{_REVISION})?\.\.\.?(?:{_REVISION})?"

_PATTERN = r"(?=[\w.*?\[])(?=.*[*?\[])(?!\.{1,2}/|.*/(?:\.{0,2}/|\.{1,2}\Z))(?:[\w.+,=/ -]|\*|\?|\[[\w.-]+\])+"
_PATHSPEC = rf"{_PATTERN}|:/|:(?:[!^]|\(exclude\))(?=[\w.*?\[])(?:{_PATH}|{_PATTERN})"
"""A pattern from the current folder on, the whole work tree, or files that are left out."""

_IN_COMMIT = _PATH.replace(r"[\w+", r"[][\w+")
"""A path in a revision, where a bracket stands for itself."""
_IN_REVISION = rf"(?!.*-g[0-9a-fA-F]{{4,}}\Z)(?:{_REVISION}:(?:{_IN_COMMIT})?|:(?:[0-3]:)?(?=[\w.]){_PATH})"
"""A path in a revision or in the index, which does not look like a commit that ``git describe`` named."""
_LINES = rf"(?:\d*,[+-]?\d*|\d+|:\w+)(?::{_PATH})?"
"""Lines of a file, as ``-L`` names them."""

_PLAIN = re.compile(rf"|{_PATH}|{_RANGE}|{_PATHSPEC}|{_IN_REVISION}")
_PLAIN_LINES = re.compile(_LINES)


def is_plain(text: str) -> bool:
    """Return whether the text has one of these forms. In time linear in its length."""
    return _matches(_PLAIN, text)


def odd_word(git: Git) -> Word | None:
    """Return the first operand, or value of ``-L``, that has none of these forms; None if all are plain."""
    found = git.arguments
    # The first operand of `git grep` is an expression unless an option gives one.
    free = git.subcommand == "grep" and not found.unrecognized_options and not found.has("-e", "-f")
    operands = [word for _, word in found.operands[free:]]
    if git.subcommand == "grep":
        # Brackets by themselves are options, which join expressions.
        brackets = [word for _, word in found.operands if word.value in {"(", ")"}]
        if brackets:
            return brackets[0]
    odd = (*_unlike(_PLAIN, operands), *_unlike(_PLAIN_LINES, found.valued("-L")))
    return odd[0] if odd else None


def _unlike(form: re.Pattern[str], words: Iterable[Word]) -> Iterator[Word]:
    yield from (word for word in words if word.value is not None and not _matches(form, word.value))


def _matches(form: re.Pattern[str], text: str) -> bool:
    return len(text) <= _LONGEST and form.fullmatch(text) is not None


_LONGEST = 1 << 13
"""Characters of the longest path that a disk takes, twice."""
