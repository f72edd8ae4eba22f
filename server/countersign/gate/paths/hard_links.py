"""Files with more than one name: what forbids or guards one of them would be missed by another (docs/gate.md P6).

Which names these are cannot be asked of a file, so reading one asks, as for a secret. Packages and builds are left out:
their tools link nearly all files from a store, and a link made there by a command is judged when it is made.
"""

from __future__ import annotations

from countersign.gate.paths.resolve import Resolved
from countersign.gate.paths.roots import segments_of
from countersign.gate.patterns import PathPattern, is_glob
from countersign.gate.rules.rule_set import Rule

SHARED = "the file has other names, and one of them may be a secret's"

STORED = frozenset({"node_modules", "site-packages", ".git", "target"})
"""Folders whose files are hard links as a rule: packages, git's objects, what cargo builds."""


def is_shared(resolved: Resolved) -> bool:
    """Whether a file has names that were not judged."""
    if resolved.kind != "file" or resolved.links < 2:
        return False
    return STORED.isdisjoint(segments_of(resolved.resolved or resolved.lexical))


def names_one_file(rule: Rule) -> bool:
    """Whether a rule names one file and no others."""
    pattern = rule.specifier
    return isinstance(pattern, PathPattern) and pattern.root != "anywhere" and not is_glob("/".join(pattern.segments))
