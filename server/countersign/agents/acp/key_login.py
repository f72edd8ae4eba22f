"""Keys by which a hosted agent is logged in: those that a person entered for variables of its login methods
(``env_var`` of ACP).

A key is kept by the client, or in the system's keyring, bound to all that decides the agent's launch. It is read for
each start and enters the environment of that process alone; it stands in no setting.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from countersign.agents.acp.login import AuthMethod, KeyVariable
from countersign.settings.policy import AgentConfig
from countersign.settings.stored_keys import agent_key
from countersign.wire.agents import AgentSecret, LoginMethod
from countersign.wire.errors import InvalidAnswer

log = logging.getLogger(__name__)


class LoginKeys(Protocol):
    """Where the keys are kept."""

    async def login_keys(self, config: AgentConfig, binding: str, variables: Sequence[str]) -> Mapping[str, str]:
        """Return the keys that a person entered for these variables of this launch. One that cannot be read is left
        out: the agent says itself that it needs a login."""
        ...

    def how_to_enter(self, key: AgentSecret) -> str:
        """Return the command by which a person enters a key."""
        ...


class KeyLogin:
    """The keys of one agent. A class because it keeps in mind which ones the process was given."""

    def __init__(self, config: AgentConfig, keys: LoginKeys | None) -> None:
        self._config = config
        self._keys = keys
        self.given: Mapping[str, str] = {}
        """What the process that runs was started with, by variable."""

    async def read(self, binding: str, variables: Sequence[str], settled: Mapping[str, str]) -> Mapping[str, str]:
        """Return what the agent is started with of these; nothing takes the place of what is ``settled``."""
        wanted = [name for name in variables if name not in settled and name not in self._config.written_env]
        found = await self._keys.login_keys(self._config, binding, wanted) if self._keys and wanted else {}
        # No process can be started with a NUL in its environment.
        self.given = {name: key for name, key in found.items() if key and "\0" not in key}
        return self.given

    async def require(self, binding: str, method: AuthMethod) -> None:
        """Return if every key that this method needs was entered.

        Raises:
            InvalidAnswer: one was not.
        """
        names = [each.name for each in method.variables]
        found = await self._keys.login_keys(self._config, binding, names) if self._keys else {}
        for variable in method.variables:
            if not variable.optional and not found.get(variable.name):
                how = self.how_to_enter(binding, variable)
                raise InvalidAnswer(f"the key for `{variable.name}` of {self._config.name} is missing; enter it{how}")

    def has_all(self, method: AuthMethod) -> bool:
        """Return true if the process was started with every key that this method needs."""
        return all(each.optional or each.name in self.given for each in method.variables)

    def views(self, methods: Sequence[AuthMethod], binding: str) -> list[LoginMethod]:
        """Return the methods as a client shows them."""
        return [method.view(lambda variable: self._secret(binding, variable)) for method in methods]

    def how_to_enter(self, binding: str, variable: KeyVariable) -> str:
        """Return the end of a sentence that says by which command the key is entered."""
        return f" with {self._keys.how_to_enter(self._secret(binding, variable))}" if self._keys else ""

    def _secret(self, binding: str, variable: KeyVariable) -> AgentSecret:
        return AgentSecret(
            name=variable.name,
            secret=agent_key(self._config.name, variable.name),
            origin=binding,
            label=variable.label,
            optional=variable.optional or None,
            plain=variable.plain or None,
        )
