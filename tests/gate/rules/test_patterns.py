"""What stands between a rule's parentheses: command words and gitignore patterns, narrow and wide."""

from __future__ import annotations

import re
import shlex

import pathspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import BadPattern, command, command_specifier, parse_command, parse_path
from countersign.gate.patterns import path as path_patterns

COMMANDS = [
    # specifier, words, covers (allow), touches (deny and ask)
    ("npm run test:*", "npm run test", True, True),
    ("npm run test:*", "npm run test -- -x", True, True),
    ("npm run test *", "npm run test -- -x", True, True),
    ("npm run test *", "npm run test", True, True),
    ("npm run test:*", "npm run testing", False, False),
    ("npm run test", "npm run test -x", False, False),
    ("npm run test", "npm run test", True, True),
    ("npm  run   test", "npm run test", True, True),
    ("npm run test*", "npm run testing", True, True),
    ("npm run *:ci", "npm run a:ci", True, True),
    ("npm run *:ci", "npm run a:ci b", False, False),
    ("git * main", "git push origin main", True, True),
    ("git * main", "git push origin main2", False, False),
    ("rm:*", "/bin/rm x", False, True),
    ("/bin/rm:*", "rm x", False, True),
    ("ls:*", "./ls", False, True),
    ("ls:*", "lsof", False, False),
    ("*", "anything at all", True, True),
    ("* --help", "tool sub --help", True, True),
    ("git log -n\\*", "git log -n*", True, True),
    ("git log -n\\*", "git log -nx", False, False),
    ("Ls:*", "ls", False, False),
    ("echo a:b:*", "echo a:b c", True, True),
    ("docker run --rm -v * img:*", "docker run --rm -v /a:/b img sh", True, True),
]


@pytest.mark.parametrize(("specifier", "words", "covers", "touches"), COMMANDS)
def test_command_words_match_word_by_word(specifier: str, words: str, covers: bool, touches: bool) -> None:
    pattern = parse_command(specifier)
    assert (pattern.covers(words.split()), pattern.touches(words.split())) == (covers, touches)


QUOTED = [
    ("git commit -m 'fix it'", ["git", "commit", "-m", "fix it"], True, True),
    ("git commit -m fix it", ["git", "commit", "-m", "fix it"], False, True),
    ("git push:*", ["git push", "x"], False, True),
    ("find . -name '*.py'", ["find", ".", "-name", "*.py"], True, True),
    ("find . -name '*.py'", ["find", ".", "-name", "a.py"], False, True),
    ('echo "a"', ["echo", "a"], True, True),
    ("echo don't", ["echo", "don't"], True, True),
    ("echo ''", ["echo", ""], True, True),
    ("make && rm x", ["make", "&&", "rm", "x"], False, True),
    ("make && rm:*", ["make", "&&", "rm", "x"], True, True),
    (r'grep "a\.b"', ["grep", r"a\.b"], True, True),
    (r'grep "a\.b"', ["grep", "a.b"], False, False),
    (r'grep "a\"b"', ["grep", 'a"b'], True, True),
    ("echo:*", ["echo", "a\nb"], True, True),
]


@pytest.mark.parametrize(("specifier", "words", "covers", "touches"), QUOTED)
def test_a_blank_inside_a_word_is_no_boundary_for_an_allow_rule(
    specifier: str, words: list[str], covers: bool, touches: bool
) -> None:
    pattern = parse_command(specifier)
    assert (pattern.covers(words), pattern.touches(words)) == (covers, touches)


def test_a_pattern_tells_what_it_names_literally() -> None:
    prefix = parse_command("find . -exec * {}:*")
    exact = parse_command("ls -l")
    assert (prefix.first_word, prefix.literal_prefix, prefix.literals, prefix.exact, prefix.prefix) == (
        "find",
        ("find", ".", "-exec"),
        {"find", ".", "-exec", "{}"},
        False,
        True,
    )
    assert (exact.first_word, exact.exact, exact.prefix) == ("ls", True, False)
    assert parse_command("n* x").first_word is None
    assert parse_command("*").first_word is None


@pytest.mark.parametrize("specifier", ["", "  ", "\t"])
def test_a_command_rule_without_words_is_refused(specifier: str) -> None:
    with pytest.raises(BadPattern):
        parse_command(specifier)


