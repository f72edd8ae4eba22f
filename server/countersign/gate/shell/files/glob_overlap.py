"""Which deny rule could hold for what an output redirection's pattern may turn out to name (docs/gate.md S8).

A pattern is replaced by what it matches when the command runs, which need not be what lies there now. So names are
made up of the rule's own parts and the pattern's, and only one that both really match makes the rule count.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence

from countersign.gate.finding import Finding
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import PathPattern, escape_glob, glob_segment, unescape_glob
from countersign.gate.rules.rule_set import Rule, RuleSet, evidence

MAX_NAMES = 200
"""How many made-up names are tried for one rule."""


def could_be_denied(judge: PathJudge, rules: RuleSet, pattern: str, cwd: str) -> Finding | None:
    """A write that the pattern could turn into and a deny rule forbids, or None."""
    anything = judge.judge_write("/", cwd="/", operation="delete")
    if anything.deny is None and anything.ask is None:
        return None
    home = f"{escape_glob(judge.home)}/" if pattern.startswith("~/") else ""
    parts = (home + pattern.removeprefix("~/") if home else pattern).split("/")
    for rule in rules.rules():
        if rule.source.list == "deny" and isinstance(rule.specifier, PathPattern):
            for path in _made_up(parts, rule):
                found = judge.judge_write(path, cwd=cwd)
                if found.deny is not None:
                    said = evidence(rule, f"`{rule.text}` could match what `{pattern}` names")
                    return found._replace(resource=pattern, deny=said)
    return None


def _made_up(parts: Sequence[str], rule: Rule) -> Iterator[str]:
    """Paths that the pattern with these parts may name, with the rule's names in the place of wildcards."""
    assert isinstance(rule.specifier, PathPattern)
    names = dict.fromkeys(segment for variant in rule.specifier.variants for segment in variant if segment != "**")
    choices = [
        list(_fitting(part, names)) if glob_segment(part).literal is None else [unescape_glob(part)] for part in parts
    ]
    for combination in itertools.islice(itertools.product(*choices), MAX_NAMES):
        yield os.path.join("/" if parts[0] == "" else "", *combination)


def _fitting(part: str, names: Sequence[str] | dict[str, None]) -> Iterator[str]:
    """Names for one part: the pattern's own with its wildcards taken for nothing, and the rule's with theirs taken for
    what the pattern spells out."""
    segment = glob_segment(part)
    literal = _filled(part, "")
    made = [unescape_glob(part), _filled(part, "x"), literal or "x"]
    for name in names:
        plain = _filled(name, "")
        made += [plain, _filled(name, literal), _filled(part, plain), literal + plain, plain + literal]
    for name in dict.fromkeys(made):
        if name == made[0] or (name not in {"", ".", ".."} and segment.may_match(name)):
            yield name


def _filled(part: str, text: str) -> str:
    """A segment's own characters, with this text in the place of each wildcard."""
    return "".join(token if isinstance(token, str) else text for token in glob_segment(part).tokens)
