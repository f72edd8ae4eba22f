"""Agents and models out of merged settings: each entry typed, or left out with a Problem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from countersign.settings.escape_text import shown
from countersign.settings.layers import Place
from countersign.settings.policy import AgentConfig, ModelConfig, Problem
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

    ``type`` is "acp" exactly when there is a command (CONTRACT: names and shapes).

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
    env = _environment(entry.get("env") or {}, environ)
    if (command is not None and as_text(command) is None) or args is None or env is None:
        message = f"the agent {shown(name)} needs a text as `command`, texts in `args` and `env`; it does not count"
        problems.append(place.problem(message))
        return None
    if entry.get("type") == "acp" and command is None:
        problems.append(place.problem(f"the agent {shown(name)} has no `command` and is taken as builtin"))
    missing = [variable for variable, value in env.items() if value is None]
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


def _environment(entry: Json, environ: Mapping[str, str]) -> dict[str, str | None] | None:
    """Values with ``${env:NAME}`` filled in; None for one that names a variable which is not set."""
    if not isinstance(entry, dict):
        return None
    filled: dict[str, str | None] = {}
    for variable, value in entry.items():
        if not isinstance(value, str):
            return None
        unknown = any(match.group(1) not in environ for match in _ENV.finditer(value))
        filled[variable] = None if unknown else _ENV.sub(lambda match: environ[match.group(1)], value)
    return filled
