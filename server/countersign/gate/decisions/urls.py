"""Which host a URL asks, read so that no reader of URLs could take it for another.

Two readers that disagree about a URL are how a rule for one host comes to cover another. What is not written plainly
has no host here and asks; deny rules are still looked for under every host that some reader could see in it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from countersign.gate.patterns import ascii_names, spelled_address
from countersign.gate.probes.hidden_characters import hidden_character

_PLAIN_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, slots=True)
class UrlHost:
    """``host`` is lower case without a trailing dot, or None with the reason in ``unclear``.

    ``suspects`` are all hosts that deny and ask rules are looked for under, ``host`` among them.
    """

    host: str | None
    suspects: tuple[str, ...]
    unclear: str | None = None


def url_host(url: str) -> UrlHost:
    """Read the host of a URL. Never raises."""
    suspects = _suspects(url)
    if hidden_character(url) is not None or url != url.strip() or " " in url:
        return UrlHost(None, suspects, "the address contains characters that cannot be seen")
    if "\\" in url:
        return UrlHost(None, suspects, "the address contains a backslash, which not everybody reads alike")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where the port is no number
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return UrlHost(None, suspects, "the address cannot be read")
    if parts.scheme not in ("http", "https"):
        return UrlHost(None, suspects, "the address is neither http nor https")
    if "@" in parts.netloc:
        return UrlHost(None, suspects, "the address carries a user name, which looks like a host")
    if ":" in host:
        host = f"[{host}]"
    names = ascii_names(host)
    if len(names) > 1:
        return UrlHost(None, suspects, "not all programs read the name of its host alike")
    host = names[0] if names else ""
    if _PLAIN_HOST.fullmatch(host) is None:
        return UrlHost(None, suspects, "the address names no plain host")
    if spelled_address(host) not in (None, host):
        return UrlHost(None, suspects, "the address spells a number in an unusual way")
    return UrlHost(host, tuple(dict.fromkeys((host, *suspects))))


def _suspects(url: str) -> tuple[str, ...]:
    """Every host that some reader could see in this text."""
    text = re.sub(r"[\t\r\n]", "", url).strip("".join(map(chr, range(33)))).replace("\\", "/")
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/*([^/?#]*)", text)
    authority = found[1] if found else text.lstrip("/").split("/", 1)[0]
    hosts: dict[str, None] = {}
    for piece in (authority.rsplit("@", 1)[-1], authority.split("@", 1)[0], authority):
        # Folding turns `ß` into `ss` at once, which only some programs do.
        for text in (unquote(piece).lower(), unquote(piece).casefold()):
            host = unicodedata.normalize("NFKC", text).replace("\u3002", ".")
            host = re.sub(r":\d*$", "", host).rstrip(".")
            for spelling in (host, *ascii_names(host), spelled_address(host)):
                if spelling:
                    hosts[spelling] = None
    return tuple(hosts)
