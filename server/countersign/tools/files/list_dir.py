"""``list_dir``: the names in one folder."""

from __future__ import annotations

import os

from pydantic import Field

from countersign.gate import Effect, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.clip import lines_that_fit
from countersign.tools.files.safe_open import complaint
from countersign.tools.files.walk import entries, held_for_listing
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title, file_name
from countersign.wire.approvals import Location, ToolKind, ToolPreview
from countersign.wire.verdicts import Category


class ListDirArguments(Arguments):
    path: str = Field(default=".", description="The folder, relative to the workspace or absolute.")


class ListDir:
    """Lists a folder: folders with a slash, links with where they point. Nothing below is looked at."""

    name = "list_dir"
    kind: ToolKind = "read"
    category: Category = "read"
    description = "List the names in a folder: folders end in /, links show where they point."
    arguments = ListDirArguments

    def effects(self, arguments: ListDirArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path, policy).reads()

    def prepare(self, arguments: ListDirArguments, policy: Policy) -> Prepared[Place]:
        place = locate(arguments.path, policy)
        return Prepared(
            effects=place.reads(),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"List {place.shown}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved),),
            payload=place,
        )

    async def run(self, permit: Permit, prepared: Prepared[Place], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        return await in_worker(_blocking_list, prepared.payload)


def _blocking_list(place: Place) -> Outcome:
    place.same_or_stale()
    try:
        with held_for_listing(place.resolved) as folder:
            listed = entries(folder)
            lines = [entry.shown + _ending(entry.kind, entry.name, folder) for entry in listed]
    except OSError as error:
        return Outcome(False, complaint(error, place.shown), path=place.resolved)
    fit = lines_that_fit(lines)
    shown = "\n".join(lines[:fit]) or "[the folder is empty]"
    if fit < len(lines):
        shown += f"\n[cut here: {fit} of {len(lines)} names; narrow it down with glob]"
    return Outcome(True, shown, path=place.resolved, record={"path": place.resolved, "entries": len(lines)})


def _ending(kind: str, name: str, folder: int) -> str:
    if kind == "folder":
        return "/"
    if kind == "link":
        return f" -> {_target(name, folder)}"
    return "" if kind == "file" else " (no regular file)"


def _target(name: str, folder: int) -> str:
    try:
        return file_name(os.readlink(name, dir_fd=folder))
    except OSError:
        return "?"
