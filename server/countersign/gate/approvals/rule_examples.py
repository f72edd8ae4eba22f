"""Examples of what else a rule for "always" would match, for the card: three, each tried on the rule itself.

They are made up from the rule's own words. A rule that says one call and no other has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from countersign.gate.rules.rule_set import RuleSet
from countersign.settings.policy import RuleText

MOST = 3

_TAILS: Mapping[str, tuple[str, ...]] = {
    "git add": ("-A", "src/app.py", "-u docs"),
    "git commit": ("-m 'a message'", "-a -m 'all of it'", "--amend --no-edit"),
    "git push": ("origin main", "--force", "--tags"),
    "git pull": ("--rebase", "origin main"),
    "git fetch": ("--all", "origin main"),
    "git checkout": ("main", "-b topic", "-- src/app.py"),
    "git switch": ("main", "-c topic"),
    "git branch": ("topic", "-D topic"),
    "git reset": ("HEAD~1", "--hard HEAD~3"),
    "git rebase": ("main", "--continue"),
    "git merge": ("main", "--abort"),
    "npm install": ("a-package", "--save-dev another"),
    "pip install": ("a-package", "-r requirements.txt"),
    "docker build": (".", "-t app ."),
    "kubectl get": ("pods", "secrets -A"),
    "curl": ("https://example.com", "-X DELETE https://example.com/thing", "-d name=value https://example.com"),
    "mkdir": ("build", "-p src/deep/er"),
    "cp": ("a.txt b.txt", "-r src build"),
    "mv": ("a.txt b.txt", "src build"),
    "touch": ("a.txt",),
    "grep": ("-r word .", "word src/app.py"),
    "find": (". -name '*.py'", "src -type f"),
    "make": ("test", "clean", "install"),
}
"""How commands with these first words go on; what is here stands before the general ones."""

_GENERAL = ("src", "--verbose", "src/app.py tests", "one two", "--help", "-x")
_FILES = ("notes.txt", "deep/er/x.py", "other.md")
_NAMES = ("notes", "other", "any-name")
_PAGES = ("", "docs", "any/page?x=1")


def samples(rule: str, seen: Sequence[str]) -> tuple[str, ...]:
    """What the rule would match beside the commands that were seen."""
    tool, _, rest = rule.partition("(")
    specifier = rest.removesuffix(")")
    found: dict[str, None] = {}
    for each in _made_up(tool, specifier):
        if each not in seen and (tool != "Bash" or matches(rule, each)):
            found[each] = None
    return tuple(found)[:MOST]


def _made_up(tool: str, specifier: str) -> Iterator[str]:
    if tool == "Bash" and specifier.endswith(":*"):
        stem = specifier.removesuffix(":*")
        own = _TAILS.get(stem) or _TAILS.get(_without_options(stem), ())
        yield from (f"{stem} {tail}" for tail in (*own, *_GENERAL))
        yield stem
    elif tool in ("Read", "Edit") and specifier.endswith("/**"):
        yield from (f"{specifier.removesuffix('**')}{name}" for name in _FILES)
    elif tool in ("Read", "Edit") and specifier.rsplit("/", 1)[-1].startswith("*.") and specifier.count("*") == 1:
        yield from (specifier.replace("*", name) for name in _NAMES)
    elif tool == "WebFetch" and specifier.startswith("domain:") and "*" not in specifier:
        yield from (f"https://{specifier.removeprefix('domain:')}/{page}" for page in _PAGES)


def _without_options(stem: str) -> str:
    """``kubectl -n prod get`` goes on as ``kubectl get`` does."""
    words = stem.split()
    return f"{words[0]} {words[-1]}" if len(words) > 2 and words[1].startswith("-") else stem


def matches(rule: str, command: str) -> bool:
    """Whether this rule alone covers every part of the command."""
    from countersign.gate.shell.flow.parse_cache import Followed, follow  # noqa: PLC0415 the same
    from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand  # noqa: PLC0415 its tables are loaded when a command comes
    from countersign.gate.shell.rules.match import covering  # noqa: PLC0415 as above

    rules, found = RuleSet([RuleText("allow", rule)]), follow(command)
    return isinstance(found, Followed) and all(
        covering(AnalyzedCommand(step, found.course.facts), "allow", rules, "").evidence is not None
        for step in found.course.steps
    )
