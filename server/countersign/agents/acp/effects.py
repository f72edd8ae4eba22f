"""The effects of an agent's call, worked out from all that it reported about the call, and the card that shows it.

Input, diffs, locations, names and kind are taken together. What cannot be worked out makes the call an unknown tool
as well (external: it asks), and what it hints at is added, so that deny and ask rules see it. The claimed ``kind``
only ever adds effects.

INVARIANT (strictest): of several readings all effects are taken, never the weakest one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from countersign.agents.acp.file_edit import FileEdit
from countersign.agents.acp.hints import LONGEST_COMMAND, Hints, find_hints, reads_mentioned
from countersign.agents.acp.inputs import leaves
from countersign.agents.acp.proposed_plan import plan_of
from countersign.agents.acp.reading import AgentContext, Reading, either_way, write_effects
from countersign.agents.acp.shapes import DOES_MORE, file_beside_its_folder, read_input
from countersign.agents.acp.translate import ToolReport
from countersign.gate import (
    BadArguments,
    Effect,
    FetchUrl,
    FileState,
    ProposePlan,
    ReadPath,
    RunCommand,
    UseTool,
    WritePath,
)
from countersign.tools.files.change import blocking_before
from countersign.tools.files.diff_preview import preview
from countersign.tools.places import Place
from countersign.wire.approvals import CommandPreview, DiffPreview, FetchPreview, PlanPreview, Preview, ToolPreview
from countersign.wire.base import Json
from countersign.wire.verdicts import Category

MCP_NAME = re.compile(r"mcp__(?P<server>[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*)__[A-Za-z0-9_.-]+")
REMOVES = ("delete", "move")
"""Operations after which the file is not where it was."""
BACKGROUND = ("run_in_background", "is_background", "background")


@dataclass(frozen=True, slots=True)
class Touch:
    """What a call would touch. ``understood`` False: part of it could not be worked out, so it asks. ``too_much``: it
    holds more than can be judged, so it must be refused. ``plan``: it only shows a person this text."""

    effects: tuple[Effect, ...]
    understood: bool
    edits: tuple[FileEdit, ...] = ()
    server: str | None = None
    too_much: bool = False
    plan: str | None = None

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
    """Return every effect of the call, from all reports about it together."""
    if (plan := plan_of(report, ground.plan_tools)) is not None:
        return Touch((ProposePlan(),), understood=True, plan=plan)
    readings = [read_input(raw, report.kind, report.names, ground, report.call_id) for raw in report.inputs]
    tools = [UseTool(name, server=match["server"]) for name in report.names if (match := MCP_NAME.fullmatch(name))]
    completed = [_completed(raw, report, readings, ground) for raw in report.inputs]
    readings = [reading or more for reading, more in zip(readings, completed, strict=True)]
    readings = [_without_repetition(number, report, readings, ground) for number in range(len(readings))]
    effects: list[Effect] = [*_of_readings(readings, bool(tools)), *_of_diffs(report, ground)]
    if _only_located(report):
        effects += [ReadPath(full) for location in report.locations for full in ground.absolute(location.path)]
    left_over = [
        raw
        for raw, reading in zip(report.inputs, readings, strict=True)
        if reading is None and not _is_covered(raw, report, readings)
    ]
    understood = (
        not report.more
        and _says_enough(report, readings, left_over, tools)
        and bool(effects or tools)
        and not _kind_says_more(report.kind, effects)
        and not any(isinstance(effect, RunCommand) and not effect.understood for effect in effects)
    )
    effects += tools
    found = Hints()
    for raw in report.inputs if tools else ():
        reads, found.too_much = reads_mentioned(raw, ground)
        effects += reads
        if found.too_much:
            break
    if not understood:
        found.add(UseTool(f"acp:{report.tool_kind}"))
        certain = _kind_says_more(report.kind, effects)
        for raw in report.inputs if certain else left_over:
            hinted = find_hints(raw, report.kind, ground)
            found.add(*hinted.effects)
            found.too_much = found.too_much or hinted.too_much
        if _only_titled(report):
            said = [text for text in (report.title, report.text) if text.strip() and len(text) <= LONGEST_COMMAND]
            found.add(*(RunCommand(text, ground.folder, understood=False) for text in said))
            found.too_much = found.too_much or report.title_cut
        effects += found.effects
    if not understood or not any(isinstance(effect, RunCommand) for effect in effects):
        effects += _of_locations(report, ground, effects)
    edits = [edit for reading in readings if reading is not None for edit in reading.edits]
    return Touch(
        effects=tuple(dict.fromkeys(effects)),
        understood=understood,
        edits=(*edits, *_edit_of_diffs(report)),
        server=tools[0].server if tools else None,
        too_much=found.too_much,
    )


def evidence_of(report: ToolReport) -> tuple[object, ...]:
    """Return all of a report that effects are worked out from, except words beside an input or a diff."""
    places = tuple(location.path for location in report.locations)
    title = report.title if report.kind == "execute" and _only_titled(report) else None
    said = report.inputs, report.diffs, report.terminals
    return report.kind, report.names, places, report.more, report.too_large, title, *said


def show(touch: Touch, report: ToolReport, ground: AgentContext) -> tuple[Preview, tuple[FileState, ...]]:
    """The card's subject, and the states of the files that it is true for. Reads the disk, changes nothing.

    Only a call that is exactly one known thing is drawn as that thing; everything else is shown raw and whole.
    """
    if touch.plan is not None:
        return PlanPreview(markdown=touch.plan), ()
    match touch.effects if touch.understood else ():
        case (RunCommand(command=command, cwd=cwd), *others) if _parts_of(command, cwd, others):
            inputs = [raw for raw in report.inputs if isinstance(raw, dict)]
            background = True if any(raw.get(key) is True for raw in inputs for key in BACKGROUND) else None
            return CommandPreview(command=command, cwd=cwd, parts=[], background=background), ()
        case (FetchUrl(url=url, method=method),):
            return FetchPreview(url=url, method=method), ()
        case (WritePath(path=path), *_) if _same_file(path, touch.effects):
            drawn = _draw_change(path, touch.edits)
            if drawn is not None:
                return drawn
        case _:
            pass
    return ToolPreview(server=touch.server, input=_everything(report)), ()


def _of_readings(readings: Sequence[Reading | None], named_tool: bool) -> list[Effect]:
    """The effects of understood inputs. Of a path that a named MCP tool is given only rules and secrets count."""
    found = [effect for reading in readings if reading is not None for effect in reading.effects]
    return [effect for effect in found if not named_tool or not isinstance(effect, ReadPath)]


def _completed(
    raw: Json, report: ToolReport, readings: Sequence[Reading | None], ground: AgentContext
) -> Reading | None:
    """What an input says together with one that is understood and shares no key with it, where it says nothing by
    itself: some agents send the folder of a command first and the command later."""
    if not isinstance(raw, dict) or not raw:
        return None
    for other, reading in zip(report.inputs, readings, strict=True):
        if other is raw or reading is None or not isinstance(other, dict) or raw.keys() & other.keys():
            continue
        together = read_input({**other, **raw}, report.kind, report.names, ground, report.call_id)
        if together is not None:
            return together
    return None


def _without_repetition(
    number: int, report: ToolReport, readings: Sequence[Reading | None], ground: AgentContext
) -> Reading | None:
    """The reading of an input; an empty one where it only says in which folder a file lies that another input says more
    of."""
    reading, path = readings[number], file_beside_its_folder(report.inputs[number])
    if reading is None or path is None:
        return reading
    others = [each for place, each in enumerate(readings) if place != number and each is not None]
    touched = {effect.path for each in others for effect in each.effects if isinstance(effect, ReadPath | WritePath)}
    places = [file_beside_its_folder(raw) for raw in report.inputs]
    alone = sum(place is not None for place in places) == 1
    return Reading(()) if alone and touched.issuperset(ground.absolute(path)) else reading


def _is_covered(raw: Json, report: ToolReport, readings: Sequence[Reading | None]) -> bool:
    """Whether each string of an input that is not understood stands in one that is, or in a diff of the call."""
    known = {diff.path for diff in report.diffs} | {diff.new_text for diff in report.diffs}
    for other, reading in zip(report.inputs, readings, strict=True):
        if reading is not None:
            known.update(value for value in leaves(other).values() if isinstance(value, str))
    values = leaves(raw).values()
    return bool(known) and all(isinstance(value, str) and value in known for value in values)


def _only_located(report: ToolReport) -> bool:
    """Return true if the reports say only that the call reads, and where."""
    said_more = report.inputs or report.diffs or report.more or any(DOES_MORE.search(name) for name in report.names)
    return report.kind == "read" and bool(report.locations) and not said_more


def _only_titled(report: ToolReport) -> bool:
    """Whether title and text are the only places where a command could stand."""
    words = any(isinstance(value, str) for raw in report.inputs for value in leaves(raw).values())
    return not words and not report.diffs


def _of_diffs(report: ToolReport, ground: AgentContext) -> list[Effect]:
    return [effect for diff in report.diffs for effect in write_effects(diff.path, ground)]


def _says_enough(
    report: ToolReport, readings: Sequence[Reading | None], left_over: Sequence[Json], tools: list[UseTool]
) -> bool:
    """Whether inputs, diffs or names say what the call is. Of several names all must be those of MCP tools."""
    if tools:
        return len(tools) == len(report.names)
    if left_over:
        return False
    return any(reading is not None for reading in readings) or bool(report.diffs) or _only_located(report)


def _kind_says_more(kind: str | None, effects: list[Effect]) -> bool:
    """Whether the claimed kind names something that no effect stands for; then something was not understood."""
    kinds = {type(effect) for effect in effects}
    match kind:
        case "edit":
            return not kinds & {WritePath, RunCommand}
        case "delete" | "move":
            removes = any(isinstance(effect, WritePath) and effect.operation in REMOVES for effect in effects)
            return not removes and RunCommand not in kinds
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
    places = [path for raw in report.inputs if (path := file_beside_its_folder(raw)) is not None]
    folders = {os.path.dirname(path) for path in places if known.issuperset(ground.absolute(path))}
    return [
        effect
        for location in report.locations
        if location.path not in folders and not known & set(ground.absolute(location.path))
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


def _parts_of(command: str, cwd: str, others: Sequence[Effect]) -> bool:
    """Whether the other effects are only parts of this command, listed beside it."""
    return all(isinstance(other, RunCommand) and other.cwd == cwd and other.command in command for other in others)


def _same_file(path: str, effects: Sequence[Effect]) -> bool:
    """Whether the effects are only spellings of one change of this file's text. A diff would hide its deletion."""
    real = _real(path)
    return all(
        isinstance(each, WritePath) and each.operation not in REMOVES and _real(each.path) == real for each in effects
    )


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
    result = _one_result(edits, there)
    if result is None:
        return None
    return preview(place, "create" if there is None else "edit", there, result), (before.state,)


def _one_result(edits: tuple[FileEdit, ...], there: str | None) -> str | None:
    """The text that all edits make which can be computed; None where they differ or none can be."""
    exact = {result for edit in edits if not edit.loose and (result := edit.apply(there)) is not None}
    # These leave open whether the text ends with a newline.
    loose = {result for edit in edits if edit.loose and (result := edit.apply(there)) is not None}
    if len(exact or loose) != 1 or len({result.rstrip("\n") for result in exact | loose}) != 1:
        return None
    return next(iter(exact or loose))


def _everything(report: ToolReport) -> dict[str, Json]:
    """Return everything the agent reported about the call, for a card that can only show it raw."""
    said: dict[str, Json] = {
        "title": report.title,
        "kind": report.kind,
        "name": ", ".join(report.names) or None,
        "rawInput": report.raw_input,
        "earlierInputs": [raw for raw in report.inputs if raw != report.raw_input] or None,
        "text": report.text or None,
        "locations": [location.path for location in report.locations] or None,
        "changes": [
            {"path": diff.path, "oldText": diff.old_text, "newText": diff.new_text} for diff in report.diffs
        ] or None,
    }  # fmt: skip
    return {key: value for key, value in said.items() if value is not None}
