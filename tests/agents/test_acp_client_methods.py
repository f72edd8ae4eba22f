"""What a hosted agent does through us: files and terminals, gated whether or not it asked before."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from countersign.agents.acp.recipe import STRANGER
from countersign.gate.decisions.decide import decide
from countersign.gate.shell.printing.print_tree import reprint
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.policy import RuleText
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import Place

APPROVE = {"option": "allow_once"}
DENY = {"option": "reject_once"}


def write(path: Path, content: str, request_id: object = "w") -> dict:
    return {"ask": "fs/write_text_file", "id": request_id, "params": {"path": str(path), "content": content}}


def read(path: Path, request_id: object = "r", **more) -> dict:
    return {"ask": "fs/read_text_file", "id": request_id, "params": {"path": str(path), **more}}


def editing(path: Path, content: str) -> dict:
    return {"kind": "edit", "title": "Write", "rawInput": {"file_path": str(path), "content": content}}


def run(command: str, request_id: object = "t", **more) -> dict:
    return {"ask": "terminal/create", "id": request_id, "params": {"command": command, **more}}


async def test_a_write_without_leave_asks_and_happens_after_the_approval(place: Place):
    path = place.workspace / "a.txt"
    player = Player(place, [write(path, "new\n")])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    assert (card.tool_call.tool, card.preview.kind, card.preview.new_text) == ("acp:edit", "diff", "new\n")
    assert not path.exists()
    await place.person.answer(card)
    await playing
    assert (path.read_text(), player.answer("w")) == ("new\n", {})


async def test_a_refused_write_changes_nothing_and_says_denied(place: Place):
    before = place.digest()
    place.person.decide = lambda card: {**DENY, "reason": "not there"}
    player = Player(place, [write(place.workspace / "a.txt", "new\n")])
    await player.play()
    assert player.answer("w") == {"code": -32000, "message": "denied: not there", "data": None}
    assert place.digest() == before


async def test_an_approved_request_covers_one_write_of_the_same_bytes(place: Place):
    path = place.workspace / "a.txt"
    place.person.decide = lambda card: APPROVE
    player = Player(place, [ask("a", **editing(path, "new\n")), write(path, "new\n"), done("a")])
    await player.play()
    assert (path.read_text(), len(place.person.shown)) == ("new\n", 1)
    assert place.rows()[-1].outcome["operation"] == "create"
    assert [event.diff.added for event in place.of("toolResult")] == [1]


@pytest.mark.parametrize(
    "steps",
    [
        lambda a, b: [ask("a", **editing(a, "new\n")), write(a, "other\n"), done("a")],
        lambda a, b: [ask("a", **editing(a, "new\n")), write(b, "new\n"), done("a")],
        lambda a, b: [ask("a", **editing(a, "new\n")), done("a"), write(a, "new\n")],
        lambda a, b: [ask("a", **editing(a, "new\n")), {"write": [str(a), "x"]}, write(a, "new\n"), done("a")],
        lambda a, b: [ask("a", kind="edit", title="Edit files", locations=[{"path": str(a)}]), write(a, "new\n")],
        lambda a, b: [ask("a", kind="execute", rawInput={"command": "make"}), write(a, "new\n"), done("a")],
    ],
    ids=["other bytes", "another file", "after the end", "file changed since", "nothing known", "a command"],
)
async def test_an_approval_covers_no_other_write(place: Place, steps):
    place.person.decide = lambda card: APPROVE
    player = Player(place, steps(place.workspace / "a.txt", place.workspace / "b.txt"))
    await player.play()
    assert len(place.person.shown) == 2


async def test_a_second_write_on_one_approval_asks_even_where_everything_is_as_before(place: Place):
    path = place.workspace / "a.txt"
    path.write_text("old\n")
    place.person.decide = lambda card: APPROVE if card.tool_call.agent_tool_call_id else DENY
    back = {"write": [str(path), "old\n"]}
    player = Player(place, [ask("a", **editing(path, "new\n")), write(path, "new\n"), back, write(path, "new\n", 3)])
    await player.play()
    assert player.answer("w") == {}
    assert player.answer(3)["code"] == -32000
    assert path.read_text() == "old\n"


async def test_a_write_through_a_link_that_leads_outside_asks_under_an_allow_rule(place: Place):
    outside = place.folder / "outside"
    outside.mkdir()
    (place.workspace / "link").symlink_to(outside)
    place.change(rules=(RuleText("allow", "Edit(**)"),))
    place.person.decide = lambda card: DENY
    player = Player(place, [write(place.workspace / "link" / "a.txt", "new\n")])
    await player.play()
    assert player.answer("w")["code"] == -32000
    assert list(outside.iterdir()) == []


async def test_reading_inside_is_free_and_outside_asks(place: Place):
    inside, outside = place.workspace / "a.txt", place.folder / "b.txt"
    inside.write_text("one\ntwo\nthree\n")
    outside.write_text("secret\n")
    place.person.decide = lambda card: DENY
    player = Player(place, [read(inside), read(inside, 2, line=2, limit=1), read(outside, 3)])
    await player.play()
    assert player.answer("r") == {"content": "one\ntwo\nthree\n"}
    assert player.answer(2) == {"content": "two\n"}
    assert player.answer(3)["code"] == -32000
    assert len(place.person.shown) == 1


async def test_a_secret_inside_asks(place: Place):
    (place.workspace / ".env").write_text("KEY=1\n")
    place.person.decide = lambda card: DENY
    player = Player(place, [read(place.workspace / ".env")])
    await player.play()
    assert player.answer("r")["code"] == -32000


@pytest.mark.parametrize(
    ("recipe", "answer"),
    [(None, {"code": -32002}), ("gemini", {"content": ""})],
    ids=["error", "empty where the recipe says so"],
)
async def test_a_missing_file_is_an_error_or_empty(place: Place, recipe, answer):
    given = replace(STRANGER, missing_reads_empty=True) if recipe else None
    player = Player(place, [read(place.workspace / "none.txt")], recipe=given)
    await player.play()
    assert answer.items() <= player.answer("r").items()


@pytest.mark.parametrize(
    "params",
    [{"path": 7}, {"path": "a\0b"}, {}, {"path": "a", "line": "one"}, {"path": "a", "line": -1}],
    ids=str,
)
async def test_a_malformed_file_request_is_invalid(place: Place, params):
    player = Player(place, [{"ask": "fs/read_text_file", "id": 1, "params": params}])
    await player.play()
    assert player.answer(1)["code"] == -32602


async def test_a_terminal_asks_runs_and_tells_its_output_and_end(place: Place):
    player = Player(
        place,
        [run("printf hello; exit 3"), {"ask": "terminal/wait_for_exit", "id": 2, "params": {"terminalId": "shell-1"}},
         {"ask": "terminal/output", "id": 3, "params": {"terminalId": "shell-1"}},
         {"ask": "terminal/release", "id": 4, "params": {"terminalId": "shell-1"}},
         {"ask": "terminal/output", "id": 5, "params": {"terminalId": "shell-1"}}],
    )  # fmt: skip
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    assert (card.preview.command, card.preview.cwd) == ("printf hello; exit 3", str(place.workspace))
    await place.person.answer(card)
    await playing
    assert player.answer("t") == {"terminalId": "shell-1"}
    assert player.answer(2) == {"exitCode": 3, "signal": None}
    assert player.answer(3) == {"output": "hello", "truncated": False, "exitStatus": {"exitCode": 3, "signal": None}}
    assert player.answer(4) == {}
    assert player.answer(5)["code"] == -32602
    assert [event.text for event in place.of("toolOutput")] == ["hello"]


async def test_a_refused_terminal_starts_nothing(place: Place):
    place.person.decide = lambda card: DENY
    player = Player(place, [run("touch made.txt")])
    await player.play()
    assert player.answer("t")["code"] == -32000
    assert place.shells.list() == []
    assert not (place.workspace / "made.txt").exists()


@pytest.mark.parametrize(
    ("params", "cards"),
    [
        ({}, 1),
        ({"cwd": "{ws}"}, 1),
        ({"cwd": "{ws}/sub"}, 2),
        ({"args": ["x"]}, 2),
        ({"env": [{"name": "A", "value": "b"}]}, 2),
    ],
    ids=["same", "same folder", "another folder", "other words", "variables"],
)
async def test_an_approved_command_covers_one_terminal_with_the_same_line(place: Place, params, cards):
    (place.workspace / "sub").mkdir()
    place.person.decide = lambda card: APPROVE
    given = {
        key: value.format(ws=place.workspace) if isinstance(value, str) else value for key, value in params.items()
    }
    steps = [ask("a", kind="execute", rawInput={"command": "touch x"}), run("touch x", **given),
             {"ask": "terminal/wait_for_exit", "id": 9, "params": {"terminalId": "shell-1"}}, done("a")]  # fmt: skip
    await Player(place, steps).play()
    assert len(place.person.shown) == cards


async def test_variables_of_a_terminal_stand_on_its_card_and_reach_the_command(place: Place):
    player = Player(
        place,
        [run("echo $WORD", env=[{"name": "WORD", "value": "a b"}]),
         {"ask": "terminal/wait_for_exit", "id": 2, "params": {"terminalId": "shell-1"}},
         {"ask": "terminal/output", "id": 3, "params": {"terminalId": "shell-1"}}],
    )  # fmt: skip
    place.person.decide = lambda card: APPROVE
    await player.play()
    assert "WORD=a b" in place.person.shown[0].preview.command
    assert player.answer(3)["output"] == "a b\n"


SHOWS_ITSELF = "./show   'a' ; true # the text of the shell that runs this"


async def _output_of(place: Place, text: str, **more) -> str:
    """Run a text whose program prints the last argument of the process that started it, and return the output."""
    place.gate._decider._decide = partial(decide, check_syntax=BashSyntax())  # as the server does
    show = place.workspace / "show"
    show.write_text("#!/bin/sh\ntr '\\0' '\\n' < /proc/$PPID/cmdline | sed '1,/^--$/d'\n")
    show.chmod(0o755)
    wait = {"ask": "terminal/wait_for_exit", "id": 2, "params": {"terminalId": "shell-1"}}
    output = {"ask": "terminal/output", "id": 3, "params": {"terminalId": "shell-1"}}
    player = Player(place, [run(text, **more), wait, output])
    await player.play()
    return player.answer(3)["output"].removesuffix("\n")


async def test_a_terminal_that_nobody_was_asked_about_runs_the_printed_text(place: Place):
    place.change(rules=(RuleText("allow", "Bash(./show:*)"),))
    printed = reprint(SHOWS_ITSELF)
    assert isinstance(printed, str)
    assert printed != SHOWS_ITSELF
    place.person.decide = lambda card: DENY
    assert (await _output_of(place, SHOWS_ITSELF), place.person.shown) == (printed, [])
    assert json.dumps(SHOWS_ITSELF) in place.rows()[-1].model_dump_json()


async def test_a_terminal_that_a_person_approved_runs_the_bytes_that_were_shown(place: Place):
    place.person.decide = lambda card: APPROVE
    assert await _output_of(place, SHOWS_ITSELF) == SHOWS_ITSELF
    assert [card.preview.command for card in place.person.shown] == [SHOWS_ITSELF]


async def test_a_terminal_whose_text_cannot_be_printed_anew_asks(place: Place):
    place.person.decide = lambda card: DENY
    player = Player(place, [run("echo $((x = 1))")])
    place.change(rules=(RuleText("allow", "Bash(echo:*)"),))
    await player.play()
    assert (player.answer("t")["code"], len(place.person.shown)) == (-32000, 1)


@pytest.mark.parametrize(
    ("shell", "named", "cards"),
    [
        ("bash", "/bin/zsh", 0),
        ("variable", "/bin/bash", 0),
        ("variable", "/bin/zsh", 1),
        ("variable", "/usr/bin/fish", 1),
    ],
)
async def test_a_command_that_the_agent_runs_itself_needs_no_leave_only_in_bash(place: Place, shell, named, cards):
    place.person.decide = lambda card: DENY
    steps = [ask("a", kind="execute", rawInput={"command": "echo x"}), done("a")]
    player = Player(place, steps, recipe=replace(STRANGER, shell=shell))
    player.agent.config = replace(player.agent.config, env={**player.agent.config.env, "SHELL": named})
    await player.play()
    assert len(place.person.shown) == cards


async def test_a_terminal_that_still_runs_ends_with_the_turn(place: Place):
    place.person.decide = lambda card: APPROVE
    player = Player(place, [run("exec sleep 600")])
    await player.play()
    assert [shell.state for shell in place.shells.list()] == ["killed"]
    (result,) = place.of("toolResult")
    assert not result.success


async def test_stopping_a_turn_denies_an_open_write(place: Place):
    opened = {**write(place.workspace / "a.txt", "x"), "nowait": True}
    player = Player(place, [opened, {"until": "cancel"}, {"await": "w"}, {"stop": "cancelled"}])
    playing = asyncio.ensure_future(player.play())
    await place.person.card()
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    assert player.answer("w")["message"] == "denied: the turn was stopped"
    assert list(place.workspace.iterdir()) == []


async def test_an_agent_that_writes_through_us_did_not_act_unasked(place: Place):
    path = place.workspace / "a.txt"
    place.person.decide = lambda card: APPROVE
    told = {"kind": "edit", "title": "Write", "content": [{"type": "diff", "path": str(path), "newText": "new\n"}]}
    player = Player(place, [report("a", **told), write(path, "new\n"), done("a")])
    await player.play()
    assert place.of("notice") == []


async def test_the_agent_gets_the_filtered_environment_and_its_own(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_API_KEY", "hidden")
    monkeypatch.setenv("NODE_OPTIONS", "--require=evil")
    monkeypatch.setenv("GIVEN", "from outside")
    player = Player(place, [])
    # The settings fill variables in, once.
    player.agent.config = replace(player.agent.config, env={"OWN": "${env:GIVEN}!", "TOKEN_OF_MINE": "x"})
    await player.play()
    started = player.told()[0]["started"]
    assert started["cwd"] == str(place.workspace)
    assert (started["env"]["OWN"], started["env"]["TOKEN_OF_MINE"]) == ("${env:GIVEN}!", "x")
    assert not {"SOME_API_KEY", "NODE_OPTIONS"} & started["env"].keys()
    assert os.path.basename(started["env"]["SHELL"]) == "bash"