words = st.lists(st.text("ab*\\'\" :$(){}-.é", max_size=6), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(words, words)
def test_the_rule_for_exact_words_covers_them_and_nothing_else(one: list[str], other: list[str]) -> None:
    specifier = command_specifier(one)
    assert specifier is not None
    pattern = parse_command(specifier)
    assert pattern.exact
    assert pattern.words == tuple(one)
    assert pattern.covers(one)
    assert pattern.covers(other) is (one == other)
    if "*" not in "".join(one):
        assert shlex.split(specifier) == one


@pytest.mark.parametrize(
    ("specifier", "several"),
    [
        ("a && b", True),
        ("a;b", True),
        ("a # b", True),
        ("a > b", True),
        ('a "$b"', True),
        ("a $(b)", True),
        ('a "`b`"', True),
        ("a 'b;c' \\; '$d' \"e;f\" g#h i$ {} \"\\$j\"", False),
        ("a don't; b", False),
        ("a # don't", True),
        ("a && b # don't", True),
        ("a; b don't", True),
        ("a '# don' \\# \"#\" b#", False),
    ],
)
def test_a_pattern_tells_whether_bash_reads_more_than_its_words(specifier: str, *, several: bool) -> None:
    assert parse_command(specifier).several is several


@settings(max_examples=300, deadline=None)
@given(st.text("ab*:\t \x1c\x85\xa0\u2003é", max_size=12))
def test_a_pattern_without_quotes_is_split_as_one_with_quotes(body: str) -> None:
    def words() -> tuple[str, ...] | None:
        try:
            return parse_command(body).words
        except BadPattern:
            return None

    found = words()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "_QUOTING", re.compile(""))
        assert words() == found


@given(
    specifier=st.lists(
        st.sampled_from(["a", "/b/a", "b*", "*", "*a*b", "'a b'", "a:*", "'*'"]), min_size=1, max_size=4
    ),
    words=st.lists(st.sampled_from(["a", "/b/a", "b", "ab", "a b", ""]), min_size=1, max_size=4),
)
@settings(max_examples=500)
def test_no_command_shorter_than_a_patterns_least_matches_it(specifier: list[str], words: list[str]) -> None:
    pattern = parse_command(" ".join(specifier))
    if pattern.covers(words) or pattern.touches(words):
        assert pattern.least <= len(" ".join(words))


def test_words_with_control_characters_have_no_rule() -> None:
    assert command_specifier(["echo", "a\nb"]) is None
    assert command_specifier([]) is None


PATHS = [
    # pattern, path, covers (allow), touches (deny and ask)
    ("./src/**", "src/a/b.py", True, True),
    ("./src/**", "src", False, True),
    ("./src/**", "source/a.py", False, False),
    ("./src/**", "SRC/a.py", False, True),
    ("src/**", "lib/src/a.py", False, False),
    ("/src/**", "src/a.py", True, True),
    ("./src/*.ts", "src/a.ts", True, True),
    ("./src/*.ts", "src/x/y.ts", False, False),
    ("./src/*", "src/a.ts", True, True),
    ("./src/*", "src/a/b.ts", False, True),
    ("./src", "src/a/b.ts", True, True),
    ("./src/", "src/a/b.ts", True, True),
    ("./src/", "src", False, True),
    ("./src/**/*.ts", "src/a.ts", True, True),
    ("./src/**/*.ts", "src/a/b/c.ts", True, True),
    ("./src/**/*.ts", "src/a/b/c.tsx", False, False),
    ("./src/**/test/**", "src/test/a", True, True),
    ("./src/**/test/**", "src/a/test", False, True),
    ("x", "x", True, True),
    ("x", "a/b/x", True, True),
    ("x", "a/x/b", True, True),
    ("x", "ax", False, False),
    ("*.key", "a/b/id.key", True, True),
    ("*.key", "a/b.key/c", False, True),
    ("*.KEY", "a/id.key", False, True),
    ("**", "a/b", True, True),
    ("**/x", "a/b/x", True, True),
    ("*", "a", True, True),
    (".env", "a/.ENV", False, True),
    ("./a?c", "abc", True, True),
    ("./a?c", "a/c", False, False),
    ("./a[!x]c", "a/c", False, False),
    ("./a[+-9]c", "a/c", False, False),
    ("./a[bc]d", "abd", True, True),
    ("./a[b-d]e", "aCe", False, True),
    ("./*.{ts,tsx}", "a.ts", False, True),
    ("./*.{ts,tsx}", "a.{ts,tsx}", True, True),
    ("./a\\*b", "a*b", True, True),
    ("./a\\*b", "axb", False, False),
    ("./café", "cafe\u0301", False, True),
    ("./a**b", "a/b", False, False),
    ("./a**b", "axxb", True, True),
    ("#x", "#x", True, True),
    ("./.", "a/b", True, True),
    ("//", "a/b", True, True),
]


