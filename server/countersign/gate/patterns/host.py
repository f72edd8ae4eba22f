"""One spelling for each host, or none where programs read it differently. Pure.

An address has many spellings, and a name in other letters than ASCII has two where the old and the new way to translate
it disagree (IDNA 2003 and 2008: `ß` is `ss` for one and a letter of its own for the other).
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata

_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}")


def spelled_address(host: str) -> str | None:
    """Return the IP address that a host in lower case spells, also in the ways of old (`0x7f.1`, `2130706433`) and as
    IPv4 in IPv6 clothes; an IPv6 address in brackets. None where it is no address."""
    bare = host.strip("[]")
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        if _NUMBERS.fullmatch(bare) is None:
            return None
        try:
            return socket.inet_ntoa(socket.inet_aton(bare))
        except OSError:
            return None
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped) if address.ipv4_mapped is not None else f"[{address}]"
    return str(address)


def ascii_names(host: str) -> tuple[str, ...]:
    """Return the host in ASCII, in each way in which programs translate it: one way for nearly all; none where it
    cannot be translated."""
    if host.isascii():
        return (host,)
    labels = [_ascii_labels(label) for label in re.split("[.\u3002\uff0e\uff61]", host)]
    if not all(labels):
        return ()
    # Names in which several labels are read in two ways are nobody's: all labels by one way, then all by the other.
    return tuple(dict.fromkeys(".".join(label[way] for label in labels) for way in (0, -1)))


def _ascii_labels(label: str) -> tuple[str, ...]:
    if label.isascii():
        return (label,)
    try:
        older = label.encode("idna").decode("ascii")
        # Forms that all programs fold alike (`ｅ`) are no letters of their own in either way.
        itself = unicodedata.normalize("NFKC", label).lower()
        if older.encode("ascii").decode("idna") == itself:
            return (older,)
        return older, "xn--" + itself.encode("punycode").decode("ascii")
    except UnicodeError:
        return ()
