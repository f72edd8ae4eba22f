"""What is known of models by name: how much context they take, whether they take images, and what their tokens cost.

Prices change without notice, so they carry the date on which the table was written; `options.prices` of a model in the
settings stands before it. A model that no row names has no price, and the window of its provider.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from countersign.agents.models.base import Model, Sighted, UsagePiece
from countersign.settings.policy import ModelConfig
from countersign.wire.base import Json

PRICES_AS_OF = "2025-11-01"
"""The prices below are those that the providers published for these models on this day, in US dollars."""

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens: of the prompt, of the answer, and of a prompt read from or put into a cache."""

    input: float
    output: float
    cached: float
    cache_write: float


_WINDOWS: tuple[tuple[str, int], ...] = (
    (r"claude-", 200_000),
    (r"gemini-", 1_000_000),
    (r"gpt-4\.1", 1_000_000),
    (r"gpt-5|gpt-6", 272_000),
    (r"gpt-4o|o\d", 128_000),
)
_BY_PROVIDER = {
    "demo": 1 << 40,
    "anthropic": 200_000,
    "openai": 128_000,
    "google": 1_000_000,
    "ollama": 16_384,
    "vscode": 64_000,
}
_SIGHTED = r"claude-|gemini-|gpt-4o|gpt-4\.1|gpt-5|gpt-6|o[134](-|$)"
COMPATIBLE_WINDOW = 32_000
"""Of a compatible server whose settings do not say how much it takes."""

_PRICES: tuple[tuple[str, Prices], ...] = (
    (r"claude-opus-4-5", Prices(5, 25, 0.5, 6.25)),
    (r"claude-opus-4(-[01])?(-\d{8})?$", Prices(15, 75, 1.5, 18.75)),
    (r"claude-sonnet-4", Prices(3, 15, 0.3, 3.75)),
    (r"claude-haiku-4-5", Prices(1, 5, 0.1, 1.25)),
    (r"gpt-5-mini", Prices(0.25, 2, 0.025, 0.25)),
    (r"gpt-5-nano", Prices(0.05, 0.4, 0.005, 0.05)),
    (r"gpt-5(\.1)?(-codex)?(-\d{4}-\d\d-\d\d)?$", Prices(1.25, 10, 0.125, 1.25)),
    (r"gpt-4\.1-mini", Prices(0.4, 1.6, 0.1, 0.4)),
    (r"gpt-4\.1-nano", Prices(0.1, 0.4, 0.025, 0.1)),
    (r"gpt-4\.1(-\d{4}-\d\d-\d\d)?$", Prices(2, 8, 0.5, 2)),
    (r"gemini-2\.5-flash-lite", Prices(0.1, 0.4, 0.01, 0.1)),
    (r"gemini-2\.5-flash", Prices(0.3, 2.5, 0.03, 0.3)),
    (r"gemini-2\.5-pro", Prices(1.25, 10, 0.125, 1.25)),
)


def window_of(config: ModelConfig) -> int:
    """Return the tokens that one request to a model may have."""
    if config.context_tokens is not None:
        return config.context_tokens
    known = next((tokens for pattern, tokens in _WINDOWS if re.match(pattern, config.model)), None)
    if known is not None and config.provider != "ollama":
        return known
    if config.provider == "openai" and config.base_url is not None:
        return COMPATIBLE_WINDOW
    return _BY_PROVIDER.get(config.provider, COMPATIBLE_WINDOW)


def takes_images(config: ModelConfig) -> bool:
    """Return whether a model is known to take images; ``options.images`` stands before what its name says."""
    said = config.options.get("images")
    if isinstance(said, bool):
        return said
    if config.provider in ("demo", "ollama"):
        return False
    return (config.provider in ("anthropic", "google") and config.base_url is None) or bool(
        re.match(_SIGHTED, config.model)
    )


async def model_takes_images(config: ModelConfig, model: Model) -> bool:
    """Return whether a model takes images: by its settings, else as its server says, else by its name."""
    said = config.options.get("images")
    asked = await model.takes_images() if isinstance(model, Sighted) and not isinstance(said, bool) else None
    return takes_images(config) if asked is None else asked


def cost_of(config: ModelConfig, usage: UsagePiece) -> float | None:
    """Return what a request cost in US dollars; None where no price is known."""
    prices = _own_prices(config.options.get("prices")) or (
        next((prices for pattern, prices in _PRICES if re.match(pattern, config.model)), None)
        if config.base_url is None
        else None
    )
    if config.provider in ("demo", "ollama") and prices is None:
        return 0.0
    if prices is None or usage.input_tokens is None:
        return None
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    fresh = max(0, usage.input_tokens - cached - written)
    parts = (
        fresh * prices.input,
        cached * prices.cached,
        written * prices.cache_write,
        (usage.output_tokens or 0) * prices.output,
    )
    return sum(parts) / MILLION


def _own_prices(value: Json) -> Prices | None:
    """Read ``{"input": …, "output": …, "cached"?: …}`` of the settings."""
    if not isinstance(value, dict):
        return None
    numbers = {key: float(each) for key, each in value.items() if isinstance(each, int | float) and each >= 0}
    if "input" not in numbers or "output" not in numbers:
        return None
    cached = numbers.get("cached", numbers["input"])
    return Prices(numbers["input"], numbers["output"], cached, numbers.get("cacheWrite", numbers["input"]))
