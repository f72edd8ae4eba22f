"""The usual rules for secrets ask where a secret may be read, and nowhere else (docs/gate.md S11)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.corpora import commands, given_rows

from .asked import HOME, decide

DENY = ["Read(./.env)", "Read(./.env.*)", "Read(./secrets/**)"]
ALLOW = [f"Bash({name}:*)" for name in (
    "git rg grep find cat wc head xargs ls eslint prettier tsc go gofmt npx make cp mv npm"
).split()]  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One with a secret that git does not track."""
    top = tmp_path / "project"
    for name in ("src/app.py", "src/a.ts", "docs/a.md", "README.md", "main.go", "package.json"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x\n")
    (top / ".gitignore").write_text(".env\nsecrets/\n")
    (top / ".env").write_text("KEY=1\n")
    _git(top, "init", "-q", "-b", "main")
    _git(top, "add", ".")
    _git(top, "commit", "-q", "-m", "x")
    (top / "src/app.py").write_text("y\n")
    return top


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)


def _answer(command: str, top: Path, **more: list[str]) -> str:
    rules = {"allow": ALLOW, "deny": DENY, **more}
    return decide(command, workspace=str(top), home=HOME, **rules)


READING = """
rg TODO
rg -t py x
rg --files | wc -l
rg -l x src | head
git diff
git diff --stat
git diff HEAD
git diff --cached
git diff src/app.py
git show
git show HEAD~1 --stat
git log -p
git show main~3
git diff main~20
git stash show -p
git grep x
git grep -n x src
git log --oneline -5
git ls-files '*.py' | xargs wc -l
cd src && ls && cd ..
cd .
cat *.md
wc -l src/*.py
for f in src/*.py; do head -1 "$f"; done
find . -name '*.py' | xargs cat
find . -name '*.py' -exec grep -n x {} +
grep -rn --include='*.py' x .
grep -rn x src
eslint 'src/**/*.ts'
eslint "src/**/*.{ts,tsx}"
prettier --check '**/*.md'
tsc -p .
go build .
gofmt -l .
"""


@pytest.mark.parametrize("command", READING.strip().splitlines())
def test_what_opens_no_secret_goes_on(command: str, repository: Path) -> None:
    assert _answer(command, repository) == "allow"
    assert _answer(command, repository, allow=[]) in {"allow", "ask"}


OPENING = """
grep -r x .
grep -rh KEY
find . -type f | xargs cat
find . -exec cat {} +
rg --hidden x
rg -uu x
cat .e*
cat .??*
cat $(ls -A)
cp -r . /tmp/x
tar cf a.tar .
eslint '**/*'
eslint '.e*'
prettier --check '**/.*'
make -f .env
"""


@pytest.mark.parametrize("command", OPENING.strip().splitlines())
def test_what_may_open_one_does_not(command: str, repository: Path) -> None:
    assert _answer(command, repository) != "allow"
    assert _answer(command, repository, allow=["Bash"]) != "allow"


@pytest.mark.parametrize(
    "command",
    ["git diff", "git diff HEAD", "git show", "git grep x", "rg x", "find . -name '*.py' | xargs cat", "eslint ."],
)
def test_a_rule_that_leads_through_a_link_counts_where_it_leads(command: str, repository: Path) -> None:
    link = repository.parent / "link"
    link.symlink_to(repository / "src")
    assert _answer(command, repository, deny=[f"Read(/{link}/**)"]) != "allow"
    (repository / "held").symlink_to("src")
    assert _answer(command, repository, deny=["Read(./held/**)"]) != "allow"


@pytest.mark.parametrize("command", ["git show", "git diff HEAD", "rg x", "eslint .", "cat src/*.py"])
def test_a_workspace_that_is_opened_by_a_link_counts_where_it_lies(command: str, repository: Path) -> None:
    opened = repository.parent / "opened"
    opened.symlink_to(repository)
    for top in (opened, repository):
        assert _answer(command, opened, deny=[f"Read(/{top}/src/**)"]) != "allow"
        assert _answer(command, repository, deny=[f"Read(/{top}/src/**)"]) != "allow"


TOLD = [
    "git add . && git diff --cached", "git reset -q side; git diff", "git reset --soft side; git diff --cached",
    "for x in 1 2; do git diff --cached; git add -A; done", "git diff & git add -A", "git commit -qam x && git show",
    "git restore -S -s side .; git diff --cached", "git checkout -q side && git log -p -2",
    "git checkout -- src/app.py && git diff", "git rm -q docs/a.md; git diff HEAD",
    "git mv src/app.py lib; git diff --cached",
]  # fmt: skip


