"""Confirmations: what a person on this machine said about the values of a workspace that would loosen.

A confirmation is over the digest of (resolved workspace, file, key path, value), for bypass also of what the agent
would be; another value is another digest. It is forgotten when the value leaves the file, so that coming back it is
asked again. What was accepted last at each key is kept in a short form, to say what changed. Which values need one is
``workspace_restrictions.py``'s business.

INVARIANT (narrowing): nothing gets in here but by ``answer``, which only a person's own act may lead to.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from countersign.settings.database_files import refuse_irregular
from countersign.settings.files import set_aside
from countersign.wire.base import Json
from countersign.wire.errors import WorldError

STORE = "confirmations.sqlite"
LOCK_WAIT = 1.0
"""Seconds to wait for another window's write; one takes milliseconds."""


class ConfirmationsUnavailable(WorldError):
    """The store cannot be read or written; nothing of the workspace counts as confirmed."""


def value_digest(
    workspace: str, file: str, path: Sequence[str], value: Json, agent: Json = None, resolved: str | None = None
) -> str:
    """SHA-256 in hex over one value and where it stands: the names of its path one by one, since a name may hold dots.

    ``agent`` is what a bypass would free, ``resolved`` where a folder really lies, else None.
    """
    body = {
        "workspace": workspace,
        "file": file,
        "path": list(path),
        "value": canonical(value),
        "agent": canonical(agent),
        "resolved": resolved,
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def canonical(value: Json) -> str:
    """One text for one JSON value, whether an editor sent it or a file holds it (``1.0`` is ``1``)."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


class Subject(NamedTuple):
    """What an answer is about: its setting, and the name that the value's short form is kept under, if any."""

    key: str
    name: str | None
    short: str


class LastConfirmed(NamedTuple):
    """The value of a subject that a person accepted last."""

    digest: str
    short: str


class Confirmations:
    """The answers kept in the storage folder, shared by all windows; each call opens the store anew.

    A store that is corrupt is kept aside, told by one warning, and counts as empty.
    """

    def __init__(self, storage: str | Path, warn: Callable[[str], None]) -> None:
        self._path = Path(storage, STORE)
        self._warn = warn

    def answers(self, workspace: str) -> Mapping[str, bool]:
        """Digest to what was said: True accepted, False refused. Empty when the store cannot be read."""
        if not self._path.exists():
            return {}
        try:
            with self._mended() as store:
                rows = store.execute("SELECT digest, accepted FROM answers WHERE workspace = ?", (workspace,))
                return {str(digest): accepted == 1 for digest, accepted in rows}
        except ConfirmationsUnavailable as error:
            # Nothing confirmed is the narrow reading, so going on is safe; the person must know why they are asked.
            self._warn(str(error))
            return {}

    def last_confirmed(self, workspace: str) -> Mapping[str | None, LastConfirmed]:
        """By subject, the value that a person accepted last, whether it still stands or not."""
        if not self._path.exists():
            return {}
        try:
            with self._mended() as store:
                rows = store.execute("SELECT subject, digest, short FROM confirmed WHERE workspace = ?", (workspace,))
                return {str(subject): LastConfirmed(str(digest), str(short)) for subject, digest, short in rows}
        except ConfirmationsUnavailable as error:
            self._warn(str(error))  # a dialog says nothing of what changed, and is shown all the same
            return {}

    def answer(self, workspace: str, digest: str, subject: Subject, *, accepted: bool) -> None:
        """Keep what a person said, durably.

        Raises:
            ConfirmationsUnavailable: it could not be kept.
        """
        now = datetime.now(UTC).isoformat()
        with self._mended() as store, store:
            row = (workspace, digest, subject.key, int(accepted), now)
            store.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
            if accepted and subject.name is not None:
                last = (workspace, subject.name, digest, subject.short, now)
                store.execute("INSERT OR REPLACE INTO confirmed VALUES (?, ?, ?, ?, ?)", last)

    def withdraw(self, workspace: str, digest: str) -> None:
        """Take one answer back, whatever it was."""
        with self._mended() as store, store:
            store.execute("DELETE FROM answers WHERE workspace = ? AND digest = ?", (workspace, digest))

    def retain(self, workspace: str, standing: Collection[str]) -> None:
        """Forget every answer of the workspace whose value no longer stands in its files."""
        gone = self.answers(workspace).keys() - set(standing)
        if not gone:
            return
        with self._mended() as store, store:
            rows = [(workspace, digest) for digest in gone]
            store.executemany("DELETE FROM answers WHERE workspace = ? AND digest = ?", rows)

    @contextlib.contextmanager
    def _mended(self) -> Iterator[sqlite3.Connection]:
        """The open store; a corrupt one is first put aside."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            try:
                store = _opened(self._path)
            except sqlite3.DatabaseError as error:
                if not _is_corrupt(error):
                    raise
                self._set_aside()
                os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
                store = _opened(self._path)
            with closing(store):
                yield store
        except (sqlite3.Error, OSError) as error:
            raise ConfirmationsUnavailable("confirmations cannot be read or kept in the storage folder") from error

    def _set_aside(self) -> None:
        try:
            aside = set_aside(self._path)
        except FileNotFoundError:
            return  # another window was quicker, and has said so
        self._warn(f"the store of confirmed settings was corrupt; it is kept as `{aside.name}` and counts as empty")


def _opened(path: Path) -> sqlite3.Connection:
    refuse_irregular(path)
    store = sqlite3.connect(path, timeout=LOCK_WAIT)
    try:
        store.execute(
            "CREATE TABLE IF NOT EXISTS answers (workspace TEXT NOT NULL, digest TEXT NOT NULL, key TEXT NOT NULL,"
            " accepted INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (workspace, digest)) STRICT"
        )
        store.execute(
            "CREATE TABLE IF NOT EXISTS confirmed (workspace TEXT NOT NULL, subject TEXT NOT NULL,"
            " digest TEXT NOT NULL, short TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (workspace, subject)) STRICT"
        )
        store.execute("SELECT workspace, digest, key, accepted, at FROM answers LIMIT 1").fetchone()
        store.execute("SELECT workspace, subject, digest, short, at FROM confirmed LIMIT 1").fetchone()
        if store.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("quick_check found damage")
        store.commit()
    except BaseException:
        store.close()
        raise
    return store


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    """Damage or a foreign schema, and not a lock, a full disk or a missing right."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
