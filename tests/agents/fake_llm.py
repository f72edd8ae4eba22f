#!/usr/bin/env python3
"""A scripted language-model server on loopback, standard library only.

One process speaks five wire formats, streaming and not:

  Anthropic Messages    POST .../v1/messages            (+ /count_tokens)
  OpenAI Chat           POST .../chat/completions
  OpenAI Responses      POST .../responses
  Gemini                POST .../models/M:streamGenerateContent | :generateContent | :countTokens
  Ollama                POST .../api/chat               (+ /api/tags, /api/show, /api/version)

Script (JSON file, read again at every request; or POST /__script):

  {"scenarios": {"write": {"steps": [{"text": "...", "tools": [{"name": "Write", "args": {...}}]}],
                           "closing": "optional closing text"}},
   "default": "write", "delay_ms": 0, "chunk": 24}

The user's prompt chooses a scenario by the marker [[name]].  The step is the
number of assistant turns with tool calls after that prompt, so the server keeps
no state.  A step may carry "freeform": true on a tool (OpenAI custom tools: the
call then carries args["input"] as plain text).  A request that does not offer
the tool of its step (title, summary or classifier requests) is an auxiliary one:
it gets a short plain answer, or the smallest JSON that its response schema takes.
When the steps are spent, the closing text quotes every tool result since the prompt:

  FINAL[write] results=1 | #1 Write error=True :: <first 400 characters>

Every request becomes one line in the log (JSONL): api, scenario, step, aux, model,
tools offered, tool_results [{id, name, is_error, text}], reply.
"""
from __future__ import annotations

import argparse
import json
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MARK = re.compile(r"\[\[([A-Za-z0-9_.-]+)\]\]")


# ---------------------------------------------------------------- helpers
def flat(x) -> str:
    """Every text in a content value, whatever its shape."""
    if x is None:
        return ""
    if isinstance(x, str):
        return x
    if isinstance(x, list):
        return "\n".join(t for t in (flat(i) for i in x) if t)
    if isinstance(x, dict):
        for k in ("text", "content", "output", "result"):
            if k in x and isinstance(x[k], (str, list, dict)):
                return flat(x[k])
        return json.dumps(x, ensure_ascii=False, sort_keys=True)
    return str(x)


def smallest(schema, depth=0):
    """The smallest value that a JSON schema takes (no $ref)."""
    if not isinstance(schema, dict) or depth > 8:
        return None
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for k in ("anyOf", "oneOf"):
        if schema.get(k):
            return smallest(schema[k][0], depth + 1)
    t = schema.get("type")
    if isinstance(t, list):
        t = t[0]
    t = (t or "object").lower()
    if t == "object":
        props = schema.get("properties") or {}
        return {k: smallest(v, depth + 1) for k, v in props.items()}
    return {"array": [], "string": "ok", "integer": 1, "number": 1, "boolean": False, "null": None}.get(t)


class Turn:
    """What a request says, in one shape for all formats."""

    def __init__(self, api, body, model):
        self.api, self.body, self.model = api, body, model
        self.tools: list[str] = []
        self.events: list[dict] = []  # {"t": user|call|result|text, ...}
        self.schema = None
        self.stream = True
        self.system = ""

    def user(self, text):
        self.events.append({"t": "user", "text": text})

    def call(self, id_, name):
        self.events.append({"t": "call", "id": id_, "name": name})

    def result(self, id_, name, text, is_error):
        self.events.append({"t": "result", "id": id_, "name": name, "text": text, "is_error": is_error})

    def since_prompt(self):
        """(scenario, step, results) since the last user text that carries a marker."""
        start, scenario = -1, None
        for i, e in enumerate(self.events):
            if e["t"] == "user":
                found = MARK.findall(e["text"])
                if found:
                    start, scenario = i, found[-1]
        if scenario is None:
            for i, e in enumerate(self.events):
                if e["t"] == "user":
                    start = i
        tail = self.events[start + 1:]
        step, last, names = 0, None, {}
        for e in tail:
            if e["t"] == "call":
                names[e["id"]] = e["name"]
                if last != "call":
                    step += 1
            last = e["t"] if e["t"] in ("call", "result") else last
        results = [dict(e, name=e["name"] or names.get(e["id"])) for e in tail if e["t"] == "result"]
        return scenario, step, results


