"""``find -delete`` below a folder with protected places: a test must leave all of these out (docs/gate.md P4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide
from .listed_places import with_files

REACHES = """
find . -path '*/.git/hooks/*' -delete
find . -path '*/.vscode/*' -delete
find . -path './.g[i]t/*' -delete
find . -ipath '*/.VSCODE/*' -delete
find . -regex './.git/.*' -delete
find . -name '.vsc*' -delete
find . -name '.m[c]p.json' -delete
find . -name '*.json' -delete
find . -mtime +7 -delete
find . -not -name '*.py' -delete
find . ! -name '*.py' -delete
find . -name '*.py' -o -mtime +7 -name '*' -delete
find . -empty -type d -delete
find . -name '*.pyc' -o -delete
find . -delete -name '*.pyc'
find . ! '(' -name '*.pyc' ')' -delete
find . -name '*.pyc' , -delete
find . -name '*.pyc' -print -o -delete
find . -name '*.pyc' -delete -o -delete
find . '(' -name '*.pyc' -or -true ')' -delete
find . -iname 'HEAD*' -delete
find -L . -name '*.json' -delete
"""
LEAVES_OUT = """
find . -name '*.pyc' -delete
find . -type f -name '*.tmp' -delete
find . -name '*.pyc' -o -name '*.pyo' -delete
find . -type d -name __pycache__ -delete
find . -name '*.pyc' -not -path '*/.git/*' -delete
find . -iname '*.JPG' -delete
find . '(' -name '*.pyc' -o -name '*.pyo' ')' -delete
find . -name '*.pyc' -print -delete
find src -mtime +7 -delete
find dist -delete
"""


@pytest.mark.parametrize(("commands", "expected"), [(REACHES, "ask"), (LEAVES_OUT, "allow")])
@pytest.mark.parametrize("more", [{"mode": "auto"}, {"allow": ["Bash(find:*)", "Edit"]}], ids=["auto", "rules"])
def test_protected_places_are_left_out(commands: str, expected: str, more: dict[str, object], tmp_path: Path) -> None:
    files = "ws/.git/hooks/x ws/.git/HEAD ws/.vscode/settings.json ws/.mcp.json ws/src/a.py ws/dist/a home/x"
    where = with_files(tmp_path, files)
    for command in commands.strip().splitlines():
        assert decide(command, **more, **where) == expected, command
