"""Redaction: what must not stand in the ledger in clear.

Values of environment variables that look like secrets (and those that an ``apiKeyEnv`` names), and known forms of
tokens. The digest beside a row is of the true bytes, so redaction loses no proof.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from countersign.wire.base import Json

SECRET_NAME = re.compile(r"(?:_TOKEN|_API_KEY|_SECRET|_PASSWORD)$")

TOKEN_FORMS = re.compile(
    r"""
      sk-[A-Za-z0-9_-]{16,}                                        # OpenAI, Anthropic
    | [sr]k_(?:live|test)_[A-Za-z0-9]{16,} | whsec_[A-Za-z0-9]{16,}  # Stripe
    | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}    # GitHub
    | gl[a-z]{2,6}-[A-Za-z0-9_-]{16,}                              # GitLab
    | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,}          # Slack
    | (?:AKIA|ASIA)[A-Z0-9]{16}                                    # AWS, the key's id
    | (?<=SecretAccessKey":\s")[A-Za-z0-9/+]{40}                   # and the key, as its tools print it
    | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,} | GOCSPX-[A-Za-z0-9_-]{20,}  # Google
    | npm_[A-Za-z0-9]{30,}
    | pypi-[A-Za-z0-9_-]{30,}
    | hf_[A-Za-z0-9]{30,}                                          # Hugging Face
    | do[opr]_v1_[a-f0-9]{40,}                                     # DigitalOcean
    | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}                           # Shopify
    | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}                   # SendGrid
    | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}   # JWT
    | (?<=[Bb]earer\s)[A-Za-z0-9._~+/-]{16,}=*                     # in an Authorization header
    | (?<=[Bb]asic\s)[A-Za-z0-9+/]{16,}=*
    | (?<=://)[^/\s:@]{0,256}:[^/\s@]{1,256}(?=@)                  # user:password in a URL
    | (?<=://)[^/\s:@]{20,256}(?=@)                                # a token alone in a URL
    """,
    re.VERBOSE,
)
ASSIGNED = re.compile(
    r"""((?:\b|_)(?:TOKEN|API_KEY|SECRET|PASSWORD|aws_secret_access_key)\s?=\s?)"""
    r"""(?!["']?\$)("[^"]{4,}"|'[^']{4,}'|[^\s"';&|]{4,})"""
)
"""A secret that is given to a variable in the text itself; one that another variable holds is none to see."""
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)", re.DOTALL
)
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
    # The rows of a call say mostly the same short things again.
    return _redacted_before(text, secrets) if len(text) <= _SHORT else _redacted(text, secrets)


def _redacted(text: str, secrets: frozenset[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MARK)
    if "-----BEGIN" in text:
        text = PRIVATE_KEY.sub(MARK, text)
    if "=" in text:
        text = ASSIGNED.sub(rf"\1{MARK}", text)
    return TOKEN_FORMS.sub(MARK, text)


_SHORT = 500
_redacted_before = lru_cache(maxsize=1000)(_redacted)


def redact(value: Json, secrets: frozenset[str]) -> Json:
    """The JSON value with every string in it (keys too) redacted."""
    if isinstance(value, str):
        return redact_text(value, secrets)
    if isinstance(value, list):
        return [redact(item, secrets) for item in value]
    if isinstance(value, dict):
        return {redact_text(key, secrets): redact(item, secrets) for key, item in value.items()}
    return value
