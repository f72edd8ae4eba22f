"""A probe of a file's beginning where a folder has the file's name: an answer, and no descriptor that stays open."""

from __future__ import annotations

import os
from pathlib import Path

from countersign.agents.acp.tracked_files import _digest  # pyright: ignore[reportPrivateUsage]
from countersign.gate.probes import disk
from countersign.settings.files import load_file
from countersign.settings.tree import policy_tree
from tests.gate.shell.asked import decide


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_folder_has_no_beginning_and_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = open_descriptors()
    for _ in range(5):
        assert disk.beginning(str(tmp_path), 100) is None
        assert _digest(str(tmp_path)) == b""
        assert load_file(tmp_path, policy_tree).problem is not None
    assert open_descriptors() == before


def test_a_folder_in_the_place_of_a_file_of_gits_settings_is_no_settings(tmp_path: Path) -> None:
    for folder in (".git/objects", ".git/refs", ".git/config.worktree", ".git/index", "settings"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main")
    (tmp_path / ".git/config").write_text("[core]\n\tbare = false\n")
    before = open_descriptors()
    assert decide("git status", workspace=str(tmp_path)) == "allow"
    assert open_descriptors() == before
