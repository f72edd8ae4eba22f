"""Whether rules for reading speak of nothing that a linter opens (fact ``own_kinds``), as `Read(./.env)` does not.

Linters and formatters open files of their own kinds in the folders that they are given, none of which is called like
a secret. What such rules match is looked up, as the disk is now.
"""

from __future__ import annotations

from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.rules.context import JudgingContext

OWN_KINDS = names_with("own_kinds")
"""Programs that open files of their own kinds alone in a folder, unless an option adds others."""

_OF_SECRETS = frozenset("pem env local development production staging test ci npmrc pypirc".split())
"""Last parts of the names of secrets that are no kind of source code."""


def only_secrets_are_ruled(context: JudgingContext) -> bool:
    """Whether all files of which rules that deny or ask for reading speak are called like secrets and like no source
    code. Looks at the disk; behind a command that may change it, that is not certain."""
    paths = context.paths
    if paths.resolve(paths.workspace, cwd="/").kind == "missing":
        return not (context.made or paths.expects_changes)  # nothing is there
    ruled = None if context.made else paths.ruled_secrets()
    return ruled is not None and all(path.lower().rpartition(".")[2] in _OF_SECRETS for path in ruled)
