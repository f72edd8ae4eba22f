"""Settings of a project by their usual names: a rule for the program covers them where they lie in the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide


@pytest.fixture
def project(tmp_path: Path) -> Path:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (workspace / "e2e", outside):
        folder.mkdir(parents=True)
        (folder / "jest.config.js").touch()
    (workspace / "link").symlink_to(outside)
    (workspace / ".eslintrc.ci.json").symlink_to(outside / "jest.config.js")
    return workspace


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("jest --config e2e/jest.config.js", "allow"),
        ("jest -c jest.config.js", "allow"),
        ("jest --config link/jest.config.js", "ask"),
        ("jest -c=link/jest.config.js", "ask"),
        ("jest --config e2e/../../outside/jest.config.js", "ask"),
        ("jest --config e2e/x.js", "ask"),
        ("eslint -c .eslintrc.ci.json .", "ask"),
        ("eslint -c .eslintrc.json .", "allow"),
    ],
)
def test_only_settings_that_lie_in_the_workspace_are_covered(command: str, expected: str, project: Path) -> None:
    allow = ["Bash(jest:*)", "Bash(eslint:*)"]
    assert decide(command, workspace=str(project), allow=allow) == expected


FORMATTERS = [f"Bash({name}:*)" for name in ("ruff", "prettier", "black")]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ruff format e2e", "allow"),
        ("ruff format --exclude x e2e", "allow"),
        ("ruff format --exclude x held", "ask"),
        ("ruff format --exclude x kept", "ask"),
        ("ruff format --config exclude=[] kept", "ask"),
        ("ruff format kept", "allow"),
        ("ruff check --exclude x kept", "allow"),
        ("black --exclude x kept", "ask"),
        ("prettier --parser yaml kept", "ask"),
        ("prettier --parser yaml kept/a.py", "allow"),
        ("prettier --check kept", "allow"),
    ],
)
def test_options_that_take_more_files_of_a_folder_ask_where_it_holds_them(
    command: str, expected: str, project: Path
) -> None:
    (project / "held/.git").mkdir(parents=True)
    (project / "kept/.venv").mkdir(parents=True)
    (project / "kept/a.py").touch()
    assert decide(command, workspace=str(project), allow=[*FORMATTERS, "Edit"]) == expected
