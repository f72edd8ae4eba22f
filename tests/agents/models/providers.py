"""The five wire formats under test: how to make each provider's model for the scripted server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from countersign.agents.models.anthropic import AnthropicModel
from countersign.agents.models.base import Message, Model, Piece, ToolSchema
from countersign.agents.models.gemini import GeminiModel
from countersign.agents.models.http_answer import Access
from countersign.agents.models.ollama import OllamaModel
from countersign.agents.models.openai_chat import OpenAIChatModel
from countersign.agents.models.openai_responses import OpenAIResponsesModel
from countersign.agents.probe import model_server
from countersign.settings.policy import ModelConfig

KEY = "sk-test-0123456789abcdef"
TOOLS = [ToolSchema("read_file", "Reads.", {"type": "object"}), ToolSchema("list_dir", "Lists.", {"type": "object"})]


async def the_key(config: ModelConfig, url: str) -> str | None:
    return KEY


def config(provider: str, url: str, **more) -> ModelConfig:
    return ModelConfig("entry", provider, model=more.pop("model", "m"), base_url=url, **more)  # type: ignore[arg-type]


PROVIDERS: dict[str, Callable[..., Model]] = {
    "anthropic": lambda url, access, **more: AnthropicModel(config("anthropic", url, **more), access),
    "openai-chat": lambda url, access, **more: OpenAIChatModel(config("openai", f"{url}/v1", **more), access),
    "openai-responses": lambda url, access, **more: OpenAIResponsesModel(config("openai", f"{url}/v1", **more), access),
    "gemini": lambda url, access, **more: GeminiModel(config("google", url, **more), access),
    "ollama": lambda url, access, **more: OllamaModel(config("ollama", url, **more), {}, access),
}


class Scripted:
    """A scripted server and the log of what it was asked."""

    def __init__(self, url: str, log: Path) -> None:
        self.url, self.log = url, log

    def model(self, provider: str, **more) -> Model:
        return PROVIDERS[provider](self.url, Access(the_key), **more)

    async def ask(self, provider: str, *messages: Message, **more) -> list[Piece]:
        return await heard(self.model(provider, **more), messages)

    def rows(self) -> list[dict]:
        return model_server.requests_in(self.log)


async def heard(model: Model, messages: Sequence[Message]) -> list[Piece]:
    return [piece async for piece in model.stream("be good", messages, TOOLS)]


@contextmanager
def scripted(script: dict, folder: Path) -> Iterator[Scripted]:
    log = folder / "log.jsonl"
    server, port = model_server.serve(0, {"bodies": True, "chunk": 6, **script}, log)
    try:
        yield Scripted(f"http://127.0.0.1:{port}", log)
    finally:
        server.shutdown()
        server.server_close()
