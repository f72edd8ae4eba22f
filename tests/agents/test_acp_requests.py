"""A hosted agent's requests for leave: one answer each, from its own options, whoever gives it and however it asks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from countersign.settings.policy import RuleText
from countersign.wire.errors import AgentExit, ModelError
from tests.agents.scripted_agent_fixture import ALLOW, OPTIONS, REJECT, Player, ask, done, report

from .desk import Place

APPROVE = {"option": "allow_once"}
DENY = {"option": "reject_once"}


def command(text: str = "make it") -> dict:
    return {"kind": "execute", "title": text, "rawInput": {"command": text}}


async def test_an_approval_reaches_the_agent_as_its_own_allow_once_option(place: Place):
    place.person.decide = lambda card: APPROVE
    player = Player(place, [report("a", **command()), ask("a"), done("a", "it ran")])
    assert await player.play() == "end_turn"
    assert player.outcome(1) == "yes"
    card = place.person.shown[0]
    assert (card.agent_name, card.tool_call.tool, card.tool_call.agent_tool_call_id) == ("scripted", "acp:execute", "a")
    assert (card.preview.kind, card.preview.command) == ("command", "make it")
    assert [option.option_id for option in card.agent_options] == ["yes", "no"]
    result = place.of("toolResult")
    assert [(event.success, event.output, event.decided_by) for event in result] == [(True, "it ran", "user")]
    told = [(row.phase, row.verdict, row.by) for row in place.rows()]
    assert told[0][0:2] == ("decided", "ask")
    assert told[1] == ("decided", "allow", "user")
    assert [row.phase for row in place.rows()[2:]] == ["started", "finished"]


async def test_a_denial_reaches_the_agent_as_its_own_reject_once_option(place: Place):
    place.person.decide = lambda card: DENY
    player = Player(place, [ask("a", **command()), report("a", "failed", rawOutput="refused")])
    assert await player.play() == "end_turn"
    assert player.outcome(1) == "no"
    assert [event.success for event in place.of("toolResult")] == [False]
    assert player.prompts() == ["go"]


async def test_a_reason_for_a_denial_is_brought_to_the_agent_in_the_same_turn(place: Place):
    place.person.decide = lambda card: {**DENY, "reason": "use the other file"}
    player = Player(place, [ask("a", **command())], [{"stop": "end_turn"}])
    assert await player.play() == "end_turn"
    first, second = player.prompts()
    assert first == "go"
    assert "make it" in second
    assert "use the other file" in second


async def test_a_time_out_is_told_to_the_agent_as_such_in_the_same_turn(place: Place):
    place.policy = replace(place.policy, approvals_timeout=0.01)
    player = Player(place, [ask("a", **command())], [{"stop": "end_turn"}])
    assert await player.play() == "end_turn"
    assert player.outcome(1) == "no"
    first, second = player.prompts()
    assert first == "go"
    assert "(expired): nobody answered in time" in second


async def test_a_refusal_by_the_mode_is_told_before_the_next_prompt(place: Place):
    player = Player(place, [ask("a", **command())], [])
    assert await player.play(mode="plan") == "end_turn"
    assert (player.outcome(1), place.person.shown) == ("no", [])
    await player.play("again")
    assert "planMode" in player.prompts()[1]
    assert player.prompts()[1].endswith("|again")


async def test_a_closed_card_denies_this_call_and_the_turn_goes_on(place: Place):
    place.person.decide = lambda card: {"option": None} if "first" in str(card.preview) else APPROVE
    player = Player(place, [ask("a", **command("first")), ask("b", 2, **command("second")), done("b")])
    assert await player.play() == "end_turn"
    assert (player.outcome(1), player.outcome(2)) == ("no", "yes")


NEVER = {"optionId": "x", "name": "Always", "kind": "allow_always"}


@pytest.mark.parametrize(
    ("options", "approved", "denied"),
    [
        ([REJECT, NEVER, ALLOW], "yes", "no"),
        ([NEVER, {**ALLOW, "optionId": "b"}, {**ALLOW, "optionId": "c"}, REJECT], "b", "no"),
        ([ALLOW], "yes", "cancelled"),
        ([ALLOW, {"optionId": "q", "name": "?", "kind": "allow_for_ever"}], "yes", "cancelled"),
        ([ALLOW, {**NEVER, "optionId": "yes"}, REJECT], None, "no"),
        ([ALLOW, REJECT, {**NEVER, "optionId": "no"}], "yes", "cancelled"),
        ([ALLOW, {"optionId": "yes", "name": "no kind"}, REJECT], None, "no"),
        ([NEVER, REJECT], None, "no"),
        ([{**NEVER, "kind": "allow_for_ever"}], None, "cancelled"),
        ([], None, "cancelled"),
    ],
    ids=str,
)
async def test_the_answer_is_chosen_by_kind_alone(place: Place, options, approved, denied):
    for number, wish in enumerate(("allow_once", "reject_once")):
        place.person.decide = lambda card, wish=wish: {
            "option": wish if any(o.option_id == wish for o in card.options) else "reject_once"
        }
        player = Player(place, [ask("a", options=options, **command())], name=f"agent-{number}")
        await player.play()
        expected = approved if wish == "allow_once" and approved else denied
        assert player.outcome(1) == expected


async def test_an_agent_without_allow_once_gets_a_card_with_only_deny_even_under_bypass(place: Place):
    place.person.decide = lambda card: DENY
    player = Player(place, [ask("a", options=[NEVER, REJECT], **command())])
    place.change(agents={"scripted": _bypassing(player)})
    await player.play()
    card = place.person.shown[0]
    assert [option.kind for option in card.options if option.kind.startswith("allow")] == []
    assert "allow" in card.reason


async def test_bypass_answers_at_once_without_a_card_and_is_recorded(place: Place):
    player = Player(place, [ask("a", **command()), done("a")])
    place.change(agents={"scripted": _bypassing(player)})
    await player.play()
    assert (player.outcome(1), place.person.shown) == ("yes", [])
    assert [event.decided_by for event in place.of("toolResult")] == ["bypass"]
    assert {row.by for row in place.rows()} == {"bypass"}


async def test_two_requests_are_open_at_once_and_answered_apart_with_their_own_ids(place: Place):
    player = Player(
        place,
        [ask("a", "one", nowait=True, **command("a")), ask("b", 7, nowait=True, **command("b")),
         {"await": "one"}, done("a"), {"await": 7}],
    )  # fmt: skip
    playing = asyncio.ensure_future(player.play())
    await place.person.card(2)
    cards = {str(card.preview.command): card for card in place.person.shown}
    await place.person.answer(cards["b"], "reject_once")
    await place.person.answer(cards["a"])
    assert await playing == "end_turn"
    assert (player.outcome("one"), player.outcome(7)) == ("yes", "no")


async def test_a_call_that_is_asked_about_twice_is_two_calls_with_one_result_each(place: Place):
    place.person.decide = lambda card: APPROVE
    player = Player(place, [report("a", **command()), ask("a"), ask("a", 2), done("a")])
    await player.play()
    assert (player.outcome(1), player.outcome(2)) == ("yes", "yes")
    results = [event.tool_call_id for event in place.of("toolResult")]
    assert len(results) == len(set(results)) == 2
    assert set(results) == {event.tool_call_id for event in place.of("toolCall")}


FORGERIES = [
    {"tool_call": {"toolCallId": "a", "rawInput": {"command": "ls"}}},
    {"toolCall": {"toolCallId": "a", "rawInput": {"command": "ls"}}},
    {"session_id": "session-1"},
    {"options": []},
]


@pytest.mark.parametrize("meta", FORGERIES, ids=str)
async def test_a_request_whose_meta_holds_a_field_of_its_own_is_refused_unseen(place: Place, meta):
    request = ask("a", **command("rm -rf precious"))
    request["params"]["_meta"] = meta
    player = Player(place, [request])
    await player.play()
    assert player.answer(1)["code"] == -32602
    assert (place.person.shown, place.rows()) == ([], [])


@pytest.mark.parametrize(
    "params",
    [
        {"toolCall": {}, "options": OPTIONS},
        {"toolCall": {"toolCallId": 7}, "options": OPTIONS},
        {"toolCall": "a", "options": OPTIONS},
        {"toolCall": {"toolCallId": "a"}, "options": OPTIONS, "sessionId": "another"},
    ],
    ids=str,
)
async def test_a_request_that_is_none_gets_an_error_and_no_card(place: Place, params):
    player = Player(place, [{"ask": "session/request_permission", "id": 1, "params": params}])
    await player.play()
    assert player.answer(1)["code"] == -32602
    assert place.person.shown == []


async def test_an_unknown_method_is_no_method(place: Place):
    player = Player(place, [{"ask": "fs/delete_everything", "id": 1}])
    await player.play()
    assert player.answer(1)["code"] == -32601


async def test_an_approval_that_comes_when_the_file_has_changed_is_asked_again(place: Place):
    target = place.workspace / "a.txt"
    target.write_text("one\n")
    given = {"kind": "edit", "rawInput": {"file_path": str(target), "content": "two\n"}}
    player = Player(place, [ask("a", **given), done("a")])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    assert (card.preview.old_text, card.preview.new_text) == ("one\n", "two\n")
    target.write_text("other\n")
    with pytest.raises(Exception, match="changed"):
        await place.person.answer(card)
    again = await place.person.card(2)
    assert (again.preview.old_text, again.tool_call.tool_call_id) == ("other\n", card.tool_call.tool_call_id)
    await place.person.answer(again)
    assert await playing == "end_turn"
    assert player.outcome(1) == "yes"


async def test_an_approval_that_comes_when_a_link_leads_elsewhere_is_asked_again(place: Place):
    for name in ("one", "two"):
        (place.workspace / name).mkdir()
    link = place.workspace / "link"
    link.symlink_to("one")
    given = {"kind": "edit", "rawInput": {"file_path": str(link / "a.txt"), "content": "x"}}
    player = Player(place, [ask("a", **given), done("a")])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    assert card.preview.path == str(place.workspace / "one/a.txt")
    link.unlink()
    link.symlink_to("two")
    await place.person.answer(card)
    again = await place.person.card(2)
    assert again.preview.path == str(place.workspace / "two/a.txt")
    await place.person.answer(again, "reject_once")
    await playing
    assert player.outcome(1) == "no"


async def test_editing_the_input_of_an_agents_request_is_refused_and_the_card_stays(place: Place):
    player = Player(place, [ask("a", **command())])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    with pytest.raises(Exception, match="cannot be edited"):
        await place.person.answer(card, editedInput='{"command": "ls"}')
    await place.person.answer(card, "reject_once")
    await playing
    assert player.outcome(1) == "no"


async def test_after_a_command_that_moved_a_kept_shell_no_rule_answers_for_the_next(place: Place):
    place.change(rules=(RuleText("allow", "Bash(make:*)"),))
    place.person.decide = lambda card: APPROVE
    (place.workspace / "sub").mkdir()
    steps = [ask("a", **command("make one")), done("a"), ask("b", 2, **command("cd sub")), done("b"),
             ask("c", 3, **command("make two")), done("c")]  # fmt: skip
    await Player(place, steps).play()
    (card,) = place.person.shown
    assert (card.tool_call.agent_tool_call_id, card.preview.kind) == ("c", "tool")


async def test_a_fault_of_ours_denies_and_is_shown(place: Place, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("countersign.agents.acp.requests.show", fail)
    player = Player(place, [ask("a", **command())])
    await player.play()
    assert player.outcome(1) == "no"
    assert [(event.success, event.decided_by) for event in place.of("toolResult")] == [(False, "floor")]


async def test_a_message_nested_beyond_reason_is_skipped(place: Place):
    nested: object = 1
    for _ in range(150):
        nested = {"a": nested}
    assert await Player(place, [report("a", rawInput={"a": nested})]).play() == "end_turn"
    assert place.of("toolCall") == []


async def test_a_change_that_was_allowed_is_recorded_with_what_is_needed_to_undo_it(place: Place):
    target = place.workspace / "a.txt"
    target.write_text("one\n")
    place.person.decide = lambda card: APPROVE
    given = {"kind": "edit", "rawInput": {"file_path": str(target), "content": "two\n"}}
    acting = {"if": 1, "option": "yes", "do": [{"write": [str(target), "two\n"]}, done("a")]}
    await Player(place, [ask("a", **given), acting]).play()
    assert target.read_text() == "two\n"
    (result,) = place.of("toolResult")
    assert (result.path, result.diff.added, result.diff.removed) == (str(target), 1, 1)
    finished = place.rows()[-1]
    assert finished.outcome["operation"] == "edit"


def _bypassing(player: Player):
    return replace(player.agent.config, bypass=True)


@pytest.mark.parametrize("end", [{"fail": "overloaded"}, {"exit": 3}])
async def test_a_refusal_is_told_again_where_the_prompt_that_brought_it_failed(place: Place, end: dict):
    player = Player(place, [ask("a", **command())], [end], [])
    await player.play("one", mode="plan")
    with pytest.raises((ModelError, AgentExit)):
        await player.play("two")
    if "exit" in end:
        script = json.loads(player.script.read_text())
        player.script.write_text(json.dumps({**script, "prompts": [[]]}))
    await player.play("three")
    await player.play("four")
    _, second, third, fourth = player.prompts()
    assert "was not run" in second
    assert third == second.replace("two", "three")
    assert fourth == "four"
