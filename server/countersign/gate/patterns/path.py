"""The gitignore pattern of a ``Read`` or ``Edit`` rule (docs/gate.md P3): read once, matched often, without the disk.

One segment is read by ``glob.py``; how segments, ``**`` and folders add up is said here, because no segment may ever
match across a slash. The narrow reading (``covers``) is for allow rules and grants, the wide one (``touches``) for deny
and ask rules. Which path and which place it is relative to are ``gate/paths/path_judge.py``'s business.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Literal

from countersign.gate.patterns.errors import BadPattern
from countersign.gate.patterns.glob import (
    REST,
    STAR,
    GlobSegment,
    glob_segment,
    may_meet,
    same_in_some_case,
    tokens_match,
)

Root = Literal["workspace", "anywhere", "root", "home"]


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A gitignore pattern (P3) with the place it is anchored at.

    ``variants`` are the pattern's segments; more than one only where braces were spelled, which the wide reading
    expands and the narrow one takes literally, as gitignore does. ``folder`` says it ended in a slash.
    """

    text: str
    root: Root
    variants: tuple[tuple[str, ...], ...]
    folder: bool

    @property
    def segments(self) -> tuple[str, ...]:
        return self.variants[0]

    def covers(self, path: Sequence[str]) -> bool:
        """The narrow reading, for allow: case counts, and only a folder named literally covers what is below it."""
        depth = _match(self.segments, path, wide=False)
        if depth is None:
            return False
        if depth < len(path):
            last = self.segments[-1]
            return self.folder or last == "**" or not _is_glob(last)
        return not self.folder

    def touches(self, path: Sequence[str]) -> bool:
        """The wide reading, for deny and ask: any case, braces expanded, any matching folder covers what is below."""
        return any(
            _match(variant, path, wide=True) is not None
            or (variant[-1] == "**" and len(variant) > 1 and _match(variant[:-1], path, wide=True) == len(path))
            for variant in self.variants
        )

    def may_touch_below(self, folder: Sequence[str]) -> bool:
        """Whether something below this folder could match; ``folder`` is relative to the pattern's own root."""
        return any(_may_match_below(variant, folder) for variant in self.variants)

    def may_touch(self, parts: Sequence[str]) -> bool:
        """Whether a path that a shell's pattern with these segments may turn into could match; the segments are
        relative to the pattern's own root, and a wildcard of theirs counts for a leading dot as well."""
        return any(_may_meet(variant, parts) for variant in self.variants)


def parse_path(text: str) -> PathPattern:
    """Read the specifier of a ``Read`` or ``Edit`` rule.

    Raises:
        BadPattern: it is empty, negated, malformed or leads upwards.
    """
    body = _without_blanks_around(text)
    if not body:
        raise BadPattern("it names no path")
    if body.startswith("!"):
        raise BadPattern("a pattern with `!` in front means nothing in a rule")
    root: Root = "workspace"
    if body.startswith("//"):
        root, body = "root", body[2:]
    elif body == "~" or body.startswith("~/"):
        root, body = "home", body[2:]
    elif body.startswith("./"):
        body = body[2:]
    elif body.startswith("/"):
        body = body[1:]
    elif "/" not in body.rstrip("/"):
        root = "anywhere"
    if root != "anywhere" and body in {"", "."}:
        return PathPattern(text, root, (("**",),), folder=False)
    folder = body.endswith("/")
    spellings = _expand_braces(body.rstrip("/") if folder else body)
    variants = tuple(_path_segments(spelling, root) for spelling in spellings)
    return PathPattern(text, root, variants, folder)


def fold(text: str) -> str:
    """How names are compared for deny and for protected paths: composed, without case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@lru_cache(maxsize=4096)
def folded_segments(segments: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a path, each folded."""
    return tuple(map(fold, segments))


def escape_path(text: str) -> str:
    """A path spelled as a gitignore pattern that matches it and nothing beside it."""
    return re.sub(r"([\\*?\[\]!#{}\s])", r"\\\1", text)


def _without_blanks_around(text: str) -> str:
    """The text without blanks in front and behind; one that a backslash quotes is part of a name, as in gitignore."""
    body = text.strip()
    slashes = len(body) - len(body.rstrip("\\"))
    behind = text[len(text) - len(text.lstrip()) + len(body) :]
    return body + behind[:1] if slashes % 2 else body


def _path_segments(body: str, root: Root) -> tuple[str, ...]:
    segments = body.split("/")
    if any(segment in {"", ".", ".."} for segment in segments):
        raise BadPattern("a pattern holds no empty, `.` or `..` part; write `//path` for a place outside")
    for segment in segments:
        if segment != "**":
            _segment(segment)
    if root == "anywhere" and segments[0] != "**":
        segments.insert(0, "**")
    return tuple(segments)


def _is_glob(segment: str) -> bool:
    return re.search(r"(?<!\\)(?:\\\\)*[*?\[]", segment) is not None


@lru_cache(maxsize=8192)
def _literal(segment: str) -> str | None:
    """The name that this segment stands for, or None if it holds a wildcard."""
    return None if _is_glob(segment) else re.sub(r"\\(.)", r"\1", segment)


@lru_cache(maxsize=8192)
def _segment(segment: str) -> GlobSegment:
    """One segment as gitignore has it, which reads it like a shell; never matched across a slash."""
    if re.search(r"(?<!\\)(?:\\\\)*\\$", segment):
        raise BadPattern("it ends in a backslash")
    if _has_open_bracket(segment):
        raise BadPattern("a `[` is never closed")
    found = glob_segment(segment)
    if REST in found.tokens:
        raise BadPattern("it uses an unknown character class")
    return found


