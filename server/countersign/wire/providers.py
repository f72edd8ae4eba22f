"""Models as a client lists them, and the keys of model servers, which a client keeps in its secret storage."""

from __future__ import annotations

from countersign.wire.base import WireModel


class SecretReadParams(WireModel):
    """``secret/read``: the server asks for a key, for one request. ``origin`` is where the key will be sent.

    A client gives a key only to the origin that the person saw when they entered it. Neither side logs or traces it.
    """

    name: str
    origin: str | None = None


class SecretReadResult(WireModel):
    """``value`` is absent where there is none, or none for this origin; ``reason`` then says so in one sentence."""

    value: str | None = None
    reason: str | None = None


class ModelView(WireModel):
    """One entry of ``models``. ``origin`` is where its key is sent, ``secret`` the name under which a client keeps
    it; absent where the settings name a variable or the provider has no keys."""

    name: str
    provider: str
    model: str
    origin: str | None = None
    secret: str | None = None


class ModelListResult(WireModel):
    models: list[ModelView]
