"""A scripted language model on loopback, standard library only: what agents talk to while they are probed or tested.

One server speaks five wire formats, streaming and not (``wire_formats.py``): Anthropic Messages, OpenAI Chat and
Responses, Gemini, Ollama. ``serve`` starts it in a thread.

The script is a mapping (or a JSON file, read again at every request; ``POST /__script`` replaces it):

    {"scenarios": {"write": {"steps": [{"text": "…", "tools": [{"name": "Write", "args": {…}}]}],
                             "closing": "text after the last step"}},
     "default": "write", "delay_ms": 0, "chunk": 24}

A prompt chooses its scenario by the marker `[[name]]`; the step is the number of assistant messages with tool calls
since that prompt, so the server keeps no state. A step may also carry `thinking`, `refusal`, `done_reason` ("length"),
`error` {status, text, headers, times} in the provider's own words, `fails` (an error in the stream), `broken` (the
stream ends too early), `raw` on a tool (the text of its arguments; Gemini leaves the call out and says
so) and `freeform` (OpenAI custom tools). A request that does not offer the tools of its step is an auxiliary one
(title, summary): it gets a short answer, or the smallest value of its schema. `"bodies": true` in the script logs whole
requests.
In place of `tools` a step may have a `wish`: what is to be done, from which ``tool_choice.py`` makes a call of one of
the tools that the agent offers. A step whose wish no offered tool fits is left out; `left_out` of the server says so.
When the steps are spent, the closing text quotes every tool result since the prompt:

    FINAL[write] results=1 | #1 Write error=True :: <first 400 characters>

Every request is one line of the log (JSONL): api, scenario, step, aux, model, tools offered, tool_results
[{id, name, is_error, text}], user_texts, images, key, body, reply. `GET /__health` says how many there were.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from countersign.agents.probe import wire_formats as wires
from countersign.agents.probe.tool_choice import call_for
from countersign.agents.probe.turn import Turn, smallest

MODELS = ["fake-model", "claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5", "gpt-5"]
EVENTS, LINES = "text/event-stream", "application/x-ndjson"


class Brain:
    """Chooses the reply to each request from the script, and logs both.

    ``count`` is how many requests came, ``left_out`` the scenarios and wishes that no offered tool fits, ``results``
    what the tools of a scenario answered, as of its last request.
    """

    def __init__(self, script: dict | str | Path, log: str | Path | None) -> None:
        self.given = script
        self.override: dict | None = None
        self.count = 0
        self.failed = 0
        self.left_out: set[tuple[str, str]] = set()
        self.results: dict[str, list[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._log = open(log or os.devnull, "a", encoding="utf-8")  # noqa: SIM115 closed with the server

    def close(self) -> None:
        self._log.close()

    def script(self) -> dict:
        if self.override is not None:
            return self.override
        if isinstance(self.given, dict):
            return self.given
        try:
            return json.loads(Path(self.given).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {"scenarios": {}}

    def record(self, row: dict) -> None:
        with self._lock:
            self.count += 1
            if not self._log.closed:
                row = {"n": self.count, "ts": round(time.time(), 3), **row}
                self._log.write(json.dumps(row, ensure_ascii=False) + "\n")
                self._log.flush()

    def still_fails(self, reply: dict) -> bool:
        """Whether a step's error is due: each time, or only the first `times` times."""
        times = reply["error"].get("times")
        with self._lock:
            self.failed += 1
            return times is None or self.failed <= times

    def decide(self, turn: Turn, asked: dict[str, Any]) -> dict[str, Any]:
        script = self.script()
        name, step, results = turn.since_prompt()
        name = name if name is not None else script.get("default")
        reply, why = self._reply(script, name, step, results, turn)
        if why and turn.schema:
            reply = {"text": json.dumps(smallest(turn.schema))}
        reply = {"text": "", "tools": [], **reply}
        self.record(
            {"api": turn.api, "model": turn.model, "stream": turn.stream, "scenario": name, "step": step,
             "aux": why is not None, "why": why, "tools": turn.tools, "tool_results": results,
             "user_texts": [event["text"] for event in turn.events if event["t"] == "user"],
             "images": [event for event in turn.events if event["t"] == "image"],
             "system_chars": len(turn.system), **(asked if script.get("bodies") else {}),
             "reply": {"text": reply["text"], "tools": reply["tools"]}}
        )  # fmt: skip
        return {"delay_ms": script.get("delay_ms", 0), "chunk": int(script.get("chunk", 24)) or 24, **reply}

    def _reply(self, script: dict, name: str | None, step: int, results: list, turn: Turn):
        """The reply, and why it is an auxiliary one (None: it is not)."""
        scenario = (script.get("scenarios") or {}).get(name)
        if scenario is None:
            return {"text": "ok"}, f"no scenario {name!r}"
        steps = self._granted(str(name), scenario.get("steps") or [], turn)
        self.results[str(name)] = results
        if step < len(steps):
            missing = [tool["name"] for tool in steps[step].get("tools") or [] if tool["name"] not in turn.tools]
            if missing and not steps[step].get("force"):
                return {"text": "ok"}, f"tools not offered: {missing}"
            return steps[step], None
        quoted = [
            f"#{number} {result['name']} error={result['is_error']} :: {(result['text'] or '')[:400]}"
            for number, result in enumerate(results, start=1)
        ]
        text = f"{scenario.get('closing', 'FINAL')}[{name}] results={len(results)} | " + " | ".join(quoted)
        return {"text": text}, None if turn.tools else "no tools offered"

    def _granted(self, name: str, steps: list[dict], turn: Turn) -> list[dict]:
        """The steps with their wishes turned into calls. A request that offers no tools is no part of the scenario."""
        granted = []
        for step in steps:
            wish = step.get("wish")
            if wish is None:
                granted.append(step)
            elif (call := call_for(wish, turn.offered)) is not None:
                granted.append({"text": step.get("text", "I will do it."), "tools": [call]})
            elif turn.offered:
                self.left_out.add((name, wish["do"]))
        return granted


