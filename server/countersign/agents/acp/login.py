"""Logging in to a hosted agent: the methods that it offers, and the error by which it says that a login is missing.

What an agent says of its methods is its own words. A method that runs in a terminal runs the agent's configured program
with further arguments, or the command that the agent names; the client shows the whole command before it is run.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from countersign.agents.acp.connection import RpcError
from countersign.agents.acp.recipe import Recipe
from countersign.settings.policy import AgentConfig
from countersign.tools.visible import as_message, as_title
from countersign.wire.agents import LoginMethod
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, InvalidAnswer, LoginNeeded

if TYPE_CHECKING:
    from countersign.agents.acp.agent_process import Link

AUTH_REQUIRED = -32000
"""The code of ACP's error; agents use it for other errors too, so that its message counts as well."""
MOST_METHODS = 20
"""Methods of one agent that are offered."""
LONGEST_ID = 256
LONGEST_COMMAND = 1000
"""Characters of a command for a terminal; a longer one is not offered, as it could not be shown whole."""
LOGIN_SECONDS = 900.0
"""A person logs in to a web page meanwhile."""

_WORDS = re.compile(
    r"\b(?:auth(?!or(?!i[sz]))|log[ -]?in\b|logged|sign[ -]?in\b|signed[ -]in|credential|api[ _-]?key)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """One way to log in. ``command`` is run in a terminal; None: the agent does it itself when asked."""

    method_id: str
    name: str
    description: str | None = None
    command: tuple[str, ...] | None = None

    def view(self) -> LoginMethod:
        """Return it as a client shows it."""
        command = None if self.command is None else [*self.command]
        return LoginMethod(method_id=self.method_id, name=self.name, description=self.description, command=command)


def needs_login(error: RpcError) -> bool:
    """Return true if this error says that a login is missing."""
    return error.code == AUTH_REQUIRED and _WORDS.search(str(error)) is not None


def login_sentence(error: LoginNeeded, recipe: Recipe) -> str:
    """Return what the agent's state says: what is missing, and what a person can do."""
    return f"{error}; log in first" + (f" (in a terminal: `{recipe.login}`)" if recipe.login else "")


async def authenticate(link: Link, method_id: str) -> None:
    """Let a greeted agent log in; returns when it says that it has.

    Raises:
        InvalidAnswer: it has no such method, or that is run in a terminal.
        AgentExit: it ended meanwhile, or did not answer in ``LOGIN_SECONDS``.
        ModelError: it could not log in.
    """
    method = next((method for method in link.auth_methods if method.method_id == method_id), None)
    if method is None or method.command is not None:
        raise InvalidAnswer(f"the agent {link.name} does not log in by this method itself")
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            await link.request("authenticate", {"methodId": method_id})
    except TimeoutError:
        raise AgentExit(f"the login of {link.name} took longer than {LOGIN_SECONDS / 60:.0f} minutes") from None
    except ConnectionError:
        raise AgentExit(f"the agent {link.name} ended while it logged in") from None


def read_auth_methods(raw: Json, config: AgentConfig) -> tuple[AuthMethod, ...]:
    """Return the ``authMethods`` of an agent's greeting; what cannot be offered is left out."""
    found: dict[str, AuthMethod] = {}
    for entry in raw[:MOST_METHODS] if isinstance(raw, list) else ():
        method = _read_method(entry, config)
        if method is not None:
            found.setdefault(method.method_id, method)
    return tuple(found.values())


def _read_method(raw: Json, config: AgentConfig) -> AuthMethod | None:
    if not isinstance(raw, dict):
        return None
    method_id, name, told = raw.get("id"), raw.get("name"), raw.get("description")
    if not isinstance(method_id, str) or not 0 < len(method_id) <= LONGEST_ID:
        return None
    command: tuple[str, ...] | None = None
    meta = raw.get("_meta")
    in_terminal = meta.get("terminal-auth") if isinstance(meta, dict) else None
    if raw.get("type") == "terminal":
        command = _command([config.command, *config.args], raw)
    elif isinstance(in_terminal, dict):
        command = _command([in_terminal.get("command")], in_terminal)
    elif raw.get("type", "agent") != "agent":
        return None
    if command == ():
        return None
    return AuthMethod(
        method_id,
        as_title(name) if isinstance(name, str) and name.strip() else as_title(method_id),
        as_message(told) if isinstance(told, str) and told.strip() else None,
        command,
    )


def _command(start: list[str | None] | list[Json], raw: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the words of a command for a terminal, or none where they cannot be what they seem to be."""
    args, env = raw.get("args") or [], raw.get("env") or {}
    if not isinstance(args, list) or not isinstance(env, dict):
        return ()
    settings = [f"{name}={value}" for name, value in env.items() if isinstance(value, str)]
    if len(settings) != len(env) or not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in env):
        return ()
    words = [*(["env", *settings] if settings else []), *start, *args]
    plain = [word for word in words if isinstance(word, str) and word.isprintable()]
    usable = len(plain) == len(words) and bool(plain) and all(plain[: len(plain) - len(args)])
    return tuple(plain) if usable and sum(map(len, plain)) + len(plain) <= LONGEST_COMMAND else ()
