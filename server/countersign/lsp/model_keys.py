"""Keys of model servers and hosted agents: from a named variable, else from the client's secret storage, asked for
each request and each start.

A key is bound to what the person saw when they entered it, so that a workspace cannot send it elsewhere: to the origin
of a model's server, or to the command line of an agent. A model's key enters no environment; an agent's enters that of
its process alone. Keys are redacted from chats and ledger.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from countersign.agents.models.endpoint import OWN_URLS, base_url, is_loopback, origin
from countersign.settings.escape_text import shown
from countersign.settings.policy import AgentConfig, ModelConfig, Policy
from countersign.tools.visible import as_message
from countersign.wire.agents import AgentSecret
from countersign.wire.base import WireModel
from countersign.wire.errors import ClientError, ModelError
from countersign.wire.providers import ModelListResult, ModelView, SecretReadParams, SecretReadResult

VARIABLES: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GEMINI_API_KEY",
}
"""The variables of the providers' own SDKs; they count for the provider's own server alone."""
PACKAGE_RUNNERS = frozenset(
    "npx npm pnpm pnpx yarn bun bunx deno uv uvx pipx poetry pdm hatch mise asdf direnv make just task env".split()
)
"""Programs that run what a folder holds."""
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
            found = await self._asked(secret_name(config), origin(url), config.name)
            if found:
                return found
        return self._environment.get(VARIABLES.get(config.provider, "")) or None if config.base_url is None else None

    async def agent_variables(self, config: AgentConfig, folder: str) -> dict[str, str]:
        """Return the variables of an agent whose values hold secrets; ``folder`` is where it is started.

        Raises:
            ModelError: a secret has no value, or the person entered it for another command line.
        """
        if not config.secret_env:
            return {}
        if not self._can_ask():
            raise ModelError(
                f"this editor stores no secrets, so `${{secret:…}}` of the agent {shown(config.name)} has no value;"
                " name a variable of the environment with `${env:NAME}` instead"
            )
        values: dict[str, str] = {}
        for view in agent_secrets(config, folder):
            value = await self._asked(view.secret, view.origin, config.name)
            if value is None:
                raise ModelError(
                    f"`${{secret:{view.name}}}` of the agent {shown(config.name)} has no value yet; enter it with"
                    " `Countersign: Set Key`, then send the message again"
                )
            values[view.name] = value
        return {variable: text.filled(values) for variable, text in config.secret_env.items()}

    async def _asked(self, name: str, bound_to: str, owner: str) -> str | None:
        try:
            found: SecretReadResult = await self._ask("secret/read", SecretReadParams(name=name, origin=bound_to))
        except ClientError as error:
            raise ModelError(f"the editor did not give the key of `{owner}`; {error}") from None
        if not found.value and found.reason:
            raise ModelError(as_message(found.reason))
        if found.value and len(found.value) >= SHORTEST_SECRET:
            self._read |= {found.value}
        return found.value or None


def agent_secrets(config: AgentConfig, folder: str) -> list[AgentSecret]:
    """Return the secrets that an agent is started with, each with what it is bound to: its environment and its command
    line, and ``folder`` where that could decide what runs. Looks at the files that the arguments may name."""
    settings = (f"{variable}={value}" for variable, value in sorted(config.env.items()))
    bound_to = shlex.join((*settings, config.command or "", *config.args))
    if _depends_on_folder(config, folder):
        bound_to += f" (in {shlex.quote(folder)})"
    names = dict.fromkeys(name for text in config.secret_env.values() for name in text.names)
    # Neither an agent's name nor a secret's has a slash.
    return [AgentSecret(name=name, secret=f"agents.{config.name}/{name}", origin=bound_to) for name in names]


def _depends_on_folder(config: AgentConfig, folder: str) -> bool:
    """Whether the program could be another one in another folder: it is found there, or is led to a file there."""
    command = config.command or ""
    if os.path.basename(command) in PACKAGE_RUNNERS or ("/" in command and not os.path.isabs(command)):
        return True
    values = (part for word in config.args for part in (word, word.partition("=")[2]))
    return any(value and not os.path.isabs(value) and os.path.exists(os.path.join(folder, value)) for value in values)


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