def _has_open_bracket(segment: str) -> bool:
    index = 0
    while index < len(segment):
        if segment[index] == "\\":
            index += 2
            continue
        if segment[index] == "[":
            close = segment.find("]", index + (3 if segment[index + 1 : index + 2] in {"!", "^"} else 2))
            if close < 0:
                return True
            index = close
        index += 1
    return False


def _segment_matches(segment: str, name: str, *, wide: bool) -> bool:
    literal = _literal(segment)
    if not wide:
        return name == literal if literal is not None else _segment(segment).matches_by_code(name)
    if literal is not None:
        return fold(name) == fold(literal)
    # `[!a]` leaves out less where case counts, so both readings are tried.
    if _segment(segment).matches_by_code(name):
        return True
    tokens = _segment(unicodedata.normalize("NFC", segment)).tokens
    spellings = {unicodedata.normalize("NFC", name), fold(name)}
    return any(tokens_match(tokens, spelling, same_in_some_case) for spelling in spellings)


def _match(pattern: Sequence[str], path: Sequence[str], *, wide: bool) -> int | None:
    """How many of the path's segments the pattern takes (all of them if it can), or None.

    ``**`` takes none or more segments, at the end at least one. Fewer than all means that a folder was matched.
    """
    quick = _quick(tuple(pattern))
    if quick is not None:
        whole = f"/{'/'.join(path)}/"
        if whole.isascii() and quick.match(whole) is None:
            return None
    states = _closure({0}, pattern)
    depth: int | None = None
    for index, name in enumerate(path):
        following: set[int] = set()
        for state in states:
            if state == len(pattern):
                continue
            if pattern[state] == "**":
                following.add(state)
                if state == len(pattern) - 1:
                    following.add(len(pattern))
            elif _segment_matches(pattern[state], name, wide=wide):
                following.add(state + 1)
        states = _closure(following, pattern)
        if len(pattern) in states:
            depth = index + 1
        if not states:
            break
    return depth


@lru_cache(maxsize=8192)
def _quick(pattern: tuple[str, ...]) -> re.Pattern[str] | None:
    """What each path in ASCII matches that the pattern takes, in any case, and few others: the segments between `**`
    where they first stand, and of each segment the parts between stars where these do. Nothing is tried again, so it
    takes time in proportion to the path. None where the pattern is not ASCII."""
    if not all(map(str.isascii, pattern)):
        return None
    blocks = [list(block) for double, block in groupby(pattern, "**".__eq__) if not double]
    spelled = ["".join([f"/{_quick_segment(segment)}" for segment in block]) + "(?=/)" for block in blocks]
    anchored = spelled[:1] if pattern[0] != "**" else []
    found = [*anchored, *[f"(?>.*?{block})" for block in spelled[len(anchored) :]]]
    return re.compile("".join(found), re.ASCII | re.DOTALL | re.IGNORECASE)


def _quick_segment(segment: str) -> str:
    parts = [""]
    for token in _segment(segment).tokens:
        if token == STAR:
            parts.append("")
        else:
            parts[-1] += re.escape(token) if isinstance(token, str) else "[^/]"
    first, *others = parts
    if not others:
        return first
    return first + "".join([f"(?>[^/]*?{part})" for part in others[:-1] if part]) + f"[^/]*{others[-1]}"


def _closure(states: set[int], pattern: Sequence[str]) -> set[int]:
    for state in sorted(states):
        following = state
        while following < len(pattern) - 1 and pattern[following] == "**":
            following += 1
            states.add(following)
    return states


def _may_match_below(pattern: Sequence[str], folder: Sequence[str]) -> bool:
    states = _closure({0}, pattern)
    for name in folder:
        if len(pattern) in states:
            return True
        following: set[int] = set()
        for state in states:
            if pattern[state] == "**":
                following |= {state, state + 1} if state == len(pattern) - 1 else {state}
            elif _segment_matches(pattern[state], name, wide=True):
                following.add(state + 1)
        states = _closure(following, pattern)
        if not states:
            return False
    return bool(states)


def _may_meet(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    states = _closure({0}, pattern)
    for part in parts:
        following: set[int] = set()
        for state in states:
            if pattern[state] == "**":
                following |= {state, state + 1} if state == len(pattern) - 1 else {state}
            elif _segments_meet(pattern[state], part):
                following.add(state + 1)
        states = _closure(following, pattern)
        if len(pattern) in states:
            return True
    return any(set(pattern[state:]) == {"**"} for state in states)


@lru_cache(maxsize=8192)
def _segments_meet(pattern: str, part: str) -> bool:
    """Whether a name could match both a segment of ours and one of a shell's pattern."""
    ours, theirs = (glob_segment(unicodedata.normalize("NFC", text)) for text in (pattern, part))
    return may_meet(ours, theirs.tokens)


def _expand_braces(body: str) -> tuple[str, ...]:
    """The text itself and, where it spells ``{a,b}``, what a shell would make of it; the text stays first."""
    done: list[str] = [body]
    open_texts = [body]
    while open_texts:
        text = open_texts.pop()
        found = re.search(r"(?<!\\)\{([^{},]*,[^{}]*)\}", text)
        if found is None:
            if text not in done:
                done.append(text)
            continue
        open_texts += [text[: found.start()] + choice + text[found.end() :] for choice in found[1].split(",")]
        if len(open_texts) + len(done) > 64:
            raise BadPattern("it spells too many alternatives in braces")
    return tuple(done)
