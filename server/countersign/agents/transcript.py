"""What was said: chats, their events as the editor saw them, and their messages as the model reads them.

One SQLite file per storage folder, enough to draw every chat again and to take a turn up after a restart. Not the
record of what was allowed: that is the ledger. Known secrets, by the ledger's table, are taken out of a chat when its
turn ends; until then the true bytes stay, because a request that waits over a restart needs them. Values are made safe
before they are stored; a stored piece that cannot be read all the same is replaced by one that names it, so that the
rest of the chat opens.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from countersign.agents.context import ContextState
from countersign.agents.models.base import (
    AssistantMessage,
    Image,
    Message,
    Replay,
    ToolMessage,
    UserMessage,
    WantedCall,
)
from countersign.agents.safe_events import safe_event
from countersign.agents.stored_events import event_of, joined, run_of, runs
from countersign.agents.usage_store import USAGE_SCHEMA, add_usage, usage_figures
from countersign.gate import redact, secret_values
from countersign.settings.database_files import refuse_irregular
from countersign.settings.files import set_aside_database
from countersign.wire.base import Json, to_json
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.history import HistoryFilter, ModelFigures
from countersign.wire.strict_json import as_safe
from countersign.wire.threads import ThreadEvent
from countersign.wire.verdicts import Mode

SCHEMA = """
CREATE TABLE IF NOT EXISTS threads (
  thread_id TEXT PRIMARY KEY, workspace TEXT NOT NULL, title TEXT NOT NULL, agent_name TEXT NOT NULL,
  mode TEXT NOT NULL, seq INTEGER NOT NULL, updated_at TEXT NOT NULL, open_turn TEXT, agent_session TEXT);
