"""Programs that open a file which no word names: another one where that is missing (``zcat a.zst`` opens `a.zst.gz`),
or one for their output (``nohup``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.probes import disk

from .asked import HOME, decide


@pytest.mark.parametrize(
    ("command", "link"),
    [
        ("zcat a.zst", "a.zst.gz"),
        ("gunzip -c a.xz", "a.xz.Z"),
        ("gzip -l a.gz", "a.gz-z"),
        ("gzip -dc a.bz2", "a.bz2.z"),
        ("unzip -l a.zip", "a.zip.zip"),
        ("unzip -t a.jar", "a.jar.ZIP"),
    ],
)
def test_a_link_to_a_file_outside_has_the_name_that_is_tried(command: str, link: str, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    assert decide(command, workspace=str(tmp_path / "ws"), home=HOME) == "allow"
    (tmp_path / "outside").write_text("x")
    (tmp_path / "ws" / link).symlink_to("../outside")
    assert decide(command, workspace=str(tmp_path / "ws"), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "nohup cat a", "nohup ls 2> /dev/null", "nohup ls >&2", "time nohup ls", "timeout 5 nohup ls &",
        "nohup ls > /dev/stderr", "nohup ls >> /dev/stdout", "nohup ls &> /dev/fd/1", "nohup ls > /dev/null >&2",
        "nohup ls > /dev/null > /dev/stderr", "bash -c 'nohup ls > /dev/stderr'", "{ nohup ls > /dev/stdout; }",
    ],
)  # fmt: skip
def test_a_link_to_a_file_outside_has_the_name_of_the_output(command: str, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    assert decide(command, workspace=str(tmp_path / "ws"), home=HOME) == "allow"
    (tmp_path / "outside").write_text("x")
    (tmp_path / "ws/nohup.out").symlink_to("../outside")
    assert decide(command, workspace=str(tmp_path / "ws"), home=HOME) == "ask"
    for harmless in ("> /dev/null", "> /dev/null 2>&1", ">&2 > /dev/null", "&> /dev/null", "> /dev/null 3>&1"):
        assert decide(f"nohup ls {harmless}", workspace=str(tmp_path / "ws"), home=HOME) == "allow"


def test_in_a_folder_that_cannot_be_written_nohup_writes_into_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_can_write", lambda path: not path.endswith("/shut"))  # root may write anywhere
    (tmp_path / "ws/shut").mkdir(parents=True)
    command = "cd shut && nohup cat ../a"
    assert decide(command, workspace=str(tmp_path / "ws"), home=HOME) == "ask"
    assert decide(f"{command} > /dev/null", workspace=str(tmp_path / "ws"), home=HOME) == "allow"
