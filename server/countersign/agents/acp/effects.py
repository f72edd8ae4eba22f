"""What an agent's call would touch, worked out from all that it said of the call, and the card that shows it.

Input, diffs, locations, names and kind are taken together. What cannot be worked out makes the call an unknown tool
as well (external: it asks), and what it hints at is added, so that deny and ask rules see it. The claimed ``kind``
only ever adds effects.

INVARIANT (strictest): of several readings all effects are taken, never the weakest one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from countersign.agents.acp.shapes import AgentContext, FileEdit, Reading, either_way, hints, read_input, write_effects
from countersign.agents.acp.translate import ToolReport
from countersign.gate import BadArguments, Effect, FetchUrl, FileState, ReadPath, RunCommand, UseTool, WritePath
from countersign.tools.files.change import blocking_before
from countersign.tools.files.diff_preview import preview
from countersign.tools.places import Place
from countersign.wire.approvals import CommandPreview, DiffPreview, FetchPreview, Preview, ToolPreview
from countersign.wire.base import Json
from countersign.wire.verdicts import Category

MCP_NAME = re.compile(r"mcp__(?P<server>[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*)__[A-Za-z0-9_.-]+")
BACKGROUND = ("run_in_background", "is_background", "background")


@dataclass(frozen=True, slots=True)
class Touch:
    """What a call would touch. ``understood`` False: part of it could not be worked out, so it asks."""

    effects: tuple[Effect, ...]
    understood: bool
    edits: tuple[FileEdit, ...] = ()
    server: str | None = None

    @property
    def category(self) -> Category:
        """The row of the mode matrix: that of its gravest effect."""
        kinds = {type(effect) for effect in self.effects}
        if kinds & {UseTool, FetchUrl} or not kinds:
            return "external"
        if RunCommand in kinds:
            return "execute"
        return "write" if WritePath in kinds else "read"


def work_out(report: ToolReport, ground: AgentContext) -> Touch:
    """Everything that the call would touch."""
    reading = read_input(report.raw_input, report.kind, report.names, ground)
    tools = [UseTool(name, server=match["server"]) for name in report.names if (match := MCP_NAME.fullmatch(name))]
    effects: list[Effect] = [*_of_reading(reading, bool(tools)), *_of_diffs(report, ground)]
    understood = (
        not report.more
        and _says_enough(report, reading, tools)
        and bool(effects or tools)
        and not _kind_says_more(report.kind, effects)
        and not any(isinstance(effect, RunCommand) and not effect.understood for effect in effects)
    )
    effects += tools
    if not understood:
        effects += [UseTool(f"acp:{report.tool_kind}"), *hints(report.raw_input, ground)]
        if report.kind == "execute" and report.title and not any(isinstance(each, RunCommand) for each in effects):
            effects.append(RunCommand(report.title, ground.workspace, understood=False))
    if not understood or not any(isinstance(effect, RunCommand) for effect in effects):
        effects += _of_locations(report, ground, effects)
    edits = (reading.edit,) if reading is not None and reading.edit is not None else ()
    return Touch(
        effects=tuple(dict.fromkeys(effects)),
        understood=understood,
        edits=(*edits, *_edit_of_diffs(report)),
        server=tools[0].server if tools else None,
    )


def show(touch: Touch, report: ToolReport, ground: AgentContext) -> tuple[Preview, tuple[FileState, ...]]:
    """The card's subject, and the states of the files that it is true for. Reads the disk, changes nothing.

    Only a call that is exactly one known thing is drawn as that thing; everything else is shown raw and whole.
    """
    match touch.effects if touch.understood else ():
        case (RunCommand(command=command, cwd=cwd),):
            given = report.raw_input if isinstance(report.raw_input, dict) else {}
            background = True if any(given.get(key) is True for key in BACKGROUND) else None
            return CommandPreview(command=command, cwd=cwd, parts=[], background=background), ()
        case (FetchUrl(url=url, method=method),):
            return FetchPreview(url=url, method=method), ()
        case (WritePath(path=path), *others) if _same_file(path, others):
            drawn = _draw_change(path, touch.edits)
            if drawn is not None:
                return drawn
        case _:
            pass
    return ToolPreview(server=touch.server, input=_everything(report)), ()


def _of_reading(reading: Reading | None, named_tool: bool) -> tuple[Effect, ...]:
    """The effects of an understood input. A path that a named MCP tool merely mentions is that tool's own business."""
    if reading is None:
        return ()
    return tuple(effect for effect in reading.effects if not named_tool or not isinstance(effect, ReadPath))


