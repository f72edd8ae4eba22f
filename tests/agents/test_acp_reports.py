"""What an agent reports becomes events of the chat, and what it did unasked is said."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.identity import Identity
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.translate import (
    BadMessage,
    ChatNews,
    ModeNews,
    ToolNews,
    ToolReport,
    read_stop,
    read_update,
)
from countersign.wire.threads import TextEvent, ThinkingEvent, TodoEvent, TodoItem, UsageEvent
from tests.agents.scripted_agent_fixture import PROBED, Player, ask, done, report

from .desk import Place


def chunk(kind: str, content: object) -> dict:
    return {"sessionUpdate": kind, "content": content}


UPDATES = [
    (chunk("agent_message_chunk", {"type": "text", "text": "hi"}), ChatNews((TextEvent(text="hi"),))),
    (chunk("agent_thought_chunk", {"type": "text", "text": "hm"}), ChatNews((ThinkingEvent(text="hm"),))),
    (chunk("agent_message_chunk", {"type": "image", "data": "x"}), ChatNews((TextEvent(text="[image]"),))),
    (chunk("agent_message_chunk", {"type": "resource_link", "uri": "u"}), ChatNews((TextEvent(text="[u]"),))),
    (chunk("agent_message_chunk", {"type": "text", "text": ""}), ChatNews()),
    (chunk("agent_message_chunk", {"type": "hologram"}), ChatNews()),
    (chunk("user_message_chunk", {"type": "text", "text": "mine"}), ChatNews()),
    (
        {"sessionUpdate": "plan", "entries": [{"content": "a", "status": "in_progress", "priority": "low"},
                                              {"content": "b", "status": "dreamt"}, "c"]},
        ChatNews((TodoEvent(items=[TodoItem(text="a", status="in_progress"), TodoItem(text="b", status="pending")]),)),
    ),
    ({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}, ModeNews("yolo")),
    ({"sessionUpdate": "usage_update", "used": 3}, ChatNews()),
    ({"sessionUpdate": "of_next_year"}, ChatNews()),
    ({}, ChatNews()),
    ("no object", ChatNews()),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "news"), UPDATES, ids=str)
def test_an_update_is_translated(raw, news):
    assert read_update(raw) == news


@pytest.mark.parametrize(
    "raw", [{"sessionUpdate": "tool_call"}, {"sessionUpdate": "tool_call_update", "toolCallId": 3}]
)
def test_a_tool_call_without_an_id_is_no_message(raw):
    with pytest.raises(BadMessage):
        read_update(raw)


def test_a_tool_call_is_told_with_its_raw_fields():
    raw = {"sessionUpdate": "tool_call", "toolCallId": "a", "title": "x"}
    assert read_update(raw) == ToolNews("a", raw)


def test_unknown_kinds_and_states_are_kept_out_of_our_words():
    told = ToolReport("a").merged(
        {"kind": "levitate", "status": "exploded", "locations": [{"path": 3}, 4], "content": [5]}
    )
    assert (told.tool_kind, told.status, told.locations, told.diffs) == ("other", "pending", (), ())


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"stopReason": "end_turn"}, ("end_turn", ())),
        ({"stopReason": "max_tokens", "usage": {"inputTokens": 1, "outputTokens": 2}},
         ("max_tokens", (UsageEvent(input_tokens=1, output_tokens=2),))),
        ({"stopReason": "tired", "usage": {"inputTokens": "many"}}, ("error", ())),
        (None, ("error", ())),
    ],
    ids=str,
)  # fmt: skip
def test_the_end_of_a_prompt_is_translated(raw, expected):
    assert read_stop(raw) == expected


MODAL = Recipe("test", "gated", mode="default", stricter=frozenset({"plan"}))
UNASKED = [
    ("a write", {"kind": "edit", "rawInput": {"path": "a", "content": "x"}}, True),
    ("a command", {"kind": "execute", "rawInput": {"command": "ls"}}, True),
    ("a command that claims to read", {"kind": "read", "rawInput": {"command": "ls"}}, True),
    (
        "a write that claims to think",
        {"kind": "think", "content": [{"type": "diff", "path": "a", "newText": "x"}]},
        True,
    ),
    ("nobody knows what", {"kind": "other"}, True),
    ("no kind at all", {}, True),
    ("an address", {"kind": "fetch", "rawInput": {"url": "https://x.org"}}, True),
    ("a read", {"kind": "read", "rawInput": {"path": "a"}}, False),
    ("a read outside", {"kind": "read", "rawInput": {"path": "/etc/passwd"}}, True),
    ("a read of nobody knows what", {"kind": "read"}, True),
    ("a search for nobody knows what", {"kind": "search", "rawInput": {"thing": "x"}}, True),
    ("a thought that is told by its kind alone", {"kind": "think", "rawInput": {"thought": "hm"}}, True),
    ("a tool without an effect of its own", {"kind": "think", "name": "note", "rawInput": {"thought": "hm"}}, False),
    ("a tool that has another name as well", {"name": "note", "_meta": {"x": {"toolName": "sh"}}}, True),
]


@pytest.mark.parametrize(("call", "noticed"), [row[1:] for row in UNASKED], ids=[row[0] for row in UNASKED])
async def test_an_agent_that_acts_without_asking_is_told_of_and_loses_its_label(place: Place, call, noticed):
    recipe = replace(PROBED, quiet=frozenset({"note"}))
    player = Player(place, [report("a", title="It", **call), done("a")], recipe=recipe, gated=True)
    await player.play()
    assert [event.certain for event in place.of("unpermitted")] == ([True] if noticed else [])
    assert [row.phase for row in place.rows()] == (["noticed"] if noticed else [])
    assert player.agent.label == ("unguarded" if noticed else "gated")
    (shown,) = {event.tool_call_id for event in place.of("toolCall")}
    assert [(event.tool_call_id, event.decided_by) for event in place.of("toolResult")] == [(shown, "nobody")]


RUN = {"kind": "execute", "rawInput": {"command": "make"}}
WRITE = {"kind": "edit", "rawInput": {"path": "{ws}/a.txt", "content": "x"}}
SIGNS = {
    "failed": ([report("a", **RUN), report("a", "failed")], "unguarded"),
    "a write that failed and changed nothing": ([report("a", **WRITE), report("a", "failed")], "gated"),
    "a write that claims to have failed": (
        [report("a", **WRITE), {"write": ["{ws}/a.txt", "x"]}, report("a", "failed")], "unguarded"),
    "in progress, never ended": ([report("a", **RUN), report("a", "in_progress")], "unguarded"),
    "told, never ended": ([report("a", **RUN)], "unguarded"),
    "a read, never ended": ([report("a", kind="read", rawInput={"path": "a.txt"})], "gated"),
    "asked, refused, never ended": ([ask("a", **RUN)], "gated"),
    "another one dropped after a refusal": ([report("b", **RUN), ask("a", **RUN)], "gated"),
    "another one running after a refusal": ([report("b", "in_progress", **RUN), ask("a", **RUN)], "unguarded"),
    "in progress, then asked": ([report("a", **RUN), report("a", "in_progress"), ask("a"), done("a")], "gated"),
}  # fmt: skip


FAILED = report("a", "failed", kind="read", content=[{"type": "content", "content": {"type": "text", "text": "no"}}])
REFUSALS = {
    "of a measured agent that announces its calls": ([FAILED], {}, "gated"),
    "of one that does not": ([FAILED], {"announces_calls": False}, "unguarded"),
    "of one whose files were not measured": ([FAILED], {"measured": {"1": ("sha256:" + "0" * 64,)}}, "unguarded"),
    "of one that a file in the workspace silences": ([FAILED], {"hostile": ("seed.txt",)}, "unguarded"),
    "said again": ([FAILED, FAILED], {}, "gated"),
    "after the call was announced": ([report("a", kind="read"), FAILED], {}, "unguarded"),
    "after the call was in progress": ([report("a", "in_progress"), FAILED], {}, "unguarded"),
    "that names a command": ([report("a", "failed", rawInput={"command": "make"})], {}, "unguarded"),
    "that has a title": ([report("a", "failed", title="make")], {}, "unguarded"),
    "that names a tool": ([report("a", "failed", name="bash")], {}, "unguarded"),
    "that names a file": ([report("a", "failed", locations=[{"path": "{ws}/a.txt"}])], {}, "unguarded"),
    "that shows a terminal": (
        [report("a", "failed", content=[{"type": "terminal", "terminalId": "t"}])], {}, "unguarded"),
    "beside a change that nobody approved": ([{"write": ["{ws}/a.txt", "x"]}, FAILED], {}, "unguarded"),
    "that claims to have completed": ([report("a", "completed", kind="read")], {}, "unguarded"),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "changed", "label"), REFUSALS.values(), ids=REFUSALS)
async def test_a_failure_of_an_unannounced_call_is_no_fall_only_where_that_was_measured(
    place: Place, monkeypatch: pytest.MonkeyPatch, steps: list, changed: dict, label: str
):
    (place.workspace / "seed.txt").write_text("seed")
    scripted = Identity("/opt/scripted", "scripted", "1", "sha256:" + "1" * 64)
    monkeypatch.setattr("countersign.agents.acp.label_state.identify", lambda *arguments: scripted)
    base = replace(PROBED, packages=frozenset({"scripted"}), measured={"1": ("sha256:" + "1" * 64,)})
    recipe = replace(base, **({"announces_calls": True} | changed))
    steps = json.loads(json.dumps(steps).replace("{ws}", str(place.workspace)))
    watch = ChangeWatch(str(place.workspace), place.gate.running, place.shells, others=lambda workspace, roots: False)
    player = Player(place, steps, recipe=recipe, changes=watch)
    try:
        await player.play()
        await place.until(lambda: bool(place.of("unpermitted")))
        assert player.agent.label == label
        assert [row.phase for row in place.rows()] == ["noticed"] * len(place.of("unpermitted"))
        if label == "gated":
            assert [event.certain for event in place.of("unpermitted")] == [False]
    finally:
        await watch.close()


@pytest.mark.parametrize(("steps", "label"), SIGNS.values(), ids=SIGNS)
async def test_each_sign_of_a_call_without_a_request_counts(place: Place, steps: list, label: str):
    place.person.decide = lambda card: {"option": "reject_once"}
    steps = json.loads(json.dumps(steps).replace("{ws}", str(place.workspace)))
    player = Player(place, steps, gated=True)
    await player.play()
    assert player.agent.label == label
    assert len(place.of("unpermitted")) == (label == "unguarded")


async def test_a_long_call_is_told_of_before_it_ends_and_cleared_by_a_request(place: Place):
    steps = [report("a", **RUN), report("a", "in_progress"), {"until": "file"}, ask("a"), done("a")]
    place.person.decide = lambda card: {"option": "reject_once"}
    player = Player(place, steps, gated=True)
    playing = asyncio.ensure_future(player.play())
    await place.until(lambda: bool(place.of("unpermitted")))
    (event,) = place.of("unpermitted")
    assert (event.certain, player.agent.label) == (False, "unguarded")
    (place.folder / "scripted.go").touch()
    await playing
    assert player.agent.label == "gated"


async def test_the_events_of_a_turn_come_in_order_and_once(place: Place):
    place.person.decide = lambda card: {"option": "allow_once"}
    text = {"update": chunk("agent_message_chunk", {"type": "text", "text": "hi"})}
    call = {"kind": "execute", "title": "make", "rawInput": {"command": "make"}}
    player = Player(place, [text, report("a", **call), ask("a"), done("a", "made"), done("a", "again"), text])
    await player.play()
    kinds = [event.type for event in place.events]
    assert kinds[:5] == ["text", "toolCall", "toolCall", "toolCall", "toolCall"]
    assert sorted(kinds[5:]) == ["text", "toolResult", "usage"]
    assert [event.status for event in place.of("toolCall")] == ["pending", "pending", "waiting", "running"]
    assert len({event.tool_call_id for event in place.of("toolCall")}) == 1


async def test_a_freer_mode_is_put_back_and_told_of(place: Place):
    step = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}}
    player = Player(place, [step], recipe=MODAL, gated=True)
    await player.play()
    assert "yolo" in place.of("notice")[0].message
    assert player.agent.label == "unguarded"


async def test_a_stricter_mode_is_left_and_lowers_no_label(place: Place):
    step = {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}}
    player = Player(place, [step], recipe=MODAL, gated=True)
    await player.play()
    assert place.of("notice") == []
    assert player.agent.label == "gated"
    assert [row["params"]["modeId"] for row in player.told() if row.get("method") == "session/set_mode"] == ["default"]


@pytest.mark.parametrize(("value", "label"), [("on", "unguarded"), ("off", "gated")])
async def test_an_option_that_is_held_is_put_back(place: Place, value: str, label: str):
    options = [{"id": "allow_all", "type": "select", "currentValue": value}, {"id": "model", "currentValue": "x"}]
    step = {"update": {"sessionUpdate": "config_option_update", "configOptions": options}}
    player = Player(place, [step], recipe=replace(MODAL, config={"allow_all": "off"}), gated=True)
    await player.play()
    assert player.agent.label == label
    await place.until(lambda: len(place.of("notice")) == (value == "on"))


async def test_a_sub_agents_call_names_it_on_the_card(place: Place):
    place.person.decide = lambda card: {"option": "reject_once"}
    meta = {"anyAgent": {"parentToolUseId": "task-1"}}
    call = {"kind": "execute", "rawInput": {"command": "make"}, "_meta": meta}
    await Player(place, [ask("a", **call)]).play()
    assert place.person.shown[0].subagent == "scripted/1"


async def test_a_title_with_unseen_characters_is_shown_with_escapes(place: Place):
    await Player(place, [report("a", title="a\u202eb\n" + "x" * 300, kind="read"), done("a")]).play()
    title = place.of("toolCall")[0].title
    assert title.startswith("a\\u202eb\\n")
    assert len(title) == 200
