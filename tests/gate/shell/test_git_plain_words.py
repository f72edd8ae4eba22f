"""Without a rule git is given plain words alone, and what it prints for them holds no secret (docs/gate.md S9)."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.shell.languages.git_plain_words import is_plain

from .asked import HOME, decide

PLAIN = """
src/a.py
./src/
..
../x
/work/x.py
.gitignore
.github/workflows/ci.yml
src/app/[id]/page.tsx
src/(group)/$id.tsx
My Folder/x
@scope/pkg
HEAD
HEAD~3
HEAD^2~1
HEAD^{commit}
main@{upstream}
@{-1}
HEAD@{2 days ago}
stash@{0}
v1.2-3-gabc1234
pkg@1.0.0
feature/x-y
origin/main...HEAD
HEAD~2..
^main
HEAD:
HEAD:src/a.py
HEAD:./a.py
HEAD:src/[id].py
:src/a.py
:2:src/a.py
*.ts
src/**/*.ts
:!src
:^*.lock
:(exclude)dist
:/
""".strip().splitlines()

ODD = [
    *"HEAD@{10:00} HEAD@{a}{b} src/../x a//b :/fix HEAD^{/x} HEAD^{tag} HEAD^! HEAD^@ [/.]env [].]x [!a]x".split(),
    *":(attr:!exclude)x :(top)x :(top) :* .\\env x:y-g1234 HEAD:docs/.. HEAD:a:b :^:x [:c]* HEAD:a.py..HEAD".split(),
    *"a..b..c ../* ./* */../x a/./b* :!../x/..".split(), "a\t/../x", "x\n", "a" * 9000,
]  # fmt: skip


@pytest.mark.parametrize("word", PLAIN)
def test_a_plain_word(word: str) -> None:
    assert is_plain(word)


@pytest.mark.parametrize("word", ODD)
def test_a_word_that_git_may_read_in_another_way(word: str, without_secrets: Path) -> None:
    assert not is_plain(word)
    quoted = shlex.quote(word)
    for command in (f"git show {quoted}", f"git blame {quoted}", f"git log -p {quoted}", f"git grep x -- {quoted}"):
        assert decide(command, workspace=str(without_secrets), home=HOME) != "allow"


@pytest.mark.parametrize(
    "command",
    ["git grep ':/x(*)' -- src", "git log 'HEAD@{10:00}'", "git log --grep='a//b'", "git log -S'a\tb' src", "git diff"],
)
def test_words_that_name_no_file_and_choose_no_lines_are_free(command: str, without_secrets: Path) -> None:
    assert decide(command, workspace=str(without_secrets), home=HOME) == "allow"


SECRET = "this-is-the-secret"
FILES = (
    "src/app.py",
    "src/[a]/x",
    "src/a..b",
    "conf/server.pem",
    ".env",
    "sub/:!x",
    "HEAD^!",
    "x:y",
    ":(top)x",
    "main",
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with two tracked secrets, which every commit and the work tree change, and files with hostile names."""
    folder = tmp_path_factory.mktemp("repository")
    _git(folder, "init", "-q", "-b", "main")
    for number in range(4):
        for name in FILES:
            (folder / name).parent.mkdir(exist_ok=True)
            secret = name in ("conf/server.pem", ".env")
            (folder / name).write_text(f"{SECRET if secret else 'x'} {number}\n")
        if number < 3:
            _git(folder, "add", ".")
            _git(folder, "commit", "-qm", f"commit {number}")
    _git(folder, "tag", "v1", "HEAD~1")
    _git(folder, "tag", "v2", "HEAD:conf/server.pem")
    _git(folder, "branch", "topic", "HEAD~1")
    return folder


@pytest.fixture(scope="module")
def without_secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without")
    _git(folder, "init", "-q")
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("x\n")
    _git(folder, "add", ".")
    return folder


def _git(folder: Path, *words: str) -> str:
    settings_ = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null")
    found = subprocess.run(["git", *settings_, *words], cwd=folder, capture_output=True, check=False)
    return found.stdout.decode(errors="replace")


PIECES = [
    *"HEAD main topic v1 v2 stash @ src src/app.py src/[a] conf conf/server.pem server.pem .env env x a..b".split(),
    *".. ... . / // : :0: :! :^ :/ :(top) :(exclude) :(icase) * ** ? [.] [!a] [ ] \\ { } -g abcd 0 é".split(),
    *"~ ~1 ^ ^0 ^{tree} ^{} ^{/commit} ^! ^@ ^- @{0} @{1} @{u} @{10:00} HEAD: HEAD~1: main: commit".split(), " ", "\t",
]  # fmt: skip
WORDS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
COMMANDS = """
show
show --oneline
show src
show HEAD --
diff
diff --cached
diff HEAD~1
diff src
diff -- src
log -p
log -p --
log -u -1
log -p src
log -L1,1:src/app.py
whatchanged -p
reflog -p
blame
blame HEAD --
grep secret
grep -e secret --
grep secret HEAD
grep -- secret
cat-file -p
cat-file blob
diff-tree -p
diff-index -p HEAD
archive HEAD
""".strip().splitlines()


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(COMMANDS), st.lists(WORDS | st.just("--"), max_size=3))
def test_git_prints_no_secret_without_a_rule(repository: Path, command: str, more: list[str]) -> None:
    words = [*command.split(), *more]
    if decide(shlex.join(["git", *words]), workspace=str(repository), home=HOME) == "allow":
        assert SECRET not in _git(repository, *words)
