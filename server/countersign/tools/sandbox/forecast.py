"""What the sandbox will refuse to a command, said on its card before it runs.

Out of what the gate found that the command reads and writes; the disk is asked only whether a path is there. A command
may read and write more than its words name: what fails then is worded afterwards (``refusals.py``). Decides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from countersign.gate import GIT_SETTINGS, Decision, RunCommand, ToolCall
from countersign.settings.policy import Policy
from countersign.tools.sandbox.compile_boundary import NoBoundary, blocking_folders
from countersign.tools.sandbox.git_folders import locks_in_git
from countersign.tools.sandbox.state import runs_confined
from countersign.tools.sandbox.survey import is_protected, lies_below
from countersign.tools.sandbox.system_paths import SYSTEM, TOOLCHAINS
from countersign.tools.visible import as_title

MOST_NOTES = 4
_PRIVATE = ("/tmp", "/var/tmp", "/dev", "/proc")
"""What the sandbox has in its own way: no word about it."""


def blocking_forecast(call: ToolCall, decision: Decision, policy: Policy) -> tuple[str, ...]:
    """The notes for the card of a command that would run in the sandbox; none where no card is drawn."""
    if decision.verdict != "ask" or not _is_confined(call, policy):
        return ()
    home = os.path.realpath(policy.home)
    try:
        folders = blocking_folders(policy, home)
    except NoBoundary:
        return ()
    notes: dict[str, None] = {}
    for note in _notes(decision, folders, home):
        notes[note] = None
        if len(notes) == MOST_NOTES:
            break
    return tuple(notes)


def _is_confined(call: ToolCall, policy: Policy) -> bool:
    """Whether all that it runs runs in the sandbox: an agent's own commands only where the whole agent does."""
    commands = [effect for effect in call.effects if isinstance(effect, RunCommand)]
    confined = bool(commands) and runs_confined(policy) and all(command.outside is None for command in commands)
    return confined and (policy.sandbox_mode == "all" or not any(command.own_text for command in commands))


def _notes(decision: Decision, folders: Sequence[str], home: str) -> Iterator[str]:
    if GIT_SETTINGS in decision.risks:
        yield _cannot_write(".git/config")
    for each in decision.weighed:
        finding, path = each.finding, each.finding.resource
        if finding.kind not in ("read", "write") or not path.startswith("/"):
            continue
        root = next((folder for folder in folders if path == folder or lies_below(path, folder)), None)
        if root is None:
            yield from _outside(path, home, writes=finding.kind == "write")
        elif finding.kind == "write":
            yield from _written(path, root, ruled=finding.ask is not None)
        elif not os.path.isdir(path) and (
            finding.floors or finding.ask or finding.deny or (finding.requires_ask and finding.allow is None)
        ):
            yield f"sandbox: this cannot open `{_shown(path, root)}`"


def _written(path: str, root: str, *, ruled: bool) -> Iterator[str]:
    place = os.path.relpath(path, root).split(os.sep)
    length = next((length for length in range(1, len(place) + 1) if is_protected(place[:length])), None)
    if length is not None and ".git" in place and not locks_in_git(place[place.index(".git") + 1 :]):
        length = None
    if length is None:
        if ruled and os.path.lexists(path):
            yield _cannot_write(_shown(path, root))
        return
    there = os.path.join(root, *place[:length])
    if length == 1 or os.path.lexists(there):
        yield _cannot_write(_shown(path, root))
    else:
        yield f"sandbox: what this makes at `{_shown(there, root)}` is moved away when it ends"


def _outside(path: str, home: str, *, writes: bool) -> Iterator[str]:
    if writes and lies_below(path, home):
        yield f"sandbox: what this writes to `{as_title(path)}` is gone when it ends"
    elif _is_one_of(path, _PRIVATE):
        return
    elif writes:
        yield _cannot_write(as_title(path))
    elif not _is_one_of(path, (*SYSTEM, *(os.path.join(home, name) for name in TOOLCHAINS))) and os.path.lexists(path):
        yield f"sandbox: this cannot open `{as_title(path)}`"


def _is_one_of(path: str, places: Iterable[str]) -> bool:
    return any(path == place or lies_below(path, place) for place in places)


def _cannot_write(shown: str) -> str:
    return f"sandbox: this cannot write `{shown}`"


def _shown(path: str, root: str) -> str:
    return as_title(os.path.relpath(path, root))
