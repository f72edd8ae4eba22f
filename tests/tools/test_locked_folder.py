"""A locked folder ends with its server; what a killed one left is swept, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from countersign.tools.shell.locked_folder import HOOKS_PREFIX, LockedFolder, blocking_sweep

from .workbench import PATIENCE

SERVER = """
import sys
from countersign.tools.shell.locked_folder import HOOKS_PREFIX, LockedFolder
folder = LockedFolder(HOOKS_PREFIX, sys.argv[1])
print(folder.path, flush=True)
sys.stdin.read()
"""


def test_only_the_folders_of_killed_servers_are_swept(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("")
    parent = tmp_path / "tmp"
    parent.mkdir()
    mine = LockedFolder(HOOKS_PREFIX, str(parent))
    (parent / f"{HOOKS_PREFIX}link").symlink_to(outside)
    (parent / f"{HOOKS_PREFIX}file").write_text("")
    os.mkfifo(parent / f"{HOOKS_PREFIX}pipe")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        left = Path(server.stdout.readline().strip())
        (left / "inner").symlink_to(outside)
        blocking_sweep(HOOKS_PREFIX, str(parent))
        assert left.is_dir(), "its server lives"
        server.kill()
        server.wait(PATIENCE)
    blocking_sweep(HOOKS_PREFIX, str(parent))
    left_over = {path.name.removeprefix(HOOKS_PREFIX) for path in parent.iterdir()}
    assert left_over == {"link", "file", "pipe", os.path.basename(mine.path).removeprefix(HOOKS_PREFIX)}
    assert (outside / "kept").exists()
    mine.blocking_remove()
    assert not os.path.exists(mine.path)
