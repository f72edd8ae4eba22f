"""Signatures of exports and heads: a small file that says what was seen, authenticated by a key from outside.

A signature is HMAC-SHA-256 over a statement: an export with its SHA-256, or the last row of the chain. Without the key
neither can be forged; whoever has the key can forge both, so a signature is for its owner's own later comparison and
proves nothing to others (``decisions/011``). Where the key is kept is left to ``commands/signing_key.py``.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
from pathlib import Path
from typing import Literal, NamedTuple

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import now
from countersign.gate.ledger.hash_chain import Fault, Head, dumps
from countersign.gate.ledger.reader import Reader
from countersign.settings.regular_file import open_regular, read_regular

FORMAT = "countersign-signature/1"
KEY_BYTES = 32
_MOST_BYTES = 4096

Subject = Literal["export", "head"]


class Statement(NamedTuple):
    """What is signed: the head of the chain, for an export also the file's SHA-256, the time, and the key's name."""

    subject: Subject
    head: Head
    sha256: str
    at: str
    key: str


def key_name(key: bytes) -> str:
    """Return a name for the key that does not tell it."""
    return hashlib.sha256(b"countersign-signing-key\0" + key).hexdigest()[:16]


def signature_path(export: Path) -> Path:
    """Return where the signature of an export lies: beside it."""
    return export.with_name(f"{export.name}.sig")


def blocking_write_signature(path: Path, key: bytes, subject: Subject, head: Head, sha256: str = "") -> Statement:
    """Sign, and write the signature into a new file, durably.

    Raises:
        FileExistsError: there is such a file; nothing of it was changed.
        OSError: the disk refuses; no file is left.
    """
    said = Statement(subject, head, sha256, now(), key_name(key))
    data = dumps(_fields(said) | {"mac": _mac(key, said)}).encode("ascii") + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return said


def blocking_sign_head(reader: Reader, path: Path, key: bytes) -> Statement:
    """Sign the end of a chain that holds, into a new file.

    Raises:
        Fault: the chain does not hold. LedgerUnavailable: it cannot be read. OSError: as for a signature.
    """
    with reader.snapshot() as connection:
        end = schema.chain_end(connection)
    if (fault := reader.verify().fault) is not None:
        raise Fault(fault)
    return blocking_write_signature(path, key, "head", end)


def blocking_check_signature(path: Path, key: bytes, subject: Subject) -> Statement:
    """Read a signature that this key made.

    Raises:
        Fault: it is another key's, of something else, or was changed.
        OSError: it cannot be read.
    """
    data = read_regular(path, _MOST_BYTES + 1)
    try:
        read = json.loads(data)
        head = Head(int(read["count"]), str(read["head"]))
        said = Statement(read["of"], head, str(read["sha256"]), str(read["at"]), str(read["key"]))
        mac = str(read["mac"]).encode("ascii")
        whole = dumps(_fields(said) | {"mac": read["mac"]}).encode("ascii") + b"\n" == data
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Fault(f"`{path.name}` is not a signature") from None
    if said.key != key_name(key):
        raise Fault(f"`{path.name}` was signed with another key ({said.key}) than yours ({key_name(key)})")
    if not whole or not hmac.compare_digest(mac, _mac(key, said).encode("ascii")):
        raise Fault(f"`{path.name}` was changed since it was signed")
    if said.subject != subject:
        raise Fault(f"`{path.name}` signs something else ({said.subject})")
    return said


def blocking_check_signed_export(export: Path, key: bytes, head: str) -> Statement:
    """Compare an export, whose own last line holds, with the signature beside it.

    Raises:
        Fault: there is no signature, or it is not of this file.
        OSError: a file cannot be read.
    """
    path = signature_path(export)
    if not path.exists():
        raise Fault(f"there is no signature `{path.name}` beside it")
    said = blocking_check_signature(path, key, "export")
    with open_regular(export) as opened, io.BufferedReader(opened) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if (digest, head) != (said.sha256, said.head.hash):
        raise Fault(f"the export is not the one that `{path.name}` signs")
    return said


def _fields(said: Statement) -> dict[str, str | int]:
    return {
        "format": FORMAT,
        "of": said.subject,
        "count": said.head.rows,
        "head": said.head.hash,
        "sha256": said.sha256,
        "at": said.at,
        "key": said.key,
    }


def _mac(key: bytes, said: Statement) -> str:
    return hmac.new(key, dumps(_fields(said)).encode("ascii"), hashlib.sha256).hexdigest()
