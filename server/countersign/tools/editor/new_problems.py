"""Problems that the editor shows in a file after the built-in agent changed it, appended to the result of the change.

They are reported only where ``get_diagnostics`` of that file would run without asking anybody at that moment. They
never hold up or fail the change itself: the first question goes out beside it, and the second is bounded.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from countersign.gate import Outcome, in_worker
from countersign.tools.cancellation import note_how_far
from countersign.tools.clip import lines_that_fit
from countersign.tools.editor.asking import NoAnswer, ask_editor
from countersign.tools.editor.get_diagnostics import diagnostic_line
from countersign.tools.editor.screened import MARK, Screened, blocking_screened
from countersign.tools.places import Place
from countersign.tools.tool import ToolContext
from countersign.wire.editor import EditorDiagnostic, EditorDiagnosticsParams, EditorDiagnosticsResult

log = logging.getLogger(__name__)
MAY_DIAGNOSE_SERVICE = "may diagnose"
"""Name in ``ToolContext.services`` of a ``Callable[[str], bool]``, called in threads: whether ``get_diagnostics`` of
this file would run now without asking anybody."""
SECONDS = 5.0
"""Of each question; the client waits 3 at most for the editor to check a changed file."""
MOST_TOLD = 20
MOST_BYTES = 4 << 10


async def with_new_problems(place: Place, bench: ToolContext, change: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """Make a change of this file and append what the editor shows in it afterwards and did not show before.

    Cancelled: as ``change``; once that is done, its outcome is noted on the cancellation.
    """
    before = asyncio.ensure_future(_problems(place, bench, changed=False))
    try:
        outcome = await change()
        if not outcome.success:
            return outcome
        try:
            shown = await before
            now = None if shown is None else await _problems(place, bench, changed=True)
        except asyncio.CancelledError as cancelled:
            note_how_far(cancelled, outcome)
            raise
        return outcome if shown is None or now is None else _told(outcome, _new(shown, now))
    finally:
        if not before.done():
            before.cancel()
            await asyncio.wait([before])


async def _problems(
    place: Place, bench: ToolContext, *, changed: bool
) -> Sequence[tuple[Place, EditorDiagnostic]] | None:
    """Return the errors and warnings of the file; None where they must not be shown or nobody answers."""
    try:
        return await _asked(place, bench, changed=changed)
    except Exception:  # the change was made, whatever goes wrong beside it
        log.exception("the problems of a changed file are not known")
        return None


async def _asked(place: Place, bench: ToolContext, *, changed: bool) -> Sequence[tuple[Place, EditorDiagnostic]] | None:
    may_diagnose: Callable[[str], bool] | None = bench.services.get(MAY_DIAGNOSE_SERVICE)
    if may_diagnose is None or not await in_worker(may_diagnose, place.resolved):
        return None
    params = EditorDiagnosticsParams(path=place.resolved, changed=changed)
    try:
        async with asyncio.timeout(SECONDS):
            answer = await ask_editor(bench, "editor/diagnostics", params, EditorDiagnosticsResult)
    except (NoAnswer, TimeoutError):
        return None
    screened: Screened[EditorDiagnostic] = await in_worker(blocking_screened, answer.diagnostics, bench.policy())
    if changed and not await in_worker(may_diagnose, place.resolved):
        return None  # the rules changed while the editor was asked
    return [
        (of, each)
        for of, each in screened.kept
        if of.resolved == place.resolved and each.severity in ("error", "warning")
    ]


def _new(
    before: Sequence[tuple[Place, EditorDiagnostic]], now: Sequence[tuple[Place, EditorDiagnostic]]
) -> list[tuple[Place, EditorDiagnostic]]:
    """Return the problems of now without those of before; a change moves lines, so they do not count."""
    known = Counter(map(_key, before))
    new: list[tuple[Place, EditorDiagnostic]] = []
    for entry in sorted(now, key=lambda entry: entry[1].severity):
        if known[_key(entry)] > 0:
            known[_key(entry)] -= 1
        else:
            new.append(entry)
    return new


def _key(entry: tuple[Place, EditorDiagnostic]) -> tuple[str, str, str | None, str | None]:
    problem = entry[1]
    return problem.severity, problem.message, problem.source, problem.code


def _told(outcome: Outcome, new: Sequence[tuple[Place, EditorDiagnostic]]) -> Outcome:
    if not new:
        return outcome
    lines = [diagnostic_line(place, problem) for place, problem in new[:MOST_TOLD]]
    fit = lines[: lines_that_fit(lines, MOST_BYTES)]
    count = "1 problem" if len(new) == 1 else f"{len(new)} problems"
    told = f"the editor shows {count} in this file that it did not show before"
    if len(fit) < len(new):
        told += f"; the first {len(fit)} of them"
    text = "\n".join([outcome.output, f"{told}:", MARK, *fit])
    return replace(outcome, output=text, record={**outcome.record, "newProblems": len(new)})
