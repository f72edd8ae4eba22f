"""The mechanism that ends the processes of a command is named where it is weaker than a control group, nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from countersign.commands import doctor
from countersign.tools import cgroups
from countersign.tools.shell import orphans, process_tracking, supervised
from countersign.tools.shell.process_tracking import Tracking, tracking_note, tracking_of
from tests.stdio.desk import Desk, open_desk
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

from .workbench import Workbench

FOLDER = cgroups.blocking_groups().folder
needs_groups = pytest.mark.skipif(FOLDER is None, reason=f"no cgroup: {cgroups.blocking_groups().reason}")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sub-reapers")
NONE = cgroups.Groups(None, "tests forbid it")
UNTRACKED = "this machine has neither control groups nor a sub-reaper"


@pytest.fixture
async def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def without_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "blocking_groups", lambda: NONE)


@pytest.fixture
def without_subreaper(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (orphans, supervised):
        monkeypatch.setattr(module, "become_subreaper", lambda: False)


@pytest.mark.parametrize(
    ("confined", "grouped", "subreaper", "tracking"),
    [
        (True, True, True, "pidNamespace"),
        (True, False, False, "pidNamespace"),
        (False, True, True, "controlGroup"),
        (False, True, False, "controlGroup"),
        (False, False, True, "subReaper"),
        (False, False, False, "processGroup"),
    ],
)
def test_the_strongest_mechanism_counts(
    monkeypatch: pytest.MonkeyPatch, confined: bool, grouped: bool, subreaper: bool, tracking: Tracking
) -> None:
    monkeypatch.setattr(orphans, "become_subreaper", lambda: subreaper)
    assert tracking_of(confined=confined, grouped=grouped) == tracking


@needs_groups
async def test_a_result_is_silent_where_a_control_group_holds(bench: Workbench) -> None:
    outcome = await bench.do("shell", command="echo ran")
    assert (outcome.output, outcome.record.get("processTracking")) == ("ran\n", None)


@needs_sandbox
async def test_a_result_is_silent_in_the_sandbox(tmp_path: Path, without_groups: None, without_subreaper: None) -> None:
    bench = SandboxBench(tmp_path)
    outcome = await bench.do("shell", command="echo ran")
    assert "sandbox" in outcome.record
    assert (outcome.output, outcome.record.get("processTracking")) == ("ran\n", None)


@linux
@pytest.mark.parametrize("background", [False, True])
async def test_a_result_names_the_subreaper(bench: Workbench, without_groups: None, background: bool) -> None:
    outcome = await bench.do("shell", command="echo ran", background=background)
    assert outcome.record["processTracking"] == "subReaper"
    assert "reaper" not in outcome.output
    await bench.desk.close()


async def test_a_result_says_that_neither_is_there(
    bench: Workbench, without_groups: None, without_subreaper: None
) -> None:
    outcome = await bench.do("shell", command="echo ran")
    assert outcome.record["processTracking"] == "processGroup"
    assert outcome.output.startswith("ran\n[")
    assert UNTRACKED in outcome.output


@needs_groups
async def test_a_command_whose_own_group_could_not_be_made_says_so(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups can be made here in general, and this one could not."""
    monkeypatch.setattr(cgroups, "blocking_make_group", lambda _mark: None)
    outcome = await bench.do("shell", command="echo ran")
    assert outcome.record["processTracking"] == "subReaper"


@pytest.mark.parametrize("subreaper", [True, False])
@pytest.mark.parametrize("groups", [cgroups.Groups(Path("/")), NONE])
def test_doctor_and_card_agree_with_the_result(
    monkeypatch: pytest.MonkeyPatch, groups: cgroups.Groups, subreaper: bool
) -> None:
    monkeypatch.setattr(cgroups, "blocking_groups", lambda: groups)
    monkeypatch.setattr(doctor, "blocking_groups", lambda: groups)
    monkeypatch.setattr(orphans, "become_subreaper", lambda: subreaper)
    tracking = tracking_of(confined=False, grouped=groups.folder is not None)
    (line,) = doctor.processes(None)  # type: ignore[arg-type]
    assert (line.state == "warning") == (tracking == "processGroup") == (tracking_note() is not None)
    left_out = process_tracking.LEFT_OUT.get(tracking)  # type: ignore[call-overload]
    assert left_out is None or left_out in line.text
    assert "control group" in line.text
    assert ("tests forbid it" in line.text) == (tracking == "subReaper")


WEAKER = """
from countersign.tools import cgroups
from countersign.tools.shell import orphans, supervised
cgroups.blocking_groups = lambda: cgroups.Groups(None, "a test forbids it")
if {subreaper} is False:
    orphans.become_subreaper = supervised.become_subreaper = lambda: False
"""


@linux
@pytest.mark.parametrize("subreaper", [True, False])
async def test_the_client_is_told_by_result_and_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subreaper: bool
) -> None:
    """A real server, on a machine made weaker: the field of the result always, the note only where nothing is left."""
    startup = tmp_path / "startup"
    startup.mkdir()
    (startup / "sitecustomize.py").write_text(WEAKER.format(subreaper=subreaper))
    monkeypatch.setenv("PYTHONPATH", str(startup))
    async with open_desk(tmp_path / "work", tmp_path / "storage") as desk:
        thread = await desk.thread()
        turn = desk.prompt(thread, "run touch made.txt")
        card = await desk.card("made.txt")
        notes = [note for note in card.get("notes") or [] if note.startswith("processTracking: ")]
        assert [UNTRACKED in note for note in notes] == ([] if subreaper else [True])
        assert not any("processTracking" in risk for risk in card["risks"])
        await desk.answer(card)
        await turn
        assert await _told(desk, thread) == ["subReaper" if subreaper else "processGroup"]


@needs_groups
async def test_the_client_is_told_nothing_where_a_control_group_holds(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage") as desk:
        thread = await desk.thread()
        turn = desk.prompt(thread, "run touch made.txt")
        card = await desk.card("made.txt")
        assert "processTracking" not in str(card)
        await desk.answer(card)
        await turn
        assert await _told(desk, thread) == [None]


async def _told(desk: Desk, thread: str) -> list[str | None]:
    return [event.get("processTracking") for event in await desk.events(thread) if event["type"] == "toolResult"]
