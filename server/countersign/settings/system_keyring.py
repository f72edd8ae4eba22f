"""The keyring of the system: the key that signs exports, and keys for clients without a secret storage of their own.

Through the system's own programs: ``secret-tool`` of libsecret on Linux, ``security`` on macOS. No value ever stands in
an argument, where other users could read it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import NamedTuple
from urllib.parse import quote

SECONDS = 60.0
"""For one request; the keyring may ask the person to unlock it."""
SERVICE = "countersign"
LONGEST_VALUE = 2048
"""Characters of a value. ``security`` reads a line of at most 4096, and cuts a longer one."""
_VALUE = re.compile(r"[\w.+/=-]+", re.ASCII)


class KeyringError(Exception):
    """There is no keyring, or it refuses; the message is for a person."""


class _Program(NamedTuple):
    """``read`` and ``remove`` name the entry, ``store`` takes ``stored`` on its standard input. Where there is no such
    entry, ``read`` ends with the status ``missing`` and, unless ``explains``, says nothing."""

    name: str
    read: tuple[str, ...]
    remove: tuple[str, ...]
    store: tuple[str, ...]
    stored: str
    missing: int
    explains: bool


def _on_linux(account: str, label: str) -> _Program:
    entry = ("service", SERVICE, "account", account)
    return _Program(
        "secret-tool",
        ("lookup", *entry),
        ("clear", *entry),
        ("store", f"--label={label}", *entry),
        "{}",
        missing=1,
        explains=False,
    )


def _on_macos(account: str, label: str) -> _Program:
    entry = ("-s", SERVICE, "-a", account)
    return _Program(
        "security",
        ("find-generic-password", *entry, "-w"),
        ("delete-generic-password", *entry),
        ("-i",),
        f"add-generic-password -U {' '.join(entry)} -w {{}}\n",
        missing=44,
        explains=True,
    )


def blocking_read(account: str) -> str | None:
    """Return the value of an entry, or None if the keyring holds none.

    Raises:
        KeyringError: there is no keyring, or it fails. Whoever gets this must not replace the value.
    """
    program = _program(account)
    done = _blocking_run(program, program.read)
    found = done.stdout.strip()
    if done.returncode == program.missing and not found and (program.explains or not done.stderr.strip()):
        return None
    if done.returncode:
        raise KeyringError(f"`{program.name}` failed with status {done.returncode}; unlock the keyring")
    return found


def blocking_store(account: str, value: str, label: str) -> None:
    """Keep a value of letters, digits and ``_.+/=-``; ``label`` is what the keyring shows to the person.

    Raises:
        KeyringError: there is no keyring, or it did not keep the value.
        ValueError: the value holds other characters or is too long.
    """
    if not _VALUE.fullmatch(value) or len(value) > LONGEST_VALUE:
        raise ValueError(f"a keyring takes at most {LONGEST_VALUE} letters, digits and `_.+/=-`")
    program = _program(account, label)
    if (
        _blocking_run(program, program.store, program.stored.format(value)).returncode
        or blocking_read(account) != value
    ):
        raise KeyringError(f"the keyring did not keep the key; unlock it and look at what `{program.name}` says")


def blocking_remove(account: str) -> bool:
    """Remove an entry and tell whether there was one.

    Raises:
        KeyringError: there is no keyring, or it fails.
    """
    if blocking_read(account) is None:
        return False
    program = _program(account)
    if _blocking_run(program, program.remove).returncode or blocking_read(account) is not None:
        raise KeyringError(f"the keyring did not remove the key; unlock it and look at what `{program.name}` says")
    return True


def _program(account: str, label: str = "") -> _Program:
    """Return the program of this system with its absolute path; a folder that PATH names relatively does not count."""
    on_this_system = _on_macos if sys.platform == "darwin" else _on_linux
    program = on_this_system(quote(account, safe="/"), label)
    folders = [part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(part)]
    if (path := shutil.which(program.name, path=os.pathsep.join(folders))) is None:
        raise KeyringError(f"`{program.name}` is not on PATH, through which the keyring is reached; install it")
    return program._replace(name=path)


def _blocking_run(program: _Program, words: tuple[str, ...], given: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [program.name, *words], input=given, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise KeyringError(f"`{program.name}` did not answer ({type(error).__name__}); unlock the keyring") from error
