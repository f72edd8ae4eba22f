"""A change is taken back while its file is as the change left it, with the care of the change itself; else not."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from countersign.gate.call import BadArguments
from countersign.gate.permit import Stale, _issue
from countersign.gate.receipt import Outcome
from countersign.tools.files.undo import plan_undo
from countersign.wire.history import HistoryEntry

from .test_races import become_folder, become_link, lay_out, remove, write
from .workbench import Workbench

CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "create": ("write_file", {"path": "new.txt", "content": "new"}, "new.txt"),
    "create deep": ("write_file", {"path": "x/y/new.txt", "content": "new"}, "x/y/new.txt"),
    "replace": ("write_file", {"path": "dir/a.txt", "content": "new"}, "dir/a.txt"),
    "edit": ("edit_file", {"path": "dir/a.txt", "edits": [{"old_text": "old", "new_text": "new"}]}, "dir/a.txt"),
    "empty": ("write_file", {"path": "dir/a.txt", "content": ""}, "dir/a.txt"),
    "delete": ("delete_file", {"path": "dir/a.txt"}, "dir/a.txt"),
    "delete binary": ("delete_file", {"path": "dir/raw"}, "dir/raw"),
    "move": ("move_file", {"path": "dir/a.txt", "to": "dir/b.txt"}, "dir/b.txt"),
}
"""Each with the file that the change left, or took away."""


def receipt_of(outcome: Outcome, **changes: Any) -> HistoryEntry:
    return HistoryEntry(
        receipt_id="receipt",
        seq=1,
        at="2026-01-01T00:00:00Z",
        phase="finished",
        thread_id="thread",
        agent_name="Countersign",
        tool_call_id="call",
        tool="write_file",
        digest="",
        outcome={**outcome.record, "ended": "done", **changes},
    )


async def undone(bench: Workbench, outcome: Outcome, **changes: Any) -> Outcome:
    plan = plan_undo(receipt_of(outcome, **changes), outcome.before_image, bench.policy, turn_id="turn")
    return await plan.run(_issue(plan.call, "user"))


@pytest.fixture(autouse=True)
def files(bench: Workbench) -> None:
    lay_out(bench)
    (bench.workspace / "dir/a.txt").chmod(0o750)
    bench.file("dir/raw", b"\0raw\xff")


async def changed(bench: Workbench, call: str) -> Outcome:
    name, arguments, _ = CALLS[call]
    outcome = await bench.do(name, **arguments)
    assert outcome.success
    return outcome


@pytest.mark.parametrize("call", CALLS)
async def test_taking_a_change_back_leaves_everything_as_it_was(bench: Workbench, call: str) -> None:
    before = bench.tree()
    outcome = await changed(bench, call)
    assert bench.tree() != before
    assert (await undone(bench, outcome)).success
    left = bench.tree()
    assert {path: left[path] for path in before} == before
    assert left.keys() - before.keys() == ({"workspace/x", "workspace/x/y"} if call == "create deep" else set())


@pytest.mark.parametrize("call", CALLS)
async def test_a_change_that_was_taken_back_is_not_taken_back_again(bench: Workbench, call: str) -> None:
    outcome = await changed(bench, call)
    await undone(bench, outcome)
    before = bench.tree()
    with pytest.raises(Stale):
        await undone(bench, outcome)
    assert bench.tree() == before


DISTURBANCES: list[Callable[[str], Callable[[Workbench], None]]] = [
    lambda name: write(name, "theirs"),
    lambda name: become_link(name, "{outside}/a.txt"),
    lambda name: become_link(name, "{workspace}/other.txt"),
    become_folder,
]


@pytest.mark.parametrize("disturb", DISTURBANCES)
@pytest.mark.parametrize("call", CALLS)
async def test_a_file_that_is_not_as_the_change_left_it_is_left_alone(
    bench: Workbench, call: str, disturb: Callable[[str], Callable[[Workbench], None]]
) -> None:
    outcome = await changed(bench, call)
    disturb(CALLS[call][2])(bench)
    await assert_left_alone(bench, outcome)


@pytest.mark.parametrize("call", ["create", "replace", "edit", "move"])
async def test_a_file_that_has_gone_since_is_not_brought_back(bench: Workbench, call: str) -> None:
    outcome = await changed(bench, call)
    remove(CALLS[call][2])(bench)
    await assert_left_alone(bench, outcome)


@pytest.mark.parametrize("target", ["away", "{outside}"])
@pytest.mark.parametrize("call", ["replace", "edit", "delete", "move"])
async def test_a_folder_that_is_a_link_by_now_is_not_followed_though_all_behind_it_is_as_it_was(
    bench: Workbench, call: str, target: str
) -> None:
    outcome = await changed(bench, call)
    name = os.path.basename(CALLS[call][2])
    if call != "delete":
        (bench.outside / name).write_bytes((bench.workspace / CALLS[call][2]).read_bytes())
    else:
        (bench.outside / "a.txt").unlink()
    become_link("dir", target)(bench)
    await assert_left_alone(bench, outcome)


async def test_a_moved_file_is_not_moved_back_over_another(bench: Workbench) -> None:
    outcome = await changed(bench, "move")
    write("dir/a.txt", "theirs")(bench)
    await assert_left_alone(bench, outcome)


async def assert_left_alone(bench: Workbench, outcome: Outcome) -> None:
    before = bench.tree()
    with pytest.raises(Stale):
        await undone(bench, outcome)
    assert bench.tree() == before


@pytest.mark.parametrize("image", [None, b"something else"])
async def test_what_was_not_kept_to_the_byte_is_not_written(bench: Workbench, image: bytes | None) -> None:
    outcome = await changed(bench, "edit")
    with pytest.raises(BadArguments, match="not kept"):
        plan_undo(receipt_of(outcome), image, bench.policy, turn_id="turn")


@pytest.mark.parametrize(
    "changes", [{"ended": "stale"}, {"ended": "failed"}, {"operation": "undo"}, {"operation": None}, {"path": None}]
)
async def test_only_a_change_that_happened_can_be_taken_back(bench: Workbench, changes: dict[str, Any]) -> None:
    outcome = await changed(bench, "edit")
    with pytest.raises(BadArguments, match="not the receipt"):
        plan_undo(receipt_of(outcome, **changes), outcome.before_image, bench.policy, turn_id="turn")
