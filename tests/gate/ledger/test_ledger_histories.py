"""Lives of a ledger with kills, torn writes, rotations and harm; the same code that ``make soak`` counts on."""

from __future__ import annotations

import pytest

from tests.gate.ledger.ledger_histories import wrongs


@pytest.mark.parametrize("part", range(4))
def test_whatever_happens_to_a_ledger_it_holds_or_says_what_is_wrong(part):
    assert list(wrongs(1, range(part * 20, part * 20 + 20))) == []
