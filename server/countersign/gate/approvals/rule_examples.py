"""Examples of what else a rule for "always" would match, for the card: three, each tried on the rule itself.

They are made up from the rule's own words. A rule that says one call and no other has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from countersign.gate.rules.rule_set import RuleSet
from countersign.settings.policy import RuleText

MOST = 3

_GENERAL = ("src", "--verbose", "src/app.py tests", "one two", "--help", "-x")
_FILES = ("notes.txt", "deep/er/x.py", "other.md")
_NAMES = ("notes", "other", "any-name")
_PAGES = ("", "docs", "any/page?x=1")


def samples(rule: str, seen: Sequence[str]) -> tuple[str, ...]:
    """What the rule would match beside the commands that were seen."""
    return tuple(each for each in _matching(rule) if each not in seen)[:MOST]


@lru_cache(maxsize=256)
def _matching(rule: str) -> tuple[str, ...]:
    """Made once for each rule: the cards of one message often offer the same ones."""
    tool, _, rest = rule.partition("(")
    made_up = dict.fromkeys(_made_up(tool, rest.removesuffix(")")))
    return tuple(each for each in made_up if tool != "Bash" or matches(rule, each))


def _made_up(tool: str, specifier: str) -> Iterator[str]:
    if tool == "Bash" and specifier.endswith(":*"):
        stem = specifier.removesuffix(":*")
        own = _tails().get(stem) or _tails().get(_without_options(stem), ())
        yield from (f"{stem} {tail}" for tail in (*own, *_GENERAL))
        yield stem
    elif tool in ("Read", "Edit") and specifier.endswith("/**"):
        yield from (f"{specifier.removesuffix('**')}{name}" for name in _FILES)
    elif tool in ("Read", "Edit") and specifier.rsplit("/", 1)[-1].startswith("*.") and specifier.count("*") == 1:
        yield from (specifier.replace("*", name) for name in _NAMES)
    elif tool == "WebFetch" and specifier.startswith("domain:") and "*" not in specifier:
        yield from (f"https://{specifier.removeprefix('domain:')}/{page}" for page in _PAGES)


@cache
def _tails() -> Mapping[str, tuple[str, ...]]:
    """Return how commands with these first words go on; what is here stands before the general ones."""
    from countersign.gate.shell.programs.tables import FACETS  # noqa: PLC0415 the tables are loaded when a command comes

    return {" ".join(key): tuple(tails) for key, tails in FACETS["continuations"].items()}


def _without_options(stem: str) -> str:
    """``kubectl -n prod get`` goes on as ``kubectl get`` does."""
    words = stem.split()
    return f"{words[0]} {words[-1]}" if len(words) > 2 and words[1].startswith("-") else stem


def matches(rule: str, command: str) -> bool:
    """Whether this rule alone covers every part of the command, and what its options write."""
    from countersign.gate.shell.flow.parse_cache import Followed, follow  # noqa: PLC0415 the same
    from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand  # noqa: PLC0415 its tables are loaded when a command comes
    from countersign.gate.shell.rules.match import covering  # noqa: PLC0415 as above

    rules, found = RuleSet([RuleText("allow", rule)]), follow(command)
    if not isinstance(found, Followed):
        return False
    said = [covering(AnalyzedCommand(step, found.course.facts), "allow", rules, "") for step in found.course.steps]
    return all(each.evidence is not None and not each.writes for each in said)
