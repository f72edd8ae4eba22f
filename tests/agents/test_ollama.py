"""The Ollama provider against the scripted model's Ollama format on loopback, and against what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Message,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
    WantedCall,
)
from countersign.agents.models.endpoint import is_loopback, shown_url
from countersign.agents.models.ollama import OllamaModel, _base_url
from countersign.agents.probe import model_server
from countersign.settings.policy import ModelConfig
from countersign.wire.errors import ModelError

READ = {"name": "read_file", "args": {"path": "a"}}
LIST = {"name": "list_dir", "args": {"path": "."}}
TOOLS = [ToolSchema("read_file", "Reads.", {"type": "object"}), ToolSchema("list_dir", "Lists.", {"type": "object"})]
SCRIPT = {
    "scenarios": {
        "call": {"steps": [{"thinking": "let me look", "text": "I will read it.", "tools": [READ, LIST]}]},
        "plain": {"steps": []},
        "long": {"steps": [{"text": "on and on", "done_reason": "length"}]},
        "gone": {"steps": [{"error": {"status": 404, "text": "model 'm' not found"}}]},
        "toolless": {"steps": [{"error": {"status": 400, "text": "registry/m does not support tools"}}]},
        "locked": {"steps": [{"error": {"status": 401, "text": "unauthorized"}}]},
        "ill": {"steps": [{"error": {"status": 500, "text": "out of memory"}}]},
        "cut": {"steps": [{"text": "half an ans", "broken": True}]},
    },
    "chunk": 6,
}


class Ollama:
    """A scripted server and the log of what it was asked."""

    def __init__(self, url: str, log: Path) -> None:
        self.url, self.log = url, log

    async def ask(self, *messages: Message, **config) -> list:
        model = OllamaModel(ModelConfig("m", "ollama", model="m", base_url=self.url, **config), {})
        return [piece async for piece in model.stream("be good", messages, TOOLS)]

    def rows(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def ollama(tmp_path: Path) -> Iterator[Ollama]:
    log = tmp_path / "log.jsonl"
    server, port = model_server.serve(0, SCRIPT, log)
    yield Ollama(f"http://127.0.0.1:{port}", log)
    server.shutdown()
    server.server_close()


async def test_thinking_text_and_calls_stream_as_they_come(ollama: Ollama):
    pieces = await ollama.ask(UserMessage("[[call]] go"))
    assert "".join(piece.text for piece in pieces if isinstance(piece, ThinkingPiece)) == "let me look"
    texts = [piece.text for piece in pieces if isinstance(piece, TextPiece)]
    assert len(texts) > 1
    assert "".join(texts) == "I will read it."
    calls = [piece.call for piece in pieces if isinstance(piece, CallPiece)]
    assert [(call.tool, call.arguments, call.broken) for call in calls] == [
        ("read_file", {"path": "a"}, None),
        ("list_dir", {"path": "."}, None),
    ]
    assert len({call.call_id for call in calls}) == 2
    assert pieces[-2:] == [UsagePiece(1, 1), StopPiece("tool_use")]


async def test_results_go_back_with_the_name_of_their_tool(ollama: Ollama):
    call = WantedCall("c1", "read_file", {"path": "a"})
    pieces = await ollama.ask(
        UserMessage("[[call]] go"),
        AssistantMessage("I will read it.", (call,), thinking="let me look"),
        ToolMessage("c1", "read_file", "the text", success=True),
    )
    assert pieces[-1] == StopPiece("end_turn")
    row = ollama.rows()[-1]
    assert [(result["name"], result["text"]) for result in row["tool_results"]] == [("read_file", "the text")]
    assert (row["tools"], row["system_chars"]) == (["read_file", "list_dir"], len("be good"))


async def test_an_answer_that_grew_too_long_says_so(ollama: Ollama):
    assert (await ollama.ask(UserMessage("[[long]]")))[-1] == StopPiece("max_tokens")


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("gone", "ollama pull m"),
        ("toolless", "cannot use tools"),
        ("locked", "refused the key"),
        ("ill", "out of memory"),
        ("cut", "broke off"),
    ],
)
async def test_a_failure_says_what_to_do(ollama: Ollama, scenario: str, told: str):
    with pytest.raises(ModelError, match=told):
        await ollama.ask(UserMessage(f"[[{scenario}]]"))


async def test_where_nothing_answers_the_person_is_told_to_start_it():
    model = OllamaModel(ModelConfig("m", "ollama", model="m", base_url="http://127.0.0.1:9"), {})
    with pytest.raises(ModelError, match="ollama serve"):
        async for _ in model.stream("", [UserMessage("hi")], []):
            pass


async def test_a_missing_key_is_an_error_unless_the_host_is_this_machine(ollama: Ollama):
    assert (await ollama.ask(UserMessage("[[plain]]"), api_key_env="KEY"))[-1] == StopPiece("end_turn")
    far = OllamaModel(ModelConfig("m", "ollama", model="m", base_url="http://far.example", api_key_env="KEY"), {})
    with pytest.raises(ModelError, match="`KEY`"):
        async for _ in far.stream("", [UserMessage("hi")], []):
            pass


async def test_closing_the_stream_closes_the_connection(ollama: Ollama):
    model = OllamaModel(ModelConfig("m", "ollama", model="m", base_url=ollama.url), {})
    stream = model.stream("", [UserMessage("[[call]]")], TOOLS)
    assert isinstance(await anext(stream), ThinkingPiece)
    await stream.aclose()  # an open connection would be a warning, and warnings fail


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:80", "http://box:80"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("https://far.example/ollama", "https://far.example/ollama"),
        ("http://[::1]:5", "http://[::1]:5"),
        ("http://name:secret@box/x", "http://box/x"),
        ("http://box:99999", None),
        ("box:99999", None),
        ("ftp://box", None),
        ("http://[::1", None),
    ],
)
def test_an_address_is_taken_as_ollama_takes_it(given: str, url: str | None):
    assert _base_url(given) == url


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.8.9.1", True),
        ("http://localhost", True),
        ("http://[::1]:5", True),
        ("http://127.evil.invalid", False),
        ("http://127.0.0.1.evil.invalid", False),
        ("http://localhost.evil.invalid", False),
        ("http://evil.invalid/127.0.0.1", False),
        ("http://10.0.0.1", False),
    ],
)
def test_only_this_machine_is_loopback(url: str, here: bool):
    assert is_loopback(url) is here


@pytest.mark.parametrize("url", ["http://me:secret@box:99999/x", "me:secret@box:99999", "http://me:secret@[::1",
                                 "http://me:a@secret@box:99999", "ftp://me:secret@box/", "http://box:99999/?k=secret",
                                 "http://box:99999\x1b[31m" + "x" * 300_000])  # fmt: skip
async def test_a_bad_address_is_an_error_that_shows_no_password(url: str):
    model = OllamaModel(ModelConfig("m", "ollama", model="m", base_url=url), {})
    with pytest.raises(ModelError, match="correct `baseUrl`") as failed:
        await anext(model.stream("", [UserMessage("hi")], []))
    assert "secret" not in str(failed.value)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 400


def test_an_address_is_shown_without_what_is_secret():
    assert shown_url("https://me:secret@far.example/path?key=secret#x") == "https://far.example/path"