def read_anthropic(body):
    t = Turn("anthropic", body, body.get("model"))
    t.stream = bool(body.get("stream"))
    t.system = flat(body.get("system"))
    t.tools = [x.get("name") for x in body.get("tools") or []]
    t.schema = ((body.get("output_config") or {}).get("format") or body.get("output_format") or {}).get("schema")
    for m in body.get("messages") or []:
        c = m.get("content")
        parts = [{"type": "text", "text": c}] if isinstance(c, str) else (c or [])
        for p in parts:
            k = p.get("type")
            if k == "tool_use":
                t.call(p.get("id"), p.get("name"))
            elif k == "tool_result":
                t.result(p.get("tool_use_id"), None, flat(p.get("content")), bool(p.get("is_error")))
            elif k == "text" and m.get("role") == "user":
                t.user(p.get("text") or "")
    return t


def read_chat(body, api="openai-chat"):
    t = Turn(api, body, body.get("model"))
    t.stream = bool(body.get("stream", api == "ollama"))
    t.tools = [(x.get("function") or x).get("name") for x in body.get("tools") or []]
    rf = body.get("response_format") or {}
    t.schema = (rf.get("json_schema") or {}).get("schema") if isinstance(rf, dict) else None
    for m in body.get("messages") or []:
        r = m.get("role")
        if r == "system":
            t.system += flat(m.get("content"))
        elif r == "user":
            t.user(flat(m.get("content")))
        elif r == "assistant":
            for c in m.get("tool_calls") or []:
                t.call(c.get("id"), (c.get("function") or {}).get("name"))
        elif r == "tool":
            t.result(m.get("tool_call_id"), m.get("name") or m.get("tool_name"), flat(m.get("content")), None)
    return t


def read_responses(body):
    t = Turn("openai-responses", body, body.get("model"))
    t.stream = bool(body.get("stream"))
    t.system = flat(body.get("instructions"))
    for x in body.get("tools") or []:
        if x.get("type") == "namespace":
            t.tools += [y.get("name") for y in x.get("tools") or []]
        else:
            t.tools.append(x.get("name") or x.get("type"))
    t.schema = ((body.get("text") or {}).get("format") or {}).get("schema")
    inp = body.get("input")
    if isinstance(inp, str):
        t.user(inp)
        inp = []
    for m in inp or []:
        k = m.get("type") or "message"
        if k == "message" and m.get("role") == "user":
            t.user(flat(m.get("content")))
        elif k in ("function_call", "custom_tool_call", "local_shell_call"):
            t.call(m.get("call_id"), m.get("name") or k)
        elif k in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            t.result(m.get("call_id"), None, flat(m.get("output")), None)
        elif k == "additional_tools":
            for y in m.get("tools") or []:
                t.tools.append(y.get("name") or y.get("type"))
    return t


def read_gemini(body, model, stream):
    t = Turn("gemini", body, model)
    t.stream = stream
    t.system = flat(((body.get("systemInstruction") or {}).get("parts")))
    for x in body.get("tools") or []:
        for f in x.get("functionDeclarations") or x.get("function_declarations") or []:
            t.tools.append(f.get("name"))
    g = body.get("generationConfig") or {}
    t.schema = g.get("responseSchema") or g.get("responseJsonSchema")
    for m in body.get("contents") or []:
        for p in m.get("parts") or []:
            if "functionCall" in p:
                c = p["functionCall"]
                t.call(c.get("id") or c.get("name"), c.get("name"))
            elif "functionResponse" in p:
                c = p["functionResponse"]
                resp = c.get("response") or {}
                t.result(c.get("id") or c.get("name"), c.get("name"), flat(resp.get("output") or resp.get("error") or resp),
                         "error" in resp)
            elif "text" in p and m.get("role") == "user":
                t.user(p["text"])
    return t


