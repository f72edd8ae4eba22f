"""A workbench with a sandbox, a repository in its workspace, and things that a command in it must not reach."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from countersign.settings.policy import Policy, RuleText
from countersign.tools.sandbox.confiner import Confiner
from tests.tools.workbench import Workbench

SECRET = "TOPSECRET"
RULES = (
    RuleText("deny", "Read(private/**)"),
    RuleText("deny", "Read(notes.txt)"),
    RuleText("deny", "Edit(locked/**)"),
    RuleText("deny", "Edit(fixed.txt)"),
)
FILES = {
    ".env": f"KEY={SECRET}",
    "deep/er/.env.local": f"KEY={SECRET}",
    "server.pem": SECRET,
    "private/key": SECRET,
    "notes.txt": SECRET,
    "locked/a": "old",
    "fixed.txt": "old",
    "src/a.txt": "a\n",
    ".vscode/settings.json": "{}",
    ".envrc": "old",
    "sub/.claude/settings.json": "{}",
    "hooks/pre-push": "#!/bin/sh\n",
}


def why_none() -> str | None:
    """Why there is no sandbox on this machine, or None."""
    with tempfile.TemporaryDirectory() as folder:
        workspace, storage, home = (Path(folder) / name for name in ("workspace", "storage", "home"))
        for made in (workspace, storage, home):
            made.mkdir()
        return Confiner(storage).blocking_state(Policy(workspace=str(workspace), home=str(home))).reason


NO_SANDBOX = why_none()
needs_sandbox = pytest.mark.skipif(NO_SANDBOX is not None, reason=f"no sandbox can be made here: {NO_SANDBOX}")


class SandboxBench(Workbench):
    """The workbench, its commands in the sandbox."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.storage = folder.resolve() / "storage"
        self.storage.mkdir()
        self.desk.confiner = Confiner(self.storage)
        self.set(sandbox_mode="commands", rules=RULES, sandbox_available=True)
        self.git("init", "-q", "-b", "main", ".")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "A")
        self.git("config", "core.hooksPath", "hooks")
        for name, text in FILES.items():
            self.file(name, text)
        os.link(self.workspace / ".env", self.workspace / "src/hard")
        (self.workspace / "soft").symlink_to(".env")
        (self.outside / "file").write_text(SECRET)
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh/id_rsa").write_text(SECRET)
        self.git("add", "src/a.txt")
        self.git("commit", "-qm", "first")

    def git(self, *words: str) -> str:
        """Git outside the sandbox, without anybody's settings."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=self.workspace, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    async def output_of(self, command: str) -> str:
        """What a command in the sandbox puts out."""
        return (await self.do("shell", command=command)).output

    def content(self) -> dict[str, bytes]:
        """Everything in the workspace but git's own files, with the marks that an overlay leaves."""
        found: dict[str, bytes] = {}
        for path in sorted(self.workspace.rglob("*")):
            if ".git" in path.parts:
                continue
            marks = [name for name in os.listxattr(path, follow_symlinks=False) if "overlay" in name]
            found[f"{path.relative_to(self.workspace)} {marks or ''}"] = (
                path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            )
        return found
