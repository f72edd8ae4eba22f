"""Keys of model servers and hosted agents in the keyring of the system, for clients without a secret storage.

Each is stored with a digest of what the person entered it for, the origin of a server or the command line of an agent,
and is given to nothing else: a workspace's settings cannot send it elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import shlex

from countersign.settings.system_keyring import KeyringError, blocking_read, blocking_remove, blocking_store

LONGEST_KEY = 1024
"""Bytes of a key."""


class OtherOriginError(Exception):
    """The key was entered for another server or command line; the message is for a person."""


def agent_key(agent: str, name: str) -> str:
    """Return the name under which a key of an agent is kept; neither an agent's name nor a key's has a slash."""
    return f"agents.{agent}/{name}"


def entering(name: str, origin: str) -> str:
    """Return the command that asks for a key."""
    return shlex.join(["countersign", "keys", "set", name, origin])


def blocking_stored_key(name: str, origin: str) -> str | None:
    """Return the key of that name, or None if the keyring holds none.

    Raises:
        KeyringError: there is no keyring, it fails, or its entry is no key.
        OtherOriginError: the key was entered for another origin.
    """
    stored = blocking_read(_account(name))
    if stored is None:
        return None
    digest, _, encoded = stored.partition(".")
    try:
        key = base64.b64decode(encoded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        key = ""
    if not key:
        raise KeyringError(f"the keyring's entry of `{name}` is no key; enter it again with `{entering(name, origin)}`")
    if not hmac.compare_digest(digest, _digest(origin)):
        raise OtherOriginError(
            f"the key of `{name}` was entered for something else; enter it again with `{entering(name, origin)}`"
        )
    return key


def blocking_store_key(name: str, origin: str, key: str) -> None:
    """Keep a key.

    Raises:
        KeyringError: there is no keyring, or it did not keep the key.
        ValueError: the key is empty or too long.
    """
    if not 0 < len(key.encode()) <= LONGEST_KEY:
        raise ValueError(f"a key has 1 to {LONGEST_KEY} bytes")
    encoded = base64.urlsafe_b64encode(key.encode()).decode()
    blocking_store(_account(name), f"{_digest(origin)}.{encoded}", f"Countersign key of {name}")


def blocking_remove_key(name: str) -> bool:
    """Remove a key and tell whether there was one.

    Raises:
        KeyringError: there is no keyring, or it fails.
    """
    return blocking_remove(_account(name))


def _account(name: str) -> str:
    return f"key/{name}"


def _digest(origin: str) -> str:
    return hashlib.sha256(origin.encode()).hexdigest()
