"""The key that signs exports and heads, in the system's keyring. Signing is left to ``gate/ledger/signature.py``."""

from __future__ import annotations

import re
import secrets

from countersign.gate import KEY_BYTES
from countersign.settings.system_keyring import SERVICE, KeyringError, blocking_read, blocking_store

_ACCOUNT = "ledger-signing"


def blocking_read_key() -> bytes:
    """Return the key.

    Raises:
        KeyringError: there is no key, or no keyring.
    """
    if (key := _blocking_key()) is None:
        raise KeyringError("the keyring holds no signing key; make one with `countersign history --make-key`")
    return key


def blocking_make_key() -> bytes:
    """Return the key; make and store one if the keyring has none.

    Raises:
        KeyringError: there is no keyring, or it did not keep the key.
    """
    if (key := _blocking_key()) is not None:
        return key
    made = secrets.token_bytes(KEY_BYTES)
    blocking_store(_ACCOUNT, made.hex(), "Countersign ledger signing")
    return made


def _blocking_key() -> bytes | None:
    found = blocking_read(_ACCOUNT)
    if found is None:
        return None
    if re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", found) is None:
        raise KeyringError(f"the keyring's entry `{SERVICE}`/`{_ACCOUNT}` is not a signing key; remove it")
    return bytes.fromhex(found)
