"""What an edit of the settings left beside them when its server was killed is gone after the next start, or said."""

from __future__ import annotations

from pathlib import Path

from countersign.settings.edit_leftovers import name_of_edit
from countersign.settings.temporary_names import new_name
from tests.stdio.desk import open_desk

OLD, NEW = b"{}", b'{"countersign.mode": "plan"}'


async def test_texts_of_ours_are_removed_and_what_may_be_somebody_elses_is_said(tmp_path: Path) -> None:
    file = tmp_path / "work" / ".vscode" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(NEW)
    file.with_name(new_name(file.name)).write_bytes(NEW[:5])
    file.with_name(name_of_edit(file.name, OLD, NEW)).write_bytes(OLD)
    kept = file.with_name(name_of_edit(file.name, OLD, NEW + b"\n"))
    kept.write_bytes(b'{"theirs": 1}')
    async with open_desk(tmp_path / "work", tmp_path / "storage") as desk:
        said = await desk.peer.wait_for("window/showMessage", lambda message: kept.name in message["message"])
    assert str(file) in said["message"]
    assert {path.name for path in file.parent.iterdir()} == {file.name, kept.name}
    assert (file.read_bytes(), kept.read_bytes()) == (NEW, b'{"theirs": 1}')
