"""Names and addresses of hosts that the sandbox's proxy may connect to.

A name is resolved here, outside the sandbox, and the answer is checked: only addresses of the public internet count,
and others only where ``sandbox.hosts`` lists that very address or network. Whoever controls a name can therefore not
turn it to this machine, its network or a cloud's metadata service.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

from countersign.gate import ascii_names, spelled_address

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
)
_LOCAL_NAMES = ("localhost",)
_NOT_PUBLIC_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip
"""IANA's special-purpose registry, multicast, and the address by which one cloud reaches its hosts."""
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
"""Within the global range: protocol assignments (Teredo among them), documentation, and 6to4, which hold IPv4."""


def plain_host(text: str) -> str | None:
    """The host as rules name it: lower case, ASCII, no trailing dot, an address in its usual spelling; else None.

    None too for what the system would take for an address though it is not written as one (`2130706433`), and for a
    name that not all programs translate alike: a rule for the host would not be found.
    """
    name = text.strip("[]") if text.startswith("[") else text
    if (address := as_address(name)) is not None:
        return str(address)
    names = ascii_names(name.rstrip(".").lower())
    if len(names) != 1 or _NAME.fullmatch(names[0]) is None:
        return None
    address = spelled_address(names[0])
    return names[0] if address in (None, names[0]) else None


def as_address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        # A zone names an interface of this machine; an IPv4 address in IPv6 clothes is that IPv4 address.
        return None if address.scope_id is not None else address.ipv4_mapped or address
    return address


def is_listed(host: str, hosts: Iterable[str]) -> bool:
    """Whether `sandbox.hosts` names this host: itself, ``*.host`` for all below it, or a network for an address."""
    address = as_address(host)
    for listed in hosts:
        wanted = listed.strip().lower().rstrip(".")
        if wanted.startswith("*."):
            below = plain_host(wanted[2:])
            if below is not None and address is None and host.endswith(f".{below}"):
                return True
        elif "/" in wanted:
            if address is not None and _in_network(address, wanted):
                return True
        elif plain_host(wanted) == host:
            return True
    return False


def is_public(address: Address) -> bool:
    """Whether the address belongs to the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    return address in _PUBLIC_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def may_connect(address: Address, host: str, hosts: Iterable[str]) -> bool:
    """Whether the proxy may connect to this address for this host."""
    listed = tuple(hosts)
    if is_public(address) or is_listed(str(address), listed):
        return True
    return host in _LOCAL_NAMES and address.is_loopback and is_listed(host, listed)


def blocking_resolve(host: str, port: int) -> tuple[Address, ...]:
    """The addresses of a host, as this machine resolves it.

    Raises:
        OSError: the name cannot be resolved.
    """
    if (literal := as_address(host)) is not None:
        return (literal,)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = (as_address(str(entry[4][0])) for entry in found)
    return tuple(dict.fromkeys(address for address in addresses if address is not None))


def _in_network(address: Address, network: str) -> bool:
    try:
        return address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
