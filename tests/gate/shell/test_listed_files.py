"""A reader is covered by its rule for a file that is only known at run time where the text says what that may be."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def commands(listing: str) -> list[str]:
    return [way.format(listing).replace("READ", reader) for way in CONSUMED for reader in READERS]


@pytest.mark.parametrize("listing", LISTINGS)
def test_names_from_a_listing_are_covered(listing: str, places: dict[str, str]) -> None:
    assert [each for each in commands(listing) if decide(each, RULES, **places) != "allow"] == []


@pytest.mark.parametrize("listing", CHOOSING)
@pytest.mark.parametrize("mode", ["default", "auto"])
def test_what_may_single_out_a_secret_asks_in_every_mode(listing: str, mode: str, places: dict[str, str]) -> None:
    assert [each for each in commands(listing) if decide(each, RULES, mode=mode, **places) != "ask"] == []


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_listing_needs_a_rule(listing: str, places: dict[str, str]) -> None:
    """The read-only set holds no reader of files that the text does not name."""
    assert [each for each in commands(listing) if decide(each, **places) != "ask"] == []


@pytest.mark.parametrize("listing", ["find src -type f", "git ls-files src", "rg -l foo src", "grep -rl foo ."])
def test_a_read_rule_for_what_lies_below_is_seen(listing: str, places: dict[str, str]) -> None:
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
