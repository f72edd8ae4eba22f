"""What npm, pnpm and yarn write by their subcommand is judged as a write of that file."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

SETTINGS = (
    "npm config set --location=project x=y",
    "npm config set --location project x y",
    "npm config --location=project set x y",
    "npm --location=project config set x y",
    "npm config -L project set x=y",
    "npm config set -L project x y",
    "npm c set x y --location=project",
    "npm conf delete x --location=project",
    "npm config fix --location=project",
    "npm set x=y --location=project",
    "npm config set x y",
    "npm config set x y -g",
    "npm set x=y",
    "pnpm config set --location=project x y",
    "pnpm config set --location project x y",
    "pnpm config delete x --location project",
    "pnpm set x y",
    "yarn config set yarnPath ./x",
    "yarn config unset yarnPath",
    "yarn config set --home yarnPath ./x",
    "yarn set version ./x.js",
    "yarn plugin import ./x.js",
    "npm config set --userconfig .git/x a b",
    "npm config set --userconfig=../x a b",
    "timeout 9 npm config set --location=project x=y",
)
"""Commands that write settings, which are protected or lie outside the workspace."""

SHOWN = (
    "npm config get registry",
    "npm config list",
    "npm config ls -l",
    "npm c get registry",
    "pnpm config get registry",
    "pnpm config list",
    "yarn config get registry",
    "npm run config",
    "npm test",
    "npm install",
    "npm ci",
    "npm pack",
    "npm run set-up",
    "yarn install",
    "yarn",
    "pnpm add left-pad",
)

PACKED = (
    "npm pack --pack-destination {}",
    "npm pack --pack-destination={}",
    "npm --pack-destination {} pack",
    "npm pack ./sub --pack-destination {} --json",
    "pnpm pack --pack-destination {}",
    "pnpm pack --out {}/x.tgz",
    "yarn pack --filename {}/x.tgz",
    "yarn pack -f {}/x.tgz",
    "yarn pack -o {}/%s.tgz",
    "yarn pack --out={}/x.tgz",
)

MANIFEST = (
    "npm pkg set scripts.x=y",
    "npm pkg delete scripts.x",
    "npm set-script x y",
    "npm version patch",
    "npm init -y",
    "pnpm init",
    "pnpm version 1.0.0",
    "yarn version --patch",
    "yarn init -y",
)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for folder in ("ws/.git", "ws/sub", "ws/locked", "home"):
        (tmp_path / folder).mkdir(parents=True)
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


@pytest.mark.parametrize("command", SETTINGS)
def test_writing_settings_asks_in_every_mode(command: str, places: dict[str, str]) -> None:
    words = command.removeprefix("timeout 9 ").split()
    assert decide(command, mode="auto", **places) == "ask"
    assert decide(command, [f"Bash({words[0]}:*)", f"Bash({' '.join(words[:3])}:*)"], **places) == "ask"


@pytest.mark.parametrize("command", SHOWN)
def test_what_shows_settings_or_runs_a_script_is_a_command_like_others(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Edit(./locked/**)"], mode="auto", **places) == "allow"


@pytest.mark.parametrize("pack", PACKED)
def test_a_packed_archive_is_written_where_the_option_says(pack: str, places: dict[str, str]) -> None:
    how = {"mode": "auto", "deny": ["Edit(./locked/**)"], **places}
    assert decide(pack.format("locked"), **how) != "allow"
    assert decide(pack.format("./sub/../locked"), **how) != "allow"
    assert decide(pack.format(".git"), **how) != "allow"
    assert decide(pack.format("../out"), **how) != "allow"
    assert decide(pack.format("sub"), **how) == "allow"


@pytest.mark.parametrize("command", MANIFEST)
def test_a_manifest_is_written_under_its_rules(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Edit(package.json)"], mode="auto", **places) == "deny"
    assert decide(command, deny=["Edit(./locked/**)"], mode="auto", **places) == "allow"
