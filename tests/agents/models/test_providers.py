"""Every provider against the scripted server in its own wire format: what streams, what fails, what goes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Image,
    NoticePiece,
    Piece,
    ReplayPiece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolMessage,
    UsagePiece,
    UserMessage,
    WaitPiece,
    WantedCall,
)
from countersign.agents.models.conversation import NO_RESULT
from countersign.agents.models.http_answer import Access
from countersign.agents.models.known_models import takes_images
from countersign.agents.models.retrying import RetryingModel
from countersign.settings.policy import ModelConfig
from countersign.wire.errors import ContextTooLong, ModelBusy, ModelError
from tests.patience import PATIENCE

from .providers import KEY, PROVIDERS, Scripted, heard, scripted

READ = {"name": "read_file", "args": {"path": "a"}}
LIST = {"name": "list_dir", "args": {"path": "."}}
TOO_LONG = {
    "anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "openai-chat": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "openai-responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "ollama": "the request exceeds the available context size",
}
SCRIPT = {
    "scenarios": {
        "text": {"steps": [{"text": "Hello from the model."}]},
        "think": {"steps": [{"thinking": "let me look", "text": "I see.", "tools": [READ]}]},
        "one": {"steps": [{"text": "I will read it.", "tools": [READ]}]},
        "several": {"steps": [{"text": "Both.", "tools": [READ, LIST, READ]}]},
        "bare": {"steps": [{"tools": [{"name": "list_dir", "args": {}}]}]},
        "malformed": {"steps": [{"tools": [{"name": "read_file", "raw": '{"path": "a", "path": "b"}'}, LIST]}]},
        "cut": {"steps": [{"tools": [{"name": "read_file", "raw": '{"path": "a'}], "done_reason": "length"}]},
        "long": {"steps": [{"text": "on and on", "done_reason": "length"}]},
        "refusal": {"steps": [{"text": "I cannot help with that.", "refusal": True}]},
        "broken": {"steps": [{"text": "half an ans", "broken": True}]},
        "fails": {"steps": [{"fails": "out of order"}]},
        "locked": {"steps": [{"error": {"status": 401, "text": "invalid x-api-key"}}]},
        "gone": {"steps": [{"error": {"status": 404, "text": "model 'm' not found"}}]},
        "poor": {"steps": [{"error": {"status": 400, "text": "Your credit balance is too low"}}]},
        "odd": {"steps": [{"error": {"status": 400, "text": "no \u202e such thing"}}]},
        "limited": {"steps": [{"text": "at last", "error": {
            "status": 429, "text": "slow down", "headers": {"retry-after": "7"}, "times": 1}}]},
        "always limited": {"steps": [{"error": {"status": 429, "text": "slow", "headers": {"retry-after": "7"}}}]},
        "tomorrow": {"steps": [{"error": {"status": 429, "text": "slow", "headers": {"retry-after": "7200"}}}]},
        "overloaded": {"steps": [{"text": "at last", "error": {"status": 529, "text": "Overloaded", "times": 2}}]},
        **{f"too-long-{api}": {"steps": [{"error": {"status": 400, "text": text}}]} for api, text in TOO_LONG.items()},
    }
}  # fmt: skip
SCRIPT["scenarios"] = {name.replace(" ", "-"): steps for name, steps in SCRIPT["scenarios"].items()}
every = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Scripted]:
    with scripted(SCRIPT, tmp_path) as found:
        yield found


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def calls_of(pieces: list[Piece]) -> list[tuple]:
    return [(piece.call.tool, piece.call.arguments) for piece in pieces if isinstance(piece, CallPiece)]


@every
async def test_text_streams_in_pieces_and_ends_with_its_usage(server: Scripted, provider: str):
    pieces = await server.ask(provider, UserMessage("[[text]] hi"))
    assert text_of(pieces) == "Hello from the model."
    assert len([piece for piece in pieces if isinstance(piece, TextPiece)]) > 1 or provider == "gemini"
    usage, stop = pieces[-2:]
    assert isinstance(usage, UsagePiece)
    assert (usage.input_tokens, usage.output_tokens) == ((1, 1) if provider == "ollama" else (10, 10))
    assert stop == StopPiece("end_turn")


@every
async def test_the_system_prompt_the_tools_and_the_key_are_sent_where_each_provider_reads_them(
    server: Scripted, provider: str
):
    await server.ask(provider, UserMessage("[[text]] hi"))
    (row,) = server.rows()
    assert (row["api"], row["tools"], row["system_chars"]) == (provider, ["read_file", "list_dir"], len("be good"))
    assert row["key"].removeprefix("Bearer ") == KEY


@every
async def test_thinking_is_apart_from_text(server: Scripted, provider: str):
    pieces = await server.ask(provider, UserMessage("[[think]] go"))
    assert "".join(piece.text for piece in pieces if isinstance(piece, ThinkingPiece)).strip() == "let me look"
    assert text_of(pieces) == "I see."
    assert calls_of(pieces) == [("read_file", {"path": "a"})]


@every
@pytest.mark.parametrize(
    ("scenario", "calls"),
    [
        ("one", [("read_file", {"path": "a"})]),
        ("several", [("read_file", {"path": "a"}), ("list_dir", {"path": "."}), ("read_file", {"path": "a"})]),
        ("bare", [("list_dir", {})]),
    ],
)
async def test_calls_come_complete_and_in_order(server: Scripted, provider: str, scenario: str, calls: list):
    pieces = await server.ask(provider, UserMessage(f"[[{scenario}]] go"))
    assert calls_of(pieces) == calls
    wanted = [piece.call for piece in pieces if isinstance(piece, CallPiece)]
    assert [call.broken for call in wanted] == [None] * len(calls)
    assert len({call.call_id for call in wanted}) == len(calls)
    assert pieces[-1] == StopPiece("tool_use")


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "gemini"])
async def test_malformed_arguments_break_their_call_alone(server: Scripted, provider: str):
    pieces = await server.ask(provider, UserMessage("[[malformed]] go"))
    assert calls_of(pieces) == [("read_file", {}), ("list_dir", {"path": "."})]
    first, second = [piece.call for piece in pieces if isinstance(piece, CallPiece)]
    assert first.broken is not None
    assert "same key twice" in first.broken
    assert second.broken is None


async def test_a_call_that_google_could_not_read_breaks_alone_and_goes_back_with_its_result(server: Scripted):
    pieces = await server.ask("gemini", UserMessage("[[malformed]] go"), model="gemini-3-pro")
    assert calls_of(pieces) == [("list_dir", {"path": "."}), ("unknown", {})]
    first, second = [piece.call for piece in pieces if isinstance(piece, CallPiece)]
    assert first.broken is None
    assert second.broken is not None
    assert 'Malformed function call: read_file({"path": "a"' in second.broken
    assert pieces[-1] == StopPiece("tool_use")
    replay = next(piece.replay for piece in pieces if isinstance(piece, ReplayPiece))
    results = [ToolMessage(call.call_id, call.tool, call.broken or "done", success=False) for call in (first, second)]
    said = AssistantMessage("", (first, second), replay=replay)
    await server.ask("gemini", UserMessage("[[malformed]] go"), said, *results, model="gemini-3-pro")
    asked = server.rows()[-1]["body"]["contents"]
    assert [part["functionCall"]["name"] for part in asked[1]["parts"]] == ["list_dir", "unknown"]
    assert [part["functionResponse"]["name"] for part in asked[2]["parts"]] == ["list_dir", "unknown"]
    assert "thoughtSignature" in asked[1]["parts"][0]


async def test_an_answer_whose_only_call_google_could_not_read_is_asked_for_again(server: Scripted):
    with pytest.raises(ModelBusy, match="Google could not read"):
        await server.ask("gemini", UserMessage("[[cut]] go"))


@pytest.mark.parametrize("provider", ["anthropic", "openai-chat", "openai-responses"])
async def test_arguments_that_were_cut_off_are_broken(server: Scripted, provider: str):
    pieces = await server.ask(provider, UserMessage("[[cut]] go"))
    (call,) = [piece.call for piece in pieces if isinstance(piece, CallPiece)]
    assert (call.tool, call.arguments, call.broken is None) == ("read_file", {}, False)


@every
async def test_a_call_and_its_result_go_back_and_the_turn_goes_on(server: Scripted, provider: str):
    pieces = await server.ask(
        provider,
        UserMessage("[[one]] go"),
        AssistantMessage("I will read it.", (WantedCall("call-1", "read_file", {"path": "a"}),)),
        ToolMessage("call-1", "read_file", "the text", success=True),
    )
    assert pieces[-1] == StopPiece("end_turn")
    (result,) = server.rows()[-1]["tool_results"]
    assert (result["name"], result["text"]) == ("read_file", "the text")


@every
async def test_what_a_provider_signed_goes_back_to_it_unchanged_and_to_no_other(server: Scripted, provider: str):
    pieces = await server.ask(provider, UserMessage("[[think]] go"), model="gemini-3-pro")
    replay = next((piece.replay for piece in pieces if isinstance(piece, ReplayPiece)), None)
    call = next(piece.call for piece in pieces if isinstance(piece, CallPiece))
    said = AssistantMessage("I see.", (call,), "let me look", replay)
    reply = ToolMessage(call.call_id, "read_file", "the text", success=True)
    for other in PROVIDERS:
        for name in ("gemini-3-pro", "another"):
            await server.ask(other, UserMessage("[[think]] go"), said, reply, model=name)
            body = str(server.rows()[-1]["body"])
            signed = {"anthropic": "c2lnbmVk", "openai-responses": "ZW5j", "gemini": "c2tpcA=="}.get(provider)
            if signed is not None:
                assert (signed in body) is (other == provider and name == "gemini-3-pro"), (other, name)


@every
async def test_a_conversation_with_open_and_stray_calls_is_completed(server: Scripted, provider: str):
    calls = (WantedCall("c-1", "read_file", {"path": "a"}), WantedCall("c-2", "list_dir", {"path": "."}))
    pieces = await server.ask(
        provider,
        UserMessage("first"),
        ToolMessage("c-0", "read_file", "stray", success=True),
        AssistantMessage("", calls),
        ToolMessage("c-2", "list_dir", "names", success=True),
        AssistantMessage("", ()),
        UserMessage("[[text]] next"),
    )
    assert text_of(pieces) == "Hello from the model."
    body = str(server.rows()[-1]["body"])
    assert "stray" not in body
    assert body.index(NO_RESULT[:20]) < body.index("names")


@every
async def test_images_go_in_with_the_prompt_and_with_results(server: Scripted, provider: str):
    picture = Image("image/png", "aWFnZQ==")
    call = WantedCall("c-1", "read_file", {"path": "a.png"})
    await server.ask(
        provider,
        UserMessage("[[text]] look", (picture,)),
        AssistantMessage("", (call,)),
        ToolMessage("c-1", "read_file", "a picture", success=True, images=(picture,)),
    )
    images = server.rows()[-1]["images"]
    assert [image["size"] for image in images] == [8, 8]
    assert {image["mime"] for image in images} == ({None} if provider == "ollama" else {"image/png"})


@every
async def test_an_answer_at_its_limit_says_so(server: Scripted, provider: str):
    assert (await server.ask(provider, UserMessage("[[long]]")))[-1] == StopPiece("max_tokens")


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name not in ("ollama", "openai-chat")])
async def test_a_refusal_is_one(server: Scripted, provider: str):
    assert (await server.ask(provider, UserMessage("[[refusal]]")))[-1] == StopPiece("refusal")


async def test_a_refusal_of_a_chat_server_is_one(server: Scripted):
    pieces = await server.ask("openai-chat", UserMessage("[[refusal]]"))
    assert (text_of(pieces), pieces[-1]) == ("I cannot help with that.", StopPiece("refusal"))


@every
@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("locked", "refused the key of `entry`; enter another"),
        ("gone", "has no model `m`; "),
        ("poor", "no credit left"),
        ("odd", "failed: `no .* such thing`"),
        ("broken", "broke off; try again"),
        ("fails", "."),
    ],
)
async def test_a_failure_is_one_sentence_that_says_what_to_do(
    server: Scripted, provider: str, scenario: str, told: str
):
    with pytest.raises(ModelError, match=told) as failed:
        await server.ask(provider, UserMessage(f"[[{scenario}]]"))
    message = str(failed.value)
    assert message.isprintable()
    assert "; " in message
    assert KEY not in message
    assert not message.endswith(".")


@every
async def test_a_context_that_is_too_long_is_an_error_of_its_own(server: Scripted, provider: str):
    with pytest.raises(ContextTooLong):
        await server.ask(provider, UserMessage(f"[[too-long-{provider}]]"))


@every
async def test_a_rate_limit_is_waited_for_as_told_and_shown(server: Scripted, provider: str):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    pieces = await heard(RetryingModel(server.model(provider), sleep), [UserMessage("[[limited]]")])
    assert slept == [7.0]
    (wait,) = [piece for piece in pieces if isinstance(piece, WaitPiece)]
    assert "asking again in 7 s" in wait.message
    assert (text_of(pieces), pieces[-1]) == ("at last", StopPiece("end_turn"))


@every
async def test_an_overload_is_waited_out(server: Scripted, provider: str):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    pieces = await heard(RetryingModel(server.model(provider), sleep), [UserMessage("[[overloaded]]")])
    assert text_of(pieces) == "at last"
    assert len(slept) == 2
    assert 1 <= slept[0] < slept[1] <= 2.5


async def test_a_server_that_stays_busy_is_asked_five_times(server: Scripted):
    waits = 0

    async def sleep(_: float) -> None:
        nonlocal waits
        waits += 1

    with pytest.raises(ModelBusy, match="try again in 7 s"):
        await heard(RetryingModel(server.model("anthropic"), sleep), [UserMessage("[[always-limited]]")])
    assert (waits, len(server.rows())) == (4, 5)


async def test_a_wait_of_hours_is_an_error_at_once(server: Scripted):
    with pytest.raises(ModelBusy, match="try again in 120 minutes"):
        await heard(RetryingModel(server.model("anthropic"), pytest.fail), [UserMessage("[[tomorrow]]")])


@every
async def test_a_stream_that_broke_off_after_its_first_piece_is_not_asked_for_again(server: Scripted, provider: str):
    with pytest.raises(ModelBusy, match="broke off"):
        await heard(RetryingModel(server.model(provider), pytest.fail), [UserMessage("[[broken]]")])
    assert len(server.rows()) == 1


async def test_a_wait_ends_when_the_turn_is_cancelled(server: Scripted):
    waiting, gone = asyncio.Event(), asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()

    asking = asyncio.ensure_future(heard(RetryingModel(server.model("gemini"), sleep), [UserMessage("[[limited]]")]))
    await asyncio.wait_for(waiting.wait(), PATIENCE)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert gone.is_set()


@every
async def test_closing_the_stream_closes_the_connection(server: Scripted, provider: str):
    stream = server.model(provider).stream("", [UserMessage("[[think]] go")], [])
    assert isinstance(await anext(stream), ThinkingPiece | TextPiece)
    await stream.aclose()  # an open connection would be a warning, and warnings fail


@every
async def test_where_no_server_answers_the_message_says_where(provider: str):
    async def key(*_) -> str:
        return KEY

    model = PROVIDERS[provider]("http://127.0.0.1:9", Access(key))
    with pytest.raises(ModelError, match=r"answers at `http://127\.0\.0\.1:9.*`; "):
        await heard(RetryingModel(model, pytest.fail), [UserMessage("hi")])


@every
async def test_a_missing_key_is_an_error_before_anything_is_sent(provider: str):
    async def no_key(*_) -> None:
        return None

    model = PROVIDERS[provider]("https://far.invalid", Access(no_key), api_key_env="MY_KEY")
    with pytest.raises(ModelError, match="set `MY_KEY`"):
        await heard(model, [UserMessage("hi")])


@every
async def test_options_are_fields_of_the_request_and_null_takes_one_out(server: Scripted, provider: str):
    options = {"temperature": 0.5, "stream_options": None, "tools": []}
    await server.ask(provider, UserMessage("[[text]]"), options=options)
    body = server.rows()[-1]["body"]
    assert (body["options"] if provider == "ollama" else body)["temperature"] == 0.5
    assert "stream_options" not in body
    assert body["tools"] != []


async def test_ollama_is_asked_for_as_much_context_as_wanted_and_as_the_model_takes(tmp_path: Path):
    with scripted({**SCRIPT, "context_length": 9000}, tmp_path) as server:
        for wanted, asked in ((None, 9000), (8000, 8000), (64_000, 9000)):
            await server.ask("ollama", UserMessage("[[text]]"), context_tokens=wanted)
            assert server.rows()[-1]["body"]["options"]["num_ctx"] == asked


async def test_anthropic_marks_what_stays_the_same_for_its_cache(server: Scripted):
    await server.ask("anthropic", UserMessage("one"), AssistantMessage("two"), UserMessage("[[text]] three"))
    body = server.rows()[-1]["body"]
    marks = [block.get("cache_control") for message in body["messages"] for block in message["content"]]
    assert marks == [{"type": "ephemeral"}, None, {"type": "ephemeral"}]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}


async def test_requests_of_one_chat_share_a_cache_key_at_openai(server: Scripted):
    await server.ask("openai-responses", UserMessage("[[text]] one"))
    await server.ask("openai-responses", UserMessage("[[text]] one"), AssistantMessage("two"), UserMessage("three"))
    await server.ask("openai-responses", UserMessage("[[text]] other"))
    one, two, three = (row["body"]["prompt_cache_key"] for row in server.rows())
    assert one == two != three


async def test_a_blocked_prompt_is_a_refusal_that_says_why(tmp_path: Path):
    from countersign.agents.models import gemini  # noqa: PLC0415
    from countersign.agents.models.endpoint import endpoint  # noqa: PLC0415

    async def events():
        yield {"promptFeedback": {"blockReason": "SAFETY"}}

    pieces = [piece async for piece in gemini._pieces(events(), endpoint("Google", "e", "m", "http://x"))]
    assert isinstance(pieces[0], NoticePiece)
    assert pieces[-1] == StopPiece("refusal")


@pytest.mark.parametrize("capabilities", [["vision"], []])
async def test_ollama_says_whether_its_model_takes_images(tmp_path: Path, capabilities: list[str]):
    with scripted({"capabilities": capabilities}, tmp_path) as fake:
        model = RetryingModel(fake.model("ollama"))
        assert await model.takes_images() is bool(capabilities)
        assert await RetryingModel(fake.model("anthropic")).takes_images() is None


@pytest.mark.parametrize(
    ("provider", "model", "more", "takes"),
    [
        ("anthropic", "claude-sonnet-5", {}, True),
        ("google", "gemini-3-pro", {}, True),
        ("openai", "gpt-5.5", {}, True),
        ("openai", "gpt-3.5-turbo", {}, False),
        ("openai", "qwen3-coder", {"base_url": "http://127.0.0.1:1/v1"}, False),
        ("openai", "qwen3-vl", {"base_url": "http://127.0.0.1:1/v1", "options": {"images": True}}, True),
        ("openai", "gpt-5", {"options": {"images": False}}, False),
        ("vscode", "gpt-4o", {}, True),
        ("demo", "demo", {}, False),
    ],
)
def test_whether_a_model_takes_images_is_known_by_its_name_or_said(provider, model, more, takes):
    assert takes_images(ModelConfig("entry", provider, model=model, **more)) is takes
