"""Our own corpora: every evasion and everyday command that we thought of, with the answer that docs/gate.md gives.

The form of the groups is described in ``tests/corpora``. What a row does not say stands in ``STANDARD``: each row is
judged in a workspace with those files, and its ``layout`` comes on top. Rows are run by class, so that a class that is
answered wrongly fails once and shows each of its rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from countersign.advice.explain import check_line
from countersign.gate.shell.syntax.bash_check import BashSyntax
from tests import corpora
from tests.corpora import Row

from .layouts import Spots, filled, lay_out

BASH = BashSyntax()

IN_WORKSPACE = """
a.csv a.json a.py b.csv b.json b.py data.json package.json README.md .env .envrc .npmrc .git/config
.vscode/settings.json build/log.txt deep/er/x.txt docs/guide.md private/k secrets/prod.env src/app.py
src/main.ts tests/test_a.py
"""
ELSEWHERE = "{home}/.ssh/id_rsa {home}/.bashrc {out}/data.txt {out}/dir/x.txt {ws}-evil/x.py"
STANDARD = tuple(
    {"path": path, "type": "file"}
    for path in (*(f"{{ws}}/{name}" for name in IN_WORKSPACE.split()), "{ws}/src dir/x", *ELSEWHERE.split())
)
"""The files that every row supposes."""

LONG = "a" * 110_000
STRUCTURES = (
    ("$(", ")"),
    ("{ ", "; }"),
    ("( ", ")"),
    ('echo "${x:-$(', ')}"'),
    ("if :; then ", "; fi"),
    ("! ", ""),
    ("nice ", ""),
    ("time ", ""),
)


def by_class(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["class"], []).append(row)
    return found


COMMANDS, PATHS = by_class(corpora.commands()), by_class(corpora.paths())


class Places:
    """A laid-out workspace, home and outside for each layout that rows suppose; made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: dict[str, Spots] = {}

    def of(self, row: Row) -> Spots:
        layout = row.get("layout", [])
        key = json.dumps(layout)
        if key not in self.made:
            spots = {name: str(self.folder / str(len(self.made)) / name) for name in ("ws", "home", "out")}
            lay_out((*STANDARD, *layout), spots)
            self.made[key] = spots
        return self.made[key]


def question(row: Row, spots: Spots) -> dict[str, Any]:
    """The line for ``countersign check``."""
    given = {key: row[key] for key in ("mode", "trusted", "bypass") if key in row}
    args = {"command": row["command"]} if "command" in row else {"path": row["path"]}
    return {
        "tool": row.get("tool", "bash"),
        "args": {key: filled(value, spots) for key, value in args.items()},
        "rules": {listed: [filled(rule, spots) for rule in rules] for listed, rules in row["rules"].items()},
        "workspace": filled(row.get("workspace", "{ws}"), spots),
        "home": spots["home"],
        "additionalDirectories": [filled(folder, spots) for folder in row.get("add_dirs", [])],
        **({"cwd": filled(row["cwd"], spots)} if "cwd" in row else {}),
        **given,
    }


def answer(asked: Mapping[str, Any]) -> str:
    result = json.loads(check_line(json.dumps(asked).encode(), check_syntax=BASH))
    return result.get("decision") or result["error"]


def wrongly_answered(given: list[Row], places: Places) -> Iterator[str]:
    for row in given:
        said = answer(question(row, places.of(row)))
        if said not in (row["expect"], *row["also_ok"]):
            what = row.get("command", row.get("path"))
            yield f"{row['id']} {what!r}: {said}, not {row['expect']}, because {row['why']}"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return Places(tmp_path_factory.mktemp("places"))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_of_a_class_is_decided_as_the_rules_say(name: str, places: Places) -> None:
    assert list(wrongly_answered(COMMANDS[name], places)) == []


@pytest.mark.parametrize("name", PATHS)
def test_each_path_of_a_class_is_decided_as_the_rules_say(name: str, places: Places) -> None:
    assert list(wrongly_answered(PATHS[name], places)) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"echo {LONG}", {"ask"}),
        (f"echo {LONG}; shutdown now", {"deny"}),
        (f"shutdown now; echo {LONG}", {"deny"}),
        ("ls; " * 2000 + "shutdown now", {"deny"}),
        ("ls; " * 300 + "ls", {"allow"}),
        ("ls; " * 3000 + "./evil", {"ask"}),
        ("ls" + " " * 90_000 + "; ./evil", {"ask"}),
        ("ls" + "\n" * 90_000 + "./evil", {"ask"}),
        ("sh -c " * 20 + "./evil", {"ask"}),
        *(
            (opening * depth + "./evil" + closing * depth, {"ask"})
            for opening, closing in STRUCTURES
            for depth in (50, 2000)
        ),
        *((opening * 50 + "shutdown now" + closing * 50, {"ask", "deny"}) for opening, closing in STRUCTURES),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_no_length_and_no_depth_makes_the_gate_give_up(command: str, expected: set[str], places: Places) -> None:
    rules = {"allow": ["Bash(ls:*)", "Bash(echo:*)"], "ask": [], "deny": ["Bash(shutdown:*)"]}
    assert answer(question({"command": command, "rules": rules}, places.of({}))) in expected


@pytest.mark.parametrize("path", ["a" * 5000, "a/" * 3000 + "b", "/" * 5000])
def test_an_over_long_path_is_never_written(path: str, places: Places) -> None:
    rules = {"allow": ["Edit(./**)"], "ask": [], "deny": []}
    assert answer(question({"tool": "write", "path": path, "rules": rules}, places.of({}))) in {"deny", "ask"}
