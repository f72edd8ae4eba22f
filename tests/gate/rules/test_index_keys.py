"""No rule is missed: whatever a pattern matches, narrow or wide, the RuleSet finds the rule for it."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import CommandPattern, HostPattern, PathPattern, Root
from countersign.gate.rules.rule import Rule
from countersign.gate.rules.rule_set import RuleSet, compile_rule
from countersign.gate.rules.subtree_index import Place
from countersign.settings.policy import RuleText

CROWD = [RuleText("deny", f"Bash(a {text})") for number in range(9) for text in (f"*b{number}*", f"b *{number}b:*")]
"""Enough rules under one word that those with a wildcard hang under what stands inside their words."""

bounded = settings(max_examples=300, deadline=None)

NOISE = [
    *(RuleText("deny", f"Bash(a b{number}:*)") for number in range(5)),
    *(RuleText("deny", f"Read(./a/b{number}/*.c)") for number in range(5)),
    *(RuleText("deny", f"WebFetch(domain:*.b{number}.a)") for number in range(5)),
]


def rule_set(text: str) -> tuple[Rule | None, RuleSet]:
    source = RuleText("deny", text)
    rule, _ = compile_rule(source)
    return (None if rule is None or rule.broken else rule), RuleSet([*NOISE, source])


def texts(rules: list[Rule]) -> set[str]:
    return {rule.text for rule in rules}


pieces = st.text("ab*/ ':-éE", min_size=1, max_size=5)
words = st.lists(st.text("ab/ :-éE", max_size=5), min_size=1, max_size=4)


@bounded
@given(st.lists(pieces, min_size=1, max_size=3).map(" ".join), words)
def test_a_command_rule_that_matches_is_found(specifier: str, command: list[str]) -> None:
    rule, rules = rule_set(f"Bash({specifier})")
    if rule is None or not isinstance(rule.specifier, CommandPattern):
        return
    if rule.specifier.touches(command) or rule.specifier.covers(command):
        assert rule.text in texts(rules.commands("deny", command, "x"))


@bounded
@given(st.lists(st.text("ab*/ ':-éE01", min_size=1, max_size=5), min_size=1, max_size=3).map(" ".join), words)
@example("*b1*", ["a", "xb1y"])
@example("*'b 1'*", ["a", "xb 1y"])
@example("b *ab:*", ["/x/a", "b", "aab", "x"])
def test_a_command_rule_that_matches_is_found_among_many_with_its_words(specifier: str, command: list[str]) -> None:
    text = f"Bash(a {specifier})"
    rule = compile_rule(RuleText("deny", text))[0]
    rules = RuleSet([*CROWD, RuleText("deny", text)])
    for each in (command, ["a", *command], ["/b/a", *command]):
        found = texts(rules.commands("deny", each, "x"))
        for known in (*CROWD, *([rule.source] if rule is not None and not rule.broken else [])):
            pattern = compile_rule(known)[0].specifier  # type: ignore[union-attr]
            assert isinstance(pattern, CommandPattern)
            if pattern.touches(each) or pattern.covers(each):
                assert known.text in found


segments = st.sampled_from(
    ["a", "b", "A", "*", "**", "a*", "*b", "*.b", "a?", "[ab]", "É", "é*", "a\\*", "{a,b}", "*a*"]
)
patterns = st.lists(segments, min_size=1, max_size=3).map("/".join)
names = st.sampled_from(["a", "b", "A", "ab", "a.b", "é", "É", "e\u0301", "a*", "aa"])
roots = st.sampled_from(["./", "/", "//", "~/", ""])


def anchored(path: tuple[str, ...], root: Root) -> tuple[str, ...] | None:
    """Where a path under `/w` or `/h` lies relative to a root."""
    if root in ("root", "anywhere"):
        return path[1:] if root == "anywhere" and path[0] == "w" else path
    return path[1:] if path[0] == ("w" if root == "workspace" else "h") else None


@bounded
@given(roots, patterns, st.sampled_from("who"), st.lists(names, max_size=3))
def test_a_path_rule_that_matches_is_found(root: str, pattern: str, place: str, below: list[str]) -> None:
    rule, rules = rule_set(f"Read({root}{pattern})")
    if rule is None or not isinstance(rule.specifier, PathPattern):
        return
    path = (place, *below)
    relative = anchored(path, rule.specifier.root)
    if relative is not None and (rule.specifier.touches(relative) or rule.specifier.covers(relative)):
        assert rule.text in texts(rules.paths("Read", "deny", path, "x"))


@bounded
@given(
    roots,
    patterns,
    st.sampled_from("who"),
    st.lists(names, max_size=2),
    st.lists(names, min_size=1, max_size=2),
)
def test_a_rule_that_matches_below_a_folder_is_found_for_the_folder(
    root: str, pattern: str, place: str, folder: list[str], below: list[str]
) -> None:
    rule, _ = rule_set(f"Read({root}{pattern})")
    if rule is None or not isinstance(rule.specifier, PathPattern):
        return
    rules = RuleSet([RuleText("deny", rule.text)])
    here = (place, *folder)
    relative = anchored((*here, *below), rule.specifier.root)
    if relative is None or not rule.specifier.touches(relative):
        return
    places: dict[Root, Place] = {
        each: found if (found := anchored(here, each)) is not None else "apart"
        for each in ("workspace", "anywhere", "root", "home")
    }
    assert rules.below("Read", "deny", places, "x") is not None


@bounded
@given(st.lists(st.sampled_from(["a", "b", "*", "a*", "*b"]), min_size=1, max_size=3).map(".".join), st.data())
def test_a_domain_rule_that_matches_is_found(pattern: str, data: st.DataObject) -> None:
    rule, rules = rule_set(f"WebFetch(domain:{pattern})")
    host = data.draw(st.lists(st.sampled_from(["a", "b", "ab", "b1"]), min_size=1, max_size=4).map(".".join))
    if rule is not None and isinstance(rule.specifier, HostPattern) and rule.specifier.matches(host):
        assert rule.text in texts(rules.hosts("deny", host, "x"))
