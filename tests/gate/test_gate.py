"""The door itself: what is recorded, asked, run and told. Past 500 lines, because it is one list of ends of a call."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from countersign.gate.approvals.file_binding import blocking_state
from countersign.gate.approvals.records import seconds_left
from countersign.gate.ledger.entry import Opened
from countersign.gate.permit import Permit, _issue
from countersign.gate.receipt import Outcome, Ran, Refused
from countersign.settings.policy import RuleText
from countersign.wire.approvals import ApprovalRequest, ApprovalResponseParams, RulePreviewParams
from countersign.wire.errors import (
    AlreadyResolved,
    InternalError,
    InvalidAnswer,
    NeedsConfirmation,
    NotTrusted,
    OptionNotOffered,
    StaleAnswer,
    UnknownApproval,
)
from countersign.wire.history import HistoryFilter

from .support import BOUND, WorkspaceServer, decision, make_house


@pytest.fixture
async def house():
    made = make_house()
    yield made
    await made.gate.asking.close()
    made.ledger.close()


async def settled(task):
    async with asyncio.timeout(BOUND):
        return await task


async def test_an_allowed_call_is_decided_then_started_then_run_then_finished(house: WorkspaceServer):
    house.verdict = "allow"
    seen = []

    async def run(permit: Permit) -> Outcome:
        permit.use()
        seen.extend(house.rows())
        return Outcome(True, "ran")

    result = await settled(house.submit(run=run))
    assert isinstance(result, Ran)
    assert seen == [("decided", "allow", "mode"), ("started", "allow", "mode")]
    assert house.rows()[-1] == ("finished", "allow", "mode")
    assert house.desk.shown == []


async def test_a_denied_call_runs_nothing_and_the_model_reads_why(house: WorkspaceServer):
    result = await settled(house.submit("forbidden"))
    assert isinstance(result, Refused)
    assert json.loads(result.output)["refused"] == "denied"
    assert house.runs == []
    assert house.rows() == [("decided", "deny", "rule")]


async def test_an_approved_card_runs_its_call_once(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    assert await house.answer(card) == "allowed"
    assert isinstance(await settled(task), Ran)
    assert house.runs == ["touch made"]
    assert house.states() == [("allowed", "user")]
    assert house.rows() == [
        ("decided", "ask", "mode"),
        ("decided", "allow", "user"),
        ("started", "allow", "user"),
        ("finished", "allow", "user"),
    ]


async def test_the_chat_hears_of_the_call_before_its_card_and_of_one_result(house: WorkspaceServer):
    task = house.submit()
    await house.desk.card()
    assert [event.status for event in house.events] == ["pending", "waiting"]
    await house.answer(house.desk.shown[0])
    await settled(task)
    assert [event.type for event in house.events] == ["toolCall"] * 3 + ["toolResult"]
    assert house.events[-1].decided_by == "user"


async def test_a_denial_reaches_the_model_with_its_reason(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    assert await house.answer(card, "reject_once", reason="use the makefile") == "denied"
    result = await settled(task)
    assert isinstance(result, Refused)
    assert result.reason == "use the makefile"
    assert house.runs == []


async def test_closing_a_card_runs_nothing_and_is_no_denial(house: WorkspaceServer):
    task = house.submit()
    assert await house.answer(await house.desk.card(), None) == "cancelled"
    result = await settled(task)
    assert (result.kind, result.by) == ("cancelled", "user")
    assert house.runs == []


async def test_a_second_answer_is_told_so_and_changes_nothing(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    await house.answer(card, "reject_once")
    with pytest.raises(AlreadyResolved):
        await house.answer(card)
    await settled(task)
    assert house.runs == []
    assert house.states() == [("denied", "user")]


async def test_two_answers_at_once_have_one_winner(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    answers = await asyncio.gather(
        house.answer(card), house.answer(card, "reject_once"), house.answer(card), return_exceptions=True
    )
    assert [type(answer) for answer in answers].count(AlreadyResolved) == 2
    await settled(task)
    assert len(house.desk.ended) == 1


async def test_a_forged_id_is_unknown(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    with pytest.raises(UnknownApproval):
        await house.answer(card.model_copy(update={"approval_id": "made up"}))
    await house.answer(card, "reject_once")
    await settled(task)


@pytest.mark.parametrize(
    ("option", "more", "error"),
    [
        ("allow_everything", {}, OptionNotOffered),
        ("allow_once", {"digest": "f" * 64}, StaleAnswer),
        ("allow_chat", {"digest": None}, StaleAnswer),
        ("allow_once", {"digest": None, "bypassAll": True}, StaleAnswer),
        ("reject_once", {"bypassAll": True}, InvalidAnswer),
        (None, {"bypassAll": True}, InvalidAnswer),
        ("allow_once", {"editedInput": "no json"}, InvalidAnswer),
        ("allow_once", {"editedInput": "[]"}, InvalidAnswer),
        ("allow_once", {"editedInput": '{"command": NaN}'}, InvalidAnswer),
        ("allow_once", {"editedInput": '{"command": "a", "command": "b"}'}, InvalidAnswer),
        ("allow_once", {"editedInput": '{"command": "\\ud800"}'}, InvalidAnswer),
        ("allow_once", {"rule": "Bash(touch made)"}, InvalidAnswer),
        ("allow_chat", {"rule": "Bash(something else)"}, InvalidAnswer),
    ],
)
async def test_a_wrong_answer_changes_nothing_and_the_card_stays(house: WorkspaceServer, option, more, error):
    task = house.submit()
    card = await house.desk.card()
    with pytest.raises(error):
        await house.answer(card, option, **more)
    assert house.desk.ended == []
    assert len(house.gate.asking.table) == 1
    assert await house.answer(card) == "allowed"
    await settled(task)


async def test_a_rule_wider_than_those_offered_needs_a_confirmation_of_that_rule(house: WorkspaceServer, monkeypatch):
    monkeypatch.setattr(house.gate.answering, "_covers", lambda *_: True)
    task = house.submit()
    card = await house.desk.card()
    ask = RulePreviewParams(approval_id=card.approval_id, rule="Bash(*)")
    preview = await house.gate.answering.preview(ask)
    other = await house.gate.answering.preview(ask.model_copy(update={"rule": "Bash(touch *)"}))
    assert (preview.covers, preview.wider) == (True, True)
    for more in ({}, {"confirmed": {"ruleDigest": other.digest}}, {"confirmed": {"ruleDigest": ""}}):
        with pytest.raises(NeedsConfirmation):
            await house.answer(card, "allow_chat", rule="Bash(*)", **more)
    assert (house.desk.ended, house.runs, len(house.gate.asking.table)) == ([], [], 1)
    confirmed = {"ruleDigest": preview.digest}
    assert await house.answer(card, "allow_chat", rule="Bash(*)", confirmed=confirmed) == "allowed"
    await settled(task)


async def test_bypass_needs_trust(house: WorkspaceServer):
    house.policy = replace(house.policy, trusted=False)
    task = house.submit()
    with pytest.raises(NotTrusted):
        await house.answer(await house.desk.card(), bypassAll=True)
    await house.answer(house.desk.shown[0], "reject_once")
    await settled(task)
    assert house.book.bypassed == []


async def test_bypass_that_cannot_be_written_leaves_the_card(house: WorkspaceServer):
    house.book.fails = True
    task = house.submit()
    with pytest.raises(InvalidAnswer):
        await house.answer(await house.desk.card(), bypassAll=True)
    assert house.desk.ended == []
    await house.answer(house.desk.shown[0], "reject_once")
    await settled(task)


async def test_bypass_approves_this_call_and_is_set_for_the_agent(house: WorkspaceServer):
    task = house.submit()
    assert await house.answer(await house.desk.card(), bypassAll=True) == "allowed"
    await settled(task)
    assert house.book.bypassed == ["Countersign"]
    assert house.runs == ["touch made"]


async def test_bypass_for_this_session_is_not_written(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    assert await house.answer(card, bypassAll=True, bypassScope="session") == "allowed"
    await settled(task)
    assert house.book.bypassed == ["Countersign in this session"]


async def test_a_grant_for_the_chat_answers_its_open_twin_and_the_next_call(house: WorkspaceServer):
    turn = house.turn()  # the cards of one turn are shown in the order of its calls
    first, twin = house.submit(turn=turn), house.submit(turn=turn)
    await house.desk.card(2)
    await house.answer(house.desk.shown[0], "allow_chat")
    assert isinstance(await settled(first), Ran)
    assert (await settled(twin)).by == "grant"
    assert sorted(house.states()) == [("allowed", "grant"), ("allowed", "user")]
    assert (await settled(house.submit())).by == "grant"
    assert len(house.desk.shown) == 2


async def test_a_grant_covers_no_other_call(house: WorkspaceServer):
    first = house.submit()
    await house.answer(await house.desk.card(), "allow_chat")
    await settled(first)
    other = house.submit("touch other")
    await house.desk.card(2)
    await house.answer(house.desk.shown[1], "reject_once")
    await settled(other)
    assert house.runs == ["touch made"]


async def test_an_always_rule_is_saved_before_the_call_runs(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    option = next(option for option in card.options if option.scope == "workspace")
    await house.answer(card, option.option_id)
    await settled(task)
    assert house.book.rules == [("allow", "Bash(touch made)", "workspace")]


async def test_a_floor_offers_nothing_wider_than_the_call(house: WorkspaceServer):
    task = house.submit("floored")
    card = await house.desk.card()
    allows = [option for option in card.options if option.kind.startswith("allow")]
    assert {option.scope for option in allows} == {"call"}
    await house.answer(card, "reject_once")
    await settled(task)


async def test_stopping_the_turn_cancels_its_card(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    assert house.states() == [("cancelled", "cancel")]
    with pytest.raises(AlreadyResolved):
        await house.answer(card)
    assert house.runs == []
    assert house.events[-1].type == "toolResult"


async def test_stopping_a_running_call_closes_its_receipt(house: WorkspaceServer):
    house.verdict = "allow"
    started = asyncio.Event()

    async def run(permit: Permit) -> Outcome:
        permit.use()
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = house.submit(run=run)
    await settled(started.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    assert [row[0] for row in house.rows()] == ["decided", "started", "finished"]


async def test_a_request_expires_and_that_is_no_denial_by_the_person(house: WorkspaceServer):
    house.policy = replace(house.policy, approvals_timeout=0.01)
    result = await settled(house.submit())
    assert (result.kind, result.by) == ("expired", "timeout")
    assert house.states() == [("expired", "timeout")]
    assert house.desk.shown[0].expires_at is not None


async def test_nobody_to_ask_denies(house: WorkspaceServer):
    house.desk.there = False
    result = await settled(house.submit())
    assert (result.kind, result.by) == ("denied", "nobody")
    assert house.rows() == [("decided", "deny", "nobody")]


async def test_an_error_of_the_judge_denies(house: WorkspaceServer, monkeypatch, caplog):
    def fail(*_given):
        raise RuntimeError("broken")

    monkeypatch.setattr(house, "judge", fail)
    result = await settled(house.submit())
    assert isinstance(result, Refused)
    assert house.runs == []


async def test_tightening_the_mode_denies_open_cards_and_loosening_leaves_them(house: WorkspaceServer):
    turn = house.turn("default")
    task = house.submit(turn=turn)
    await house.desk.card()
    turn.tighten("auto")
    house.gate.changed()
    turn.tighten("plan")
    house.gate.changed()
    result = await settled(task)
    assert (result.kind, result.by) == ("planMode", "mode")
    assert house.states() == [("denied", "mode")]


def test_a_turn_of_offered_calls_has_the_modes_of_its_turn_whatever_is_chosen_or_tightened_later(
    house: WorkspaceServer,
):
    turn = house.turn("default")
    offered = replace(turn, resumable=False)
    turn.choose_mode("acceptEdits")
    turn.tighten("plan")
    assert offered.modes == turn.modes == ["acceptEdits", "plan"]


def once_an_end_is_written(house: WorkspaceServer, monkeypatch, do):
    """Does something between the commit of a request's end and whoever hears of it."""
    write = house.ledger.write

    def write_and_do(changes, told):
        write(changes, lambda result: (do(), told(result)))

    monkeypatch.setattr(house.ledger, "write", write_and_do)


