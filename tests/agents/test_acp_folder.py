"""An agent with a folder of its own (`agents.NAME.cwd`): started there, read from there, and trusted with no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from countersign.agents.acp.identity import identify
from countersign.agents.acp.recipe import STRANGER
from countersign.wire.errors import AgentExit

from .desk import Place
from .scripted_agent_fixture import PROBED, Player, ask, done, report

FOLDERS = {
    None: "{ws}",
    "packages/one": "{ws}/packages/one",
    "./packages/../packages/one": "{ws}/packages/one",
    "{out}": "{out}",
    "~": "{home}",
}


def made(place: Place, text: str | None) -> str | None:
    """The text with this place's folders, all of which exist."""
    known = {"ws": place.workspace, "out": place.folder / "out", "home": Path.home()}
    (place.workspace / "packages/one").mkdir(parents=True, exist_ok=True)
    (place.folder / "out").mkdir(exist_ok=True)
    return None if text is None else text.format(**known)


@pytest.mark.parametrize("cwd", FOLDERS, ids=str)
async def test_it_is_started_there_and_its_session_opened_there(place: Place, cwd: str | None):
    player = Player(place, [], cwd=made(place, cwd))
    await player.play()
    expected = made(place, FOLDERS[cwd])
    told = player.told()
    (started,) = [row["started"] for row in told if "started" in row]
    assert (started["cwd"], started["env"]["PWD"]) == (expected, expected)
    assert [row["params"]["cwd"] for row in told if row.get("method") == "session/new"] == [expected]


@pytest.mark.parametrize("cwd", ["absent", "file.txt"])
async def test_a_folder_that_is_not_there_is_named(place: Place, cwd: str):
    (place.workspace / "file.txt").write_text("x")
    player = Player(place, [], cwd=cwd)
    with pytest.raises(AgentExit, match=r"`cwd`") as caught:
        await player.play()
    assert str(place.workspace / cwd) in str(caught.value)


async def test_relative_paths_and_commands_start_there(place: Place):
    made(place, "")
    one = place.workspace / "packages/one"
    (one / "a.txt").write_text("of one")
    (place.workspace / "a.txt").write_text("of the workspace")
    player = Player(
        place,
        [
            ask("edit", 1, kind="edit", rawInput={"path": "a.txt", "content": "new"}),
            ask("run", 2, kind="execute", rawInput={"command": "make it"}),
            {"ask": "terminal/create", "id": 3, "params": {"command": "make", "args": ["it"]}},
            {"ask": "fs/read_text_file", "id": 4, "params": {"path": "a.txt"}},
        ],
        cwd="packages/one",
    )
    place.person.decide = lambda card: {"option": "allow_once" if card.tool_call.kind == "read" else "reject_once"}
    await player.play(mode="ask")
    edit, *runs = [card for card in place.person.shown if card.tool_call.kind != "read"]
    assert (edit.preview.path, edit.preview.old_text) == (str(one / "a.txt"), "of one")
    assert [run.preview.cwd for run in runs] == [str(one)] * 2
    assert player.answer(4) == {"content": "of one"}


async def test_reads_in_its_folder_outside_the_workspace_are_no_reads_inside(place: Place):
    out = made(place, "{out}")
    call = {"kind": "read", "rawInput": {"path": f"{out}/secret.txt"}}
    player = Player(place, [report("a", title="Read", **call), done("a")], gated=True, cwd=out)
    await player.play()
    assert len(place.of("unpermitted")) == 1
    assert player.agent.label == "unguarded"


@pytest.mark.parametrize("where", ["{ws}", "{out}"])
async def test_files_that_silence_it_count_in_its_folder_and_in_the_workspace(place: Place, where: str):
    (Path(str(made(place, where))) / ".silencer").write_text("x")
    player = Player(place, [], recipe=replace(PROBED, hostile=(".silencer",)), gated=True, cwd=made(place, "{out}"))
    await player.play()
    assert player.agent.label == "unguarded"
    assert "`.silencer`" in player.agent.detail


def test_a_program_in_its_folder_has_no_digest_and_is_found_from_there(tmp_path: Path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "out/bin").mkdir(parents=True)
    (tmp_path / "out/bin/agent").write_text("x")
    (tmp_path / "out/bin/agent").chmod(0o755)
    found = identify(STRANGER, ["bin/agent"], {}, str(tmp_path / "ws"), str(tmp_path / "out"))
    assert found is not None
    assert (found.program, found.digest) == (str(tmp_path / "out/bin/agent"), None)
    assert identify(STRANGER, ["bin/agent"], {}, str(tmp_path / "ws")) is None
