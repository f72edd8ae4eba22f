"""The body of a model server's answer as JSON objects, from newline-delimited JSON or server-sent events.

Every part is bounded: one line, one event, the whole answer, and the values of each JSON text. What cannot be read ends
the answer with one error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from countersign.agents.lines import Lines, LineTooLong
from countersign.agents.pace import Rests
from countersign.gate import in_worker
from countersign.wire.base import Json
from countersign.wire.errors import ModelError
from countersign.wire.strict_json import BadJson, parse_json

LONGEST_LINE = 8 << 20
"""Bytes of one line or one event of an answer."""
LONGEST_ANSWER = 64 << 20
"""Bytes of one answer."""
AT_ONCE = 1 << 16
"""Bytes of a line that is parsed on the event loop; a longer one is parsed in a worker thread."""
DONE = b"[DONE]"
"""What some servers send as the data of their last event; it is no JSON."""


async def json_lines(chunks: AsyncIterator[bytes], vendor: str) -> AsyncIterator[dict[str, Json]]:
    """Yield the objects of newline-delimited JSON.

    Raises:
        ModelError: a line or the answer is too long, or a line is not a JSON object.
    """
    async for line in _lines(chunks, vendor, with_rest=True):
        if line.strip():
            yield await _parsed(line, vendor)


async def event_objects(chunks: AsyncIterator[bytes], vendor: str) -> AsyncIterator[dict[str, Json]]:
    """Yield the data of each server-sent event as an object, until the stream ends or says ``[DONE]``.

    The name of an event is ignored: every provider repeats it in the data. As the standard says, an event that no blank
    line ends is discarded.

    Raises:
        ModelError: a line, an event or the answer is too long, or the data is not a JSON object.
    """
    data: list[bytes] = []
    size = 0
    async for line in _lines(chunks, vendor, with_rest=False):
        field, _, value = line.removesuffix(b"\r").partition(b":")
        if field == b"data":
            value = value.removeprefix(b" ")
            size += len(value) + 1
            if size > LONGEST_LINE:
                raise ModelError(f"an event of {vendor}'s answer is longer than {LONGEST_LINE >> 20} MiB")
            data.append(value)
        elif not field and not value and data:
            whole = b"\n".join(data)
            data, size = [], 0
            if whole == DONE:
                return
            yield await _parsed(whole, vendor)


async def _lines(chunks: AsyncIterator[bytes], vendor: str, *, with_rest: bool) -> AsyncIterator[bytes]:
    lines, size, rests = Lines(LONGEST_LINE), 0, Rests()
    async for chunk in chunks:
        rests.work()
        size += len(chunk)
        try:
            whole = lines.feed(chunk)
        except LineTooLong:
            raise ModelError(f"a line of {vendor}'s answer is longer than {LONGEST_LINE >> 20} MiB") from None
        if size > LONGEST_ANSWER:
            raise ModelError(f"the answer of {vendor} is longer than {LONGEST_ANSWER >> 20} MiB")
        for line in whole:
            if line:
                await rests.rest()
            yield line
        await rests.rest()
    if with_rest and (rest := lines.rest()):
        yield rest


async def _parsed(text: bytes, vendor: str) -> dict[str, Json]:
    why = "it is not an object"
    try:
        found = parse_json(text) if len(text) <= AT_ONCE else await in_worker(parse_json, text)
        if isinstance(found, dict):
            return found
    except BadJson as error:
        why = str(error)
    raise ModelError(f"a line of {vendor}'s answer cannot be read: {why}; check `baseUrl`")
