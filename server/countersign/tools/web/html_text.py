"""The readable text of an HTML page, in time linear in its length. Not a parser: markup that is wrong reads as text."""

from __future__ import annotations

import html
import re

_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_CLOSES = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _SKIPPED}
_BLOCKS = frozenset(
    "address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol p pre section summary table tbody td th thead title tr ul".split()
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9]*")
_LINK = re.compile(r"""\bhref\s*=\s*(?:"([^"]{1,2000})"|'([^']{1,2000})')""", re.IGNORECASE)


def html_text(page: str) -> str:
    """Return the text of a page: blocks as lines, headings and list items marked, links with their address."""
    parts: list[str] = []
    links: list[str] = []
    at = 0
    while at < len(page):
        start = page.find("<", at)
        if start < 0:
            parts.append(page[at:])
            break
        parts.append(page[at:start])
        if page.startswith("<!--", start):
            end = page.find("-->", start)
            at = len(page) if end < 0 else end + 3
            continue
        end = page.find(">", start)
        if end < 0:
            parts.append(page[start:])
            break
        tag = page[start + 1 : end]
        at = end + 1
        named = _NAME.match(tag)
        if named is None:
            if not tag.startswith(("!", "?")):
                parts.append(page[start:at])
            continue
        name = named[0].lower()
        if name in _SKIPPED and not tag.endswith("/"):
            close = _CLOSES[name].search(page, at)
            closed = page.find(">", close.end()) if close is not None else -1
            at = len(page) if closed < 0 else closed + 1
            continue
        if name == "a":
            found = _LINK.search(tag)
            links.append(found[1] or found[2] if found else "")
        elif name == "/a" and links:
            address = links.pop()
            parts.append(f" ({address})" if address.startswith(("http://", "https://", "/")) else "")
        elif name.removeprefix("/") in _BLOCKS:
            parts.append("\n" + _HEADINGS.get(name, "- " if name == "li" else ""))
    lines = (" ".join(line.split()) for line in html.unescape("".join(parts)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
