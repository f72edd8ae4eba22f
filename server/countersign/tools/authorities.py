"""The certificate authorities that count: the usual ones, the system's, and those that the editor's variable names."""

from __future__ import annotations

import asyncio
import os
import ssl
from functools import lru_cache

from countersign.tools.visible import as_title

EXTRA_CA_VARIABLE = "NODE_EXTRA_CA_CERTS"
"""The variable that names further certificate authorities, as the editor itself reads it."""


class BadAuthorities(Exception):
    """The file of further authorities cannot be read."""


async def tls_context(*, verify: bool = True) -> ssl.SSLContext:
    """Return the TLS context for a server.

    Raises:
        BadAuthorities: the editor's variable names a file without readable certificates.
    """
    return await asyncio.to_thread(_blocking_context, verify, os.environ.get(EXTRA_CA_VARIABLE, ""))


@lru_cache(maxsize=4)
def _blocking_context(verify: bool, extra: str) -> ssl.SSLContext:
    import httpx  # noqa: PLC0415 - loaded when a server is asked, off the event loop

    context = httpx.create_ssl_context(verify=verify)
    if verify:
        context.load_default_certs()
        if extra:
            try:
                context.load_verify_locations(extra)
            except OSError:  # an SSLError is one
                raise BadAuthorities(
                    f"`{EXTRA_CA_VARIABLE}` names `{as_title(extra)}`, which holds no certificates that can be read; "
                    "correct it and restart the editor"
                ) from None
    return context