async def test_a_deny_rule_that_comes_while_the_answer_is_under_way_wins(house: WorkspaceServer, monkeypatch):
    task = house.submit()
    card = await house.desk.card()

    def tighten():
        monkeypatch.setattr(house, "judge", lambda call, *_: _denied(call))
        house.gate.changed()

    once_an_end_is_written(house, monkeypatch, tighten)
    await house.answer(card)
    result = await settled(task)
    assert isinstance(result, Refused)
    assert house.runs == []


def _denied(call):
    return decision("deny", "rule", str(call.arguments["command"]))


async def test_a_file_that_changed_since_the_card_voids_it_and_is_asked_again(house: WorkspaceServer, tmp_path):
    file = tmp_path / "script.sh"
    file.write_text("one")
    house.bound = (blocking_state(str(file)),)
    task = house.submit()
    card = await house.desk.card()
    file.write_text("two")
    house.bound = (blocking_state(str(file)),)
    with pytest.raises(StaleAnswer):
        await house.answer(card)
    again = await house.desk.card(2)
    assert house.states() == [("interrupted", "change")]
    assert again.approval_id != card.approval_id
    assert again.tool_call.tool_call_id == card.tool_call.tool_call_id
    assert again.digest != card.digest
    # It keeps its place in the queue: the order of the message is that of the first requests.
    assert (card.first_asked_at, again.first_asked_at) == (None, card.created_at)
    assert await house.answer(again) == "allowed"
    await settled(task)
    assert house.runs == ["touch made"]


