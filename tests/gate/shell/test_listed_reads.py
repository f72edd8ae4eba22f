"""A reader of the read-only set needs no rule for the names that a listing of the text's own prints, as the disk is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as given_by
from hypothesis import strategies as st

from countersign.gate.shell.files import given_names
from countersign.gate.shell.languages.find_tests import Kind, find_tests
from tests.patience import PATIENCE

from .asked import decide

READERS = ("cat", "head -3", "wc -l", "grep -n x", "md5sum", "tail -n 5", "ls -l", "stat", "sort", "sed -n 1,5p")
WAYS = (
    "{} | xargs READ",
    "{} | xargs -n1 READ",
    "{} | xargs -P 4 -n 10 READ",
    "{} | xargs -r READ",
    "{} | xargs -I% READ %",
    "{} | xargs -d '\\n' READ",
    "{} | sort -u | xargs READ",
    "READ $({})",
    'for f in $({}); do READ "$f"; done',
    "for f in $({}); do READ $f; done",
)
FINDS = (
    "find src -name '*.py'",
    "find src -type f",
    "find src tests -maxdepth 2 -name '*.py'",
    "find ./src -iname '*.PY'",
    "find src '(' -name '*.py' -o -name '*.md' ')' -not -path '*/node_modules/*'",
    "find . -name node_modules -prune -o -type f",
)
GIT = ("git ls-files", "git ls-files '*.py'", "git ls-files src", "git diff --name-only")
OTHERS = ("rg -l foo", "rg -l foo src", "rg --files src")
ENDS = ("{} +", "{} \\;")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for name in ("ws/src/a.py", "ws/src/b.py", "ws/tests/a.py", "ws/README.md", "home/.ssh/id_rsa", "out/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


def make(name: str, places: dict[str, str]) -> None:
    """Make a file of this name, or a symlink where it leads somewhere, or a further name of another file."""
    name, arrow, target = name.format(**places).partition(" -> ")
    other, same, twin = name.partition(" = ")
    path = Path(places["workspace"]) / (other if same else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if arrow:
        path.symlink_to(target)
    elif same:
        os.link(Path(places["workspace"]) / twin, path)
    else:
        path.touch()


def track(places: dict[str, str]) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=places["workspace"], check=True, capture_output=True)


def texts(listing: str, reader: str = "cat") -> list[str]:
    return [way.format(listing).replace("READ", reader) for way in WAYS]


@pytest.mark.parametrize("listing", FINDS)
@pytest.mark.parametrize("reader", READERS)
def test_no_rule_is_needed_behind_find(listing: str, reader: str, places: dict[str, str]) -> None:
    commands = [*texts(listing, reader), *[f"{listing} -exec {reader} {end}" for end in ENDS]]
    commands += [f"{listing} -print0 | xargs -0 {reader}", f"cd src && cd .. && {listing} | xargs {reader} | head -20"]
    assert [each for each in commands if decide(each, **places) != "allow"] == []
    assert [each for each in commands if decide(each, mode="ask", **places) != "ask"] == []
    assert [each for each in commands if decide(each, mode="plan", **places) != "allow"] == []


@pytest.mark.parametrize("listing", [*GIT, *OTHERS])
def test_no_rule_is_needed_behind_other_listings(listing: str, places: dict[str, str]) -> None:
    track(places)
    assert [each for each in texts(listing) if decide(each, **places) != "allow"] == []


HOSTILE = (
    "src/.env",
    "src/.env.local/x.py",
    "src/server.pem",
    "src/server.pem.bak",
    "src/id_rsa.py",
    "src/link.py -> {home}/.ssh/id_rsa",
    "src/link.py -> ../../out/x.py",
    "src/link.py -> ../.env",
    "src/.hidden/link.py -> ../../.env",
    "src/.git/link.py -> {home}/.ssh/id_rsa",
    "src/twin.py = README.md",
    "src/a\u200bb.py",
)
SPLIT = (
    "src/a b.py",
    "src/x\n.env",
    "src/a .env .py",
    'src/a".env".py',
    "src/a\\ .py",
    "src/a\t.py",
    "src/a .env /x.py",
)


@pytest.mark.parametrize("name", [*HOSTILE, *SPLIT])
@pytest.mark.parametrize("listing", ["find src", "find src -type f -o -type l", "find . -not -path './tests/*'"])
def test_a_hostile_name_asks(name: str, listing: str, places: dict[str, str]) -> None:
    make(name, places)
    commands = [each for each in texts(listing) if name != "src/a b.py" or " -d " not in each]
    if name not in SPLIT:
        commands += [f"{listing} -exec cat {end}" for end in ENDS] if " -o " not in listing else []
        commands.append(f"{listing} -print0 | xargs -0 cat" if " -o " not in listing else commands[0])
    assert [each for each in commands if decide(each, **places) != "ask"] == []


@pytest.mark.parametrize("name", ["src/a b.py", "src/[slug]/x.py", "src/-x", "src/in -> a.py"])
def test_find_gives_names_whole(name: str, places: dict[str, str]) -> None:
    make(name, places)
    for command in ("-exec cat {} +", "-print0 | xargs -0 cat", "-print0 | sort -z | xargs -0 cat"):
        assert decide(f"find src {command}", **places) == "allow"


def test_a_name_that_may_not_be_shown_asks(places: dict[str, str]) -> None:
    make("src/x\ny.py", places)
    for command in ("-exec cat {} +", "-print0 | xargs -0 cat"):
        assert decide(f"find src {command}", **places) == "ask"


@pytest.mark.parametrize("name", HOSTILE[:7])
def test_what_is_not_listed_does_not_count(name: str, places: dict[str, str]) -> None:
    make(name, places)
    commands = texts("find src -name '*.md'") + texts("find . -name '*.py' -not -path '*/src/*'")
    commands += [f"find . -name src -prune -o -name '*.py' -exec cat {end}" for end in ENDS]
    commands += ["find . -path ./src -prune -o -type f -print | xargs cat", "find . -maxdepth 1 | xargs wc -l"]
    commands += ["find . '(' -name src -o -name x ')' -prune -o -print | xargs cat", "grep -rn x . --exclude-dir=src"]
    assert [each for each in commands if decide(each, **places) != "allow"] == []


@pytest.mark.parametrize(
    "name",
    [
        "-x", "a b", "a\n.env", ".env", "server.pem", "link -> {home}/.ssh/id_rsa", "twin = README.md", "é.py", "@x",
        "a=b", "+5", ":x", "~x", "#x", "a*b",
    ],
)  # fmt: skip
@pytest.mark.parametrize("listing", ["git ls-files", "rg --files"])
def test_a_hostile_name_without_a_folder_asks(name: str, listing: str, places: dict[str, str]) -> None:
    make(name, places)
    track(places)
    # It prints no quotes around other letters.
    expected = "allow" if name == "é.py" and listing == "rg --files" else "ask"
    commands = texts(listing) if name != "a*b" else [f"for f in $({listing}); do cat $f; done", f"cat $({listing})"]
    commands = [each for each in commands if name != "a b" or " -d " not in each]
    assert [each for each in commands if decide(each, **places) != expected] == []


def test_what_git_lists_behind_a_link_asks(places: dict[str, str]) -> None:
    track(places)
    workspace = Path(places["workspace"])
    shutil.rmtree(workspace / "src")
    (workspace / "src").symlink_to("../out")
    assert [each for each in texts("git ls-files") if decide(each, **places) != "ask"] == []


@pytest.mark.parametrize(
    "command",
    [
        "find .. -name '*.py' -exec cat {} +",
        "find src /etc -name '*.conf' -exec cat {} +",
        "find src ../out | xargs cat",
        "find ~ -name '*.py' | xargs cat",
        "find -L src -name '*.py' | xargs cat",
        "find src -follow -name '*.py' -exec cat {} +",
        "find -H src -name '*.py' -exec cat {} +",
        "find src -regex '.*py' -exec cat {} +",
        'find src -name "$x" -exec cat {} +',
        'find "$d" -name x -exec cat {} +',
        "find src -samefile a -exec cat {} +",
        "find -files0-from list -exec cat {} +",
        "find src -exec sh -c 'cat {}' \\;",
        "find src -exec sh -c 'cat \"$1\"' sh {} \\;",
        "find src -execdir cat {} +",
        "find src -ok cat {} \\;",
        "find src -delete -exec cat {} +",
        "find src -fprint out -exec cat {} +",
        "find src -fls out -exec cat {} +",
        "find src -exec rm {} +",
        "find src -exec cp {} x \\;",
        "find src -exec sed -i s/a/b/ {} +",
        "find src -exec sed w {} \\;",
        "find src -exec sed {} \\;",
        "find src -exec awk {} \\;",
        "find src -exec awk '{system($0)}' {} +",
        "find src -exec grep -f {} a.py \\;",
        "find src -exec grep -r x {} +",
        "find src -exec sort -o {} a.py \\;",
        "find src -exec uniq {} +",
        "find src -exec xxd {} +",
        "find src -exec wc --files0-from={} \\;",
        "find src -exec cat {}/../../.env \\;",
        "find src -exec cat x{} \\;",
        "find src -exec diff src {} \\;",
        "find src -exec rg x {} +",
        "find src -exec cat {} {} \\;",
        "find src -exec git show {} \\;",
        "find src -exec {} \\;",
        "find src -exec ./cat {} \\;",
        "find src -exec cat {} + -exec evil {} +",
        "find src -name '*.py' -exec cat {} + -o -name x -exec cat $(cat list) {} +",
        "find src | xargs -a list cat",
        "find src | xargs cat < list",
        "find src -print0 | xargs cat",
        "find src | xargs -0 cat",
        "find src -print0 | sort | xargs -0 cat",
        "find src | sort -z | xargs cat",
        "find src | xargs -d a cat",
        "find src | xargs -I{} cat {}.env",
        "find src | xargs -I{} cat {} {}",
        "find src | xargs sed",
        "find src | xargs uniq",
        "find src | xargs rg x",
        "find src | xargs find",
        "ls | xargs find",
        "find src | xargs awk",
        "find src | xargs -I{} sh -c 'cat {}'",
        "find src | xargs sh -c 'cat \"$@\"' sh",
        "find src | sed s/a/.env/ | xargs cat",
        "{ find src; echo .env; } | xargs cat",
        "echo .env | xargs cat",
        "git ls-files -o | xargs cat",
        "git ls-files | cut -c2- | xargs cat",
        "git diff --name-only HEAD~1 | xargs cat",
        "git diff --name-only --cached | xargs cat",
        "grep -rl x . | xargs cat",
        "rg -l x --hidden | xargs cat",
        "rg -lu x | xargs cat",
        "ls -a | xargs cat",
        "cat list | xargs cat",
        'cat "$(find src)"/x',
        'f=$(find src -name x); cat "$f.env"',
        'find src | while read -r f; do cat "src/$f"; done',
        'find src | while read -r f g; do cat "$g"; done',
        'find src | while IFS=. read -r f; do cat "$f"; done',
        "IFS=a; for f in $(find src); do cat $f; done",
        'f=$(find . -name "*.py"); cd src; cat "$f"',
        'for f in $(find . -name "*.py"); do cd src; cat "$f"; done',
        'find src | while read -r f; do f=.env; cat "$f"; done',
        'find src -type f | while read -r f; do cat "${f%.py}"; done',
        'find src -type f | while read -r f; do cat < "$f"; done',
        "PATH=src find src | xargs cat",
        "find src | LD_PRELOAD=x xargs cat",
        "cat() { evil; }; find src | xargs cat",
    ],
)
def test_anything_else_asks(command: str, places: dict[str, str]) -> None:
    track(places)
    make("list", places)
    assert decide(command, **places) in {"ask", "deny"}


@pytest.mark.parametrize(
    "first",
    [
        "touch src/.env", "mv .env src/x.py", "ln -s ../.env src/x.py", "tar xf a.tar", "git checkout main",
        "cp -r out src", "echo x > src/y.py", "make", "python3 x.py", "unzip a.zip", "git stash pop", "mkdir src/x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["{}; {}", "{} && {}", "{} & {}", "{1}; {0}", "while true; do {1}; {0}; done"])
def test_what_the_text_makes_before_asks(first: str, text: str, places: dict[str, str]) -> None:
    rules = [f"Bash({name}:*)" for name in "touch mv ln tar git cp echo make python3 unzip mkdir".split()]
    command = text.format(first, "find src -name '*.py' -exec cat {{}} +".replace("{{}}", "{}"))
    assert decide(command, [*rules, "Edit(./**)"], **places) == "ask"


@pytest.mark.parametrize("listing", ["find src -name '*.py'", "git ls-files src", "rg --files src"])
@pytest.mark.parametrize("rule", ["Read(src/key.py)", "Read(key.py)", "Read(**/*.py)", "Read(src)"])
def test_a_rule_for_reading_is_seen(listing: str, rule: str, places: dict[str, str]) -> None:
    track(places)
    commands = [*texts(listing), *([f"{listing} -exec cat {end}" for end in ENDS] if "find" in listing else [])]
    for rules in ({"deny": [rule]}, {"ask": [rule]}):
        assert [each for each in commands if decide(each, **rules, **places) == "allow"] == []
    assert decide(commands[0], deny=["Bash(cat:*)"], **places) == "deny"
    assert decide(commands[0], deny=["Bash(xargs:*)"], **places) == "deny"


def test_a_list_may_name_a_secret(places: dict[str, str]) -> None:
    """Only its name and size are looked at."""
    make(".env", places)
    for command in ("find . -type f -exec ls -lh {} +", "find . -type f | xargs stat", "find . | xargs du -h"):
        assert decide(command, **places) == "allow"
    assert decide("find . -type f -exec file {} +", **places) == "ask"
    make("src/out -> ../../out", places)
    assert decide("find . -exec ls -lh {} +", **places) == "ask"


def test_a_read_rule_that_names_the_secret_covers_it(places: dict[str, str]) -> None:
    make("src/.env", places)
    assert decide("find src -type f -exec cat {} +", ["Read(.env)"], **places) == "allow"
    assert decide("find src -type f -exec cat {} +", ["Read(./**)"], **places) == "ask"


def test_more_names_than_are_looked_at_ask(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_names, "MOST_NAMES", 5)
    assert decide("find src | xargs cat", **places) == "allow"
    for number in range(4):
        make(f"src/{number}.py", places)
    assert decide("find src | xargs cat", **places) == "ask"
    assert decide("find . -name src -prune -o -name '*.md' -print | xargs cat", **places) == "allow"


def test_lines_that_together_are_another_name_ask(places: dict[str, str]) -> None:
    make("src/1.py\nsrc/x.md", places)
    for command in (
        'f=$(find src -name "*.py"); cat "$f"',
        'cat "$(find src -name "*.py")"',
        "cat $(find src -name '*.py')",
    ):
        assert decide(command, **places) == "ask"


def given(words: str, name: str, kind: Kind = "file") -> bool | None:
    tests = find_tests(words.split())
    return tests and tests.may_give(name, kind)


@pytest.mark.parametrize(
    ("words", "name", "expected"),
    [
        (". -name *.py", "a.py", True), (". -name *.py", "a.pyc", False), (". -name *.PY", "a.py", False),
        (". -iname *.PY", "a.pyc", True), (". ! -name *.py", "a.py", True), (". -name [a].py", "a.py", True),
        (". -name *.py -o -name *.env", ".env", True), (". -name *.py -name *.env", ".env", False),
        (". ( -name *.py -o -name *.env )", ".md", False), (". ( -name *.py -o -size 1 )", ".md", True),
        (". ! ( -name *.py -o -size 1 )", "a.py", True), (". -size +1 -name x", "y", False),
        (". -size +1 -o -name x", "y", True), (". -print -name x", "y", True), (". -name x -print", "y", False),
        (". -name x -print -o -name y", "y", False), (". -name x -o -name y -print", "x", False),
        (". -name a*b*a", "aba", True), (". -name a*a", "a", False), (". -name *.py", "é.py", True),
        (". -name *.md", "é.py", True), (". -name *.md", "a\n.py", True), (". -name x -prune -o -name y", "x", True),
        (". -name x -prune -o -name y -print", "x", False), (". -regex x", "x", None), (". ( -name x", "x", None),
        (". -name", "x", None), (". -name x , -name y", "x", None), (". -name x )", "x", None),
        (". ( -name x -prune ) -o -print", "x", None), (". -name x -prune -name y -o -print", "x", None),
        (". ! -name x -prune -o -print", "x", True), (". ( -name x -print )", "x", None), (". -quit", "x", None),
    ],
)  # fmt: skip
def test_what_find_gives(words: str, name: str, expected: bool | None) -> None:
    assert given(words, name) == expected


def test_plain_files_are_what_one_test_wants() -> None:
    assert given(". -type f", "x", "link") is False
    assert given(". -type f", "x", "file") is True
    assert given(". ! -type f", "x", "link") is True
    assert given(". -type f -o -name x", "x", "link") is True


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (". -name x -prune -o -print", {"x"}), (". -type d -name x -prune -o -name y -prune -o -print", {"x", "y"}),
        (". ( -name x -o -name y ) -prune -o -print", {"x", "y"}), (". -path ./x -prune -o -print", {"./x"}),
        ("src -path ./x -prune -o -print", set()), ("src -path */x -prune -o -print", {"x"}),
        (". -not -path */x/* -name y", {"x"}), (". ! -path ./x/*", {"./x"}), ("src ! -path ./x/*", set()),
        (". ! -path */x/* -o -name y", set()), (". ! -path */x/* ! -path */y/*", {"x", "y"}),
        (". -name x -prune -o ! -path */z/* -print", {"x", "z"}), (". -name x -prune -o ! -path */z/*", {"x"}),
        (". -print -o -name x -prune -o -name y", set()), (". -size 1 -name x -prune -o -print", set()),
        (". -name x* -prune -o -print", set()), (". -mindepth 1 -name x -prune -o -print", set()),
        (". -depth -name x -prune -o -print", set()), (". -print ! -path */x/*", set()),
        (". ! ! -path */x/*", set()), (". -path */x/* -prune -o -print", set()),
        (". -type f -name x -prune -o -print", set()), (". -path ./x -path ./y -prune -o -print", set()),
        (". -path ./x -name y -prune -o -print", set()), (". -name x -name y -prune -o -print", set()),
        (". ! -path */x*", set()), (". ! -path */x/y/*", set()), (". -iname x -prune -o -print", set()),
    ],
)  # fmt: skip
def test_what_find_does_not_enter(words: str, expected: set[str]) -> None:
    tests = find_tests(words.split())
    assert tests is not None
    assert tests.skipped == expected


_TERMS = st.sampled_from(
    "-name *.py|-name sec|-name a*|! -name b*|-type f|-type d|! -type f|-type l|-path ./sec|-path */sec|"
    "! -path */sec/*|! -path ./d/*|-not -path */d/*|-path ./d/*|-size 0|-size +1|! -size 0|-maxdepth 2|-mindepth 1|"
    "-empty|-iname SEC|"
    "( -name a* -o -name sec )|( -name d -o -type f )|! ( -name a* -o -size 1 )|-mtime -5|-readable|-xdev|"
    "-wholename ./sec/a.py|-name [a-z]*|-print|-prune|-depth".split("|")
)


@st.composite
def _expressions(draw: st.DrawFn) -> list[str]:
    """Words for find: lists of tests, some of which leave out a folder in front of the others."""
    lists = [" ".join(draw(st.lists(_TERMS, min_size=1, max_size=4))) for _ in range(draw(st.integers(1, 3)))]
    front = draw(
        st.lists(st.sampled_from(["-name sec", "-type d -name d", "-path ./sec", "( -name d -o -name e )"]), max_size=2)
    )
    return " -o ".join([*(f"{each} -prune" for each in front), *lists]).split()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given_by(words=_expressions())
def test_find_lists_nothing_that_is_not_looked_at(words: list[str], wood: Path) -> None:
    tests = find_tests([".", *words])
    if tests is None:
        return
    found = subprocess.run(
        ["find", ".", *words], cwd=wood, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    for path in filter(None, found.stdout.split("\n")):
        *folders, name = path.split("/")
        if path == ".":
            continue
        whole = wood / path
        kind: Kind = "link" if whole.is_symlink() else "folder" if whole.is_dir() else "file"
        assert tests.may_give(name, kind), path
        assert all(tests.enters(each, top=at == 0) for at, each in enumerate(folders[1:])), path
        assert tests.deepest is None or len(folders) <= tests.deepest, path


@pytest.fixture(scope="module")
def wood(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("wood")
    for folder in (".", "sec", "d", "e", "d/sec", "sec/d", "e/d/sec", "sec/sec"):
        (top / folder).mkdir(parents=True, exist_ok=True)
        for name in ("a.py", "b", "sec.py"):
            (top / folder / name).write_text("" if name != "b" else "x" * 2000)
        (top / folder / "al").symlink_to("b")
    (top / "e/sec").write_text("")
    (top / "b.py").mkdir()
    return top


SEARCHES = (
    "grep -rn x src",
    "grep -r x src tests",
    "grep -rnw x .",
    "grep -rn x",
    "egrep -rl 'a|b' src/",
    "grep --recursive x src",
    "grep -rn x . --include='*.py'",
    "grep -rn x src --include=*.py",
    "grep -rne x src",
    "grep -rn x src | head -5",
    "grep -rn x . --include='*.py' --include='*.md' --exclude-dir=node_modules",
    "timeout 5 grep -rn x src",
)


@pytest.mark.parametrize("command", SEARCHES)
def test_a_search_of_folders_without_secrets_needs_no_rule(command: str, places: dict[str, str]) -> None:
    assert decide(command, **places) == "allow"


@pytest.mark.parametrize(
    "name",
    [
        "src/.env",
        "src/deep/er/key.pem",
        "src/id_rsa",
        "src/l -> ../../out/x.py",
        "src/l -> {home}/.ssh/id_rsa",
        "src/l -> ../.env",
        "src/d -> ../../out",
        "src/.hidden/.npmrc",
        "src/twin = src/.env",
    ],
)
def test_a_search_of_folders_with_a_secret_asks(name: str, places: dict[str, str]) -> None:
    make(".env", places)
    if "twin" in name:
        make("src/.env", places)
    make(name, places)
    for command in ("grep -rn x src", "grep -rn x src tests", "grep -rn x", "egrep -rl x ./src", "grep -rc x . | sort"):
        assert decide(command, **places) != "allow", command


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn x .",
        "grep -rn x",
        "grep -rn x . --include='*.py' --exclude=a.py",
        "grep -rn x . --exclude=a.py --include='*.py'",
        "grep -rn x . --exclude-dir='*'",
        "grep -rn x . --include='*'",
        "grep -rn x . --include='.e*'",
        "grep -Rn x src",
        "grep -rn x src ../out",
        "grep -rn x ~",
        "grep -rn x /etc",
        "grep -rd recurse x src",
        "grep -r --exclude-from=a x src",
        "grep -r -f .env src",
        "grep -rf README.md x src",
        "grep --rec x src",
        'grep -rn "$x" src',
        "grep -rn x $d",
        "grep -rn x src/*",
        "touch src/.env; grep -rn x src",
        "cp .env src/a.py; grep -rn x src",
        "ln -s ../.env src/l && grep -rn x src",
        "cd src && touch .env && grep -rn x",
        "grep -rn x src > out",
        "sh -c 'grep -rn x src'; mv .env src",
        "grep -rn x -- src/../.",
        "grep -rn x . --exclude-dir=src --include='*.py' --include='*'",
        "LC_ALL=/x grep -rn x src",
        "zgrep -r x src",
    ],
)
def test_a_search_that_could_find_a_secret_asks(command: str, places: dict[str, str]) -> None:
    make(".env", places)
    assert decide(command, **places) != "allow"


def test_what_a_search_leaves_out_may_be_a_secret(places: dict[str, str]) -> None:
    make(".env", places)
    make("node_modules/x/.npmrc", places)
    assert decide("grep -rn x . --include='*.py'", **places) == "allow"
    assert decide("grep -rn x . --include=*.py --exclude-dir=node_modules", **places) == "allow"
    assert decide("grep -rn x . --exclude-dir=node_modules", **places) == "ask"
    make("--include=x.py", places)
    assert decide("grep -rn x src --include=*.py", **places) == "ask"
    assert decide("grep -rn x src", deny=["Read(src/a.py)"], **places) != "allow"
    assert decide("grep -rn x src", deny=["Read(tests/**)"], **places) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "find src | xargs -I {home}/.ssh/id_rsa -n 2 cat {home}/.ssh/id_rsa",
        "find src -name a.py | xargs -I .env -L1 cat .env",
        "find src | xargs -I .env -I % cat .env",
        "find src | xargs -I.env -n2 cat .env",
        "ls src | xargs -I / -n 2 ls -R /",
        "find . ! -name -print | xargs cat",
        "find . -type f -o -name -print | xargs cat",
        "find . -name -print -o -type f | xargs cat",
        "find . ! -user -print | xargs cat",
        "find . ! -name -print0 | xargs -0 cat",
        "find . -mindepth 1 -type d -prune -o -type f -exec cat {{}} +",
        "find . -mindepth 2 -type d -prune -o -type f -exec cat {{}} +",
        "find . -mindepth 1 -path . -prune -o -print | xargs cat",
        "find . -depth -name . -prune -o -type f -exec cat {{}} +",
    ],
)
def test_a_listing_that_is_read_otherwise_than_it_looks_asks(command: str, places: dict[str, str]) -> None:
    make(".env", places)
    assert decide(command.format(**places), **places) != "allow"
    if "depth" not in command:
        assert decide(command.format(**places), ["Bash(cat:*)", "Bash(find:*)"], **places) != "allow"


@pytest.mark.parametrize(
    "reader", ["(cd sub && xargs cat)", "{ cd sub && xargs -I% cat %; }", "{ pushd sub; xargs cat; }"]
)
def test_names_that_are_read_in_another_folder_than_they_were_listed_in_ask(
    reader: str, places: dict[str, str]
) -> None:
    make("d/passwd", places)
    make("sub/d -> /etc", places)
    assert decide(f"find . -name passwd | {reader}", **places) == "ask"


def test_lines_that_come_as_one_word_may_be_another_name(places: dict[str, str]) -> None:
    assert decide('cat "$(find src/a.py src/b.py)"', **places) == "ask"


def test_a_packed_file_is_read_under_its_own_name_alone(places: dict[str, str]) -> None:
    make("q.gz -> ../out/x.py", places)
    make("log.gz", places)
    assert decide("zcat log.gz", **places) == "allow"
    for command in ("zcat q", "gzip -dc q", "gunzip -c q", "zcat q.gz", "unzip -l q", "xzcat q"):
        assert decide(command, **places) == "ask", command


@pytest.mark.parametrize(
    "command",
    [
        "grep -r C lc",
        "grep -r C ./lc",
        "grep -rn C src lc",
        "grep -r C a/../lc",
        "grep -r C lc --include='*.py'",
        "cd lc && find . -type f -exec cat {} +",
        "cd lc && grep -r C .",
        "cd lc && grep -r C",
        "cd lc/. && find . | xargs cat",
        "(cd lc && cat $(find . -type f))",
        "pushd lc; find . -type f | xargs cat",
        "cd lc && ls | xargs cat",
        "find a/l2/.. -type f -exec cat {} +",
        "cd a/l2 && grep -r C ..",
        "grep -r C a/l2/..",
        "cat $(ls a/l2/..)",
        "cd a/l2 && ls .. | xargs cat",
        "find lc/ -type f -exec cat {} +",
        "cd lc && git ls-files | xargs wc",
        "grep -r C --exclude-dir=.",
        "grep -r C conf/ --exclude-dir=conf",
        "grep -r C ./ --exclude-dir=./",
        "grep -r C conf",
        "cd conf && grep -rn C --exclude-dir=.",
        "find a/../a/l2/.. -type f | xargs cat",
        "grep -r C d.",
    ],
)
def test_what_is_reached_through_a_link_is_looked_at_where_it_is(command: str, places: dict[str, str]) -> None:
    for name in ("conf/.env", "conf/sub/x.py", "a/x.py", "d./K.pem."):
        make(name, places)
    make("lc -> conf", places)
    make("a/l2 -> ../conf/sub", places)
    assert decide(command, **places) != "allow"


@pytest.mark.parametrize(
    "reader",
    [
        "{ head -c 1 > /dev/null; xargs cat; }",
        "{ head -c 4 | wc -c; xargs cat; }",
        "{ read -r -n 4 x; xargs cat; }",
        "{ read -r x; xargs cat; }",
        "{ xargs cat; }",
        "(xargs cat)",
        "{ od -N 4; xargs cat; }",
        "if true; then xargs cat; fi",
        "xargs cat $(head -c 4)",
        "xargs cat 2> $(head -c 4)",
        'while read -r f; do cat "$f"; head -c 4; done',
        'while read -r f; do head -c1 < /dev/stdin; cat "$f"; done',
        'while read -r f; do head -c1 < /dev/fd/0; cat "$f"; done',
        'while read -r f; do { head -c1; cat "$f"; } < /dev/stdin; done',
        'while read -r f; do if head -c1; then cat "$f"; fi < /proc/self/fd/0; done',
        'while read -r f; do head -c1 <&0; cat "$f"; done',
        'while read -r f; do head -c "$f"; cat "$f"; done',
        'while read -r f; do grep -q -- "$f"; cat "$f"; done',
        "while read -r f; do sed -n '1R /dev/stdin' \"$f\"; done",
        'while read -r f; do cat "$f" -; done',
        'while read -r f; do head -c 4 "$f" /dev/stdin; done',
        'while read -r f; do cat "$f"; x=$(head -c 4); done',
        'while read -r f; do cat "$f"; cat <<< "$(head -c 4)"; done',
        'while read -r f; do cat "$f"; read -r g; done',
        'while read -r f; do if head -c 4; then cat "$f"; fi; done',
        'while read -r f; do if true; then cat "$f"; fi <<< "$(head -c 4)"; done',
        'while read -r f && head -c 4; do cat "$f"; done',
        'while head -c 4; read -r f; do cat "$f"; done',
        'until read -r -d "" f; do cat "$f"; break; done',
        "while read -r -d '' f; do cat \"$f\"; done",
        'while read -r -n 4 f; do cat "$f"; done',
        "head -c 4 | xargs cat",
        "tail -c 4 | xargs cat",
        "cut -c 2- | xargs cat",
    ],
)
@pytest.mark.parametrize("listing", ["find d -type f", "git ls-files"])
@pytest.mark.parametrize(
    "rules", [(), ("Bash(find:*)", "Bash(git ls-files:*)", "Bash(xargs:*)", "Bash(cat:*)", "Bash(head:*)")]
)
def test_what_another_command_takes_of_the_listing_asks(
    reader: str, listing: str, rules: tuple[str, ...], places: dict[str, str]
) -> None:
    make("d/etc/shadow", places)
    track(places)
    assert decide(f"{listing} | {reader}", rules, **places) == "ask"
    assert decide(f"{listing} | {reader.replace('cat', 'wc')}", rules, **places) == "ask"


@pytest.mark.parametrize(
    "reader",
    [
        'while read -r f; do echo "$f"; wc -l "$f"; done',
        'while read -r f; do [ -f "$f" ] && wc -l "$f"; done',
        'while read -r f; do if [ -f "$f" ]; then head -3 "$f" | sort; fi; done',
        'while IFS= read -r f; do echo "== $f" && cat "$f" || true; done',
        'while read -r f; do n=$(wc -l "$f"); echo "$n"; done',
        'while read -r f; do cat "$f"; wc -l < /dev/null; done',
    ],
)
def test_a_loop_that_takes_line_by_line_is_covered_by_rules(reader: str, places: dict[str, str]) -> None:
    command = f"find src -name '*.py' | {reader}"
    assert decide(command, **places) == "ask"
    assert decide(command, ["Bash(wc:*)", "Bash(cat:*)", "Bash(head:*)"], **places) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        'f=$(find a b); cat "$f"',
        'for g in "$(find a b)"; do cat "$g"; done',
        'for g in "$(find a b | sort -u)"; do cat "$g"; done',
        'f=$(rg --files a b); cat "$f"',
        'f=$(find one); cat "$f"',
        "find a b | until read -r -d '' f; do cat \"$f\"; break; done",
        'f=$(find a b | sort -r); cat "$f"',
        'f=$(find a b | head -2); cat "$f"',
    ],
)
def test_lines_in_a_variable_may_be_another_name(command: str, places: dict[str, str]) -> None:
    for name in (".env", "a", "b", "a\nb -> .env", "one/a.py", "one\none/a.py -> ../.env"):
        make(name, places)
    assert decide(command, **places) == "ask"


def test_one_line_in_a_variable_is_one_name(places: dict[str, str]) -> None:
    assert decide('f=$(find src -name "*.py" | head -1); cat "$f"', **places) == "allow"


def test_a_path_that_is_too_long_for_a_look_asks(places: dict[str, str]) -> None:
    back = Path.cwd()
    workspace = Path(places["workspace"])
    (workspace / "deep").mkdir()
    os.chdir(workspace / "deep")
    try:
        for _ in range(20):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
        os.symlink(places["home"] + "/.ssh/id_rsa", "l.txt")
    finally:
        os.chdir(back)
    for command in ("find deep -type f -exec cat {} +", "find deep -name '*.txt' | xargs cat", "grep -rn . deep"):
        assert decide(command, **places) != "allow"


@pytest.mark.parametrize("name", [b"l\xff.md", b"l\xc3\xa9.md"])
def test_a_link_of_any_name_that_git_lists_asks(name: bytes, places: dict[str, str]) -> None:
    os.symlink(b"/etc/passwd", places["workspace"].encode() + b"/" + name)
    track(places)
    for command in ("git ls-files -z | xargs -0 cat", "git ls-files -z '*.md' | xargs -0 wc -l"):
        assert decide(command, **places) != "allow"
        assert decide(command, ["Bash(cat:*)", "Bash(git ls-files:*)", "Bash(xargs:*)"], **places) != "allow"


def test_only_folders_are_left_out_by_their_name(places: dict[str, str]) -> None:
    for name in (".env", "server.pem"):
        make(name, places)
        assert decide(f"grep -rn SECRET . --exclude-dir={name}", **places) == "ask"
        assert decide(f"find . -name {name} -prune -o -type f -exec cat {{}} +", **places) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "find . -path ./sec -prune -type f -name x -o -name '*' | xargs grep -n SECRET",
        "find . '(' -path ./sec -prune -type f -name x -o -name '*' ')' -type f -exec cat {} +",
        "find . '(' -path ./sec -prune -type f ')' -name x -o -name '*' -exec cat {} +",
        "export LC_ALL=tr_TR.UTF-8; find . -type f ! -iname '.ENV*' -exec cat {} +",
        "find . -type f ! -name '.env' -exec cat {} +",
        "find sec/ -path '*//*' -type f -print | xargs cat",
        "find sec/ -name sec -prune -o -type f -print | xargs cat",
        "grep -rn x . --exclude-dir=sec/",
        "grep -rn x . --include='sec*'",
    ],
)
def test_what_find_does_not_surely_leave_out_counts(command: str, places: dict[str, str]) -> None:
    make("sec/.env", places)
    assert decide(command, **places) == "ask"


def test_a_file_that_is_called_like_an_object_asks(places: dict[str, str]) -> None:
    make(".env", places)
    track(places)
    for command in (
        'git diff --no-index README.md "$(git rev-parse HEAD)"',
        'git diff --no-ind README.md "$(git rev-parse HEAD)"',
        'sha=$(git rev-parse HEAD); git diff --no-index README.md "$sha"',
        'git diff -- "$(git rev-parse HEAD)"',
        'git diff "src/$(git rev-parse HEAD).md"',
    ):
        assert decide(command, **places) == "ask", command
    for words in ('"$(git merge-base main HEAD)"..HEAD', '"$(git rev-parse HEAD)"', '"$(git rev-parse HEAD)^"'):
        assert decide(f"git log --oneline {words}", **places) == "allow", words


def test_a_hidden_file_that_an_ignore_file_brings_back_asks(places: dict[str, str]) -> None:
    Path(places["workspace"], ".ignore").write_text("!.hl\n")
    os.link(Path(places["home"], ".ssh/id_rsa"), Path(places["workspace"], ".hl"))
    for command in ("rg -l PRIV | xargs cat", "rg --files | xargs cat", "cat $(rg --files)"):
        assert decide(command, **places) == "ask"


def test_many_roots_of_one_search_ask(places: dict[str, str]) -> None:
    for number in range(12):
        make(f"m{number}/x.md", places)
    roots = " ".join(f"m{number}" for number in range(12))
    assert decide(f"find {roots} -name '*.md' -exec wc {{}} +", **places) == "ask"
    assert decide(f"find {'m1 ' * 50} -name '*.md' -exec wc {{}} +", **places) == "allow"
    assert decide(f"grep -rn x {roots}", **places) == "ask"


@pytest.mark.parametrize(
    ("folder", "command"),
    [
        ("my docs", "find 'my docs' -name '*.md' | xargs cat"),
        ("my docs", "for f in $(find 'my docs' -type f); do head -3 $f; done"),
        ("my docs", "rg -l foo 'my docs' | xargs cat"),
        ("[s]", "for f in $(find '[s]' -name '*.md'); do cat $f; done"),
        ("[s]", "cat $(rg --files '[s]')"),
        ("a*", "cat $(find 'a*')"),
        ("h ../out", "find 'h ../out' -name '*.py' | xargs cat"),
        ("z .env", "find 'z .env' -maxdepth 0 | xargs cat"),
    ],
)
def test_a_folder_whose_name_is_split_asks(folder: str, command: str, places: dict[str, str]) -> None:
    make(f"{folder}/f.md", places)
    rules = ["Bash(find:*)", "Bash(xargs:*)", "Bash(cat:*)", "Bash(head:*)", "Bash(rg:*)"]
    assert decide(command, **places) == "ask"
    assert decide(command, rules, **places) == "ask"


@pytest.mark.parametrize(
    "name", ["/etc/hosts", "../out/x.py", ".git/config", "a/../../out/x.py", "src//a.py", ".GIT/x"]
)
def test_a_name_that_git_adds_to_no_index_asks(name: str, places: dict[str, str]) -> None:
    track(places)
    index = Path(places["workspace"], ".git/index")
    plain = "x" * len(name)
    subprocess.run(
        ["git", "update-index", "--add", "--cacheinfo", f"100644,{'0' * 39}1,{plain}"],
        cwd=places["workspace"], check=True, capture_output=True,
    )  # fmt: skip
    index.write_bytes(index.read_bytes().replace(plain.encode(), name.encode()))
    for command in ("git ls-files | xargs cat", "git diff", "git grep -n ''", "git diff --name-only | xargs cat"):
        assert decide(command, **places) == "ask", command


def test_an_index_of_another_form_asks(places: dict[str, str]) -> None:
    subprocess.run(
        ["git", "init", "-q", "--object-format=sha256"], cwd=places["workspace"], check=True, capture_output=True
    )
    subprocess.run(["git", "add", "-A"], cwd=places["workspace"], check=True, capture_output=True)
    for command in ("git ls-files | xargs cat", "git diff", "git status"):
        assert decide(command, **places) == "ask", command


def test_many_listings_in_one_text_ask(places: dict[str, str]) -> None:
    def text(number: int) -> str:
        return "; ".join(f"find src -name '*{each}.py' | xargs cat" for each in range(number))

    assert decide(text(6), **places) == "allow"
    assert decide(text(20), **places) == "ask"
    assert decide("find src ./src src/ src/. ./src/. src/./ -name '*.py' | xargs cat", **places) == "allow"