@pytest.mark.parametrize("text", TOLD)
def test_behind_git_commands_that_change_it_asks_where_what_they_bring_is_ruled(text: str, repository: Path) -> None:
    rules = {"allow": [*ALLOW, "Edit(./**)"]}
    _git(repository, "branch", "side")
    assert _answer(text, repository, **rules) == "allow"
    if " add " in text:
        (repository / ".gitignore").write_text("x\n")
    else:
        _git(repository, "checkout", "-q", "side")
        _git(repository, "add", "-f", ".env")
        _git(repository, "commit", "-q", "-m", "y")
        _git(repository, "checkout", "-q", "main")
    assert _answer(text, repository, **rules) == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "git symbolic-ref HEAD refs/heads/side; git show", "git update-ref HEAD side; git show HEAD",
        "make && git diff --cached", "git config core.worktree docs; git diff", "git -C src add .; git diff --cached",
        "git --work-tree=docs add .; git diff --cached", "git add . > .gitignore; git diff --cached",
        "git worktree add -q w; git diff", "git read-tree side; git diff",
        "cp README.md x; git add .; git diff --cached",
    ],
)  # fmt: skip
def test_behind_what_may_change_what_git_prints_in_any_way_it_asks(text: str, repository: Path) -> None:
    _git(repository, "branch", "side")
    assert _answer(text, repository, allow=[*ALLOW, "Edit(./**)"]) == "ask"


@pytest.mark.parametrize("command", ["git show -50", "git show -n 50", "git show --oneline -20", "git -C src show -20"])
def test_a_number_makes_git_show_a_history(command: str, repository: Path) -> None:
    assert _answer(command, repository) == "ask"
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


@pytest.mark.parametrize("command", ["git for-each-ref --format='%(raw)'", "git tag -l --format='%(raw)'"])
def test_formats_that_print_objects_ask(command: str, repository: Path) -> None:
    assert _answer(command, repository) == "ask"
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


@pytest.mark.parametrize("command", ["git diff", "git grep KEY", "git diff HEAD", "git show", "git diff --cached"])
def test_a_secret_that_git_tracks_is_not_printed(command: str, repository: Path) -> None:
    _git(repository, "add", "-f", ".env")
    _git(repository, "commit", "-q", "-m", "y")
    (repository / ".env").write_text("KEY=2\n")
    _git(repository, "add", "-u")
    (repository / ".env").write_text("KEY=3\n")
    assert _answer(command, repository) == "ask"
    # A rule that allows reading it does not take back the one that denies it.
    assert _answer(command, repository, allow=[*ALLOW, "Read(.env)"]) == "ask"


@pytest.mark.parametrize(
    "command", ["rg x", "git diff", "find . -name '*.py' | xargs cat", "eslint '**/*.ts'", "cat *.md", "tsc -p ."]
)
def test_rules_for_other_files_ask_where_these_are(command: str, repository: Path) -> None:
    (repository / "secrets").mkdir()
    assert _answer(command, repository) == ("allow" if command in {"cat *.md", "git diff"} else "ask")
    (repository / "secrets").rmdir()
    assert _answer(command, repository) == "allow"
    assert _answer(command, repository, deny=["Read(src/**)", "Read(docs/**)", "Read(*.md)"]) != "allow"
    assert _answer(command, repository, deny=["Read(~/.ssh/**)", "Read(//etc/**)"]) == "allow"


@pytest.mark.parametrize("command", ["git diff", "git diff HEAD", "git show", "git show HEAD~8", "git grep x"])
def test_what_git_keeps_counts_wherever_the_file_is(command: str, repository: Path) -> None:
    (repository / "held").mkdir()
    (repository / "held/notes").write_text("x\n")
    _git(repository, "add", "held")
    _git(repository, "commit", "-q", "-m", "x")
    (repository / "held/notes").unlink()
    (repository / "held").rmdir()
    deny = ["Read(./held/**)", "Read(./.env)"]
    assert _answer(command, repository, deny=deny) == "ask"
    _git(repository, "commit", "-q", "-a", "-m", "y")
    assert _answer(command, repository, deny=deny) == ("ask" if command == "git show" else "allow")
    for number in range(10):
        _git(repository, "commit", "-q", "--allow-empty", "-m", f"{number}")
    assert _answer(command, repository, deny=deny) == "allow"
    assert _answer("git show HEAD~10", repository, deny=deny) == "ask"
    assert _answer("git show HEAD~9", repository, deny=deny) == "allow"
    assert _answer("git log -p -- '*.py'", repository, deny=deny) == "allow"
    assert _answer("git log -p", repository, deny=deny) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "mv src secrets; rg x", "mkdir secrets && cp -r src secrets/a; rg x", "cp -r src secrets; grep -r x src .",
        "ln -s ../.env src/x.ts; eslint 'src/**/*.ts'", "git checkout topic -- secrets; rg x",
    ],
)  # fmt: skip
def test_behind_a_change_of_the_text_itself_it_is_not_certain(command: str, repository: Path) -> None:
    assert _answer(command, repository, allow=["Bash", "Edit(./**)"]) != "allow"


