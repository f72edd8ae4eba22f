"""``read_file``: show a text file, some of its lines, or an image to the model."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from countersign.gate import Effect, Outcome, Permit, Picture, in_worker
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.clip import head, lines_that_fit
from countersign.tools.files.safe_open import complaint, look_at
from countersign.tools.files.text import for_reading, looks_binary
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind, ToolPreview
from countersign.wire.verdicts import Category

MOST_PICTURE = 3_750_000
"""Bytes of an image that a model gets: in base64 it is the 5 MB that every provider takes."""
MOST_BYTES = 32 << 20
"""A longer file is not taken into memory; the shell can look into it."""

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class ReadFileArguments(Arguments):
    path: str = Field(description="The file, relative to the workspace or absolute.")
    offset: int | None = Field(default=None, ge=1, description="The first line to read, counted from 1.")
    limit: int | None = Field(default=None, ge=1, description="How many lines to read at most.")


@dataclass(frozen=True, slots=True)
class Lines:
    """Which lines of which file: from the ``first`` one on, counted from 1, at most ``limit``."""

    place: Place
    first: int
    limit: int | None


class ReadFile:
    """Reads a regular file; an image goes to the model as one. Reports whether it exists only after the permit."""

    name = "read_file"
    kind: ToolKind = "read"
    category: Category = "read"
    description = (
        "Read a text file, or look at an image (PNG, JPEG, GIF, WebP). At most 32 KiB of text are shown at once; a "
        "result that was cut says how to read on."
    )
    arguments = ReadFileArguments

    def effects(self, arguments: ReadFileArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path, policy).reads()

    def prepare(self, arguments: ReadFileArguments, policy: Policy) -> Prepared[Lines]:
        place = locate(arguments.path, policy)
        return Prepared(
            effects=place.reads(),
            preview=ToolPreview(input=arguments.model_dump(exclude_none=True)),
            title=as_title(f"Read {place.shown}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved, line=arguments.offset),),
            payload=Lines(place, arguments.offset or 1, arguments.limit),
        )

    async def run(self, permit: Permit, prepared: Prepared[Lines], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        return await in_worker(_blocking_read, prepared.payload)


def _blocking_read(lines: Lines) -> Outcome:
    place = lines.place
    place.same_or_stale()
    try:
        seen = look_at(place.resolved, MOST_BYTES)
    except OSError as error:
        return Outcome(False, complaint(error, place.shown), path=place.resolved)
    record = {"path": place.resolved, "bytes": seen.size, "sha256": seen.sha256}
    if seen.data is None:
        return Outcome(
            False, f"`{place.shown}` is longer than {MOST_BYTES >> 20} MiB", path=place.resolved, record=record
        )
    kind = image_type(seen.data)
    if kind is not None and len(seen.data) <= MOST_PICTURE:
        told = f"`{place.shown}` is an image ({kind}) of {seen.size} bytes"
        return Outcome(True, told, path=place.resolved, record=record, pictures=(Picture(kind, seen.data),))
    if kind is not None:
        told = f"`{place.shown}` is an image of {seen.size} bytes; make it smaller, since a model takes {MOST_PICTURE}"
        return Outcome(False, told, path=place.resolved, record=record)
    if looks_binary(seen.data):
        told = f"`{place.shown}` is a binary file of {seen.size} bytes"
        return Outcome(False, told, path=place.resolved, record=record)
    return Outcome(True, _lines(seen.data, lines.first, lines.limit), path=place.resolved, record=record)


def image_type(data: bytes) -> str | None:
    """Return the media type of an image that models take, told by its first bytes; None for anything else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _IMAGES if data.startswith(start)), None)


def _lines(data: bytes, first: int, limit: int | None) -> str:
    """The asked lines, as far as they fit, and a mark that says what is missing."""
    text = data.decode("utf-8", "replace")
    lines = for_reading(text).split("\n")
    whole_end = lines[-1] == ""
    if whole_end:
        lines.pop()
    if not lines:
        return "[the file is empty]"
    if first > len(lines):
        return f"[the file has {len(lines)} lines; there is no line {first}]"
    asked = lines[first - 1 :] if limit is None else lines[first - 1 : first - 1 + limit]
    count = lines_that_fit(asked)
    marks: list[str] = []
    if count == 0:
        shown = head(asked[0])
        marks.append(f"line {first} of {len(lines)} is too long and was cut here")
        if first < len(lines):
            marks.append(f"read on with offset {first + 1}")
    else:
        shown = "\n".join(asked[:count])
        last = first + count - 1
        if last < len(lines):
            marks.append(f"lines {first} to {last} of {len(lines)}; read on with offset {last + 1}")
    if "\ufffd" in shown and b"\xef\xbf\xbd" not in data:
        marks.append("not UTF-8; what could not be decoded is shown as \ufffd")
    ending = "\n" if whole_end and not marks else ""
    return shown + ending + ("\n[" + "; ".join(marks) + "]" if marks else "")