async def test_a_denial_of_a_card_whose_file_changed_is_heard(house: WorkspaceServer, tmp_path):
    file = tmp_path / "script.sh"
    file.write_text("one")
    house.bound = (blocking_state(str(file)),)
    task = house.submit()
    card = await house.desk.card()
    file.write_text("two")
    assert await house.answer(card, "reject_once") == "denied"
    await settled(task)


async def test_an_edited_command_is_what_runs(house: WorkspaceServer):
    task = house.submit()
    await house.answer(await house.desk.card(), editedInput='{"command": "touch better"}')
    await settled(task)
    assert house.runs == ["touch better"]


async def test_an_edit_that_is_forbidden_ends_the_call(house: WorkspaceServer):
    task = house.submit()
    assert await house.answer(await house.desk.card(), editedInput='{"command": "forbidden"}') == "denied"
    assert (await settled(task)).by == "rule"
    assert house.runs == []


async def test_an_edit_under_a_floor_is_asked_once_more(house: WorkspaceServer):
    task = house.submit()
    assert await house.answer(await house.desk.card(), editedInput='{"command": "floored"}') == "interrupted"
    again = await house.desk.card(2)
    assert again.preview.command == "floored"
    assert await house.answer(again) == "allowed"
    await settled(task)
    assert house.runs == ["floored"]


