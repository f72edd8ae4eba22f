"""The scripted server's streams, read by the providers' own SDKs, so that it cannot drift from the true formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anthropic
import ollama
import openai
import pytest
from google import genai

from .providers import KEY, Scripted, scripted

READ = {"name": "read_file", "args": {"path": "a"}}
LIST = {"name": "list_dir", "args": {"path": "."}}
SCRIPT = {
    "scenarios": {
        "whole": {"steps": [{"thinking": "let me look", "text": "Both.", "tools": [READ, LIST]}]},
        "long": {"steps": [{"text": "on and on", "done_reason": "length"}]},
        "refusal": {"steps": [{"text": "I cannot.", "refusal": True}]},
        "limited": {"steps": [{"error": {"status": 429, "text": "slow", "headers": {"retry-after": "7"}}}]},
        "overloaded": {"steps": [{"error": {"status": 529, "text": "Overloaded"}}]},
        "fails": {"steps": [{"text": "half an ans", "fails": "out of order"}]},
        "malformed": {"steps": [{"tools": [{"name": "read_file", "raw": '{"path": "a"'}]}]},
        "too-long": {"steps": [{"error": {"status": 400, "text": "maximum context length is 8192 tokens"}}]},
    }
}
CALLS = [("read_file", {"path": "a"}), ("list_dir", {"path": "."})]
SCHEMA = {"type": "object", "properties": {}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Scripted]:
    with scripted(SCRIPT, tmp_path) as found:
        yield found


def claude(server: Scripted, scenario: str):
    tools = [{"name": name, "description": "", "input_schema": SCHEMA} for name, _ in CALLS]
    with (
        anthropic.Anthropic(base_url=server.url, api_key=KEY, max_retries=0) as client,
        client.messages.stream(
            model="m",
            max_tokens=100,
            tools=tools,  # type: ignore[arg-type]
            messages=[{"role": "user", "content": f"[[{scenario}]]"}],
        ) as stream,
    ):
        return stream.get_final_message()


def test_anthropics_sdk_reads_thinking_text_and_calls(server: Scripted):
    message = claude(server, "whole")
    thinking, text, *uses = message.content
    assert (thinking.type, thinking.thinking, thinking.signature) == ("thinking", "let me look", "c2lnbmVk")  # type: ignore[union-attr]
    assert (text.type, text.text) == ("text", "Both.")  # type: ignore[union-attr]
    assert [(use.name, use.input) for use in uses] == CALLS  # type: ignore[union-attr]
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 10, 10)


@pytest.mark.parametrize(("scenario", "reason"), [("long", "max_tokens"), ("refusal", "refusal")])
def test_anthropics_sdk_reads_how_an_answer_ended(server: Scripted, scenario: str, reason: str):
    assert claude(server, scenario).stop_reason == reason


def test_anthropics_sdk_reads_the_errors(server: Scripted):
    with pytest.raises(anthropic.RateLimitError) as failed:
        claude(server, "limited")
    assert failed.value.response.headers["retry-after"] == "7"
    with pytest.raises(anthropic.BadRequestError, match="maximum context length"):
        claude(server, "too-long")


def chat(server: Scripted, scenario: str):
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name, _ in CALLS]
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0) as client,
        client.chat.completions.stream(
            model="m",
            tools=tools,  # type: ignore[arg-type]
            messages=[{"role": "user", "content": f"[[{scenario}]]"}],
            stream_options={"include_usage": True},
        ) as stream,
    ):
        return stream.get_final_completion()


def test_openais_sdk_reads_a_chat_completion(server: Scripted):
    whole = chat(server, "whole")
    (choice,) = whole.choices
    assert choice.message.content == "Both."
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    assert calls == [("read_file", '{"path": "a"}'), ("list_dir", '{"path": "."}')]
    assert choice.finish_reason == "tool_calls"
    assert whole.usage is not None
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (10, 10)
    assert chat(server, "refusal").choices[0].message.refusal == "I cannot."


def test_openais_sdk_reads_that_a_chat_completion_was_cut(server: Scripted):
    with pytest.raises(openai.LengthFinishReasonError):
        chat(server, "long")


def responses(server: Scripted, scenario: str):
    tools = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name, _ in CALLS]
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0) as client,
        client.responses.create(model="m", tools=tools, input=f"[[{scenario}]]", stream=True) as stream,  # type: ignore[call-overload]
    ):
        return list(stream)


def test_openais_sdk_reads_a_response(server: Scripted):
    events = responses(server, "whole")
    whole = events[-1].response
    reasoning, message, *calls = whole.output
    assert reasoning.summary[0].text == "let me look"
    assert reasoning.encrypted_content == "ZW5j"
    assert message.content[0].text == "Both."
    assert [(call.name, call.arguments) for call in calls] == [
        ("read_file", '{"path": "a"}'), ("list_dir", '{"path": "."}')
    ]  # fmt: skip
    assert (whole.status, whole.usage.input_tokens, whole.usage.output_tokens) == ("completed", 10, 10)
    known = {event.type: type(event).__name__ for event in events}
    assert not [name for name in known.values() if name in ("BaseModel", "dict")]


def test_openais_sdk_reads_how_a_response_ended(server: Scripted):
    cut = responses(server, "long")[-1]
    assert (cut.type, cut.response.incomplete_details.reason) == ("response.incomplete", "max_output_tokens")
    refused = responses(server, "refusal")[-1].response
    assert refused.output[0].content[0].refusal == "I cannot."


def test_openais_sdk_reads_the_errors(server: Scripted):
    for ask in (chat, responses):
        with pytest.raises(openai.RateLimitError):
            ask(server, "limited")
        with pytest.raises(openai.BadRequestError) as failed:
            ask(server, "too-long")
        assert failed.value.code == "context_length_exceeded"


def google(server: Scripted, scenario: str):
    client = genai.Client(api_key=KEY, http_options={"base_url": server.url})
    declared = [{"name": name, "parameters_json_schema": SCHEMA} for name, _ in CALLS]
    try:
        return list(
            client.models.generate_content_stream(
                model="m",
                contents=f"[[{scenario}]]",
                config={"tools": [{"function_declarations": declared}]},  # type: ignore[arg-type,typeddict-item]
            )
        )
    finally:
        client.close()


def test_googles_sdk_reads_thoughts_text_and_calls(server: Scripted):
    parts = [part for chunk in google(server, "whole") for part in chunk.candidates[0].content.parts]
    assert "".join(part.text for part in parts if part.thought) == "let me look"
    assert "".join(part.text for part in parts if part.text and not part.thought) == "Both."
    calls = [part.function_call for part in parts if part.function_call]
    assert [(call.name, call.args) for call in calls] == CALLS
    assert next(part for part in parts if part.function_call).thought_signature == b"skip"


@pytest.mark.parametrize(("scenario", "reason"), [("long", "MAX_TOKENS"), ("refusal", "SAFETY"), ("whole", "STOP")])
def test_googles_sdk_reads_how_an_answer_ended(server: Scripted, scenario: str, reason: str):
    last = google(server, scenario)[-1]
    assert last.candidates[0].finish_reason == reason
    assert last.usage_metadata.prompt_token_count == 10


def test_googles_sdk_reads_the_errors(server: Scripted):
    with pytest.raises(genai.errors.ClientError) as failed:
        google(server, "limited")
    assert (failed.value.code, failed.value.status) == (429, "RESOURCE_EXHAUSTED")


def local(server: Scripted, scenario: str):
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name, _ in CALLS]
    messages = [{"role": "user", "content": f"[[{scenario}]]"}]
    with ollama.Client(host=server.url) as client:
        return list(client.chat(model="m", messages=messages, tools=tools, stream=True))


def test_ollamas_sdk_reads_thinking_text_and_calls(server: Scripted):
    parts = local(server, "whole")
    assert "".join(part.message.thinking or "" for part in parts) == "let me look"
    assert "".join(part.message.content or "" for part in parts) == "Both."
    calls = [call.function for part in parts for call in part.message.tool_calls or ()]
    assert [(call.name, call.arguments) for call in calls] == CALLS
    assert (parts[-1].done, parts[-1].prompt_eval_count, parts[-1].eval_count) == (True, 1, 1)


def test_ollamas_sdk_reads_how_an_answer_ended(server: Scripted):
    assert local(server, "long")[-1].done_reason == "length"


def test_ollamas_sdk_reads_the_errors(server: Scripted):
    with pytest.raises(ollama.ResponseError) as failed:
        local(server, "limited")
    assert failed.value.status_code == 429


ASK = {"anthropic": claude, "openai-chat": chat, "openai-responses": responses, "gemini": google, "ollama": local}


@pytest.mark.parametrize("provider", ASK)
def test_each_sdk_reads_that_the_server_is_overloaded(server: Scripted, provider: str):
    known = (anthropic.APIStatusError, openai.APIStatusError, genai.errors.APIError, ollama.ResponseError)
    with pytest.raises(known, match="Overloaded") as failed:
        ASK[provider](server, "overloaded")
    assert getattr(failed.value, "status_code", None) == 529 or getattr(failed.value, "code", None) == 529


@pytest.mark.parametrize("provider", [name for name in ASK if name != "openai-responses"])
def test_each_sdk_reads_an_error_in_the_middle_of_a_stream(server: Scripted, provider: str):
    known = (anthropic.APIError, openai.APIError, genai.errors.APIError, ollama.ResponseError)
    with pytest.raises(known, match="out of order"):
        ASK[provider](server, "fails")


def test_openais_sdk_reads_a_response_that_failed(server: Scripted):
    last = responses(server, "fails")[-1]
    assert (last.type, last.response.status) == ("response.failed", "failed")
    assert (last.response.error.code, last.response.error.message) == ("server_error", "out of order")


def test_openais_sdk_reads_malformed_arguments_as_they_are(server: Scripted):
    (call,) = chat(server, "malformed").choices[0].message.tool_calls or ()
    assert call.function.arguments == '{"path": "a"'
    assert responses(server, "malformed")[-1].response.output[-1].arguments == '{"path": "a"'
