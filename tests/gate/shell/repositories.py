"""Git repositories that tests lay out, without an identity of the user."""

from __future__ import annotations

import subprocess
from pathlib import Path

TOKEN = "THE-TOKEN"


def git(folder: Path, *words: str, given: str | None = None) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *person, *words], cwd=folder, input=given, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else ""


def commit_all(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")


def with_branch(folder: Path, *, secret: str = "conf/live.txt") -> None:
    """A repository whose branch `topic` has a ruled file that `main` never had."""
    (folder / "src").mkdir()
    (folder / "src/a.txt").write_text("x\n")
    git(folder, "init", "-q", "-b", "main")
    commit_all(folder)
    git(folder, "switch", "-q", "-c", "topic")
    (folder / secret).parent.mkdir(exist_ok=True)
    (folder / secret).write_text("".join(f"{TOKEN} {number}\n" for number in range(40)))
    commit_all(folder)
    git(folder, "switch", "-q", "main")


def stored(folder: Path, kind: str, text: bytes) -> str:
    words = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    return subprocess.run(words, cwd=folder, input=text, capture_output=True, check=True).stdout.decode().strip()


def unmerged(folder: Path) -> None:
    """A conflict in a file that one side renamed, whose lines of a secret stand in the index alone."""
    same = "".join(f"{number}\n" for number in range(20))
    git(folder, "init", "-q", "-b", "main")
    (folder / "conf").mkdir()
    (folder / "conf/k").write_text("k\n")
    (folder / ".env").write_text(f"KEY=old\n{same}")
    commit_all(folder)
    git(folder, "switch", "-q", "-c", "one")
    (folder / ".env").write_text(f"KEY={TOKEN}\n{same}")
    commit_all(folder)
    git(folder, "switch", "-q", "-c", "two", "main")
    git(folder, "mv", ".env", "conf/x")
    (folder / "conf/x").write_text(f"KEY=\n{same}")
    commit_all(folder)
    for number in range(14):
        (folder / "n").write_text(f"{number}\n")
        commit_all(folder)
    git(folder, "merge", "-q", "one")
    (folder / "conf/x").write_text("KEY=new\n")
