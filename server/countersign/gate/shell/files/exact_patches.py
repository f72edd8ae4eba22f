"""Patches in one form that all readers take apart alike, so that the names in their headers are all that is changed.

``git apply <<'EOF'`` writes where the text says. Programs that apply patches guess: they take other formats, indented
ones, prose around them and scripts for an editor. Here only unified diffs of plain files count, each with one name in
its headers, and with hunks that are as long as they say. Which files these are is found by ``patched_files.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.syntax.tree import Redirect

_PART = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.+@-]+"
_NAME = rf"{_PART}(?:/{_PART}){{0,14}}"
"""As many folders as ``patched_files.py`` takes away in front of a name."""
_GIT = re.compile(rf"diff --git a/({_NAME}) b/({_NAME})")
_MORE = re.compile(
    r"index [0-9a-f]+\.\.[0-9a-f]+(?: 100(?:644|755))?|(?:(?:new|deleted) file|old|new) mode 100(?:644|755)"
)
_OLD = re.compile(rf"--- (?:a/({_NAME})|/dev/null)")
_NEW = re.compile(rf"\+\+\+ (?:b/({_NAME})|/dev/null)")
_HUNK = re.compile(r"@@ -\d{1,7}(?:,(\d{1,7}))? \+\d{1,7}(?:,(\d{1,7}))? @@(?: .*)?")
_NO_NEWLINE = "\\ No newline at end of file"
_OTHER_ENDS = re.compile(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What some programs take for the end of a line, beside a newline."""


def is_exact_input(redirects: Sequence[Redirect]) -> bool:
    """Whether a here-document or here-string of constant text, and nothing else, is redirected to a command, and is
    such a patch."""
    if len(redirects) != 1:
        return False
    redirect = redirects[0]
    if redirect.descriptor not in {"", "0"} or redirect.variable is not None:
        return False
    if redirect.heredoc is not None:
        text = redirect.heredoc.word.value if redirect.heredoc.word is not None else None
        return text is not None and is_exact_patch(text)
    text = redirect.target.value if redirect.operator == "<<<" else None
    return text is not None and is_exact_patch(f"{text}\n")


def is_exact_patch(text: str) -> bool:
    """Whether the whole text is one such patch, of one file or several."""
    if _OTHER_ENDS.search(text) is not None or not text.endswith("\n"):
        return False
    lines = text.rstrip("\n").split("\n")
    at, named = 0, frozenset[str]()
    while at < len(lines):
        end, named = _header(lines, at)
        if end == at:
            return False
        at = _hunks(lines, end)
        if at == end:
            return False
    return bool(named)


def _header(lines: Sequence[str], at: int) -> tuple[int, frozenset[str]]:
    """Where the header ends that begins here, and the one name in it; where it would begin, and no name, else."""
    start, names = at, list[str]()
    git = _GIT.fullmatch(lines[at])
    if git is not None:
        names += git.groups()
        at += 1
        while at < len(lines) and _MORE.fullmatch(lines[at]):
            at += 1
    if at + 1 >= len(lines):
        return start, frozenset()
    old, new = _OLD.fullmatch(lines[at]), _NEW.fullmatch(lines[at + 1])
    if old is None or new is None:
        return start, frozenset()
    found = frozenset(filter(None, (*names, old[1], new[1])))
    named_twice = old[1] is None and new[1] is None
    return (start, frozenset()) if named_twice or len(found) != 1 else (at + 2, found)


def _hunks(lines: Sequence[str], at: int) -> int:
    """Where the hunks end that begin here; where they begin, if one is longer or shorter than it says."""
    start = at
    while at < len(lines) and (hunk := _HUNK.fullmatch(lines[at])) is not None:
        left = {"-": int(hunk[1] or 1), "+": int(hunk[2] or 1)}
        at += 1
        while at < len(lines) and (any(left.values()) or lines[at] == _NO_NEWLINE):
            mark = lines[at][:1]
            if mark in left:
                left[mark] -= 1
            elif mark in {" ", ""}:  # the blank of an empty line is often lost
                left = {side: count - 1 for side, count in left.items()}
            elif lines[at] != _NO_NEWLINE:
                return start
            at += 1
        if any(left.values()):
            return start
    return at
