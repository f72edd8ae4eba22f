"""Logging in to a hosted agent: the methods that it offers, and the error by which it says that a login is missing.

What an agent says of its methods is its own words. A method that runs in a terminal runs the agent's configured program
with further arguments, or the command that the agent names; the client shows the whole command before it is run. A
method by variables takes keys in the agent's environment: a person enters them, and the agent is started anew with them
(``key_login.py``).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from countersign.agents.acp.connection import RpcError
from countersign.agents.acp.question_schema import ReadUrl, asks_for_a_secret, read_url
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.translate import BadMessage
from countersign.gate import is_secret_name, redact
from countersign.settings.policy import AgentConfig
from countersign.tools.shell.environment import steers
from countersign.tools.visible import as_message, as_title
from countersign.wire.agents import AgentSecret, LoginLink, LoginMethod
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, InvalidAnswer, LoginNeeded, ModelError

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
MOST_VARIABLES = 10
"""Variables of an agent's methods: a person enters a key for each, and each is asked for at every start."""
NO_NEED = frozenset((-32601, -32602))
"""Errors of ``authenticate`` by which an agent says that the keys in its environment are all that it needs."""

_WORDS = re.compile(
    r"\b(?:auth(?!or(?!i[sz]))|log[ -]?in\b|logged|sign[ -]?in\b|signed[ -]in|credential|api[ _-]?key)", re.IGNORECASE
)


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


@dataclass(frozen=True, slots=True)
class KeyVariable:
    """A variable of the environment in which an agent takes a key; ``label`` is in its words. ``plain``: the agent says
    that the value is no secret, and neither name nor label says that it is one."""

    name: str
    label: str | None = None
    optional: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """One way to log in. ``command`` is run in a terminal, ``variables`` are set when it is started; without both, the
    agent does it itself when asked. ``link``: a page on which a person gets the keys."""

    method_id: str
    name: str
    description: str | None = None
    command: tuple[str, ...] | None = None
    variables: tuple[KeyVariable, ...] = ()
    link: ReadUrl | None = None

    def view(self, key: Callable[[KeyVariable], AgentSecret]) -> LoginMethod:
        """Return it as a client shows it; ``key`` tells under which name the key for a variable is kept."""
        link = self.link
        return LoginMethod(
            method_id=self.method_id,
            name=self.name,
            description=self.description,
            command=None if self.command is None else [*self.command],
            keys=[key(variable) for variable in self.variables] or None,
            link=None if link is None else LoginLink(url=link.url, host=link.host, notes=[*link.notes] or None),
        )


def is_key_variable(name: object) -> bool:
    """Return true if an agent may name this variable as one for a key: it does not steer what programs do."""
    return isinstance(name, str) and _VARIABLE.fullmatch(name) is not None and not steers(name)


def can_repeat(config: AgentConfig) -> bool:
    """Return true if a person's terminal can start the agent as the settings do, with its variables in the words of the
    command: an absolute program or one of ``PATH``, and variables that are written out and name no secret."""
    command = config.command or ""
    variables = {*config.env, *config.secret_env, *config.written_env}
    return (os.path.isabs(command) or "/" not in command) and variables == _plain_env(config).keys()


def _plain_env(config: AgentConfig) -> dict[str, str]:
    """Return the variables of an agent's settings that may stand in the words of a command."""
    return {
        name: value
        for name, value in config.env.items()
        if config.written_env.get(name) == value and not is_secret_name(name) and _VARIABLE.fullmatch(name)
    }


def needs_login(error: RpcError) -> bool:
    """Return true if this error says that a login is missing."""
    return error.code == AUTH_REQUIRED and _WORDS.search(str(error)) is not None


def login_sentence(error: LoginNeeded, recipe: Recipe, enter_key: str = "") -> str:
    """Return what the agent's state says: what is missing, and what a person can do. ``enter_key``: how a key is
    entered, where one is enough."""
    terminal = f" (in a terminal: `{recipe.login}`)" if recipe.login else ""
    return f"{error}; log in first{terminal}" + (f", or enter its key{enter_key}" if enter_key else "")


