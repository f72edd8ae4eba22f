"""A change that another program crosses in its very instant: every copy is in its place or named in the result, and
nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from countersign.gate.permit import Stale
from countersign.settings import rename
from countersign.tools.files import change

from .workbench import Workbench

pytestmark = pytest.mark.skipif(rename._renameat2() is None, reason="the system cannot exchange two names")

Act = Callable[[Path], None]


def replace_by(content: str) -> Act:
    """As an editor saves: another file comes over the name."""

    def act(path: Path) -> None:
        other = path.with_name(f"{content}.tmp")
        other.write_text(content)
        os.replace(other, path)

    return act


def move_away(name: str) -> Act:
    return lambda path: os.rename(path, path.with_name(name))


def move_and_put(name: str, content: str) -> Act:
    def act(path: Path) -> None:
        os.rename(path, path.with_name(name))
        path.write_text(content)

    return act


def nothing(_path: Path) -> None: ...


ACTS: dict[str, Act] = {
    "nothing": nothing,
    "replaced": replace_by("second"),
    "moved away": move_away("moved.txt"),
    "moved away and put": move_and_put("moved.txt", "second"),
    "deleted": lambda path: path.unlink(),
}
CALLS = {
    "write": ("write_file", {"path": "dir/a.txt", "content": "new"}),
    "delete": ("delete_file", {"path": "dir/a.txt"}),
    "create": ("write_file", {"path": "dir/new.txt", "content": "new"}),
}


@pytest.mark.parametrize("before", ACTS)
@pytest.mark.parametrize("between", ACTS)
@pytest.mark.parametrize("call", CALLS)
async def test_every_copy_is_in_place_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, before: str, between: str
):
    """``before``: right before our first rename; ``between``: right after it, before what it brought is looked at."""
    bench = Workbench(tmp_path)
    bench.file("dir/a.txt", "old")
    tool, arguments = CALLS[call]
    path = bench.workspace / arguments["path"]
    steps = [ACTS[before], ACTS[between]]

    def crossed(function):
        def renamed(*given):
            acts, steps[:] = list(steps), []
            if acts and path.exists():
                acts[0](path)
            try:
                function(*given)
            finally:
                if acts and path.exists():
                    acts[1](path)

        return renamed

    monkeypatch.setattr(change, "exchange", crossed(rename.exchange))
    monkeypatch.setattr(change, "move_to_free", crossed(rename.move_to_free))
    said, success, stale = "", False, False
    try:
        outcome = await bench.run(tool, bench.prepare(tool, **arguments))
        said, success = outcome.output, outcome.success
    except Stale:
        stale = True
    left = {item.name: item.read_text() for item in path.parent.iterdir() if item.is_file()}
    odd = [name for name in left if name.startswith(".countersign-")]
    assert all(name in said for name in odd), (left, said)
    # What the other program moved is its own to find, but our new text is ours to tell of.
    if not success:
        hidden = [name for name, text in left.items() if text == "new"]
        assert all(name in said for name in hidden), (left, said)
    if stale:
        assert odd == []
        assert "new" not in left.values()
