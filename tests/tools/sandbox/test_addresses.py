"""Which hosts are listed, and which addresses the sandbox's proxy may connect to, as tables."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.tools.sandbox.addresses import as_address, is_listed, is_public, may_connect, plain_host


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("Registry.Example", "registry.example"),
        ("registry.example.", "registry.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("[2001:4860::8888]", "2001:4860::8888"),
        ("2001:4860:0:0::8888", "2001:4860::8888"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("under_score.example", "under_score.example"),
        *[
            (written, None)
            for written in (
                "", ".", "a..b", "-a.example", "a b", "a/b", "a@b", "a:b", "a\n.example", "a\0.example", "fe80::1%eth0",
                "x" * 64 + ".example", "*", "*.example", "a%2eexample", "exa\u200bmple.com\u2024",
                "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "faß.example",
            )
        ],
    ],
)  # fmt: skip
def test_a_host_has_one_spelling_or_none(written: str, host: str | None) -> None:
    assert plain_host(written) == host


@given(st.text(max_size=40))
def test_a_host_is_spelled_as_itself(text: str) -> None:
    host = plain_host(text)
    assert host is None or plain_host(host) == host


@pytest.mark.parametrize(
    ("host", "listed", "expected"),
    [
        ("a.example", ["a.example"], True),
        ("a.example", ["A.Example."], True),
        ("b.a.example", ["a.example"], False),
        ("a.example", ["*.a.example"], False),
        ("b.a.example", ["*.a.example"], True),
        ("c.b.a.example", ["*.a.example"], True),
        ("xa.example", ["*.a.example"], False),
        ("a.example.evil.example", ["a.example", "*.a.example"], False),
        ("a.example", ["*"], False),
        ("a.example", ["*.*"], False),
        ("a.example", [""], False),
        ("10.1.2.3", ["10.0.0.0/8"], True),
        ("10.1.2.3", ["*.2.3"], False),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("10.1.2.3", ["10.1.2.3"], True),
        ("a.example", ["0.0.0.0/0"], False),
        ("127.0.0.1", ["localhost"], False),
    ],
)
def test_what_the_setting_lists(host: str, listed: list[str], expected: bool) -> None:
    assert is_listed(host, listed) is expected


PRIVATE = (
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:127.0.0.1",
    "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:db8::1",
    "2002:7f00:1::", "2002:a9fe:a9fe::", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
)  # fmt: skip
PUBLIC = ("1.1.1.1", "8.8.8.8", "172.32.0.1", "192.0.1.1", "198.20.0.1", "2606:4700::1111", "2a00:1450::1", "9.9.9.9")


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_public(address: str) -> None:
    found = as_address(address)
    assert found is not None
    assert not is_public(found)
    assert not may_connect(found, "a.example", ["a.example", "*.example", "localhost"])
    assert may_connect(found, "a.example", [str(found)])


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public(address: str) -> None:
    found = as_address(address)
    assert found is not None
    assert is_public(found)


def test_localhost_is_loopback_only_where_it_is_listed() -> None:
    loopback, other = ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("10.0.0.1")
    assert may_connect(loopback, "localhost", ["localhost"])
    assert not may_connect(loopback, "localhost", ["a.example"])
    assert not may_connect(loopback, "a.example", ["localhost", "a.example"])
    assert not may_connect(other, "localhost", ["localhost"])


@given(st.ip_addresses())
def test_nothing_is_public_that_python_calls_private(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if is_public(address):
        assert address.is_global or address in ipaddress.ip_network("192.88.99.0/24")
        assert not address.is_loopback
        assert not address.is_link_local
        assert not address.is_multicast
