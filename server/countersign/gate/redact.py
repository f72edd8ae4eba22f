"""Redaction: what must not stand in the ledger in clear.

Values of environment variables that look like secrets (and those that an ``apiKeyEnv`` names), and known forms of
tokens. The digest beside a row is of the true bytes, so redaction loses no proof.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from countersign.wire.base import Json

SECRET_NAME = re.compile(r"(?:_TOKEN|_API_KEY|_SECRET|_PASSWORD)$")

TOKEN_FORMS = re.compile(
    r"""
      sk-[A-Za-z0-9_-]{16,}                      # OpenAI, Anthropic
    | gh[pousr]_[A-Za-z0-9]{20,}                 # GitHub
    | github_pat_[A-Za-z0-9_]{20,}
    | glpat-[A-Za-z0-9_-]{16,}                   # GitLab
    | xox[abprs]-[A-Za-z0-9-]{10,}               # Slack
    | (?:AKIA|ASIA)[A-Z0-9]{16}                  # AWS
    | AIza[A-Za-z0-9_-]{30,}                     # Google
    | npm_[A-Za-z0-9]{30,}
    | pypi-[A-Za-z0-9_-]{30,}
    | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}   # JWT
    | (?<=://)[^/\s:@]{1,256}:[^/\s:@]{1,256}(?=@)                 # user:password in a URL
    """,
    re.VERBOSE,
)
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
MARK = "[redacted]"
SHORTEST_SECRET = 6
"""Shorter values are not looked for: they would blank out ordinary words."""


def secret_values(environment: Mapping[str, str] = os.environ, names: Iterable[str] = ()) -> frozenset[str]:
    """The values that must not be written down, from the environment of this process."""
    named = set(names)
    return frozenset(
        value
        for name, value in environment.items()
        if (name in named or SECRET_NAME.search(name)) and len(value) >= SHORTEST_SECRET
    )


def redact_text(text: str, secrets: frozenset[str]) -> str:
    """The text with every known secret replaced by a mark."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MARK)
    return TOKEN_FORMS.sub(MARK, PRIVATE_KEY.sub(MARK, text))


def redact(value: Json, secrets: frozenset[str]) -> Json:
    """The JSON value with every string in it (keys too) redacted."""
    if isinstance(value, str):
        return redact_text(value, secrets)
    if isinstance(value, list):
        return [redact(item, secrets) for item in value]
    if isinstance(value, dict):
        return {redact_text(key, secrets): redact(item, secrets) for key, item in value.items()}
    return value
