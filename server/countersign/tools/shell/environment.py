"""The environment that commands and agents start with: the server's, without what could change what is run, and
without secrets that were not given to them.

Names are compared in capitals. ``gate/ledger/secret_forms.py`` says what a secret is, by name or by value. Where
nothing that is inherited names a UTF-8 locale, commands get ``C.UTF-8``: they then read their text as it was judged.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from countersign.gate import DEFAULT_PATH, SYSTEM_FOLDERS, has_secret_form, is_secret_name
from countersign.settings.escape_text import escaped
from countersign.settings.policy import Policy
from countersign.tools.sandbox.system_paths import DROPPED_VARIABLES

EDITOR = ("VSCODE_*", "ELECTRON_*", "COUNTERSIGN_*")
SHELL = (
    "BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "BASH_XTRACEFD", "POSIXLY_CORRECT",
    "CDPATH", "GLOBIGNORE", "EXECIGNORE", "PS4", "PROMPT_COMMAND", "LD_*", "DYLD_*",
)  # fmt: skip
"""What would make the shell read, run or load something else than the text that was shown. No setting passes these."""
PROGRAMS = (
    "GIT_*", "*PAGER", "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY*", "RIPGREP_CONFIG_PATH", "PYTHONSTARTUP",
    "NODE_OPTIONS", "GREP_OPTIONS", "TAR_OPTIONS", "PERL5OPT", "RUBYOPT", "GCONV_PATH",
)  # fmt: skip
"""What makes a harmless program run something else."""
POSITION = ("PWD", "OLDPWD", "_")
"""Where the server was started is nothing to a command."""

GIT_SETTINGS = (("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"), ("core.pager", "cat"))
"""Settings of a repository that would run a program for a mere look at it, overruled."""
READING_GIT_SETTINGS = (
    ("core.hooksPath", os.devnull), ("maintenance.auto", "false"), ("gc.auto", "0"),
    ("gpg.program", "false"), ("gpg.ssh.program", "false"), ("gpg.x509.program", "false"),
)  # fmt: skip
"""More of them, for a command that runs without a rule because it only reads. The gate asks where such a command would
need them; this is a second line, should it be wrong."""
READING = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
"""For such a command, too: git connects to nothing, and starts none of the programs by which a remote is reached."""
UTF8 = "C.UTF-8"
NO_FOLDER = os.devnull
"""A path on which nothing is found; an empty one would be the folder where a command runs."""


def filtered_environment(
    base: Mapping[str, str], policy: Policy, workspace: str, *, only_reads: bool = False
) -> dict[str, str]:
    """What a command gets of ``base``. An agent gets this, and its own ``env`` laid over it.

    ``only_reads``: the command runs without a rule because it only reads; git runs no hooks then, and fetches nothing,
    and PATH holds only folders of the system, as no other program runs without a rule.
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
        if upper not in passed and (_any(upper, (*EDITOR, *PROGRAMS)) or _is_secret(name, value, secret)):
            continue
        kept[name] = value
    kept["PATH"] = ordered_path(base.get("PATH", ""), workspace)
    if only_reads:
        kept["PATH"] = _path_of_system(kept["PATH"])
        return _with_utf8(kept) | _quiet_git((*GIT_SETTINGS, *READING_GIT_SETTINGS)) | READING
    return _with_utf8(kept) | _quiet_git(GIT_SETTINGS)


def confined_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command in the sandbox: without what names sockets and places that are not there."""
    return {name: value for name, value in environment.items() if not _any(name.upper(), DROPPED_VARIABLES)}


def steers(name: str) -> bool:
    """Return true if a variable of this name changes what the shell, the editor or a harmless program runs."""
    upper = name.upper()
    return _any(upper, (*EDITOR, *SHELL, *PROGRAMS)) or upper in (*POSITION, "PATH", "HOME", "SHELL")


def withheld(base: Mapping[str, str], policy: Policy) -> list[str]:
    """Return the names of the variables that are kept back because they hold a secret, sorted."""
    passed = {name.upper() for name in policy.shell_env_pass}
    secret = {name.upper() for name in policy.secret_variables}
    return sorted(
        name for name, value in base.items() if name.upper() not in passed and _is_secret(name, value, secret)
    )


def withheld_names(
    commands: Iterable[str], base: Mapping[str, str], policy: Policy, own: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the names of the variables that these commands mention and do not get, sorted.

    ``own`` are names that the agent's configuration sets itself. A name that the command only assigns is no mention.
    """
    passed = {name.upper() for name in policy.shell_env_pass}
    secret = {name.upper() for name in policy.secret_variables}
    text = "\n".join(commands)
    found = (
        name
        for name, value in base.items()
        if name in text and name not in own and name.upper() not in passed
        if _is_secret(name, value, secret) and _mentions(text, name)
    )
    return tuple(sorted(found))


def withheld_note(names: Sequence[str]) -> str:
    """Return what a card says of the variables that its commands mention and do not get; at least one."""
    shown = ", ".join(f"`{escaped(name)}`" for name in names)
    if len(names) == 1:
        return (
            f"withheld: {shown} looks like a secret, so the command does not get it; "
            "add it to `shell.env.pass` to pass it"
        )
    return (
        f"withheld: {shown} look like secrets, so the command does not get them; "
        "add each to `shell.env.pass` to pass them"
    )


def _mentions(text: str, name: str) -> bool:
    word = re.escape(name)
    return re.search(rf"(?<!\w)(?:(?<=\$){word}(?!\w)|{word}(?![\w=]))", text, re.ASCII) is not None


def _is_secret(name: str, value: str, secret: set[str]) -> bool:
    return name.upper() in secret or is_secret_name(name) or has_secret_form(value)


def _with_utf8(kept: dict[str, str]) -> dict[str, str]:
    """The environment with a UTF-8 locale for characters: as inherited, else ``C.UTF-8``."""
    # The first of them that is set and not empty decides.
    deciding = next((kept[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if kept.get(name)), "")
    if deciding.lower().replace("-", "").partition("@")[0].endswith(".utf8"):
        return kept
    others = {name: value for name, value in kept.items() if name != "LC_ALL"}
    return others | {"LC_CTYPE": UTF8, "LANG": UTF8}


def ordered_path(path: str, workspace: str) -> str:
    """PATH without empty and relative entries, entries inside the workspace last."""
    entries = list(dict.fromkeys(entry for entry in path.split(os.pathsep) if os.path.isabs(entry)))
    entries = entries or DEFAULT_PATH.split(":")
    return os.pathsep.join(sorted(entries, key=lambda entry: inside(entry, workspace)))


def _path_of_system(path: str) -> str:
    entries = [entry for entry in path.split(os.pathsep) if f"{os.path.realpath(entry)}/".startswith(SYSTEM_FOLDERS)]
    return os.pathsep.join(entries) or NO_FOLDER


def inside(entry: str, workspace: str) -> bool:
    """Whether this folder is, or leads into, the workspace."""
    roots = {os.path.normpath(workspace), os.path.realpath(workspace)}
    spellings = {os.path.normpath(entry), os.path.realpath(entry)}
    return any(path == root or path.startswith(root.rstrip("/") + "/") for path in spellings for root in roots)


def _quiet_git(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    quiet = {"GIT_PAGER": "cat", "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        quiet |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return quiet


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
