"""What a person and the chat see of a changed file: the preview of the card, the diff of the result, the receipt."""

from __future__ import annotations

import hashlib
from typing import Literal

from countersign.gate import Outcome
from countersign.tools.files.text import count_changes
from countersign.tools.places import Operation, Place
from countersign.wire.approvals import DiffPreview
from countersign.wire.base import Json
from countersign.wire.threads import FileDiff

MOST_PREVIEW = 1 << 20
"""Bytes of a preview's texts that a card takes whole; above, ``too_large`` tells the client to open a file instead."""
MOST_DIFF_TEXT = 32 << 10
"""Bytes of each text that goes along with a result."""


def preview(place: Place, operation: Operation, old: str | None, new: str, *, to: Place | None = None) -> DiffPreview:
    """The card's subject: always the whole texts, of the very file that is opened."""
    size = len((old or "").encode()) + len(new.encode())
    return DiffPreview(
        path=place.resolved,
        operation=operation,
        old_text=old,
        new_text=new,
        to=to.resolved if to is not None else None,
        too_large=True if size > MOST_PREVIEW else None,
    )


def outcome_of_change(
    place: Place,
    operation: Literal["create", "edit", "delete"],
    old: str | None,
    new: str | None,
    *,
    before: bytes | None,
    after: bytes | None,
    before_sha256: str | None,
) -> Outcome:
    """The outcome of a change that was made. Texts are None where there is no file, or no text to show."""
    added, removed = count_changes(old or "", new or "")
    small = all(len(text.encode()) <= MOST_DIFF_TEXT for text in (old, new) if text is not None)
    diff = FileDiff(
        path=place.resolved,
        added=added,
        removed=removed,
        old_text=old if small else None,
        new_text=new if small else None,
    )
    record: dict[str, Json] = {
        "operation": operation,
        "path": place.resolved,
        "bytes": len(after) if after is not None else 0,
        "sha256Before": before_sha256,
        "sha256After": hashlib.sha256(after).hexdigest() if after is not None else None,
    }
    if before_sha256 is not None and (before is None or hashlib.sha256(before).hexdigest() != before_sha256):
        record["beforeKept"] = False  # so there is nothing to go back to
    done = {"create": "created", "edit": "changed", "delete": "deleted"}[operation]
    counts = f" (+{added} -{removed} lines)" if operation == "edit" else ""
    return Outcome(
        success=True,
        output=f"{done} `{place.shown}`{counts}",
        path=place.resolved,
        diff=diff,
        record=record,
        before_image=before,
    )