async def authenticate(link: Link, method_id: str) -> None:
    """Let a greeted agent log in; returns when it says that it has. By variables, it was started with them before.

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
            if method.variables:
                await _authenticate_by_keys(link, method_id)
            else:
                await link.request("authenticate", {"methodId": method_id})
    except TimeoutError:
        raise AgentExit(f"the login of {link.name} took longer than {LOGIN_SECONDS / 60:.0f} minutes") from None
    except ConnectionError:
        raise AgentExit(f"the agent {link.name} ended while it logged in") from None


async def _authenticate_by_keys(link: Link, method_id: str) -> None:
    try:
        await link.connection.request("authenticate", {"methodId": method_id})
    except RpcError as error:
        if error.code not in NO_NEED:
            raise ModelError(f"the agent {link.name} did not log in with its keys (`{error}`)") from None


def without_keys(text: str, keys: Mapping[str, str]) -> str:
    """Return an agent's words without the keys that it was started with."""
    return str(redact(text, frozenset(key for key in keys.values() if key)))


def read_auth_methods(raw: Json, config: AgentConfig, settled: Container[str] = ()) -> tuple[AuthMethod, ...]:
    """Return the ``authMethods`` of an agent's greeting; what cannot be offered is left out. ``settled`` are variables
    that settings, recipe or environment set already."""
    found: dict[str, AuthMethod] = {}
    named: set[str] = set()
    for entry in raw[:MOST_METHODS] if isinstance(raw, list) else ():
        method = _read_method(entry, config, settled)
        if method is None or method.method_id in found:
            continue
        names = named | {variable.name for variable in method.variables}
        if len(names) <= MOST_VARIABLES:
            found[method.method_id], named = method, names
    return tuple(found.values())


def _read_method(raw: Json, config: AgentConfig, settled: Container[str]) -> AuthMethod | None:
    if not isinstance(raw, dict):
        return None
    method_id, name, told = raw.get("id"), raw.get("name"), raw.get("description")
    if not isinstance(method_id, str) or not 0 < len(method_id) <= LONGEST_ID:
        return None
    command: tuple[str, ...] | None = None
    variables: tuple[KeyVariable, ...] = ()
    meta = raw.get("_meta")
    in_terminal = meta.get("terminal-auth") if isinstance(meta, dict) else None
    if raw.get("type") == "terminal":
        command = _command([config.command, *config.args], raw, _plain_env(config))
    elif isinstance(in_terminal, dict):
        command = _command([in_terminal.get("command")], in_terminal)
    elif raw.get("type") == "env_var":
        variables = _variables(raw.get("vars"), settled)
        if not variables:
            return None
    elif raw.get("type", "agent") != "agent":
        return None
    if command == ():
        return None
    return AuthMethod(
        method_id,
        as_title(name) if isinstance(name, str) and name.strip() else as_title(method_id),
        as_message(told) if isinstance(told, str) and told.strip() else None,
        command,
        variables,
        _link(raw.get("link")) if variables else None,
    )


def _link(raw: Json) -> ReadUrl | None:
    """Return the page that a method names, or None where it could be taken for another one: the login works without."""
    try:
        return read_url(raw)
    except BadMessage:
        return None


def _variables(raw: Json, settled: Container[str]) -> tuple[KeyVariable, ...]:
    """Return the variables of a method, or none where one of them cannot be set here."""
    if not isinstance(raw, list) or len(raw) > MOST_VARIABLES:
        return ()
    found: dict[str, KeyVariable] = {}
    for entry in raw:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(name, str) or not is_key_variable(name):
            return ()
        if name in settled or name in found:
            continue
        told = entry.get("label")
        label = as_title(told) if isinstance(told, str) and told.strip() else None
        plain = entry.get("secret") is False and not asks_for_a_secret(name, told if isinstance(told, str) else None)
        found[name] = KeyVariable(name, label, entry.get("optional") is True, plain)
    return tuple(found.values())


def _command(
    start: list[str | None] | list[Json], raw: Mapping[str, Json], configured: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Return the words of a command for a terminal, or none where they cannot be what they seem to be. ``configured``:
    variables of the settings, which those of the method outdo."""
    args, told = raw.get("args") or [], raw.get("env") or {}
    if not isinstance(args, list) or not isinstance(told, dict):
        return ()
    env = {**configured, **told}
    settings = [f"{name}={value}" for name, value in env.items() if isinstance(value, str)]
    if len(settings) != len(env) or not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in env):
        return ()
    words = [*(["env", *settings] if settings else []), *start, *args]
    plain = [word for word in words if isinstance(word, str) and word.isprintable()]
    usable = len(plain) == len(words) and bool(plain) and all(plain[: len(plain) - len(args)])
    return tuple(plain) if usable and sum(map(len, plain)) + len(plain) <= LONGEST_COMMAND else ()
