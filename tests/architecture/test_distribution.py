"""The distribution's name: `countersign` on the public index is somebody else's, so ours is `countersign-desk`."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FROM_AN_INDEX = re.compile(
    rb"(?:\bpip3? install|\bpipx (?:install|run)|\buvx|\buv (?:tool (?:install|run)|add|pip install))"
    rb"(?: +-\S+)* +[\"'`]?countersign\b(?!/)"
)
"""A command that fetches the distribution by name, under the old name or, before that is registered, under ours."""


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name]


def test_the_distribution_is_countersign_desk_and_the_program_countersign():
    assert PROJECT["project"]["name"] == "countersign-desk"
    assert PROJECT["project"]["scripts"] == {"countersign": "countersign.cli:main"}


def test_the_metadata_is_complete_and_names_no_development_tool():
    project = PROJECT["project"]
    for field in ("authors", "classifiers", "keywords", "license", "readme", "description"):
        assert project[field]
    assert "Private :: Do Not Upload" in project["classifiers"]
    assert "optional-dependencies" not in project
    assert any(each.startswith("pytest") for each in PROJECT["dependency-groups"]["dev"])
    assert (ROOT / "server/countersign/py.typed").exists()


def test_no_page_installs_it_from_an_index():
    pages = [
        path for path in tracked() if path.suffix in {".md", ".json", ".ts", ".py", ".toml", ".sh", ".mjs", ".yml"}
    ]
    pages.remove(Path(__file__))  # its own samples
    found = [path.name for path in pages if path.is_file() and FROM_AN_INDEX.search(path.read_bytes())]
    assert found == []


@pytest.mark.parametrize(
    "line", [b"pip install countersign", b"uvx  countersign serve", b"uv tool install -U  'countersign-desk'"]
)
def test_such_a_line_would_be_found(line: bytes):
    assert FROM_AN_INDEX.search(line)
