"""Redaction: what must not stand in the ledger in clear.

Values of environment variables that look like secrets (and those that an ``apiKeyEnv`` names), known forms of tokens,
and what is given to a name or option that takes a secret; ``secret_forms.py`` has the table. The digest beside a row is
of the true bytes, so redaction loses no proof.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from countersign.gate.ledger.secret_forms import (
    ASSIGNED,
    DISCORD_HINT,
    FARTHEST,
    FORMS,
    FORMS_REACH,
    GIVEN_REACH,
    HINTS,
    KNOWN_OPTIONS,
    KNOWN_WORD,
    NO_SECRET,
    OPTION,
    PRIVATE_KEY,
    PRIVATE_KEY_END,
    has_secret_form,
    is_secret_name,
    json_web_tokens,
)
from countersign.wire.base import Json

MARK = "[redacted]"
WINDOW = 16 << 10
"""Characters that one step of a search looks through. A search holds the interpreter's lock from its first character
to its last, and all other threads, the event loop among them, wait for it: a few milliseconds for so many."""
SHORTEST_SECRET = 6
"""Shorter values are not looked for: they would blank out ordinary words."""


def secret_values(environment: Mapping[str, str] = os.environ, names: Iterable[str] = ()) -> frozenset[str]:
    """The values that must not be written down, from the environment of this process."""
    named = set(names)
    return frozenset(
        value
        for name, value in environment.items()
        if len(value) >= SHORTEST_SECRET and (name in named or is_secret_name(name) or has_secret_form(value))
    )


def redact_text(text: str, secrets: frozenset[str]) -> str:
    """The text with every known secret replaced by a mark."""
    # The rows of a call say mostly the same short things again.
    return _redacted_before(text, secrets) if len(text) <= _SHORT else _redacted(text, secrets)


def _redacted(text: str, secrets: frozenset[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MARK)
    if "-----BEGIN" in text:
        text = _replaced(text, _private_keys(text))
    if "eyJ" in text:
        text = _replaced(text, json_web_tokens(text))
    text = _replaced(text, _forms(text))
    if "=" in text or ":" in text:
        text = _replaced(text, _given(text, ASSIGNED))
    if " -" in text:
        text = _replaced(text, _given(text, OPTION))
        text = _replaced(text, _after_known_options(text))
    return text


Span = tuple[int, int]
"""Where a secret begins and ends."""


def _replaced(text: str, secrets: Iterable[Span]) -> str:
    """Return the text with the spans replaced, which come in order; one that begins in another is skipped."""
    pieces, copied = list[str](), 0
    for start, end in secrets:
        if start >= copied:
            pieces += text[copied:start], MARK
            copied = end
    return "".join((*pieces, text[copied:])) if pieces else text


def _found(
    pattern: re.Pattern[str], text: str, reach: int, worth: Callable[[str, int, int], bool] | None = None
) -> Iterator[re.Match[str]]:
    """Yield what ``finditer`` yields, window by window.

    ``reach`` are the characters after its first by which a match is known as one. ``worth`` tells whether a window may
    hold any.
    """
    start = 0
    while start < len(text):
        end = min(start + WINDOW, len(text))
        if worth is not None and not worth(text, start, end + reach):
            start = end
            continue
        while start < end and (first := pattern.search(text, start, end + reach)) and first.start() < end:
            # The window's end may have cut it.
            found = pattern.match(text, first.start()) or first
            yield found
            start = max(found.end(), found.start() + 1)
        start = max(start, end)


def _private_keys(text: str) -> Iterator[Span]:
    end = 0
    for begin in _found(PRIVATE_KEY, text, 128):
        if begin.start() >= end:
            last = PRIVATE_KEY_END.search(text, begin.end())
            end = last.end() if last is not None else len(text)
            yield begin.start(), end


def _forms(text: str) -> Iterator[Span]:
    return (found.span() for found in _found(FORMS, text, FORMS_REACH, _may_hold_form))


def _may_hold_form(text: str, start: int, end: int) -> bool:
    # A form may be known by what stands before it, too.
    start = max(0, start - 32)
    return any(text.find(hint, start, end) >= 0 for hint in HINTS) or DISCORD_HINT.search(text, start, end) is not None


def _given(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    for found in _found(pattern, text, GIVEN_REACH):
        value = found["value"]
        if is_secret_name(found["name"]) and value not in NO_SECRET and not MARK.startswith(value):
            yield found.span("value")


def _after_known_options(text: str) -> Iterator[Span]:
    commands: dict[str, int] = {}
    for word in _found(KNOWN_WORD, text, 64):
        if word["end"]:
            commands.clear()
        elif word["command"]:
            commands[word["command"]] = word.end()
        elif word["login"]:
            # It is the subcommand of whatever stands shortly before it.
            commands |= {f"{name} login": word.end() for name, at in commands.items()
                         if " " not in name and word.start() - at <= FARTHEST}  # fmt: skip
        else:
            near = {name for name, at in commands.items() if word.start() - at <= FARTHEST}
            for names, option in KNOWN_OPTIONS if near else ():
                found = option.match(text, word.end()) if names & near else None
                if found is not None and not found["value"].startswith("["):
                    yield found.span("value")


_SHORT = 500
_redacted_before = lru_cache(maxsize=1000)(_redacted)


def redact(value: Json, secrets: frozenset[str]) -> Json:
    """The JSON value with every string in it (keys too) redacted."""
    if isinstance(value, str):
        return redact_text(value, secrets)
    if isinstance(value, list):
        return [redact(item, secrets) for item in value]
    if isinstance(value, dict):
        return {redact_text(key, secrets): _item(key, item, secrets) for key, item in value.items()}
    return value


def _item(key: str, item: Json, secrets: frozenset[str]) -> Json:
    if isinstance(item, str) and item and is_secret_name(key):
        return MARK
    return redact(item, secrets)
