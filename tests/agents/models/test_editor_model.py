"""The editor's models through the client: pieces, calls, failures, cancelling."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Image,
    Piece,
    StopPiece,
    TextPiece,
    ToolMessage,
    ToolSchema,
    UserMessage,
    WantedCall,
)
from countersign.agents.models.editor_model import EditorModel
from countersign.lsp.editor_models import EditorModels
from countersign.settings.policy import ModelConfig
from countersign.wire.errors import ClientError, ContextTooLong, ModelError
from countersign.wire.providers import (
    LmChatParams,
    LmChatResult,
    LmListResult,
    LmModel,
    LmPart,
    LmText,
    LmToolCall,
)
from tests.patience import PATIENCE

CALL = LmToolCall(call_id="c", name="read_file", input='{"path": "a"}')
Answer = Callable[["Client", LmChatParams], Awaitable[LmChatResult]]


class Client:
    """A client that answers as the test says."""

    def __init__(self, answer: Answer, *, offers: bool = True) -> None:
        self.asked: list[LmChatParams] = []
        self.answer = answer
        self.editor = EditorModels(ask=self.ask, offers_models=lambda: offers)

    async def ask(self, method: str, params):
        if method == "lm/list":
            model = LmModel(id="x-1", vendor="copilot", family="gpt", name="GPT", max_input_tokens=9000)
            return LmListResult(models=[model])
        self.asked.append(params)
        return await self.answer(self, params)

    def say(self, *contents: LmText | LmToolCall) -> None:
        for content in contents:
            self.editor.part(LmPart(request_id=self.asked[-1].request_id, content=content))

    async def heard(self, *messages) -> list[Piece]:
        model = EditorModel(ModelConfig("m", "vscode", "copilot/gpt"), self.editor)
        tools = [ToolSchema("read_file", "Reads.", {"type": "object"})]
        return [piece async for piece in model.stream("be good", messages or (UserMessage("hi"),), tools)]


async def test_pieces_and_calls_come_in_order():
    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        client.say(LmText(text="I "), LmText(text="read."), CALL)
        return LmChatResult(parts=3)

    pieces = await Client(answer).heard()
    assert pieces[:2] == [TextPiece("I "), TextPiece("read.")]
    assert isinstance(pieces[2], CallPiece)
    assert (pieces[2].call.tool, pieces[2].call.arguments) == ("read_file", {"path": "a"})
    assert pieces[-1] == StopPiece("tool_use")


async def test_pieces_that_come_after_the_answer_are_waited_for():
    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        asyncio.get_running_loop().call_later(0.01, client.say, LmText(text="late"))
        return LmChatResult(parts=1)

    async with asyncio.timeout(PATIENCE):
        assert (await Client(answer).heard())[0] == TextPiece("late")


async def test_arguments_are_read_strictly_and_a_stranger_is_not_heard():
    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        client.editor.part(LmPart(request_id="another", content=LmText(text="forged")))
        client.say(CALL.model_copy(update={"input": '{"path": "a", "path": "b"}'}))
        return LmChatResult(parts=1)

    (call, _, stop) = await Client(answer).heard()
    assert isinstance(call, CallPiece)
    assert (call.call.broken is None, call.call.arguments, stop) == (False, {}, StopPiece("tool_use"))


async def test_a_conversation_goes_out_whole():
    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        return LmChatResult(parts=0)

    client = Client(answer)
    call = WantedCall("c", "read_file", {"path": "a"})
    await client.heard(
        UserMessage("look", (Image("image/png", "aWFnZQ=="),)),
        AssistantMessage("I will.", (call,)),
        ToolMessage("c", "read_file", "the text", success=True),
    )
    (params,) = client.asked
    assert [message.role for message in params.messages] == ["user", "user", "assistant", "user"]
    kinds = [[content.type for content in message.content] for message in params.messages]
    assert kinds == [["text"], ["text", "image"], ["text", "toolCall"], ["toolResult"]]
    assert [tool.name for tool in params.tools] == ["read_file"]


@pytest.mark.parametrize(
    ("reason", "kind"), [("it is blocked", ModelError), ("Message exceeds token limit.", ContextTooLong)]
)
async def test_a_failure_of_the_editor_is_one_sentence(reason: str, kind: type[Exception]):
    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        return LmChatResult(parts=0, reason=reason)

    with pytest.raises(kind, match=f"`copilot/gpt` failed: {reason}"):
        await Client(answer).heard()


async def test_a_client_that_is_gone_is_an_error():
    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        raise ClientError("the editor is gone")

    with pytest.raises(ModelError, match="the editor is gone"):
        await Client(answer).heard()


async def test_an_editor_without_models_says_so():
    with pytest.raises(ModelError, match="offers no models"):
        await Client(lambda *_: pytest.fail("nothing may be asked"), offers=False).heard()


async def test_cancelling_the_turn_cancels_the_request():
    waiting, ended = asyncio.Event(), asyncio.Event()

    async def answer(client: Client, _: LmChatParams) -> LmChatResult:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return LmChatResult(parts=0)

    client = Client(answer)
    hearing = asyncio.ensure_future(client.heard())
    await asyncio.wait_for(waiting.wait(), PATIENCE)
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    assert ended.is_set()
    client.say(LmText(text="dropped"))


@pytest.mark.parametrize(("name", "tokens"), [("x-1", 9000), ("gpt", 9000), ("copilot/gpt", 9000), ("other", None)])
async def test_the_context_is_what_the_editor_says(name: str, tokens: int | None):
    client = Client(lambda *_: pytest.fail("nothing may be asked"))
    assert await EditorModel(ModelConfig("m", "vscode", name), client.editor).most_context() == tokens
