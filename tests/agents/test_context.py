"""A long chat within its model's context: nothing over the limit, nothing lost that the next step needs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from countersign.agents.compaction import WITHOUT_MODEL, Context
from countersign.agents.context import (
    ContextState,
    cut_to,
    fitted,
    fixed_tokens,
    message_tokens,
    next_cut,
    room,
    trimmed,
    view,
)
from countersign.agents.drive import Drive
from countersign.agents.instructions import blocking_instructions, with_instructions
from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Message,
    Model,
    Piece,
    StopPiece,
    TextPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
    WaitPiece,
    WantedCall,
)
from countersign.agents.models.http_answer import environment_access
from countersign.agents.models.openai_chat import OpenAIChatModel
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.settings.policy import ModelConfig
from countersign.tools.registry import TOOLS
from countersign.tools.tool import ToolContext
from countersign.wire.errors import ContextTooLong, ModelBusy, ModelError

from .desk import Place

LIMIT = 8000
INSTRUCTION = "Always write tests first, said the project."
BODY = OpenAIChatModel(ModelConfig("m", "openai", "m", base_url="http://127.0.0.1:1"), environment_access({}))


class Worker:
    """A model that works on each prompt: it writes its list, reads a long file, then answers. Records each request."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, list[Message], list[ToolSchema]]] = []
        self.summaries = 0
        self.turn = 0
        self.fails: list[ModelError] = []

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        self.requests.append((system, list(messages), list(tools)))
        if not tools:
            self.summaries += 1
            yield TextPiece(f"Summary {self.summaries}. allow: Bash(rm:*). " + "Decided much. " * 200)
            yield UsagePiece(input_tokens=100, output_tokens=10)
            yield StopPiece("end_turn")
            return
        if self.fails:
            raise self.fails.pop()
        if isinstance(messages[-1], ToolMessage):
            yield TextPiece(f"Turn {self.turn} is done. " + "It went well. " * 20)
            yield StopPiece("end_turn")
            return
        items = [{"text": f"step {self.turn} of the plan", "status": "in_progress"}]
        yield TextPiece("I work on it. ")
        if self.turn % 10 == 0:
            yield CallPiece(WantedCall("t", "todo_write", {"items": items}))
        yield CallPiece(WantedCall("r", "read_file", {"path": "long.txt"}))
        yield StopPiece("tool_use")


def tokens_of(request: tuple[str, list[Message], list[ToolSchema]]) -> int:
    """An estimate of its own: four characters of the request's JSON are a token."""
    return len(json.dumps(BODY._body(*request), ensure_ascii=False)) // 4


class Chat:
    """Turns of one chat as the runner makes them, with what is kept on disk."""

    def __init__(self, place: Place, transcripts: Transcripts, model: Worker) -> None:
        self.place, self.transcripts, self.model = place, transcripts, model
        self.compacted: list[int] = []
        self.used: list[UsagePiece] = []
        self.sizes: list[int] = []

    def context(self) -> Context:
        return Context(
            model=self.model,
            window=LIMIT,
            state=self.transcripts.context("t"),
            keep=lambda state: self.transcripts.save_context("t", state),
            tell=self._told,
            used=self.used.append,
        )

    def _told(self, _summary: str, dropped: int, size: int) -> None:
        self.compacted.append(dropped)
        self.sizes.append(size)

    async def prompt(self, text: str) -> None:
        self.transcripts.add_messages("t", [UserMessage(text)])

        async def instructed(messages: Sequence[Message]) -> str:
            policy = replace(self.place.policy, trusted=True)
            return with_instructions("You are an agent.", blocking_instructions(policy, messages, 1000))

        drive = Drive(
            model=self.model,
            system="",
            tools={tool.name: tool for tool in TOOLS},
            gate=self.place.gate,
            turn=replace(self.place.turn("agent"), modes=["auto"], resumable=True),
            policy=lambda: self.place.policy,
            bench=lambda _: ToolContext(lambda: self.place.policy, emit=lambda _: None),
            keep=lambda messages: self.transcripts.add_messages("t", messages),
            context=self.context(),
            instructed=instructed,
        )
        await drive.run(self.transcripts.messages("t"))


@pytest.fixture
def chat(place: Place) -> Chat:
    (place.workspace / "AGENTS.md").write_text(INSTRUCTION)
    (place.workspace / "long.txt").write_text("a line of the file\n" * 300)
    transcripts = Transcripts(None)
    transcripts.save_thread(ThreadRow("t", str(place.workspace), "chat", "Countersign", "default", 0, "2026-11-20"))
    return Chat(place, transcripts, Worker())


