"""What a call's rows say in the end: who decided and why, what was shown and what ran, how long it waited and took."""

from __future__ import annotations

from countersign.gate.ledger.writer import Ledger
from countersign.gate.receipt import Outcome, Ran
from countersign.wire.history import HistoryEntry, HistoryFilter
from countersign.wire.verdicts import Evidence
from tests.gate.ledger.ledger_support import entry, write
from tests.gate.support import WorkspaceServer, make_house


def rows(house: WorkspaceServer) -> list[HistoryEntry]:
    return list(reversed(house.ledger.query(HistoryFilter(), workspace=None)))


async def test_an_approved_call_says_who_decided_what_was_shown_and_what_ran():
    house = make_house()
    call = house.submit("touch made", run=ran_with({"exitCode": 3, "bytes": 2048}))
    card = await house.desk.card()
    await house.answer(card)
    settled = await call
    assert isinstance(settled, Ran)
    asked, decided, started, finished = rows(house)
    assert [(row.phase, row.verdict, row.by) for row in rows(house)] == [
        ("decided", "ask", "mode"),
        ("decided", "allow", "user"),
        ("started", "allow", "user"),
        ("finished", "allow", "user"),
    ]
    assert {row.receipt_id for row in (asked, decided, started, finished)} == {settled.receipt_id}
    assert {row.approval_id for row in (asked, decided, started, finished)} == {card.approval_id}
    assert (decided.digest, started.digest) == (card.digest, card.digest)
    assert decided.outcome is not None
    assert isinstance(decided.outcome["waitedMs"], int)
    assert finished.outcome is not None
    assert isinstance(finished.outcome["durationMs"], int)
    assert (finished.outcome["ended"], finished.outcome["exitCode"], finished.outcome["bytes"]) == ("failed", 3, 2048)


async def test_an_edited_call_says_both_what_was_shown_and_what_ran():
    house = make_house()
    call = house.submit("touch made")
    card = await house.desk.card()
    await house.answer(card, editedInput='{"command": "touch other"}')
    await call
    _, decided, started, _ = rows(house)
    assert decided.digest == card.digest
    assert started.digest != card.digest
    assert (decided.input, started.input) == ({"command": "touch made"}, {"command": "touch other"})
    assert house.runs == ["touch other"]


async def test_each_row_names_the_model_that_wanted_the_call():
    house = make_house()
    call = house.submit("touch made", turn=house.turn(model="claude"))
    await house.answer(await house.desk.card())
    await call
    assert [(row.outcome or {}).get("model") for row in rows(house)] == ["claude"] * 4


async def test_no_row_names_a_model_that_nobody_knows():
    house = make_house()
    call = house.submit("touch made")
    await house.answer(await house.desk.card())
    await call
    assert not any("model" in (row.outcome or {}) for row in rows(house))


def test_a_rule_is_named_with_file_and_line(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    rule = Evidence(source="rule", rule="Bash(npm *)", file="/srv/.vscode/settings.json", line=12, reason="it matches")
    write(ledger, entry(1, by="rule", evidence=(rule,)))
    (row,) = ledger.query(HistoryFilter(), workspace="/projects")
    assert row.evidence == [rule]
    ledger.close()


def ran_with(record):
    async def run(permit) -> Outcome:
        permit.use()
        return Outcome(False, "out", record=record)

    return run
