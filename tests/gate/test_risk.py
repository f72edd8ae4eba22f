"""Where the parts of a command stand in it, and what of it a card warns of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.gate.approvals.file_binding import OPENS_LATER
from countersign.gate.risk import GIT_SETTINGS, placed, risk_of
from countersign.wire.approvals import CommandPart
from countersign.wire.verdicts import Evidence

NO_RULE = Evidence(source="default", reason="no rule matches")


def part(text: str) -> CommandPart:
    return CommandPart(text=text, verdict="ask", evidence=NO_RULE)


@given(st.lists(st.tuples(st.text(" ;\n\U0001f389", max_size=3), st.sampled_from(["ls", "rm x", "é", "\U0001f389y"]))))
def test_parts_are_placed_in_utf_16_code_units_in_their_order(pieces: list[tuple[str, str]]) -> None:
    command = "".join(gap + text for gap, text in pieces)
    units = command.encode("utf-16-le")
    found = list(placed([part(text) for _, text in pieces], command))
    assert [each.start for each in found] == sorted(each.start or 0 for each in found)
    for each in found:
        assert each.start is not None
        assert each.end is not None
        assert units[2 * each.start : 2 * each.end].decode("utf-16-le") == each.text


def test_a_part_that_does_not_stand_there_has_no_place() -> None:
    assert [each.start for each in placed([part("ls"), part("made up"), part("rm x")], "ls; rm x")] == [0, None, 4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("deletes files", ("deletes", "danger")),
        ("secret: a key", ("secret", "danger")),
        ("protected: settings", ("protected", "danger")),
        ("goes through a link", ("link", "caution")),
        ("changes settings", ("settings", "caution")),
        (GIT_SETTINGS, ("gitSettings", "caution")),
        ("sandbox: this cannot write `.git/config`", ("sandbox", "caution")),
        ("network", ("network", "danger")),
        (OPENS_LATER, ("opensLater", "caution")),
        ("withheld: `MY_TOKEN` looks like a secret", ("withheld", "caution")),
        ("withheld", ("other", "danger")),
        ("something new", ("other", "danger")),
    ],
)
def test_a_risk_has_an_id_and_a_severity(text: str, expected: tuple[str, str]) -> None:
    risk = risk_of(text)
    assert (risk.id, risk.severity) == expected
