"""Agents and models out of merged settings: each entry typed, or left out with a Problem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from countersign.settings.escape_text import shown
from countersign.settings.layers import Place
from countersign.settings.policy import AgentConfig, ModelConfig, Problem, SecretText
from countersign.settings.policy_reader import as_text, as_texts
from countersign.wire.base import Json

HOUSE_AGENT = "Countersign"
DEMO_MODEL = "demo"
LONGEST_NAME = 100
Provider = Literal["demo", "ollama", "openai", "anthropic", "google", "vscode"]
NO_RECIPE = "none"
RECIPE_NAMES = ("claude", "gemini", "qwen", "opencode", "codex", "zed-codex", "copilot", "cline", NO_RECIPE)
"""Launch recipes that an agent may name; the recipes themselves are in ``agents/acp/known``."""
APIS: tuple[Literal["responses", "chat"], ...] = ("responses", "chat")
LEAST_CONTEXT = 4000
"""Tokens: instructions, tools and one exchange take about so many."""
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

_ENV = re.compile(r"\$\{env:([^}]*)\}")
_SECRET = re.compile(r"\$\{secret:([^}]*)\}")
_SECRET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def agent_config(
    name: str,
    entry: Json,
    place: Place,
    environ: Mapping[str, str],
    problems: list[Problem],
    own_recipes: Sequence[str] = (),
    recipe_place: Place | None = None,
) -> AgentConfig | None:
    """One agent, without its bypass; ``own_recipes`` are the names of the settings' recipes, ``recipe_place`` is where
    its own is named.

    ``type`` is "acp" exactly when there is a command (docs/gate.md "Trust and bypass").

    None for an entry or a name that cannot be meant.
    """
    if not is_agent_name(name):
        problems.append(place.problem(f"{shown(name)} cannot be the name of an agent and does not count"))
        return None
    if not isinstance(entry, dict):
        problems.append(place.problem(f"the agent {shown(name)} is not an object and does not count"))
        return None
    command = entry.get("command")
    args = as_texts(entry.get("args") or [])
    said = _texts(entry.get("env") or {})
    if (command is not None and as_text(command) is None) or args is None or said is None:
        message = f"the agent {shown(name)} needs a text as `command`, texts in `args` and `env`; it does not count"
        problems.append(place.problem(message))
        return None
    if entry.get("type") == "acp" and command is None:
        problems.append(place.problem(f"the agent {shown(name)} has no `command` and is taken as builtin"))
    secret_env = {variable: text for variable, value in said.items() if (text := _secret_text(value, environ))}
    env = {variable: _filled(value, environ) for variable, value in said.items() if variable not in secret_env}
    if secret_env and command is None:
        problems.append(
            place.problem(f"`${{secret:…}}` counts for hosted agents only, not for the agent {shown(name)}")
        )
        secret_env = {}
    misnamed = [variable for variable, value in said.items() if variable in env and _SECRET.search(value)]
    if misnamed:
        told = ", ".join(shown(variable) for variable in misnamed)
        problems.append(
            place.problem(
                f"variables of the agent {shown(name)} are left out: {told}; a secret is written `${{secret:NAME}}`,"
                " with letters, digits, `_`, `.` and `-` as its name"
            )
        )
    missing = [variable for variable, value in env.items() if value is None and variable not in misnamed]
    if missing:
        told = ", ".join(shown(variable) for variable in missing)
        problems.append(place.problem(f"variables named for the agent {shown(name)} are not set and left out: {told}"))
    recipe = as_text(entry.get("recipe"))
    if entry.get("recipe") is not None and recipe not in (*RECIPE_NAMES, *own_recipes):
        known = ", ".join(f"`{each}`" for each in (*RECIPE_NAMES, *own_recipes))
        unknown = shown(recipe) if recipe is not None else "something that is not a string"
        problems.append(
            (recipe_place or place).error(
                f"the agent {shown(name)} names {unknown} as its recipe, so it is started without one; use {known}"
            )
        )
        recipe = NO_RECIPE
    builtin = command is None
    return AgentConfig(
        name=name,
        type="builtin" if builtin else "acp",
        command=as_text(command),
        args=args,
        env={variable: value for variable, value in env.items() if value is not None},
        secret_env=secret_env,
        written_env=said,
        model=as_text(entry.get("model")) or (DEMO_MODEL if builtin else None),
        cwd=as_text(entry.get("cwd")),
        recipe=recipe,
    )


def is_agent_name(name: str) -> bool:
    """Whether an agent may be called so: not like a sub-agent's path, and with nothing hidden."""
    return 0 < len(name) <= LONGEST_NAME and "/" not in name and name.isprintable()


def model_config(name: str, entry: Json, place: Place, problems: list[Problem]) -> ModelConfig | None:
    """One model, or None for an entry that cannot be meant."""
    provider = _as_provider(entry.get("provider")) if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or provider is None:
        message = f"the model {shown(name)} needs a `provider` out of {', '.join(PROVIDERS)}; it does not count"
        problems.append(place.problem(message))
        return None
    api, context, options = entry.get("api"), entry.get("contextTokens"), entry.get("options")
    if api not in (None, "responses", "chat"):
        problems.append(
            place.problem(f"`api` of the model {shown(name)} is neither `responses` nor `chat`, so it is left out")
        )
    whole = isinstance(context, int) and not isinstance(context, bool) and context >= LEAST_CONTEXT
    if context is not None and not whole:
        message = (
            f"`contextTokens` of the model {shown(name)} is not a number of at least {LEAST_CONTEXT}; it is left out"
        )
        problems.append(place.problem(message))
    if options is not None and not isinstance(options, dict):
        problems.append(place.problem(f"`options` of the model {shown(name)} is not an object and is left out"))
    return ModelConfig(
        name=name,
        provider=provider,
        api=next((known for known in APIS if known == api), None),
        context_tokens=context if whole else None,  # type: ignore[arg-type]
        options=options if isinstance(options, dict) else {},
        model=as_text(entry.get("model")) or "",
        base_url=as_text(entry.get("baseUrl")),
        api_key_env=as_text(entry.get("apiKeyEnv")),
    )


def _as_provider(value: Json) -> Provider | None:
    return next((provider for provider in PROVIDERS if provider == value), None)


def _texts(entry: Json) -> dict[str, str] | None:
    """A map of texts; None where it is not one."""
    if not isinstance(entry, dict):
        return None
    texts = {variable: value for variable, value in entry.items() if isinstance(value, str)}
    return texts if len(texts) == len(entry) else None


def _filled(value: str, environ: Mapping[str, str]) -> str | None:
    """A value with ``${env:NAME}`` filled in; None if it names a variable that is not set, or no secret's name."""
    if any(match[1] not in environ for match in _ENV.finditer(value)) or _SECRET.search(value):
        return None
    return _ENV.sub(lambda match: environ[match[1]], value)


def _secret_text(value: str, environ: Mapping[str, str]) -> SecretText | None:
    """A value that names secrets; None where it names none, or cannot be filled in."""
    texts, names = _SECRET.split(value)[::2], _SECRET.split(value)[1::2]
    filled = [_filled(text, environ) for text in texts]
    whole = tuple(text for text in filled if text is not None)
    if not names or len(whole) < len(texts) or not all(_SECRET_NAME.fullmatch(name) for name in names):
        return None
    return SecretText(whole, tuple(names))
