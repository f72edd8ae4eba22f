"""Names of streams in ``/dev``: Linux opens the file behind one anew, for whatever it is opened now (S9)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from .asked import decide


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a").write_text("before\n")
    (folder / ".env").write_text("TOPSECRET\n")
    return folder


def run(folder: Path, command: str) -> str:
    line = ["bash", "--norc", "-c", command]
    return subprocess.run(
        line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE
    ).stdout


WRITING = [
    "echo after < a > /dev/stdin",
    "echo after < a >> /dev/fd/0",
    "echo after | tee /dev/stderr 2< a",
    "tee /dev/stdin < a <<< after",
    "echo after 2< a > /dev/stderr",
    "echo after < a 2>&0 > /dev/stderr",
    "{ echo after > /dev/stderr; } 2< a",
    "sh -c 'echo after > /dev/stderr' 2< a",
    "x=err; echo after 2< a > /dev/std$x",
    "(echo after > /dev/fd/1 ) 1< a",
]


@pytest.mark.parametrize("command", WRITING)
def test_a_file_that_is_open_for_reading_is_not_written_by_the_name_of_its_stream(work: Path, command: str) -> None:
    assert decide(command, workspace=str(work)) == "ask"


@pytest.mark.parametrize("command", WRITING[:2] + WRITING[4:6])
def test_bash_writes_it(work: Path, command: str) -> None:
    run(work, command)
    assert "after" in (work / "a").read_text()


@pytest.mark.parametrize(
    "command",
    ["cat /dev/stderr 2>> .env", "cat /dev/stdin 0>> .env", "cat /dev/stdout >> .env", "cat /dev/fd/3 3>> .env"],
)
def test_a_file_that_is_open_for_writing_is_not_read_by_the_name_of_its_stream(work: Path, command: str) -> None:
    assert decide(command, workspace=str(work), allow=["Edit(./**)", "Bash(cat:*)"], mode="auto") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > /dev/stderr", "echo x > /dev/stdout", "cat /dev/stdin", "ls | cat /dev/stdin", "ls 2>/dev/null",
        "ls >/dev/null 2>&1", "wc -l < /dev/fd/0", "ls -l /dev/stdin", "wc -l < a 2>&1",
        "while read -r line; do echo \"$line\" > /dev/stderr; done < a",
    ],
)  # fmt: skip
def test_streams_that_are_what_their_names_say_need_no_rule(work: Path, command: str) -> None:
    assert decide(command, workspace=str(work)) == "allow"


def test_an_input_named_by_a_dash_is_a_file(work: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("TOPSECRET\n")
    (work / "-").symlink_to("../outside")
    assert "TOPSECRET" in run(work, "cat < -")
    assert decide("cat < -", workspace=str(work)) == "ask"


@pytest.mark.parametrize("command", ["ls -", "ls -R -", "rev -", "column -", "sed 'r -' a", "cat -", "sort -"])
def test_an_operand_that_is_a_dash_may_be_a_file_where_there_is_one(work: Path, tmp_path: Path, command: str) -> None:
    assert decide(command, workspace=str(work)) == "allow"
    (tmp_path / "outside").mkdir()
    (work / "-").symlink_to("../outside")
    assert decide(command, workspace=str(work)) == "ask"


@pytest.mark.parametrize("command", ["cat /dev/fd/3", "cat < /dev/fd/63", "echo x > /dev/fd/3"])
def test_what_else_may_be_open_asks(work: Path, command: str) -> None:
    assert decide(command, workspace=str(work)) == "ask"


def test_a_folder_on_the_input_is_not_searched_by_its_name(work: Path) -> None:
    assert decide("grep -r TOKEN /dev/stdin < .", workspace=str(work), mode="auto") == "ask"
