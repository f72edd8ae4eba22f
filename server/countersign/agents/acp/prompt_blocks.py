"""A prompt as the content blocks of ACP: the person's words, what they attached, images.

A text that was attached is a resource of its own where the agent takes such (``embeddedContext``), else it stands in
the words, as for a model. A path alone stays a path: what the agent reads then is judged as any call.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from countersign.agents.models.base import Image
from countersign.agents.prompt import with_attachments
from countersign.wire.base import Json
from countersign.wire.threads import Attachment


def with_resources(
    text: str, attached: Sequence[Attachment], folder: str, *, takes_resources: bool
) -> tuple[str, list[Json]]:
    """Return the words of a prompt and the resources that go beside them. Relative paths are of ``folder``."""
    embedded = [item for item in attached if takes_resources and _is_resource(item)]
    words = with_attachments(text, [item for item in attached if item not in embedded])
    return words, [_resource(item, folder) for item in embedded]


def content_blocks(words: Sequence[str], beside: Sequence[Json]) -> list[Json]:
    """Return a prompt as content blocks."""
    return [*({"type": "text", "text": text} for text in words), *beside]


def image_blocks(images: Sequence[Image]) -> list[Json]:
    """Return images as content blocks."""
    return [{"type": "image", "mimeType": image.mime_type, "data": image.data} for image in images]


def _is_resource(item: Attachment) -> bool:
    return item.kind != "image" and item.text is not None and bool(item.path) and "\0" not in (item.path or "")


def _resource(item: Attachment, folder: str) -> Json:
    uri = Path(os.path.normpath(os.path.join(folder, item.path or ""))).as_uri()
    if item.start_line is not None:
        uri += f"#L{item.start_line}:{item.end_line if item.end_line is not None else item.start_line}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": item.text}}
