"""The five wire formats of ``model_server.py``: each request read into one shape, each reply written in its own.

A reader gives a ``Turn``; a writer gives either an iterator of raw byte strings (streaming) or one JSON value.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from countersign.agents.probe.turn import Turn, flat

Pieces = Iterator[bytes]
Writer = Callable[["Turn", dict[str, Any]], "tuple[Pieces | None, Any]"]


# Readers.


def read_anthropic(body: dict) -> Turn:
    turn = Turn("anthropic", body.get("model"), stream=bool(body.get("stream")))
    turn.system = flat(body.get("system"))
    for tool in body.get("tools") or []:
        turn.offer(tool, tool.get("input_schema"))
    turn.schema = ((body.get("output_config") or {}).get("format") or body.get("output_format") or {}).get("schema")
    for message in body.get("messages") or []:
        content = message.get("content")
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for part in parts:
            match part.get("type"):
                case "tool_use":
                    turn.call(part.get("id"), part.get("name"))
                case "tool_result":
                    turn.result(part.get("tool_use_id"), None, flat(part.get("content")), bool(part.get("is_error")))
                    for inner in part["content"] if isinstance(part.get("content"), list) else ():
                        if inner.get("type") == "image":
                            turn.image(inner["source"]["media_type"], inner["source"]["data"])
                case "image":
                    turn.image(part["source"]["media_type"], part["source"]["data"])
                case "text" if message.get("role") == "user":
                    turn.user(part.get("text") or "")
    return turn


def read_chat(body: dict, api: str = "openai-chat") -> Turn:
    turn = Turn(api, body.get("model"), stream=bool(body.get("stream", api == "ollama")))
    for tool in body.get("tools") or []:
        function = tool.get("function") or tool
        turn.offer(function, function.get("parameters"))
    wanted = body.get("response_format") or {}
    turn.schema = (wanted.get("json_schema") or {}).get("schema") if isinstance(wanted, dict) else None
    for message in body.get("messages") or []:
        text = flat(message.get("content"))
        match message.get("role"):
            case "system":
                turn.system += text
            case "user":
                turn.user(text)
                for part in message["content"] if isinstance(message.get("content"), list) else ():
                    if part.get("type") == "image_url":
                        _data_url(turn, part["image_url"]["url"])
                for data in message.get("images") or ():
                    turn.image(None, data)
            case "assistant":
                for call in message.get("tool_calls") or []:
                    turn.call(call.get("id"), (call.get("function") or {}).get("name"))
            case "tool":
                turn.result(message.get("tool_call_id"), message.get("name") or message.get("tool_name"), text, None)
                for data in message.get("images") or ():
                    turn.image(None, data)
    return turn


def read_responses(body: dict) -> Turn:
    turn = Turn("openai-responses", body.get("model"), stream=bool(body.get("stream")))
    turn.system = flat(body.get("instructions"))
    turn.schema = ((body.get("text") or {}).get("format") or {}).get("schema")
    for tool in body.get("tools") or []:
        namespace = tool.get("name") if tool.get("type") == "namespace" else None
        for one in tool.get("tools") or [] if tool.get("type") == "namespace" else [tool]:
            turn.offer(one, one.get("parameters"), namespace)
    given = body.get("input")
    items: list[dict[str, Any]] = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    for item in items:
        match item.get("type") or "message":
            case "message" if item.get("role") == "user":
                turn.user(flat(item.get("content")))
                for part in item["content"] if isinstance(item.get("content"), list) else ():
                    if part.get("type") == "input_image":
                        _data_url(turn, part["image_url"])
            case "function_call" | "custom_tool_call" | "local_shell_call" as kind:
                turn.call(item.get("call_id"), item.get("name") or kind)
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                turn.result(item.get("call_id"), None, flat(item.get("output")), None)
                for part in item["output"] if isinstance(item.get("output"), list) else ():
                    if part.get("type") == "input_image":
                        _data_url(turn, part["image_url"])
            case "additional_tools":
                for tool in item.get("tools") or []:
                    turn.offer(tool, tool.get("parameters"))
    return turn


def read_gemini(body: dict, model: str, stream: bool) -> Turn:
    turn = Turn("gemini", model, stream=stream)
    turn.system = flat((body.get("systemInstruction") or {}).get("parts"))
    for tool in body.get("tools") or []:
        declared = tool.get("functionDeclarations") or tool.get("function_declarations") or []
        for function in declared:
            turn.offer(function, function.get("parameters") or function.get("parametersJsonSchema"))
    wanted = body.get("generationConfig") or {}
    turn.schema = wanted.get("responseSchema") or wanted.get("responseJsonSchema")
    for message in body.get("contents") or []:
        for part in message.get("parts") or []:
            if "functionCall" in part:
                call = part["functionCall"]
                turn.call(call.get("id") or call.get("name"), call.get("name"))
            elif "functionResponse" in part:
                call = part["functionResponse"]
                said = call.get("response") or {}
                text = flat(said.get("output") or said.get("error") or said)
                turn.result(call.get("id") or call.get("name"), call.get("name"), text, "error" in said)
            elif "inlineData" in part:
                turn.image(part["inlineData"]["mimeType"], part["inlineData"]["data"])
            elif "text" in part and message.get("role") == "user":
                turn.user(part["text"])
    return turn


def _data_url(turn: Turn, url: str) -> None:
    found = re.fullmatch(r"data:([^;,]+);base64,(.*)", url, re.DOTALL)
    turn.image(found[1] if found else None, found[2] if found else None)


def error_body(api: str, status: int, text: str) -> dict[str, Any]:
    """The body of an error as each provider writes it."""
    kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error",
             529: "overloaded_error"}  # fmt: skip
    match api:
        case "anthropic":
            error = {"type": kinds.get(status, "api_error"), "message": text}
            return {"type": "error", "error": error, "request_id": _id("req_")}
        case "gemini":
            states = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
            return {"error": {"code": status, "message": text, "status": states.get(status, "UNAVAILABLE")}}
        case "ollama":
            return {"error": text}
        case _:
            code = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}.get(status)
            code = "context_length_exceeded" if "context length" in text else code
            return {"error": {"message": text, "type": kinds.get(status, "server_error"), "param": None, "code": code}}


# Writers.


def write_anthropic(turn: Turn, reply: dict) -> tuple[Pieces | None, Any]:
    blocks: list[dict] = []
    if reply.get("thinking"):
        blocks.append({"type": "thinking", "thinking": reply["thinking"], "signature": "c2lnbmVk"})
    blocks += [{"type": "text", "text": reply["text"]}] if reply["text"] else []
    blocks += [{"type": "tool_use", "id": _id("toolu_"), "name": tool["name"], "input": tool.get("args", {})}
               for tool in reply["tools"]]  # fmt: skip
    texts = {index: tool["raw"] for index, tool in enumerate(reply["tools"], len(blocks) - len(reply["tools"]))
             if "raw" in tool}  # fmt: skip
    blocks = blocks or [{"type": "text", "text": "ok"}]
    usage = {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    stop = "tool_use" if reply["tools"] else {"length": "max_tokens"}.get(reply.get("done_reason", ""), "end_turn")
    stop = "refusal" if reply.get("refusal") else stop
    message = {"id": _id("msg_"), "type": "message", "role": "assistant", "model": turn.model, "content": blocks,
               "stop_reason": stop, "stop_sequence": None, "usage": usage}  # fmt: skip
    if not turn.stream:
        return None, message

    def event(kind: str, **fields: Any) -> bytes:
        return _sse(kind, {"type": kind, **fields})

    def pieces() -> Pieces:
        yield event("message_start", message=dict(message, content=[], stop_reason=None))
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start, deltas = {"type": "text", "text": ""}, _cut(block["text"], reply["chunk"])
                kind, key = "text_delta", "text"
            elif block["type"] == "thinking":
                start = {"type": "thinking", "thinking": "", "signature": ""}
                deltas, kind, key = _cut(block["thinking"], reply["chunk"]), "thinking_delta", "thinking"
            else:
                arguments = texts.get(index, json.dumps(block["input"]))
                start, deltas = dict(block, input={}), _cut(arguments, reply["chunk"])
                kind, key = "input_json_delta", "partial_json"
            yield event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                yield event("content_block_delta", index=index, delta={"type": kind, key: delta})
            if block["type"] == "thinking":
                signature = {"type": "signature_delta", "signature": block["signature"]}
                yield event("content_block_delta", index=index, delta=signature)
            yield event("content_block_stop", index=index)
        if reply.get("broken"):
            return
        if reply.get("fails"):
            yield event("error", error={"type": "overloaded_error", "message": reply["fails"]})
            return
        yield event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
        yield event("message_stop")

    return pieces(), None


def write_chat(turn: Turn, reply: dict) -> tuple[Pieces | None, Any]:
    chat = {"id": _id("chatcmpl-"), "created": int(time.time()), "model": turn.model}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    calls = [{"id": _id("call_"), "type": "function", "function": {"name": tool["name"], "arguments": _text_args(tool)}}
             for tool in reply["tools"]]  # fmt: skip
    finish = "tool_calls" if calls else reply.get("done_reason", "stop")
    if not turn.stream:
        message = {"role": "assistant", "content": reply["text"], **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return None, {**chat, "object": "chat.completion", "choices": [choice], "usage": usage}

    def chunk(delta: dict, finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _sse(None, {**chat, "object": "chat.completion.chunk", "choices": [choice], **more})

    def pieces() -> Pieces:
        yield chunk({"role": "assistant", "content": ""})
        for text in _cut(reply["thinking"], reply["chunk"]) if reply.get("thinking") else ():
            yield chunk({"reasoning_content": text})
        for text in _cut(reply["text"], reply["chunk"]) if reply["text"] else ():
            yield chunk({"refusal" if reply.get("refusal") else "content": text})
        for index, call in enumerate(calls):
            opening = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
            yield chunk({"tool_calls": [opening]})
            for text in _cut(call["function"]["arguments"], reply["chunk"]):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
        if reply.get("broken"):
            return
        if reply.get("fails"):
            yield _sse(None, {"error": {"message": reply["fails"], "type": "server_error", "code": 502}})
            return
        yield chunk({}, finish, usage=usage)
        yield _sse(None, "[DONE]")

    return pieces(), None


def write_responses(turn: Turn, reply: dict) -> tuple[Pieces | None, Any]:
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}  # fmt: skip
    usage["input_tokens_details"]["cache_write_tokens"] = 0
    base = {"id": _id("resp_"), "object": "response", "created_at": int(time.time()), "model": turn.model,
            "status": "in_progress", "output": [], "usage": None, "parallel_tool_calls": True, "tools": [],
            "error": None, "incomplete_details": None, "instructions": None, "metadata": {}}  # fmt: skip
    items: list[dict] = []
    if reply.get("thinking"):
        items.append({"type": "reasoning", "id": _id("rs_"), "status": "completed", "encrypted_content": "ZW5j",
                      "summary": [{"type": "summary_text", "text": reply["thinking"]}]})  # fmt: skip
    items += [_response_text(reply["text"], refusal=bool(reply.get("refusal")))] if reply["text"] else []
    items += [_response_call(tool) for tool in reply["tools"]]
    cut = reply.get("done_reason") == "length"
    ended = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}} if cut else {}
    whole = {**base, "status": "completed", **ended, "output": items, "usage": usage}
    if not turn.stream:
        return None, whole
    numbers = iter(range(1, 1 << 30))

    def event(kind: str, **fields: Any) -> bytes:
        return _sse(kind, {"type": kind, "sequence_number": next(numbers), **fields})

    def pieces() -> Pieces:
        yield event("response.created", response=base)
        yield event("response.in_progress", response=base)
        for index, item in enumerate(items):
            at = {"item_id": item["id"], "output_index": index}
            if item["type"] == "reasoning":
                yield event("response.output_item.added", output_index=index, item=dict(item, summary=[]))
                part = {"type": "summary_text", "text": ""}
                yield event("response.reasoning_summary_part.added", **at, summary_index=0, part=part)
                for piece in _cut(item["summary"][0]["text"], reply["chunk"]):
                    yield event("response.reasoning_summary_text.delta", **at, summary_index=0, delta=piece)
                yield event("response.reasoning_summary_part.done", **at, summary_index=0, part=item["summary"][0])
            elif item["type"] == "message" and item["content"][0]["type"] == "refusal":
                yield event("response.output_item.added", output_index=index, item=dict(item, content=[]))
                for piece in _cut(item["content"][0]["refusal"], reply["chunk"]):
                    yield event("response.refusal.delta", **at, content_index=0, delta=piece)
                yield event("response.refusal.done", **at, content_index=0, refusal=item["content"][0]["refusal"])
            elif item["type"] == "message":
                text, part = item["content"][0]["text"], {"type": "output_text", "text": "", "annotations": []}
                opening = dict(item, status="in_progress", content=[])
                yield event("response.output_item.added", output_index=index, item=opening)
                yield event("response.content_part.added", **at, content_index=0, part=part)
                for piece in _cut(text, reply["chunk"]):
                    yield event("response.output_text.delta", **at, content_index=0, delta=piece)
                yield event("response.output_text.done", **at, content_index=0, text=text)
                yield event("response.content_part.done", **at, content_index=0, part=item["content"][0])
            else:
                key = "arguments" if item["type"] == "function_call" else "input"
                name = "function_call_arguments" if key == "arguments" else "custom_tool_call_input"
                opening = dict(item, status="in_progress", **{key: ""})
                yield event("response.output_item.added", output_index=index, item=opening)
                for piece in _cut(item[key], reply["chunk"]):
                    yield event(f"response.{name}.delta", **at, delta=piece)
                yield event(f"response.{name}.done", **at, **{key: item[key]}, name=item["name"])
            yield event("response.output_item.done", output_index=index, item=item)
        if reply.get("broken"):
            return
        if reply.get("fails"):
            error = {"code": "server_error", "message": reply["fails"]}
            yield event("response.failed", response=dict(base, status="failed", error=error))
            return
        yield event("response.incomplete" if cut else "response.completed", response=whole)

    return pieces(), None


def write_gemini(turn: Turn, reply: dict) -> tuple[Pieces | None, Any]:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}

    ended = {"length": "MAX_TOKENS"}.get(reply.get("done_reason", ""), "SAFETY" if reply.get("refusal") else "STOP")
    unread = [f"{tool['name']}({tool['raw']})" for tool in reply["tools"] if "raw" in tool]
    if unread:
        ended = "MALFORMED_FUNCTION_CALL"

    def envelope(parts: list[dict], finish: str | None = None) -> dict:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        if finish and unread:
            candidate["finishMessage"] = f"Malformed function call: {unread[0]}"
        told = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": turn.model}
        return {**told, "responseId": _id("r")}

    calls: list[dict] = [{"functionCall": {"id": _id("fc"), "name": tool["name"], "args": tool.get("args", {})}}
                         for tool in reply["tools"] if "raw" not in tool]  # fmt: skip
    if calls:
        calls[0]["thoughtSignature"] = "c2tpcA=="
    if not turn.stream:
        ended = ended if unread else "STOP"
        return None, envelope(([{"text": reply["text"]}] if reply["text"] else []) + calls, ended)

    def pieces() -> Pieces:
        for text in _cut(reply["thinking"], max(reply["chunk"], 40)) if reply.get("thinking") else ():
            yield _sse(None, envelope([{"text": text, "thought": True}]))
        for text in _cut(reply["text"], max(reply["chunk"], 40)) if reply["text"] else ():
            yield _sse(None, envelope([{"text": text}]))
        if reply.get("broken"):
            return
        if reply.get("fails"):
            yield _sse(None, error_body("gemini", 503, reply["fails"]))
            return
        yield _sse(None, envelope(calls or [{"text": ""}], ended))

    return pieces(), None


def write_ollama(turn: Turn, reply: dict) -> tuple[Pieces | None, Any]:
    def row(message: dict, done: bool = False, **more: Any) -> dict:
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        message = {"role": "assistant", "content": "", **message}
        return {"model": turn.model, "created_at": made, "message": message, "done": done, **more}

    calls = [{"function": {"name": tool["name"], "arguments": tool.get("raw", tool.get("args", {}))}}
             for tool in reply["tools"]]  # fmt: skip
    called = {"tool_calls": calls} if calls else {}
    end = {
        "done_reason": reply.get("done_reason", "stop"),
        "total_duration": 1,
        "eval_count": 1,
        "prompt_eval_count": 1,
    }
    if not turn.stream:
        return None, row({"content": reply["text"], **called}, True, **end)

    def pieces() -> Pieces:
        if reply.get("fails"):
            yield (json.dumps({"error": reply["fails"]}) + "\n").encode()
            return
        rows = [row({"thinking": text}) for text in _cut(reply.get("thinking", ""), reply["chunk"]) if text]
        rows += [row({"content": text}) for text in _cut(reply["text"], reply["chunk"]) if text]
        rows += [row(called)] if calls else []
        for one in (*rows, *([] if reply.get("broken") else [row({}, True, **end)])):
            yield (json.dumps(one) + "\n").encode()

    return pieces(), None


def _response_text(text: str, *, refusal: bool = False) -> dict:
    content: list[dict] = [{"type": "output_text", "text": text, "annotations": []}]
    content = [{"type": "refusal", "refusal": text}] if refusal else content
    return {"type": "message", "id": _id("msg_"), "role": "assistant", "status": "completed", "content": content}


def _response_call(tool: dict) -> dict:
    call = {"call_id": _id("call_"), "name": tool["name"], "status": "completed"}
    if tool.get("freeform"):
        return {"type": "custom_tool_call", "id": _id("ctc_"), **call, "input": tool["args"]["input"]}
    space = {"namespace": tool["namespace"]} if tool.get("namespace") else {}
    return {"type": "function_call", "id": _id("fc_"), **call, "arguments": _text_args(tool), **space}


def _sse(event: str | None, data: Any) -> bytes:
    head = f"event: {event}\n" if event else ""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"{head}data: {text}\n\n".encode()


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def _id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:20]


def _text_args(tool: dict) -> str:
    return tool.get("raw") or json.dumps(tool.get("args", {}), ensure_ascii=False)