@pytest.mark.parametrize(("pattern", "path", "covers", "touches"), PATHS)
def test_a_path_pattern_is_read_as_gitignore_reads_it(pattern: str, path: str, covers: bool, touches: bool) -> None:
    parsed = parse_path(pattern)
    assert (parsed.covers(path.split("/")), parsed.touches(path.split("/"))) == (covers, touches)


ROOTS = [
    ("./x", "workspace"),
    ("/x", "workspace"),
    ("x/y", "workspace"),
    ("x/", "anywhere"),
    ("x", "anywhere"),
    ("**", "anywhere"),
    ("**/x", "workspace"),
    ("//etc/x", "root"),
    ("~/x", "home"),
    ("~", "home"),
]


@pytest.mark.parametrize(("pattern", "root"), ROOTS)
def test_a_pattern_is_anchored_where_it_says(pattern: str, root: str) -> None:
    assert parse_path(pattern).root == root


@pytest.mark.parametrize(
    "pattern", ["", " ", "!x", "!./x", "a/../b", "../x", "a//b", "./a/./b", "a[b", "a\\", "[]", "[!]"]
)
def test_a_malformed_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        parse_path(pattern)


def test_too_many_braces_are_refused_instead_of_followed() -> None:
    with pytest.raises(BadPattern):
        parse_path("{a,b}" * 7)


BELOW = [
    ("./private/**", "", True),
    ("./private/**", "private", True),
    ("./private/**", "private/x", True),
    ("./private/**", "src", False),
    ("./a/b", "a", True),
    ("./a/b", "a/c", False),
    ("./a/*/c", "a/x", True),
    ("./a/*/c", "a/x/y", False),
    ("*.key", "anywhere/at/all", True),
    ("./A/b", "a", True),
]


@pytest.mark.parametrize(("pattern", "folder", "may"), BELOW)
def test_a_pattern_tells_whether_it_could_match_below_a_folder(pattern: str, folder: str, may: bool) -> None:
    assert parse_path(pattern).may_touch_below([part for part in folder.split("/") if part]) is may


segment = st.sampled_from(["a", "b", "*", "**", "a*", "*b", "?", "[ab]", "ab"])
name = st.sampled_from(["a", "b", "ab", "ba", "aab"])


@settings(max_examples=300, deadline=None)
@given(st.lists(segment, min_size=1, max_size=4), st.lists(name, min_size=1, max_size=4))
def test_what_a_rule_covers_is_what_pathspec_matches(segments: list[str], path: list[str]) -> None:
    """Narrow is within pathspec, and wide holds all of it: pathspec is the other reader."""
    pattern = "/".join(segments)
    parsed = parse_path("./" + pattern)
    other = pathspec.GitIgnoreSpec.from_lines(["/" + pattern]).match_file("/".join(path))
    if parsed.covers(path):
        assert other
    if other:
        assert parsed.touches(path)


starred = st.lists(
    st.sampled_from(["a", "B", "k", "*", "?", "[ab]", "[!a]", "\\*", ".", "-", " "]), min_size=1, max_size=7
)
some_segment = st.one_of(st.just("**"), starred.map("".join).filter(lambda text: text == text.strip()))
some_name = st.text("aAbBkK\u212a*.- \n", min_size=1, max_size=6)


@settings(max_examples=500, deadline=None)
@given(st.data(), st.lists(some_segment, min_size=1, max_size=5))
def test_the_quick_look_at_a_path_leaves_out_no_match(data: st.DataObject, segments: list[str]) -> None:
    try:
        parsed = parse_path("./" + "/".join(segments))
    except BadPattern:
        return
    path = [
        name
        for segment in segments
        for name in data.draw(
            st.lists(some_name, max_size=3) if segment == "**" else st.tuples(st.one_of(some_name, _matching(segment)))
        )
    ] or ["a"]
    found = parsed.touches(path), parsed.covers(path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(path_patterns, "_quick", lambda _: None)
        assert (parsed.touches(path), parsed.covers(path)) == found


def _matching(segment: str) -> st.SearchStrategy[str]:
    """A name that the segment matches, in some case."""
    name = segment.replace("\\*", "\0").replace("[ab]", "b").replace("[!a]", "K").replace("?", "-")
    return st.sampled_from(["", "a", "Bk"]).map(
        lambda star: name.replace("*", star).replace("\0", "*").swapcase() or "x"
    )
