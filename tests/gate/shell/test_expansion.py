"""Pathname patterns, braces and tildes mean to us what they mean to bash, and no pattern is followed without bounds."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from countersign.gate.patterns import glob_segment
from countersign.gate.probes import disk
from countersign.gate.shell.syntax.words import expand_braces

from .asked import decide
from .expansion import differences


@pytest.mark.parametrize("number", range(0, 1200, 200))
def test_a_word_means_what_bash_expands_it_to(number: int) -> None:
    assert list(differences(1, range(number, number + 200))) == []


def test_braces_make_the_words_that_bash_makes() -> None:
    chance = Random(5)
    parts = ("{", "{", "}", "}", ",", ",", "..", "a", "b", "1", "2", "-", "+", "0", "z")
    words = ["x" + "".join(chance.choices(parts, k=chance.randint(2, 11))) for _ in range(3_000)]
    script = "".join(f"printf '%s\\n' {word}; echo @\n" for word in words)
    by_bash = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True).stdout.split("@\n")
    for word, made in zip(words, by_bash[:-1], strict=True):
        with suppress(OverflowError):
            assert expand_braces(word) == made.splitlines()


def _busy(root: Path, folders: int, files: int) -> None:
    for each in range(folders):
        (root / f"d{each}").mkdir()
        for one in range(files):
            (root / f"d{each}" / f"f{one}").touch()


@pytest.mark.parametrize("pattern", ["*/f*", "*/*/x", "*/../*/../*/../*/../x", "d*/f1"])
def test_a_pattern_takes_a_bounded_number_of_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    _busy(tmp_path, 12, 3)
    monkeypatch.setattr(disk, "MOST_FOLDERS", 8)
    monkeypatch.setattr(disk, "MOST_NAMES", 10)
    assert disk.matching(pattern, str(tmp_path), 1000) is None
    assert decide(f"cat {pattern}", workspace=str(tmp_path), home="/nowhere/home") == "ask"


def test_a_pattern_with_a_few_matches_is_followed(tmp_path: Path) -> None:
    _busy(tmp_path, 3, 3)
    assert disk.matching("d[12]/f?", str(tmp_path), 1000) == tuple(f"d{d}/f{f}" for d in (1, 2) for f in (0, 1, 2))
    assert disk.matching("d*/f*", str(tmp_path), 8) is None


@pytest.mark.parametrize(
    ("command", "deny", "expected"),
    [
        ("head .[^.]*", [], "ask"),
        ("head .[!.]*", [], "ask"),
        ("head .[[:lower:]]*", [], "ask"),
        ("head .e[\\n]v", [], "ask"),
        ("cat .e[[=n=]]v", [], "ask"),
        ("cat .e[m-o]v", [], "ask"),
        ("cat {a.py,.e*}", [], "ask"),
        ("cat '.e'*", [], "ask"),
        ("cat ~''/x", ["Read(./~/**)"], "deny"),
        ("cat ~\\/x", ["Read(./~/**)"], "deny"),
        ("cat ~''", ["Read(./~)"], "deny"),
        ("cat *.py", [], "allow"),
        ("cat 'src'/[ab].py", [], "allow"),
        ("cat [[:lower:]]ecrets/key", ["Read(secrets/**)"], "deny"),
        ("cat secret[^a]/key", ["Read(secrets/**)"], "deny"),
        ("cat secret[!-r]/k*", ["Read(secrets/**)"], "deny"),
        ("cat [r-t]ecrets/[[:alpha:]]ey", ["Read(secrets/**)"], "deny"),
        ("cat 's'ecret?/key", ["Read(secrets/**)"], "deny"),
        ("cat app/[slug]/page.tsx", [], "allow"),
        ("cat app/[slug]/page.tsx", ["Read(app/**)"], "deny"),
        ("cat new/[[:lower:]]ew", ["Read(new/**)"], "deny"),
        ("cat 'my-own'/[[:lower:]]ew", ["Read(my-own/n*)"], "ask"),
    ],
)
def test_no_spelling_of_a_pattern_hides_a_file(tmp_path: Path, command: str, deny: list[str], expected: str) -> None:
    for name in (".env", "a.py", "src/a.py", "secrets/key", "app/[slug]/page.tsx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert decide(command, deny=deny, workspace=str(tmp_path), home="/nowhere/home") == expected


@pytest.mark.parametrize("pattern", [".[^.]*", ".[!.]*", ".g[i]t", ".[[:alpha:]]it", "{a,.git}", ".g'i't*"])
def test_no_pattern_removes_a_repository(tmp_path: Path, pattern: str) -> None:
    (tmp_path / ".git").mkdir()
    asked = {"allow": ["Bash(rm:*)", "Edit"], "workspace": str(tmp_path), "home": "/nowhere/home"}
    assert decide(f"rm -rf {pattern}", **asked) == "ask"
    assert decide(f"rm -rf {pattern}", **asked, mode="auto") == "ask"


def test_a_link_that_leads_to_itself_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "k").touch()
    assert disk.matching("*/k", str(tmp_path), 1000) == ("a/k",)
    assert decide("cat */k", workspace=str(tmp_path), home="/nowhere/home") == "allow"


@pytest.mark.parametrize("name", [b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf7\xbf\xbf\xbf"])
@pytest.mark.parametrize("pattern", ["?", "./?", "[!a]", "?*"])
def test_bytes_beyond_unicode_may_be_one_character(name: bytes, pattern: str, tmp_path: Path) -> None:
    """glibc takes all up to F7 BF BF BF for a character, and so does bash."""
    (tmp_path / ".env").write_text("x")
    os.symlink(b".env", os.fsencode(tmp_path) + b"/" + name)
    assert decide(f"cat {pattern}", workspace=str(tmp_path), home="/nowhere") != "allow"
    assert glob_segment(pattern.removeprefix("./")).may_match_any_case(os.fsdecode(name))


PARTS = st.lists(st.sampled_from(["?", "*", "[!a]", "[é]", "é", "É", "a", "\udcff", "."]), min_size=1, max_size=5)
NAMES = st.lists(st.sampled_from(["é", "É", "a", "A", "\udcff", "\udcc3", "."]), min_size=1, max_size=4)


@given(PARTS.map("".join), NAMES.map("".join))
@example("??", "é")
def test_what_ignores_case_matches_what_else_matches(pattern: str, name: str) -> None:
    segment = glob_segment(pattern)
    assert segment.may_match_any_case(name) or not segment.may_match(name)


@pytest.mark.parametrize("word", ["~''/*", "''{~,a}/x", "{~,a}''/x", "~''{/x,/y}", "{~'',a}/x"])
def test_a_tilde_beside_quotes_is_the_name_of_a_folder(word: str, tmp_path: Path) -> None:
    (tmp_path / "~").mkdir()
    (tmp_path / "~/x").write_text("x\n")
    assert decide(f"cat {word}", deny=["Read(./~/**)"], workspace=str(tmp_path), home="/nowhere/home") == "deny"
