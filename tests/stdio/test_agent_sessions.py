"""A chat with a hosted agent goes on with the agent's memory, whatever ended its process; the real server on a wire."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.agents.scripted_agent_fixture import PROGRAM

from .desk import Desk, Json, open_desk

LOADS = {"agentCapabilities": {"loadSession": True}}
ANSWER = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "so it is"}}}
LOST = "this agent does not remember what stands above"


class Stage:
    """A folder with one scripted agent, over as many servers as come and go."""

    def __init__(self, root: Path) -> None:
        self.workspace, self.storage = root / "ws", root / "storage"
        self.script, self.log = root / "agent.json", root / "agent.jsonl"
        self.log.touch()
        self.play(remembers=True, greeting=LOADS)

    def play(self, *prompts: Json, **script: Json) -> None:
        """Set what the agent does from its next start on."""
        self.script.write_text(json.dumps({"prompts": list(prompts) or [[ANSWER]], **script}))

    def settings(self, **more: Json) -> Json:
        words = [str(PROGRAM), str(self.script), str(self.log)]
        agent = {"type": "acp", "command": sys.executable, "args": words, **more}
        return {"user": {"agents": {"Scripted": agent}}}

    def server(self, workspace: Path | None = None) -> AbstractAsyncContextManager[Desk]:
        return open_desk(workspace or self.workspace, self.storage, settings=self.settings())

    def called(self, method: str) -> list[Json]:
        rows = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [row["params"] for row in rows if row.get("method") == method]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def opened(desk: Desk, thread: str) -> tuple[str, list[str], str]:
    """What the agent remembers, as `thread/open` tells it; the chat's notices, and all that the agent said."""
    chat = await desk.peer.request("thread/open", {"threadId": thread})
    notices = [event["message"] for event in chat["events"] if event["type"] == "notice"]
    return chat["memory"], notices, "|".join(event["text"] for event in chat["events"] if event["type"] == "text")


async def test_after_the_window_was_reloaded_the_agent_goes_on_and_nothing_stands_there_twice(stage: Stage):
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        assert (await opened(desk, thread))[0] == "kept"
        await desk.prompt(thread, "remember the blue door")
    async with stage.server() as desk:
        assert await opened(desk, thread) == ("kept", [], "so it is")
        await desk.prompt(thread, "which door?")
        assert await opened(desk, thread) == ("kept", [], "so it is|so it is")
    assert [params["sessionId"] for params in stage.called("session/prompt")] == ["session-1", "session-1"]
    assert len(stage.called("session/load")) == 1


async def test_after_kill_9_of_the_server_in_a_turn_the_agent_goes_on(stage: Stage):
    stage.play([ANSWER], [ANSWER, {"until": "cancel"}], remembers=True, greeting=LOADS)
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        turn = desk.prompt(thread, "two")
        await desk.peer.wait_for(
            "thread/update", lambda update: any(each["type"] == "text" for each in update["events"])
        )
        await desk.peer.wait_for(
            "thread/update", lambda update: any(each["type"] == "text" for each in update["events"])
        )
        desk.peer.kill()
        with pytest.raises(ConnectionError):
            await turn
        await desk.peer.exit_code()
    async with stage.server() as desk:
        await desk.prompt(thread, "three")
        memory, notices, _ = await opened(desk, thread)
    assert (memory, [each for each in notices if "remember" in each]) == ("kept", [])
    assert [params["sessionId"] for params in stage.called("session/prompt")] == ["session-1"] * 3


async def test_after_the_settings_of_the_agent_changed_it_goes_on(stage: Stage):
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        changed = {"settings": stage.settings(env={"COLOR": "blue"}), "trusted": True}
        desk.peer.notify("settings/changed", changed)
        await desk.prompt(thread, "two")
        assert await opened(desk, thread) == ("kept", [], "so it is|so it is")
    assert len(stage.called("session/load")) == 1
    assert stage.log.read_text().count('"COLOR": "blue"') == 1


