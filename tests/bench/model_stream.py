"""Models behind our adapters: how soon a call is known, and what of a paced stream's rate arrives.

A server in a process of its own sends prepared events in both wire formats. It notes when it wrote the arguments' end;
the official SDKs read the very same bytes beside our adapters.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

import anthropic
import httpx
import openai

from countersign.agents.models.anthropic import AnthropicModel
from countersign.agents.models.base import CallPiece, Model, UserMessage
from countersign.agents.models.http_answer import Access
from countersign.agents.models.openai_chat import OpenAIChatModel
from countersign.settings.policy import ModelConfig

RUNS = 30
LIMITS = {
    "call start, Anthropic: to its SDK": 1.0,
    "call start, Chat Completions: to OpenAI's SDK": 1.0,
    "paced stream, Anthropic: time to that of reading alone": 1 / 0.95,
    "paced stream, Chat Completions: time to that of reading alone": 1 / 0.95,
}
TOOL = {"type": "object", "properties": {"path": {"type": "string"}}}
ASKED = {"role": "user", "content": "go"}


def run() -> dict[str, float]:
    return asyncio.run(_measure())


async def _measure() -> dict[str, float]:
    script = Path(__file__).with_name("model_stream_server.py")
    server = subprocess.Popen(  # noqa: ASYNC220 the bench waits for nothing else
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    async with AsyncExitStack() as sdks:
        sdks.enter_context(server)
        assert server.stdout is not None
        try:
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            claude = AnthropicModel(ModelConfig("e", "anthropic", "calls", f"{url}"), Access(_key))
            gpt = OpenAIChatModel(ModelConfig("e", "openai", "calls", f"{url}/v1"), Access(_key))
            theirs = await sdks.enter_async_context(anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0))
            openais = await sdks.enter_async_context(
                openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
            )
            takers: dict[str, Callable[[], Awaitable[float]]] = {
                "ours, Anthropic": lambda: _first_call(claude),
                "Anthropic's SDK": lambda: _by_anthropic(theirs),
                "ours, Chat Completions": lambda: _first_call(gpt),
                "OpenAI's SDK": lambda: _by_openai(openais),
            }
            late: dict[str, list[float]] = {name: [] for name in takers}
            for turn in range(RUNS + 2):
                for name, take in takers.items():
                    seen = await take()
                    wrote = float(await asyncio.to_thread(server.stdout.readline))
                    if turn > 1:
                        late[name].append(seen - wrote)
            found = {f"call start, {name}, ms": median(times) * 1e3 for name, times in late.items()}
            found["call start, Anthropic: to its SDK"] = median(late["ours, Anthropic"]) / median(
                late["Anthropic's SDK"]
            )
            found["call start, Chat Completions: to OpenAI's SDK"] = median(late["ours, Chat Completions"]) / median(
                late["OpenAI's SDK"]
            )
            for name, path, model in (
                ("Anthropic", "/v1/messages", AnthropicModel(ModelConfig("e", "anthropic", "text", url), Access(_key))),
                (
                    "Chat Completions",
                    "/v1/chat/completions",
                    OpenAIChatModel(ModelConfig("e", "openai", "text", f"{url}/v1"), Access(_key)),
                ),
            ):
                times = [(await _read_alone(url + path), await _drained(model)) for _ in range(5)]
                alone, ours = (min(taken) for taken in zip(*times, strict=True))
                found[f"paced stream, {name}: time to that of reading alone"] = ours / alone
            return found
        finally:
            server.kill()


async def _key(_config: ModelConfig, _url: str) -> str | None:
    return "k"


def _asked(model: Model) -> AsyncIterator[object]:
    return model.stream("", [UserMessage("go")], [])


async def _first_call(model: Model) -> float:
    seen = 0.0
    async for piece in _asked(model):
        if isinstance(piece, CallPiece):
            seen = time.monotonic()
    return seen


async def _by_anthropic(client: anthropic.AsyncAnthropic) -> float:
    seen = 0.0
    async with client.messages.stream(model="calls", max_tokens=9, messages=[ASKED]) as stream:  # type: ignore[arg-type]
        async for event in stream:
            if event.type == "content_block_stop":
                seen = time.monotonic()
    return seen


async def _by_openai(client: openai.AsyncOpenAI) -> float:
    seen = 0.0
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": TOOL}}]
    async with client.chat.completions.stream(model="calls", messages=[ASKED], tools=tools) as stream:  # type: ignore[arg-type]
        async for event in stream:
            if event.type == "tool_calls.function.arguments.done":
                seen = time.monotonic()
    return seen


async def _read_alone(url: str) -> float:
    began = time.perf_counter()
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        client.stream("POST", url, content=json.dumps({"model": "text"}), timeout=60) as answer,
    ):
        async for _ in answer.aiter_raw():
            pass
    return time.perf_counter() - began


async def _drained(model: Model) -> float:
    began = time.perf_counter()
    async for _ in _asked(model):
        pass
    return time.perf_counter() - began