def _of_diffs(report: ToolReport, ground: AgentContext) -> list[Effect]:
    return [effect for diff in report.diffs for effect in write_effects(diff.path, ground)]


def _says_enough(report: ToolReport, reading: Reading | None, tools: list[UseTool]) -> bool:
    """Whether input, diffs or name say what the call is. Of several names all must be those of MCP tools."""
    if tools:
        return len(tools) == len(report.names)
    return reading is not None or (report.raw_input is None and bool(report.diffs))


def _kind_says_more(kind: str | None, effects: list[Effect]) -> bool:
    """Whether the claimed kind names something that no effect stands for; then something was not understood."""
    kinds = {type(effect) for effect in effects}
    match kind:
        case "edit" | "delete" | "move":
            return not kinds & {WritePath, RunCommand}
        case "execute":
            return RunCommand not in kinds
        case "fetch":
            return bool(kinds) and not kinds & {FetchUrl, RunCommand}
        case "switch_mode":
            return True
        case _:
            return False


def _of_locations(report: ToolReport, ground: AgentContext, effects: list[Effect]) -> list[Effect]:
    """Files that the agent names beside the input, unless an effect has them already."""
    known = {effect.path for effect in effects if isinstance(effect, ReadPath | WritePath)}
    return [
        effect
        for location in report.locations
        if not known & set(ground.absolute(location.path))
        for effect in either_way(location.path, ground)
    ]


def _edit_of_diffs(report: ToolReport) -> tuple[FileEdit, ...]:
    """The diffs as one edit, if they are all of one file. An old text may be the whole file or a piece of it."""
    paths = {diff.path for diff in report.diffs}
    if len(paths) != 1 or any(diff.new_text is None for diff in report.diffs):
        return ()
    if len(report.diffs) == 1 and not report.diffs[0].old_text:
        return (FileEdit(report.diffs[0].path, content=report.diffs[0].new_text),)
    return (
        FileEdit(
            paths.pop(),
            replacements=tuple((diff.old_text or "", diff.new_text or "", False) for diff in report.diffs),
        ),
    )


def _same_file(path: str, others: list[Effect]) -> bool:
    """Whether the other effects are only other spellings of this one change."""
    real = _real(path)
    return all(isinstance(other, WritePath) and _real(other.path) == real for other in others)


def _real(path: str) -> str:
    return os.path.realpath(path) if "\0" not in path else path


def _draw_change(path: str, edits: tuple[FileEdit, ...]) -> tuple[DiffPreview, tuple[FileState, ...]] | None:
    """The change of one file with its true old text; None where what the edits say cannot be computed or differs."""
    if "\0" in path:
        return None
    place = Place(path, _real(path), path)
    try:
        before = blocking_before(place)
        kept = before.seen.data if before.seen is not None else b""
        old = kept.decode() if kept is not None else None
    except (BadArguments, UnicodeDecodeError):
        return None
    if old is None:
        return None
    there = old if before.seen is not None else None
    results = {result for edit in edits if (result := edit.apply(there)) is not None}
    if len(results) != 1:
        return None
    return preview(place, "create" if there is None else "edit", there, results.pop()), (before.state,)


def _everything(report: ToolReport) -> dict[str, Json]:
    """All that the agent said of the call, for a card that can only show it raw."""
    said: dict[str, Json] = {
        "title": report.title,
        "kind": report.kind,
        "name": ", ".join(report.names) or None,
        "rawInput": report.raw_input,
        "text": report.text or None,
        "locations": [location.path for location in report.locations] or None,
        "changes": [
            {"path": diff.path, "oldText": diff.old_text, "newText": diff.new_text} for diff in report.diffs
        ] or None,
    }  # fmt: skip
    return {key: value for key, value in said.items() if value is not None}
