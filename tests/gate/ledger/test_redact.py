"""What must not be written down never stands in the ledger's files, wherever it stood in the call."""

from __future__ import annotations

import json
import re
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.gate.ledger import redact as redact_module
from countersign.gate.ledger import secret_forms
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.redact import MARK, redact, redact_text, secret_values
from countersign.gate.ledger.writer import Ledger
from countersign.wire.verdicts import Evidence
from tests.gate.ledger.ledger_support import entry, write

FORMS = {
    "OpenAI": "sk-" + "aB3" * 8,
    "Anthropic": "sk-ant-api03-" + "aB3_-" * 8,
    "Stripe": "sk_live_" + "4e" * 12,
    "GitHub": "ghp_" + "a1" * 18,
    "GitHub, fine": "github_pat_" + "A1_" * 20,
    "GitLab": "glpat-" + "x9-" * 7,
    "GitLab, runner": "glrt-" + "x9_" * 7,
    "Slack": "xoxb-123456789012-abcdef",
    "Slack, app": "xapp-1-A0123-4567-abcdef",
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "Google": "AIza" + "Sy_-" * 9,
    "Google, OAuth": "ya29." + "a0Af" * 8,
    "npm": "npm_" + "a1B2" * 9,
    "PyPI": "pypi-" + "AgEI" * 10,
    "Hugging Face": "hf_" + "aBcD" * 9,
    "DigitalOcean": "dop_v1_" + "0a" * 32,
    "Shopify": "shpat_" + "0a" * 16,
    "SendGrid": "SG." + "a_-9" * 5 + "." + "Zz09" * 10,
    "Azure": "AccountKey=" + "aB3+" * 21 + "==",
    "Vault": "hvs." + "CAESI" * 8,
    "Docker": "dckr_pat_" + "aB3_" * 7,
    "Telegram": "123456789:AA" + "aB3_" * 9,
    "Discord": "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "Twilio": "SK" + "0a" * 16,
    "age": "AGE-SECRET-KEY-1" + "QZ3" * 20,
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    "private key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
    "PGP": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("around", ["{}", "curl -H 'X: {}' host", 'a="{}"', "first\n{}\nlast", "({})"])
def test_every_known_form_of_token_goes(form, around):
    text = redact_text(around.format(FORMS[form]), frozenset())
    assert FORMS[form] not in text
    assert MARK in text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://me:hunter2@host/path", "https://[redacted]@host/path"),
        ("git clone https://" + "a1" * 20 + "@host", "git clone https://[redacted]@host"),
        ("curl -H 'Authorization: Bearer abcdefghijklmnop.123'", "curl -H 'Authorization: Bearer [redacted]'"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "Authorization: Basic [redacted]"),
        ("MY_API_KEY=abc123 node x", "MY_API_KEY=[redacted] node x"),
        ("export DB_PASSWORD='two words'; psql", "export DB_PASSWORD=[redacted]; psql"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted]"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI make", "AWS_SECRET_ACCESS_KEY=[redacted] make"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[redacted] psql"),
        ("db_password: hunter2", "db_password: [redacted]"),
        ('{"dbPassword": "hunter2", "user": "me"}', '{"dbPassword": [redacted], "user": "me"}'),
        ('"{\\"password\\": \\"hunter2\\"}"', '"{\\"password\\": [redacted]}"'),
        ("tool --password hunter2 --verbose", "tool --password [redacted] --verbose"),
        ("tool --api-key=hunter22", "tool --api-key=[redacted]"),
        ("curl -s -u me:hunter2 https://host", "curl -s -u [redacted] https://host"),
        ("curl --user 'me:two words' https://host", "curl --user [redacted] https://host"),
        ("mysql -u root -phunter2 db", "mysql -u root -p[redacted] db"),
        ("mysql -u root -p db", "mysql -u root -p db"),
        ("sshpass -p hunter2 ssh host", "sshpass -p [redacted] ssh host"),
        ("docker login -u me -p hunter2", "docker login -u me -p [redacted]"),
        ("redis-cli -a hunter2 ping", "redis-cli -a [redacted] ping"),
        ("mkdir -p a/b; ssh -p 2222 host", "mkdir -p a/b; ssh -p 2222 host"),
        ("cache_key = compute(1)", "cache_key = compute(1)"),
        ("password: string", "password: string"),
        ("A_TOKEN=$OTHER run", "A_TOKEN=$OTHER run"),
        ('A_TOKEN="$(cat x)" run', 'A_TOKEN="$(cat x)" run'),
        ("npm run test -- --watch=all", "npm run test -- --watch=all"),
        ("git log --format=%H origin/main..HEAD", "git log --format=%H origin/main..HEAD"),
        ("echo task-force disk-usage; ls https://host/a:b", "echo task-force disk-usage; ls https://host/a:b"),
    ],
)
def test_only_the_secret_goes(text, kept):
    assert redact_text(text, frozenset()) == kept


def test_every_string_of_a_value_is_redacted():
    hidden = secret_values({"MY_TOKEN": "tops3cret", "HOME": "/home/me", "ODD": "named-one"}, ["ODD"])
    given = {"command": "curl -H tops3cret https://me:pass@host ghp_" + "a" * 30, "more": ["named-one", 3, None]}
    assert redact(given, hidden) == {
        "command": "curl -H [redacted] https://[redacted]@host [redacted]",
        "more": ["[redacted]", 3, None],
    }


