"""An edited call is of what its card showed: a file that changes while the edit is prepared is shown again."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from countersign.gate.call import FileState
from countersign.wire.errors import StaleAnswer
from tests.gate.support import make_house


def state_of(file: Path) -> FileState:
    return FileState(str(file), hashlib.sha256(file.read_bytes()).hexdigest())


@pytest.mark.parametrize("appended", ["", "added by another program\n"])
async def test_an_edit_of_a_file_that_changes_meanwhile_is_asked_once_more(tmp_path: Path, appended: str):
    """The edit of a whole file would else keep what was appended, which no card showed."""
    house = make_house()
    file = tmp_path / "notes"
    file.write_text("shown\n")
    house.bound = (state_of(file),)
    usual = house.preparing("change notes")

    def prepare(arguments):
        if arguments is not None:
            # After the gate looked at the file, before the tool does.
            file.write_text("shown\n" + appended)
            house.bound = (state_of(file),)
        return usual(arguments)

    turn = house.turn()
    house.preparing = lambda command, run=None: prepare  # type: ignore[method-assign]
    call = house.submit("change notes", turn=turn)
    card = await house.desk.card()
    answer = house.answer(card, editedInput='{"command": "change less"}')
    if not appended:
        assert await answer == "allowed"
        await call
        assert house.runs == ["change less"]
        return
    with pytest.raises(StaleAnswer):
        await answer
    again = await house.desk.card(2)
    assert house.runs == []
    await house.answer(again, "reject_once")
    await call
