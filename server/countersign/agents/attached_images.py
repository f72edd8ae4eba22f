"""The images that a person attached to a prompt, checked before a model or an agent gets them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from countersign.agents.models.base import Image
from countersign.wire.errors import InvalidAnswer, ModelError
from countersign.wire.threads import Attachment

LARGEST_IMAGE = 10 << 20
"""Characters of base64 that one image may have."""
MOST_IMAGES = 20
MOST_IN_ALL = 24 << 20
"""Characters of base64 that all images of one prompt may have: what a hosted agent is sent at once is bounded."""


def attached_images(attachments: Sequence[Attachment] | None) -> tuple[Image, ...]:
    """Return the images among the attachments. Each has the media type of its bytes, whatever the client called it.

    Raises:
        InvalidAnswer: one is no image that models take, or they are too large or too many.
    """
    given = [item.data or "" for item in attachments or () if item.kind == "image"]
    if len(given) > MOST_IMAGES:
        raise InvalidAnswer(f"a prompt takes {MOST_IMAGES} images at most; send some of them with the next one")
    if any(len(data) > LARGEST_IMAGE for data in given) or sum(map(len, given)) > MOST_IN_ALL:
        raise InvalidAnswer(f"the attached images are too large (at most {LARGEST_IMAGE >> 20} MiB each, "
                            f"{MOST_IN_ALL >> 20} MiB in all, as base64); attach smaller ones")  # fmt: skip
    return tuple(map(_image, given))


def takes_none(name: str) -> ModelError:
    """Return the error for images that were attached for somebody who takes none."""
    return ModelError(f"{name} takes no images; send the prompt without, or choose another")


def _image(data: str) -> Image:
    from countersign.tools.files.read_file import image_type  # noqa: PLC0415 no start needs it

    try:
        kind = image_type(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        kind = None
    if kind is None:
        raise InvalidAnswer("an attached image is not a PNG, JPEG, GIF or WebP image; attach it as one of these")
    return Image(kind, data)
