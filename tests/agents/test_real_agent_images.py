"""Real agents are sent an image, offline: each that says that it takes images gives it to its model."""

from __future__ import annotations

import asyncio
import base64
import struct
import zlib
from pathlib import Path

import pytest

from countersign.agents.models.base import Image
from countersign.agents.probe import model_server
from countersign.wire.errors import ModelError
from tests.patience import PATIENCE

from .desk import Place
from .recipes_under_test import SEED, RealAgent, parameters

pytestmark = pytest.mark.agents

SAYS_SO = ("opencode", "qwen")
"""They know no model of the scripted model's name that takes images, and tell the model so in the image's place."""
LOSES_THEM = ("cline",)
"""It says that it takes images, and neither gives this one to the scripted model nor says that it does not."""


def _png(side: int) -> str:
    """A square of one color, as base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x20\x60\xc0" * side) * side
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return base64.b64encode(
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    ).decode()


@pytest.mark.parametrize("row", parameters())
async def test_an_image_reaches_the_model_of_an_agent_that_takes_images(place: Place, row: RealAgent):
    (place.workspace / "seed.txt").write_text(SEED)
    log = place.folder / "model.jsonl"
    server, port = model_server.serve(0, row.script(place.workspace), log)
    try:
        agent = place.agent(row.config(f"http://127.0.0.1:{port}", Path(place.policy.home)))
        image = Image("image/png", _png(64))
        async with asyncio.timeout(2 * PATIENCE):
            await agent.prompt("[[plain]] Do nothing.", place.turn(row.name))
            before = len(model_server.requests_in(log))
            if not agent.takes_images:
                with pytest.raises(ModelError, match=f"the agent {row.name} takes no images; send the prompt without"):
                    await agent.prompt("[[plain]] What is in this picture?", place.turn(row.name), (image,))
                return
            await agent.prompt("[[plain]] What is in this picture?", place.turn(row.name), (image,))
        rows = model_server.requests_in(log)[before:]
        asked = [each for each in rows if any("this picture" in text for text in each["user_texts"])]
        assert asked, "the words did not arrive either"
        arrived = [found for each in asked for found in each["images"]]
        told = [text for each in asked for text in each["user_texts"] if "not support image input" in text]
        assert bool(arrived) == (row.name not in (*SAYS_SO, *LOSES_THEM)), arrived
        assert bool(told) == (row.name in SAYS_SO), told
    finally:
        server.shutdown()
        server.server_close()
