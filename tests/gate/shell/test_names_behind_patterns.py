"""Files that are made anew behind a name which a pattern matches: bash matches what a variable holds by itself, and
what stands behind it need not be there (``for d in s*; do touch "$d/new"; done``)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .asked import HOME, decide

RULES = ["Bash(cp:*)", "Bash(tee:*)", "Bash(touch:*)", "Bash(mv:*)"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    top = tmp_path / "ws"
    (top / "src/deep").mkdir(parents=True)
    (top / ".vscode").mkdir()
    (top / "lib").mkdir()
    (tmp_path / "outside").mkdir()
    for name in ("a.txt", "src/a.py", "lib/a.py"):
        (top / name).write_text("x")
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    for link, target in (("out", "../outside"), ("gl", ".git"), ("vl", ".vscode")):
        (top / link).symlink_to(target)
    return top


@pytest.mark.parametrize(
    "command",
    [
        'for d in o?t; do cp a.txt "$d/new"; done',
        'for d in o?t; do touch "$d/new"; done',
        'for d in o?t; do touch "./$d/new"; done',
        'for d in o?t; do y="$d/new"; touch "$y"; done',
        'for d in g?; do cp a.txt "$d/hooks/pre-commit"; done',
        'for d in v?; do mv a.txt "$d/tasks.json"; done',
        'for d in .*/; do cp a.txt "$d/hooks/post-commit"; done',
        'for d in .v*/; do tee "$d/launch.json" < a.txt; done',
        'for d in .g?t; do touch "$d/hooks/post-commit"; done',
        'for d in .g?t; do for e in h*; do touch "$d/$e/post-commit"; done; done',
    ],
)
def test_a_rule_for_a_program_covers_no_file_outside_and_no_protected_one(command: str, workspace: Path) -> None:
    assert decide(command, allow=RULES, workspace=str(workspace), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        'for d in s?c; do tee "$d/new" < a.txt; done',
        'for d in s?c; do mkdir -p "$d/new/er"; done',
        'for d in s?c; do sort -o "$d/new" a.txt; done',
        'for d in s?c; do tar cf "$d/new" a.txt; done',
        'for d in s?c; do gcc -o "$d/new" a.c; done',
        'for d in s?c; do zzz9 -o "$d/new"; done',
        'for d in */; do touch "$d/x"; done',
        'for f in s?c/*.py; do cp "$f" "$f.bak"; done',
        'for f in s?c/*.py; do touch "${f}_new"; done',
        'for d in s?c; do for f in *.txt; do cp "$f" "$d/$f"; done; done',
        'for d in s?c/*/; do touch "${d}x"; done',
    ],
)
def test_a_rule_that_denies_editing_counts_for_new_files(command: str, workspace: Path) -> None:
    found = decide(command, deny=["Edit(src/**)"], mode="auto", workspace=str(workspace), home=HOME)
    assert found in {"ask", "deny"}


@pytest.mark.parametrize(
    "command",
    [
        'for f in lib/*.py; do cp "$f" "$f.bak"; done',
        'for d in l?b; do touch "$d/new"; done',
        "for d in l*; do :; done",
    ],
)
def test_new_files_elsewhere_need_nothing_more(command: str, workspace: Path) -> None:
    assert decide(command, allow=RULES, workspace=str(workspace), home=HOME) == "allow"
    assert decide(command, deny=["Edit(src/**)"], mode="auto", workspace=str(workspace), home=HOME) == "allow"


def test_more_folders_than_are_looked_at_ask(workspace: Path) -> None:
    for number in range(3_000):
        (workspace / f"k{number}").mkdir()
    (workspace / "kz").symlink_to("../outside")
    command = 'for d in k*; do touch "$d/new"; done'
    assert decide(command, allow=RULES, workspace=str(workspace), home=HOME) == "ask"
    assert decide(command, mode="auto", workspace=str(workspace), home=HOME) == "ask"
