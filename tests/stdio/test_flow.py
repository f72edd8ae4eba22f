"""The whole way over stdio, without an editor: prompt, cards, answers, effects on disk, chat and ledger."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.stdio.desk import Desk, ledger_rows, open_desk
from tests.stdio.peer import RpcError


@pytest.fixture
def places(tmp_path) -> tuple[Path, Path]:
    return tmp_path / "work", tmp_path / "storage"


@pytest.fixture
async def desk(places):
    async with open_desk(*places) as opened:
        yield opened


def phases(rows, text: str) -> list[str]:
    """What the ledger says of the calls whose input holds this text."""
    return [f"{row['phase']} {row['verdict']} {row['by']}" for row in rows if text in json.dumps(row["input"])]


async def test_one_call_is_approved_and_its_twin_denied(desk: Desk):
    thread = await desk.thread()
    turn = desk.prompt(thread, "create hello.txt saying hi and also run touch made.txt")
    edit, command = await desk.card("hello.txt"), await desk.card("touch made.txt")
    assert edit["preview"]["newText"] == "hi"
    assert command["preview"]["command"] == "touch made.txt"
    assert os.listdir(desk.workspace) == []
    assert await desk.answer(edit) == "allowed"
    assert await desk.answer(command, "reject_once", reason="not now") == "denied"
    assert (await turn)["stopReason"] == "end_turn"
    assert (desk.workspace / "hello.txt").read_text() == "hi"
    assert os.listdir(desk.workspace) == ["hello.txt"]
    rows = desk.rows()
    assert phases(rows, "hello.txt") == [
        "decided ask mode",
        "decided allow user",
        "started allow user",
        "finished allow user",
    ]
    assert phases(rows, "touch made.txt") == ["decided ask mode", "decided deny user"]
    results = [event for event in await desk.events(thread) if event["type"] == "toolResult"]
    assert len(results) == 2
    assert "not now" in next(result for result in results if not result["success"])["output"]


async def test_a_card_names_the_variable_that_its_command_mentions_and_does_not_get(places, monkeypatch):
    monkeypatch.setenv("MYAPP_PASS", "hunter2-hunter2")
    async with open_desk(*places) as desk:
        thread = await desk.thread()
        turn = desk.prompt(thread, "run touch $MYAPP_PASS.txt and also run touch plain.txt")
        mentions, plain = await desk.card("$MYAPP_PASS"), await desk.card("plain.txt")
        (note,) = [note for note in mentions["notes"] if note.startswith("withheld: ")]
        assert "`MYAPP_PASS`" in note
        assert "`shell.env.pass`" in note
        assert "hunter2" not in json.dumps(mentions)
        assert not any("withheld" in text for text in (*mentions["risks"], *plain.get("notes", [])))
        await desk.answer(mentions, "reject_once")
        await desk.answer(plain, "reject_once")
        await turn


async def test_a_withheld_variable_is_passed_for_the_workspace_by_one_request(places, monkeypatch):
    monkeypatch.setenv("MYAPP_PASS", "hunter2-hunter2")
    async with open_desk(*places) as desk:
        thread = await desk.thread()
        turn = desk.prompt(thread, 'run test -n "$MYAPP_PASS" && touch passed.txt')
        card = await desk.card("$MYAPP_PASS")
        assert card["withheld"] == ["MYAPP_PASS"]
        with pytest.raises(RpcError, match="withheld"):
            await desk.peer.request("environment/pass", {"name": "HOME"})
        await desk.peer.request("environment/pass", {"name": "MYAPP_PASS"})
        # The card said that the command would not get it, so it is drawn anew.
        ended = await desk.ended(card)
        assert (ended["state"], ended["by"]) == ("interrupted", "change")
        again = await desk.card("$MYAPP_PASS")
        assert again["toolCall"]["toolCallId"] == card["toolCall"]["toolCallId"]
        assert "withheld" not in again
        assert not any("withheld" in note for note in again.get("notes") or [])
        assert await desk.answer(again) == "allowed"
        await turn
        assert (desk.workspace / "passed.txt").exists()
        assert "MYAPP_PASS" in (desk.workspace / ".vscode" / "settings.json").read_text()
        assert "hunter2" not in (desk.workspace / ".vscode" / "settings.json").read_text()


async def test_the_result_of_a_command_names_the_variables_that_it_did_not_get(places, monkeypatch):
    monkeypatch.setenv("MYAPP_PASS", "hunter2-hunter2")
    async with open_desk(*places) as desk:
        thread = await desk.thread(mode="auto")
        await desk.prompt(thread, 'run echo "value: $MYAPP_PASS"')
        (result,) = [event for event in await desk.events(thread) if event["type"] == "toolResult"]
        assert result["withheld"] == ["MYAPP_PASS"]
        assert "withheld" in result["output"]


async def test_an_untrusted_workspace_passes_no_variable(places, monkeypatch):
    monkeypatch.setenv("MYAPP_PASS", "hunter2-hunter2")
    async with open_desk(*places, trusted=False) as desk:
        with pytest.raises(RpcError) as refused:
            await desk.peer.request("environment/pass", {"name": "MYAPP_PASS"})
        assert refused.value.kind == "notTrusted"


async def test_looking_around_makes_no_card_and_history_says_why(desk: Desk):
    thread = await desk.thread()
    await desk.prompt(thread, "run ls -la and then list .")
    assert desk.peer.seen("tool/approvalRequest") == []
    decided = [row for row in desk.rows() if row["phase"] == "decided"]
    assert [(row["verdict"], row["by"]) for row in decided] == [("allow", "mode")] * 2
    assert "read" in decided[0]["evidence"][0]["reason"]


async def test_another_process_sees_the_decision_before_the_effect(desk: Desk):
    thread = await desk.thread()
    os.mkfifo(desk.workspace / "gate")
    turn = desk.prompt(thread, "run cat < gate > out.txt")
    await desk.answer(await desk.card())
    await desk.peer.wait_for(
        "thread/update", lambda update: any(event.get("status") == "running" for event in update["events"])
    )
    # A pipe is no regular file: reading it is a floor's ask.
    assert phases(desk.rows(), "out.txt") == ["decided ask floor", "decided allow user", "started allow user"]
    assert not (desk.workspace / "out.txt").exists()
    await asyncio.to_thread((desk.workspace / "gate").write_text, "through")
    await turn
    assert (desk.workspace / "out.txt").read_text() == "through"
    assert phases(desk.rows(), "out.txt")[-1] == "finished allow user"


async def test_stop_cancels_the_card_and_nothing_runs(desk: Desk):
    thread = await desk.thread()
    turn = desk.prompt(thread, "run touch made.txt")
    card = await desk.card()
    desk.peer.notify("thread/cancel", {"threadId": thread})
    assert (await turn)["stopReason"] == "cancelled"
    notice = await desk.ended(card)
    assert (notice["state"], notice["by"]) == ("cancelled", "cancel")
    with pytest.raises(RpcError) as told:
        await desk.answer(card)
    assert told.value.kind == "alreadyResolved"
    assert os.listdir(desk.workspace) == []


async def test_a_card_comes_back_after_a_reload_and_its_answer_runs_that_very_call_once(places):
    workspace, storage = places
    async with open_desk(workspace, storage) as first:
        thread = await first.thread()
        turn = first.prompt(thread, "run echo once >> once.txt and then run echo twice >> once.txt")
        card = await first.card()
        turn.add_done_callback(lambda done: done.exception())
    async with open_desk(workspace, storage) as second:
        again = await second.card()
        assert (again["approvalId"], again["digest"]) == (card["approvalId"], card["digest"])
        pending = await second.peer.request("tool/pendingApprovals", {})
        assert [request["approvalId"] for request in pending["approvals"]] == [card["approvalId"]]
        assert not (workspace / "once.txt").exists()
        assert await second.answer(again) == "allowed"
        await second.answer(await second.card("twice"))
        await second.peer.wait_for(
            "thread/update", lambda update: any(event["type"] == "done" for event in update["events"])
        )
        assert (workspace / "once.txt").read_text() == "once\ntwice\n"
        with pytest.raises(RpcError) as told:
            await second.answer(again)
        assert told.value.kind == "alreadyResolved"
        events = await second.events(thread)
        assert sum(event["type"] == "toolResult" for event in events) == 2
        assert events[-1] == {"type": "done", "stopReason": "end_turn"}
    assert phases(ledger_rows(storage), "echo once") == [
        "decided ask mode",
        "decided allow user",
        "started allow user",
        "finished allow user",
    ]


async def test_after_a_kill_an_open_card_ends_as_interrupted_and_nothing_ran(places):
    workspace, storage = places
    async with open_desk(workspace, storage) as first:
        thread = await first.thread()
        turn = first.prompt(thread, "run touch made.txt")
        turn.add_done_callback(lambda done: done.exception())
        card = await first.card()
        first.peer.kill()
        await first.peer.exit_code()
    async with open_desk(workspace, storage) as second:
        notice = await second.ended(card)
        assert (notice["state"], notice["by"]) == ("interrupted", "restart")
        with pytest.raises(RpcError) as told:
            await second.answer(card)
        assert told.value.kind == "alreadyResolved"
        # What is told of the request comes first, then the chat is brought to its end.
        events = await second.ended_events(thread)
        assert [event["type"] for event in events[-3:]] == ["toolResult", "notice", "done"]
        assert (await second.peer.request("tool/pendingApprovals", {}))["approvals"] == []
        # The chat goes on.
        following = second.prompt(thread, "run touch second.txt")
        await second.answer(await second.card())
        assert (await following)["stopReason"] == "end_turn"
    assert os.listdir(workspace) == ["second.txt"]
    assert phases(ledger_rows(storage), "made.txt") == ["decided ask mode", "decided deny restart"]


async def test_a_command_that_was_running_at_a_kill_is_closed_as_interrupted(places):
    workspace, storage = places
    async with open_desk(workspace, storage) as first:
        os.mkfifo(workspace / "gate")
        thread = await first.thread()
        turn = first.prompt(thread, "run cat < gate > out.txt")
        turn.add_done_callback(lambda done: done.exception())
        await first.answer(await first.card())
        await first.peer.wait_for(
            "thread/update", lambda update: any(event.get("status") == "running" for event in update["events"])
        )
        first.peer.kill()
        await first.peer.exit_code()
    async with open_desk(workspace, storage) as second:
        await second.peer.request("thread/list", {})
        await second.peer.wait_for(
            "thread/update", lambda update: any(event["type"] == "done" for event in update["events"])
        )
    last = [row for row in ledger_rows(storage) if "out.txt" in json.dumps(row["input"])][-1]
    ended = {"ended": "interrupted", "model": "demo"}
    assert (last["phase"], last["by"], last["outcome"]) == ("finished", "restart", ended)


async def test_bypass_is_set_by_the_card_and_ended_by_hand(desk: Desk):
    settings = desk.workspace / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  // mine\n  "editor.tabSize": 3,\n}\n')
    await desk.peer.wait_for("agent/status", lambda agent: not agent["bypass"])
    thread = await desk.thread()
    turn = desk.prompt(thread, "run touch first.txt")
    assert await desk.answer(await desk.card(), bypassAll=True) == "allowed"
    await turn
    written = settings.read_text()
    assert "// mine" in written
    assert '"bypassPermissions": true' in written
    await desk.prompt(thread, "run touch second.txt")
    assert sorted(os.listdir(desk.workspace)) == [".vscode", "first.txt", "second.txt"]
    assert phases(desk.rows(), "second.txt")[0] == "decided allow bypass"
    assert len(desk.peer.seen("tool/approvalRequest")) == 1
    await desk.peer.wait_for("agent/status", lambda agent: agent["bypass"])
    settings.write_text(written.replace("true", "false"))
    await desk.peer.wait_for("agent/status", lambda agent: not agent["bypass"])
    turn = desk.prompt(thread, "run touch third.txt")
    await desk.answer(await desk.card("third.txt"), "reject_once")
    await turn
    assert not (desk.workspace / "third.txt").exists()


async def test_an_agent_that_writes_its_own_bypass_asks_even_under_bypass(desk: Desk):
    thread = await desk.thread()
    turn = desk.prompt(thread, "run touch first.txt")
    await desk.answer(await desk.card(), bypassAll=True)
    await turn
    turn = desk.prompt(thread, 'create .vscode/settings.json saying {"countersign.mode": "auto"}')
    card = await desk.card("settings.json")
    assert card["effects"][0]["evidence"]["source"] == "floor"
    assert {option["scope"] for option in card["options"] if option["kind"].startswith("allow")} == {"call"}
    await desk.answer(card, "reject_once")
    await turn


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("thread/open", {"threadId": "none"}, "unknownThread"),
        ("thread/prompt", {"threadId": "none", "text": "hi"}, "unknownThread"),
        ("thread/create", {"agentName": "Nobody"}, "unknownAgent"),
        ("shell/output", {"shellId": "none", "from": 0}, "unknownShell"),
        ("history/undo", {"receiptId": "none"}, "unknownReceipt"),
        ("rule/remove", {"ruleId": "none"}, "unknownRule"),
        (
            "tool/approvalResponse",
            {"approvalId": "none", "response": {"outcome": {"outcome": "cancelled"}}, "bypassAll": False},
            "unknownApproval",
        ),
    ],
)
async def test_unknown_names_are_clear_errors(desk: Desk, method, params, kind):
    with pytest.raises(RpcError) as told:
        await desk.peer.request(method, params)
    assert (told.value.code, told.value.kind) == (-32803, kind)


async def test_a_change_is_taken_back_while_the_file_is_as_it_was_left(desk: Desk):
    (desk.workspace / "a.py").write_text("x = 1\n")
    thread = await desk.thread()
    turn = desk.prompt(thread, "edit a.py: replace 1 with 2")
    await desk.answer(await desk.card())
    await turn
    assert (desk.workspace / "a.py").read_text() == "x = 2\n"
    receipt = next(row["receiptId"] for row in desk.rows())
    await desk.peer.request("history/undo", {"receiptId": receipt})
    assert (desk.workspace / "a.py").read_text() == "x = 1\n"
    with pytest.raises(RpcError) as told:
        await desk.peer.request("history/undo", {"receiptId": receipt})
    assert told.value.kind == "conflict"