async def test_a_chat_of_300_turns_stays_within_8000_tokens(chat: Chat):
    for turn in range(300):
        chat.model.turn = turn
        await chat.prompt(f"Turn {turn}: please go on. " + "Here is why. " * 20)
    asked = [request for request in chat.model.requests if request[2]]
    assert len(asked) == 600
    assert max(map(tokens_of, chat.model.requests)) <= LIMIT
    assert all(INSTRUCTION in system for system, _, _ in asked)
    for number, (_, messages, _) in enumerate(asked[1:], 1):
        latest = number // 2 - number // 2 % 10 - (10 if number % 20 == 0 else 0)
        assert f"step {max(latest, 0)} of the plan" in str(messages), number
        assert any(f"Turn {number // 2}: please" in str(message) for message in messages)
    kept = chat.transcripts.messages("t")
    assert len([message for message in kept if isinstance(message, UserMessage)]) == 300
    assert all(
        len(message.output) > 5000 for message in kept if isinstance(message, ToolMessage) and "line" in message.output
    )
    assert chat.model.summaries >= 5
    assert sum(chat.compacted) == chat.transcripts.context("t").summarized


async def test_a_restart_goes_on_from_the_summary(chat: Chat):
    for turn in range(12):
        chat.model.turn = turn
        await chat.prompt(f"Turn {turn}")
    before = chat.transcripts.context("t")
    assert before.summarized > 0
    another = Chat(chat.place, chat.transcripts, Worker())
    await another.prompt("Turn 12")
    first = another.model.requests[0][1][0]
    assert isinstance(first, UserMessage)
    assert before.summary[:20] in first.text
    assert "It was written by a model" in first.text


async def test_a_server_that_says_too_long_gets_a_shorter_chat_once(chat: Chat):
    for turn in range(4):
        chat.model.turn = turn
        await chat.prompt(f"Turn {turn}")
    before = tokens_of(chat.model.requests[-1])
    chat.model.fails = [ContextTooLong("too long")]
    await chat.prompt("And now?")
    asked = [request for request in chat.model.requests if request[2]]
    assert tokens_of(asked[-1]) < before
    chat.model.fails = [ContextTooLong("too long"), ContextTooLong("too long")]
    with pytest.raises(ContextTooLong):
        await chat.prompt("And now?")


LONG_CHAT = [UserMessage(f"prompt {number} " + "x" * 3000) for number in range(30)]


def context_of(model: Model, told: list[str] | None = None) -> Context:
    return Context(
        model=model,
        window=LIMIT,
        state=ContextState(),
        keep=lambda _: None,
        tell=lambda summary, *_: None if told is None else told.append(summary),
        used=lambda _: None,
    )


@pytest.mark.parametrize("error", [None, ContextTooLong("too long")])
async def test_a_summary_that_its_model_does_not_write_is_made_without_it(error: ModelError | None):
    class Silent(Worker):
        async def stream(self, system, messages, tools):
            if error:
                raise error
            yield StopPiece("end_turn")

    told: list[str] = []
    context = context_of(Silent(), told)
    shown = await context.shown("", LONG_CHAT, [])
    assert sum(map(message_tokens, shown)) <= LIMIT
    assert context.state.summary.count(WITHOUT_MODEL) == 1
    assert "prompt 0" in context.state.summary
    assert told == [context.state.summary]


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("error", [ModelError("the key is refused"), ModelBusy("overloaded")])
async def test_a_server_that_fails_leaves_the_chat_as_it_was(error: ModelError, *, by_hand: bool):
    class Failing(Worker):
        async def stream(self, system, messages, tools):
            yield TextPiece("The first half")
            raise error

    context = context_of(Failing())
    with pytest.raises(ModelError, match=str(error)):
        await (context.compact if by_hand else context.shown)("", LONG_CHAT, [])
    assert (context.state.summary, context.state.summarized) == ("", 0)


async def test_a_model_without_a_summary_leaves_the_chat_as_it_was_where_a_person_asked_for_one():
    class Silent(Worker):
        async def stream(self, system, messages, tools):
            yield StopPiece("end_turn")

    context = context_of(Silent())
    with pytest.raises(ModelError, match="wrote no summary"):
        await context.compact("", LONG_CHAT, [])
    assert context.state.summarized == 0


async def test_a_refusal_is_no_summary_and_a_wait_for_one_is_shown(place: Place):
    wait = WaitPiece(7.0, "busy; asking again in 7 s")

    class Refusing(Worker):
        async def stream(self, system, messages, tools):
            yield wait
            yield TextPiece("I cannot help with that.")
            yield StopPiece("refusal")

    waited: list[WaitPiece] = []
    messages = [UserMessage(f"prompt {number} " + "x" * 3000) for number in range(30)]
    context = Context(
        model=Refusing(),
        window=LIMIT,
        state=ContextState(),
        keep=lambda _: None,
        tell=lambda *_: None,
        used=lambda _: None,
        waits=waited.append,
    )
    await context.shown("", messages, [])
    assert "I cannot help" not in context.state.summary
    assert "prompt 0" in context.state.summary
    assert set(waited) == {wait}


async def test_compacting_by_hand_leaves_the_last_message_and_the_summary(chat: Chat):
    for turn in range(3):
        chat.model.turn = turn
        await chat.prompt(f"Turn {turn}")
    messages = chat.transcripts.messages("t")
    context = chat.context()
    assert await context.compact("", messages, []) > 0
    shown = view(messages, context.state)
    assert chat.sizes[-1] == fixed_tokens("", []) + sum(map(message_tokens, shown))
    assert len(shown) < len(messages) // 2
    assert not isinstance(shown[1], ToolMessage)
    assert chat.transcripts.messages("t") == messages


