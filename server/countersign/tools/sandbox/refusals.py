"""What of a failed command's output the sandbox caused, in sentences: a path that it locks, hides or does not show, or
a network that it does not have.

The kernel tells nobody what it refused, so this reads what programs print of it, and says only what agrees with the
boundary that the command ran in. It decides nothing: it words a result, and the card that offers to run outside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from countersign.tools.sandbox.boundary import Boundary, SandboxRoot
from countersign.tools.sandbox.survey import is_protected, lies_below

MOST_SENTENCES = 4
MOST_OUTPUT = 64 << 10
"""Characters of the output's end that are read."""
_LONGEST_LINE = 2000

_REFUSED = re.compile(
    r"Read-only file system|Permission denied|Device or resource busy|Operation not permitted|"
    r"No such file or directory|not a git repository: |Invalid cross-device link|"
    r"\bE(?:ROFS|ACCES|BUSY|PERM|NOENT|XDEV)\b"
)
_MISSING = re.compile(r"No such file|ENOENT|not a git repository: ")
_PATH = re.compile(r"(?:[‘'\"`(\[ ]|^|:)((?:~|\.{1,2})?/[^\s‘’'\"`:,;)\]]+|\.?[\w@+-][\w@+.-]*(?:/[\w@+.-]+)*)")
_NETWORK = re.compile(
    r"[Cc]ould not resolve|[Tt]emporary failure in name resolution|Name or service not known|Network is unreachable|"
    r"\bE(?:NETUNREACH|AI_AGAIN|AI_NONAME|HOSTUNREACH)\b|\bENOTFOUND\b|failed to lookup address|No address associated|"
    r"no such host|dial tcp|Network unreachable|nodename nor servname|Unknown host"
)


def refusals_in(output: str, boundary: Boundary, cwd: str) -> tuple[str, ...]:
    """What the sandbox refused, as this output of a failed command tells it; empty where nothing points to it."""
    said: dict[str, None] = {}
    for line in output[-MOST_OUTPUT:].splitlines():
        for sentence in _of_line(line[:_LONGEST_LINE], boundary, cwd):
            said[sentence] = None
            if len(said) == MOST_SENTENCES:
                return tuple(said)
    return tuple(said)


def _of_line(line: str, boundary: Boundary, cwd: str) -> Iterator[str]:
    if _NETWORK.search(line):
        if boundary.network == "none":
            yield "the network: the sandbox has none"
        else:
            yield "a connection that does not use the sandbox's proxy (`HTTPS_PROXY`), which is the only way out"
    if _REFUSED.search(line) is None:
        return
    missing = _MISSING.search(line) is not None
    for match in _PATH.finditer(line):
        path = os.path.normpath(os.path.join(cwd, match[1].replace("~", boundary.home, 1)))
        root = next((root for root in boundary.roots if path == root.path or lies_below(path, root.path)), None)
        sentence = _outside(path, match[1], boundary) if root is None else _inside(path, root, missing=missing)
        if sentence is not None:
            yield sentence


def _outside(path: str, written: str, boundary: Boundary) -> str | None:
    if not written.startswith(("/", "~", "../")):
        return None
    if any(path == shown or lies_below(path, shown) for shown in boundary.repositories):
        return f"`{path}`: of a repository outside the workspace, commands in the sandbox change objects and refs only"
    if path.startswith(("/tmp/", "/proc/", "/dev/", "/usr/", "/bin/")) and not lies_below(path, boundary.home):
        return None
    if path in (boundary.home, "/") or not os.path.dirname(path).strip("/"):
        return None
    return f"`{path}`: the sandbox shows the workspace, granted folders and programs only"


def _inside(path: str, root: SandboxRoot, *, missing: bool) -> str | None:
    if missing:
        return None
    shown = os.path.relpath(path, root.path)
    if path in root.hidden_files or any(path == folder or lies_below(path, folder) for folder in root.hidden_folders):
        return f"`{shown}`: it is a secret, or a rule for reading forbids it"
    locked = (*root.read_only, *root.missing_folders, *(name for name, _text in root.missing_files))
    if any(path == place or lies_below(path, place) for place in locked):
        return f"`{shown}`: it is protected, or a rule for editing forbids it"
    if os.path.dirname(path) == root.path and is_protected((os.path.basename(path),)):
        return f"`{shown}`: protected names cannot be made"
    if not root.writable:
        return f"`{shown}`: nothing can be written"
    return None
