"""The base of every tool's arguments: frozen, and strict about names, so that nothing a card shows is ignored."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Arguments(BaseModel):
    """What a model may say when it calls a tool. Field descriptions are part of what it reads."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
