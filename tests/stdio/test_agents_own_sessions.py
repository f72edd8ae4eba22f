"""Sessions that an agent keeps by itself become chats here: chosen from its list, or forked; the real server on a wire.

Scripts of ``tests/agents/scripted_agent.py``: what each session remembers stands in a file before the server starts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from .desk import Desk, Json, open_desk
from .peer import RpcError
from .test_agent_sessions import ANSWER, LOST, Stage, asked, opened

OFFERS = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"list": {}, "fork": {}}}}
CALL = {"update": {"sessionUpdate": "tool_call", "toolCallId": "c1", "kind": "execute", "title": "rm -rf /",
                   "status": "completed"}}  # fmt: skip


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path)
    made.workspace.mkdir()
    made.script.with_suffix(".memory").write_text(json.dumps({"old-1": ["which door?"], "old-2": ["another"]}))
    return made


def play(stage: Stage, *pages: list[Json], prompts: tuple[Json, ...] = (), **script: Json) -> None:
    stage.play(*prompts, remembers=True, lists=list(pages), **{"greeting": OFFERS, **script})


def session(stage: Stage, session_id: str, **more: Json) -> Json:
    return {"sessionId": session_id, "cwd": str(stage.workspace), **more}


async def listed(desk: Desk) -> Json:
    return await desk.peer.request("agent/sessions", {"agentName": "Scripted"})


async def refused(request: Awaitable[Json]) -> str:
    with pytest.raises(RpcError) as error:
        await request
    return error.value.message


async def test_a_session_of_the_list_becomes_a_chat_that_shows_what_was_said_and_goes_on(stage: Stage):
    first = session(stage, "old-1", title="The  blue\ndoor\u202e", updatedAt="2026-11-01T10:00:00+02:00")
    play(stage, [first, session(stage, "old-2")], loads=[[CALL]])
    async with stage.server() as desk:
        assert await listed(desk) == {
            "sessions": [
                {"sessionId": "old-1", "title": "The blue door\\u202e", "updatedAt": "2026-11-01T08:00:00+00:00"},
                {"sessionId": "old-2"},
            ],
            "more": False,
        }
        thread = await desk.thread(agentName="Scripted", sessionId="old-1")
        chat = await desk.peer.request("thread/open", {"threadId": thread})
        assert [(event["type"], event.get("text")) for event in chat["events"]] == [
            ("notice", None),
            ("prompt", "which door?"),
            ("text", "answer to which door?"),
            ("done", None),
        ]
        assert "tool calls that are not shown: 1" in chat["events"][0]["message"]
        assert (chat["memory"], chat["running"]) == ("kept", False)
        await desk.prompt(thread, "open it")
        assert [each.get("threadId") for each in (await listed(desk))["sessions"]] == [thread, None]
        assert "a chat has this session already" in await refused(desk.thread(agentName="Scripted", sessionId="old-1"))
    async with stage.server() as desk:
        await desk.prompt(thread, "close it")
        memory, notices, said = await opened(desk, thread)
        assert (memory, len(notices), said) == ("kept", 1, "answer to which door?|so it is|so it is")
        assert desk.rows() == []
    assert [params["sessionId"] for params in stage.called("session/prompt")] == ["old-1", "old-1"]


async def test_what_is_asked_while_a_session_is_repeated_is_refused_and_later_calls_are_asked_about(stage: Stage):
    early, late = (
        asked("w", number, kind="execute", title="touch a", rawInput={"command": "touch a"}) for number in (1, 2)
    )
    play(stage, prompts=([late],), loads=[[early]])
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted", sessionId="old-1")
        turn = desk.prompt(thread, "go")
        assert await desk.answer(await desk.card("touch a"), "reject_once") == "denied"
        await turn
        assert len({row["toolCallId"] for row in desk.rows()}) == 1


async def test_sessions_of_other_folders_and_without_an_id_are_not_offered(stage: Stage, tmp_path: Path):
    (stage.workspace / "sub").mkdir()
    (tmp_path / "link").symlink_to(stage.workspace)
    page = [
        {"sessionId": "out", "cwd": str(tmp_path)},
        {"sessionId": "sub", "cwd": str(stage.workspace / "sub")},
        {"sessionId": "up", "cwd": f"{stage.workspace}/.."},
        {"sessionId": "relative", "cwd": "."},
        {"sessionId": "none"},
        {"sessionId": "", "cwd": str(stage.workspace)},
        {"sessionId": "x" * 2000, "cwd": str(stage.workspace)},
        {"sessionId": 7, "cwd": str(stage.workspace)},
        "nothing",
        {"sessionId": "linked", "cwd": str(tmp_path / "link")},
        session(stage, "linked"),
        session(stage, "odd", title=["a"], updatedAt="yesterday"),
    ]
    play(stage, page)
    async with stage.server() as desk:
        assert (await listed(desk))["sessions"] == [{"sessionId": "linked"}, {"sessionId": "odd"}]


async def test_a_list_is_bounded_however_much_the_agent_sends(stage: Stage):
    many = [session(stage, f"s-{number}", title="t" * (1 << 20) if number == 0 else "t") for number in range(150)]
    play(stage, many, many[:50] + [session(stage, f"u-{number}") for number in range(100)], endless=True)
    async with stage.server() as desk:
        found = await listed(desk)
    assert (len(found["sessions"]), found["more"]) == (200, True)
    assert len(found["sessions"][0]["title"]) <= 200
    assert len(stage.called("session/list")) == 3


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"greeting": {}}, "does not take up its earlier sessions"),
        ({"loads": [[{"fail": "not found"}]]}, "did not take up this session"),
        ({"loads": [[{"exit": 3}]]}, "ended while it loaded"),
    ],
)
async def test_where_a_session_is_not_taken_up_there_is_no_chat(stage: Stage, script: Json, said: str):
    play(stage, **script)
    async with stage.server() as desk:
        assert said in await refused(desk.thread(agentName="Scripted", sessionId="old-1"))
        assert (await desk.peer.request("thread/list", {}))["threads"] == []
        assert stage.called("session/new") == []


async def test_an_agent_that_does_not_list_says_so(stage: Stage):
    play(stage, greeting={})
    async with stage.server() as desk:
        assert "does not list its sessions" in await refused(listed(desk))
        views = (await desk.peer.request("agent/list", {}))["agents"]
        assert [view.get("listsSessions") for view in views if view["agentName"] == "Scripted"] == [False]


async def offered(desk: Desk, *expected: bool | None) -> None:
    """Wait until the agent is known to list and to fork, or not to, as expected."""

    async def view() -> list[bool | None]:
        views = (await desk.peer.request("agent/list", {}))["agents"]
        (found,) = [view for view in views if view["agentName"] == "Scripted"]
        return [found.get("listsSessions"), found.get("forks")]

    async with asyncio.timeout(PATIENCE):
        while await view() != [*expected]:
            pass


async def test_what_an_agent_offers_is_remembered_from_its_last_start_and_not_guessed_before(stage: Stage):
    play(stage)
    async with stage.server() as desk:
        await offered(desk, None, None)
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        await offered(desk, True, True)
    play(stage, greeting={"agentCapabilities": {"loadSession": True}})
    async with stage.server() as desk:
        await offered(desk, True, True)
        assert "does not fork its sessions" in await refused(desk.peer.request("thread/fork", {"threadId": thread}))
        await offered(desk, False, False)
        assert "does not list its sessions" in await refused(listed(desk))
    async with stage.server() as desk:
        await offered(desk, False, False)


async def test_a_fork_shows_what_was_said_and_each_chat_goes_on_by_itself(stage: Stage):
    play(stage)
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        fork = (await desk.peer.request("thread/fork", {"threadId": thread}))["threadId"]
        assert await desk.events(fork) == await desk.events(thread)
        await desk.prompt(fork, "two")
        await desk.prompt(thread, "three")
        titles = {each["threadId"]: each["title"] for each in (await desk.peer.request("thread/list", {}))["threads"]}
        assert titles == {thread: "one", fork: "one (fork)"}
    async with stage.server() as desk:
        await desk.prompt(fork, "four")
        assert await opened(desk, fork) == ("kept", [], "so it is|so it is|so it is")
        assert await opened(desk, thread) == ("kept", [], "so it is|so it is")
    new = "session-3"
    assert [params["sessionId"] for params in stage.called("session/prompt")] == [new, "session-4", new, "session-4"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"greeting": {"agentCapabilities": {"loadSession": True}}}, "does not fork its sessions"),
        ({"fork_id": "session-3"}, "that of another chat"),
    ],
)
async def test_where_a_chat_is_not_forked_there_is_no_second_one(stage: Stage, script: Json, said: str):
    play(stage, **script)
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        await desk.prompt(thread, "one")
        assert said in await refused(desk.peer.request("thread/fork", {"threadId": thread}))
        assert len((await desk.peer.request("thread/list", {}))["threads"]) == 1


async def test_a_chat_is_not_forked_while_its_turn_runs_nor_before_its_agent_has_a_session(stage: Stage):
    play(stage, prompts=([ANSWER, {"until": "cancel"}],))
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        fork = {"threadId": thread}
        assert "nothing to fork" in await refused(desk.peer.request("thread/fork", fork))
        turn = desk.prompt(thread, "one")
        await desk.peer.wait_for("thread/update", lambda update: any(e["type"] == "text" for e in update["events"]))
        assert "a turn of this chat is running" in await refused(desk.peer.request("thread/fork", fork))
        desk.peer.notify("thread/cancel", fork)
        await turn


OPTIONS = [{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "a",
            "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]}]  # fmt: skip


async def test_a_chat_whose_agent_was_begun_ahead_has_its_options_and_its_session_serves_the_first_prompt(stage: Stage):
    play(stage, offers={"configOptions": OPTIONS})
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Scripted")
        assert (await desk.peer.request("thread/open", {"threadId": thread})).get("options") is None
        await desk.peer.request("thread/begin", {"threadId": thread})
        await desk.peer.request("thread/begin", {"threadId": thread})
        chat = await desk.peer.request("thread/open", {"threadId": thread})
        assert ([option["optionId"] for option in chat["options"]], chat["events"]) == (["model"], [])
        await desk.peer.request("thread/setOption", {"threadId": thread, "option": "model", "value": "b"})
        await desk.prompt(thread, "hello there")
        assert [each["title"] for each in (await desk.peer.request("thread/list", {}))["threads"]] == ["hello there"]
    assert (len(stage.called("session/new")), len(stage.called("session/prompt"))) == (1, 1)


async def test_a_chat_that_was_begun_only_for_its_options_is_listed_from_its_first_message_on(stage: Stage):
    play(stage, offers={"configOptions": OPTIONS})

    async def listed(desk: Desk) -> list[str]:
        found = await desk.peer.request("thread/search", {"text": "new"})
        rows = (await desk.peer.request("thread/list", {}))["threads"]
        assert {each["threadId"] for each in found["matches"]} <= {each["threadId"] for each in rows}
        return [each["title"] for each in rows]

    async with stage.server() as desk:
        left, named, used, earlier = [await desk.thread(agentName="Scripted") for _ in range(4)]
        await desk.prompt(earlier, "an earlier message")
        assert sorted(await listed(desk)) == ["New chat", "New chat", "New chat", "an earlier message"]
        for thread in (left, named, used, earlier):
            await desk.peer.request("thread/begin", {"threadId": thread})
        await desk.peer.request("thread/setOption", {"threadId": left, "option": "model", "value": "b"})
        assert await listed(desk) == ["an earlier message"]
        await desk.peer.request("thread/rename", {"threadId": named, "title": "Mine"})
        await desk.prompt(used, "a first message")
        assert sorted(await listed(desk)) == ["Mine", "a first message", "an earlier message"]
    async with stage.server() as desk:
        assert sorted(await listed(desk)) == ["Mine", "a first message", "an earlier message"]
        # A view that still shows it can go on.
        await desk.prompt(left, "a late message")
        assert "a late message" in await listed(desk)


async def test_in_an_untrusted_workspace_no_agent_is_started_ahead_of_a_message(stage: Stage):
    play(stage, [session(stage, "old-1")])
    server = open_desk(stage.workspace, stage.storage, trusted=False, settings=stage.settings())
    async with server as desk:
        thread = await desk.thread(agentName="Scripted")
        for method, params in (
            ("agent/sessions", {"agentName": "Scripted"}),
            ("thread/begin", {"threadId": thread}),
            ("thread/fork", {"threadId": thread}),
            ("thread/create", {"agentName": "Scripted", "sessionId": "old-1"}),
        ):
            assert "trust the workspace first" in await refused(desk.peer.request(method, params))
        assert (await desk.peer.request("thread/list", {}))["threads"] == []
    assert stage.log.read_text() == ""


async def test_the_built_in_agent_has_no_sessions_of_its_own_and_begins_without_any(stage: Stage):
    async with stage.server() as desk:
        thread = await desk.thread(agentName="Countersign")
        await desk.peer.request("thread/begin", {"threadId": thread})
        said = await refused(desk.peer.request("agent/sessions", {"agentName": "Countersign"}))
        assert "no hosted agent" in said
        assert LOST not in said