CREATE TABLE IF NOT EXISTS events (
  thread_id TEXT NOT NULL, number INTEGER PRIMARY KEY, event TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_thread ON events (thread_id, number);
CREATE TABLE IF NOT EXISTS messages (
  thread_id TEXT NOT NULL, number INTEGER PRIMARY KEY, message TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS messages_by_thread ON messages (thread_id, number);
CREATE TABLE IF NOT EXISTS contexts (thread_id TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS named (thread_id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS chosen_models (thread_id TEXT PRIMARY KEY, model TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS begun (thread_id TEXT PRIMARY KEY);
"""
CHATS_FILE = "chats.db"
"""Its name in a storage folder."""
PAGE, PAGE_ROWS = 256 << 10, 1000
"""Characters and rows that are read at once."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One chat. ``open_turn`` is the id of a turn that was under way; ``seq`` the last update's number."""

    thread_id: str
    workspace: str
    title: str
    agent_name: str
    mode: Mode
    seq: int
    updated_at: str
    open_turn: str | None = None
    agent_session: str | None = None


class Transcripts:
    """The chats of one storage folder. ``path`` None keeps them in memory. Calls are short and block.

    Whatever writes does so wholly, or raises LedgerUnavailable and has changed nothing. A file that is no database is
    set aside under a dated name and counts as empty; ``notes`` then says so, for the person. ``secrets`` gives the
    values that are redacted beside the known forms.
    """

    def __init__(self, path: Path | None, *, secrets: Callable[[], frozenset[str]] = secret_values) -> None:
        self._secrets = secrets
        self._lock = threading.Lock()
        self.notes: tuple[str, ...] = ()
        self._redacted: dict[str, tuple[int, int]] = {}
        try:
            self._db = _blocking_open(path)
        except sqlite3.DatabaseError as error:
            if path is None or not _is_corrupt(error):
                raise
            self._db, self.notes = _blocking_reopen(path)

    def threads(self, workspace: str) -> list[ThreadRow]:
        """The chats of a workspace, the latest first."""
        with self._lock:
            rows = self._db.execute(
                "SELECT * FROM threads WHERE workspace = ? ORDER BY updated_at DESC", (workspace,)
            ).fetchall()
        return [ThreadRow(**dict(row)) for row in rows]

    def listed_threads(self, workspace: str) -> list[ThreadRow]:
        """Return the chats of a workspace that a person is offered: without those that were only begun."""
        with self._lock:
            begun = {row["thread_id"] for row in self._db.execute("SELECT thread_id FROM begun")}
        return [row for row in self.threads(workspace) if row.thread_id not in begun]

    def thread(self, thread_id: str) -> ThreadRow | None:
        """One chat's row as it stands."""
        with self._lock:
            row = self._db.execute("SELECT * FROM threads WHERE thread_id = ?", (thread_id,)).fetchone()
        return ThreadRow(**dict(row)) if row else None

    def last_event(self, thread_id: str) -> ThreadEvent | None:
        """The event that was stored last of a chat; None before the first."""
        with self._lock:
            row = self._db.execute(
                "SELECT event FROM events WHERE thread_id = ? ORDER BY number DESC LIMIT 1", (thread_id,)
            ).fetchone()
        return event_of(row[0]) if row else None

    def update_thread(self, thread_id: str, **changes: str | None) -> None:
        """Change some columns of a chat's row: title, mode, agent_name, open_turn, agent_session."""
        names = ", ".join(f"{name} = :{name}" for name in changes)
        with self._writing() as db:
            db.execute(f"UPDATE threads SET {names} WHERE thread_id = :id", {**changes, "id": thread_id})

    def name_thread(self, thread_id: str, title: str) -> None:
        """Keep the title that a person gave a chat; its agent gives it no other from then on."""
        with self._writing() as db:
            db.execute("UPDATE threads SET title = ? WHERE thread_id = ?", (title, thread_id))
            db.execute("INSERT OR REPLACE INTO named (thread_id) VALUES (?)", (thread_id,))
            db.execute("DELETE FROM begun WHERE thread_id = ?", (thread_id,))

    def mark_begun(self, thread_id: str) -> None:
        """A chat whose agent was started ahead of its first message is not listed until it gets one or is named."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO begun (thread_id) VALUES (?)", (thread_id,))

    def mark_prompted(self, thread_id: str) -> None:
        """It got a message."""
        with self._writing() as db:
            db.execute("DELETE FROM begun WHERE thread_id = ?", (thread_id,))

    def choose_model(self, thread_id: str, model: str) -> None:
        """Keep the model that a person chose for a chat."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO chosen_models VALUES (?, ?)", (thread_id, model))

    def chosen_model(self, thread_id: str) -> str | None:
        """Return the model that a person chose for a chat, None where it has that of its agent."""
        with self._lock:
            row = self._db.execute("SELECT model FROM chosen_models WHERE thread_id = ?", (thread_id,)).fetchone()
        return row["model"] if row else None

    def title_thread(self, thread_id: str, title: str) -> str | None:
        """Keep the title that its agent gave a chat, without known secrets; return it. None: it has this title already,
        a person named it, or it is gone."""
        shown = redact(title, self._secrets())
        row = self.thread(thread_id)
        if row is None or row.title == shown or not isinstance(shown, str):
            return None
        with self._writing() as db:
            found = db.execute(
                "UPDATE threads SET title = ? WHERE thread_id = ? AND thread_id NOT IN (SELECT thread_id FROM named)",
                (shown, thread_id),
            )
        return shown if found.rowcount else None

    def save_thread(self, row: ThreadRow) -> None:
        """Write a chat's row, new or changed."""
        values = asdict(row)
        marks = ", ".join(f":{name}" for name in values)
        with self._writing() as db:
            db.execute(f"INSERT OR REPLACE INTO threads ({', '.join(values)}) VALUES ({marks})", values)

    def blocking_copy_events(self, source: str, thread_id: str) -> int:
        """Copy what the editor saw of a chat into a new one; return the number of the last update."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO events (thread_id, event) SELECT ?, event FROM events WHERE thread_id = ? ORDER BY number",
                (thread_id, source),
            )
            db.execute(
                "UPDATE threads SET seq = (SELECT seq FROM threads WHERE thread_id = ?) WHERE thread_id = ?",
                (source, thread_id),
            )
        row = self.thread(thread_id)
        return row.seq if row else 0

    def delete_thread(self, thread_id: str) -> None:
        """Forget a chat with all that was said in it; the ledger keeps what was done."""
        with self._writing() as db:
            for table in ("threads", "events", "messages", "contexts", "named", "chosen_models", "begun"):
                db.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))

    def add_events(self, thread_id: str, seq: int, updated_at: str, events: Sequence[ThreadEvent]) -> None:
        """Append a frame of events together with its number; nothing where the chat was deleted by another window."""
        with self._writing() as db:
            if not _exists(db, thread_id):
                return
            db.executemany(
                "INSERT INTO events (thread_id, event) VALUES (?, ?)",
                [(thread_id, to_json(safe_event(event)).decode()) for event in events],
            )
            add_usage(db, thread_id, updated_at, events)
            db.execute("UPDATE threads SET seq = ?, updated_at = ? WHERE thread_id = ?", (seq, updated_at, thread_id))

    def usage(self, wanted: HistoryFilter, workspace: str | None) -> list[ModelFigures]:
        """What models took, by day, agent and model."""
        with self._lock:
            return usage_figures(self._db, wanted, workspace)

    def events(self, thread_id: str) -> list[ThreadEvent]:
        """Everything the editor saw of a chat, in order, neighbouring text joined."""
        return joined(event_of(text) for _, text in self.rows(thread_id))

    def rows(self, thread_id: str, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the stored events of a chat after one's number, each with its number, read page by page."""
        return self._pages("events", "event", thread_id, after)

    def _last(self, table: str, thread_id: str) -> int:
        with self._lock:
            found = self._db.execute(f"SELECT max(number) FROM {table} WHERE thread_id = ?", (thread_id,)).fetchone()
        return found[0] or 0

    def _pages(self, table: str, column: str, thread_id: str, after: int) -> Iterator[tuple[int, str]]:
        statement = f"SELECT number, {column} FROM {table} WHERE thread_id = ? AND number > ? ORDER BY number"
        more = True
        while more:
            page, characters = list[tuple[int, str]](), 0
            # Others, the event loop among them, wait for the lock: it is held for one page.
            with self._lock, closing(self._db.execute(statement, (thread_id, after))) as rows:
                more = False
                for number, text in rows:
                    page.append((number, text))
                    characters += len(text)
                    if characters >= PAGE or len(page) >= PAGE_ROWS:
                        more = True
                        break
            yield from page
            after = page[-1][0] if page else after

    def add_messages(self, thread_id: str, messages: Sequence[Message]) -> None:
        """Append to what the model reads; nothing where the chat was deleted by another window."""
        with self._writing() as db:
            if not _exists(db, thread_id):
                return
            db.executemany(
                "INSERT INTO messages (thread_id, message) VALUES (?, ?)",
                [(thread_id, _dumps(as_safe(_message_json(message)))) for message in messages],
            )

    def messages(self, thread_id: str) -> list[Message]:
        """What the model reads of a chat, in order."""
        return [_stored_message(text) for _, text in self._pages("messages", "message", thread_id, 0)]

    def context(self, thread_id: str) -> ContextState:
        """What a chat's context has come to; a new one where there is none or it cannot be read."""
        with self._lock:
            row = self._db.execute("SELECT state FROM contexts WHERE thread_id = ?", (thread_id,)).fetchone()
        try:
            value = json.loads(row["state"]) if row else {}
            return ContextState(**{**value, "shown": tuple(value.get("shown", ()))})
        except (ValueError, TypeError, AttributeError):
            return ContextState()

    def save_context(self, thread_id: str, state: ContextState) -> None:
        """Keep it, without known secrets in the summary."""
        value = redact(asdict(state), self._secrets())
        with self._writing() as db:
            if not _exists(db, thread_id):
                return
            db.execute("INSERT OR REPLACE INTO contexts VALUES (?, ?)", (thread_id, json.dumps(as_safe(value))))

    def blocking_redact(self, thread_id: str) -> None:
        """Rewrite what was stored of a chat since the last time without known secrets, wherever frames cut it. No
        request of it may be open. Each text is worked out without the lock and written in a commit of its own.

        Raises:
            LedgerUnavailable: not all of it is rewritten; the next time begins where this one did.
        """
        marks, secrets = self._redacted.get(thread_id, (0, 0)), self._secrets()
        # What is said from now on belongs to the next turn.
        ends = self._last("events", thread_id), self._last("messages", thread_id)
        changed = False
        numbers = deque[int]()

        def stored() -> Iterator[ThreadEvent]:
            for number, text in self.rows(thread_id, marks[0]):
                if number > ends[0]:
                    return
                numbers.append(number)
                yield event_of(text)

        for run in runs(stored()):
            first, *others = [numbers.popleft() for _ in run]
            said = json.loads(to_json(run_of(run)))
            if (without := redact(said, secrets)) != said:
                changed = True
                with self._writing() as db:
                    db.execute("UPDATE events SET event = ? WHERE number = ?", (_dumps(without), first))
                    db.executemany("DELETE FROM events WHERE number = ?", [(number,) for number in others])
        for number, text in self._pages("messages", "message", thread_id, marks[1]):
            if number > ends[1]:
                break
            try:
                said = json.loads(text)
            except (ValueError, RecursionError):  # nobody can read it, so nothing is shown of it either
                continue
            if (without := redact(said, secrets)) != said:
                changed = True
                if isinstance(without, dict) and without.get("replay") is not None:
                    without["replay"] = None  # it is signed, so a provider refuses it once it was changed
                if isinstance(without, dict) and without.get("images") != said.get("images"):
                    without["images"] = []  # what looks like a secret in the middle of an image breaks it
                with self._writing() as db:
                    db.execute("UPDATE messages SET message = ? WHERE number = ?", (_dumps(without), number))
        row = self.thread(thread_id)
        if row is not None and (title := redact(row.title, secrets)) != row.title:
            changed = True
            self.update_thread(thread_id, title=str(title))
        self._redacted[thread_id] = ends
        if changed:
            with self._lock, suppress(sqlite3.Error):  # another server reads; the next time will do
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                    self._db.execute("COMMIT")
                except BaseException:
                    # Left open, it would be in the way of everything that is written afterwards.
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                message = f"the chat cannot be written ({error}), so nothing runs; free its disk"
                raise LedgerUnavailable(message) from error


def _exists(db: sqlite3.Connection, thread_id: str) -> bool:
    """Whether there is such a chat. What is said in one that is gone belongs to no chat that anybody could delete."""
    return db.execute("SELECT 1 FROM threads WHERE thread_id = ?", (thread_id,)).fetchone() is not None


def _stored_message(text: str) -> Message:
    """Return a stored message; what cannot be read of it is replaced, or named where nothing can."""
    try:
        return _message_of(as_safe(json.loads(text)))  # type: ignore[arg-type]
    except (ValueError, RecursionError, TypeError, LookupError, AttributeError):
        return UserMessage(f"[a message of this chat ({len(text)} characters) cannot be read and is left out]")


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _message_json(message: Message) -> dict[str, Json]:
    match message:
        case UserMessage():
            return {"role": "user", **_fields(message), **_images_json(message.images)}
        case AssistantMessage():
            said = {"role": "assistant", **_fields(message), "calls": [_fields(call) for call in message.calls]}
            replay = message.replay
            said["replay"] = None if replay is None else {**_fields(replay), "blocks": list(replay.blocks)}
            return said
        case ToolMessage():
            return {"role": "tool", **_fields(message), **_images_json(message.images)}


def _images_json(images: Sequence[Image]) -> dict[str, Json]:
    return {"images": [_fields(image) for image in images]}


def _fields(value: Message | WantedCall | Replay | Image) -> dict[str, Json]:
    # Not `asdict`, which copies arguments and fails where they are nested too deeply.
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _message_of(value: dict[str, object]) -> Message:
    role = value.pop("role")
    if role in ("user", "tool"):
        images = tuple(Image(**image) for image in value.pop("images", ()))  # type: ignore[union-attr]
        kind = UserMessage if role == "user" else ToolMessage
        return kind(**value, images=images)  # type: ignore[arg-type]
    calls = tuple(WantedCall(**call) for call in value.pop("calls"))  # type: ignore[union-attr]
    replay = value.pop("replay", None)
    if replay is not None:
        replay = Replay(replay["provider"], replay["model"], tuple(replay["blocks"]))  # type: ignore[index]
    return AssistantMessage(**value, calls=calls, replay=replay)  # type: ignore[arg-type]


def _blocking_open(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        refuse_irregular(path)
    db = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None, timeout=10)
    try:
        db.row_factory = sqlite3.Row
        if path is not None:
            db.execute("PRAGMA journal_mode=WAL")
            path.chmod(0o600)
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA secure_delete=ON")
        db.executescript(SCHEMA + USAGE_SCHEMA)
    except BaseException:
        db.close()
        raise
    return db


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def _blocking_reopen(path: Path) -> tuple[sqlite3.Connection, tuple[str, ...]]:
    """Set a file aside that is no database, and begin an empty one. Servers that start at once do so one by one, and
    look again first: what the other has begun is no longer corrupt."""
    with open(path.with_name(f"{path.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return _blocking_open(path), ()
        except sqlite3.DatabaseError as error:
            if not _is_corrupt(error):
                raise
        aside = set_aside_database(path)
        note = f"the store of the chats was corrupt; it is kept as `{aside.name}` and counts as empty"
        return _blocking_open(path), (note,)
