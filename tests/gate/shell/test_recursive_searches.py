"""A search of all files below a folder needs no rule where none of them is a secret or leads out, as the disk is."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide
from .listed_places import lay_out, make


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    return lay_out(tmp_path)


SEARCHES = (
    "grep -rn x src",
    "grep -r x src tests",
    "grep -rnw x .",
    "grep -rn x",
    "egrep -rl 'a|b' src/",
    "grep --recursive x src",
    "grep -rn x . --include='*.py'",
    "grep -rn x src --include=*.py",
    "grep -rne x src",
    "grep -rn x src | head -5",
    "grep -rn x . --include='*.py' --include='*.md' --exclude-dir=node_modules",
    "timeout 5 grep -rn x src",
)


@pytest.mark.parametrize("command", SEARCHES)
def test_a_search_of_folders_without_secrets_needs_no_rule(command: str, places: dict[str, str]) -> None:
    assert decide(command, **places) == "allow"


@pytest.mark.parametrize(
    "name",
    [
        "src/.env",
        "src/deep/er/key.pem",
        "src/id_rsa",
        "src/l -> ../../out/x.py",
        "src/l -> {home}/.ssh/id_rsa",
        "src/l -> ../.env",
        "src/d -> ../../out",
        "src/.hidden/.npmrc",
        "src/twin = src/.env",
    ],
)
def test_a_search_of_folders_with_a_secret_asks(name: str, places: dict[str, str]) -> None:
    make(".env", places)
    if "twin" in name:
        make("src/.env", places)
    make(name, places)
    for command in ("grep -rn x src", "grep -rn x src tests", "grep -rn x", "egrep -rl x ./src", "grep -rc x . | sort"):
        assert decide(command, **places) != "allow", command


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn x .",
        "grep -rn x",
        "grep -rn x . --include='*.py' --exclude=a.py",
        "grep -rn x . --exclude=a.py --include='*.py'",
        "grep -rn x . --exclude-dir='*'",
        "grep -rn x . --include='*'",
        "grep -rn x . --include='.e*'",
        "grep -Rn x src",
        "grep -rn x src ../out",
        "grep -rn x ~",
        "grep -rn x /etc",
        "grep -rd recurse x src",
        "grep -r --exclude-from=a x src",
        "grep -r -f .env src",
        "grep -rf README.md x src",
        "grep --rec x src",
        'grep -rn "$x" src',
        "grep -rn x $d",
        "grep -rn x src/*",
        "touch src/.env; grep -rn x src",
        "cp .env src/a.py; grep -rn x src",
        "ln -s ../.env src/l && grep -rn x src",
        "cd src && touch .env && grep -rn x",
        "grep -rn x src > out",
        "sh -c 'grep -rn x src'; mv .env src",
        "grep -rn x -- src/../.",
        "grep -rn x . --exclude-dir=src --include='*.py' --include='*'",
        "LC_ALL=/x grep -rn x src",
        "zgrep -r x src",
    ],
)
def test_a_search_that_could_find_a_secret_asks(command: str, places: dict[str, str]) -> None:
    make(".env", places)
    assert decide(command, **places) != "allow"


def test_what_a_search_leaves_out_may_be_a_secret(places: dict[str, str]) -> None:
    make(".env", places)
    make("node_modules/x/.npmrc", places)
    assert decide("grep -rn x . --include='*.py'", **places) == "allow"
    assert decide("grep -rn x . --include=*.py --exclude-dir=node_modules", **places) == "allow"
    assert decide("grep -rn x . --exclude-dir=node_modules", **places) == "ask"
    make("--include=x.py", places)
    assert decide("grep -rn x src --include=*.py", **places) == "ask"
    assert decide("grep -rn x src", deny=["Read(src/a.py)"], **places) != "allow"
    assert decide("grep -rn x src", deny=["Read(tests/**)"], **places) == "allow"


@pytest.mark.parametrize("link", ["src/deep -> ../../out", "src/x.d -> /", "src/deep/er -> {home}/.ssh"])
def test_an_option_for_the_names_of_files_leaves_no_link_out(link: str, places: dict[str, str]) -> None:
    make("src/deeper/x.py", places)
    make(link.format(**places), places)
    for command in ("grep -rn --include='*.py' x src", "grep -r --include=id_rsa x ."):
        assert decide(command, **places) == "ask", command


def test_a_link_to_a_folder_of_the_workspace_is_nothing_new(places: dict[str, str]) -> None:
    make("src/also -> ../tests", places)
    make(".venv/bin/python -> /usr/bin/python3", places)
    assert decide("grep -rn --include='*.py' x .", **places) == "allow"
