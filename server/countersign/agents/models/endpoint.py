"""The address of a model server: as settings give it, as requests use it and as messages show it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from countersign.tools.visible import as_title

OWN_URLS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
}
"""The providers' own servers."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model on one server. ``url`` is None where the settings hold no URL; ``entry`` is its name in ``models``."""

    vendor: str
    entry: str
    model: str
    url: str | None
    shown: str

    @property
    def local(self) -> bool:
        """Whether the server runs on this machine."""
        return self.url is not None and is_loopback(self.url)


def endpoint(vendor: str, entry: str, model: str, given: str) -> Endpoint:
    """Return the endpoint at an address that the settings or the environment give."""
    url = base_url(given)
    return Endpoint(vendor, entry, model, url, shown_url(url or given))


def base_url(text: str) -> str | None:
    """Return the URL without a trailing slash, a name, a password or a query; None for what is no HTTP URL."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None  # the request reports it
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def origin(url: str) -> str:
    """Return scheme, host and port of a URL: where a key may be sent."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(url: str) -> bool:
    """Return true if the URL names this machine: by address or as ``localhost``, never by a name that looks so."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown_url(url: str) -> str:
    """Return the URL for a message: without a name, a password or a query, visible, and of bounded length."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    path_start = next((index for index, character in enumerate(rest) if character in "/?#"), len(rest))
    host = rest[:path_start].rpartition("@")[2]
    path = re.split(r"[?#]", rest[path_start:], maxsplit=1)[0].rpartition("@")[2]
    return as_title(f"{scheme}{separator}{host}{path}")
