"""The base of every wire model: frozen, camelCase outside and snake_case inside.

Unknown fields of an incoming message are ignored, so that an older server reads a newer client; a missing or wrong
field is an error that reaches the peer as ``-32602``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

Json = JsonValue
"""Any JSON value. Tool input that is not ours stays exactly what it was."""


class WireModel(BaseModel):
    """A message, or a part of one."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="ignore",
        ser_json_inf_nan="constants",  # what is not JSON is refused where it is sent, not turned into null here
        defer_build=True,  # a validator is made when its first message comes, not at start
    )


class KeptModel(WireModel):
    """A part of an open request: ten thousand of those may be kept. Other models go once they were read or sent."""

    def model_post_init(self, context: Any, /) -> None:
        self._share_names()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        copied = super().model_copy(update=update, deep=deep)
        copied._share_names()
        return copied

    def _share_names(self) -> None:
        """One set of the names that were given for all models alike: a set of its own takes more memory than what a
        message says, and ten thousand open requests keep a quarter of a million of them."""
        names = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _SETS.setdefault(frozenset(names), names))


_SETS: dict[frozenset[str], set[str]] = {}


def as_json(model: WireModel) -> dict[str, Any]:
    """The model as the JSON object that stands on the wire; fields that are absent (None) are left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def to_json(model: WireModel) -> bytes:
    """`as_json` as text in UTF-8, at a fraction of the price. A NaN or an infinity in it stands there as such.

    Raises `ValueError` where text in it has no UTF-8 (half of a surrogate pair).
    """
    return model.__pydantic_serializer__.to_json(model, by_alias=True, exclude_none=True)


class Empty(WireModel):
    """Params or result of a method that carries nothing."""
