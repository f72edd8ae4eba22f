"""Connections to public addresses only: a name is resolved once, checked, and connected to as it was checked.

What runs on this machine or in its network trusts whoever can reach it, so a fetched address must not lead there: not
by a literal, not by a name, and not by a name that resolves differently the second time.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from countersign.tools.sandbox import addresses
from countersign.tools.sandbox.addresses import Address


class PrivateAddress(OSError):
    """The host is, or is also, on this machine or in a private network."""


def is_public(address: Address) -> bool:
    """Return true if an address belongs to the public internet, as the sandbox's proxy sees it."""
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return addresses.is_public(inner or address)


class PublicBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to addresses that were checked. A class because httpcore asks for one."""

    def __init__(self, allowed: Callable[[Address], bool] = is_public) -> None:
        self._allowed = allowed
        self._inner: Any = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of a host, if all of them are allowed.

        Raises:
            PrivateAddress: one of them is not.
        """
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        resolved = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
        if not resolved or not all(map(self._allowed, resolved)):
            raise PrivateAddress(f"`{host}` is not on the public internet")
        return await self._inner.connect_tcp(str(resolved[0]), port, timeout, local_address, socket_options)

    async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        """Never: a fetch names a host."""
        raise PrivateAddress("a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        """Wait between two tries."""
        await asyncio.sleep(seconds)
