"""What git's pathspecs and `revision:path` name, wherever git works: they may count from the top of the repository."""

from __future__ import annotations

import posixpath
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import wildcards_meet
from countersign.gate.shell.languages.git_pathspec import (
    Pathspec,
    fixed_texts,
    is_path,
    leaves_out,
    may_choose,
    read_pathspec,
)

from .asked import decide


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in (".git/objects", ".git/refs", "held", "src/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main")
    for name in ("held/x", "src/b.py"):
        (tmp_path / name).write_text("x")
    (tmp_path / "linked").symlink_to("src")
    return tmp_path


READING = """
git -C src show HEAD:held/x
git -C ./src/ show HEAD:held/x
git -C src -C deep show HEAD:held/x
git -C linked show HEAD:held/x
git -C src show :held/x
git -C src cat-file blob HEAD:held/x
git -C src blame HEAD:held/x
git -C src grep x -- ':/held'
git -C src add ':/held/x'
git -C src --no-pager show HEAD:held/x
cd src && git -C deep show HEAD:held/x
cd src && git add ':/held/x'
cd src && git add ':(top)held/x'
cd src && git show HEAD:held/x
git add ':held/x'
"""
WRITING = """
git -C src checkout HEAD -- ':/held/x'
git -C src checkout ':(top)held/x'
git -C src rm ':/held/x'
git -C src restore ':/held/x'
cd src && git checkout HEAD -- ':/held/x'
cd src && git rm ':/held/x'
cd src && git rm ':(top,literal)held/x'
cd src && git restore -- ':/held/x'
cd src/deep && git restore ':/held'
git rm ':(icase)held/x'
git rm ':held/x'
"""
PATTERNS = """
git rm 'he*/x'
git rm '*x'
git rm ':(glob)he*/x'
git -C src rm ':/he*/x'
git -C src checkout -- ':/he*'
cd src && git restore ':/*eld/x'
cd src && git clean -fdx ':/'
cd src && git checkout HEAD~1 -- ':/'
git restore ':!src'
"""


@pytest.mark.parametrize("command", READING.strip().splitlines())
@pytest.mark.parametrize("mode", ["auto", "default"])
def test_reading_is_denied_by_the_path_from_the_top(command: str, mode: str, repository: Path) -> None:
    found = decide(command, workspace=str(repository), mode=mode, allow=["Bash(git:*)"], deny=["Read(held/**)"])
    assert found == "deny"


@pytest.mark.parametrize("command", WRITING.strip().splitlines())
@pytest.mark.parametrize("mode", ["auto", "default"])
def test_writing_is_denied_by_the_path_from_the_top(command: str, mode: str, repository: Path) -> None:
    found = decide(command, workspace=str(repository), mode=mode, allow=["Bash(git:*)"], deny=["Edit(held/**)"])
    assert found in ("deny", "ask") if command.endswith(("held'", "icase)held/x'")) else found == "deny"


@pytest.mark.parametrize("command", PATTERNS.strip().splitlines())
def test_a_pattern_asks_where_a_rule_could_match_below_it(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), mode="auto", deny=["Edit(held/**)"]) == "ask"


PRINTING = """
git for-each-ref --format='%(raw)'
git for-each-ref --form='%(refname) %(*raw)' refs/tags
git tag -l --format='%(raw)'
git branch --format '%(raw)'
git notes add -C abcd1234
x=abcd1234; git notes add -C "$x"
git -C held diff -- .
git grep --no-index foo
git diff --compact-summary -U3
git checkout HEAD:held -- .
git read-tree --prefix=y HEAD:held
git merge-tree HEAD~1 HEAD
git range-diff HEAD~2..HEAD~1 HEAD~1..HEAD
git stash list -p
git stash show
"""
CHANGING = """
git -C src format-patch -o ../held HEAD~1
git stash push -- held/x
git -C src stash push -- ../held/x
git apply --directory=held p
git -C held restore .
git checkout-index --prefix=held/ -a
git mv src held
"""


@pytest.mark.parametrize("command", PRINTING.strip().splitlines())
def test_what_prints_unnamed_contents_is_not_allowed_beside_a_rule_for_reading(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), mode="auto", deny=["Read(held/**)"]) in ("ask", "deny")


@pytest.mark.parametrize("command", CHANGING.strip().splitlines())
def test_what_changes_files_by_options_is_not_allowed_beside_a_rule_for_editing(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), mode="auto", deny=["Edit(held/**)"]) in ("ask", "deny")