async def test_two_prompts_right_after_the_settings_changed_share_one_process(stage: Stage):
    async with stage.server() as desk:
        threads = [await desk.thread(agentName="Scripted") for _ in range(2)]
        for thread in threads:
            await desk.prompt(thread, "one")
        changed = {"settings": stage.settings(env={"COLOR": "blue"}), "trusted": True}
        desk.peer.notify("settings/changed", changed)
        await asyncio.gather(*(desk.prompt(thread, "two") for thread in threads))
    assert stage.log.read_text().count('"COLOR": "blue"') == 1


async def test_after_a_restart_of_the_agent_it_goes_on(stage: Stage):
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        await desk.peer.request("agent/restart", {"agentName": "Scripted"})
        await desk.prompt(thread, "two")
        assert await opened(desk, thread) == ("kept", [], "so it is|so it is")
    assert len(stage.called("session/load")) == 1


async def test_an_agent_that_starts_anew_is_told_of_in_the_chat_before_and_after_it_is_asked(stage: Stage):
    stage.play()
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        assert await opened(desk, thread) == ("kept", [], "so it is")
    async with stage.server() as desk:
        assert await opened(desk, thread) == ("lost", [], "so it is")
        await desk.prompt(thread, "two")
        assert await opened(desk, thread) == ("lost", [LOST], "so it is|so it is")


async def test_another_workspace_with_the_same_storage_loads_nothing(stage: Stage, tmp_path: Path):
    async with stage.server() as desk:
        await desk.prompt(await desk.thread(agentName="Scripted"), "one")
    async with stage.server(tmp_path / "other") as desk:
        await desk.prompt(await desk.thread(agentName="Scripted"), "two")
    assert stage.called("session/load") == []


async def test_a_chat_of_the_built_in_agent_is_remembered(stage: Stage):
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Countersign")
        await desk.prompt(thread, "list .")
    async with stage.server() as desk:
        assert (await opened(desk, thread))[0] == "kept"


def asked(call_id: str, request_id: int, **call: Json) -> Json:
    """A step of the script: ask for leave."""
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    params = {"toolCall": {"toolCallId": call_id, **call}, "options": options}
    return {"ask": "session/request_permission", "id": request_id, "params": params}


async def test_a_plan_approved_with_edits_sets_the_mode_of_the_chat_for_good(stage: Stage):
    plan = {"kind": "switch_mode", "title": "Approve Plan", "rawInput": {"plan": "# Plan\n\n1. write a.txt"}}
    written = {"file_path": str(stage.workspace / "a.txt"), "content": "a\n"}
    edit = {"kind": "edit", "title": "Write", "rawInput": written}
    stage.play([asked("p", 1, **plan), asked("w", 2, **edit)], [asked("w2", 3, **edit)], greeting={})
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        turn = desk.prompt(thread, "plan it")
        card = await desk.peer.wait_for("tool/approvalRequest")
        assert card["preview"] == {"kind": "plan", "markdown": "# Plan\n\n1. write a.txt"}
        answer = {"approvalId": card["approvalId"], "digest": card["digest"], "bypassAll": False,
                  "response": {"outcome": {"outcome": "selected", "optionId": "allow_plan_accept_edits"}}}  # fmt: skip
        await desk.peer.request("tool/approvalResponse", answer)
        await turn
        assert (await desk.peer.request("thread/open", {"threadId": thread}))["mode"] == "acceptEdits"
    async with stage.server() as desk:
        assert (await desk.peer.request("thread/open", {"threadId": thread}))["mode"] == "acceptEdits"
        rows = (await desk.peer.request("history/query", {"filter": {}, "limit": 50}))["entries"]
        tools = [(row["tool"], row["phase"], row["by"]) for row in rows if row["phase"] == "decided"]
        assert ("acp:plan", "decided", "user") in tools
        assert ("acp:edit", "decided", "mode") in tools
