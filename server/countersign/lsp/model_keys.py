"""Keys of model servers and hosted agents: from a named variable, else from the client's secret storage, else from the
system's keyring (for clients without one), asked for each request and each start.

A key is bound to what the person saw when they entered it, so that a workspace cannot send it elsewhere: to the origin
of a model's server, or to all that decides what is started as an agent (``agents/acp/launch_binding.py``). A model's
key enters no environment; an agent's enters that of its process alone. Keys are redacted from chats and ledger.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from typing import Any

from countersign.agents.models.endpoint import OWN_URLS, base_url, is_loopback, origin
from countersign.settings.escape_text import shown
from countersign.settings.policy import AgentConfig, ModelConfig, Policy
from countersign.settings.stored_keys import OtherOriginError, agent_key, blocking_stored_key, entering
from countersign.settings.system_keyring import KeyringError
from countersign.tools.visible import as_message
from countersign.wire.agents import AgentSecret
from countersign.wire.base import WireModel
from countersign.wire.errors import ClientError, ModelError
from countersign.wire.providers import ModelListResult, ModelView, SecretReadParams, SecretReadResult

log = logging.getLogger(__name__)

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
        """``can_ask`` tells whether the client has a secret storage; without one the system's keyring is read."""
        self._ask = ask
        self._can_ask = can_ask
        self._environment = environment
        self._read: frozenset[str] = frozenset()

    def values(self) -> frozenset[str]:
        """Return every key that was read, for redaction."""
        return self._read

    async def key(self, config: ModelConfig, url: str) -> str | None:
        """Return the key of a model for a URL; None where nobody gave one. A server on this machine may go without.

        Raises:
            ModelError: the person entered the key for another origin, or the keyring fails and no variable stands in.
        """
        if config.api_key_env is not None:
            return self._environment.get(config.api_key_env) or None
        variable = VARIABLES.get(config.provider, "") if config.base_url is None else ""
        from_environment = self._environment.get(variable) or None
        secret, bound_to = secret_name(config), origin(url)
        if is_loopback(url):
            return (await self._optional(secret, bound_to) if _has_key(config) else None) or from_environment
        if self._can_ask():
            return await self._asked(secret, bound_to, config.name) or from_environment
        found, why = None, ""
        try:
            found = await self._of_keyring(secret, bound_to)
        except KeyringError as error:
            why = f" ({as_message(str(error))})"
        if not found and not from_environment and variable:
            raise ModelError(
                f"the key of {shown(config.name)} is missing; set `{variable}`, or enter the key with"
                f" `{as_message(entering(secret, bound_to))}` in a terminal{why}"
            )
        return found or from_environment

    async def _optional(self, secret: str, bound_to: str) -> str | None:
        """Return the key of a server that may need none; it is asked without one where none is there for it."""
        try:
            if self._can_ask():
                return await self._asked(secret, bound_to, secret)
            return await self._of_keyring(secret, bound_to)
        except (ModelError, KeyringError):
            return None

    async def agent_variables(self, config: AgentConfig, binding: str) -> dict[str, str]:
        """Return the variables of an agent whose values hold secrets. ``binding``: how it is started.

        Raises:
            ModelError: a secret has no value, or the person entered it for another launch.
        """
        if not config.secret_env:
            return {}
        values: dict[str, str] = {}
        for view in agent_secrets(config, binding):
            try:
                value = await self._agent_key(config, view)
            except KeyringError as error:
                raise ModelError(as_message(str(error))) from None
            if value is None:
                raise ModelError(
                    f"`${{secret:{view.name}}}` of the agent {shown(config.name)} has no value yet; enter it with"
                    f" {self.how_to_enter(view)}, then send the message again"
                )
            values[view.name] = value
        return {variable: text.filled(values) for variable, text in config.secret_env.items()}

    async def login_keys(self, config: AgentConfig, binding: str, variables: Sequence[str]) -> dict[str, str]:
        """Return the keys of an agent's login methods, by variable; see ``agents/acp/key_login.py``."""
        values: dict[str, str] = {}
        for name in variables:
            view = AgentSecret(name=name, secret=agent_key(config.name, name), origin=binding)
            try:
                value = await self._agent_key(config, view)
            except (KeyringError, ModelError) as error:
                log.info("the key for %s of %s is not read: %s", name, config.name, as_message(str(error)))
                continue
            if value is not None:
                values[name] = value
        return values

    def how_to_enter(self, key: AgentSecret) -> str:
        """Return the command by which a person enters a key of an agent."""
        return (
            "`Countersign: Set Key`"
            if self._can_ask()
            else f"`{as_message(entering(key.secret, key.origin))}` in a terminal"
        )

    async def _agent_key(self, config: AgentConfig, view: AgentSecret) -> str | None:
        if self._can_ask():
            return await self._asked(view.secret, view.origin, config.name)
        return await self._of_keyring(view.secret, view.origin)

    async def _asked(self, name: str, bound_to: str, owner: str) -> str | None:
        try:
            found: SecretReadResult = await self._ask("secret/read", SecretReadParams(name=name, origin=bound_to))
        except ClientError as error:
            raise ModelError(f"the editor did not give the key of `{owner}`; {error}") from None
        if not found.value and found.reason:
            raise ModelError(as_message(found.reason))
        return self._known(found.value)

    async def _of_keyring(self, name: str, bound_to: str) -> str | None:
        """Return a key of the keyring.

        Raises:
            KeyringError: there is no keyring, or it fails.
            ModelError: the person entered the key for something else.
        """
        try:
            return self._known(await asyncio.to_thread(blocking_stored_key, name, bound_to))
        except OtherOriginError as error:
            raise ModelError(as_message(str(error))) from None

    def _known(self, value: str | None) -> str | None:
        if value and len(value) >= SHORTEST_SECRET:
            self._read |= {value}
        return value or None


def agent_secrets(
    config: AgentConfig, binding: str, variables: Sequence[str] = (), plain: Container[str] = ()
) -> list[AgentSecret]:
    """Return the secrets that an agent is started with. ``binding``: what they are bound to (``launch_binding.py``);
    ``variables``: those that its login methods take keys in, ``plain``: those of them that are no secrets."""
    written = {name for text in config.secret_env.values() for name in text.names}
    names = dict.fromkeys((*(name for text in config.secret_env.values() for name in text.names), *variables))
    return [
        AgentSecret(
            name=name,
            secret=agent_key(config.name, name),
            origin=binding,
            plain=(name in plain and name not in written) or None,
        )
        for name in names
    ]


def secret_name(config: ModelConfig) -> str:
    """Return the name under which a client keeps a model's key."""
    return f"models.{config.name}"


def list_models(policy: Policy) -> ModelListResult:
    """Return every model of the settings, with where its key is sent."""
    views = []
    for config in policy.models.values():
        url = base_url(config.base_url or OWN_URLS.get(config.provider, ""))
        views.append(
            ModelView(
                name=config.name,
                provider=config.provider,
                model=config.model,
                origin=origin(url) if url else None,
                secret=secret_name(config) if _has_key(config) and url and config.api_key_env is None else None,
            )
        )
    return ModelListResult(models=views)


def _has_key(config: ModelConfig) -> bool:
    """Whether a key can be entered for a model; Ollama's own server has none."""
    return config.provider in OWN_URLS or (config.provider == "ollama" and config.base_url is not None)
