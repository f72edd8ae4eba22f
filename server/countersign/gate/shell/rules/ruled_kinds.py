"""Whether rules for reading speak of nothing that a linter opens (fact ``own_kinds``), as `Read(./.env)` does not.

Linters and formatters open files of their own kinds in the folders that they are given, none of which is called like
a secret. What such rules match is looked up, as the disk is now.
"""

from __future__ import annotations

from countersign.gate.paths.sensitive_paths import secret_name
from countersign.gate.patterns import PathPattern, fold, is_glob
from countersign.gate.probes import disk
from countersign.gate.rules.rule_set import Rule
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.rules.context import JudgingContext

OWN_KINDS = names_with("own_kinds")
"""Programs that open files of their own kinds alone in a folder, unless an option adds others."""

_OF_SECRETS = frozenset("pem env local development production staging test ci npmrc pypirc".split())
"""Last parts of the names of secrets that are no kind of source code."""


def only_secrets_are_ruled(context: JudgingContext) -> bool:
    """Whether each rule that denies or asks for reading names files in the workspace's top folder that are called like
    secrets and like no source code, or files that do not exist. Looks at the disk; behind a command that may change it,
    that is not certain."""
    entries = disk.entries_in(context.paths.workspace)
    if entries is None or context.paths.expects_changes or context.made:
        return False
    ruled = (rule for rule in context.rules.rules() if rule.list in ("deny", "ask") and rule.tool in ("Read", "*"))
    return all(_names_secrets(rule, dict(entries)) for rule in ruled)


def _names_secrets(rule: Rule, entries: dict[str, bool | None]) -> bool:
    pattern = rule.specifier
    if not isinstance(pattern, PathPattern) or pattern.root != "workspace":
        return False
    names = {fold(name) for name in entries}
    for segments in pattern.variants:
        if not is_glob(segments[0]) and fold(segments[0]) not in names:
            continue  # it is not there, nor is anything below it
        if len(segments) != 1:
            return False
    matched = [name for name in entries if pattern.touches((name,))]
    return all(entries[name] is False and _is_of_no_kind(name) for name in matched)


def _is_of_no_kind(name: str) -> bool:
    return secret_name(name) is not None and name.lower().rpartition(".")[2] in _OF_SECRETS
