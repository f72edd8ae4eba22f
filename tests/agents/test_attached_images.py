"""Images that a person attaches to a prompt: what is taken for one, and who gets it."""

from __future__ import annotations

import base64

import pytest

from countersign.agents import attached_images as module
from countersign.agents.attached_images import attached_images
from countersign.agents.models.base import Image
from countersign.wire.errors import InvalidAnswer, ModelError
from countersign.wire.threads import Attachment

from .desk import Place
from .scripted_agent_fixture import Player

STARTS = {
    "image/png": b"\x89PNG\r\n\x1a\n....",
    "image/jpeg": b"\xff\xd8\xff....",
    "image/gif": b"GIF89a....",
    "image/webp": b"RIFF....WEBP",
}


def attached(data: bytes | str, mime_type: str = "image/png") -> Attachment:
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    return Attachment(kind="image", path="a.png", mime_type=mime_type, data=text)


@pytest.mark.parametrize("kind", STARTS)
def test_an_image_has_the_type_of_its_bytes(kind: str):
    given = attached(STARTS[kind], "image/svg+xml")
    assert attached_images([Attachment(path="a.py"), given]) == (Image(kind, given.data or ""),)


@pytest.mark.parametrize("given", [None, [], [Attachment(path="a.png")], [Attachment(path="a", data="aWFnZQ==")]])
def test_nothing_else_is_one(given: list[Attachment] | None):
    assert attached_images(given) == ()


REFUSED = {
    "a text": (attached(b"hello"), "is not a PNG"),
    "an svg": (attached(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "is not a PNG"),
    "no data": (Attachment(kind="image", path="a.png"), "is not a PNG"),
    "no base64": (attached("iVBORw0KGgo=\n!"), "is not a PNG"),
    "not ASCII": (attached("\u00e9"), "is not a PNG"),
    "a surrogate": (attached("\ud800"), "is not a PNG"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_none_is_refused(name: str):
    given, message = REFUSED[name]
    with pytest.raises(InvalidAnswer, match=message):
        attached_images([attached(STARTS["image/png"]), given])


BOUNDS = [
    ("LARGEST_IMAGE", 15, "too large"),
    ("MOST_IN_ALL", 31, "too large"),
    ("MOST_IMAGES", 1, "1 images at most"),
]


@pytest.mark.parametrize(("bound", "most", "message"), BOUNDS, ids=[row[0] for row in BOUNDS])
def test_size_and_number_are_bounded(monkeypatch: pytest.MonkeyPatch, bound: str, most: int, message: str):
    given = [attached(STARTS["image/png"])] * 2  # 16 characters each
    assert len(attached_images(given)) == 2
    monkeypatch.setattr(module, bound, most)
    with pytest.raises(InvalidAnswer, match=message):
        attached_images(given)


async def test_a_hosted_agent_that_takes_images_gets_them_after_the_words(place: Place):
    player = Player(place, [], greeting={"agentCapabilities": {"promptCapabilities": {"image": True}}})
    assert player.agent.takes_images is None  # it says so when it is started
    assert await player.agent.prompt("look", place.turn("scripted"), [Image("image/png", "aWFnZQ==")]) == "end_turn"
    assert player.agent.takes_images is True
    asked = next(row["params"]["prompt"] for row in player.told() if row.get("method") == "session/prompt")
    assert asked == [
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "data": "aWFnZQ=="},
    ]


@pytest.mark.parametrize("said", [{}, {"image": False}, {"image": "yes"}, None, []])
async def test_one_that_takes_none_is_sent_nothing_and_goes_on_without(place: Place, said: object):
    player = Player(place, [], greeting={"agentCapabilities": {"promptCapabilities": said}})
    with pytest.raises(ModelError, match="takes no images"):
        await player.agent.prompt("look", place.turn("scripted"), [Image("image/png", "aWFnZQ==")])
    methods = [row.get("method") for row in player.told()]
    assert "session/prompt" not in methods
    assert "session/new" not in methods
    assert player.agent.takes_images is False
    assert await player.agent.prompt("look", place.turn("scripted")) == "end_turn"
