"""Naming, searching and exporting chats, and what the list says of each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from countersign.lsp.chats import markdown_of
from countersign.wire.threads import ToolCallEvent

from .desk import Desk, open_desk
from .peer import RpcError


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path / "ws", tmp_path / "storage") as opened:
        yield opened


async def states(desk: Desk) -> dict[str, str]:
    listed = (await desk.peer.request("thread/list", {}))["threads"]
    return {thread["title"]: thread["state"] for thread in listed}


async def test_the_list_says_what_each_chat_does(desk: Desk):
    fresh = await desk.thread()
    await desk.peer.request("thread/rename", {"threadId": fresh, "title": "fresh"})
    await desk.prompt(await desk.thread(), "list .")
    turn = desk.prompt(await desk.thread(), "run touch one")
    card = await desk.card("touch one")
    assert await states(desk) == {"fresh": "new", "list .": "done", "run touch one": "waiting"}
    desk.peer.notify("thread/cancel", {"threadId": card["threadId"]})
    await turn
    assert (await states(desk))["run touch one"] == "stopped"


async def test_a_new_title_is_one_visible_line_and_stays(desk: Desk):
    thread = await desk.thread()
    await desk.peer.request("thread/rename", {"threadId": thread, "title": "  my\n chat \u202e! "})
    assert list(await states(desk)) == ["my chat \\u202e!"]
    await desk.prompt(thread, "list .")
    assert list(await states(desk)) == ["my chat \\u202e!"]


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("thread/rename", {"title": "x"}, "unknownThread"),
        ("thread/export", {}, "unknownThread"),
    ],
)
async def test_a_chat_that_is_not_there_is_said(method: str, params: dict, kind: str, desk: Desk):
    with pytest.raises(RpcError) as error:
        await desk.peer.request(method, {"threadId": "none", **params})
    assert error.value.data == {"kind": kind}


async def test_a_search_finds_titles_prompts_and_answers_in_any_case(desk: Desk):
    (desk.workspace / "notes.txt").write_text("x")
    first, second = await desk.thread(), await desk.thread()
    await desk.prompt(first, "list .")
    await desk.prompt(second, "Sing a SONG of sixpence")

    async def found(text: str) -> list[str]:
        return [match["threadId"] for match in (await desk.peer.request("thread/search", {"text": text}))["matches"]]

    assert await found("song OF") == [second]
    assert set(await found("list .")) == {first, second}  # the demo model names it in its hint
    assert (await found("nowhere at all"), await found("  ")) == ([], [])
    await desk.peer.request("thread/rename", {"threadId": first, "title": "Straße"})
    assert await found("STRASSE") == [first]


async def test_an_export_holds_what_was_said_and_how_each_call_ended(desk: Desk):
    thread = await desk.thread()
    given = [{"kind": "selection", "path": "src/a.py", "text": "secret", "startLine": 3, "endLine": 4}]
    turn = desk.prompt(thread, "run touch one", attachments=given)
    await desk.answer(await desk.card("touch one"), "reject_once")
    await turn
    path = Path((await desk.peer.request("thread/export", {"threadId": thread}))["path"])
    text = path.read_text()  # noqa: ASYNC240 a small file of the test's own
    assert path.stat().st_mode & 0o077 == 0  # noqa: ASYNC240 the same
    assert text.startswith("# run touch one\n")
    assert "\n> run touch one\n\n> Attached: `src/a.py:3-4`\n" in text
    assert "secret" not in text
    assert "\n- `touch one`: not done, decided by user\n" in text


def test_text_of_an_agent_does_not_leave_its_place_in_an_export():
    call = ToolCallEvent(
        tool_call_id="c", agent_name="a", tool="shell", title="a ``b` c", kind="execute", category="execute",
        status="pending",
    )  # fmt: skip
    assert list(markdown_of([call])) == ["- ````a ``b` c````: no result"]


async def test_a_chat_has_a_temporary_folder_as_long_as_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    parent = tmp_path / "temporary"
    parent.mkdir()
    monkeypatch.setenv("TMPDIR", str(parent))
    async with open_desk(tmp_path / "ws", tmp_path / "storage") as desk:
        thread, other = await desk.thread(), await desk.thread()
        for chat in (thread, other):
            turn = desk.prompt(chat, f'run echo kept > "$TMPDIR/x" # {chat}')
            await desk.answer(await desk.card(chat), "allow_once")
            await turn
        assert [path.read_text() for path in parent.glob("*/*/x")] == ["kept\n", "kept\n"]
        await desk.peer.request("thread/delete", {"threadId": thread})
        assert len(list(parent.glob("*/*/x"))) == 1
    assert not list(parent.iterdir()), "it ends with the server"
