"""Files that a variable makes programs write: ``GIT_TRACE=/x/y git status``, ``GOBIN=tools go install ./cmd``.

Only what is protected, and what a rule for editing speaks of: elsewhere the program decides, as it does without the
variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from countersign.gate.shell.programs.tables import WRAPPERS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand

_WRITTEN = re.compile(
    r"GIT_TRACE2?(?:_\w+)?|GIT_REDIRECT_STD(?:OUT|ERR)|GIT_INDEX_FILE|GIT_OBJECT_DIRECTORY|SSLKEYLOGFILE|LESSHISTFILE|"
    r"COVERAGE_FILE|NODE_V8_COVERAGE|NODE_COMPILE_CACHE|NODE_REDIRECT_WARNINGS|LLVM_PROFILE_FILE|PYTHONPYCACHEPREFIX|"
    r"MYPY_CACHE_DIR|RUFF_CACHE_DIR|GOBIN|GOCOVERDIR|CARGO_TARGET_DIR|CARGO_INSTALL_ROOT|PIP_LOG|PIP_TARGET|"
    r"(?i:npm_config_(?:cache|prefix|logs_dir))"
)
_OF_GIT = frozenset({"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"})
"""What usually lies in a `.git` folder, where git alone makes something of it."""
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def written_by_variables(analyzed: AnalyzedCommand) -> Iterator[str]:
    """Yield the constant paths that variables in front of this command, or behind ``env``, name for writing."""
    command = analyzed.step.command
    found = {(each.name, each.plain): None for each in (*command.assignments, *command.declared) if each.plain}
    for name, layer in zip(analyzed.names, analyzed.layers, strict=True):
        matches = (_ASSIGNED.fullmatch(word.value or "") for word in layer.words) if name in WRAPPERS else ()
        found.update({(match[1], match[2]): None for match in matches if match is not None})
    for name, value in found:
        if value and _WRITTEN.fullmatch(name) and not (name in _OF_GIT and ".git" in value.split("/")):
            yield value
