"""What git's names lead to: a tag, or a branch of another repository, may be a file's contents (docs/gate.md S9)."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.files.git_kinds import is_commit, the_only_number

from .asked import HOME, decide

FILES = (
    "src/app.py", "held/key", "conf/server.pem", "lib/conf/x", "old/x", "show/x", "list/x", "docs/x", "0", "(",
)  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with a tracked secret, and names of every kind that lead to its contents."""
    folder = tmp_path_factory.mktemp("repository")
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text("x\n")
    _git(folder, "init", "-q", "-b", "main")
    for number in (1, 2):
        (folder / "conf/server.pem").write_text(f"secret {number}\n")
        _git(folder, "add", ".")
        _git(folder, "commit", "-q", "-m", "x")
    for name in ("old", "topic", "docs"):
        _git(folder, "branch", name)
    _git(folder, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    _git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    _git(folder, "update-ref", "refs/remotes/origin/blob", "HEAD:conf/server.pem")
    _git(folder, "tag", "v1")
    _git(folder, "tag", "-a", "-m", "x", "v2")
    for name, named in (("blob", "conf/server.pem"), ("ORIG_HEAD", "conf/server.pem"), ("stash", "conf/server.pem"),
                        ("held-blob", "held/key"), ("held-tree", "held")):  # fmt: skip
        _git(folder, "tag", name, f"HEAD:{named}")
    _git(folder, "tag", "-a", "-m", "x", "annotated-blob", "blob")
    return folder


def _git(folder: Path, *words: str) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "command",
    [
        "git show blob -- src", "git cat-file -p blob", "git cat-file blob blob", "git show annotated-blob -- src",
        "git show ORIG_HEAD -- src", "git show --stat ORIG_HEAD", "git show --name-only FETCH_HEAD",
        "git show stash -- src", "git cat-file -p stash", "git grep x ORIG_HEAD -- src",
        "git show origin/blob -- src", "git show '@{u}' -- src", "git cat-file -p 'main@{upstream}'",
        "git show '@{-1}' -- src", "git diff --numstat blob src/app.py", "git diff --quiet origin/blob src/app.py",
        "git tag --sort=raw", "git for-each-ref --sort=-raw refs/tags", "git show 'origin/main@{1}' -- src",
        "git diff-index -p --default HEAD:lib -- src", "git diff-tree -p --tags='bl*' HEAD -- src",
        "git diff-tree -p --glob='refs/tags/blo[b]' HEAD -- src", "git diff --default HEAD:src/app.py src/app.py",
    ],
)  # fmt: skip
def test_what_may_lead_to_a_file_may_print_a_secret(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cd lib && git range-diff main~1 old main -- .", "git -C lib range-diff old...main -- conf",
        "git range-diff main~1 old main", "git stash show -p", "git stash show -p 0", "git stash show -p docs",
        "git stash list -p", "git reflog show -p", "git reflog show -p main", "git cat-file -p blob",
        "git grep '(' -e x ')'", "git grep --not '(' -e x ')'", "git log -L1,1:src/app.py",
        "git whatchanged -L1,1:src/app.py", "git log --no-renames -M -L1,1:src/app.py",
        "git log --no-rename -L1,1:src/app.py",
    ],
)  # fmt: skip
def test_a_word_limits_what_is_printed_only_where_git_takes_it_for_a_path(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


COMMITS = [
    "git show v1 -- src", "git show v2 -- src", "git show v2:src/app.py", "git show origin/main -- src",
    "git show origin -- src", "git diff origin/main...topic -- src",
    "git cat-file -p v2:src/app.py", "git diff --stat v1 topic", "git show --stat v2", "git diff --stat src",
    "git grep x v1 -- src", "git blame v1 -- src/app.py", "git log -p topic -- src", "git show heads/main~1 -- src",
    "git diff --cached HEAD -- src", "git show 'HEAD@{1}' -- src",
    "git diff $(git merge-base main topic) -- src", "git show $(git rev-list -n 1 HEAD):src/app.py",
    'x=$(git rev-parse v1); git diff "$x"..HEAD -- src', "git show $(git rev-parse --verify HEAD) -- src",
]  # fmt: skip


@pytest.mark.parametrize("deny", [[], ["Read(held/**)"]], ids=["no rule", "a deny rule"])
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_name_that_leads_to_a_commit_is_followed(packed: bool, deny: list[str], repository: Path) -> None:
    if packed:
        _git(repository, "gc", "-q")
    asking = [each for each in COMMITS if decide(each, deny=deny, workspace=str(repository), home=HOME) != "allow"]
    assert asking == []


@pytest.mark.parametrize("allow", [[], ["Bash(git:*)"]], ids=["no rule", "a rule for git"])
@pytest.mark.parametrize(
    "command",
    [
        "git show held-blob -- src", "git show held-blob src", "git show tags/held-blob -- src",
        "git diff held-blob src/app.py", "git grep x held-blob -- src", "git show held-tree:key",
        "git cat-file -p held-tree:key", "git grep x held-tree -- key", "git diff held-tree HEAD -- key",
        "git diff-tree -p 'held-tree^{tree}' 'HEAD^{tree}' -- key", "git log -L1,1:src/app.py",
        "git ls-files -o -i --exclude-per-directory=../held/key", "git tag --sort=raw",
        "git diff-index -p --default held-tree -- src", "git checkout held-tree -- src",
        "git restore --source held-tree -- src", "git restore -s held-tree src/key", "git checkout held-tree src",
        "git reset -q held-tree -- src/key",
    ],
)  # fmt: skip
def test_a_rule_about_reading_holds_for_what_names_lead_to(command: str, allow: list[str], repository: Path) -> None:
    assert decide(command, allow, deny=["Read(held/**)"], workspace=str(repository), home=HOME) == "ask"


def test_each_object_is_of_the_kind_that_git_says(repository: Path) -> None:
    for _ in range(2):
        lines = _git(repository, "cat-file", "--batch-check", "--batch-all-objects").splitlines()
        for number, kind, _ in map(str.split, lines):
            to_commit = kind == "commit" or (
                kind == "tag" and "type commit" in _git(repository, "cat-file", "-p", number)
            )
            assert is_commit(number, f"{repository}/.git/objects") == to_commit
        _git(repository, "repack", "-adfq", "--depth=50")


BY_NUMBER = [
    "git show {} -- src", "git diff {}..HEAD -- src", "git diff {} HEAD -- src", "git show {}:src/app.py",
    "git diff --stat {}", "git show --stat {}", "git cat-file -p {}:src/app.py", "git cat-file -p {}",
    "git grep x {} -- src",
]  # fmt: skip


@pytest.mark.parametrize("digits", [4, 7, 40])
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_number_is_looked_up(packed: bool, digits: int, repository: Path) -> None:
    if packed:
        _git(repository, "gc", "-q")
    commit, secret, tree = _git(repository, "rev-parse", "HEAD~1", "HEAD:conf/server.pem", "HEAD:conf").split()
    for each in BY_NUMBER:
        found = decide(each.format(commit[:digits]), workspace=str(repository), home=HOME)
        assert found == "allow", each
        for number in (secret, tree):
            found = decide(each.format(number[:digits]), workspace=str(repository), home=HOME)
            assert found == "ask", each


def test_a_number_names_what_git_finds_by_it(repository: Path) -> None:
    store = f"{repository}/.git/objects"
    _git(repository, "gc", "-q")
    commit = _git(repository, "rev-parse", "HEAD~1").strip()
    command = f"git show {commit[:4]} -- src"
    for text in map(str, itertools.count()):
        if hashlib.sha1(f"blob {len(text)}\0{text}".encode()).hexdigest().startswith(commit[:4]):
            break
    assert decide(command, workspace=str(repository), home=HOME) == "allow"
    (repository / "same").write_text(text)
    number = _git(repository, "hash-object", "-w", "same").strip()
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
    (repository / "same").unlink()
    numbers = _git(repository, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects").split()
    for each, digits in itertools.product(numbers, (4, 5, 9, 40)):
        alike = [other for other in numbers if other.startswith(each[:digits])]
        assert the_only_number(each[:digits], store) == (each if len(alike) == 1 else None)
    (repository / ".git/objects" / number[:2] / number[2:]).unlink()


@pytest.mark.parametrize(
    "command",
    [
        "git show $(git rev-parse blob) -- src", "git show $(git rev-parse --verify blob) -- src",
        "git -C src show $(git rev-parse HEAD) -- app.py", "git show $(git -C lib rev-parse HEAD) -- src",
        "cd lib; x=$(git rev-parse HEAD); cd ..; git show $x -- src", "git show $(git merge-base main topic)",
        "git show $(git rev-parse HEAD:conf/server.pem) -- src", "git show $(git hash-object src/app.py) -- src",
        "git show $(git rev-parse --short HEAD) -- src", "x=$(git rev-parse --short=8 v1); git show $x -- src",
        "git show $(git rev-list -1 --abbrev-commit HEAD) -- src",
    ],
)  # fmt: skip
def test_a_number_that_is_printed_may_be_one_of_a_file(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git show -s $(git rev-parse {blob})", "ask"), ("git show --stat $(git rev-parse -q --verify {blob})", "ask"),
        ("git show $(git rev-parse {blob}) src", "ask"), ("git diff $(git rev-parse {blob}) src", "ask"),
        ("git rev-parse {blob} | while read c; do git show -s $c; done", "ask"),
        ("git show $(git rev-parse docs) src", "ask"), ("c=$(git rev-parse docs); git show $c src", "ask"),
        ("for c in $(git rev-parse docs); do git show $c src; done", "ask"), ("git show docs:key", "ask"),
        ("git show docs:./key", "ask"), ("git show {tree}:key", "ask"), ("git diff ^blob src/app.py", "ask"),
        ("git diff ^2024 src/app.py", "ask"), ("git diff --cached ^77 -- src", "ask"),
        ("git diff-tree -p ^77 HEAD -- src", "ask"), ("git diff ^HEAD~1 HEAD -- src", "allow"),
        ("git diff HEAD^ -- src", "allow"), ("git diff HEAD^1 -- src", "allow"),
        ("git log -p ^main~1 HEAD -- src", "allow"),
        ("git show $(git rev-parse {tree}):key", "ask"),
        ("git show $(git rev-parse main) src", "ask"), ("git show $(git rev-parse HEAD):src/app.py", "allow"),
        ("git show $(git rev-parse HEAD~1) -- src", "allow"), ("git show main:src/app.py", "allow"),
    ],
)  # fmt: skip
def test_a_file_that_is_called_like_a_revision_counts_where_git_is_given_its_name(
    command: str, expected: str, tmp_path: Path
) -> None:
    for name in ("conf/server.pem", "held/key", "src/app.py", "docs/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(f"{name}\n")
    _git(tmp_path, "init", "-q", "-b", "main")
    for message in ("x", "y"):
        _git(tmp_path, "add", ".")
        _git(tmp_path, "commit", "-q", "--allow-empty", "-m", message)
    _git(tmp_path, "tag", "docs", "HEAD:held")
    numbers = {
        "blob": _git(tmp_path, "rev-parse", "--short=8", "HEAD:conf/server.pem").strip(),
        "tree": _git(tmp_path, "rev-parse", "--short=8", "HEAD:held").strip(),
    }
    for name, named in (("blob", "conf/server.pem"), ("2024", "conf/server.pem"), ("77", "conf")):
        _git(tmp_path, "tag", name, f"HEAD:{named}")
    for name in (*numbers.values(), "^blob"):
        (tmp_path / name).write_text("x\n")
    assert decide(command.format(**numbers), deny=["Read(held/**)"], workspace=str(tmp_path), home=HOME) == expected


def test_a_ref_comes_before_the_number_that_it_is_called_like(repository: Path) -> None:
    number = _git(repository, "rev-parse", "HEAD~1").strip()[:7]
    command = f"git show {number} -- src"
    assert decide(command, workspace=str(repository), home=HOME) == "allow"
    _git(repository, "update-ref", f"refs/tags/{number}", "HEAD:conf/server.pem")
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
    _git(repository, "update-ref", "-d", f"refs/tags/{number}")
    (repository / ".git/objects/info").mkdir(exist_ok=True)
    (repository / ".git/objects/info/alternates").write_text("/nowhere\n")
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
    (repository / ".git/objects/info/alternates").unlink()


def test_objects_that_stand_for_others_ask(repository: Path) -> None:
    _git(repository, "replace", "HEAD:src/app.py", "HEAD:conf/server.pem")
    for packed in (False, True):
        if packed:
            _git(repository, "pack-refs", "--all")
        assert decide("git show HEAD:src/app.py", workspace=str(repository), home=HOME) == "ask"
        assert decide("git log --oneline", workspace=str(repository), home=HOME) == "allow"
    _git(repository, "replace", "-d", _git(repository, "rev-parse", "HEAD:src/app.py").strip())
    assert decide("git show HEAD:src/app.py", workspace=str(repository), home=HOME) == "allow"


@pytest.mark.parametrize("allow", [[], ["Bash(git:*)"]], ids=["no rule", "a rule for git"])
def test_objects_that_stand_for_others_ask_under_a_rule_about_reading(allow: list[str], repository: Path) -> None:
    _git(repository, "replace", "HEAD:src/app.py", "HEAD:held/key")
    for command in ("git show HEAD:src/app.py", "git log -p -- src", "git grep x HEAD -- src", "git diff -- src"):
        assert decide(command, allow, deny=["Read(held/**)"], workspace=str(repository), home=HOME) == "ask", command
    _git(repository, "replace", "-d", _git(repository, "rev-parse", "HEAD:src/app.py").strip())


DENIED = ["Read(held/**)"]


def test_a_linked_worktree_has_refs_of_its_own(repository: Path, tmp_path: Path) -> None:
    _git(repository, "worktree", "add", "-q", str(tmp_path / "other"), "topic")
    for name in ("ORIG_HEAD", "bisect/bad"):
        _git(repository, "update-ref", name if name.isupper() else f"refs/{name}", "HEAD~1")
    _git(repository, "tag", "bisect/bad", "blob")
    for command in ("git show ORIG_HEAD -- src", "git show bisect/bad -- src"):
        assert decide(command, workspace=str(tmp_path / "other"), home=HOME) == "ask"
        assert decide(command, workspace=str(repository), home=HOME) == "allow"
    assert decide("git show topic -- src", workspace=str(tmp_path / "other"), home=HOME) == "allow"
    for name in ("ORIG_HEAD", "refs/bisect/bad", "refs/tags/bisect/bad"):
        _git(repository, "update-ref", "-d", name)


def test_a_linked_worktree_without_an_index_has_commits(repository: Path, tmp_path: Path) -> None:
    _git(repository, "worktree", "add", "-q", "--no-checkout", "-b", "empty", str(tmp_path / "other"))
    for command in ("git show", "git log -p", "git diff HEAD~1"):
        assert decide(command, workspace=str(tmp_path / "other"), home=HOME) == "ask"


def test_a_tag_called_head_counts_where_nothing_is_checked_out(repository: Path) -> None:
    _git(repository, "update-ref", "refs/tags/HEAD", "HEAD:conf/server.pem")
    assert decide("git show HEAD -- src", workspace=str(repository), home=HOME) == "allow"
    head = (repository / ".git/HEAD").read_text()
    (repository / ".git/HEAD").write_text("ref: refs/heads/unborn\n")
    assert decide("git show HEAD -- src", workspace=str(repository), home=HOME) == "ask"
    assert decide("git show @ -- src", workspace=str(repository), home=HOME) == "ask"
    (repository / ".git/HEAD").write_text(head)
    _git(repository, "update-ref", "-d", "refs/tags/HEAD")


def test_a_repository_without_a_work_tree_takes_a_file_for_a_revision(repository: Path) -> None:
    (repository / "held-blob").write_text("x")
    for bare in ("true", "false"):  # the text may delete the file before
        _git(repository, "config", "core.bare", bare)
        found = decide("git show held-blob", ["Bash(git:*)"], deny=DENIED, workspace=str(repository), home=HOME)
        assert found == "ask"
    (repository / "held-blob").unlink()


def test_a_repository_that_is_kept_elsewhere_is_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "ws/src").mkdir(parents=True)
    _git(tmp_path / "ws", "init", "-q", "--separate-git-dir", str(tmp_path / "kept"))
    found = decide("git show held-blob -- src", ["Bash(git:*)"], deny=DENIED, workspace=f"{tmp_path}/ws", home=HOME)
    assert found == "ask"


def test_a_link_is_not_followed_to_outside_where_an_option_names_an_object(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (repository / "linked").symlink_to(tmp_path)
    command = "git diff --default HEAD:src/app.py linked/notes.txt"
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
    (repository / "linked").unlink()


def test_what_is_checked_out_may_be_no_commit(repository: Path) -> None:
    commands = ("git show HEAD -- src", "git show -- src", "git show -s", "git show --stat", "git show @ -- src",
                "git grep -e x HEAD -- src", "git diff HEAD -- src", "git cat-file blob HEAD")  # fmt: skip
    asking = [each for each in commands if decide(each, workspace=str(repository), home=HOME) == "ask"]
    assert asking == []
    _git(repository, "symbolic-ref", "HEAD", "refs/tags/blob")
    for command in commands:
        assert decide(command, workspace=str(repository), home=HOME) == "ask", command
    _git(repository, "symbolic-ref", "HEAD", "refs/heads/main")


def test_what_is_checked_out_may_be_written_in_a_way_of_its_own(repository: Path) -> None:
    number = _git(repository, "rev-parse", "blob").strip()
    forms = ("ref:\trefs/tags/blob\n", "ref:  refs/tags/blob\n", "ref: refs/tags/blob \n", f"{number.upper()}\n",
             f"{number} \n", "ref: refs/tags/bl\xf6b\n")  # fmt: skip
    for form in forms:
        (repository / ".git/HEAD").write_text(form)
        for command in ("git show HEAD -- src", "git show -- src", "git cat-file -p @"):
            assert decide(command, workspace=str(repository), home=HOME) == "ask", (form, command)
    _git(repository, "symbolic-ref", "HEAD", "refs/heads/main")


def test_refs_of_another_form_are_not_known(repository: Path) -> None:
    (repository / ".git/reftable").mkdir()
    for command in ("git show HEAD -- src", "git show -- src", "git show v1 -- src"):
        assert decide(command, workspace=str(repository), home=HOME) == "ask", command
    (repository / ".git/reftable").rmdir()


def test_a_name_may_be_one_of_another_work_tree(repository: Path) -> None:
    _git(repository, "branch", "main-worktree/ORIG_HEAD")
    _git(repository, "branch", "worktrees/x/HEAD")
    for command in ("git show main-worktree/ORIG_HEAD -- src", "git cat-file -p worktrees/x/HEAD"):
        assert decide(command, workspace=str(repository), home=HOME) == "ask", command
    assert decide("git show heads/worktrees/x/HEAD -- src", workspace=str(repository), home=HOME) == "allow"


@pytest.mark.parametrize("deny", [[], DENIED], ids=["no rule", "a deny rule"])
@pytest.mark.parametrize(
    "command", ["git log --merge -p -- src", "git whatchanged --merge -p src", "git log --merge -S x -- src"]
)
def test_files_that_were_not_merged_take_the_place_of_paths(command: str, deny: list[str], repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME, deny=deny) == "ask"
    assert decide(command.replace("--merge ", ""), workspace=str(repository), home=HOME, deny=deny) == "allow"


@pytest.mark.parametrize(
    ("setting", "command"),
    [
        ("commit.verbose=2", "git commit -m x"), ("commit.verbose=true", "git commit --dry-run"),
        ("commit.verbose=2", "git cherry-pick topic"), ("log.follow=true", "git log -p -- src/app.py"),
    ],
)  # fmt: skip
def test_settings_with_which_git_prints_differences(setting: str, command: str, repository: Path) -> None:
    where = {"workspace": str(repository), "home": HOME, "deny": DENIED}
    rule = "Bash(git:*)"
    assert decide(command, [rule], **where) == "allow"
    name, value = setting.split("=")
    _git(repository, "config", name, value)
    assert decide(command, [rule], **where) == "ask"
    assert decide("git log --oneline", [rule], **where) == "allow"
    _git(repository, "config", "--unset", name)


@pytest.mark.parametrize("allow", [[], ["Bash(git:*)"]], ids=["no rule", "a rule for git"])
@pytest.mark.parametrize(
    "command",
    [
        "git -C .git show HEAD", "git -C .git log -p HEAD", "git -C ./.git show refs/heads/main",
        "git -C .git/ diff HEAD", "git -C src/../.git show --stat refs/tags/blob", "git -C .git show --stat ORIG_HEAD",
        "cd .git && git show HEAD",
        "git -C .git format-patch --stdout refs/heads/topic", "git -C .git whatchanged -p refs/heads/main",
    ],
)  # fmt: skip
def test_in_a_folder_of_its_own_git_takes_no_word_for_a_file(command: str, allow: list[str], repository: Path) -> None:
    _git(repository, "update-ref", "ORIG_HEAD", "HEAD:held/key")
    deny = ["Read(held/**)"] if allow else []
    assert decide(command, allow, deny=deny, workspace=str(repository), home=HOME) != "allow"
    _git(repository, "update-ref", "-d", "ORIG_HEAD")


@pytest.mark.parametrize("setting", ["core.bare=true", "core.worktree=../docs"])
@pytest.mark.parametrize("allow", [[], ["Bash(git:*)"]], ids=["no rule", "a rule for git"])
@pytest.mark.parametrize(
    "command",
    [
        "git show main", "git log -p main", "git show HEAD main", "git diff main topic", "git -C src show HEAD -- .",
        "cd src && git log -p -- .", "git -C src grep x HEAD -- .", "git -C src diff-tree -p HEAD -- .",
    ],
)  # fmt: skip
def test_without_the_work_tree_no_file_limits_what_is_printed(
    command: str, setting: str, allow: list[str], repository: Path
) -> None:
    (repository / "main").mkdir(exist_ok=True)
    (repository / "main/x").write_text("x")
    name, value = setting.split("=")
    _git(repository, "config", name, value)
    deny = ["Read(held/**)"] if allow else []
    found = decide(command, allow, deny=deny, workspace=str(repository), home=HOME)
    subprocess.run(["git", "config", "-f", str(repository / ".git/config"), "--unset", name], check=True)
    assert found == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git tag q {file}", "git update-ref refs/heads/q {file}", "git push origin {file}:refs/tags/q",
        "git push origin +{tree}:refs/tags/q", "git tag q HEAD:src", "git tag q {tree}",
        "git push ./ main:refs/heads/x", "git push --repo=./other", "git push {top} main",
        "git push file://{top} main", "git push other/x main",
        "git notes add -f -C v1 HEAD", "git notes append --reuse-message=v1", "git symbolic-ref HEAD refs/tags/v1",
        "git symbolic-ref -m x HEAD refs/remotes/origin/main", "git hash-object -t tree -w --stdin < src/app.py",
        "git hash-object -w --literally -t commit src/app.py", "git cherry-pick -Xsubtree=src topic",
        "git merge -X subtree=src topic",
        "git cherry-pick -Xsubtree main~1", "git revert --strategy-option=subtree main",
        "git pull -X find-renames=1% o x", "git rebase -Xrename-threshold=1% topic",
        "git stash store {file}", "git stash store -m x {tree}",
    ],
)  # fmt: skip
def test_names_that_are_made_for_contents_ask_under_a_rule_about_reading(command: str, repository: Path) -> None:
    file, tree = _git(repository, "rev-parse", "HEAD:held/key", "HEAD:held").split()
    text = command.format(file=file, tree=tree, top=repository)
    assert decide(text, ["Bash(git:*)"], deny=["Read(./held/**)"], workspace=str(repository), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git tag q {commit}", "git tag q", "git tag -a -m 'fix: x' q", "git tag -a -m x q main", "git tag -d v1",
        "git tag -l",
        "git push origin HEAD", "git push -u origin feature/x", "git push origin main:release",
        "git push origin {commit}:refs/heads/x", "git push", "git push origin :old", "git push --tags",
        "git checkout -b feed/1 && git push -u origin feed/1", "git hash-object -w --stdin < src/app.py",
        "git notes add -m x", "git symbolic-ref HEAD refs/heads/topic", "git update-ref -d refs/heads/x",
    ],
)  # fmt: skip
def test_names_that_are_made_for_commits_go_by_their_rule(command: str, repository: Path) -> None:
    text = command.format(commit=_git(repository, "rev-parse", "HEAD~1").strip())
    assert decide(text, ["Bash(git:*)"], deny=["Read(./held/**)"], workspace=str(repository), home=HOME) == "allow"


def test_a_commit_of_a_secret_by_its_name_asks_as_taking_it_up_does(repository: Path) -> None:
    rules = ["Bash(git commit:*)", "Bash(git add:*)"]
    for command in ("git commit --dry-run -v -- conf/server.pem", "git commit -m x conf/server.pem",
                    "git add -p conf/server.pem"):  # fmt: skip
        assert decide(command, rules, workspace=str(repository), home=HOME) == "ask", command
    assert decide("git commit -m x src/app.py", rules, workspace=str(repository), home=HOME) == "allow"


def test_a_patch_may_copy_a_file_to_another_name(repository: Path) -> None:
    for command in ("git apply --directory=conf src/app.py", "git am --directory=conf src/app.py"):
        found = decide(command, ["Bash(git:*)"], deny=["Read(**/*.pem)"], workspace=str(repository), home=HOME)
        assert found == "ask", command