async def test_an_agent_without_allow_once_gets_a_card_that_can_only_be_denied(house: WorkspaceServer):
    house.verdict = "allow"
    task = house.submit(allow_offered=False)
    card = await house.desk.card()
    assert {option.kind for option in card.options} <= {"reject_once", "reject_always"}
    await house.answer(card, "reject_once")
    assert isinstance(await settled(task), Refused)


async def test_a_ledger_that_cannot_be_written_runs_nothing(house: WorkspaceServer):
    house.verdict = "allow"
    house.ledger.close()
    result = await settled(house.submit())
    assert isinstance(result, Refused)
    assert "ledger" in result.reason
    assert house.runs == []


async def test_a_ledger_that_fails_at_the_answer_denies(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    house.ledger.close()
    assert await house.answer(card) == "denied"
    await settled(task)
    assert house.runs == []


async def test_a_permit_fits_one_call_once(house: WorkspaceServer):
    plan = house.preparing("touch made")(None)
    permit = _issue(plan.call, "user")
    assert permit.use() == plan.call
    with pytest.raises(InternalError):
        permit.use()
    with pytest.raises(InternalError):
        Permit()


async def test_parked_requests_are_taken_up_under_the_same_id_and_run_once(tmp_path):
    first = make_house(tmp_path / "ledger.db")
    task = first.submit()
    card = await first.desk.card()
    await first.gate.park()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    assert first.desk.ended == []
    first.ledger.close()

    second = make_house(tmp_path / "ledger.db")
    (stored,) = second.ledger.requests("/projects")
    assert stored.parked
    task = second.submit(restored=stored)
    again = await second.desk.card()
    assert (again.approval_id, again.digest) == (card.approval_id, card.digest)
    assert await second.answer(again) == "allowed"
    await settled(task)
    assert second.runs == ["touch made"]
    assert second.ledger.requests("/projects") == []
    assert [row[0] for row in second.rows()] == ["decided", "decided", "started", "finished"]
    second.ledger.close()


async def test_a_request_that_was_put_off_waits_on_disk_without_a_deadline(tmp_path):
    """Its old deadline has passed when the next server starts; it is still put off, and has the whole time when it is
    taken up."""
    first = make_house(tmp_path / "ledger.db", approvals_timeout=0.2)
    task = first.submit()
    card = await first.desk.card()
    first.gate.asking.postpone(card.approval_id)
    (held,) = first.gate.asking.table.views()
    assert (held.postponed, held.expires_at) == (True, None)
    await first.gate.park()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    first.ledger.close()
    await asyncio.sleep(seconds_left(card.expires_at) or 0)

    second = make_house(tmp_path / "ledger.db", approvals_timeout=300)
    (stored,) = second.ledger.requests("/projects")
    task = second.submit(restored=stored)
    again = await second.desk.card()
    assert (again.approval_id, again.digest) == (card.approval_id, card.digest)
    assert (again.postponed, again.expires_at) == (True, None)
    expires_at = second.gate.asking.take_up(again.approval_id)
    assert (seconds_left(expires_at) or 0) > 250
    (taken_up,) = second.gate.asking.table.views()
    assert (taken_up.postponed, taken_up.expires_at) == (None, expires_at)
    assert await second.answer(again) == "allowed"
    await settled(task)
    assert second.runs == ["touch made"]
    second.ledger.close()


async def test_an_id_that_ended_before_a_restart_is_remembered(tmp_path):
    first = make_house(tmp_path / "ledger.db")
    task = first.submit()
    card = await first.desk.card()
    await first.answer(card, "reject_once")
    await settled(task)
    first.ledger.close()
    second = make_house(tmp_path / "ledger.db")
    with pytest.raises(AlreadyResolved):
        await second.answer(card)
    second.ledger.close()


async def test_a_rule_that_is_added_resolves_the_card_it_covers(house: WorkspaceServer):
    task = house.submit()
    await house.desk.card()
    house.policy = replace(house.policy, rules=(RuleText("allow", "Bash(touch made)"),))
    house.gate.changed()
    assert (await settled(task)).by == "rule"
    assert house.states() == [("allowed", "rule")]


def test_the_wire_shape_of_an_answer_is_the_one_given():
    params = ApprovalResponseParams.model_validate(
        {
            "approvalId": "a",
            "response": {"outcome": {"outcome": "selected", "optionId": "allow_once"}},
            "bypassAll": False,
        }
    )
    assert params.response.outcome.outcome == "selected"


async def test_a_parked_request_that_a_new_rule_denies_ends_as_denied(tmp_path):
    first = make_house(tmp_path / "ledger.db")
    task = first.submit()
    card = await first.desk.card()
    await first.gate.park()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    first.ledger.close()
    second = make_house(tmp_path / "ledger.db")
    second.verdict = "deny"
    (stored,) = second.ledger.requests("/projects")
    assert isinstance(await settled(second.submit(restored=stored)), Refused)
    assert [(notice.approval_id, notice.state) for notice in second.desk.ended] == [(card.approval_id, "denied")]
    assert second.ledger.requests("/projects") == []
    second.ledger.close()


async def test_a_stopped_tool_says_in_its_receipt_how_far_it_got(house: WorkspaceServer):
    house.verdict = "allow"
    started = asyncio.Event()

    async def run(permit: Permit) -> Outcome:
        permit.use()
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as cancelled:
            cancelled.outcome = Outcome(False, "half of it", record={"bytes": 7})  # type: ignore[attr-defined]
            raise
        raise AssertionError

    task = house.submit(run=run)
    await settled(started.wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    (last,) = house.ledger.query(HistoryFilter(), workspace=None, limit=1)
    assert last.outcome is not None
    assert (last.outcome["ended"], last.outcome["bytes"]) == ("cancelled", 7)


async def test_a_rule_that_comes_while_the_start_is_written_stops_the_run(house: WorkspaceServer, monkeypatch):
    append = house.ledger.append

    async def tighten_at_the_start(*changes):
        number = await append(*changes)
        if changes[0].phase == "started":
            monkeypatch.setattr(house, "judge", lambda call, *_: _denied(call))
            house.gate.changed()
        return number

    monkeypatch.setattr(house.ledger, "append", tighten_at_the_start)
    task = house.submit()
    assert await house.answer(await house.desk.card()) == "allowed"
    assert (await settled(task)).by == "rule"
    assert house.runs == []
    assert [row[0] for row in house.rows()] == ["decided", "decided", "started", "finished", "decided"]


@pytest.mark.parametrize("at", ["decided", "started"])
async def test_a_grant_that_is_taken_back_while_its_call_is_under_way_lets_nothing_run(
    house: WorkspaceServer, monkeypatch, at
):
    first = house.submit()
    await house.answer(await house.desk.card(), "allow_chat")
    await settled(first)
    (grant,) = house.gate.grants.views()
    append = house.ledger.append

    async def revoke_meanwhile(*changes):
        number = await append(*changes)
        if changes[0].phase == at:
            house.gate.revoke(grant.grant_id)
        return number

    monkeypatch.setattr(house.ledger, "append", revoke_meanwhile)
    twin = house.submit()
    await house.answer(await house.desk.card(2), "reject_once")
    assert isinstance(await settled(twin), Refused)
    assert house.runs == ["touch made"]


async def test_a_rule_that_is_taken_back_while_it_resolves_a_card_lets_nothing_run(house: WorkspaceServer, monkeypatch):
    task = house.submit()
    await house.desk.card()

    def mend():
        house.policy = replace(house.policy, rules=())
        house.gate.changed()

    house.policy = replace(house.policy, rules=(RuleText("allow", "Bash(touch made)"),))
    once_an_end_is_written(house, monkeypatch, mend)
    house.gate.changed()
    again = await house.desk.card(2)
    assert house.states() == [("allowed", "rule")]
    assert house.runs == []
    await house.answer(again, "reject_once")
    await settled(task)


class Held:
    """Holds whoever comes to a chosen point until it is let go, both sides of a race in flight."""

    def __init__(self):
        self.here, self.gone = asyncio.Event(), asyncio.Event()

    async def stand(self):
        self.here.set()
        await self.gone.wait()

    async def arrived(self):
        async with asyncio.timeout(BOUND):
            await self.here.wait()


async def test_a_grant_that_comes_while_its_twin_is_being_written_down_answers_it(house: WorkspaceServer, monkeypatch):
    first = house.submit()
    card = await house.desk.card()
    append, held = house.ledger.append, Held()

    async def hold_the_twin(*changes):
        number = await append(*changes)
        if any(isinstance(change, Opened) for change in changes):
            await held.stand()
        return number

    monkeypatch.setattr(house.ledger, "append", hold_the_twin)
    twin = house.submit()
    await held.arrived()
    answer = asyncio.ensure_future(house.answer(card, "allow_chat"))
    await settled(answer)
    held.gone.set()
    assert isinstance(await settled(first), Ran)
    assert (await settled(twin)).by == "grant"
    assert house.runs == ["touch made"] * 2
    assert sorted(house.states()) == [("allowed", "grant"), ("allowed", "user")]


async def test_a_card_that_comes_up_in_the_midst_of_a_look_at_the_others_is_looked_at_too(
    house: WorkspaceServer, monkeypatch
):
    """The twin was judged before the grant and shown after the look had begun: neither side has seen the other."""
    other, first = house.submit("touch other"), house.submit()
    await house.desk.card(2)
    card = next(card for card in house.desk.shown if card.preview.command == "touch made")
    append, judge = house.ledger.append, house.judge
    writing, looking = Held(), threading.Event()
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def hold_the_twin(*changes):
        number = await append(*changes)
        if any(isinstance(change, Opened) for change in changes):
            await writing.stand()
        return number

    def hold_the_look(call, *given):
        if call.arguments["command"] == "touch other":
            loop.call_soon_threadsafe(begun.set)
            assert looking.wait(BOUND)
        return judge(call, *given)

    monkeypatch.setattr(house.ledger, "append", hold_the_twin)
    twin = house.submit()
    await writing.arrived()
    monkeypatch.setattr(house, "judge", hold_the_look)
    await settled(asyncio.ensure_future(house.answer(card, "allow_chat")))
    await settled(begun.wait())
    writing.gone.set()
    await house.desk.card(3)
    looking.set()
    assert (await settled(twin)).by == "grant"
    await settled(first)
    other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(other)


async def test_an_answer_that_fails_leaves_its_card_to_the_rule_that_came_meanwhile(
    house: WorkspaceServer, monkeypatch
):
    task = house.submit()
    card = await house.desk.card()
    held = Held()

    async def fail_late(_agent):
        await held.stand()
        raise InvalidAnswer("the settings file cannot be written")

    monkeypatch.setattr(house.book, "set_bypass", fail_late)
    answer = asyncio.ensure_future(house.answer(card, bypassAll=True))
    await held.arrived()
    house.policy = replace(house.policy, rules=(RuleText("allow", "Bash(touch made)"),))
    house.gate.changed()
    await asyncio.sleep(0)
    held.gone.set()
    with pytest.raises(InvalidAnswer):
        await settled(answer)
    assert (await settled(task)).by == "rule"
    assert house.states() == [("allowed", "rule")]


async def parked_in(path, command="touch made", **first_policy) -> tuple[ApprovalRequest, WorkspaceServer]:
    """A request that was parked by an orderly end, and the house that comes after."""
    first = make_house(path / "ledger.db", **first_policy)
    task = first.submit(command)
    card = await first.desk.card()
    await first.gate.park()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    first.ledger.close()
    return card, make_house(path / "ledger.db")


async def test_a_mode_that_loosened_meanwhile_runs_nothing_when_the_server_starts(tmp_path):
    card, second = await parked_in(tmp_path)
    second.verdict = "allow"
    (stored,) = second.ledger.requests("/projects")
    task = second.submit(restored=stored)
    again = await second.desk.card()
    assert again.approval_id == card.approval_id
    assert second.runs == []
    assert await second.answer(again, "reject_once") == "denied"
    await settled(task)
    second.ledger.close()


async def test_a_parked_request_that_a_new_rule_allows_is_decided_once(tmp_path):
    card, second = await parked_in(tmp_path)
    second.policy = replace(second.policy, rules=(RuleText("allow", "Bash(touch made)"),))
    (stored,) = second.ledger.requests("/projects")
    assert (await settled(second.submit(restored=stored))).by == "rule"
    assert [(notice.approval_id, notice.state, notice.by) for notice in second.desk.ended] == [
        (card.approval_id, "allowed", "rule")
    ]
    assert [row[0] for row in second.rows()] == ["decided", "decided", "started", "finished"]
    second.ledger.close()


async def test_a_parked_request_whose_card_is_no_longer_true_is_not_allowed_by_a_rule(tmp_path):
    card, second = await parked_in(tmp_path)
    file = tmp_path / "script.sh"
    file.write_text("another")
    second.bound = (blocking_state(str(file)),)
    second.policy = replace(second.policy, rules=(RuleText("allow", "Bash(touch made)"),))
    (stored,) = second.ledger.requests("/projects")
    await settled(second.submit(restored=stored))
    assert [(notice.approval_id, notice.state, notice.by) for notice in second.desk.ended] == [
        (card.approval_id, "interrupted", "change")
    ]
    second.ledger.close()


async def test_a_parked_request_with_nobody_to_ask_ends(tmp_path):
    _, second = await parked_in(tmp_path)
    second.desk.there = False
    (stored,) = second.ledger.requests("/projects")
    assert (await settled(second.submit(restored=stored))).by == "nobody"
    assert second.ledger.requests("/projects") == []
    assert second.states() == [("denied", "nobody")]
    second.ledger.close()


async def test_stop_before_a_parked_request_is_offered_again_ends_it(tmp_path, monkeypatch):
    _, second = await parked_in(tmp_path)
    (stored,) = second.ledger.requests("/projects")
    held = Held()

    async def hold(*_changes):
        await held.stand()

    with monkeypatch.context() as patch:
        patch.setattr(second.ledger, "append", hold)
        task = second.submit(restored=stored)
        await held.arrived()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    await second.gate.asking.close()
    assert second.ledger.requests("/projects") == []
    assert second.states() == [("cancelled", "cancel")]
    second.ledger.close()


async def test_an_edit_that_was_asked_once_more_is_offered_again_as_it_was(tmp_path):
    first = make_house(tmp_path / "ledger.db")
    task = first.submit()
    await first.answer(await first.desk.card(), editedInput='{"command": "floored"}')
    card = await first.desk.card(2)
    await first.gate.park()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settled(task)
    first.ledger.close()
    second = make_house(tmp_path / "ledger.db")
    (stored,) = second.ledger.requests("/projects")
    task = second.submit(restored=stored)
    again = await second.desk.card()
    assert (again.approval_id, again.preview.command) == (card.approval_id, "floored")
    assert await second.answer(again) == "allowed"
    await settled(task)
    assert second.runs == ["floored"]
    second.ledger.close()


async def test_always_deny_is_kept_though_an_ask_rule_came_meanwhile(house: WorkspaceServer):
    task = house.submit()
    card = await house.desk.card()
    house.source = "floor"
    assert await house.answer(card, "reject_always") == "denied"
    await settled(task)
    assert house.book.rules == [("deny", "Bash(touch made)", "user")]


async def test_what_is_not_on_disk_yet_is_not_listed(house: WorkspaceServer, monkeypatch):
    append, held = house.ledger.append, Held()

    async def hold(*changes):
        await held.stand()
        return await append(*changes)

    monkeypatch.setattr(house.ledger, "append", hold)
    task = house.submit()
    await held.arrived()
    assert house.gate.asking.table.views() == []
    held.gone.set()
    card = await house.desk.card()
    assert house.gate.asking.table.views() == [card]
    await house.answer(card, "reject_once")
    await settled(task)


async def test_a_refused_answer_is_no_fault_in_the_log(house: WorkspaceServer, caplog):
    task = house.submit()
    card = await house.desk.card()
    with pytest.raises(InvalidAnswer):
        await house.answer(card, editedInput="no json")
    assert caplog.records == []
    await house.answer(card, "reject_once")
    await settled(task)


async def test_a_clock_that_is_set_back_does_not_lengthen_a_time_out(house: WorkspaceServer, monkeypatch):
    class Back(datetime):
        """Each look at the wall finds it an hour earlier."""

        hours = 0

        @classmethod
        def now(cls, tz=None):
            cls.hours += 1
            return datetime(2030, 1, 1, tzinfo=tz) - timedelta(hours=cls.hours)

    monkeypatch.setattr("countersign.gate.approvals.records.datetime", Back)
    house.policy = replace(house.policy, approvals_timeout=0.01)
    assert (await settled(house.submit())).kind == "expired"


@pytest.mark.parametrize(("option", "ran"), [("allow_once", ["touch made"]), ("reject_once", []), (None, [])])
async def test_whoever_gives_up_an_answer_under_way_does_not_take_it_back(
    house: WorkspaceServer, monkeypatch, option, ran
):
    call = house.submit()
    card = await house.desk.card()
    held, here = [], asyncio.Event()

    def hold(*work):
        held.append(work)
        here.set()

    with monkeypatch.context() as patch:
        patch.setattr(house.ledger, "write", hold)
        answer = asyncio.ensure_future(house.answer(card, option))
        await asyncio.wait_for(here.wait(), BOUND)
    answer.cancel()
    await asyncio.wait({answer}, timeout=BOUND)
    assert answer.cancelled()
    house.ledger.write(*held[0])
    await settled(call)
    assert (house.runs, len(house.desk.ended)) == (ran, 1)
