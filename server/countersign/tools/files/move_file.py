"""``move_file``: give one regular file another path."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from countersign.gate import BadArguments, Effect, FileState, Outcome, Permit
from countersign.settings.policy import Policy
from countersign.tools.access import CannotSucceed
from countersign.tools.arguments import Arguments
from countersign.tools.files.change import blocking_before, blocking_move
from countersign.tools.files.delete_file import refuse_link
from countersign.tools.files.diff_preview import preview
from countersign.tools.files.prepare_change import make_change, prepare_change
from countersign.tools.files.safe_open import complaint
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind
from countersign.wire.threads import FileDiff
from countersign.wire.verdicts import Category


@dataclass(frozen=True, slots=True)
class Move:
    place: Place
    before: FileState
    to: Place
    absent: FileState


class MoveFileArguments(Arguments):
    path: str = Field(description="The file, relative to the workspace or absolute. Not a folder, not a link.")
    to: str = Field(description="Its new path, with the file's name; nothing may be there.")


class MoveFile:
    """Moves or renames a file; never overwrites one."""

    name = "move_file"
    kind: ToolKind = "move"
    category: Category = "write"
    description = "Move or rename one file, making missing folders. Refused when something is at the new path already."
    arguments = MoveFileArguments

    def effects(self, arguments: MoveFileArguments, policy: Policy) -> tuple[Effect, ...]:
        return _effects(locate(arguments.path, policy), locate(arguments.to, policy))

    def prepare(self, arguments: MoveFileArguments, policy: Policy) -> Prepared[Move | CannotSucceed]:
        place, to = locate(arguments.path, policy), locate(arguments.to, policy)
        effects = _effects(place, to)
        title = as_title(f"Move {place.shown} to {to.shown}")

        def prepared(move: Move) -> Prepared[Move]:
            return Prepared(
                effects=effects,
                preview=preview(place, "move", None, "", to=to),
                title=title,
                cwd=policy.workspace,
                bound=(move.before, move.absent),
                locations=(Location(path=place.resolved), Location(path=to.resolved)),
                payload=move,
            )

        return prepare_change(
            lambda: _move(place, to),
            prepared,
            arguments=arguments,
            policy=policy,
            places=(place, to),
            effects=effects,
            title=title,
        )

    async def run(self, permit: Permit, prepared: Prepared[Move | CannotSucceed], bench: ToolContext) -> Outcome:
        return await make_change(permit, prepared, _blocking_move)


def _effects(place: Place, to: Place) -> tuple[Effect, ...]:
    """A move reads the file as well: its content can be read under the new name."""
    return (*place.reads(), *place.writes("move"), *to.writes("move"))


def _blocking_move(move: Move) -> Outcome:
    place, to = move.place, move.to
    try:
        blocking_move(place, move.before, to)
    except OSError as error:
        return Outcome(False, f"{complaint(error, place.shown)}; nothing was moved", path=place.resolved)
    return Outcome(
        success=True,
        output=f"moved `{place.shown}` to `{to.shown}`",
        path=to.resolved,
        diff=FileDiff(path=to.resolved, added=0, removed=0),
        record={
            "operation": "move",
            "path": place.resolved,
            "to": to.resolved,
            "sha256Before": move.before.sha256,
            "sha256After": move.before.sha256,
        },
    )


def _move(place: Place, to: Place) -> Move:
    refuse_link(place)
    refuse_link(to)
    before = blocking_before(place, keep=0)
    if before.seen is None:
        raise BadArguments(f"`{place.shown}` does not exist")
    there = blocking_before(to, keep=0)
    if there.seen is not None:
        raise BadArguments(f"there is a `{to.shown}` already; delete it first or choose another name")
    return Move(place, before.state, to, there.state)
