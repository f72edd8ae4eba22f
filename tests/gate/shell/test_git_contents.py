"""git prints files that its words do not name; a rule about reading must see that, and nobody else must."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .asked import decide

DENY = ["Read(secrets/**)"]
NAMED = [
    "git show HEAD:secrets/key", "git show :secrets/key", "git show HEAD:src/../secrets/key",
    "git cat-file -p HEAD:secrets/key", "git blame secrets/key", "git blame HEAD -- secrets/key",
    "git diff -- secrets", "git log -p -- secrets/key", "git log -L1,2:secrets/key", "git archive HEAD secrets",
    "git checkout HEAD -- secrets/key", "git annotate secrets/key", "git -C secrets show HEAD:./key",
    "git stash show -p -- secrets/key", "git difftool -- secrets/key",
]  # fmt: skip
UNNAMED = [
    "git show", "git show HEAD", "git show abc1234", "git show --stat abc1234", "git show -s v1.0",
    "git show abc1234:key", "git diff", "git diff HEAD~1", "git diff --cached", "git diff main nothing-there",
    "git diff -- ':!secrets'", "git diff -- :/", "git diff --stat -p", "git diff --pat --stat",
    "git diff abc1234 def5678 -- key", "git log -p", "git log -up", "git log --pat", "git log -U3", "git log -U0",
    "git log -p --no-patch", "git log --no-patch -p", "git log --cc",
    "git log --word-diff", "git log --remerge-diff", "git log -p abc1234", "git stash show -p", "git stash list -p",
    "git reflog -p", "git whatchanged -p", "git diff-tree -p HEAD", "git diff-index -p HEAD", "git format-patch -1",
    "git range-diff a b c", "git cat-file -p abc1234", "git cat-file --batch", "git grep x",
    "git grep -- x", "git --icase-pathspecs grep -n -- .",
    "git grep x abc1234 -- key", "git archive HEAD", "git archive abc1234 key", "git fast-export HEAD",
    "git bundle create x HEAD", "git status -v", "git commit -v --dry-run", "git add -p", "git worktree add copy",
    "git clone . copy", "git checkout-index --prefix=copy/ -a", "git read-tree --prefix=copy -u HEAD",
    "git update-index --cacheinfo 100644,abc1234,copy", "git tag x HEAD:secrets", "git tag x abc1234",
    "git rebase --show-current-patch", "git am --show-current-patch", "git lol -p",
    "git --git-dir=.git/modules/x show HEAD:key", "GIT_DIR=x git show HEAD:key", "git -C src diff",
    "git merge-tree a b", "git bisect view -p", "git rerere diff", "cd src && git diff",
    "git checkout HEAD:secrets -- .", "git checkout HEAD:secrets -- key", "git checkout HEAD:secrets key",
    "git checkout abc1234 -- key", "git restore --source=HEAD:secrets .", "git restore -s HEAD:secrets key",
    "git restore -sabc1234 key", "git reset HEAD:secrets", "git reset abc1234 key", "git read-tree HEAD:secrets",
    "git read-tree abc1234", "git checkout-index --temp -a", "git checkout-index --tem -a",
    "git log -p --full-diff -- src", "git log --full-d -p src", "git show --full-diff HEAD -- src",
    "git whatchanged -p --full-diff -- src", "git clone file:///x copy", "git clone FILE:///x copy",
    "git submodule add /x copy", "git submodule add -- . copy", "git submodule set-url src /x",
    "git merge-file -p --object-id a b abc1234", "git merge-file -p --obj a b abc1234", "git fsck --lost-found",
    "git notes add -C abc1234", "git notes add --reuse-message=HEAD:secrets/key", "git notes append -c HEAD:x",
    "git daemon --export-all src", "git upload-pack src", "git http-backend", "git instaweb", "git mailsplit src/m.py",
    "git restore --sour HEAD:secrets .", "git log -S x", "git log --oneline -Gx", "git diff-files --name-only -G x",
    "git log -L1,5:src/m.py",
]  # fmt: skip
NAMES_ONLY = [
    "git status", "git log", "git log --oneline -5", "git log --stat", "git log --format=%H -1",
    "git log --color", "git log --name-status abc1234", "git diff --stat", "git diff --name-only",
    "git diff --name-status main", "git diff --shortstat", "git diff -- src", "git diff src/m.py",
    "git diff HEAD -- src/m.py", "git diff main -- src", "git log -p -- src", "git log -p src/m.py",
    "git show --stat", "git show --stat HEAD", "git show -s HEAD", "git show HEAD:src/m.py", "git show main:src/m.py",
    "git show HEAD -- src", "git show main:", "git blame src/m.py",
    "git cat-file -t abc1234", "git cat-file -p HEAD:src/m.py", "git grep x -- src", "git archive HEAD src",
    "git log -S x -- src", "git stash list", "git stash", "git diff-tree HEAD", "git ls-files", "git branch -v",
    "git tag v1.0", "git add src", "git commit -m x", "git checkout main", "git worktree list", "git clone https://host/x.git",
    "git clone git@host:a/b.git", "git fetch", "git rebase main", "git cherry -v", "git bisect start",
    "git checkout abc1234", "git checkout HEAD~1 -- src", "git reset --hard abc1234", "git reset HEAD~1 src",
    "git restore src/m.py", "git restore --source=HEAD~1 src/m.py", "git fsck", "git log --full-history -- src",
    "git log --full-diff -- src",
]  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> str:
    top = tmp_path_factory.mktemp("contents") / "ws"
    for name in ("src/m.py", "secrets/key"):
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text("x\n")
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*person, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(top), *words], check=True)
    return str(top)


MORE = [{"mode": "auto"}, {"mode": "default", "allow": ["Bash(git:*)", "Bash(cd:*)"]}, {"bypass": True}]


@pytest.mark.parametrize("more", MORE, ids=str)
@pytest.mark.parametrize("command", NAMED)
def test_a_denied_file_that_git_names_is_denied(command: str, more: dict[str, object], workspace: str) -> None:
    assert decide(command, deny=DENY, workspace=workspace, **more) == "deny"


@pytest.mark.parametrize("more", MORE, ids=str)
@pytest.mark.parametrize("command", UNNAMED)
def test_git_asks_before_it_prints_files_that_no_word_names(
    command: str, more: dict[str, object], workspace: str
) -> None:
    assert decide(command, deny=DENY, workspace=workspace, **more) != "allow"


@pytest.mark.parametrize("command", NAMES_ONLY)
def test_what_prints_names_or_other_files_asks_nobody(command: str, workspace: str) -> None:
    assert decide(command, ["Bash(git:*)"], deny=DENY, workspace=workspace) == "allow"


@pytest.mark.parametrize("command", [*UNNAMED, *NAMES_ONLY])
def test_without_a_rule_about_reading_nothing_changes(command: str, workspace: str) -> None:
    """The same answer as with a rule about files that no repository of the workspace holds."""
    without = decide(command, ["Bash(git:*)"], workspace=workspace)
    assert decide(command, ["Bash(git:*)"], deny=["Read(~/.ssh/**)"], workspace=workspace) == without


def test_everyday_git_is_allowed_without_a_rule_about_reading(workspace: str) -> None:
    for command in ("git diff", "git show", "git show abc1234", "git log -p", "git stash show -p", "git diff HEAD~1"):
        assert decide(command, workspace=workspace) == "allow", command


def test_a_file_that_is_gone_does_not_stand_for_a_branch_of_its_name(workspace: str) -> None:
    assert decide("git diff src/m.py", deny=DENY, mode="auto", workspace=workspace) == "allow"
    (Path(workspace) / "src" / "branch").touch()
    assert decide("git diff src/branch", deny=DENY, mode="auto", workspace=workspace) == "allow"
    (Path(workspace) / "src" / "branch").unlink()
    assert decide("git diff src/branch", deny=DENY, mode="auto", workspace=workspace) == "ask"
