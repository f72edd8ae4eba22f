"""Redaction: what must not stand in the ledger in clear.

Values of environment variables that look like secrets (and those that an ``apiKeyEnv`` names), known forms of tokens,
and what is given to a name or option that takes a secret; ``secret_forms.py`` has the table. The digest beside a row is
of the true bytes, so redaction loses no proof.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from countersign.gate.ledger.secret_forms import (
    ASSIGNED,
    FORMS,
    KNOWN_OPTIONS,
    NO_SECRET,
    OPTION,
    PRIVATE_KEY,
    has_secret_form,
    is_secret_name,
)
from countersign.wire.base import Json

MARK = "[redacted]"
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
        text = PRIVATE_KEY.sub(MARK, text)
    text = FORMS.sub(MARK, text)
    if "=" in text or ":" in text:
        text = ASSIGNED.sub(_given, text)
    if " -" in text:
        text = OPTION.sub(_given, text)
        for known in KNOWN_OPTIONS:
            text = known.sub(_after, text)
    return text


def _given(found: re.Match[str]) -> str:
    if not is_secret_name(found["name"]) or found["value"] in NO_SECRET or MARK.startswith(found["value"]):
        return found.group()
    return f"{found['name']}{found['between']}{MARK}"


def _after(found: re.Match[str]) -> str:
    return found.group() if found["value"].startswith("[") else f"{found['before']}{MARK}"


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
