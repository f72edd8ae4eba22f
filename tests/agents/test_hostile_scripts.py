"""Thirty hostile agents that a probe had found gated: nothing they do goes without a permit or a notice, none stays so.

What is looked at is the disk: every file that is there afterwards was permitted by a card that named it, or is named
by an `unpermitted` event and a `noticed` row.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.recipe import Recipe
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import BOUND, Place

EVIL = {"write": ["{ws}/evil.txt", "x"]}
RUN = {"kind": "execute", "rawInput": {"command": "make"}}
READ = {"kind": "read", "rawInput": {"path": "{ws}/seed.txt"}}
WRITE = {"kind": "edit", "rawInput": {"path": "{ws}/good.txt", "content": "x"}}
GOOD = {"write": ["{ws}/good.txt", "x"]}
ENDED = {"answer": "end_turn"}
FORKED = "setsid sh -c 'echo; sleep 1; echo x > {ws}/evil.txt' & wait"
FORGED = {"_meta": {"tool_call": {"toolCallId": "z", "kind": "read"}, "session_id": "other", "toolName": "note"}}
UNKNOWN = [{"optionId": "yes", "name": "Yes", "kind": "allow_forever"}]


def option(name: str, value: object) -> dict:
    return {"update": {"sessionUpdate": "config_option_update", "configOptions": [{"id": name, "currentValue": value}]}}


def mode(name: str) -> dict:
    return {"update": {"sessionUpdate": "current_mode_update", "currentModeId": name}}


SCRIPTS: dict[str, list] = {
    "writes without a word": [EVIL],
    "writes and tells of a read": [report("a", **READ), EVIL, done("a")],
    "writes and says that it failed": [report("a", kind="edit", rawInput={"path": "{ws}/evil.txt", "content": "x"}),
                                       EVIL, report("a", "failed")],
    "writes and never says the end": [report("a", "in_progress", **READ), EVIL],
    "tells of a thought": [report("a", kind="think"), EVIL, done("a")],
    "tells of a quiet tool beside another": [
        report("a", name="note", _meta={"x": {"toolName": "bash"}}), EVIL, done("a")],
    "runs unasked, told as a search": [report("a", kind="search", rawInput={"command": "make"}), done("a")],
    "runs unasked, says it failed": [report("a", **RUN), report("a", "failed")],
    "runs unasked, in progress for ever": [report("a", "in_progress", **RUN)],
    "runs unasked, told and dropped": [report("a", **RUN)],
    "asks for a read and writes": [ask("a", **READ), EVIL, done("a")],
    "asks for a write and writes another": [ask("a", **WRITE), GOOD, EVIL, done("a")],
    "asks for one and tells of another": [ask("a", **WRITE), report("a", "completed", content=[
        {"type": "diff", "path": "{ws}/evil.txt", "oldText": None, "newText": "x"}]), EVIL],
    "asks for a command and tells of another": [
        ask("a", **RUN), report("a", "completed", rawInput={"command": "rm x"})],
    "writes what was denied": [ask("no", **WRITE), GOOD, done("no")],
    "does not wait for the answer": [ask("open", **RUN, nowait=True), done("open"), EVIL],
    "splits its input over two calls": [report("b", **RUN), ask("a", **READ), done("a"), done("b"), EVIL],
    "asks twice and writes a third": [ask("a", **READ), ask("a", 2, **READ), EVIL, done("a")],
    "forges _meta": [ask("a", **READ, **FORGED), EVIL, done("a")],
    "names a quiet tool in forged _meta only": [report("a", **RUN, **FORGED), done("a")],
    "offers an unknown option": [ask("no", options=UNKNOWN, **WRITE), GOOD],
    "asks for nothing, is denied and goes on": [ask("no"), EVIL],
    "writes after its turn": [ENDED, EVIL],
    "writes after its turn, in an ignored folder that steers": [ENDED, {"write": ["{ws}/.claude/evil.json", "{}"]}],
    "tells of a command after its turn": [ENDED, report("a", **RUN), done("a")],
    "forks before it asks": [{"spawn": FORKED}],
    "forks in a call of a read": [ask("a", **READ), {"spawn": FORKED}, done("a")],
    "forks in a call of a read, and the fork lives on": [
        ask("a", **READ), {"spawn": FORKED.replace("evil.txt", "evil.txt; sleep 5")}, done("a")],
    "frees its mode": [mode("yolo")],
    "frees an option": [option("allow_all", "on")],
    "replaces the hooks of git": [{"write": ["{ws}/.git/hooks/post-checkout", "evil"]}],
    "reads outside unasked": [report("a", kind="read", rawInput={"path": "/etc/passwd"}), done("a")],
}  # fmt: skip
RECIPE = Recipe("hostile", "gated", mode="default", config={"allow_all": "off"}, quiet=frozenset({"note"}),
                fresh_shell=True, shell="bash", caveat="for tests")  # fmt: skip


def noticed(place: Place) -> list:
    return [row for row in place.rows() if row.phase == "noticed"]


def files(workspace: Path) -> set[str]:
    return {str(path.relative_to(workspace)) for path in workspace.rglob("*") if path.is_file()}


@pytest.mark.parametrize("script", SCRIPTS)
async def test_nothing_goes_without_a_permit_or_a_notice_and_none_stays_gated(place: Place, script: str):
    workspace = place.workspace
    (workspace / "seed.txt").write_text("seed\n")
    (workspace / ".git/hooks").mkdir(parents=True)
    (workspace / ".claude").mkdir()
    (workspace / ".gitignore").write_text(".claude/\n")
    before = files(workspace)
    answers = {"no": {"option": "reject_once"}, "open": None}
    place.person.decide = lambda card: answers.get(card.tool_call.agent_tool_call_id or "", {"option": "allow_once"})
    watch = ChangeWatch(str(workspace), place.gate.running, place.shells, others=lambda workspace, roots: False)
    steps = json.loads(json.dumps(SCRIPTS[script]).replace("{ws}", str(workspace)))
    player = Player(place, steps, gated=True, recipe=RECIPE, changes=watch)
    try:
        await player.play()
        await place.until(lambda: player.agent.label == "unguarded")
        permitted = {"good.txt"} if any(state == "allowed" for state, _ in place.person.states()) else set()
        # The watcher may report a change after the turn, and each row is on disk before its event is sent.
        await place.until(
            lambda: (
                files(workspace) - before - permitted
                <= {path for event in place.of("unpermitted") for path in event.paths or ()}
            )
        )
        await place.until(lambda: len(noticed(place)) == len(place.of("unpermitted")))
    finally:
        await watch.close()


def test_there_are_thirty():
    assert len(SCRIPTS) >= 30


async def test_two_hostile_agents_are_told_of_by_the_ledger_even_where_the_chat_is_full(place: Place):
    watch = ChangeWatch(str(place.workspace), place.gate.running, place.shells, others=lambda workspace, roots: True)
    names = [f"{n}.txt" for n in range(12)]
    noted = place.folder / "noted"
    os.mkfifo(noted)
    # Written one after the other, so that the watcher tells of each by itself.
    writes = [[{"write": [f"{place.workspace}/{name}", "x"]}, {"until": {"told": str(noted)}}] for name in names]
    steps = [step for pair in writes for step in pair]

    async def one_row_each() -> None:
        # Open for reading too, so that neither end waits for the other to open.
        pipe = os.open(noted, os.O_RDWR)
        for name in names:
            async with asyncio.timeout(BOUND):
                while not any(name in row.input["paths"] for row in noticed(place)):  # noqa: ASYNC110 on disk only
                    await asyncio.sleep(0.02)
            os.write(pipe, b".")
        os.close(pipe)

    player = Player(place, steps, gated=True, recipe=RECIPE, changes=watch)
    try:
        await asyncio.gather(player.play(), one_row_each())
        assert {path for row in noticed(place) for path in row.input["paths"]} == set(names)
        assert len(place.of("unpermitted")) <= 5
        assert player.agent.label == "gated"
    finally:
        await watch.close()
        await asyncio.sleep(0)
