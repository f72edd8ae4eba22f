"""The patterns that are no paths and no commands: hosts, names of tools and agents, arguments of other tools."""

from __future__ import annotations

import re
from dataclasses import dataclass

from countersign.gate.patterns.errors import BadPattern
from countersign.gate.patterns.host import ascii_names, spelled_address
from countersign.gate.patterns.wildcard import wildcard_match


@dataclass(frozen=True, slots=True)
class HostPattern:
    """``domain:HOST``. A leading ``*.`` takes any number of labels, a ``*`` elsewhere never crosses a dot."""

    host: str

    def matches(self, host: str) -> bool:
        if self.host == "*":
            return host != ""
        labels, wanted = host.split("."), self.host.split(".")
        if wanted[0] == "*" and len(wanted) > 1:
            wanted = wanted[1:]
            head, labels = labels[: -len(wanted)], labels[-len(wanted) :]
            if not head or "" in head:
                return False
        return len(labels) == len(wanted) and all(
            wildcard_match(pattern.split("*"), label) for pattern, label in zip(wanted, labels, strict=True)
        )


def parse_host(text: str) -> HostPattern:
    """Read the specifier of a ``WebFetch`` rule.

    Raises:
        BadPattern: it is not ``domain:`` and a host name.
    """
    body = text.strip()
    if not body.startswith("domain:"):
        raise BadPattern("a `WebFetch` rule says `domain:` and a host name")
    written = body.removeprefix("domain:").strip().rstrip(".").lower()
    names = ascii_names(written)
    if len(names) > 1:
        raise BadPattern(f"not all programs read its host name alike; write `{names[0]}` or `{names[1]}`")
    host = names[0] if names else ""
    wild_letters = any("*" in label and not label.isascii() for label in written.split("."))
    if wild_letters or not re.fullmatch(r"\*|\[[0-9a-f:.]+\]|(?:[a-z0-9_*-]+\.)*[a-z0-9_*-]+", host):
        raise BadPattern("its host name is invalid")
    address = spelled_address(host)
    if host.startswith("[") and address is None:
        raise BadPattern("its host name is invalid")
    return HostPattern(address or host)


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A name with ``*`` for any text, of a tool or of an agent."""

    name: str

    @property
    def literal(self) -> bool:
        return "*" not in self.name

    def matches(self, name: str) -> bool:
        return self.name == name if self.literal else wildcard_match(self.name.split("*"), name)


@dataclass(frozen=True, slots=True)
class ParamPattern:
    """``param:value`` on a top-level scalar argument; ``*`` in the value stands for any text, case does not count."""

    param: str
    value: str

    def matches(self, value: str) -> bool:
        return wildcard_match(self.value.casefold().split("*"), value.casefold())


def parse_param(text: str) -> ParamPattern:
    """Read the specifier of a rule for any other tool.

    Raises:
        BadPattern: it is not ``param:value``.
    """
    param, colon, value = text.strip().partition(":")
    if not colon or not re.fullmatch(r"[\w.-]+", param):
        raise BadPattern("a rule for this tool says `param:value`, or nothing in parentheses")
    return ParamPattern(param, value.strip())
