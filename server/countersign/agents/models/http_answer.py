"""One request to a model server, answered by a stream of bytes; whatever goes wrong becomes one ModelError.

Redirects are not followed, because they would carry the key elsewhere. Compressed answers are refused: they can grow a
thousandfold while they are unpacked. A server on this machine is never reached through a proxy.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from countersign.agents.models.endpoint import Endpoint
from countersign.agents.models.failures import failure, missing_key
from countersign.settings.policy import ModelConfig
from countersign.tools.authorities import EXTRA_CA_VARIABLE, BadAuthorities, tls_context
from countersign.tools.loading import load
from countersign.wire.errors import ModelBusy, ModelError

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 600.0
"""Between two pieces: a large model is loaded from disk, or thinks, before its first word."""
LONGEST_ERROR = 64 << 10
"""Bytes that are read of the body of an error."""

KeyFor = Callable[[ModelConfig, str], Awaitable[str | None]]
"""Gives the key of a model for a URL, or None. Raises ModelError where the settings name a key that is not there."""


@dataclass(frozen=True, slots=True)
class Network:
    """The network settings of the editor. ``proxy`` None leaves it to the environment (HTTPS_PROXY, NO_PROXY)."""

    proxy: str | None = None
    no_proxy: tuple[str, ...] = ()
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Access:
    """How model servers are reached: the keys, and the network. Handed in, so that a model knows neither's source."""

    key: KeyFor
    network: Callable[[], Network] = field(default=Network)


def environment_access(environment: Mapping[str, str] = os.environ) -> Access:
    """Return an access whose keys are variables of the environment: what there is without an editor."""

    async def key(config: ModelConfig, url: str) -> str | None:
        return environment.get(config.api_key_env) if config.api_key_env else None

    return Access(key)


async def key_of(at: Endpoint, config: ModelConfig, access: Access, *, needed: bool) -> str | None:
    """Return the model's key; None where the server is on this machine, or needs none, and there is none.

    Raises:
        ModelError: the settings hold no URL, or the key is missing.
    """
    if at.url is None:
        raise bad_address(at)
    key = await access.key(config, at.url)
    if not key and not at.local and (needed or config.api_key_env):
        raise missing_key(at, config.api_key_env)
    return key or None


@asynccontextmanager
async def post(
    at: Endpoint, path: str, body: Mapping[str, Any], headers: Mapping[str, str], network: Network
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Send JSON; yield the bytes of the answer. Leaving the block closes the connection.

    Raises:
        ModelError: from the request, and for whatever fails while the answer is read.
    """
    if at.url is None:
        raise bad_address(at)
    # A tenth of a second or more, that neither a start without a model server nor the event loop need pay.
    await load("httpx")
    import httpx  # noqa: PLC0415

    from countersign.agents.models.bounded_network import BoundedNetwork, Received  # noqa: PLC0415 it imports httpcore

    timeout = httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS)
    # What is packed is not asked for.
    headers = {"accept-encoding": "identity", **headers}
    try:
        client, received = await _client(at, network, timeout), Received(at.vendor)
        for transport in (client._transport, *client._mounts.values()):
            if isinstance(transport, httpx.AsyncHTTPTransport):
                # The HTTP client has no parameter for it.
                transport._pool._network_backend = BoundedNetwork(received)
        async with (
            client,
            client.stream("POST", f"{at.url}{path}", json=body, headers=headers) as response,
        ):
            received.begin_body()
            if response.status_code != httpx.codes.OK:
                raise failure(at, response.status_code, await _beginning(response.aiter_raw()), response.headers)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ModelError(
                    f"{at.vendor} sent a compressed answer that nobody asked for; check the proxy in front of it"
                )
            yield response.aiter_raw()
    except httpx.ConnectError as error:
        raise _unreachable(at, error) from None
    except httpx.TimeoutException:
        message = f"{at.vendor} at `{at.shown}` does not answer; look at its log"
        raise (ModelError(message) if at.local else ModelBusy(message)) from None
    except httpx.HTTPError as error:
        raise ModelBusy(f"the connection to {at.vendor} failed ({type(error).__name__}); try again") from None
    except httpx.InvalidURL:
        raise bad_address(at) from None
    except (OSError, OverflowError, ValueError, ImportError, ExceptionGroup) as error:
        # The address, the key or a proxy is nothing that the HTTP client can use.
        kind = type(error).__name__
        message = f"{at.vendor} at `{at.shown}` cannot be asked ({kind}); check `baseUrl`, the key and the proxy"
        raise ModelError(message) from None


def bad_address(at: Endpoint) -> ModelError:
    """Return the error for an address that is no URL."""
    return ModelError(f"`{at.shown}` is not a URL; correct `baseUrl` of `{at.entry}`")


async def _client(at: Endpoint, network: Network, timeout: Any) -> httpx.AsyncClient:
    verify = network.verify or at.local
    try:
        context = await tls_context(verify=verify)
    except BadAuthorities as error:
        raise ModelError(str(error)) from None
    await load("httpx")
    import httpx  # noqa: PLC0415

    if at.local:
        return httpx.AsyncClient(timeout=timeout, trust_env=False, verify=context)
    if network.proxy is None:
        return httpx.AsyncClient(timeout=timeout, verify=context)
    direct = {f"all://{_pattern(host)}": None for host in network.no_proxy if host.strip()}
    mounts = {"all://": httpx.AsyncHTTPTransport(proxy=network.proxy, verify=context)}
    for pattern in direct:
        mounts[pattern] = httpx.AsyncHTTPTransport(verify=context)
    return httpx.AsyncClient(timeout=timeout, trust_env=False, verify=context, mounts=mounts)


def _pattern(host: str) -> str:
    """Return a host of `http.noProxy` as httpx matches it: `.example.com` and `*.example.com` take every subdomain."""
    host = host.strip()
    if host == "*":
        return ""
    return f"*{host}" if host.startswith(".") else host


def _unreachable(at: Endpoint, error: Exception) -> ModelError:
    if at.vendor == "Ollama":
        return ModelError(f"no Ollama answers at `{at.shown}`; start it with `ollama serve`")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        told = f"the certificate of `{at.shown}` cannot be verified; add its authority with `{EXTRA_CA_VARIABLE}`"
        return ModelError(told)
    message = f"no server answers at `{at.shown}`; check the network and `baseUrl` of `{at.entry}`"
    return ModelError(message) if at.local else ModelBusy(message)


async def _beginning(chunks: AsyncIterator[bytes]) -> bytes:
    """Return the beginning of an error's body, as much as may hold its text."""
    found = bytearray()
    async for chunk in chunks:
        found += chunk
        if len(found) >= LONGEST_ERROR:
            break
    return bytes(found[:LONGEST_ERROR])