# ---------------------------------------------------------------- the script
class Brain:
    def __init__(self, script_path, log_path, full):
        self.script_path, self.full = script_path, full
        self.override = None
        self.lock = threading.Lock()
        self.log = open(log_path, "a", encoding="utf-8") if log_path else None
        self.n = 0

    def script(self):
        if self.override is not None:
            return self.override
        if isinstance(self.script_path, dict):
            return self.script_path
        try:
            with open(self.script_path, encoding="utf-8") as f:
                return json.load(f)
        except Exception:
            return {"scenarios": {}}

    def record(self, row):
        with self.lock:
            self.n += 1
            row = {"n": self.n, "ts": round(time.time(), 3), **row}
            if self.log:
                self.log.write(json.dumps(row, ensure_ascii=False) + "\n")
                self.log.flush()

    def decide(self, t: Turn):
        s = self.script()
        name, step, results = t.since_prompt()
        name = name if name is not None else s.get("default")
        sc = (s.get("scenarios") or {}).get(name)
        steps = (sc or {}).get("steps") or []
        aux, why = False, None
        if sc is None:
            aux, why = True, f"no scenario {name!r}"
            reply = {"text": "ok", "tools": []}
        elif step >= len(steps):
            if not t.tools:
                aux, why = True, "no tools offered"
            parts = [f"#{i + 1} {r['name']} error={r['is_error']} :: {(r['text'] or '')[:400]}"
                     for i, r in enumerate(results)]
            reply = {"text": f"{sc.get('closing', 'FINAL')}[{name}] results={len(results)} | " + " | ".join(parts),
                     "tools": []}
        else:
            st = steps[step]
            missing = [x["name"] for x in st.get("tools") or [] if x["name"] not in t.tools]
            if missing and not st.get("force"):
                aux, why = True, f"tools not offered: {missing}"
                reply = {"text": "ok", "tools": []}
            else:
                reply = {"text": st.get("text", ""), "tools": st.get("tools") or []}
        if aux and t.schema:
            reply = {"text": json.dumps(smallest(t.schema)), "tools": []}
        reply["delay_ms"] = s.get("delay_ms", 0)
        reply["chunk"] = int(s.get("chunk", 24)) or 24
        self.record({"api": t.api, "model": t.model, "stream": t.stream, "scenario": name, "step": step, "aux": aux,
                     "why": why, "tools": t.tools, "tool_results": results, "system_chars": len(t.system),
                     "reply": {"text": reply["text"], "tools": reply["tools"]},
                     **({"body": t.body} if self.full else {})})
        return reply


def pieces(s, n):
    return [s[i:i + n] for i in range(0, len(s), n)] or [""]


def uid(p):
    return p + uuid.uuid4().hex[:20]


def fc_args(c):
    return json.dumps(c.get("args", {}), ensure_ascii=False)


# ---------------------------------------------------------------- writers: yield raw byte strings
def sse(event, data):
    head = f"event: {event}\n" if event else ""
    return (head + "data: " + (data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)) + "\n\n").encode()


