"""The sandbox of this machine: whether there is one, and what it holds."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import WireModel

SandboxBackend = Literal["bubblewrap", "sandbox-exec", "none"]


class SandboxStatus(WireModel):
    """``sandbox/status``. ``reason`` says why there is none; ``holds`` are sentences: what a command in it cannot do,
    and what of the machine is bounded or not. ``mode`` is the setting as it counts."""

    available: bool
    backend: SandboxBackend
    reason: str | None = None
    holds: list[str]
    mode: Literal["off", "commands", "all"]
