"""Under deny and ask rules, a remote that a repository's settings name counts by its address."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide, make_git_folder

COMMANDS = (
    "git fetch {}",
    "git fetch {} main",
    "git fetch --multiple ok {}",
    "git pull {} main",
    "git push {} main",
    "git push -u {} HEAD",
    "git ls-remote {}",
    "git remote update {}",
    "git fetch",
    "git fetch --all",
    "git pull",
    "git push",
    "git remote update",
    "timeout 9 git fetch {}",
)
SETTINGS = """[core]
\tbare = false
[remote "ok"]
\turl = https://example.com/a/b
[remote "other"]
\tfetch = +refs/heads/*:refs/remotes/other/*
\t{key} = {address}
"""


def workspace(folder: Path, key: str, address: str) -> dict[str, str]:
    for each in ("ws/held", "ws/open", "home"):
        (folder / each).mkdir(parents=True)
    make_git_folder(folder / "ws/.git")
    (folder / "ws/.git/config").write_text(SETTINGS.format(key=key, address=address))
    return {"workspace": str(folder / "ws"), "home": str(folder / "home")}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("key", ["url", "pushurl", "URL"])
@pytest.mark.parametrize("rule", ["Read(./held/**)", "Edit(./held/**)"])
def test_a_remote_in_a_place_that_is_forbidden_asks(command: str, key: str, rule: str, tmp_path: Path) -> None:
    for number, address in enumerate(("./held/x", '"./held/x"', "{ws}/held/x", "file://{ws}/held/x")):
        folder = tmp_path / str(number)
        places = workspace(folder, key, address.replace("{ws}", str(folder / "ws")))
        assert decide(command.format("other"), deny=[rule], mode="auto", **places) != "allow", address


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", [{"mode": "auto"}, {"bypass": True}])
def test_a_remote_that_is_a_program_asks_under_rules_for_commands(
    command: str, how: dict[str, object], tmp_path: Path
) -> None:
    places = workspace(tmp_path, "url", "ext::sh -c evil%S")
    assert decide(command.format("other"), deny=["Bash(evil:*)"], **how, **places) == "ask"


@pytest.mark.parametrize("command", [*COMMANDS, "git status", "git log", "git commit -m other"])
def test_a_remote_on_another_machine_or_elsewhere_asks_nothing(command: str, tmp_path: Path) -> None:
    rules = ["Edit(./held/**)", "Bash(evil:*)"]
    places = workspace(tmp_path, "url", "git@example.com:a/b")
    assert decide(command.format("other"), deny=rules, mode="auto", **places) == "allow"


def test_only_the_remote_that_is_named_counts(tmp_path: Path) -> None:
    places = workspace(tmp_path, "url", "ext::evil")
    assert decide("git push ok main", deny=["Bash(evil:*)"], mode="auto", **places) == "allow"
    assert decide("git log --all", deny=["Bash(evil:*)"], mode="auto", **places) == "allow"


OUTSIDE_THE_SETTINGS = {
    "include": "[include]\n\tpath = ../more\n",
    "conditional include": '[includeIf "gitdir:**"]\n\tpath = ../more\n',
    "insteadOf": '[url "ext::evil "]\n\tinsteadOf = https://\n',
    "pushInsteadOf": '[URL "./held/"]\n\tpushInsteadOf = https://\n',
    "continued line": '[remote "other"]\n\turl = ext\\\n::evil\n',
    "quote inside": '[remote "other"]\n\turl = "ext:":evil\n',
    "key on the line of its section": '[remote "other"] url = ext::evil\n',
    "dotted section": "[remote.other]\n\turl = ext::evil\n",
    "address of a branch": '[branch "main"]\n\tremote = ext::evil\n',
    "address to push to": "[remote]\n\tpushDefault = ext::evil\n",
    "broken": "[remote\n",
    "too long": "# " + "x" * 100_000 + "\n",
}


@pytest.mark.parametrize("settings", OUTSIDE_THE_SETTINGS.values(), ids=OUTSIDE_THE_SETTINGS)
@pytest.mark.parametrize("command", ["git fetch", "git push", "timeout 9 git pull"])
def test_settings_that_lead_elsewhere_ask(settings: str, command: str, tmp_path: Path) -> None:
    places = workspace(tmp_path, "url", "https://example.com/c/d")
    with (tmp_path / "ws/.git/config").open("a") as config:
        config.write(settings)
    for how in ({"mode": "auto"}, {"bypass": True}):
        assert decide(command, deny=["Bash(evil:*)"], **how, **places) == "ask"
        assert decide("git status", deny=["Bash(evil:*)", "Read(./held/**)"], **how, **places) == "allow"
        assert decide(command, **how, **places) == "allow"


@pytest.mark.parametrize("kind", ["a file", "remotes", "branches", "config.worktree", "commondir"])
@pytest.mark.parametrize("command", ["git fetch other", "git -C open push", "cd open && git pull"])
def test_a_repository_with_settings_elsewhere_asks(kind: str, command: str, tmp_path: Path) -> None:
    places = workspace(tmp_path, "url", "https://example.com/c/d")
    git = tmp_path / "ws/.git"
    if kind == "a file":
        git.rename(tmp_path / "elsewhere")
        git.write_text("gitdir: ../elsewhere\n")
    elif kind in {"remotes", "branches"}:
        (git / kind).mkdir()
        (git / kind / "other").write_text("URL: ext::evil\n")
    else:
        (git / kind).write_text("..\n")
    for rule in ("Bash(evil:*)", "Read(./held/**)", "Edit(./held/**)"):
        assert decide(command, deny=[rule], mode="auto", **places) != "allow", rule


def test_the_repository_of_the_folder_that_git_changes_to_counts(tmp_path: Path) -> None:
    places = workspace(tmp_path, "url", "https://example.com/c/d")
    make_git_folder(tmp_path / "ws/open/.git")
    (tmp_path / "ws/open/.git/config").write_text('[remote "other"]\n\turl = ext::evil\n')
    for command in ("git -C open fetch", "git -C ./open/../open push other", "cd open; git fetch other"):
        assert decide(command, deny=["Bash(evil:*)"], mode="auto", **places) != "allow", command
    assert decide("git fetch", deny=["Bash(evil:*)"], mode="auto", **places) == "allow"