def out_anthropic(t, r):
    mid = uid("msg_")
    usage = {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    blocks = ([{"type": "text", "text": r["text"]}] if r["text"] else []) + [
        {"type": "tool_use", "id": uid("toolu_"), "name": c["name"], "input": c.get("args", {})} for c in r["tools"]]
    stop = "tool_use" if r["tools"] else "end_turn"
    msg = {"id": mid, "type": "message", "role": "assistant", "model": t.model, "content": blocks,
           "stop_reason": stop, "stop_sequence": None, "usage": usage}
    if not t.stream:
        return None, msg

    def gen():
        yield sse("message_start", {"type": "message_start",
                                    "message": dict(msg, content=[], stop_reason=None)})
        for i, b in enumerate(blocks):
            if b["type"] == "text":
                yield sse("content_block_start", {"type": "content_block_start", "index": i,
                                                  "content_block": {"type": "text", "text": ""}})
                for p in pieces(b["text"], r["chunk"]):
                    yield sse("content_block_delta", {"type": "content_block_delta", "index": i,
                                                      "delta": {"type": "text_delta", "text": p}})
            else:
                yield sse("content_block_start", {"type": "content_block_start", "index": i,
                                                  "content_block": dict(b, input={})})
                for p in pieces(json.dumps(b["input"], ensure_ascii=False), r["chunk"]):
                    yield sse("content_block_delta", {"type": "content_block_delta", "index": i,
                                                      "delta": {"type": "input_json_delta", "partial_json": p}})
            yield sse("content_block_stop", {"type": "content_block_stop", "index": i})
        yield sse("message_delta", {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                                    "usage": usage})
        yield sse("message_stop", {"type": "message_stop"})
    return gen(), None


def out_chat(t, r):
    cid, now = uid("chatcmpl-"), int(time.time())
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    calls = [{"id": uid("call_"), "type": "function", "function": {"name": c["name"], "arguments": fc_args(c)}}
             for c in r["tools"]]
    fin = "tool_calls" if calls else "stop"
    if not t.stream:
        m = {"role": "assistant", "content": r["text"]}
        if calls:
            m["tool_calls"] = calls
        return None, {"id": cid, "object": "chat.completion", "created": now, "model": t.model,
                      "choices": [{"index": 0, "message": m, "finish_reason": fin}], "usage": usage}

    def ch(delta, finish=None, **kw):
        return sse(None, {"id": cid, "object": "chat.completion.chunk", "created": now, "model": t.model,
                          "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **kw})

    def gen():
        yield ch({"role": "assistant", "content": ""})
        if r["text"]:
            for p in pieces(r["text"], r["chunk"]):
                yield ch({"content": p})
        for i, c in enumerate(calls):
            yield ch({"tool_calls": [{"index": i, "id": c["id"], "type": "function",
                                      "function": {"name": c["function"]["name"], "arguments": ""}}]})
            for p in pieces(c["function"]["arguments"], r["chunk"]):
                yield ch({"tool_calls": [{"index": i, "function": {"arguments": p}}]})
        yield ch({}, fin, usage=usage)
        yield sse(None, "[DONE]")
    return gen(), None


def out_responses(t, r):
    rid = uid("resp_")
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}
    base = {"id": rid, "object": "response", "created_at": int(time.time()), "model": t.model, "status": "in_progress",
            "output": [], "usage": None, "parallel_tool_calls": True, "tools": [], "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {}}
    items = []
    if r["text"]:
        items.append({"type": "message", "id": uid("msg_"), "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": r["text"], "annotations": []}]})
    for c in r["tools"]:
        if c.get("freeform"):
            items.append({"type": "custom_tool_call", "id": uid("ctc_"), "call_id": uid("call_"), "name": c["name"],
                          "input": c["args"]["input"], "status": "completed"})
        else:
            items.append({"type": "function_call", "id": uid("fc_"), "call_id": uid("call_"), "name": c["name"],
                          "arguments": fc_args(c), "status": "completed"})
            if c.get("namespace"):
                items[-1]["namespace"] = c["namespace"]
    done = dict(base, status="completed", output=items, usage=usage)
    if not t.stream:
        return None, done
    seq = [0]

    def ev(kind, **kw):
        seq[0] += 1
        return sse(kind, {"type": kind, "sequence_number": seq[0], **kw})

    def gen():
        yield ev("response.created", response=base)
        yield ev("response.in_progress", response=base)
        for i, it in enumerate(items):
            if it["type"] == "message":
                text = it["content"][0]["text"]
                yield ev("response.output_item.added", output_index=i, item=dict(it, status="in_progress", content=[]))
                yield ev("response.content_part.added", item_id=it["id"], output_index=i, content_index=0,
                         part={"type": "output_text", "text": "", "annotations": []})
                for p in pieces(text, r["chunk"]):
                    yield ev("response.output_text.delta", item_id=it["id"], output_index=i, content_index=0, delta=p)
                yield ev("response.output_text.done", item_id=it["id"], output_index=i, content_index=0, text=text)
                yield ev("response.content_part.done", item_id=it["id"], output_index=i, content_index=0,
                         part=it["content"][0])
            elif it["type"] == "function_call":
                yield ev("response.output_item.added", output_index=i, item=dict(it, status="in_progress", arguments=""))
                for p in pieces(it["arguments"], r["chunk"]):
                    yield ev("response.function_call_arguments.delta", item_id=it["id"], output_index=i, delta=p)
                yield ev("response.function_call_arguments.done", item_id=it["id"], output_index=i,
                         arguments=it["arguments"])
            else:
                yield ev("response.output_item.added", output_index=i, item=dict(it, status="in_progress", input=""))
                for p in pieces(it["input"], r["chunk"]):
                    yield ev("response.custom_tool_call_input.delta", item_id=it["id"], output_index=i, delta=p)
                yield ev("response.custom_tool_call_input.done", item_id=it["id"], output_index=i, input=it["input"])
            yield ev("response.output_item.done", output_index=i, item=it)
        yield ev("response.completed", response=done)
    return gen(), None


def out_gemini(t, r):
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}

    def env(parts, finish=None):
        c = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            c["finishReason"] = finish
        return {"candidates": [c], "usageMetadata": usage, "modelVersion": t.model, "responseId": uid("r")}
    calls = [{"functionCall": {"id": uid("fc"), "name": c["name"], "args": c.get("args", {})}} for c in r["tools"]]
    if calls:
        calls[0]["thoughtSignature"] = "c2tpcA=="
    if not t.stream:
        return None, env(([{"text": r["text"]}] if r["text"] else []) + calls, "STOP")

    def gen():
        if r["text"]:
            for p in pieces(r["text"], max(r["chunk"], 40)):
                yield sse(None, env([{"text": p}]))
        yield sse(None, env(calls or [{"text": ""}], "STOP"))
    return gen(), None


