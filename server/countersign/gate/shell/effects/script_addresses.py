"""The path that an address means by which an interpreter loads a script (``node --import file:///a/b%2ejs``)."""

from __future__ import annotations

import re
from urllib.parse import unquote


def path_of_address(address: str) -> str | None:
    """The path, as a parser of addresses finds it: without a scheme and host of files, blanks around it, lines and tabs
    in it and what stands behind it, with slashes for backslashes, and unescaped. None where it is the same text."""
    plain = address.strip(_BLANKS).translate(_LEFT_OUT)
    scheme = _SCHEME.match(plain)
    path = _BEHIND_PATH.split(plain[scheme.end() :] if scheme else plain, maxsplit=1)[0].replace("\\", "/")
    if scheme:
        host = _HOST.match(path)
        path = "/" + path[host.end() if host else 0 :].lstrip("/")
    path = unquote(path)
    return None if path == address else path


_BLANKS = "".join(map(chr, range(0x21)))
_LEFT_OUT = dict.fromkeys(map(ord, "\t\n\r"))
_SCHEME = re.compile(r"(?i)file:")
_HOST = re.compile(r"//[^/]*")
_BEHIND_PATH = re.compile(r"[?#]")
