"""A change of a file whose last step fails is taken back, so that "nothing was written" is true."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.workbench import Workbench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    made = Workbench(tmp_path)
    yield made
    await made.desk.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "new.txt", "content": "new"}),
        ("write_file", {"path": "old.txt", "content": "new"}),
        ("edit_file", {"path": "old.txt", "edits": [{"old_text": "old", "new_text": "new"}]}),
        ("delete_file", {"path": "old.txt"}),
        ("move_file", {"path": "old.txt", "to": "moved.txt"}),
    ],
    ids=["create", "write", "edit", "delete", "move"],
)
async def test_a_change_is_made_and_said_so_or_not_made_and_said_so(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict
) -> None:
    bench.file("old.txt", "old")
    prepared = bench.prepare(tool, **arguments)
    unlink, left = os.unlink, [1]

    def fail_once(*given, **named) -> None:
        if left and left.pop():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        unlink(*given, **named)

    before = bench.tree()
    monkeypatch.setattr(os, "unlink", fail_once)
    outcome = await bench.run(tool, prepared)
    monkeypatch.undo()
    assert (bench.tree() != before) == outcome.success
    assert outcome.success or "nothing was" in outcome.output
