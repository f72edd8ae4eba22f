"""The model of the built-in agent as an option of a chat: what a person may choose, and what counts.

A chat without a choice of its own has the model of its agent's settings. A choice that the settings no longer hold is
kept and named: another model may be another server, and a chat goes to none that nobody chose for it.
"""

from __future__ import annotations

from collections.abc import Collection

from countersign.settings.agents import DEMO_MODEL
from countersign.settings.escape_text import shown
from countersign.settings.policy import AgentConfig, ModelConfig, Policy
from countersign.wire.errors import InvalidAnswer, ModelError
from countersign.wire.threads import OptionChoice, ThreadOption

OPTION = "model"


def model_options(config: AgentConfig, models: Collection[str], chosen: str | None) -> list[ThreadOption]:
    """Return the option of a chat with this choice; none where there is nothing to choose from."""
    value = chosen or config.model or DEMO_MODEL
    if not {*models} - {value}:
        return []
    choices = [OptionChoice(value=name, name=name) for name in models]
    return [ThreadOption(option_id=OPTION, name="Model", category="model", type="select", value=value, choices=choices)]


def checked_choice(agent: str, option: str, value: str | bool, models: Collection[str]) -> str:
    """Return the model that a person chose.

    Raises:
        InvalidAnswer: it is another option, or no model of the settings.
    """
    if option != OPTION:
        raise InvalidAnswer(f"{agent} has no option {shown(option)}; it has `{OPTION}`")
    if not isinstance(value, str) or value not in models:
        known = ", ".join(map(shown, models))
        told = shown(value) if isinstance(value, str) else "something that is no text"
        raise InvalidAnswer(f"there is no model {told} in the settings; choose one of {known}")
    return value


def model_entry(config: AgentConfig, policy: Policy) -> ModelConfig:
    """The entry of ``models`` that an agent's settings name.

    Raises:
        ModelError: the settings have no entry of that name.
    """
    name = config.model or DEMO_MODEL
    entry = policy.models.get(name) or (ModelConfig(name, "demo") if name == DEMO_MODEL else None)
    if entry is None:
        raise ModelError(
            f"there is no model `{name}` in the settings; add it under `countersign.models`, or choose another"
        )
    return entry
