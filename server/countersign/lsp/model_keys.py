"""Keys of model servers: from a named variable, else from the client's secret storage, asked for each request.

A key is bound to the origin that the person saw when they entered it, so that a workspace's `baseUrl` cannot send it
elsewhere. It enters no environment, so no child process gets it, and it is redacted from chats and ledger.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from countersign.agents.models.endpoint import OWN_URLS, base_url, is_loopback, origin
from countersign.settings.policy import ModelConfig, Policy
from countersign.tools.visible import as_message
from countersign.wire.base import WireModel
from countersign.wire.errors import ClientError, ModelError
from countersign.wire.providers import ModelListResult, ModelView, SecretReadParams, SecretReadResult

VARIABLES: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GEMINI_API_KEY",
}
"""The variables of the providers' own SDKs; they count for the provider's own server alone."""
SHORTEST_SECRET = 6
"""A shorter key is not redacted: it would blank out ordinary words."""


class ModelKeys:
    """The keys of one server. A class because the values that were read must be known for redaction."""

    def __init__(
        self,
        *,
        ask: Callable[[str, WireModel], Awaitable[Any]],
        can_ask: Callable[[], bool],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._ask = ask
        self._can_ask = can_ask
        self._environment = environment
        self._read: frozenset[str] = frozenset()

    def values(self) -> frozenset[str]:
        """Return every key that was read, for redaction."""
        return self._read

    async def key(self, config: ModelConfig, url: str) -> str | None:
        """Return the key of a model for a URL; None where nobody gave one.

        Raises:
            ModelError: the person entered the key for another origin.
        """
        if config.api_key_env is not None:
            return self._environment.get(config.api_key_env) or None
        if self._can_ask() and not is_loopback(url):
            params = SecretReadParams(name=secret_name(config), origin=origin(url))
            try:
                found: SecretReadResult = await self._ask("secret/read", params)
            except ClientError as error:
                raise ModelError(f"the editor did not give the key of `{config.name}`; {error}") from None
            if found.value:
                if len(found.value) >= SHORTEST_SECRET:
                    self._read |= {found.value}
                return found.value
            if found.reason:
                raise ModelError(as_message(found.reason))
        return self._environment.get(VARIABLES.get(config.provider, "")) or None if config.base_url is None else None


def secret_name(config: ModelConfig) -> str:
    """Return the name under which a client keeps a model's key."""
    return f"models.{config.name}"


def list_models(policy: Policy) -> ModelListResult:
    """Return every model of the settings, with where its key is sent."""
    views = []
    for config in policy.models.values():
        url = base_url(config.base_url or OWN_URLS.get(config.provider, ""))
        keyed = config.provider in OWN_URLS or (config.provider == "ollama" and config.base_url is not None)
        views.append(
            ModelView(
                name=config.name,
                provider=config.provider,
                model=config.model,
                origin=origin(url) if url else None,
                secret=secret_name(config) if keyed and url and config.api_key_env is None else None,
            )
        )
    return ModelListResult(models=views)
