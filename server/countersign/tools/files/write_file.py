"""``write_file``: make a text the whole content of a file, new or not."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pydantic import Field

from countersign.gate import BadArguments, Effect, FileState, Outcome, Permit
from countersign.settings.policy import Policy
from countersign.tools.access import CannotSucceed
from countersign.tools.arguments import Arguments
from countersign.tools.editor.new_problems import with_new_problems
from countersign.tools.files.change import MOST_BYTES, blocking_before, blocking_write
from countersign.tools.files.diff_preview import outcome_of_change, preview
from countersign.tools.files.prepare_change import make_change, prepare_change
from countersign.tools.files.safe_open import complaint
from countersign.tools.files.text import decode
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind
from countersign.wire.verdicts import Category


@dataclass(frozen=True, slots=True)
class NewContent:
    """What will be written, to the byte, in place of what."""

    place: Place
    before: FileState
    old_text: str | None
    data: bytes


class WriteFileArguments(Arguments):
    path: str = Field(description="The file, relative to the workspace or absolute.")
    content: str = Field(description="The whole new content.")


class WriteFile:
    """Creates a file, with the folders on its way, or replaces the content of a text file."""

    name = "write_file"
    kind: ToolKind = "edit"
    category: Category = "write"
    description = (
        "Write a file: creates it, with missing folders, or replaces its whole content. To change a part of an "
        "existing file use edit_file. Existing binary files are refused."
    )
    arguments = WriteFileArguments

    def effects(self, arguments: WriteFileArguments, policy: Policy) -> tuple[Effect, ...]:
        place = locate(arguments.path, policy)
        return place.writes("edit" if os.path.lexists(place.resolved) else "create")

    def prepare(self, arguments: WriteFileArguments, policy: Policy) -> Prepared[NewContent | CannotSucceed]:
        place = locate(arguments.path, policy)

        def prepared(change: NewContent) -> Prepared[NewContent]:
            operation = "edit" if change.before.sha256 is not None else "create"
            return Prepared(
                effects=place.writes(operation),
                preview=preview(place, operation, change.old_text, arguments.content),
                title=as_title(f"{'Write' if operation == 'edit' else 'Create'} {place.shown}"),
                cwd=policy.workspace,
                bound=(change.before,),
                locations=(Location(path=place.resolved),),
                payload=change,
            )

        return prepare_change(
            lambda: _new_content(place, arguments.content),
            prepared,
            arguments=arguments,
            policy=policy,
            places=(place,),
            effects=place.writes("edit"),
            title=as_title(f"Write {place.shown}"),
        )

    async def run(self, permit: Permit, prepared: Prepared[NewContent | CannotSucceed], bench: ToolContext) -> Outcome:
        if isinstance(prepared.payload, CannotSucceed):
            return await make_change(permit, prepared, blocking_put)
        return await with_new_problems(
            prepared.payload.place, bench, lambda: make_change(permit, prepared, blocking_put)
        )


def blocking_put(change: NewContent) -> Outcome:
    """Write it.

    Raises:
        Stale: the file is not what it was; nothing was written.
    """
    place = change.place
    try:
        before = blocking_write(place, change.before, change.data)
    except OSError as error:
        return Outcome(False, f"{complaint(error, place.shown)}; nothing was written", path=place.resolved)
    return outcome_of_change(
        place,
        "create" if change.before.sha256 is None else "edit",
        change.old_text,
        change.data.decode(),
        before=before,
        after=change.data,
        before_sha256=change.before.sha256,
    )


def _new_content(place: Place, content: str) -> NewContent:
    try:
        data = content.encode()
    except UnicodeEncodeError:
        raise BadArguments("the content holds half a character (a lone surrogate) and cannot be written") from None
    if len(data) > MOST_BYTES:
        raise BadArguments(f"the content is longer than {MOST_BYTES} bytes; write it in parts")
    before = blocking_before(place)
    if before.seen is None:
        return NewContent(place, before.state, None, data)
    if before.seen.data is None:
        raise BadArguments(f"`{place.shown}` is longer than {MOST_BYTES} bytes, too long to show what would change")
    if before.seen.data == data:
        raise BadArguments(f"`{place.shown}` has exactly this content already")
    return NewContent(place, before.state, decode(before.seen.data, place.shown), data)
