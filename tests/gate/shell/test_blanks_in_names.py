"""A file whose name ends in blanks is another than the one without them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from .asked import decide


@pytest.mark.parametrize(
    "command",
    [
        "sed 'r n ' a.txt",
        "sed 'R n ' a.txt",
        "sed -n -e '1r n ' -e 1p a.txt",
        "sed 's/a/b/;r n ' a.txt",
        "x=' '; sed \"r n$x\" a.txt",
    ],
)
def test_sed_reads_the_file_of_the_whole_name(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / ".env").write_text("TOPSECRET\n")
    (tmp_path / "n ").symlink_to(".env")
    assert decide(command, workspace=str(tmp_path)) == "ask"
    line = ["bash", "--norc", "-c", command]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "TOPSECRET" in done.stdout


def test_sed_writes_into_the_file_of_the_whole_name(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x ").symlink_to(tmp_path.parent / "other")
    rules = ["Bash(sed:*)", "Edit(./out/**)"]
    assert decide("sed -n 'w out/x ' a.txt", allow=rules, workspace=str(tmp_path)) == "ask"
    assert decide("sed 'w /dev/stdout ' a.txt", workspace=str(tmp_path)) == "ask"
    assert decide("sed 'w /dev/stdout' a.txt", workspace=str(tmp_path)) == "allow"


def test_a_link_to_no_file_is_where_nohup_makes_one(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert decide("nohup cat a.txt", workspace=str(tmp_path)) == "allow"
    (tmp_path / "nohup.out").symlink_to(tmp_path.parent / "other")
    (tmp_path / "sub/nohup.out").symlink_to("../.vscode/tasks.json")
    assert decide("nohup cat a.txt", workspace=str(tmp_path)) == "ask"
    assert decide("cd sub && nohup cat ../a.txt", workspace=str(tmp_path)) == "ask"
