"""Linters, type checkers and test runners may read what the links below a folder lead to."""

from __future__ import annotations

import pytest

from .asked import decide
from .listed_places import make, with_files

PROGRAMS = (
    "ruff eslint mypy flake8 pytest black jest vitest stylelint pylint biome pyright bandit mocha go isort rubocop "
    "prettier oxlint make"
)
RULES = [f"Bash({name}:*)" for name in PROGRAMS.split()]

READING = """
eslint -f json linked
prettier --check linked
eslint 'linked/**/*.js'
ruff check linked
ruff check linked/
ruff check src linked
ruff format --diff linked
d=linked; ruff check "$d"
ruff check l*
ruff check
ruff check --output-format full
cd linked && ruff check
mypy --pretty linked
flake8 --show-source linked
black --diff linked
isort --diff linked
pytest linked
pytest
pytest -q
jest linked
vitest run linked
stylelint linked
pylint linked
biome check linked
pyright linked
bandit -r linked
mocha linked
eslint
oxlint
go vet ./linked
go vet ./linked/...
"""

ORDINARY = """
pytest
pytest tests
python3 -m pytest tests
ruff check .
ruff check
ruff format src
ruff format --check .
eslint .
eslint
eslint src --ext .ts,.tsx
mypy src
flake8 src
jest
vitest run
go vet ./...
black --check .
prettier --check .
make -C src
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("linters").resolve()
    files = "ws/held/key.txt ws/linked/a.py ws/src/a.py home/.ssh/id_rsa home/x ws/.env ws/x/y"
    found = with_files(top, files)
    make("linked/test_k.py -> ../held/key.txt", found)
    return found


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("secret").resolve()
    found = with_files(top, "ws/linked/a.py ws/src/a.py home/.ssh/id_rsa")
    make("linked/test_k.py -> ../../home/.ssh/id_rsa", found)
    return found


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("ordinary").resolve()
    files = "ws/src/a.py ws/tests/test_a.py ws/node_modules/x/cli.js ws/.env ws/held/key.py home/.ssh/id_rsa"
    found = with_files(top, files)
    links = {
        ".venv/bin/python": "/usr/bin/python3",
        ".venv/lib64": "lib",
        ".venv/certifi/cacert.pem": "/usr/share/x.pem",
        "node_modules/.bin/x": "../x/cli.js",
        "node_modules/@s/a": "../../src",
        "app/.env": "../.env",
        "docs/loop": "loop",
        "docs/gone": "../nowhere",
        "docs/src": "../src",
    }
    for name, target in links.items():
        make(f"{name} -> {target}", found)
    return found


@pytest.mark.parametrize("command", READING.strip().splitlines())
def test_a_link_that_a_linter_may_follow_asks(places: dict[str, str], secret: dict[str, str], command: str) -> None:
    assert decide(command, allow=RULES, deny=["Read(./held/**)"], **places) == "ask"
    assert decide(command, deny=["Read(./held/key.txt)"], mode="auto", **places) == "ask"
    assert decide(command, allow=RULES, **secret) == "ask"
    assert decide(command, mode="auto", **secret) == "ask"


def test_a_folder_of_packages_is_looked_through_as_well(tmp_path_factory: pytest.TempPathFactory) -> None:
    top = tmp_path_factory.mktemp("packages").resolve()
    where = with_files(top, "ws/.env ws/node_modules/x/a.js home/x")
    assert decide("eslint --no-ignore .", allow=RULES, **where) == "allow"
    (top / "ws" / "node_modules" / "x" / "b.js").symlink_to("../../.env")
    assert decide("eslint --no-ignore .", allow=RULES, **where) == "ask"


def test_links_of_a_folder_outside_count_for_rules_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    top = tmp_path_factory.mktemp("outside").resolve()
    for name in ("ws/a.c", "home/x", "lib/certs/x.pem"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (top / "lib" / "cert").symlink_to("certs/x.pem")
    where = {"workspace": str(top / "ws"), "home": str(top / "home")}
    command = f"make -C ../lib; eslint {top}/lib; gcc -L{top}/lib a.c"
    assert decide(command, mode="auto", **where) == "allow"
    assert decide(command, deny=[f"Read(/{top}/lib/certs/**)"], mode="auto", **where) == "ask"


@pytest.mark.parametrize("command", ORDINARY.strip().splitlines())
def test_links_of_an_ordinary_project_are_nobodys_question(ordinary: dict[str, str], command: str) -> None:
    rules = [*RULES, "Bash(python3 -m pytest:*)"]
    assert decide(command, allow=rules, **ordinary) == "allow"
    assert decide(command, allow=rules, deny=["Read(~/.ssh/**)"], **ordinary) == "allow"
    assert decide(command, mode="auto", **ordinary) == "allow"


RULED = """
ruff check
ruff check --output-format full
ruff format --diff
ruff check held
ruff check src held
ruff format --check held
black --check held
eslint
eslint -f json
eslint held
prettier --check held
flake8
flake8 held
mypy
mypy held
mypy -p held
pylint
bandit -r held
biome check
pytest held
"""

NOT_RULED = """
ruff check src
ruff format src
ruff --version
ruff rule E501
cd src && ruff check
eslint src --ext .ts,.tsx
eslint --version
mypy --version
mypy -p src
flake8 src
black --check src
prettier --check src
bandit -r src
pytest
pytest tests
pytest -k held
jest
vitest run
go vet ./...
"""


@pytest.mark.parametrize("command", RULED.strip().splitlines())
def test_a_folder_that_is_not_named_counts_for_rules_as_well(ordinary: dict[str, str], command: str) -> None:
    assert decide(command, allow=RULES, deny=["Read(./held/**)"], **ordinary) in {"ask", "deny"}
    assert decide(command, allow=RULES, deny=["Read(//nowhere/**)"], **ordinary) == "allow"


@pytest.mark.parametrize("command", NOT_RULED.strip().splitlines())
def test_no_rule_is_about_another_folder(ordinary: dict[str, str], command: str) -> None:
    assert decide(command, allow=RULES, deny=["Read(./held/**)"], **ordinary) == "allow"
