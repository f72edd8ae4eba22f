"""Installed agents are found by their files alone, wherever npm puts them, and never in the workspace."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from countersign.agents.acp.installed import blocking_programs, missing_programs
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.recipe_file import known_recipes

ONE = Recipe("one", "gated", program="one", packages=frozenset(["@who/one"]), requires=("node",))
FIRST = Recipe("first", "gated", program="both", packages=frozenset(["@first/both"]))
SECOND = Recipe("second", "gated", program="both", packages=frozenset(["@second/both"]))
RECIPES = (ONE, FIRST, SECOND, Recipe("none", "gated"))


def installed(prefix: Path, program: str, package: str | None, mode: int = 0o755) -> str:
    """Install a program as npm does, or as a file of its own; it would leave a trace if it were executed."""
    link = prefix / "bin" / program
    link.parent.mkdir(parents=True, exist_ok=True)
    text = f"#!/bin/sh\ntouch {prefix}/executed\n"
    if package is None:
        link.write_text(text)
        link.chmod(mode)
        return str(link)
    folder = prefix / "lib/node_modules" / package
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": package, "version": "1.2.3"}))
    (folder / "cli.js").write_text(text)
    (folder / "cli.js").chmod(mode)
    link.symlink_to(folder / "cli.js")
    return str(link)


def found(tmp_path: Path, environment: Mapping[str, str] = {}, system: tuple[str, ...] = ()) -> dict[str, str]:
    programs = blocking_programs(RECIPES, {"HOME": str(tmp_path), **environment}, str(tmp_path / "work"), system)
    assert not [*tmp_path.rglob("executed")]
    return programs


@pytest.mark.parametrize(
    ("prefix", "environment", "npmrc"),
    [
        ("anywhere", {"PATH": "{home}/anywhere/bin"}, ""),
        ("anywhere", {"PATH": "relative:/nowhere::{home}/anywhere/bin"}, ""),
        (".npm-global", {"PATH": "/nowhere"}, ""),
        (".local", {}, ""),
        ("prefix", {"npm_config_prefix": "{home}/prefix"}, ""),
        ("prefix", {}, "registry=x\nprefix=${HOME}/prefix\n"),
        ("prefix", {}, 'prefix = "~/prefix"\n'),
        (".nvm/versions/node/v22.1.0", {}, ""),
        ("nvm/versions/node/v22.1.0", {"NVM_DIR": "{home}/nvm"}, ""),
    ],
)
@pytest.mark.parametrize("package", ["@who/one", "@who/one-linux-x64", None])
def test_a_program_is_found_where_npm_or_path_has_it(
    tmp_path: Path, prefix: str, environment: dict[str, str], npmrc: str, package: str | None
) -> None:
    path = installed(tmp_path / prefix, "one", package)
    (tmp_path / ".npmrc").write_text(npmrc)
    given = {name: value.replace("{home}", str(tmp_path)) for name, value in environment.items()}
    assert found(tmp_path, given) == {"one": path}


def test_the_first_of_path_and_the_newest_of_nvm_count(tmp_path: Path) -> None:
    nvm = tmp_path / ".nvm/versions/node"
    for name in ("v9.9.9", "v20.1.0", "v20.10.0", "garbage"):
        installed(nvm / name, "one", "@who/one")
    assert found(tmp_path) == {"one": str(nvm / "v20.10.0/bin/one")}
    first = installed(tmp_path / "a", "one", "@who/one")
    assert found(tmp_path, {"PATH": f"{tmp_path}/a/bin:{tmp_path}/b/bin"}) == {"one": first}


@pytest.mark.parametrize(
    ("program", "package", "names"),
    [
        ("one", "someone-else", []),
        ("both", "@first/both", ["first"]),
        ("both", "@second/both", ["second"]),
        ("both", "@third/both", []),
        ("both", None, []),
    ],
)
def test_a_program_counts_for_the_recipe_of_its_package(
    tmp_path: Path, program: str, package: str | None, names: list[str]
) -> None:
    installed(tmp_path / "prefix", program, package)
    assert [*found(tmp_path, {"PATH": f"{tmp_path}/prefix/bin"})] == names


@pytest.mark.parametrize("how", ["a folder of the workspace", "a link into it", "a linked folder"])
def test_nothing_of_the_workspace_is_found(tmp_path: Path, how: str) -> None:
    path = installed(tmp_path / "work", "one", "@who/one")
    (tmp_path / "bin").mkdir()
    if how == "a link into it":
        (tmp_path / "bin/one").symlink_to(path)
    if how == "a linked folder":
        (tmp_path / "linked").symlink_to(tmp_path / "work/bin")
    assert found(tmp_path, {"PATH": f"{tmp_path}/work/bin:{tmp_path}/bin:{tmp_path}/linked"}) == {}


def test_what_cannot_be_executed_is_no_program(tmp_path: Path) -> None:
    installed(tmp_path / "a", "one", "@who/one", 0o644)
    (tmp_path / "b/bin/one").mkdir(parents=True)
    (tmp_path / "c/bin").mkdir(parents=True)
    (tmp_path / "c/bin/one").symlink_to("/nowhere")
    if os.geteuid() != 0 or not os.access(tmp_path / "a/bin/one", os.X_OK):
        assert found(tmp_path, {"PATH": ":".join(f"{tmp_path}/{name}/bin" for name in "abc")}) == {}


def test_prefixes_of_the_system_come_last(tmp_path: Path) -> None:
    path = installed(tmp_path / "system", "one", None)
    assert found(tmp_path, system=(str(tmp_path / "system"),)) == {"one": path}
    own = installed(tmp_path / ".npm-global", "one", None)
    assert found(tmp_path, system=(str(tmp_path / "system"),)) == {"one": own}


def test_programs_that_a_package_runs_with_are_looked_for_in_path_only(tmp_path: Path) -> None:
    installed(tmp_path / ".npm-global", "node", None)
    assert missing_programs(ONE, {"HOME": str(tmp_path), "PATH": "/nowhere"}) == ["node"]
    assert missing_programs(ONE, {"HOME": str(tmp_path), "PATH": f"{tmp_path}/.npm-global/bin"}) == []


@pytest.mark.parametrize("recipe", known_recipes(), ids=lambda recipe: recipe.name)
def test_every_recipe_names_its_program_its_package_and_how_to_install_and_log_in(recipe: Recipe) -> None:
    assert recipe.program
    assert recipe.packages
    assert any(f"{package}@" in recipe.install for package in recipe.packages)
    assert recipe.login
