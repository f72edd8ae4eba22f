"""What an agent tells of a call that it asked about, compared with what it had asked: effects with effects.

Agents tell a call several times and in several shapes, so nothing but the effects that follow from all that they say
counts. Words that stand beside an input are none of it: many agents put a call's output there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from countersign.agents.acp.effects import REMOVES, work_out
from countersign.agents.acp.reading import AgentContext, without_nul
from countersign.agents.acp.translate import Diff, ToolReport
from countersign.gate import Effect, ReadPath, RunCommand, UseTool, WritePath

CLOCK_TICK = 20_000_000
"""Nanoseconds by which a file's time may lie behind the clock."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for permission: what the agent had reported about its call, the effects that the gate judged, and
    when it came (nanoseconds of the clock; a file that has not changed since then was not touched by the call)."""

    report: ToolReport
    effects: tuple[Effect, ...]
    at: int = 0


def blocking_exceeding(asked: Sequence[Asked], told: ToolReport, ground: AgentContext) -> list[Effect]:
    """Return the effects that the agent tells of and that none of its requests for this call had."""
    known: list[Effect] = []
    for one in asked:
        # Worked out anew as well: a file or a folder may be there by now that was not, or the other way round.
        known += (*one.effects, *work_out(one.report, ground).effects)
    said = replace(told, text=asked[-1].report.text) if asked else told
    if asked and "execute" not in {told.kind, *(one.report.kind for one in asked)}:
        said = replace(said, title=asked[-1].report.title)
    if asked:
        since = min(one.at for one in asked)
        repeated = {diff for diff in said.diffs if _only_repeats(diff, known, ground, since)}
        said = replace(said, diffs=tuple(diff for diff in said.diffs if diff not in repeated))
    effects = work_out(said, ground).effects
    removal = told.kind if told.kind in REMOVES and told.kind not in {one.report.kind for one in asked} else None
    if removal is not None:
        effects = tuple(replace(each, operation=removal) if isinstance(each, WritePath) else each for each in effects)
    covers = _Covers(known)
    return [effect for effect in effects if not covers.covers(effect)]


def blocking_reads_inside(effects: Iterable[Effect], ground: AgentContext) -> bool:
    """Whether all that these do is to read inside the workspace."""
    inside = os.path.realpath(ground.workspace or ground.folder)
    return all(isinstance(effect, ReadPath) and Path(_real(effect.path)).is_relative_to(inside) for effect in effects)


def _only_repeats(diff: Diff, known: Iterable[Effect], ground: AgentContext, since: int) -> bool:
    """Whether a diff names the end of a path that was asked for, and the file that it would name in the agent's own
    folder is as it was: some agents report a change under the bare name of its file, wherever that lies."""
    parts = diff.path.split(os.sep)
    if diff.new_text is None or not all(part and part not in (".", "..", "~") for part in parts):
        return False
    written = any(isinstance(each, WritePath) and each.path.endswith(f"{os.sep}{diff.path}") for each in known)
    return written and all(_unchanged_since(path, since) for path in ground.absolute(diff.path))


def _unchanged_since(path: str, since: int) -> bool:
    try:
        return os.lstat(path).st_ctime_ns < since - CLOCK_TICK
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False


class _Covers:
    """The effects that were asked for, by what they touch. A class because they are looked up for each told one."""

    def __init__(self, effects: Sequence[Effect]) -> None:
        self._effects = frozenset(effects)
        self._commands = {(each.command, _real(each.cwd)) for each in effects if isinstance(each, RunCommand)}
        writes = [each for each in effects if isinstance(each, WritePath)]
        self._written = {path for each in writes for path in (each.path, _real(each.path))}
        self._removed = {path for each in writes if each.operation in REMOVES for path in (each.path, _real(each.path))}
        reads = [each for each in effects if isinstance(each, ReadPath)]
        self._read = {path for each in reads for path in (each.path, _real(each.path))}
        self._below = {_real(each.path) for each in reads if each.below}
        # A person allowed it as it stood. What could be meant by it is among the effects, as both reads and writes.
        self._unknown = any(isinstance(each, UseTool) and each.name.startswith("acp:") for each in effects)

    def covers(self, effect: Effect) -> bool:
        match effect:
            case RunCommand():
                return (effect.command, _real(effect.cwd)) in self._commands
            case WritePath():
                removes = effect.operation in REMOVES and not self._unknown
                return not {effect.path, _real(effect.path)}.isdisjoint(self._removed if removes else self._written)
            case ReadPath():
                return self._covers_read(effect)
            case UseTool() if effect.name.startswith("acp:"):
                return self._unknown
            case _:
                return effect in self._effects

    def _covers_read(self, effect: ReadPath) -> bool:
        real = _real(effect.path)
        if not effect.below and not {effect.path, real}.isdisjoint(self._read | self._written):
            return True
        return any(real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in self._below)


def _real(path: str) -> str:
    return os.path.realpath(without_nul(path))
