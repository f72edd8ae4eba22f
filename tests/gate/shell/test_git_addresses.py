"""A repository on this machine is judged by its path, however the address of a git command spells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide, make_git_folder

PUSHES = (
    "git push {}",
    "git push {} main",
    "git push -f -u {} HEAD:main",
    "git push -o ci.skip {} main",
    "git push --repo={}",
    "git push --repo {}",
    "git push -- {} main",
    "git send-pack {} main",
    "git remote add other {}",
    "git remote add -t main -f other {}",
    "git remote set-url origin {}",
    "git remote set-url --push origin {}",
)
FETCHES = (
    "git fetch {}",
    "git fetch --depth 1 {} main",
    "git fetch --multiple origin {}",
    "git pull {} main",
    "git pull --rebase {}",
    "git ls-remote {}",
    "git clone {} copy",
    "git clone --depth 1 {} copy",
    "git archive --remote={} HEAD",
)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for folder in ("ws/.git", "ws/sub", "home/.ssh", "out"):
        (tmp_path / folder).mkdir(parents=True)
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


def spellings(path: str) -> tuple[str, ...]:
    return (path, f"file://{path}", f"file://localhost{path}", f"FILE://{path}", f"file://{path.replace('o', '%6f')}")


@pytest.mark.parametrize("push", PUSHES)
def test_a_push_out_of_the_workspace_asks_in_every_mode(push: str, places: dict[str, str]) -> None:
    out = str(Path(places["workspace"]).parent / "out")
    asked = [push.format(address) for address in (*spellings(out), "../out", "~/x", "sub/../../out", "$PWD/../out")]
    rule = push.split(" {", maxsplit=1)[0].split("=", maxsplit=1)[0]
    assert [command for command in asked if decide(command, mode="auto", **places) != "ask"] == []
    assert [command for command in asked if decide(command, [f"Bash({rule}:*)"], **places) != "ask"] == []


@pytest.mark.parametrize("push", PUSHES)
def test_a_push_to_another_machine_is_a_command_like_others(push: str, places: dict[str, str]) -> None:
    addresses = ("https://example.com/a/b", "git@example.com:a/b", "ssh://host/x", "host:/srv/x", "origin", "./sub")
    wrong = [push.format(each) for each in addresses if decide(push.format(each), mode="auto", **places) != "allow"]
    assert wrong == []


@pytest.mark.parametrize("fetch", FETCHES)
def test_a_fetch_from_a_secret_place_asks(fetch: str, places: dict[str, str]) -> None:
    secret = f"{places['home']}/.ssh"
    asked = [fetch.format(address) for address in (*spellings(secret), "~/.ssh", "../home/.ssh")]
    assert [command for command in asked if decide(command, mode="auto", **places) != "ask"] == []


@pytest.mark.parametrize("command", ["git push {}", "git fetch {}", "git clone {} copy", "git pull {} main"])
def test_a_folder_in_the_form_of_a_repository_needs_more_than_a_rule(command: str, places: dict[str, str]) -> None:
    """Its hooks and settings name programs, which git runs."""
    evil = Path(places["workspace"]) / "sub"
    (evil / "HEAD").touch()
    for folder in ("objects", "refs"):
        (evil / folder).mkdir()
    for address in ("./sub", "sub/", f"file://{evil}"):
        assert decide(command.format(address), ["Bash(git:*)"], **places) == "ask"


def test_a_folder_may_be_called_like_a_host(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "ws/h:o").symlink_to("../outside")
    where = {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home"), "allow": ["Bash(git clone:*)"]}
    assert decide("git clone h:o pub", **where) == "ask"
    assert decide("git clone h:other pub", **where) == "allow"
    (tmp_path / "ws/lib/.git").mkdir(parents=True)
    make_git_folder(tmp_path / "ws/lib/.git")
    (tmp_path / "ws/lib/.git/config").write_text("[core]\n")
    assert decide("git clone ./lib copy", **where) == "allow"
    assert decide("git clone git@example.com:a/b.git pub", **where) == "allow"
