"""The rules of a real server: what they did, what is proposed from history, and how a person takes a proposal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.stdio.desk import Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path / "work", tmp_path / "storage") as opened:
        yield opened


async def ask(desk: Desk, command: str, option: str | None = "allow_once") -> None:
    """One turn that runs a command, with a person's answer to its card."""
    turn = desk.prompt(await desk.thread(), f"run {command}")
    await desk.answer(await desk.card(command), option)
    await turn


async def test_what_is_approved_again_and_again_is_proposed_and_once_taken_asks_no_more(desk: Desk) -> None:
    for number in range(3):
        await ask(desk, f"touch made{number}")
    found = await desk.peer.request("rule/proposals", {})
    assert [(one["rule"], one["spared"], one["scopes"]) for one in found["proposals"]] == [
        ("Bash(touch:*)", 3, ["workspace", "user"])
    ]
    assert found["proposals"][0]["examples"] == ["touch made2", "touch made1", "touch made0"]
    assert (found["looked"], found["unjudged"]) == (3, 0)
    assert (await desk.peer.request("rule/list", {}))["rules"] == []  # nothing is applied by itself

    await desk.peer.request("rule/add", {"list": "allow", "rule": "Bash(touch:*)", "scope": "workspace"})
    await desk.prompt(await desk.thread(), "run touch made3")
    listed = await desk.peer.request("rule/list", {})
    assert [(rule["rule"], rule["scope"], rule["hits"]) for rule in listed["rules"]] == [
        ("Bash(touch:*)", "workspace", 1)
    ]
    assert listed["calls"] == 4
    assert (await desk.peer.request("rule/proposals", {}))["proposals"] == []


async def test_what_a_person_edited_before_it_ran_is_no_reason_for_a_rule(desk: Desk) -> None:
    for number in range(3):
        turn = desk.prompt(await desk.thread(), f"run touch made{number}")
        edited = json.dumps({"command": f"touch other{number}"})
        await desk.answer(await desk.card(f"made{number}"), editedInput=edited)
        await turn
    assert (desk.workspace / "other2").exists()
    assert (await desk.peer.request("rule/proposals", {}))["proposals"] == []


async def test_history_says_what_an_answer_kept_so_that_it_can_be_taken_back(desk: Desk) -> None:
    """The client reads the note by this form, see `client-ts/src/kept.ts`."""
    await ask(desk, "touch made", "allow_always_workspace_1")
    history = await desk.peer.request("history/query", {"filter": {"by": "user", "phase": "decided"}})
    assert [entry["outcome"]["note"] for entry in history["entries"]] == ["kept Bash(touch made) (workspace)"]
    (rule,) = (await desk.peer.request("rule/list", {}))["rules"]
    assert (rule["list"], rule["rule"], rule["scope"]) == ("allow", "Bash(touch made)", "workspace")
    await desk.peer.request("rule/remove", {"ruleId": rule["ruleId"]})
    await ask(desk, "touch made")


async def test_a_rule_for_one_part_of_a_command_can_be_chosen_on_its_card(desk: Desk) -> None:
    await ask(desk, "touch made && mkdir other", "allow_always_workspace_2")
    (rule,) = (await desk.peer.request("rule/list", {}))["rules"]
    assert rule["rule"] == "Bash(touch:*)"
    assert (desk.workspace / "other").exists()
    await ask(desk, "touch made2 && mkdir other2")  # the other part still asks
    await desk.prompt(await desk.thread(), "run touch made3")


async def test_a_grant_for_the_chat_covers_the_files_of_its_card_and_asks_where_a_link_took_their_place(
    desk: Desk, tmp_path: Path
) -> None:
    (desk.workspace / ".env").write_text("A=1")
    (tmp_path / "other").write_text("B=2")
    thread = await desk.thread()
    turn = desk.prompt(thread, "run cat .env")
    await desk.answer(await desk.card("cat .env"), "allow_chat")
    await turn
    await desk.prompt(thread, "run cat .env")  # no card
    (desk.workspace / ".env").unlink()
    (desk.workspace / ".env").symlink_to(tmp_path / "other")
    turn = desk.prompt(thread, "run cat .env")
    await desk.answer(await desk.card("cat .env"), "reject_once")
    await turn


async def test_what_a_person_denied_is_never_proposed(desk: Desk) -> None:
    for number in range(3):
        await ask(desk, f"touch made{number}")
    await ask(desk, "touch other", "reject_once")
    assert (await desk.peer.request("rule/proposals", {}))["proposals"] == []


async def test_an_untrusted_workspace_is_proposed_rules_for_everywhere_only(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", trusted=False) as desk:
        for number in range(3):
            await ask(desk, f"touch made{number}")
        (one,) = (await desk.peer.request("rule/proposals", {}))["proposals"]
        assert one["scopes"] == ["user"]


async def test_permissions_of_another_program_are_proposed_and_nothing_is_saved(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "default.rules"
    file.write_text('prefix_rule(pattern=["ls"])\nprefix_rule(pattern=["rm"], decision="forbidden")\n')
    before = await desk.peer.request("rule/list", {})
    found = await desk.peer.request("rule/import", {"file": str(file)})
    assert [(one["list"], one["rule"], one["scopes"]) for one in found["rules"]] == [
        ("deny", "Bash(rm:*)", ["workspace", "user"]),
        ("allow", "Bash(ls:*)", ["workspace"]),
    ]
    assert (await desk.peer.request("rule/list", {}))["rules"] == before["rules"]
