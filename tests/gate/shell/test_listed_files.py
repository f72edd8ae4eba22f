"""A reader is covered by its rule for a file that is only known at run time where the text says what that may be."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.shell.files import listed_names
from countersign.gate.shell.files.git_index import index_names

from .asked import decide

READERS = ("cat", "head -3", "wc -l", "grep -n x", "md5sum", "tail")
RULES = [f"Bash({name}:*)" for name in "cat head wc grep md5sum tail find git rg ls sort uniq echo sed awk cut".split()]

CONSUMED = (
    "{} | xargs READ",
    "{} | xargs -n1 READ",
    "{} | xargs -I{{}} READ {{}}",
    "{} | timeout 9 xargs READ",
    "READ $({})",
    'for f in $({}); do READ "$f"; done',
    "for f in $({}); do READ $f; done",
    '{} | while read -r f; do READ "$f"; done',
    '{} | while IFS= read -r f; do echo "$f"; READ "$f"; done',
    'for f in $({}); do n=$(wc -l < "$f"); echo "$n"; done',
)
"""How names that a listing prints become operands."""

LISTINGS = (
    "find src -name '*.py'",
    "find . -type f",
    "find . -name '*.py' -not -path './build/*'",
    "find src tests -maxdepth 2 -type f -name 'a*.md'",
    "git ls-files",
    "git ls-files '*.py' src",
    "git diff --name-only main...HEAD",
    "git grep -l foo",
    "grep -rl foo src",
    "grep -rln --include='*.ts' foo .",
    "rg -l foo",
    "rg --files -g '*.py'",
    "ls src",
    "find . -name '*.py' | sort -u",
    "find . -name '*.py' | grep -v test | head -20",
)
CHOOSING = (
    "find . -name .env",
    "find . -iname '.EN*'",
    "find . -name '*env*'",
    "find . -name '*.py' -o -name '*.pem'",
    "find . -path '*/.env'",
    "find . -regex '.*/.env'",
    "find . -samefile .env",
    "find -L . -name '*.py'",
    "find .. -name '*.py'",
    "find / -type f",
    "find ../other -type f",
    'find "$d" -type f',
    "find . -type f | grep env",
    "find . -type f | head -1",
    "find . -name '*.py' | sed s/x.py/.env/",
    "find . -name '*.py' | cut -c2-",
    "find . -name '*.py' | awk '{print $2}'",
    "find . -name '*.py' | sort list",
    "find . -name '*.py' | sort -o list",
    "find . -name '*.py' | head -n 3 list",
    "git ls-files .env",
    "git ls-files '.e*'",
    "git ls-files ':(glob).e*'",
    "git grep -l foo -- .env",
    "git grep -h foo",
    "git show HEAD:list",
    "grep -l foo .env",
    "grep -h foo list",
    "grep -rl --include='.e*' foo .",
    "grep -rlf list .",
    "rg -l foo --hidden -g '.env'",
    "rg -lu foo",
    "ls -a",
    "cat list",
    "echo .env",
    "printf '%s' .env",
)
"""Listings that may single out a secret, or print what no listing is."""


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for name in ("ws/src/a.py", "ws/tests/a.py", "ws/.env", "ws/list", "ws/.git/config", "home/.ssh/id_rsa"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


def commands(listing: str, readers: Sequence[str] = READERS) -> list[str]:
    return [way.format(listing).replace("READ", reader) for way in CONSUMED for reader in readers]


@pytest.mark.parametrize("listing", LISTINGS)
def test_names_from_a_listing_are_covered(listing: str, places: dict[str, str]) -> None:
    assert [each for each in commands(listing) if decide(each, RULES, **places) != "allow"] == []


@pytest.mark.parametrize("listing", CHOOSING)
@pytest.mark.parametrize("mode", ["default", "auto"])
def test_what_may_single_out_a_secret_asks_in_every_mode(listing: str, mode: str, places: dict[str, str]) -> None:
    assert [each for each in commands(listing) if decide(each, RULES, mode=mode, **places) != "ask"] == []


HOSTILE = (
    "find src -name '*.py'",
    "find . -type f",
    "find . -name '*.py' | grep -v test | head -20",
    "git ls-files",
    "git ls-files '*.py' src",
    "git ls-files -o '*.py'",
    "git grep -l foo",
    "grep -rl foo src",
    "grep -rln --include='*.py' foo .",
    "rg -l foo",
    "rg --files -g '*.py'",
    "ls src",
)


def hostile(name: str, places: dict[str, str]) -> None:
    """Make a file of this name below `src`, or a symlink where it leads somewhere, and have git track it."""
    name, arrow, target = name.format(**places).partition(" -> ")
    path = Path(f"{places['workspace']}/src/{name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target) if arrow else path.touch()
    if shutil.which("git"):
        for words in (["init", "-q"], ["add", "src"]):
            subprocess.run(["git", *words], cwd=places["workspace"], check=True, capture_output=True)


@pytest.mark.parametrize("listing", HOSTILE)
@pytest.mark.parametrize("mode", ["default", "auto"])
@pytest.mark.parametrize(
    "name",
    [
        "link.py -> {home}/.ssh/id_rsa",
        "link.py -> ../../home/.ssh/id_rsa",
        "link.py -> ../.env",
        "a {home}/.ssh/id_rsa .py",
        "a .env b.py",
        "a\t.env b.py",
        'a".env".py',
        "a\\ .py",
        ".[.]/.[.]/x.py",
    ],
)
def test_a_listed_name_that_leads_to_a_secret_asks(name: str, listing: str, mode: str, places: dict[str, str]) -> None:
    hostile(name, places)
    if listing == "ls src" and "/" in name.partition(" -> ")[0]:
        return  # it lists the folder alone
    if "-type f" in listing and " -> " in name:
        return  # it lists no links
    assert [each for each in commands(listing, READERS[:1]) if decide(each, RULES, mode=mode, **places) != "ask"] == []


@pytest.mark.parametrize("name", ["link.py -> {home}/.ssh/id_rsa", "a {home}/.ssh/id_rsa .py"])
@pytest.mark.parametrize("listing", ["find src -name '*.md'", "git ls-files '*.md'", "rg --files -g '*.md'"])
def test_a_name_that_is_not_listed_does_not_count(name: str, listing: str, places: dict[str, str]) -> None:
    hostile(name, places)
    assert [each for each in commands(listing, READERS[:1]) if decide(each, RULES, **places) != "allow"] == []


@pytest.mark.parametrize("name", ["a b.py", "[slug]/page.py", "link.py -> a.py"])
@pytest.mark.parametrize("listing", HOSTILE)
def test_ordinary_names_are_covered_still(name: str, listing: str, places: dict[str, str]) -> None:
    hostile(name, places)
    assert [each for each in commands(listing, READERS[:1]) if decide(each, RULES, **places) != "allow"] == []


def test_find_gives_names_whole(places: dict[str, str]) -> None:
    hostile("a {home}/.ssh/id_rsa .py", places)
    assert decide("find src -name '*.py' -exec cat {} +", RULES, **places) == "allow"
    hostile("link.py -> {home}/.ssh/id_rsa", places)
    assert decide("find src -name '*.py' -exec cat {} +", RULES, **places) == "ask"


@pytest.mark.parametrize("option", ["-d d", "-dX", "--delimiter=.", "--delim ,"])
def test_names_that_are_split_elsewhere_are_not_those_listed(option: str, places: dict[str, str]) -> None:
    assert decide(f"git ls-files '*.py' | xargs {option} cat", RULES, **places) == "ask"
    assert decide("git ls-files '*.py' | xargs -d '\\n' cat", RULES, **places) == "allow"


def test_names_of_earlier_revisions_are_not_checked_and_ask(places: dict[str, str]) -> None:
    hostile("b.py", places)
    assert decide("git diff --name-only HEAD~3 | xargs cat", RULES, **places) == "ask"
    assert decide("git diff --name-only | xargs cat", RULES, **places) == "allow"


def test_more_names_than_are_looked_at_ask(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed_names, "MOST_NAMES", 3)
    for number in range(4):
        Path(f"{places['workspace']}/src/{number}.py").touch()
    assert decide("find src -name '*.py' | xargs cat", RULES, **places) == "ask"


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git, which is not installed")
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("ab é\n/.x" + "y" * 9, min_size=1, max_size=40), min_size=1, max_size=6), st.integers(2, 4))
def test_the_index_is_read_as_git_reads_it(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], version: int
) -> None:
    top = tmp_path_factory.mktemp("repository")

    def git(*words: str, given: str | None = None) -> str:
        done = subprocess.run(["git", *words], cwd=top, input=given, check=False, capture_output=True, text=True)
        return done.stdout

    git("init", "-q")
    blob = git("hash-object", "-w", "--stdin", given="x").strip()
    for number, name in enumerate(names):
        mode = "120000" if number % 2 else "100644"
        git("update-index", "--index-version", str(version), "--add", "--cacheinfo", f"{mode},{blob},{name}")
    found = index_names((top / ".git/index").read_bytes(), 100) if (top / ".git/index").exists() else ()
    listed = [line for line in git("ls-files", "-s", "-z").split("\0") if line]
    expected = tuple((line.partition("\t")[2], line.startswith("12")) for line in listed)
    assert found == expected or (found is None and version == 4)


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_listing_needs_a_rule(listing: str, places: dict[str, str]) -> None:
    """But for readers of the read-only set, where the disk shows what is listed (``test_listed_reads.py``)."""
    assert [each for each in commands(listing) if decide(each, builtinReads=False, **places) != "ask"] == []


@pytest.mark.parametrize("listing", ["find src -type f", "git ls-files src", "rg -l foo src", "grep -rl foo ."])
def test_a_read_rule_for_what_lies_below_is_seen(listing: str, places: dict[str, str]) -> None:
    (Path(places["workspace"]) / "src/key").touch()
    wrong = [each for each in commands(listing) if decide(each, RULES, deny=["Read(src/key)"], **places) == "allow"]
    assert wrong == []


@pytest.mark.parametrize(
    "command",
    [
        'cat "$f"',
        'cat "$1"',
        'cat "src/$f"',
        'cat "$d/README.md"',
        "xargs cat < list",
        "find . -name '*.py' | xargs -a list cat",
        "find . -name '*.py' | xargs cat < list",
        "find . -name '*.py' | xargs -I{} cat {}.env",
        "find . -name '*.py' | { cat list; } | xargs cat",
        'while read -r f; do cat "$f"; done < list',
        'find . | while read -r f; do :; done; cat "$f"',
        'cat "$f"; for f in $(find . -type f); do :; done',
        'for f in $(git ls-files); do cat "$f.env"; done',
        'for f in $(git ls-files); do f=$1; cat "$f"; done',
        'for f in $(git ls-files); do read f < list; cat "$f"; done',
        'for f in $(git ls-files); do f=.env; cat "$f"; done',
        'git ls-files | while read -r f g; do cat "$g"; done',
        'test -n "$1" || f=$(git ls-files); cat "$f"',
    ],
)
@pytest.mark.parametrize("mode", ["default", "auto"])
def test_an_operand_that_may_be_anything_asks_in_every_mode(command: str, mode: str, places: dict[str, str]) -> None:
    assert decide(command, RULES, mode=mode, **places) == "ask"


def test_a_name_in_a_listing_that_the_text_redefines_is_no_listing(places: dict[str, str]) -> None:
    for text in ("ls() { echo .env; }\nls | xargs cat", "alias ls='echo .env'\nls | xargs cat"):
        assert decide(text, RULES, **places) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cat $(find src -type f -name '*.py')",
        "cat $(git ls-files src)",
        "cat $(git ls-files src | sort)",
        "for f in $(find src -type f -name '*.py'); do cat \"$f\"; done",
        "x=$(find src -type f -name '*.py'); cat $x",
        "for f in $(git ls-files src); do head -n 3 $f; done",
        "git ls-files src | while read -r f; do cat $f; done",
    ],
)
def test_a_listed_name_that_bash_expands_to_another_asks(command: str, places: dict[str, str]) -> None:
    hostile("l[i]nk.py", places)
    assert decide(command, RULES, **places) == "allow"  # it matches no name, so it stays as it is
    Path(f"{places['workspace']}/src/link.py").symlink_to("../.env")
    assert decide(command, RULES, **places) == "ask"


@pytest.mark.parametrize(
    "reading", ["git ls-files src | xargs cat", 'git ls-files src | while read -r f; do cat "$f"; done']
)
def test_a_listed_name_that_is_no_pattern_to_its_reader_is_allowed(reading: str, places: dict[str, str]) -> None:
    hostile("l[i]nk.py", places)
    Path(f"{places['workspace']}/src/link.py").symlink_to("../.env")
    assert decide(reading, RULES, **places) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cd src; cat $(git diff --name-only)",
        "cd src && git diff --name-only | xargs cat",
        'cd src; for f in $(git diff --name-only); do cat "$f"; done',
    ],
)
def test_names_that_git_counts_from_the_top_ask_further_down(command: str, places: dict[str, str]) -> None:
    hostile("b.py", places)
    assert decide(command, RULES, **places) == "ask"
    assert decide(command.partition("src")[2].lstrip("; &"), RULES, **places) == "allow"
