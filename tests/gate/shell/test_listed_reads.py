"""A reader of the read-only set needs no rule for the names that a listing of the text's own prints, as the disk is.

More than 500 lines, because every way round it that was ever found stays here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.files import given_names

from .asked import decide
from .listed_places import lay_out, make, track

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
    return lay_out(tmp_path)


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
    make("src/key.py", places)
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
        "find a/l2/../x.py a/x.py -type f | xargs cat",
        "grep -r C a/l2/../x.py a/x.py",
        "rg -l C a/l2/../sub a/sub | xargs cat",
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
        # The path from the workspace fits into the system's 4,096 bytes, the whole one does not.
        for name in [*["x" * 200] * 20, "x" * 59]:
            os.mkdir(name)
            os.chdir(name)
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


def test_an_index_that_says_where_its_names_stand_asks(places: dict[str, str]) -> None:
    track(places)
    index = Path(places["workspace"], ".git/index")
    data = index.read_bytes()
    assert decide("git ls-files | xargs cat", **places) == "allow"
    index.write_bytes(data[:-20] + b"EOIE" + (24).to_bytes(4, "big") + bytes(24) + data[-20:])
    for command in ("git ls-files | xargs cat", "git diff", "git grep -n ''"):
        assert decide(command, **places) == "ask", command


@pytest.mark.parametrize("file", [".rgignore", ".ignore", ".gitignore"])
def test_an_ignore_file_may_bring_git_back(file: str, places: dict[str, str]) -> None:
    track(places)
    make(".git/server.pem", places)
    make(".git/a /etc/passwd", places)
    for command in ("rg KEY .", "rg KEY"):
        assert decide(command, **places) == "allow", command
    Path(places["workspace"], file).write_text("!.git\n")
    for command in ("rg KEY .", "rg KEY", "rg --files | xargs cat", "rg -l z . | xargs cat", "cat $(rg --files)"):
        assert decide(command, **places) == "ask", command


def test_excludes_of_a_repository_elsewhere_may_bring_a_secret_back(places: dict[str, str]) -> None:
    workspace = Path(places["workspace"])
    make(".env", places)
    make("g/info/exclude", places)
    make("g/worktrees/a/commondir", places)
    (workspace / ".git").write_text(f"gitdir: {workspace}/g/worktrees/a\n")
    (workspace / "g/worktrees/a/commondir").write_text("../..\n")
    assert decide("rg KEY", **places) == "allow"
    (workspace / "g/info/exclude").write_text("!.env\n")
    assert decide("rg KEY", **places) == "ask"
    (workspace / ".git").write_text("strange\n")
    assert decide("rg KEY", **places) == "ask"


def test_a_name_that_stands_for_the_input_asks(tmp_path: Path) -> None:
    """``head -c 4 -`` in the loop takes four characters of the next name."""
    for name in ("-", "aaa_.env", ".env"):
        (tmp_path / name).write_text("TOKEN=1\n")
    rules = ["Bash(ls:*)", "Bash(head:*)", "Bash(git ls-files:*)", "Bash(rg:*)"]
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "--", "./-", "aaa_.env"], cwd=tmp_path, check=True)
    for listing in ("ls", "ls | sort", "git ls-files", "rg --files", "rg -l TOKEN"):
        text = f'{listing} | while read -r f; do head -c 4 "$f"; done'
        for given in ({"allow": rules}, {"mode": "auto"}):
            assert decide(text, workspace=str(tmp_path), home="/nowhere/home", **given) == "ask", (text, given)


@pytest.mark.parametrize(
    "command",
    [
        "{a} || {b}; {a} || {b}; x=$(find . -name '*.py' -type f); {b} || {a}; cat $x",
        "cd src || cd tests; {a} || {b}; x=$(git ls-files); {b} || {a}; cat $x",
        "{a} || {b}; {a} || {b}; for f in $(find . -name '*.py' -type f); do ({b}; cat \"$f\"); done",
    ],
)
@pytest.mark.parametrize("allow", [[], ["Bash(cat:*)", "Bash(find:*)", "Bash(git:*)"]])
def test_the_same_places_may_be_another_folder_behind_a_move(
    command: str, allow: list[str], places: dict[str, str]
) -> None:
    make("src/only.py", places)
    track(places)
    make("tests/only.py -> ../.env", places)
    folders = {name: f"cd {places['workspace']}/{folder}" for name, folder in (("a", "src"), ("b", "tests"))}
    assert decide(command.format(**folders), allow, **places) == "ask"
