"""The environment that commands and agents start with: the server's, without what could change what is run, and
without secrets that were not given to them.

Names are compared in capitals. Values are never looked at, but for PATH.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping

from countersign.settings.policy import Policy

EDITOR = ("VSCODE_*", "ELECTRON_*", "COUNTERSIGN_*")
SECRETS = (
    "*_TOKEN", "*_API_KEY", "*_SECRET", "*_PASSWORD", "*_PASSWD", "*_ACCESS_KEY", "*_SECRET_KEY", "*_PRIVATE_KEY",
    "TOKEN", "API_KEY", "SECRET", "PASSWORD",
)  # fmt: skip
SHELL = (
    "BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "BASH_XTRACEFD", "POSIXLY_CORRECT",
    "CDPATH", "GLOBIGNORE", "EXECIGNORE", "PS4", "PROMPT_COMMAND", "LD_*", "DYLD_*",
)  # fmt: skip
"""What would make the shell read, run or load something else than the text that was shown. No setting passes these."""
PROGRAMS = (
    "GIT_*", "*PAGER", "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY*", "RIPGREP_CONFIG_PATH", "PYTHONSTARTUP",
    "NODE_OPTIONS", "GREP_OPTIONS", "TAR_OPTIONS", "PERL5OPT", "RUBYOPT",
)  # fmt: skip
"""What makes a harmless program run something else."""
POSITION = ("PWD", "OLDPWD", "_")
"""Where the server was started is nothing to a command."""

GIT_SETTINGS = (("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"), ("core.pager", "cat"))
"""Settings of a repository that would run a program for a mere look at it, overruled."""
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def filtered_environment(base: Mapping[str, str], policy: Policy, workspace: str) -> dict[str, str]:
    """What a command gets of ``base``. An agent gets this, and its own ``env`` laid over it.

    ``shell.env.pass`` names variables that pass although they look like a secret or steer a program; those that steer
    the shell itself never do. Reads no disk but to resolve the links of PATH entries.
    """
    passed = {name.upper() for name in policy.shell_env_pass}
    secret = {name.upper() for name in policy.secret_variables}
    kept: dict[str, str] = {}
    for name, value in base.items():
        upper = name.upper()
        if _any(upper, SHELL) or upper in POSITION or not upper:
            continue
        if upper not in passed and (upper in secret or _any(upper, (*EDITOR, *SECRETS, *PROGRAMS))):
            continue
        kept[name] = value
    kept["PATH"] = ordered_path(base.get("PATH", ""), workspace)
    return kept | _quiet_git()


def ordered_path(path: str, workspace: str) -> str:
    """PATH without empty and relative entries, entries inside the workspace last."""
    entries = list(dict.fromkeys(entry for entry in path.split(os.pathsep) if os.path.isabs(entry)))
    entries = entries or DEFAULT_PATH.split(":")
    return os.pathsep.join(sorted(entries, key=lambda entry: inside(entry, workspace)))


def inside(entry: str, workspace: str) -> bool:
    """Whether this folder is, or leads into, the workspace."""
    roots = {os.path.normpath(workspace), os.path.realpath(workspace)}
    spellings = {os.path.normpath(entry), os.path.realpath(entry)}
    return any(path == root or path.startswith(root.rstrip("/") + "/") for path in spellings for root in roots)


def _quiet_git() -> dict[str, str]:
    quiet = {"GIT_PAGER": "cat", "GIT_CONFIG_COUNT": str(len(GIT_SETTINGS))}
    for number, (key, value) in enumerate(GIT_SETTINGS):
        quiet |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return quiet


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
