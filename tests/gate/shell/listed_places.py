"""Workspaces for tests of what listings print."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def lay_out(tmp_path: Path) -> dict[str, str]:
    return with_files(tmp_path, "ws/src/a.py ws/src/b.py ws/tests/a.py ws/README.md home/.ssh/id_rsa out/x.py")


def with_files(top: Path, names: str) -> dict[str, str]:
    """Make these files below `ws` and `home` of a folder, and say which these are."""
    for name in names.split():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()
    return {"workspace": str(top / "ws"), "home": str(top / "home")}


def make(name: str, places: dict[str, str]) -> None:
    """Make a file of this name, or a symlink where it leads somewhere, or a further name of another file."""
    name, arrow, target = name.format(**places).partition(" -> ")
    other, same, twin = name.partition(" = ")
    path = Path(places["workspace"]) / (other if same else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if arrow:
        path.symlink_to(target)
    elif same:
        os.link(Path(places["workspace"]) / twin, path)
    else:
        path.touch()


def track(places: dict[str, str]) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=places["workspace"], check=True, capture_output=True)
