"""Bytes to messages: whatever the pieces they come in, and whatever comes that is no message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.lsp.base_protocol import (
    LIMIT,
    LINE_LIMIT,
    Decoder,
    Fault,
    encode,
    encode_notification,
    encode_result,
    malformed,
)
from countersign.wire.approvals import ToolPreview
from countersign.wire.base import as_json, to_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NO_LENGTH = Fault(-32700, "a header without a valid `Content-Length`")
NO_JSON = Fault(-32700, "the message is not valid JSON")
TOO_LARGE = {"kind": "tooLarge"}


def framed(body: bytes, header: bytes = b"Content-Length: %d\r\n") -> bytes:
    return header % len(body) + b"\r\n" + body


def decoded(data: bytes, piece: int | None = None) -> list[Any]:
    decoder, size = Decoder(), piece or len(data) or 1
    return [value for start in range(0, len(data), size) for value in decoder.feed(data[start : start + size])]


CASES = [
    ("nothing", b"", []),
    ("one", framed(b"{}"), [{}]),
    ("two in one piece", framed(b"[1]") + framed(b'"a"'), [[1], "a"]),
    ("lower case", framed(b"{}", b"content-length: %d\r\n"), [{}]),
    ("upper case and no blank", framed(b"{}", b"CONTENT-LENGTH:%d\r\n"), [{}]),
    ("other headers around it", framed(b"{}", b"A: b\r\nContent-Length: %d\r\nContent-Type: x\r\n"), [{}]),
    ("bare line feeds", b"Content-Length: 2\n\n{}", [{}]),
    ("blank lines between", b"\r\n\r\n" + framed(b"1") + b"\r\n" + framed(b"2"), [1, 2]),
    ("empty body", framed(b""), [NO_JSON]),
    ("not JSON", framed(b"{nope") + framed(b"1"), [NO_JSON, 1]),
    ("not UTF-8", framed(b'"\xff"') + framed(b"1"), [NO_JSON, 1]),
    ("NaN", framed(b"NaN"), [NO_JSON]),
    ("infinity", framed(b"[-Infinity]"), [NO_JSON]),
    ("nested beyond reason", framed(b"[" * 100_000), [NO_JSON]),
    ("a number beyond reason", framed(b"9" * 5000), [NO_JSON]),
    ("no length", b"A: b\r\n\r\n" + framed(b"1"), [NO_LENGTH, 1]),
    ("negative length", b"Content-Length: -1\r\n\r\n" + framed(b"1"), [NO_LENGTH, 1]),
    ("length in words", b"Content-Length: two\r\n\r\n" + framed(b"1"), [NO_LENGTH, 1]),
    ("length with a sign", b"Content-Length: +2\r\n\r\n" + framed(b"1"), [NO_LENGTH, 1]),
    ("endless line", b"x" * (3 * LINE_LIMIT) + b"\r\n\r\n" + framed(b"1"), [NO_LENGTH, 1]),
    ("end within a header", b"Content-Len", []),
    ("end within a body", b"Content-Length: 10\r\n\r\n{", []),
]


@pytest.mark.parametrize(("data", "expected"), [pytest.param(c[1], c[2], id=c[0]) for c in CASES])
@pytest.mark.parametrize("piece", [None, 1, 7])
def test_bytes_become_messages_and_faults(data: bytes, expected: list[Any], piece: int | None) -> None:
    assert decoded(data, piece if len(data) < LINE_LIMIT else None) == expected


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=4), st.integers(1, 64))
def test_what_is_encoded_is_decoded_however_it_is_cut(messages: list[dict[str, Any]], piece: int) -> None:
    assert decoded(b"".join(encode(message) for message in messages), piece) == messages


@pytest.mark.parametrize(
    ("head", "message_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":"', 7),
        (b'{ "jsonrpc": "2.0", "id": "seven", "method": "x", "params": "', "seven"),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":7,"a":"', None),
        (b'{"jsonrpc":"2.0","id":7,"result":"', None),
        (b'[{"jsonrpc":"2.0","id":7,"method":"', None),
    ],
)
def test_a_message_over_the_limit_is_skipped_and_refused_under_its_own_id(head: bytes, message_id: Any) -> None:
    body = head + b"x" * (LIMIT + 1 - len(head))
    fault, after = decoded(framed(body) + framed(b'"after"'), 1 << 16)
    assert (fault.code, fault.id, fault.data, after) == (-32600, message_id, TOO_LARGE, "after")


def test_a_message_of_exactly_the_limit_is_taken() -> None:
    body = b'"' + b"x" * (LIMIT - 2) + b'"'
    assert [len(value) for value in decoded(framed(body), 1 << 20)] == [LIMIT - 2]


def test_a_skipped_body_is_not_kept() -> None:
    decoder = Decoder()
    decoder.feed(b"Content-Length: %d\r\n\r\n" % (1 << 40))
    for _ in range(64):
        decoder.feed(b"x" * (1 << 16))
    assert len(decoder._held) == 0


MALFORMED = [
    ([], None),
    ("text", None),
    ({}, None),
    ({"jsonrpc": "1.0", "id": 1, "method": "x"}, 1),
    ({"id": 1, "method": "x"}, 1),
    ({"jsonrpc": "2.0"}, None),
    ({"jsonrpc": "2.0", "id": 1}, 1),
    ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
    ({"jsonrpc": "2.0", "id": None, "method": "x"}, None),
    ({"jsonrpc": "2.0", "id": True, "method": "x"}, None),
    ({"jsonrpc": "2.0", "id": 1.5, "method": "x"}, None),
    ({"jsonrpc": "2.0", "id": [1], "method": "x"}, None),
    ({"jsonrpc": "2.0", "id": {}, "result": 1}, None),
    ({"jsonrpc": "2.0", "id": 1, "method": "x", "params": 5}, 1),
    ({"jsonrpc": "2.0", "id": "a", "method": "x", "params": "text"}, "a"),
    ({"jsonrpc": "2.0", "method": "x", "params": False}, None),
]


@pytest.mark.parametrize(("value", "message_id"), MALFORMED)
def test_a_value_that_is_no_message_is_an_invalid_request(value: Any, message_id: Any) -> None:
    fault = malformed(value)
    assert fault is not None
    assert (fault.code, fault.id) == (-32600, message_id)


@pytest.mark.parametrize(
    "value",
    [
        {"jsonrpc": "2.0", "method": "x"},
        {"jsonrpc": "2.0", "method": "x", "params": None},
        {"jsonrpc": "2.0", "method": "x", "params": []},
        {"jsonrpc": "2.0", "id": 0, "method": "x", "params": {}},
        {"jsonrpc": "2.0", "id": "", "method": "x"},
        {"jsonrpc": "2.0", "id": 1, "result": None},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}},
    ],
)
def test_a_message_is_let_through(value: Any) -> None:
    assert malformed(value) is None


def test_a_lone_surrogate_leaves_as_the_json_escape() -> None:
    message = {"text": "a\ud800b", "ä": "\U0001f600"}
    frame = encode(message)
    assert rb"a\ud800b" in frame
    assert json.loads(frame.partition(b"\r\n\r\n")[2]) == message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes"])
def test_what_is_not_json_is_not_sent(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode({"value": value})


@given(JSON | st.floats(allow_nan=False, allow_infinity=False), st.text() | st.integers())
def test_a_model_is_written_as_its_json_would_be(value: Any, message_id: Any) -> None:
    model = ToolPreview(server="NaN", input=value)
    said, answered = encode_notification("a/b", model), encode_result(message_id, model)
    assert decoded(said) == decoded(encode({"jsonrpc": "2.0", "method": "a/b", "params": as_json(model)}))
    assert encode_notification("a/b", model, to_json(model).decode()) == said
    assert decoded(answered) == decoded(encode({"jsonrpc": "2.0", "id": message_id, "result": as_json(model)}))


@pytest.mark.parametrize("value", ["a\ud800b", {"a": ["\udc00", "NaN", None]}])
def test_a_lone_surrogate_in_a_model_leaves_as_the_json_escape(value: Any) -> None:
    assert decoded(encode_notification("a/b", ToolPreview(input=value)))[0]["params"]["input"] == value


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}])
def test_a_model_with_what_is_not_json_is_not_sent(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_notification("a/b", ToolPreview(input=value))
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_notification("a/b", ToolPreview(input=value), to_json(ToolPreview(input=value)).decode())
