"""Protected places below a folder that a command changes as a whole, copies or moves (docs/gate.md P4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.shell.files import held_below
from tests.gate.shell.asked import decide


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    top = tmp_path / "ws"
    for file in ("src/a.py", "vendor/template/.vscode/tasks.json", "vendor/plain/a", "build/out.js", "new/bin/python"):
        path = top / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (top / "linked").mkdir()
    (top / "linked" / "to").symlink_to(top / "vendor")
    return str(top)


_EVERYTHING = [
    "Bash(cp:*)",
    "Bash(mv:*)",
    "Bash(chmod:*)",
    "Bash(chown:*)",
    "Bash(rsync:*)",
    "Bash(git mv:*)",
    "Edit(./**)",
]


@pytest.mark.parametrize(
    "command",
    [
        *(
            "chmod -R 777 .",
            "chmod -R 777 vendor",
            "chmod 777 --recurs vendor",
            "chmod -vR a+x vendor/*",
            "chown -R me .",
        ),
        *(
            "chown -RL me linked",
            "chgrp -R me vendor/template",
            "setfacl -R -m u:x:rwx .",
            "cd vendor; chmod -R 755 template",
        ),
        *("cp -r . build/copy", "cp -a ../ws build/copy", "cp -r vendor/template build/t", "cp -R vendor/* build"),
        *("cp -rt build vendor/template", "cp -rL linked build/l", "cp -al vendor/template build/t", "cp -r new .venv"),
        *(
            "rsync -a . build/copy",
            "rsync -a vendor/template/ build/t/",
            "rsync -rL linked/ build/l",
            "mv vendor/template build/",
        ),
        *(
            "mv vendor old",
            "mv new .venv",
            "mv new/bin .venv/",
            "git mv vendor/template build/t",
            "mkdir n && mv n .venv",
            "mkdir -p build/bin && mv build .venv",
            "touch src/bazel && cp -r src tools",
        ),
        *(
            "cmake -E copy_directory vendor/template build/t",
            "cmake -E rename vendor old",
            "ditto vendor/template build/t",
        ),
        "for d in vendor/*; do cp -r $d build; done",
        *("timeout 5 cp -r vendor build/v", "bash -c 'chmod -R 777 vendor'", "x=vendor; cp -r $x build/"),
    ],
)
@pytest.mark.parametrize("mode", ["auto", "default"])
def test_protected_places_below_a_folder_ask(command: str, mode: str, workspace: str) -> None:
    assert decide(command, _EVERYTHING, workspace=workspace, mode=mode) == "ask"
    assert decide(command, _EVERYTHING, workspace=workspace, mode=mode, bypass=True) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "cp -r src build/src",
            "chmod -R u+w build",
            "rsync -a build/ out/",
            "chmod -R 755 src/*",
            "chown -R me linked",
        ),
        *(
            "mv vendor/plain build/",
            "cp -r vendor/plain build/",
            "mv build old",
            "cp -R linked build/l",
            "cp -r new fresh",
        ),
        *("chmod 755 vendor", "cp -r src/. build/", "git mv src lib", "mv missing there", "cp -r missing there"),
        *("cmake -E copy_directory src build/s", 'for d in src/*; do cp -r "$d" build; done', "cp vendor/plain/a ."),
    ],
)
def test_a_folder_without_such_places_needs_no_more(command: str, workspace: str) -> None:
    assert decide(command, workspace=workspace, mode="auto") == "allow"


@pytest.mark.parametrize("command", ["find vendor -maxdepth 1 -exec cp -r {} build/ \\;", 'cp -r "$x" build/'])
def test_an_unknown_source_may_hold_such_places(command: str, workspace: str) -> None:
    assert decide(command, [*_EVERYTHING, "Bash(find:*)"], workspace=workspace) == "ask"


def test_a_folder_with_too_many_names_asks(workspace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_below, "MOST_BELOW", 1)
    assert decide("cp -r vendor/plain build/", workspace=workspace, mode="auto") == "allow"
    (Path(workspace) / "vendor/plain/b").write_text("x\n")
    assert decide("cp -r vendor/plain build/", workspace=workspace, mode="auto") == "ask"


_FORMATTERS = ["Bash(prettier:*)", "Bash(eslint:*)", "Bash(gofmt:*)", "Bash(ruff:*)", "Bash(black:*)"]


@pytest.mark.parametrize(
    "command", ["prettier --write src", "eslint --fix src/", "gofmt -w src", "ruff check --fix src"]
)
def test_a_rule_for_all_below_a_folder_covers_that_it_is_rewritten(command: str, workspace: str) -> None:
    for rule in ("Edit(src/**)", "Edit(src)"):
        assert decide(command, [*_FORMATTERS, rule], workspace=workspace) == "allow"
        assert decide(command, [*_FORMATTERS, rule], deny=["Edit(src/a.*)"], workspace=workspace) == "ask"
    for rule in ("Edit(src/*)", "Edit(src/**/*.py)", "Edit(src/sub/**)", "Edit(vendor/**)"):
        assert decide(command, [*_FORMATTERS, rule], workspace=workspace) == "ask"
    (Path(workspace) / "src" / "link").symlink_to("/etc")
    assert decide(command, [*_FORMATTERS, "Edit(src/**)"], workspace=workspace) == "ask"


@pytest.mark.parametrize("rule", ["Edit(vendor/**)", "Edit(./**)", "Edit"])
@pytest.mark.parametrize(
    "command",
    [
        "prettier --write vendor",
        "eslint --fix vendor/template",
        "ruff check --fix vendor",
        "black vendor",
        "ruff format vendor",
    ],
)
def test_protected_places_below_a_folder_that_is_rewritten_ask(command: str, rule: str, workspace: str) -> None:
    assert decide(command, [*_FORMATTERS, rule], workspace=workspace) == "ask"
    assert decide(command, workspace=workspace, mode="auto") == "ask"


def test_formatters_pass_over_packages(workspace: str) -> None:
    (Path(workspace) / "src/node_modules/.bin").mkdir(parents=True)
    assert decide("eslint --fix src", [*_FORMATTERS, "Edit(src/**)"], workspace=workspace) == "allow"
