"""Without a rule git is given plain words alone (docs/gate.md S9); `history_texts.py` looks at what it prints then."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.languages.git_plain_words import is_plain

from .asked import HOME, decide

PLAIN = """
src/a.py
./src/
..
../x
/x/y.py
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
    [
        "git grep ':/x(*)' -- src",
        "git log 'HEAD@{10:00}'",
        "git log --grep='a//b'",
        "git log -S'a\tb' src",
        "git diff",
        "git show --pretty=oneline",
    ],
)
def test_words_that_name_no_file_and_choose_no_lines_are_free(command: str, without_secrets: Path) -> None:
    assert decide(command, workspace=str(without_secrets), home=HOME) == "allow"


@pytest.fixture(scope="module")
def without_secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without")
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("x\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder
