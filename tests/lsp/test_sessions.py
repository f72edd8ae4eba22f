"""Chats: prompts run one after the other, Stop hands queued ones back, modes tighten at once."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field

import pytest

from countersign.agents.transcript import Transcripts
from countersign.lsp.event_feed import Feed
from countersign.lsp.sessions import Sessions
from countersign.wire.errors import ModelError, UnknownAgent, UnknownThread
from countersign.wire.threads import TextEvent, ThreadCreateParams, ThreadOpenResult, ThreadPromptParams, ThreadUpdate
from tests.gate.support import BOUND, make_house


@dataclass
class Scripted:
    """A Runner whose turns go on when the test says so."""

    begun: list[str] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    modes: dict[str, list[str]] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    fails: bool = False

    def resumable(self, agent):
        return True

    def memory(self, row):
        return "kept"

    def offers(self, thread_id, agent):
        return None

    async def set_option(self, thread_id, agent, option, value):
        return []

    async def run(self, turn, prompt):
        self.begun.append(prompt.text)
        self.modes[prompt.text] = turn.modes
        self.news.set()
        turn.emit(TextEvent(text="working"))
        if self.fails:
            raise ModelError("the model is out")
        await self.gates.setdefault(prompt.text, asyncio.Event()).wait()
        return "end_turn"

    async def resume(self, turn, waiting):
        raise AssertionError

    async def stop(self, turn):
        pass

    async def until_begun(self, text):
        async with asyncio.timeout(BOUND):
            while text not in self.begun:
                self.news.clear()
                await self.news.wait()

    def let(self, text):
        self.gates.setdefault(text, asyncio.Event()).set()


class Chats:
    def __init__(self):
        self.house = make_house()
        self.transcripts = Transcripts(None)
        self.updates: list[ThreadUpdate] = []
        self.runner = Scripted()
        self.sessions = Sessions(
            transcripts=self.transcripts,
            feed=Feed(self.transcripts, self.updates.append, lambda _: 0),
            gate=self.house.gate,
            policy=lambda: self.house.policy,
            runner=self.runner,
            owner="me",
        )
        self.thread = self.sessions.create(ThreadCreateParams()).thread_id

    def prompt(self, text, **more):
        return asyncio.ensure_future(self.sessions.prompt(ThreadPromptParams(thread_id=self.thread, text=text, **more)))

    def types(self):
        return [event.type for update in self.updates for event in update.events]


@pytest.fixture
async def chats():
    made = Chats()
    yield made
    await made.sessions.close()
    made.house.ledger.close()
    made.transcripts.close()


async def done(task):
    async with asyncio.timeout(BOUND):
        return await task


async def test_a_second_prompt_waits_for_the_first(chats):
    first, second = chats.prompt("one"), chats.prompt("two")
    await chats.runner.until_begun("one")
    assert chats.runner.begun == ["one"]
    chats.runner.let("one")
    assert await done(first) == "end_turn"
    await chats.runner.until_begun("two")
    chats.runner.let("two")
    assert await done(second) == "end_turn"


async def test_stop_ends_the_running_turn_and_hands_queued_prompts_back(chats):
    first, second = chats.prompt("one"), chats.prompt("two")
    await chats.runner.until_begun("one")
    await chats.sessions.cancel(chats.thread)
    assert (await done(first), await done(second)) == ("cancelled", "cancelled")
    assert chats.runner.begun == ["one"]
    third = chats.prompt("three")
    await chats.runner.until_begun("three")
    chats.runner.let("three")
    assert await done(third) == "end_turn"


async def test_a_cancelled_request_stops_its_turn_with_the_same_result(chats):
    task = chats.prompt("one")
    await chats.runner.until_begun("one")
    task.cancel()
    assert await done(task) == "cancelled"
    assert chats.types()[-1] == "done"


async def test_a_queued_prompt_that_is_called_off_leaves_its_place(chats):
    first, second, third = chats.prompt("one"), chats.prompt("two"), chats.prompt("three")
    await chats.runner.until_begun("one")
    second.cancel()
    assert await done(second) == "cancelled"
    chats.runner.let("one")
    await chats.runner.until_begun("three")
    chats.runner.let("three")
    assert (await done(first), await done(third)) == ("end_turn", "end_turn")
    assert chats.runner.begun == ["one", "three"]


async def test_a_failing_model_is_said_in_the_chat_and_to_the_caller(chats):
    chats.runner.fails = True
    with pytest.raises(ModelError):
        await done(chats.prompt("one"))
    assert chats.types()[-2:] == ["error", "done"]
    assert chats.updates[-1].events[-1].stop_reason == "error"


async def opened_chat(chats) -> ThreadOpenResult:
    return ThreadOpenResult.model_validate_json((await chats.sessions.open(chats.thread)).body)


async def test_sequence_numbers_have_no_gaps_and_the_whole_chat_can_be_opened(chats):
    task = chats.prompt("one")
    chats.runner.let("one")
    await done(task)
    assert [update.seq for update in chats.updates] == list(range(1, len(chats.updates) + 1))
    opened = await opened_chat(chats)
    assert opened.seq == len(chats.updates)
    assert [event.type for event in opened.events] == ["prompt", "text", "done"]


async def test_a_chat_whose_turn_has_told_its_end_is_not_opened_as_running(chats, monkeypatch):
    loop, told, go = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def blocking_redact(thread_id):
        loop.call_soon_threadsafe(told.set)
        go.wait(BOUND)

    monkeypatch.setattr(chats.transcripts, "blocking_redact", blocking_redact)
    task = chats.prompt("one")
    await chats.runner.until_begun("one")
    assert (await opened_chat(chats)).running
    chats.runner.let("one")
    await done(told.wait())
    opened = await opened_chat(chats)
    go.set()
    await done(task)
    assert [event.type for event in opened.events][-1] == "done"
    assert not opened.running


async def test_a_mode_that_tightens_reaches_the_running_turn(chats):
    task = chats.prompt("one")
    await chats.runner.until_begun("one")
    chats.sessions.set_mode(chats.thread, "plan")
    assert chats.runner.modes["one"] == ["default", "plan"]
    chats.runner.let("one")
    await done(task)
    assert (await opened_chat(chats)).mode == "plan"


async def test_the_mode_of_a_prompt_is_the_chats_from_then_on(chats):
    task = chats.prompt("one", mode="auto")
    chats.runner.let("one")
    await done(task)
    assert chats.runner.modes["one"] == ["auto"]
    assert (await opened_chat(chats)).mode == "auto"


async def test_a_turn_runs_in_no_looser_mode_than_the_one_that_the_window_shows(chats):
    """Another window set `auto`; this one still shows `default`. The chat keeps `auto`, and a later prompt has it."""
    chats.sessions.set_mode(chats.thread, "auto")
    for text, shown, modes in (("one", "default", ["auto", "default"]), ("two", "auto", ["auto"])):
        task = chats.prompt(text, shown_mode=shown)
        chats.runner.let(text)
        await task
        assert (chats.runner.modes[text], (await opened_chat(chats)).mode) == (modes, "auto")


async def test_unknown_names_are_told_so(chats):
    with pytest.raises(UnknownThread):
        await chats.sessions.open("nothing")
    with pytest.raises(UnknownAgent):
        chats.sessions.create(ThreadCreateParams(agent_name="Nobody"))


async def test_a_prompt_to_a_chat_that_is_being_deleted_never_begins(chats):
    running = chats.prompt("one")
    await chats.runner.until_begun("one")
    deleting = asyncio.ensure_future(chats.sessions.delete(chats.thread))
    await asyncio.sleep(0)
    late = chats.prompt("two")
    await done(deleting)
    assert await done(running) == "cancelled"
    with pytest.raises(UnknownThread):
        await done(late)
    assert chats.runner.begun == ["one"]


async def test_a_deleted_chat_is_gone(chats):
    await chats.sessions.delete(chats.thread)
    assert chats.sessions.list().threads == []


async def test_every_prompt_that_waits_in_a_chat_that_another_window_deletes_hears_of_it(chats):
    first, *others = (chats.prompt(text) for text in ("one", "two", "three"))
    await chats.runner.until_begun("one")
    chats.transcripts.delete_thread(chats.thread)
    chats.runner.let("one")
    assert await done(first) == "end_turn"
    for prompt in others:
        with pytest.raises(UnknownThread):
            await done(prompt)
    assert chats.runner.begun == ["one"]


async def test_nothing_is_kept_of_what_is_said_in_a_chat_that_another_window_deleted(chats):
    prompt = chats.prompt("one")
    await chats.runner.until_begun("one")
    chats.transcripts.delete_thread(chats.thread)
    chats.runner.let("one")
    await done(prompt)
    assert chats.transcripts.events(chats.thread) == []