@pytest.mark.parametrize(
    "command", ["eslint 'src/**/*.ts'", "eslint src", "cat src/*.ts", "find src -name '*.ts' | xargs cat"]
)
def test_a_link_to_the_secret_asks(command: str, repository: Path) -> None:
    assert _answer(command, repository) == "allow"
    (repository / "src/b.ts").symlink_to("../.env")
    assert _answer(command, repository) != "allow"


def test_few_everyday_commands_ask_for_them(repository: Path) -> None:
    """Of those that are allowed without these rules: at most three of a hundred, and some of them should."""
    for name in (
        "src/components/a.tsx",
        "tests/test_app.py",
        "pkg/a.go",
        "sub/Makefile",
        "a.py",
        "data.csv",
        "tsconfig.json",
    ):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("{}\n")
    _git(repository, "add", ".")
    everyday = [
        row
        for row in (*commands(), *given_rows("commands"))
        if row["class"] in {"benign", "everyday", "looking", "read-only", "neutral"}
        and row["expect"] == "allow"
        and not {"layout", "mode"} & row.keys()
        and isinstance(row["command"], str)
        and ".env" not in row["command"]
    ]
    where = {"workspace": str(repository), "home": HOME}
    allowed = [row for row in everyday if decide(row["command"], **row["rules"], **where) == "allow"]
    asks = [
        row["command"]
        for row in allowed
        if decide(row["command"], **{**row["rules"], "deny": [*row["rules"]["deny"], *DENY]}, **where) != "allow"
    ]
    assert len(allowed) > 3_000
    assert len(asks) / len(allowed) < 0.03, asks


def _on_another_branch(top: Path) -> None:
    """A ruled file that the branch `topic` tracks, alone."""
    _git(top, "switch", "-q", "-c", "topic")
    (top / "held").mkdir()
    (top / "held/a.py").write_text("".join(f"{number}\n" for number in range(60)))
    _git(top, "add", "held")
    _git(top, "commit", "-q", "-m", "x")
    _git(top, "tag", "v1")
    _git(top, "switch", "-q", "main")
    _git(top, "update-ref", "ORIG_HEAD", "topic")


@pytest.mark.parametrize(
    "command",
    [
        "git -C .git show ORIG_HEAD", "cd .git && git show refs/heads/topic", "cd .git && git show refs/tags/v1",
        "cd .git && git grep 1 ORIG_HEAD", "git diff ^topic HEAD", "git diff '^topic'",
        "git show topic", "git diff HEAD ^topic --",
    ],
)  # fmt: skip
def test_a_revision_that_looks_like_a_file_is_none(command: str, repository: Path) -> None:
    _on_another_branch(repository)
    (repository / "^topic").write_text("x\n")
    assert _answer(command, repository, deny=["Read(./held/**)"]) == "ask"


@pytest.mark.parametrize("command", ["git show", "git show HEAD", "git show -M", "git show HEAD -- ."])
def test_a_merge_shows_what_was_renamed_in_any_parent(command: str, repository: Path) -> None:
    _on_another_branch(repository)
    _git(repository, "merge", "-q", "--no-commit", "--no-ff", "topic")
    _git(repository, "mv", "held/a.py", "src/b.py")
    text = (repository / "src/b.py").read_text().replace("30\n", "own\n")
    (repository / "src/b.py").write_text(text)
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "merged")
    assert _answer(command, repository, deny=["Read(./held/**)"]) == "ask"


READERS = ("rg x", "grep -rn x .", "git ls-files | xargs cat", "find . -name '*.json' | xargs cat")


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("way", ["kept by git", "second name", "ends in a dot"])
def test_a_file_counts_as_left_out_by_its_own_name_alone(way: str, command: str, repository: Path) -> None:
    config = repository / "config"
    config.mkdir()
    name = "prod.json" if way != "ends in a dot" else "prod.pem."
    (config / name).write_text("x\n")
    if way == "kept by git":
        (config / "HEAD").write_text("x\n")
        (config / "objects").mkdir()
    if way == "second name":
        (repository.parent / "other").hardlink_to(config / name)
    assert _answer(command, repository, deny=["Read(./config/prod.*)"]) != "allow"


def test_grafts_hide_what_a_commit_differs_from(repository: Path) -> None:
    _on_another_branch(repository)
    (repository / ".git/info/grafts").write_text(f"{'0' * 40}\n")
    for command in ("git show", "git diff HEAD~1", "git grep x HEAD"):
        assert _answer(command, repository, deny=["Read(./held/**)"]) == "ask"
        assert decide(command, workspace=str(repository), home=HOME) == "ask"
