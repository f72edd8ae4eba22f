"""Asking git itself: what it knows under some names, and of which files a command of its own would print lines.

Reading refs, commits and trees beside git finds what git finds only where each of its rules is known. So the same git
is asked that would run, in the same folder and with the same words. It changes nothing: it writes no index, starts no
hook, no pager and no monitor, and fetches nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import selectors
import signal
import subprocess
import time
from typing import Final, NamedTuple

TIME_LIMIT: float = 2.0
"""Seconds for one answer. git names the files of a thousand commits in a tenth of that."""
TIME_TO_END: float = 0.5
"""Seconds in which git may take away what it locked, once that is over."""

MOST_BYTES: int = 4 << 20
"""Bytes of the longest answer."""

_SETTINGS: Final = (
    "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0",
    "-c", "maintenance.auto=false", "-c", "diff.autoRefreshIndex=false",
)  # fmt: skip
_INHERITED: Final = ("HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME")
_ENVIRONMENT: Final = {
    "LC_ALL": "C.UTF-8",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
"""With what is inherited, all that git gets: of our own variables some name another repository."""


_GIT_FAILS = 128
"""How git exits where it cannot go on."""


class Kind(NamedTuple):
    """What git finds under a name: the kind of the object and its number, both empty if it finds nothing."""

    kind: str
    number: str


class GitCommand(NamedTuple):
    """A command of git's, run in ``place`` (an absolute folder) by the program of this absolute path, which finds
    others in the folders of ``path``: the words between the program and the subcommand, and those from the subcommand
    on."""

    program: str
    path: str
    front: tuple[str, ...]
    words: tuple[str, ...]
    place: str


def kinds_of(asked: tuple[GitCommand, tuple[str, ...]]) -> tuple[Kind, ...] | None:
    """What git finds under each of these names; None where it does not say. The command says how git is started; of its
    subcommand nothing counts. Blocks for the time of one small process."""
    command, names = asked
    if any("\n" in name for name in names):
        return None
    lines = "".join(f"{name}\n" for name in names)
    answer = _run(command._replace(words=("cat-file", "--batch-check")), os.fsencode(lines))
    if answer is not None and answer.code != 0 and _finds_no_repository(command):
        return (Kind("", ""),) * len(names)
    if answer is None or answer.code != 0:
        return None
    found = answer.output.decode(errors="surrogateescape").splitlines()
    kinds = [_kind(line, name) for line, name in zip(found, names, strict=False)]
    if len(found) != len(names) or None in kinds:
        return None
    return tuple(kind for kind in kinds if kind is not None)


def _kind(line: str, name: str) -> Kind | None:
    if line == f"{name} missing":
        return Kind("", "")
    found = _FOUND.fullmatch(line)
    return None if found is None else Kind(found[2], found[1])


_FOUND = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (commit|tree|blob|tag) \d+")


def files_named(asked: tuple[GitCommand, GitCommand | None]) -> frozenset[str] | None:
    """The files that a command names which was given ``--name-status -z`` and an empty format, counted from the top of
    the work tree; no file where git finds no repository or no commit of a name, and the second one, which is the
    command as it was written, fails alike. None where it fails otherwise, takes too long or names more than is read.
    Blocks for up to three times ``TIME_LIMIT``."""
    naming, written = asked
    answer = _run(naming)
    if answer is None:
        return None
    if answer.code == 0 or (answer.code == 1 and not answer.errors):  # by `--exit-code`
        return _names(answer.output)
    if not answer.output and _finds_no_repository(naming):
        return frozenset()
    if written is None or answer.output or not _FINDS_NOTHING.match(answer.errors):
        return None
    again = _run(written, read=False)
    return frozenset() if again is not None and again == answer else None


_FINDS_NOTHING = re.compile(
    rb"(?:(?:error|warning): [^\n]*\n)*(?:"
    rb"fatal: ambiguous argument '[^\n]*': unknown revision or path not in the working tree\.\n|"
    rb"fatal: bad revision '[^\n]*'\n\Z|fatal: your current branch '[^\n]*' does not have any commits yet\n\Z|"
    rb"fatal: invalid object name '[^\n]*'\.\n\Z|No stash entries found\.\n\Z)"
)


def versions_named(command: GitCommand) -> frozenset[tuple[str, str]] | None:
    """The numbers of the contents, each with the name of its file, that a command names which was given ``--raw -z
    --no-abbrev`` or ``ls-files -u -z``. None where it fails, takes too long or names more than is read. Blocks for up
    to ``TIME_LIMIT``."""
    answer = _run(command)
    if answer is None or answer.code != 0:
        return None
    versions: set[tuple[str, str]] = set()
    fields = os.fsdecode(answer.output).split("\0")
    rest = iter(fields[:-1])
    for field in rest:
        staged, changed = _STAGE.fullmatch(field), _CHANGE.fullmatch(field)
        if staged is not None:
            versions.add((staged[1], staged[2]))
            continue
        name = next(rest, None)
        if changed is None or not name:
            return None
        versions |= {(number, name) for number in changed.groups() if number.strip("0")}
    return frozenset(versions)


_STAGE = re.compile(r"[0-7]{6} ([0-9a-f]{40}|[0-9a-f]{64}) [1-3]\t(.+)", re.DOTALL)
_CHANGE = re.compile(r":[0-7]{6} [0-7]{6} ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [ADMT]")


def files_listed(command: GitCommand) -> frozenset[str] | None:
    """The names that a command lists, each with a null behind it; none where git finds no repository. None where it
    fails otherwise, takes too long or lists more than is read. Blocks for up to twice ``TIME_LIMIT``."""
    answer = _run(command)
    if answer is not None and answer.code == _GIT_FAILS and not answer.output and _finds_no_repository(command):
        return frozenset()
    if answer is None or answer.code != 0:
        return None
    return frozenset(map(os.fsdecode, answer.output.split(b"\0")[:-1]))


def _names(output: bytes) -> frozenset[str] | None:
    """The names in a list of states and names, each with a null behind it."""
    names: set[bytes] = set()
    fields = output.split(b"\0")
    if fields.pop() != b"":
        return None
    rest = iter(fields)
    for state in rest:
        if _STATE.fullmatch(state) is None:
            return None  # as of a merge in which a file was renamed: git names one of its names alone
        for _ in range(2 if state[:1] in b"CR" else 1):
            name = next(rest, None)
            if not name:
                return None
            names.add(name)
    return frozenset(map(os.fsdecode, names))


_STATE = re.compile(rb"[ADMTUXB]+|[MB]\d+|[CR]\d+")


def _finds_no_repository(command: GitCommand) -> bool:
    """Whether git takes nothing here for a repository, or not one that it works in: then it prints no line of one."""
    answer = _run(command._replace(words=("rev-parse", "--git-dir")))
    return answer is not None and answer.code == _GIT_FAILS


class _Answer(NamedTuple):
    code: int
    output: bytes
    errors: bytes


def _run(command: GitCommand, given: bytes = b"", *, read: bool = True) -> _Answer | None:
    """What git answers; None where it cannot be started, takes too long, answers more than is read or is given more
    than a pipe takes at once. What it prints is thrown away unless it is ``read``."""
    if len(given) > select.PIPE_BUF:
        return None
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    try:
        process = subprocess.Popen(
            (command.program, *command.front, *_SETTINGS, *command.words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if read else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=command.place,
            env={**inherited, **_ENVIRONMENT, "PATH": command.path},
            process_group=0,
        )
    except (OSError, ValueError):
        return None
    with process:
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(given)
        answer = _answer(process)
        if answer is None:
            _end(process)
    return answer


def _answer(process: subprocess.Popen[bytes]) -> _Answer | None:
    deadline = time.monotonic() + TIME_LIMIT
    found = _read_to_end(process, deadline)
    if found is None:
        return None
    try:
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None
    return _Answer(code, *found)


def _read_to_end(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes] | None:
    """What a process prints on its output and for errors until all that it started has closed both; None where that is
    later than ``deadline`` (seconds of the monotonic clock), or more than is read."""
    output, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as ready:
        for pipe, into in ((process.stdout, output), (process.stderr, errors)):
            if pipe is not None and not pipe.closed:
                ready.register(pipe, selectors.EVENT_READ, into)
        while ready.get_map():
            events = ready.select(max(0.0, deadline - time.monotonic()))
            if not events:
                return None
            for key, _ in events:
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    ready.unregister(key.fileobj)
                key.data.extend(piece)
                if len(output) + len(errors) > MOST_BYTES:
                    return None
    return bytes(output), bytes(errors)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started; git may first take away what it locked. The process is waited for later:
    until then nobody else can have its number."""
    _signal(process, signal.SIGTERM)
    _read_to_end(process, time.monotonic() + TIME_TO_END)
    _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
