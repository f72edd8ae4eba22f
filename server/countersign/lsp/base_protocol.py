"""Bytes to messages and back: the LSP base protocol, and what JSON-RPC asks of a message before anyone reads it.

Nothing here waits or touches a descriptor. `transport` brings the bytes; what a message means is left to `bridge`.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeGuard

from countersign.wire.base import WireModel, as_json, to_json

LIMIT = 32 << 20
"""Bytes of the largest message that is read; the body of a larger one is skipped."""
LINE_LIMIT = 8 << 10
"""Bytes of the longest header line; a longer one is taken in pieces, none of which is a header."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

MessageId = int | str

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*", re.IGNORECASE)
_USUAL_HEADER = re.compile(rb"Content-Length: (\d{1,8})\r\n\r\n")
_LEADING_ID = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,64}")\s*,\s*"method"')

# Both made once, because `json` would make them for each message. What a model gives has no circles to look for.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fault:
    """A frame that holds no message, as the error that answers it. ``id`` is None where none could be read."""

    code: int
    message: str
    id: MessageId | None = None
    data: dict[str, str] | None = None


@dataclass
class Decoder:
    """Keeps the bytes of a frame that has not come whole, of which it holds `LIMIT` at most."""

    _held: bytearray = field(default_factory=bytearray)
    _length: int | None = None
    _in_body: bool = False
    _skipping: int = 0
    _in_header: bool = False

    def feed(self, data: bytes) -> list[Any]:
        """The JSON values and `Fault`s of the frames that ``data`` completes, in order."""
        self._held += data
        found: list[Any] = []
        while True:
            if not (self._skipping or self._in_body or self._in_header or self._length is not None):
                self._usual(found)
            taken = self._skip() if self._skipping else self._body(found) if self._in_body else self._line(found)
            if not taken:
                return found

    def _usual(self, found: list[Any]) -> None:
        """Takes the frames at the beginning that are whole and have one header, written as nearly everybody does."""
        taken = 0
        while header := _USUAL_HEADER.match(self._held, taken):
            end = header.end() + int(header[1])
            if end > len(self._held) or int(header[1]) > LIMIT:
                break
            found.append(parse(self._held[header.end() : end]))
            taken = end
        del self._held[:taken]

    def _line(self, found: list[Any]) -> bool:
        end = self._held.find(b"\n", 0, LINE_LIMIT)
        if end < 0 and len(self._held) < LINE_LIMIT:
            return False
        line = bytes(self._held[: end + 1 if end >= 0 else LINE_LIMIT])
        del self._held[: len(line)]
        if text := line.strip(b"\r\n"):
            self._in_header = True
            if match := _LENGTH.fullmatch(text):
                self._length = int(match[1])
        elif self._length is not None:
            self._in_body, self._in_header = True, False
        elif self._in_header:
            # The length of what follows is unknown: lines are passed over until a header is one again.
            self._in_header = False
            found.append(Fault(PARSE_ERROR, "a header without a valid `Content-Length`"))
        return True

    def _body(self, found: list[Any]) -> bool:
        length = self._length or 0
        if length > LIMIT:
            if len(self._held) < min(length, 256):
                return False
            # The request is refused under its own id where that stands at its head, so that nobody waits for ever.
            match = _LEADING_ID.match(self._held)
            message_id = json.loads(match[1]) if match else None
            text = f"a message of {length} bytes is over the limit of {LIMIT}; send less at once"
            found.append(Fault(INVALID_REQUEST, text, message_id, {"kind": "tooLarge"}))
            self._skipping, self._length, self._in_body = length, None, False
            return True
        if len(self._held) < length:
            return False
        found.append(parse(self._held[:length]))
        del self._held[:length]
        self._length, self._in_body = None, False
        return True

    def _skip(self) -> bool:
        dropped = min(self._skipping, len(self._held))
        del self._held[:dropped]
        self._skipping -= dropped
        return dropped > 0


def malformed(value: Any) -> Fault | None:
    """Why a JSON value is no message, or None if it is one: an object with a method, or with an answer to an id."""
    if not isinstance(value, dict):
        return Fault(INVALID_REQUEST, "a message is a JSON object; batches are not taken")
    message_id = value.get("id") if is_id(value.get("id")) else None
    if value.get("jsonrpc") != "2.0":
        return Fault(INVALID_REQUEST, 'a message says `"jsonrpc": "2.0"`', message_id)
    if "method" not in value and "result" not in value and "error" not in value:
        return Fault(INVALID_REQUEST, "a message has a method, a result or an error", message_id)
    if not isinstance(value.get("method", ""), str):
        return Fault(INVALID_REQUEST, "the method is not a string", message_id)
    if "id" in value and message_id is None and not ("method" not in value and value["id"] is None):
        # An error without an id is the one exception: the peer's word that it could not read what we sent.
        return Fault(INVALID_REQUEST, "an id is a whole number or a string")
    if value.get("params") is not None and not isinstance(value["params"], dict | list):
        return Fault(INVALID_REQUEST, "params are an object or an array", message_id)
    return None


def is_id(value: Any) -> TypeGuard[MessageId]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def parse(body: bytes | bytearray) -> Any:
    """The JSON value of a body, or the `Fault` that it is none."""
    try:
        text = body.decode("utf-8")
        if text.startswith("{"):
            value, end = _DECODER.raw_decode(text)
            if end == len(text):  # `decode` would look for blanks on both sides, which takes as long as the rest
                return value
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        log.warning("a message that is no JSON: %s", error)
        return Fault(PARSE_ERROR, "the message is not valid JSON")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"`{name}` is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def encode(message: dict[str, Any]) -> bytes:
    """The message as one frame. Raises `ValueError` or `TypeError` for what is not JSON, a NaN among it."""
    return _framed(_body(message))


def encode_notification(method: str, params: WireModel, said: str | None = None) -> bytes:
    """`encode` of a notification that carries a model; ``said`` is what `to_json` gave for it, if it was asked."""
    body = body_of(params, said.encode() if said is not None else None)
    return _framed(b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (method.encode(), body))


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """The result of a request that is long, so that it was encoded in a worker thread. ``model`` is its type."""

    model: type[WireModel]
    body: bytes


def encode_result(message_id: MessageId, result: WireModel | EncodedResult) -> bytes:
    """`encode` of an answer that carries a model."""
    number = b"%d" % message_id if isinstance(message_id, int) else _body(message_id)
    body = result.body if isinstance(result, EncodedResult) else body_of(result)
    return _framed(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (number, body))


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _body(value: Any) -> bytes:
    # A lone surrogate has no UTF-8; what `backslashreplace` writes for it is the JSON escape.
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


def body_of(model: WireModel, body: bytes | None = None) -> bytes:
    """A model written by pydantic itself where that gives what `_body` would: most of what we say goes by here."""
    if body is None:
        try:
            body = to_json(model)
        except ValueError:
            return _body(as_json(model))
    # Text may well say so, but a number must not: the slow way tells them apart, and refuses the number.
    return _body(as_json(model)) if b"NaN" in body or b"Infinity" in body else body
