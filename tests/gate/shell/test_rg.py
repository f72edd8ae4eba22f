"""Ignore files that bring hidden secrets back take ``rg`` out of the read-only set (tried with ripgrep 13.0)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import HOME, decide


@pytest.mark.parametrize(
    ("file", "text", "command", "expected"),
    [
        (".ignore", "!.env\n", "rg KEY", "ask"),
        (".rgignore", "node_modules\n!.env*\n", "rg KEY", "ask"),
        (".gitignore", "!.*\n", "rg KEY src", "ask"),
        (".git/info/exclude", "!/.env\n", "rg KEY", "ask"),
        ("src/.ignore", "!*\n", "rg KEY src", "ask"),
        ("src/.ignore", "!?env\n", "rg KEY src", "ask"),
        ("src/.ignore", "!{.env,notes/{a,b}}\n", "rg KEY src", "ask"),
        ("src/.ignore", "!.npmrc", "cd src && rg KEY", "ask"),
        (".ignore", "!.env\n", "rg --files", "ask"),
        (".ignore", "#" * 200_000, "rg KEY", "ask"),
        (".gitignore", ".env\n!.env.example\n!*.md\n!build/\n", "rg KEY", "allow"),
        (".ignore", "!.env\n", "rg KEY src/app.py", "ask"),
        ("tests/.ignore", "!.env\n", "rg KEY src", "allow"),
    ],
)
def test_an_ignore_file_may_bring_a_secret_back(
    tmp_path: Path, file: str, text: str, command: str, expected: str
) -> None:
    for folder in ("src", "tests", ".git/info"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/app.py").write_text("x")
    (tmp_path / file).write_text(text)
    assert decide(command, workspace=str(tmp_path), home=HOME) == expected
