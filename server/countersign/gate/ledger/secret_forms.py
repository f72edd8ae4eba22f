"""Names and forms of secrets: the one table behind the redaction of records and the filter of environments.

A name tells by its words (``OPENAI_KEY``, ``dbPassword``, ``--api-key``), a value by its form (a token's prefix, a URL
with a password), a command line by options that are known to take a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALONE = frozenset({"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY"})
"""Words that make a name a secret's wherever they stand last."""
_WITH_OTHERS = frozenset({"KEY", "PASS", "PWD", "PAT", "AUTH", "COOKIE", "CREDENTIAL", "JWT", "TOKENS", "SECRETS"})
"""Words that do so only after another one: `KEY`, `PASS` and `PWD` alone mean anything."""
_OTHER_KEYS = frozenset({
    "PUBLIC", "PUB", "PRIMARY", "FOREIGN", "SORT", "CACHE", "PARTITION", "INDEX", "HOT", "SHORTCUT", "GROUP", "HOST",
    "MAP", "SEARCH", "UNIQUE", "ROW", "COLUMN", "OBJECT", "KNOWN", "DICT", "STORE", "LESS",
})  # fmt: skip
_OF_A_SECRET = frozenset({"NAME", "ID", "IDS", "FILE", "PATH", "DIR", "ARN", "VERSION", "URL", "URI", "TYPE", "SOCK"})
"""Last words of names that tell of a secret without holding it."""
_ENDINGS = ("PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "SECRET")

FORMS = re.compile(
    r"""
      sk-[A-Za-z0-9_-]{16,}                                        # OpenAI, Anthropic
    | [sr]k_(?:live|test)_[A-Za-z0-9]{16,} | whsec_[A-Za-z0-9]{16,}  # Stripe
    | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}    # GitHub
    | gl[a-z]{2,6}-[A-Za-z0-9_-]{16,}                              # GitLab
    | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,}          # Slack
    | (?<=hooks\.slack\.com/services/)[A-Za-z0-9/_-]{20,}
    | (?<=/api/webhooks/)[0-9]{15,20}/[A-Za-z0-9_-]{40,}           # Discord
    | \b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}
    | (?:AKIA|ASIA)[A-Z0-9]{16}                                    # AWS, the key's id
    | (?<=SecretAccessKey":\s")[A-Za-z0-9/+]{40}                   # and the key, as its tools print it
    | (?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2} | (?<=SharedAccessKey=)[A-Za-z0-9+/]{40,}={0,2}  # Azure
    | (?<=[?&]sig=)[A-Za-z0-9%+/]{30,} | \b[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34}
    | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,} | GOCSPX-[A-Za-z0-9_-]{20,}  # Google
    | hv[sbr]\.[A-Za-z0-9_-]{20,}                                  # Vault
    | dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}                          # Docker
    | \b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}                           # Telegram
    | \bSK[0-9a-f]{32}\b                                           # Twilio
    | AGE-SECRET-KEY-1[0-9A-Z]{50,}                                # age
    | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{30,} | rubygems_[a-f0-9]{40,}
    | hf_[A-Za-z0-9]{30,}                                          # Hugging Face
    | gsk_[A-Za-z0-9]{40,} | xai-[A-Za-z0-9]{40,} | pplx-[A-Za-z0-9]{40,} | r8_[A-Za-z0-9]{30,}
    | do[opr]_v1_[a-f0-9]{40,}                                     # DigitalOcean
    | dapi[a-f0-9]{32} | dp\.(?:pt|st|ct)\.[A-Za-z0-9._-]{30,}     # Databricks, Doppler
    | glsa_[A-Za-z0-9]{30,200}_[a-f0-9]{8} | lin_api_[A-Za-z0-9]{30,} | ntn_[A-Za-z0-9]{40,}
    | pscale_(?:tkn|pw|oauth)_[A-Za-z0-9._=-]{30,} | pul-[a-f0-9]{40} | PMAK-[a-f0-9]{24}-[a-f0-9]{34}
    | tskey-[a-z]{1,40}-[A-Za-z0-9-]{20,} | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,} | ATATT3[A-Za-z0-9_=-]{100,}
    | \bkey-[0-9a-f]{32}\b | sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}     # Mailgun, Square
    | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}                           # Shopify
    | SG\.[A-Za-z0-9_-]{16,200}\.[A-Za-z0-9_-]{16,}                   # SendGrid
    | (?<=[Bb]earer\s)[A-Za-z0-9._~+/-]{16,}=*                     # in an Authorization header
    | (?<=[Bb]asic\s)[A-Za-z0-9+/]{16,}=*
    | (?<=://)[^/\s:@]{0,256}:[^/\s@]{1,256}(?=@)                  # user:password in a URL
    | (?<=://)[^/\s:@]{20,256}(?=@)                                # a token alone in a URL
    """,
    re.VERBOSE,
)
FORMS_REACH = 1024
"""Characters after its first by which each form is known; what follows only makes it longer."""
HINTS = (
    "sk-", "k_live_", "k_test_", "whsec_", "gh", "github_pat_", "gl", "xox", "xapp-", "hooks.slack.com",
    "/api/webhooks/", "AKIA", "ASIA", "SecretAccessKey", "AccountKey=", "SharedAccessKey=", "sig=", "8Q~",
    "AIza", "ya29.", "GOCSPX-", "hv", "dckr_", ":AA", "SK", "AGE-SECRET-KEY-1", "npm_", "pypi-", "rubygems_",
    "hf_", "gsk_", "xai-", "pplx-", "r8_", "_v1_", "dapi", "dp.", "lin_api_", "ntn_", "pscale_", "pul-",
    "PMAK-", "tskey-", ".atlasv1.", "ATATT3", "key-", "sq0", "shp", "SG.", "earer", "asic", "://",
)  # fmt: skip
"""A text with none of these holds none of the forms, but for ``DISCORD_HINT``; they are found much faster."""
DISCORD_HINT = re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}")
_TOKEN_HEAD = re.compile(r"eyJ[A-Za-z0-9_-]{8,}")
_TOKEN_TAIL = re.compile(r"\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,64}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY_END = re.compile(r"-----END [A-Z ]{0,64}PRIVATE KEY(?: BLOCK)?-----")
"""Without its end a key goes on to the end of the text."""

_VALUE = r"""("(?:[^"\\\n]|\\.){4,4096}"|'[^'\n]{4,4096}'|\\"[^"\\\n]{4,4096}\\"|[^\s"'\\;&|,(){}\[\]<>]{4,4096})"""
ASSIGNED = re.compile(
    rf"""(?<![\w.$-])(?P<name>[A-Za-z_][\w.-]{{0,80}})(?P<between>\\?["']?[ \t]{{0,8}}[=:][ \t]{{0,8}})"""
    rf"""(?!["']?\$)(?P<value>{_VALUE})"""
)
"""``NAME=value``, ``name = value``, ``name: value`` and their like in JSON and YAML; the name is looked at apart. What
another variable holds is no secret of this text."""
OPTION = re.compile(
    rf"""(?<![\w-])(?P<name>--?[A-Za-z][\w-]{{1,60}})(?P<between>=|[ \t]{{1,4096}})(?!["']?[-$])(?P<value>{_VALUE})"""
)
"""``--password value`` and ``--token=value``; the name is looked at apart."""
GIVEN_REACH = 3 * 4096
"""Characters that a match of ``ASSIGNED`` or ``OPTION`` has at most."""
_WORD_OF = r"""(?P<value>"[^"\n]{1,400}"|'[^'\n]{1,400}'|[^\s"'$;&|-][^\s"';&|]{0,400})"""
KNOWN_OPTIONS = tuple(
    (frozenset(commands.split("|")), re.compile(rf"(?P<before>{option}){_WORD_OF}"))
    for commands, option in (
        ("curl", r"(?:-u|--user|-U|--proxy-user|--oauth2-bearer|--pass)[ \t=]{0,400}"),
        ("wget", r"--(?:http-|ftp-|proxy-)?password[ \t=]{1,400}"),
        ("mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump", r"-p(?=\S)"),
        ("sshpass", r"-p[ \t]{0,400}"),
        ("docker login|podman login|helm login|az login|oc login|nerdctl login|skopeo login|buildah login",
         r"-p[ \t]{0,400}"),
        ("redis-cli|valkey-cli", r"(?:-a|--pass)[ \t]{1,400}"),
        ("ldapsearch|ldapmodify|ldapadd|ldapdelete|ldappasswd", r"-w[ \t]{0,400}"),
        ("zip|unzip", r"-P[ \t]{0,400}"),
        ("7z|7za|7zz", r"-p(?=\S)"),
        ("openssl", r"-(?:passin|passout|pass|k)[ \t]{1,400}(?:pass:)?"),
        ("htpasswd", r"-\w{0,40}?b\w{0,40}[ \t]{1,400}\S{1,400}[ \t]{1,400}\S{1,400}[ \t]{1,400}"),
        ("mongosh|mongo|mongodump|mongorestore|sqlcmd|bcp", r"-[pP][ \t]{0,400}"),
    )
)  # fmt: skip
"""Commands, with the subcommand where there is one, whose short options are known to take a secret."""
KNOWN_WORD = re.compile(
    r"(?P<end>[;&|\n])|(?<![\w.-])(?P<command>"
    + "|".join(sorted({name.split()[0] for names, _ in KNOWN_OPTIONS for name in names}, key=len, reverse=True))
    + r")\b|[ \t](?:(?P<login>login)\b|(?=-))"
)
"""The words among which such an option is found: the end of a command, its name, ``login``, a blank before an option.
They are found in one pass; a pattern for each command would read the same words again and again."""
FARTHEST = 400
"""Characters between a command and its option."""
NO_SECRET = frozenset({"string", "None", "null", "true", "false", "True", "False", "undefined", "required", "optional"})
"""Values that only look like one: types and constants."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a variable, key or option of this name holds a secret."""
    words = [word.upper() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[-1] in _OF_A_SECRET:
        return False
    last = words[-1]
    if last in _ALONE or last.endswith(_ENDINGS) or "SECRET" in words:
        return True
    if last == "KEY":
        return len(words) > 1 and words[-2] not in _OTHER_KEYS
    return last in _WITH_OTHERS and (len(words) > 1 or (last == "AUTH" and name.startswith("_")))


def has_secret_form(value: str) -> bool:
    """Whether a value holds a known form of token, a private key, or a URL with a password."""
    return (
        FORMS.search(value) is not None
        or PRIVATE_KEY.search(value) is not None
        or next(json_web_tokens(value), None) is not None
    )


def json_web_tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each JSON web token begins and ends, in time linear in the text.

    Where a segment is not followed by two others, no later ``eyJ`` in it begins a token either; as a part of one
    pattern each would be tried to the segment's end.
    """
    start = text.find("eyJ")
    while start >= 0:
        head = _TOKEN_HEAD.match(text, start)
        tail = _TOKEN_TAIL.match(text, head.end()) if head is not None else None
        if tail is not None:
            yield start, tail.end()
        start = text.find("eyJ", (tail or head).end() if head is not None else start + 3)  # type: ignore[union-attr]
