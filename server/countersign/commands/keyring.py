"""The key that signs exports and heads, in the keyring of the system.

Through the system's own programs: ``secret-tool`` of libsecret on Linux, ``security`` on macOS. The key never stands in
an argument, where other users could read it. What is signed is left to ``gate/ledger/signature.py``.
"""

from __future__ import annotations

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
    """``read`` prints the key; ``store`` takes ``stored`` with the key in it on its standard input."""

    name: str
    read: tuple[str, ...]
    store: tuple[str, ...]
    stored: str


_LINUX = _Program(
    "secret-tool",
    ("lookup", "service", _SERVICE, "account", _ACCOUNT),
    ("store", "--label=Countersign ledger signing", "service", _SERVICE, "account", _ACCOUNT),
    "{}",
)
_MACOS = _Program(
    "security",
    ("find-generic-password", "-s", _SERVICE, "-a", _ACCOUNT, "-w"),
    ("-i",),
    f"add-generic-password -s {_SERVICE} -a {_ACCOUNT} -w {{}}\n",
)


def blocking_read_key() -> bytes:
    """Return the key.

    Raises:
        KeyringError: there is none, or no keyring.
    """
    if (key := _blocking_lookup(_program())) is None:
        raise KeyringError("the keyring holds no signing key; make one with `countersign history --make-key`")
    return key


def blocking_make_key() -> bytes:
    """Return the key; make and store it if there is none.

    Raises:
        KeyringError: there is no keyring, or it did not keep the key.
    """
    program = _program()
    if (key := _blocking_lookup(program)) is not None:
        return key
    made = secrets.token_bytes(KEY_BYTES)
    _blocking_run(program, program.store, program.stored.format(made.hex()))
    if _blocking_lookup(program) != made:
        raise KeyringError(f"the keyring did not keep the key; unlock it and look at what `{program.name}` says")
    return made


def _program() -> _Program:
    program = _MACOS if sys.platform == "darwin" else _LINUX
    if shutil.which(program.name) is None:
        raise KeyringError(f"`{program.name}` is not on PATH, through which the keyring is reached; install it")
    return program


def _blocking_lookup(program: _Program) -> bytes | None:
    found = _blocking_run(program, program.read).strip()
    if not found:
        return None
    if re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", found) is None:
        raise KeyringError(f"the keyring's entry `{_SERVICE}`/`{_ACCOUNT}` is not a signing key; remove it")
    return bytes.fromhex(found)


def _blocking_run(program: _Program, words: tuple[str, ...], given: str = "") -> str:
    """Return what it prints; it exits with a failure also where there is no such entry."""
    try:
        done = subprocess.run(
            [program.name, *words], input=given, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KeyringError(f"`{program.name}` did not answer ({type(error).__name__}); unlock the keyring") from error
    return done.stdout if done.returncode == 0 else ""
