"""A file that is named like an option, which a pathname pattern hands to a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

RULES = ["Bash(evil:*)", "Edit(./kept)"]


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", ".env", "kept", "sub/b.txt"):
        (tmp_path / name).write_text("x\n")
    return str(tmp_path)


def lay(workspace: str, *names: str) -> None:
    for name in names:
        (Path(workspace) / name).write_text("x\n")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tar cf x.tar *", "--checkpoint-action=exec=evil"), ("tar cf x.tar ?-*", "--checkpoint-action=exec=evil"),
        ("tar cf x.tar --c*", "--checkpoint-action=exec=evil"), ("tar cf x.tar *.txt", "--to-command=evil .txt"),
        ("rsync * h:", "-eevil"), ("sort *", "-okept"), ("wc *", "--files0-from=.env"), ("date *", "-f.env"),
        ("rg x *", "--pre=evil"), ('for f in *; do tar cf x.tar "$f"; done', "-Ievil"), ("unknown *", "--run=evil"),
        ("cd sub; sort *", "sub/-okept"), ("git log *", "--output=kept"), ("timeout 3 sort *", "-okept"),
    ],
)  # fmt: skip
def test_a_pattern_that_matches_it_asks_in_every_mode(text: str, name: str, workspace: str) -> None:
    assert decide(text, deny=RULES, mode="auto", workspace=workspace) in {"allow", "ask"}
    lay(workspace, name)
    assert decide(text, deny=RULES, mode="auto", workspace=workspace) == "ask"
    assert decide(text, mode="auto", workspace=workspace) == "ask"
    assert decide(text, deny=RULES, bypass=True, workspace=workspace) == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "tar cf x.tar ./*", "tar cf x.tar -- *", "tar cf x.tar a*", "cat *", "echo *", "sort [a-z].txt", "sort -- *",
        "grep --exclude=*.md x a.txt", "cd sub; sort *", 'git commit -m "$(cat <<E\nx\nE\n)"',
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_hand_it_on_is_allowed(text: str, workspace: str) -> None:
    lay(workspace, "-okept", "--checkpoint-action=exec=evil")
    assert decide(text, mode="auto", workspace=workspace) == "allow"