PIECES = [
    *FORMS.values(), "eyJ" * 5, "eyJhbGciOiJI.", "DB_PASSWORD='two words'", "password: hunter2", " --token abcdef ",
    "\n", " -", "; ", "curl ", "docker login ", " -u me:pw ", " -p word ", "htpasswd ", " -b file me word ", "https://me:pw@h",
    "x" * 70, "-----BEGIN ", '"', "'", "\\", "=", "é", "Bearer ", " " * 70,
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.integers(1, 200))
def test_a_search_in_windows_finds_what_one_search_finds(text: str, window: int):
    whole = redact_module._redacted(text, frozenset())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redact_module, "WINDOW", window)
        assert redact_module._redacted(text, frozenset()) == whole


@settings(max_examples=1000, deadline=None)
@given(st.from_regex(secret_forms.FORMS))
def test_each_form_has_a_hint(text: str):
    assert redact_module._may_hold_form(text, 0, len(text))


@pytest.mark.parametrize(
    "unit",
    ["eyJ", "eyJabcdefgh.", "docker login -x ", "docker ", " login", "curl -x ", "curl -u:", "-----BEGIN ", "A=",
     'a="\\', "-----BEGIN PRIVATE KEY-----", "--a ", "a='b ", "://a:", "://a", "htpasswd -b a ", " -b", "a/", "SG.",
     "tskey-a", "glsa_", "x", "\n", " -", "-", "[", "AAAA.AAAAAA.", "1", "://:", "@", "sk-"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", " -p"])
def test_redaction_takes_time_linear_in_the_text(unit: str, end: str):
    text = (unit * (1 << 19))[: 1 << 19] + end
    began = time.thread_time()
    redact_text(text, frozenset())
    assert time.thread_time() - began < 5


class Recorded:
    """A pattern that notes how much text each of its searches may look through."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.match = pattern.match
        self.longest = 0
        self._search = pattern.search

    def search(self, text: str, start: int, end: int) -> re.Match[str] | None:
        self.longest = max(self.longest, end - start)
        return self._search(text, start, end)


@pytest.mark.parametrize("name", ["FORMS", "DISCORD_HINT", "ASSIGNED", "OPTION", "KNOWN_WORD", "PRIVATE_KEY"])
def test_no_search_looks_through_more_than_a_window(name: str, monkeypatch: pytest.MonkeyPatch):
    """A search lets no other thread run before its end, the event loop's neither."""
    pattern = Recorded(getattr(redact_module, name))
    monkeypatch.setattr(redact_module, name, pattern)
    redact_text("x" * (1 << 20) + "key-=:// -a -----BEGIN", frozenset())
    assert 0 < pattern.longest <= redact_module.WINDOW + secret_forms.GIVEN_REACH


CORE = "~^Zq~^"
"""Stands in every secret, so that none is part of what is in the files in any case."""
SECRETS = st.tuples(st.text(max_size=20), st.text(max_size=20)).map(CORE.join).filter(lambda text: "\0" not in text)
WORDS = st.text(max_size=20)


@settings(max_examples=60, deadline=None)
@given(secret=SECRETS, form=st.sampled_from(sorted(FORMS)), words=WORDS, key=WORDS)
@example(secret='"quoted\\"', form="JWT", words="é", key="\n")
def test_a_secret_stands_nowhere_in_the_files_of_the_ledger(secret, form, words, key):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_TOKEN", secret)
        with closing(Ledger(Path(folder) / LEDGER_FILE)) as ledger:
            for hidden in (secret, FORMS[form]):
                text = f"{words} {hidden} {words}"
                evidence = (
                    Evidence(source="rule", rule=f"Bash({text})", file=text, line=1, reason=f"matches `{text}`"),
                )
                asked = entry(1, input={text: [text, {key: text, "deep": [[text]]}]}, verdict="ask", evidence=evidence)
                write(ledger, asked, asked.next("decided", outcome={"state": "denied", "note": f"kept {text}"}))
                write(ledger, asked.next("started"), asked.next("finished", outcome={"head": f"out: {text}\n", "n": 1}))
            assert ledger.verify().fault is None
            held = b"".join(file.read_bytes() for file in Path(folder).iterdir())
            for hidden in (secret, FORMS[form]):
                assert hidden.encode() not in held
                assert json.dumps(hidden)[1:-1].encode() not in held


def test_a_variable_that_a_setting_names_is_secret_from_then_on(tmp_path, monkeypatch):
    monkeypatch.setenv("ODD_NAME", "open-sesame")
    names: list[str] = []
    with closing(Ledger(tmp_path / LEDGER_FILE, secret_names=lambda: names)) as ledger:
        write(ledger, entry(1, input="open-sesame"))
        names.append("ODD_NAME")
        write(ledger, entry(2, input="open-sesame"))
        assert [row["input"] for row in ledger.rows("SELECT input FROM entries")] == ['"open-sesame"', f'"{MARK}"']
