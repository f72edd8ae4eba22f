"""Rules that name options by letters are found by the words in front, as by looking at each of them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import CommandPattern
from countersign.gate.rules.rule_set import Rule, RuleSet
from countersign.gate.shell.rules.option_clusters import (
    CLUSTER,
    first_spelled_otherwise,
    letters_of,
    naming_clusters,
)
from countersign.settings.policy import RuleText

heads = st.sampled_from(["rm", "/bin/rm", "git", "./rm"])
tails = st.lists(st.sampled_from(["-r", "-f", "-rf", "-fr", "-x1", "--", "--force", "a", "push", "-", ""]), max_size=5)
words = st.builds(lambda head, tail: (head, *tail), heads, tails)
rules = st.builds(
    lambda listed, each, end: RuleText(listed, f"Bash({' '.join(word for word in each if word)}{end})"),
    st.sampled_from(["deny", "ask", "allow"]),
    words,
    st.sampled_from([":*", ":*", "", " *", " *a:*"]),
)


def slowly(commands: Sequence[tuple[str, ...]], rules: RuleSet) -> Rule | None:
    for _, rule in naming_clusters(rules):
        if any(words and names_the_same(rule, words) for words in commands):
            return rule
    return None


def names_the_same(rule: Rule, words: tuple[str, ...]) -> bool:
    pattern = rule.specifier
    assert isinstance(pattern, CommandPattern)
    at = len(pattern.loose_words)
    while at > 1 and CLUSTER.fullmatch(pattern.loose_words[at - 1]):
        at -= 1
    behind = words[at - 1 :]
    if "--" in behind:
        behind = behind[: behind.index("--")]
    front = (words[0].rpartition("/")[2], *words[1:at])
    wanted = (pattern.loose_words[0].rpartition("/")[2], *pattern.loose_words[1:at])
    return front == wanted and letters_of(behind) >= letters_of(pattern.loose_words[at - 1 :])


@settings(deadline=None, max_examples=400)
@given(st.lists(rules, max_size=10), st.lists(st.one_of(words, st.just(())), max_size=4))
@example([RuleText("deny", "Bash(rm -rf:*)")], [("rm", "--", "-rf"), ("/bin/rm", "-f", "a", "-r")])
@example([RuleText("ask", "Bash(git -f:*)"), RuleText("deny", "Bash(git push -f:*)")], [("git", "push", "-xf")])
def test_the_first_such_rule_is_found(written: list[RuleText], commands: list[tuple[str, ...]]) -> None:
    compiled = RuleSet(written)
    assert first_spelled_otherwise(commands, compiled, "agent") is slowly(commands, compiled)
