"""Under rules for editing, a command that rewrites files which it does not name asks where a rule could match one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .asked import decide

TRACKED = (
    "git checkout .",
    "git checkout -- .",
    "git checkout HEAD -- .",
    "git checkout -- '*'",
    "git checkout :/",
    "cd open; git checkout -- :/",
    "cd open; git checkout -- ':/*.py'",
    "git -C open restore ':(top)*'",
    "git restore ':!open'",
    "git checkout -f",
    "git switch --force main",
    "git restore .",
    "git restore -- .",
    "git restore --staged --worktree .",
    "git reset --hard",
    "git reset --hard HEAD",
    "git reset --keep",
    "git stash",
    "git stash push -m x",
    "timeout 9 git stash",
    "cd open; git stash",
    "git -C open reset --hard",
)
ANY = (
    "git checkout other .",
    "git checkout other -- .",
    "git restore --source=other .",
    "git reset --hard other",
    "git stash -u",
    "git stash pop",
    "git stash apply",
    "git stash branch x",
    "git clean -fd",
    "git clean -fdx .",
    "git rm -q '*.py'",
    "cd open && git rm ':/*/key.py'",
    "chmod -R u+w .",
    "chown --recursive me .",
)
FORMATTERS = (
    "ruff format",
    "ruff format --check --no-check",
    "cargo fmt --check --check=false",
    "ruff format .",
    "ruff format -q",
    "ruff check --fix",
    "ruff check --fix .",
    "black .",
    "python -m black .",
    "uv run ruff format",
    "isort .",
    "autopep8 -ri .",
    "ruff check --add-noqa",
    "ruff check --add-noqa .",
    "ruff check --add-noqa=x .",
    "ruff check --diff --add-noqa .",
    "ruff check --add-ignore .",
    "uvx ruff check --add-noqa .",
    "python -m ruff check --add-noqa .",
    "ruff check --config 'fix=true' .",
    "ruff check --config='lint.fix = true' .",
    "ruff check --config 'fix-only=true'",
    "ruff check --config 'line-length=9\nunsafe-fixes=true' .",
    "ruff check --config '\"f\\u0069x\"=true' .",
    "ruff --config 'fix=true' check .",
)
OTHER_FORMATTERS = (
    "cargo fmt",
    "cargo fmt --all",
    "cargo +nightly fmt",
    "cargo clippy --fix",
    "go fmt ./...",
    "gofmt -l -w .",
    "prettier --write .",
    "prettier --write '**/*.ts'",
    "npx prettier -w .",
    "eslint . --fix",
    "biome format --write .",
    "terraform fmt -recursive",
    "dart format .",
    "deno fmt",
    "dotnet format",
    "mix format",
    "zig fmt .",
    "stylua .",
)
HARMLESS = (
    "git stash list",
    "git stash drop",
    "git reset",
    "git reset HEAD x",
    "git restore --staged .",
    "git checkout -b x",
    "git checkout main",
    "git checkout -- open",
    "git restore open",
    "git restore 'open/*'",
    "cd open && git restore ':/open'",
    "git rm --cached '*.py'",
    "git rm -n '*.py'",
    "cd open && git rm '*.py'",
    "git clean -nd",
    "git status",
    "git add .",
    "ruff format --check",
    "ruff check",
    "ruff check --config 'fix=false' .",
    "ruff check --config 'line-length=100' .",
    "ruff check --select E --no-fix .",
    "ruff check open --add-noqa",
    "ruff format open",
    "black --check .",
    "black open",
    "cargo fmt --check",
    "cargo build",
    "gofmt -l .",
    "go vet ./...",
    "prettier --check .",
    "prettier --write open",
    "eslint .",
    "terraform fmt -check",
    "pytest",
    "chmod -R u+w open",
)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for name in ("ws/held/key.py", "ws/open/a.py", "ws/a.py", "ws/.env", "home/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for words in (["init", "-q"], ["add", "held", "open", "a.py"]):
        subprocess.run(["git", "-C", str(tmp_path / "ws"), *words], check=True)
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


@pytest.mark.parametrize("command", [*TRACKED, *ANY, *FORMATTERS, *OTHER_FORMATTERS])
def test_a_rule_that_could_match_a_rewritten_file_asks(command: str, places: dict[str, str]) -> None:
    for rule in ("Edit(./held/**)", "Edit(held/)", "Edit(HELD)"):
        for how in ({"mode": "auto"}, {"bypass": True}, {"mode": "acceptEdits", "allow": ["Bash(*)"]}):
            assert decide(command, deny=[rule], **how, **places) != "allow", (rule, how)
            assert decide(command, ask=[rule], **how, **places) != "allow", (rule, how)


@pytest.mark.parametrize("command", HARMLESS)
def test_what_rewrites_nothing_there_asks_nothing(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Edit(./held/**)"], mode="auto", **places) == "allow"


@pytest.mark.parametrize("command", [*TRACKED, *FORMATTERS])
def test_a_rule_for_an_ignored_file_asks_nothing(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Edit(.env)", "Edit(./other/x.lock)"], mode="auto", **places) == "allow"


@pytest.mark.parametrize("command", [*TRACKED, *ANY, *FORMATTERS, *OTHER_FORMATTERS])
def test_without_a_rule_for_editing_nothing_changes(command: str, places: dict[str, str]) -> None:
    rules = ["Bash(evil:*)", "Edit(//elsewhere/**)"]
    assert decide(command, deny=rules, mode="auto", **places) == decide(command, mode="auto", **places)


def test_an_index_that_is_not_read_counts_as_holding_any_name(places: dict[str, str]) -> None:
    (Path(places["workspace"]) / ".git/index").write_bytes(b"DIRC\0\0\0\4\0\0\0\1")
    assert decide("git stash", deny=["Edit(.env)"], mode="auto", **places) == "ask"


@pytest.mark.parametrize("rule", ["Edit(./a/b/c/**)", "Edit(./a/b/c/*.py)", "Edit(.hidden)", "Edit(c)", "Edit(x.py)"])
def test_a_folder_below_counts_for_a_formatter(rule: str, places: dict[str, str]) -> None:
    for name in ("a/b/c", ".hidden/a", "a/[b]"):
        (Path(places["workspace"]) / name).mkdir(parents=True)
    assert decide("ruff format", deny=[rule], mode="auto", **places) == "ask"
    assert decide("ruff format a", deny=[rule], mode="auto", **places) == ("allow" if "hidden" in rule else "ask")
    assert decide("cargo fmt", deny=["Edit(*.py)"], mode="auto", **places) == "allow"


def test_more_folders_than_are_looked_at_ask(places: dict[str, str]) -> None:
    for number in range(501):
        (Path(places["workspace"]) / f"open/{number}").mkdir()
    assert decide("ruff format", deny=["Edit(.env)"], mode="auto", **places) == "ask"
    assert decide("ruff format", deny=["Edit(//elsewhere/.env)"], mode="auto", **places) == "allow"


@pytest.mark.parametrize(
    ("command", "edit", "expected"),
    [
        ("ruff check --fix open", "Edit(open/**)", "allow"),
        ("ruff check --fix --select I -q open/a.py", "Edit(open/**)", "allow"),
        ("biome check --write open/", "Edit(open/**)", "allow"),
        ("prettier --write 'open/**/*.{ts,tsx}'", "Edit(open/**)", "allow"),
        ("clang-format -i open/*.cpp", "Edit(open/**)", "allow"),
        ("goimports -w -local a.example/b ./open", "Edit(open/**)", "allow"),
        ("bundle exec rubocop -A open/a.rb", "Edit(open/**)", "allow"),
        ("ruff check --fix open held", "Edit(open/**)", "ask"),
        ("ruff check --fix open", "Edit(open/*.py)", "ask"),
        ("ruff check --fix .", "Edit(open/**)", "ask"),
        ("ruff check --fix .", "Edit(**)", "ask"),
        ("ruff check --fix mixed", "Edit(mixed/**)", "ask"),
        ("ruff check --fix link", "Edit(link/**)", "ask"),
        ("ruff check --fix", "Edit(open/**)", "ask"),
        ("ruff check --fix --config x.toml open", "Edit(open/**)", "ask"),
        ("ruff check --add-noqa open", "Edit(open/**)", "ask"),
        ('ruff check --fix "$x"', "Edit(open/**)", "ask"),
        ("biome check --write --changed open", "Edit(open/**)", "ask"),
        ("eslint --fix --suppress-all open", "Edit(open/**)", "ask"),
        ("prettier --write '**/*.ts'", "Edit(open/**)", "ask"),
        ("prettier --write 'open/*/../../held/*'", "Edit(open/**)", "ask"),
        ("prettier --write 'open/{a,../../held}/*'", "Edit(open/**)", "ask"),
        ("prettier --write '!open/*' open", "Edit(open/**)", "ask"),
        ("clang-format -i *.cpp", "Edit(open/**)", "ask"),
        ("clang-format -i open/*", "Edit(open/**)", "ask"),
        ("bundle exec --gemfile x rubocop -A open/a.rb", "Edit(open/**)", "ask"),
        ("rubocop -A --auto-gen-config open/a.rb", "Edit(open/**)", "ask"),
    ],
)
def test_a_rule_for_what_lies_below_covers_a_formatter(
    command: str, edit: str, expected: str, places: dict[str, str]
) -> None:
    for made in ("mixed/.vscode", "open/sub"):
        (Path(places["workspace"]) / made).mkdir(parents=True)
    (Path(places["workspace"]) / "link").symlink_to("held")
    names = ("ruff check", "biome", "prettier", "clang-format", "goimports", "bundle exec rubocop", "rubocop", "eslint")
    assert decide(command, allow=[*[f"Bash({name}:*)" for name in names], edit], **places) == expected