@pytest.mark.parametrize("spec", ["':/'", "':(top)'", ":", "'*'", "':!src'", "."])
def test_deleting_all_that_is_tracked_asks_however_it_is_spelled(spec: str, repository: Path) -> None:
    assert decide(f"git rm -r {spec}", workspace=str(repository), mode="auto") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git -C src show HEAD:src/b.py",
        "git rm ':/src/b.py'",
        "cd src && git checkout -- ':/src/b.py'",
        "cd src && git add :/",
        "git add .",
        "git add -- . ':!held'",
        "git add '*.py'",
        "git checkout -- 'src/*.py'",
        "git rm 'src/*.py'",
        "git -C src rm b.py",
        "git for-each-ref --format='%(raw:size)'",
        "git tag -l --format='%(contents)'",
    ],
)
def test_what_no_rule_is_about_needs_none(command: str, repository: Path) -> None:
    found = decide(command, workspace=str(repository), allow=["Bash(git:*)"], deny=["Read(held/**)", "Edit(held/**)"])
    assert found == "allow"


@pytest.mark.parametrize(
    ("spec", "meaning"),
    [
        ("src/a.py", None),
        (":/src/a.py", Pathspec("src/a.py", top=True)),
        (":(top)src", Pathspec("src", top=True)),
        (":(icase)src", Pathspec(".", wild=True, pattern="src", any_case=True)),
        (":src", Pathspec("src")),
        ("::src", Pathspec("src")),
        (":(literal)a*", Pathspec("a*")),
        ("src/*.py", Pathspec("src", wild=True, pattern="src/*.py")),
        ("*.py", Pathspec(".", wild=True, pattern="*.py")),
        (":/a*/b", Pathspec(".", top=True, wild=True, pattern="a*/b")),
        (":(top,glob)src/**/b", Pathspec("src", top=True, wild=True, pattern="src/**/b")),
        (r"a\*b", Pathspec(".", wild=True, pattern=r"a\*b")),
        ("*", Pathspec(".", whole=True)),
        (":/", Pathspec(".", top=True, whole=True)),
        (":", Pathspec(".", top=True, whole=True)),
        (":!x", Pathspec(".", top=True, whole=True)),
        (":^x", Pathspec(".", top=True, whole=True)),
        (":(exclude,top)x", Pathspec(".", top=True, whole=True)),
        (":(unclosed", Pathspec("(unclosed")),
    ],
)
def test_a_pathspec_means(spec: str, meaning: Pathspec | None) -> None:
    assert read_pathspec(spec) == meaning


TRACKED = (
    ".env", ".vscode/tasks.json", "a/.env", "a/.vscode/x", "src/a.py", "src/[x].py", "tools/bazel", "vscode/x", "env",
    "Zz/-y",
)  # fmt: skip


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tracked")
    for name in TRACKED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    for words in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


_PARTS = st.sampled_from([
    "*", "?", "[", "]", "[!", "[^", "[:alpha:]", "[[:punct:]]", "[]", "\\", "/", ".", "-", "a", "e", "env", "vscode",
    "src", "s", "**", "x", "tools", "[/.]", "a-z", "./",
])  # fmt: skip


@given(parts=st.lists(_PARTS, min_size=1, max_size=7))
@settings(max_examples=150, deadline=None)
def test_every_file_that_git_chooses_may_be_one_of_the_pattern(tracked: Path, parts: list[str]) -> None:
    spec = "".join(parts)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", spec], cwd=tracked, capture_output=True, text=True, check=False
    )
    found = [name for name in listed.stdout.split("\0") if name]
    normal = posixpath.normpath(spec) if spec.endswith(("/.", "./", "/..")) or "./" in spec or "//" in spec else spec
    for name in found:
        if is_path(spec):
            assert f"{name}/".startswith(f"{posixpath.normpath(spec)}/") or normal == ".", (spec, name)
        else:
            texts = fixed_texts(normal)
            folder = (*texts[:-1], f"{texts[-1]}/", "")
            assert wildcards_meet(texts, (name,)) or wildcards_meet(folder, (name,)), (spec, name)
            assert may_choose(spec, f"/home/{name}"), (spec, name)


@pytest.mark.parametrize("spec", [":!x", ":^x", ":(exclude)x", ":(top,exclude)x", ":(exclude,icase)x"])
def test_what_only_leaves_files_out(spec: str) -> None:
    assert leaves_out(spec)


