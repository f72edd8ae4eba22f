"""The key that signs exports and heads, in the keyring of the system.

Through the system's own programs: ``secret-tool`` of libsecret on Linux, ``security`` on macOS. The key never stands in
an argument, where other users could read it. What is signed is left to ``gate/ledger/signature.py``.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
from typing import NamedTuple

from countersign.gate import KEY_BYTES

SECONDS = 60.0
"""For one request; the keyring may ask the person to unlock it."""
_SERVICE, _ACCOUNT = "countersign", "ledger-signing"


class KeyringError(Exception):
    """There is no keyring, or it refuses; the message is for a person."""


class _Program(NamedTuple):
    """``read`` prints the key; ``store`` takes ``stored`` with the key in it on its standard input. Where there is no
    key, ``read`` ends with the status ``missing`` and, unless ``explains``, says nothing."""

    name: str
    read: tuple[str, ...]
    store: tuple[str, ...]
    stored: str
    missing: int
    explains: bool


_LINUX = _Program(
    "secret-tool",
    ("lookup", "service", _SERVICE, "account", _ACCOUNT),
    ("store", "--label=Countersign ledger signing", "service", _SERVICE, "account", _ACCOUNT),
    "{}",
    missing=1,
    explains=False,
)
_MACOS = _Program(
    "security",
    ("find-generic-password", "-s", _SERVICE, "-a", _ACCOUNT, "-w"),
    ("-i",),
    f"add-generic-password -s {_SERVICE} -a {_ACCOUNT} -w {{}}\n",
    missing=44,
    explains=True,
)


def blocking_read_key() -> bytes:
    """Return the key.

    Raises:
        KeyringError: there is no key, or no keyring.
    """
    if (key := _blocking_lookup(_program())) is None:
        raise KeyringError("the keyring holds no signing key; make one with `countersign history --make-key`")
    return key


def blocking_make_key() -> bytes:
    """Return the key; make and store one if the keyring has none.

    Raises:
        KeyringError: there is no keyring, or it did not keep the key.
    """
    program = _program()
    if (key := _blocking_lookup(program)) is not None:
        return key
    made = secrets.token_bytes(KEY_BYTES)
    if _blocking_run(program, program.store, program.stored.format(made.hex())).returncode or (
        _blocking_lookup(program) != made
    ):
        raise KeyringError(f"the keyring did not keep the key; unlock it and look at what `{program.name}` says")
    return made


def _program() -> _Program:
    """Return the program of this system with its absolute path; a folder that PATH names relatively does not count."""
    program = _MACOS if sys.platform == "darwin" else _LINUX
    folders = [part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(part)]
    if (path := shutil.which(program.name, path=os.pathsep.join(folders))) is None:
        raise KeyringError(f"`{program.name}` is not on PATH, through which the keyring is reached; install it")
    return program._replace(name=path)


def _blocking_lookup(program: _Program) -> bytes | None:
    """Return the key, or None if the keyring holds none. Never replace the key of a keyring that fails."""
    done = _blocking_run(program, program.read)
    found = done.stdout.strip()
    if done.returncode == program.missing and not found and (program.explains or not done.stderr.strip()):
        return None
    if done.returncode:
        raise KeyringError(f"`{program.name}` failed with status {done.returncode}; unlock the keyring")
    if re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", found) is None:
        raise KeyringError(f"the keyring's entry `{_SERVICE}`/`{_ACCOUNT}` is not a signing key; remove it")
    return bytes.fromhex(found)


def _blocking_run(program: _Program, words: tuple[str, ...], given: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [program.name, *words], input=given, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise KeyringError(f"`{program.name}` did not answer ({type(error).__name__}); unlock the keyring") from error