class Handler(BaseHTTPRequestHandler):
    """One request; `brain` is the server's."""

    protocol_version = "HTTP/1.1"
    brain: Brain

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/__health":
            self._json({"ok": True, "requests": self.brain.count})
        elif path.endswith("/api/tags"):
            model = {"name": "fake-model", "model": "fake-model", "size": 1, "details": {"family": "fake"}}
            self._json({"models": [model]})
        elif path.endswith("/api/version"):
            self._json({"version": "0.12.0"})
        elif path.endswith("/models"):
            data = [{"id": name, "object": "model", "type": "model", "display_name": name,
                     "created_at": "2025-01-01T00:00:00Z"} for name in MODELS]  # fmt: skip
            self._json({"object": "list", "has_more": False, "data": data})
        else:
            self._unknown()

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = self._body()
        gemini = re.search(r"/models/([^/:]+):(\w+)$", path)
        if path == "/__script":
            self.brain.override = body or None
            self._json({"ok": True})
        elif path.endswith("/messages/count_tokens"):
            self._json({"input_tokens": 10})
        elif path.endswith("/messages"):
            self._answer(body, wires.read_anthropic(body), wires.write_anthropic)
        elif path.endswith("/chat/completions"):
            self._answer(body, wires.read_chat(body), wires.write_chat)
        elif path.endswith("/responses"):
            self._answer(body, wires.read_responses(body), wires.write_responses)
        elif path.endswith("/api/chat"):
            self._answer(body, wires.read_chat(body, "ollama"), wires.write_ollama, LINES)
        elif path.endswith("/api/show"):
            info = {"fake.context_length": int(self.brain.script().get("context_length", 0))}
            capable = ["completion", "tools", *self.brain.script().get("capabilities", [])]
            self._json({"capabilities": capable, "details": {}, "model_info": info})
        elif gemini and gemini.group(2) == "countTokens":
            self._json({"totalTokens": 10})
        elif gemini and gemini.group(2) in ("embedContent", "batchEmbedContents"):
            self._json({"embedding": {"values": [0.0]}})
        elif gemini:
            stream = gemini.group(2) == "streamGenerateContent"
            self._answer(body, wires.read_gemini(body, gemini.group(1), stream), wires.write_gemini)
        else:
            self._unknown()

    def _answer(self, body: dict, turn: Turn, write: wires.Writer, content_type: str = EVENTS) -> None:
        names = ("authorization", "x-api-key", "x-goog-api-key")
        key = next((self.headers[name] for name in names if self.headers.get(name)), None)
        reply = self.brain.decide(turn, {"key": key, "body": body, "path": self.path})
        if (error := reply.get("error")) is not None and self.brain.still_fails(reply):
            told = wires.error_body(turn.api, error["status"], error["text"])
            self._json(told, error["status"], error.get("headers") or {})
            return
        pieces, whole = write(turn, reply)
        if pieces is None:
            self._json(whole)
        else:
            self._stream(pieces, content_type, reply)

    def _stream(self, pieces: wires.Pieces, content_type: str, reply: dict) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        data = list(pieces)
        try:
            for piece in data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                time.sleep(reply["delay_ms"] / 1000)
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.brain.record({"api": "http", "note": "client closed the stream", "path": self.path})
            self.close_connection = True

    def _json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _unknown(self) -> None:
        self.brain.record({"api": "http", "method": self.command, "path": self.path})
        self._json({"error": {"type": "not_found_error", "message": "not found"}}, 404)

    def _body(self) -> dict:
        length = self.headers.get("content-length")
        if length:
            raw = self.rfile.read(int(length))
        elif "chunked" in (self.headers.get("transfer-encoding") or ""):
            raw = self._chunks()
        else:
            raw = b""
        if (self.headers.get("content-encoding") or "").lower() == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw or b"{}")
        except ValueError:
            return {}

    def _chunks(self) -> bytes:
        raw = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw


class Server(ThreadingHTTPServer):
    """Answers each request in a thread that nobody waits for at the end."""

    daemon_threads = True
    brain: Brain

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        self.brain.close()


def requests_in(log: str | Path) -> list[dict[str, Any]]:
    """The requests that a log holds; without remarks on connections and without a row that is still being written."""
    lines = Path(log).read_text(encoding="utf-8").splitlines(keepends=True)
    rows = [json.loads(line) for line in lines if line.endswith("\n")]
    return [row for row in rows if row["api"] != "http"]


def serve(port: int, script: dict | str | Path, log: str | Path | None = None) -> tuple[Server, int]:
    """Start in a thread; the server and its port (0 takes a free one). End with `shutdown` and `server_close`."""
    brain = Brain(script, log)
    server = Server(("127.0.0.1", port), type("BoundHandler", (Handler,), {"brain": brain}))
    server.brain = brain
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server, server.server_address[1]
