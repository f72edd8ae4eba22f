"""A folder that is mounted at a second path is judged by both: a real bind mount stands for macOS's firmlinks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
ASK = """
import sys
sys.path[:0] = sys.argv[1:3]
from countersign.advice.explain import explain, policy_of
fields = {"mode": "auto", "bypass": sys.argv[5] == "bypass", "workspace": sys.argv[3], "home": sys.argv[3] + "-home",
          "rules": {"deny": ["Read(held/**)", "Edit(fixed/**)"]}}
policy, mode = policy_of(fields)
for command in sys.argv[6:]:
    asked = {"tool": "bash", "args": {"command": command.replace("OTHER", sys.argv[4])}}
    print(explain(asked, policy, mode, check_syntax=lambda text: None).verdict)
"""


def asked(tmp_path: Path, way: str, *commands: str) -> list[str]:
    workspace, other = tmp_path / "ws", tmp_path / "elsewhere" / "mount"
    for folder in (workspace / "held", workspace / "fixed", workspace / ".git", other):
        folder.mkdir(parents=True)
    (workspace / "held" / "key").write_text("x")
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    mounted = ["bwrap", "--dev-bind", "/", "/", "--bind", str(tmp_path), str(other), "--"]
    if subprocess.run([*mounted, "/bin/true"], capture_output=True, timeout=PATIENCE, check=False).returncode:
        pytest.skip("bubblewrap cannot mount here")
    code = [sys.executable, "-c", ASK, str(ROOT), str(ROOT / "server"), str(workspace), str(other), way, *commands]
    done = subprocess.run([*mounted, *code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout.split()


def test_a_deny_rule_reaches_a_file_by_the_other_path_of_its_folder(tmp_path: Path) -> None:
    commands = ("cat OTHER/ws/held/key", "cat OTHER/ws/held/new", "echo x > OTHER/ws/fixed/x", "cat OTHER/ws/a.txt")
    assert asked(tmp_path, "auto", *commands) == ["deny", "deny", "deny", "allow"]


def test_it_also_does_so_under_bypass(tmp_path: Path) -> None:
    assert asked(tmp_path, "bypass", "echo x > OTHER/ws/fixed/x", "rm -r OTHER/ws/fixed") == ["deny", "deny"]