def out_ollama(t, r):
    def row(msg, done=False, **kw):
        return {"model": t.model, "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "message": msg,
                "done": done, **kw}
    calls = [{"function": {"name": c["name"], "arguments": c.get("args", {})}} for c in r["tools"]]
    end = dict(done_reason="stop", total_duration=1, eval_count=1, prompt_eval_count=1)
    if not t.stream:
        m = {"role": "assistant", "content": r["text"]}
        if calls:
            m["tool_calls"] = calls
        return None, row(m, True, **end)

    def gen():
        for p in pieces(r["text"], r["chunk"]):
            yield (json.dumps(row({"role": "assistant", "content": p})) + "\n").encode()
        if calls:
            yield (json.dumps(row({"role": "assistant", "content": "", "tool_calls": calls})) + "\n").encode()
        yield (json.dumps(row({"role": "assistant", "content": ""}, True, **end)) + "\n").encode()
    return gen(), None


# ---------------------------------------------------------------- http
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    brain: Brain

    def log_message(self, *a):
        pass

    def _json(self, obj, code=200):
        b = json.dumps(obj).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(b)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b)

    def _stream(self, gen, ctype, delay):
        self.send_response(200)
        self.send_header("content-type", ctype)
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for b in gen:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(b), b))
                self.wfile.flush()
                if delay:
                    time.sleep(delay / 1000)
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.brain.record({"api": "http", "note": "client closed the stream", "path": self.path})
            self.close_connection = True

    def _body(self):
        n = self.headers.get("content-length")
        if n:
            raw = self.rfile.read(int(n))
        elif "chunked" in (self.headers.get("transfer-encoding") or ""):
            raw = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                if not size:
                    self.rfile.readline()
                    break
                raw += self.rfile.read(size)
                self.rfile.readline()
        else:
            raw = b""
        enc = (self.headers.get("content-encoding") or "").lower()
        if enc == "gzip":
            import gzip
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw or b"{}")
        except ValueError:
            return {}

    def do_HEAD(self):
        self._json({})

    def do_GET(self):
        p = self.path.split("?")[0]
        if p == "/__health":
            return self._json({"ok": True, "requests": self.brain.n})
        if p.endswith("/api/tags"):
            return self._json({"models": [{"name": "fake-model", "model": "fake-model", "size": 1,
                                           "details": {"family": "fake"}}]})
        if p.endswith("/api/version"):
            return self._json({"version": "0.12.0"})
        if p.endswith("/models"):
            ids = ["fake-model", "claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5", "gpt-5"]
            return self._json({"object": "list", "has_more": False, "data": [
                {"id": i, "object": "model", "type": "model", "display_name": i, "created_at": "2025-01-01T00:00:00Z"}
                for i in ids]})
        self.brain.record({"api": "http", "method": "GET", "path": self.path})
        self._json({"error": {"type": "not_found_error", "message": "not found"}}, 404)

    def do_POST(self):
        path, _, query = self.path.partition("?")
        body = self._body()
        if path == "/__script":
            self.brain.override = body or None
            return self._json({"ok": True})
        if path.endswith("/messages/count_tokens"):
            return self._json({"input_tokens": 10})
        if path.endswith("/messages"):
            return self._answer(read_anthropic(body), out_anthropic)
        if path.endswith("/chat/completions"):
            return self._answer(read_chat(body), out_chat)
        if path.endswith("/responses"):
            return self._answer(read_responses(body), out_responses)
        m = re.search(r"/models/([^/:]+):(\w+)$", path)
        if m:
            if m.group(2) == "countTokens":
                return self._json({"totalTokens": 10})
            if m.group(2) in ("embedContent", "batchEmbedContents"):
                return self._json({"embedding": {"values": [0.0]}})
            return self._answer(read_gemini(body, m.group(1), m.group(2) == "streamGenerateContent"), out_gemini)
        if path.endswith("/api/chat"):
            return self._answer(read_chat(body, "ollama"), out_ollama, "application/x-ndjson")
        if path.endswith("/api/show"):
            return self._json({"capabilities": ["completion", "tools"], "details": {}, "model_info": {}})
        self.brain.record({"api": "http", "method": "POST", "path": self.path, "body_keys": sorted(body)[:20]
                           if isinstance(body, dict) else None})
        self._json({"error": {"type": "not_found_error", "message": "not found"}}, 404)

    def _answer(self, turn, writer, ctype="text/event-stream"):
        r = self.brain.decide(turn)
        gen, whole = writer(turn, r)
        if gen is None:
            return self._json(whole)
        self._stream(gen, ctype, r["delay_ms"])


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def serve(port, script, log, full=False):
    """Start in a thread; returns (server, port)."""
    h = type("H", (Handler,), {"brain": Brain(script, log, full)})
    srv = Server(("127.0.0.1", port), h)
    threading.Thread(target=srv.serve_forever, daemon=True).start()
    return srv, srv.server_address[1]


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--script", required=True)
    ap.add_argument("--log", required=True)
    ap.add_argument("--full", action="store_true", help="log whole request bodies")
    a = ap.parse_args()
    srv, port = serve(a.port, a.script, a.log, a.full)
    print(json.dumps({"port": port, "url": f"http://127.0.0.1:{port}"}), flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        srv.shutdown()


if __name__ == "__main__":
    sys.exit(main())
