"""Which host a URL asks, and that two readers of it can never be played against each other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.decisions.urls import url_host
from countersign.gate.patterns import BadPattern, parse_host

PLAIN = [
    ("https://example.com", "example.com"),
    ("http://EXAMPLE.com:8080/a?b#c", "example.com"),
    ("https://example.com./", "example.com"),
    ("https://a_b.example.com", "a_b.example.com"),
    ("https://127.0.0.1/x", "127.0.0.1"),
    ("http://[::1]:80/", "[::1]"),
    ("https://bücher.example/", "xn--bcher-kva.example"),
    ("https://localhost", "localhost"),
]


@pytest.mark.parametrize(("url", "host"), PLAIN)
def test_a_plain_address_has_its_host(url: str, host: str) -> None:
    assert (url_host(url).host, url_host(url).unclear) == (host, None)


UNCLEAR = [
    "", "example.com", "//example.com", "ftp://example.com", "file:///etc/passwd", "javascript:alert(1)", "https://",
    "https:///example.com", "https://a@example.com", "https://example.com@evil.net", "https://a:b@evil.net",
    "https://example.com\\@evil.net", "https:\\\\example.com", "https://exam\tple.com", " https://example.com",
    "https://example.com ", "https://exa mple.com", "https://example.com%2f.evil.net", "https://%65xample.com",
    "https://example.com:port/", "https://0x7f.1/", "https://2130706433", "https://0177.0.0.1", "https://[::1",
    "https://\u202eexample.com", "https://example\u200b.com", "https://-x.com", "https://a..b", "https://*.com",
]  # fmt: skip


@pytest.mark.parametrize("url", UNCLEAR)
def test_an_address_that_is_not_written_plainly_has_no_host(url: str) -> None:
    assert url_host(url).host is None
    assert url_host(url).unclear


SUSPECTS = [
    ("https://good.com@evil.net/", "evil.net"),
    ("https://evil.net\\@good.com/", "evil.net"),
    ("https://good.com\\@evil.net/", "good.com"),
    ("https://evil%2Enet/", "evil.net"),
    ("https://EVIL.NET:443./", "evil.net:443"),
    ("https://ev\til.net/", "evil.net"),
    ("https://ｅvil.net/", "evil.net"),
    ("http://0x7f.1/", "127.0.0.1"),
    ("http://[::ffff:102:304]/", "1.2.3.4"),
    ("https://faß.example/", "xn--fa-hia.example"),
    ("https://faß.example/", "fass.example"),
    ("https://evil.net\u3002/", "evil.net"),
    ("//evil.net/x", "evil.net"),
    ("evil.net/x", "evil.net"),
]


@pytest.mark.parametrize(("url", "suspect"), SUSPECTS)
def test_deny_rules_are_looked_for_under_every_host_somebody_could_see(url: str, suspect: str) -> None:
    assert suspect in url_host(url).suspects


@settings(max_examples=200, deadline=None)
@given(st.text("htps:/\\@.[]%a0é \t#?", max_size=20))
def test_no_text_breaks_it_and_a_host_is_always_its_own_suspect(text: str) -> None:
    found = url_host(text)
    assert (found.host is None) is (found.unclear is not None)
    if found.host is not None:
        assert found.host in found.suspects


HOSTS_OF_RULES = [
    ("domain:BÜCHER.example.", "xn--bcher-kva.example"),
    ("domain:xn--fa-hia.example", "xn--fa-hia.example"),
    ("domain:[2001:DB8:0:0::1]", "[2001:db8::1]"),
    ("domain:[::ffff:1.2.3.4]", "1.2.3.4"),
    ("domain:0x7f.1", "127.0.0.1"),
]


@pytest.mark.parametrize(("specifier", "host"), HOSTS_OF_RULES)
def test_a_rule_names_its_host_as_addresses_are_read(specifier: str, host: str) -> None:
    assert parse_host(specifier).host == host


@pytest.mark.parametrize("specifier", ["domain:faß.example", "domain:xς.example", "domain:[1:2]", "domain:ü*.example"])
def test_a_rule_whose_host_is_read_in_two_ways_is_broken(specifier: str) -> None:
    with pytest.raises(BadPattern):
        parse_host(specifier)
