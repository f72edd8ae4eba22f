"""The addresses of remotes that a repository's settings name, for git commands that give only a remote's name.

An address was judged when it was added through the gate; it counts again here, since rules may have come since, and
since remotes are added elsewhere, too. Only ``.git/config`` is read, and not what it includes.
"""

from __future__ import annotations

import os
import re

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.languages.git import Git

_MOST = 100_000
_MOST_ADDRESSES = 50
_ADDRESS = re.compile(
    r"""^[ \t]*\[remote[ \t]+"((?:[^"\\\n]|\\.)*)"\]|^[ \t]*(?:push)?url[ \t]*=[ \t]*"?([^"\n#;]*)""", re.M | re.I
)
_TALKS = frozenset({"fetch", "pull", "push", "ls-remote", "remote", "archive", "submodule", "clone"})


def remote_addresses(git: Git, folder: str, paths: PathJudge) -> tuple[str, ...]:
    """Return the addresses of the remotes that this command names; of all of them where it names none."""
    if git.subcommand not in _TALKS:
        return ()
    by_name = _remotes(folder, paths)
    named = {word.value for _, word in git.arguments.operands} & by_name.keys()
    found = [address for name, each in by_name.items() if not named or name in named for address in each]
    return tuple(dict.fromkeys(found))[:_MOST_ADDRESSES]


def _remotes(folder: str, paths: PathJudge) -> dict[str, list[str]]:
    real = paths.resolve(folder, cwd=paths.workspace).resolved
    while real is not None and real != "/":
        if disk.is_folder(f"{real}/.git"):
            text = disk.beginning(f"{real}/.git/config", _MOST)
            return _read((text or b"").decode(errors="replace"))
        real = os.path.dirname(real)
    return {}


def _read(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for match in _ADDRESS.finditer(text):
        if match[1] is not None:
            name = re.sub(r"\\(.)", r"\1", match[1])
        elif match[2].strip():
            found.setdefault(name, []).append(match[2].strip())
    return found
