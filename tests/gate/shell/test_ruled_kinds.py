"""A rule that names secrets says nothing of what linters open in the folder that holds them (docs/gate.md S11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import HOME, decide
from .listed_places import with_files

LINTING = ("ruff check", "ruff check .", "eslint .", "eslint", "mypy .", "flake8", "prettier --check .",
           "black --check .", "biome check", "pylint .")  # fmt: skip
PROGRAMS = [f"Bash({each.split()[0]}:*)" for each in LINTING]


@pytest.mark.parametrize(
    ("deny", "expected"),
    [
        (["Read(./.env)"], "allow"), (["Read(./.env)", "Read(./.env.*)"], "allow"), (["Read(./server.pem)"], "allow"),
        (["Read(./.env)", "Read(./nothing/**)"], "allow"), (["Read(./.e*)"], "allow"),
        (["Read(./held/**)"], "ask"), (["Read(./held)"], "ask"), (["Read(./app.py)"], "ask"), (["Read(./*)"], "ask"),
        (["Read(./.env)", "Read(**/key)"], "ask"), (["Read(./.npmrc)"], "ask"), (["Read(./.pypirc)"], "ask"),
        (["Read(./id_rsa)"], "ask"), (["Read(./.env.json)"], "ask"),
    ],
)  # fmt: skip
def test_linters_go_on_where_rules_speak_of_secrets_alone(deny: list[str], expected: str, tmp_path: Path) -> None:
    for name in (".env", ".env.local", "server.pem", "held/a.py", "app.py", ".npmrc/a.py", "id_rsa", ".env.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    (tmp_path / ".pypirc").symlink_to("held")
    if deny == ["Read(./.env)", "Read(./.env.*)"]:
        (tmp_path / ".env.json").unlink()
    if deny == ["Read(./.e*)"]:
        (tmp_path / ".env.json").unlink()
    answers = {each: decide(each, allow=PROGRAMS, deny=deny, workspace=str(tmp_path), home=HOME) for each in LINTING}
    assert set(answers.values()) == {expected}, answers


@pytest.mark.parametrize(
    "command", ["codespell", "codespell -C 1", "typos", "typos --hidden", "prettier '{held,x}/*.js'"]
)
def test_what_is_there_and_ruled_asks(command: str, tmp_path: Path) -> None:
    rules = {"allow": ["Bash(codespell:*)", "Bash(typos:*)", "Bash(prettier:*)"], "deny": ["Read(held/**)"]}
    (tmp_path / "held").mkdir()
    assert decide(command, workspace=str(tmp_path), home=HOME, **rules) == "ask"


OTHER_KINDS = """
ruff check --extension env:python .
eslint --ext env .
eslint --ext '*' .
prettier --parser yaml .
prettier '.*'
isort -a os --su=env --diff .
isort --supported-ext=local --diff .
black --include '' --diff .
flake8 --filename '*' .
stylelint .
ruff check .env
grep -r x .
cat .env
"""


@pytest.mark.parametrize("command", OTHER_KINDS.strip().splitlines())
def test_what_takes_other_kinds_asks_all_the_same(command: str, tmp_path: Path) -> None:
    where = with_files(tmp_path, "ws/.env ws/app.py")
    given = [*PROGRAMS, *(f"Bash({name}:*)" for name in ("grep", "cat", "isort", "stylelint"))]
    assert decide(command, allow=given, deny=["Read(./.env)"], **where) in ("ask", "deny")


@pytest.mark.parametrize("first", ["git checkout -q topic", "git pull", "tar xf a.tar", "mv held .later"])
def test_what_an_earlier_command_may_bring_is_not_known(first: str, tmp_path: Path) -> None:
    (tmp_path / "held").mkdir()
    rules = [*PROGRAMS, "Bash(git:*)", "Bash(tar:*)", "Bash(mv:*)", "Edit"]
    for linting in ("ruff check .", "eslint .", "black --check ."):
        where = {"workspace": str(tmp_path), "home": HOME}
        assert decide(f"{first} && {linting}", allow=rules, deny=["Read(./secrets/**)"], **where) == "ask"
        assert decide(linting, allow=rules, deny=["Read(./secrets/**)"], **where) == "allow"
