"""The address of the repository stands in the package while it is made, and nowhere before or after."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import with_address  # noqa: E402  # pyright: ignore[reportMissingImports]

READ = "import json, pathlib, sys; pathlib.Path(sys.argv[2]).write_text(pathlib.Path(sys.argv[1]).read_text())"


@pytest.mark.parametrize("ends", ["", "/", ".git"])
def test_the_command_sees_the_address_and_the_file_is_put_back(tmp_path: Path, ends: str):
    manifest, seen = tmp_path / "package.json", tmp_path / "seen.json"
    manifest.write_text('{"name": "x"}')
    address = f"https://example.invalid/someone/countersign{ends}"
    status = with_address.run([sys.executable, "-c", READ, str(manifest), str(seen)], manifest, address)
    page = "https://example.invalid/someone/countersign"
    assert json.loads(seen.read_text()) == {
        "name": "x",
        "repository": {"type": "git", "url": f"{page}.git"},
        "homepage": f"{page}#readme",
        "bugs": {"url": f"{page}/issues"},
    }
    assert (status, manifest.read_text()) == (0, '{"name": "x"}')


def test_a_command_that_fails_leaves_nothing_behind(tmp_path: Path):
    manifest = tmp_path / "package.json"
    manifest.write_text("{}")
    status = with_address.run([sys.executable, "-c", "raise SystemExit(3)"], manifest, "https://example.invalid/a/b")
    assert (status, manifest.read_text()) == (3, "{}")


def test_without_an_address_the_command_runs_as_it_is(tmp_path: Path):
    assert with_address.run([sys.executable, "-c", "raise SystemExit(4)"], tmp_path / "none.json", "") == 4


@pytest.mark.parametrize("address", ["http://example.invalid/a/b", "git@example.invalid:a/b.git", "x", "https://x"])
def test_what_is_no_address_is_refused(address: str):
    with pytest.raises(ValueError, match="https address of a repository"):
        with_address.addressed({}, address)


def test_the_manifest_in_the_tree_holds_no_address():
    manifest = json.loads((ROOT / "client-ts" / "package.json").read_text(encoding="utf-8"))
    assert {"repository", "homepage", "bugs"}.isdisjoint(manifest)
