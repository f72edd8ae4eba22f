"""A hosted agent in the sandbox takes up the sessions that it had in it, from folders that nobody else uses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from countersign.agents.acp.confinement import blocking_additions
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.recipes import Launch
from countersign.agents.acp.session_store import LOST
from countersign.settings.policy import Policy, RuleText
from tests.tools.sandbox.support import needs_sandbox

from .scripted_agent_fixture import Player
from .stored_chat import Chat
from .test_acp_sandbox import RECIPE, SECRET, Stage, says, stage

__all__ = ["stage"]  # the fixture

KEEPS = replace(RECIPE, sessions=("{home}/.agent/sessions", "{gate}/state"))


@pytest.fixture
async def chat(stage: Stage) -> AsyncIterator[Chat]:
    made = Chat(stage.place)
    (stage.home / ".agent/sessions").mkdir(parents=True)
    (stage.home / ".agent/sessions/own.json").write_text(SECRET)
    try:
        yield made
    finally:
        await made.watch.close()


async def start(chat: Chat, stage: Stage, recipe: Recipe = KEEPS, memory: str = "sessions") -> Player:
    shelf = stage.place.workspace / "shelf"
    shelf.mkdir(exist_ok=True)
    options = {"confiner": stage.confiner, "recipe": recipe, "env": {"HOME": str(stage.home)}, "shelf": shelf}
    return await chat.start(gated=False, memory=f"~/.agent/{memory}/memory.json", **options)


def notices(events: list) -> list[str]:
    return [event.message for event in events if event.type == "notice"]


@needs_sandbox
async def test_it_remembers_a_chat_after_it_was_started_again(chat: Chat, stage: Stage):
    assert notices(await chat.say(await start(chat, stage), "remember the blue door")) == []
    again = await start(chat, stage)
    assert chat.memory(again) == "kept"
    assert notices(await chat.say(again, "which door?")) == []
    assert again.agent.label == "sandboxed"
    assert [row["params"]["sessionId"] for row in again.told() if row.get("method") == "session/load"] == ["session-1"]
    own = {str(path.relative_to(stage.home)): path.read_text() for path in (stage.home / ".agent").rglob("*.json")}
    assert own == {".agent/sessions/own.json": SECRET}, "the person's own is as it was"


@needs_sandbox
async def test_it_forgets_what_lies_in_no_folder_of_its_sessions(chat: Chat, stage: Stage):
    await chat.say(await start(chat, stage, memory="other"), "remember the blue door")
    assert notices(await chat.say(await start(chat, stage, memory="other"), "which door?")) == [LOST]


@needs_sandbox
async def test_it_sees_nothing_of_the_persons_own_sessions(stage: Stage, chat: Chat):
    player = stage.player(
        [says("ls -A ~/.agent/sessions > seen; cat ~/.agent/sessions/own.json >> seen")], recipe=KEEPS
    )
    await player.play()
    assert (stage.place.workspace / "seen").read_text() == ""


def sessions(folder: Path, policy: Policy, name: str = "agent-a") -> list[tuple[str, str]]:
    launch = Launch(("/usr/bin/env",), {}, str(folder / "gate" / name))
    found = blocking_additions(KEEPS, launch, {"HOME": policy.home}, policy.workspace, policy)
    return [(mount.source, mount.place) for mount in found.mounts if mount.writable]


def test_each_agent_and_each_workspace_has_folders_of_its_own(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    here = Policy(str(tmp_path / "here"), str(home))
    first = sessions(tmp_path, here)
    assert [place for _, place in first] == [f"{home}/.agent/sessions", f"{tmp_path}/gate/agent-a/state"]
    others = [sessions(tmp_path, replace(here, workspace=str(tmp_path / "there"))), sessions(tmp_path, here, "agent-b")]
    sources = [source for found in (first, *others) for source, _ in found]
    assert len(set(sources)) == 6
    assert sessions(tmp_path, here) == first
    assert all(Path(source).stat().st_mode & 0o777 == 0o700 for source in sources)
    assert list(home.iterdir()) == [], "nothing is made in the person's home"


@pytest.mark.parametrize("below", [".", "work"])
def test_no_folder_is_shown_where_the_home_is_the_persons_own(tmp_path: Path, below: str):
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    workspace = tmp_path if below == "." else home
    assert sessions(tmp_path / "storage", Policy(str(workspace.resolve()), str(home.resolve()))) == []


@needs_sandbox
async def test_a_rule_for_reading_closes_them_as_it_does_the_persons_own(chat: Chat, stage: Stage):
    denied = RuleText("deny", "Read(~/.agent/**)")
    stage.place.change(rules=(*stage.place.policy.rules, denied))
    await chat.say(await start(chat, stage), "remember the blue door")
    assert notices(await chat.say(await start(chat, stage), "which door?")) == [LOST]
