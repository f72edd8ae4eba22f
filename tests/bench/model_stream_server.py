"""The server of ``model_stream.py``: the same events to everybody, and when it wrote the end of the arguments."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DELTAS, PAUSE = 1500, 0.001
ARGUMENTS = json.dumps({"path": "x" * 200})
USAGE = {"input_tokens": 1, "output_tokens": 1}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": USAGE}
CALL = {"id": "t", "type": "function", "function": {"name": "read_file", "arguments": ""}}
DONE = b"data: [DONE]\n\n"


def claude(*events: dict[str, Any]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def block(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"content_block_{kind}", "index": 0, **more}


def gpt(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def call(tool: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **tool}]}


START = {"type": "message_start", "message": MESSAGE}
END = claude(
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)
TOOL_USE = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
CALLS = {
    True: (
        claude(START, block("start", content_block=TOOL_USE)),
        claude(block("delta", delta={"type": "input_json_delta", "partial_json": ARGUMENTS}), block("stop")),
        END,
    ),
    False: (
        gpt(call(CALL)),
        gpt(call({"function": {"arguments": ARGUMENTS}})) + gpt({}, "tool_calls"),
        DONE,
    ),
}
TEXT = {
    True: (
        claude(START, block("start", content_block={"type": "text", "text": ""})),
        claude(block("delta", delta={"type": "text_delta", "text": "word "})),
        claude(block("stop")) + END,
    ),
    False: (gpt({"role": "assistant"}), gpt({"content": "word "}), gpt({}, "stop") + DONE),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def send(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        calls = body["model"] == "calls"
        first, middle, last = (CALLS if calls else TEXT)[self.path.endswith("/messages")]
        self.send(first)
        time.sleep(0.01)
        wrote = time.monotonic()
        for number in range(1 if calls else DELTAS):
            self.send(middle)
            # By the clock, so that the sender's own delays do not add up.
            time.sleep(0.02 if calls else max(0.0, wrote + (number + 1) * PAUSE - time.monotonic()))
        self.send(last)
        self.wfile.write(b"0\r\n\r\n")
        if calls:
            print(wrote, flush=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