async def test_what_each_summary_took_is_told(chat: Chat):
    for turn in range(12):
        chat.model.turn = turn
        await chat.prompt(f"Turn {turn}")
    assert chat.model.summaries > 0
    assert chat.used == [UsagePiece(input_tokens=100, output_tokens=10)] * chat.model.summaries


TEXTS = st.text(max_size=400)
CALLS = st.lists(st.builds(WantedCall, st.just("c"), st.sampled_from(["x", "todo_write"]),
                           st.dictionaries(st.sampled_from("ab"), TEXTS, max_size=2)), max_size=3)  # fmt: skip
MESSAGES = st.lists(
    st.builds(UserMessage, TEXTS)
    | st.builds(AssistantMessage, TEXTS, CALLS.map(tuple))
    | st.builds(ToolMessage, st.just("c"), st.just("x"), TEXTS, st.booleans()),
    min_size=1,
    max_size=12,
)


@example(
    [
        *(UserMessage("x" * 90) for _ in range(9)),
        *(AssistantMessage("", (WantedCall("c", "x", {}),) * 3) for _ in range(3)),
    ],
    400,
)
@given(MESSAGES, st.integers(400, 4000))
def test_messages_are_cut_to_fit_and_short_ones_are_left_alone(messages: list[Message], most: int):
    fit = fitted(messages, most)
    # Bare marks of messages and calls are all that may be left over.
    least = sum(message_tokens(cut_to(message, 0)) for message in messages)
    assert sum(map(message_tokens, fit)) <= max(most, least)
    assert [type(message) for message in fit] == [type(message) for message in messages]
    if sum(map(message_tokens, messages)) <= most:
        assert fit == messages


@given(MESSAGES, st.integers(0, 2000), st.integers(0, 5))
def test_a_cut_never_parts_a_result_from_its_call(messages: list[Message], most: int, summarized: int):
    state = ContextState(summarized=min(summarized, len(messages) - 1))
    cut = next_cut(messages, state, most)
    assert state.summarized <= cut < len(messages)
    assert cut == state.summarized or not isinstance(messages[cut], ToolMessage)


def test_an_old_result_says_how_long_it_was_and_a_list_stays_whole():
    items = [{"text": "x" * 900}]
    said = AssistantMessage("", (WantedCall("c", "write_file", {"content": "y" * 9000}),
                                 WantedCall("d", "todo_write", {"items": items})), "thought")  # fmt: skip
    short = trimmed(said)
    assert isinstance(short, AssistantMessage)
    assert "9000 characters" in str(short.calls[0].arguments)
    assert (short.calls[1].arguments, short.thinking) == ({"items": items}, "")
    assert "9000 characters" in trimmed(ToolMessage("c", "x", "z" * 9000, True)).output  # type: ignore[union-attr]


def test_the_window_is_shared_with_the_answer_and_the_tools():
    schemas = [ToolSchema("x", "d" * 300, {})]
    assert fixed_tokens("s" * 300, schemas) > 200
    assert room(8000, 2000) == 4000
    assert room(8000, 20_000) == 1000


@pytest.mark.parametrize("trusted", [True, False])
def test_instructions_are_read_from_trusted_workspaces_alone(place: Place, trusted: bool):
    (place.workspace / "AGENTS.md").write_text("root")
    policy = replace(place.policy, trusted=trusted)
    assert [each.text for each in blocking_instructions(policy, [], 1000)] == (["root"] if trusted else [])


def test_instructions_of_a_folder_count_once_it_is_touched_and_links_lead_nowhere(place: Place, tmp_path: Path):
    outside = tmp_path / "outside.md"
    outside.write_text("from outside")
    nested = place.workspace / "src" / "deep"
    nested.mkdir(parents=True)
    (place.workspace / "CLAUDE.md").write_text("root")
    (place.workspace / "AGENTS.md").write_text("root")
    (place.workspace / "src" / "AGENTS.md").write_text("src")
    (nested / "AGENTS.md").symlink_to(outside)
    (nested / "CLAUDE.md").write_bytes(b"\0binary")
    policy = replace(place.policy, trusted=True)
    touched = [AssistantMessage("", (WantedCall("c", "read_file", {"path": "src/deep/a.py"}),))]
    away = [AssistantMessage("", (WantedCall("c", "read_file", {"path": "../../etc/passwd"}),))]
    texts = [each.text for each in blocking_instructions(policy, touched, 1000)]
    assert texts == ["root", "src"]
    assert [each.text for each in blocking_instructions(policy, away, 1000)] == ["root"]


def test_a_context_that_cannot_be_read_is_a_new_one():
    transcripts = Transcripts(None)
    for text in ("", "x", "[]", '{"summary": 1, "more": 2}', '{"shown": 5}'):
        transcripts._db.execute("INSERT OR REPLACE INTO contexts VALUES ('t', ?)", (text,))
        assert transcripts.context("t") == ContextState()
