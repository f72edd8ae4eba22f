"""Variables whose names come from more than one place, and folders that are not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

BY_PATTERN = "for f in src/*; do :; done; "
CURRENT = "git branch --show-current"


@pytest.fixture
def ground(tmp_path: Path) -> dict[str, str]:
    """A workspace and a home with secrets, links and names that programs obey."""
    workspace, home = tmp_path / "ws", tmp_path / "home"
    for folder in ("ws/.git", "ws/src", "ws/a/pp", "ws/b", "ws/sub", "home/.aws"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("src/a", ".env", "k1", "a/hl", "a/lefthook.yml", "sub/server.pem", "list", "a/m.md", "sub/m.md"):
        (workspace / name).write_text("x")
    for name in ("src/hl", "sub/gl"):
        (workspace / name).symlink_to("../.git/config")
    (home / ".aws" / "credentials").write_text("x")
    return {"workspace": str(workspace), "home": str(home)}


@pytest.mark.parametrize(
    "text",
    [
        BY_PATTERN + 'f=$(ls -a | grep -x .env); cat "$f"',
        BY_PATTERN + 'f=$(find src -maxdepth 0 -printf ../secret); g=$f; cat "$g"',
        BY_PATTERN + 'f=$(git ls-files --format=-o.git/hooks/zz src | head -1); sort "$f" src/a',
        BY_PATTERN + 'f=$(ls | head -1 list); find w "$f"',
        'for f in src/* $(ls -a | grep -x .env); do cat "$f"; done',
        'for f in src/*; do ls -a | while read -r f; do cat "$f"; done; done',
        'd=src; for f in s*; do :; done; d=$(ls | head -1 list); cat "$d$f"',
        f'b=$({CURRENT}); {CURRENT} | while read -r b; do :; done; while read -r b; do git diff "$b"; done < list',
        f'b=$({CURRENT}); {CURRENT} | while read -r b; do :; done; {{ read -r b; git diff "$b"; }} < list',
    ],
)
def test_a_variable_of_two_origins_is_not_known_by_one(ground: dict[str, str], text: str) -> None:
    assert decide(text, **ground) == "ask"


def test_the_same_read_has_another_input_elsewhere(ground: dict[str, str]) -> None:
    front = 'f=src/a; find src -type f | while read -r f; do cat "$f"; done; '
    for text in ('while read -r f; do cat "$f"; done < list', 'cat list | while read -r f; do cat "$f"; done'):
        assert decide(front + text, ["Bash(cat:*)", "Bash(find:*)"], **ground) == "ask"


@pytest.mark.parametrize("mode", ["default", "auto"])
@pytest.mark.parametrize(
    "text",
    [
        'd=a; cd "$d" && cp h* WS/src/',
        'd=a; cd "$d" && cp -r pp WS/src/new',
        '(d=sub; cd "$d" && cp -P gl WS/src/n); echo evil > src/n',
        'd=sub; cd "$d"; cat s*',
        'for d in sub a; do (cd "$d" && cat server.*); done',
        "cd && cat .aws/*",
        "cd; cat .aw?/credentials",
        "cd --; cd .aws; cat credentials",
        "bash -c 'cd -P; cat .aws/*'",
        'for f in .g*; do cp k1 "src/$f"; done',
        'cd a; for f in *; do touch "../b/$f"; done',
        "git checkout topic && head -n1 s*",
        'git switch topic; for f in s*; do cat "$f"; done',
    ],
)
def test_what_lies_in_a_folder_that_is_not_known_may_be_anything(ground: dict[str, str], text: str, mode: str) -> None:
    rules = [f"Bash({name}:*)" for name in ("cp", "cat", "touch", "git")] + ["Edit(src/**)", "Edit(b/**)"]
    allow = rules if mode == "default" else []
    if mode == "auto" and text.startswith("git"):
        return  # no rule says that its secrets may not be read
    assert decide(text.replace("WS", ground["workspace"]), allow, mode=mode, **ground) == "ask"


def test_names_that_no_secret_has_need_no_question(ground: dict[str, str]) -> None:
    for text in ('for d in sub a; do (cd "$d" && cat *.md); done', 'for f in src/*; do cat "$f"; done'):
        assert decide(text, ["Bash(cat:*)"], **ground) == "allow"
    assert decide('for d in */; do mkdir -p "$d/out"; done', mode="auto", **ground) == "allow"