@pytest.mark.parametrize(
    "spec", [":(attr:!exclude)x", ":(attr:a\\,exclude)x", ":(prefix:0,exclude)x", ":x", ":/!x", ":(top)x", "!x", "x"]
)
def test_what_may_name_files(spec: str) -> None:
    assert not leaves_out(spec)


GONE = """
git checkout topic -- gone
git checkout topic -- gone/x
git checkout "$x" -- held
git checkout HEAD "$x"
git restore --sou=topic held
git restore --sou topic held
"""


@pytest.mark.parametrize("command", GONE.strip().splitlines())
def test_what_comes_back_from_another_commit_counts_as_written(command: str, repository: Path) -> None:
    found = decide(
        command, workspace=str(repository), mode="auto", allow=["Bash(git:*)"], deny=["Edit(held/**)", "Edit(gone/**)"]
    )
    assert found in ("deny", "ask")


@pytest.mark.parametrize("command", ["git reset --hard", "git checkout .", "git fetch && git reset --hard"])
def test_only_what_the_index_names_comes_back_unless_the_text_changes_it(command: str, tracked: Path) -> None:
    assert decide(command, workspace=str(tracked), mode="auto", deny=["Edit(held/**)"]) == "allow"
    before = decide(f"git reset --soft topic; {command}", workspace=str(tracked), mode="auto", deny=["Edit(held/**)"])
    assert before == "ask"


@pytest.mark.parametrize(
    "command", ["git grep x -- '*.py'", "git log -p -- src '*.ts'", "git diff HEAD -- 'src/*' ':!src/a.py'"]
)
def test_a_pattern_that_chooses_no_secret_asks_nobody(command: str, tracked: Path) -> None:
    assert decide(command, workspace=str(tracked)) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git grep x -- '*'", "git log -p -- src '*v'", "git diff HEAD -- 'a*'", "git grep x -- 'src/../*'",
        "git grep x -- 'A*'", "cd src && git grep x -- '../*'", "git diff HEAD '*.py'",
        "git log -p -- '*.py' ':(top)'", "git show '[:c]*'", "git show 'HEAD:*/..'", "git show 'HEAD:x?/../a'",
    ],
)  # fmt: skip
def test_a_pattern_that_may_choose_a_secret_asks(command: str, tracked: Path) -> None:
    assert decide(command, workspace=str(tracked)) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git show x:y-g5ca1ab1e", "git show HEAD:x-g5ca1ab1e", "git cat-file -p :x-g5ca1ab1e",
        "git grep -- word HEAD:src lib", "git grep -e -- HEAD:src lib", "git show 'a@{/../[:c]*/*'",
        "git --glob-pathspecs grep word -- '**/.vs*/**/*nv'", "git show HEAD:README.md..HEAD",
        "git show :README.md..HEAD", "git show HEAD:src..", "git show HEAD:docs/..", "git show 'HEAD@{10:00}'",
        "git show 'main@{1:00}..main'", "git show 'HEAD^{/a{b}c:d}'", "git show 'HEAD^{/a:b}'",
        "git -C .git show HEAD", "git -C .git grep word HEAD", "git log -p 'HEAD^!'",
    ],
)  # fmt: skip
def test_what_is_no_path_in_a_revision_for_certain_may_print_anything(command: str, tracked: Path) -> None:
    (tracked / "HEAD^!").touch()
    assert decide(command, workspace=str(tracked)) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git show HEAD:src/a.py", "git show 'HEAD:src/[x].py'", "git show HEAD:./src/a.py",
        "git show 'HEAD@{1}:src/a.py'", "git show 'HEAD@{2 days ago}:src/a.py'", "git show :src/a.py",
        "git grep word -- src", "git grep -e word -- src", "git log -p -- src",
    ],
)  # fmt: skip
def test_a_path_in_a_revision_is_judged_as_that_path(command: str, tracked: Path) -> None:
    assert decide(command, workspace=str(tracked)) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git grep -- word HEAD", "git grep -- word --", "git log -L '^/w/,+1:(x/../held/x'",
        "git show 'HEAD:(g)/../held/x'", "git show HEAD:.//held/x", "git log -L1,5:{workspace}/held/x",
        "git show 'HEAD^{}:held/\ty'",
    ],
)  # fmt: skip
def test_no_spelling_passes_a_rule_about_reading(command: str, repository: Path) -> None:
    found = decide(command.replace("{workspace}", str(repository)), workspace=str(repository), deny=["Read(held/**)"])
    assert found in ("ask", "deny")


def test_patterns_are_compared_without_case_in_all_scripts() -> None:
    assert may_choose("ΑΣ*", "/home/ΑΣΔ/.env")
