"""Questions of hosted agents (ACP's elicitation): a form made from a schema, or a URL. No answer approves anything."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from countersign.wire.base import Json, WireModel

QuestionState = Literal["waiting", "answered", "declined", "dismissed", "opened", "completed", "cancelled"]
"""``opened``: the person opened the URL; ``completed``: the agent says that this has ended. ``cancelled``: it ended
without a person, such as with its turn."""
UrlNote = Literal["internationalName", "unencrypted"]
"""What is to be known of a URL: its host has letters outside ASCII and may look like another; anybody on the way reads
what is sent there."""
TextFormat = Literal["email", "uri", "date", "date-time"]


class ElicitationChoice(WireModel):
    const: str
    title: str
    description: str | None = None


class ElicitationItems(WireModel):
    any_of: list[ElicitationChoice]


class ElicitationProperty(WireModel):
    """One field, as a property of a JSON schema. A ``string`` with ``one_of`` is one of these choices, an ``array`` is
    any number of the choices of its ``items``. ``secret``: it seems to ask for a secret. ``pattern`` is a regular
    expression of the agent's, shown to the person and not evaluated."""

    type: Literal["string", "number", "integer", "boolean", "array"]
    title: str | None = None
    description: str | None = None
    default: Json = None
    secret: bool | None = None
    format: TextFormat | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    one_of: list[ElicitationChoice] | None = None
    items: ElicitationItems | None = None
    min_items: int | None = None
    max_items: int | None = None


class ElicitationSchema(WireModel):
    """The fields by name, in their order. Titles and descriptions are the agent's words."""

    type: Literal["object"] = "object"
    title: str | None = None
    description: str | None = None
    properties: dict[str, ElicitationProperty]
    required: list[str]


class ElicitationRequest(WireModel):
    """``elicitation/request``: an agent asks the person, by a form (``schema``) or with a ``url`` to open, whose
    ``host`` is given as it is connected to. Answered by ``elicitation/respond``; however it ends,
    ``elicitation/resolved`` tells it."""

    elicitation_id: str
    thread_id: str
    agent_name: str
    message: str
    schema_: ElicitationSchema | None = Field(default=None, alias="schema")
    url: str | None = None
    host: str | None = None
    notes: list[UrlNote] | None = None
    created_at: str


class ElicitationRespondParams(WireModel):
    """``content`` holds the values of a form by name, with ``accept`` alone. The server keeps and logs none of them."""

    elicitation_id: str
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Json] | None = Field(default=None, repr=False)


class ElicitationRespondResult(WireModel):
    state: QuestionState


class ElicitationResolved(WireModel):
    elicitation_id: str
    thread_id: str
    state: QuestionState
