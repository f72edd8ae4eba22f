"""Commands that ask for the folder in which they run: most programs write there without naming it (``a.out``).

In a protected folder, and in one of a deny or ask rule for editing, that asks. Where the folder is not known, each
counts into which the text, or a wrapper, goes by words of which it says what they may be (``d=.vscode; cd "$d"``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.patterns import is_glob
from countersign.gate.shell.files.spelled_names import may_be_protected
from countersign.gate.shell.files.unfinished_names import folders_of
from countersign.gate.shell.files.word_paths import moved_places
from countersign.gate.shell.files.word_values import join, matching_paths, meaning
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.bindings import Facts


def writes_where_it_runs(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> str | None:
    """Why a command that may write asks for the folder in which it runs; None if it does not."""
    if not analyzed.layers:
        return None
    if any(_asks(context, place) for place in _folders(context, analyzed, places)):
        return f"`{analyzed.names[-1]}` may write where it runs, and writing there asks"
    return None


def _asks(context: JudgingContext, folder: str | None) -> bool:
    if folder is None:
        return True
    if folder == context.paths.workspace:
        return False
    finding = context.paths.judge_write(f"{folder}/out", cwd=folder)
    return bool(finding.deny or finding.ask or context.paths.is_protected(f"{folder}/out", cwd=folder))


def _folders(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> Iterator[str | None]:
    """Yield where a command may run, of what is known; None where too much would have to be looked at."""
    entered = list(analyzed.facts.entered) if places is None else []
    carried = analyzed.step.unwrapped.carried.folders
    if carried is None:
        entered += [word for word in analyzed.step.command.words if word.value is None]
    elif carried and places is not None:
        yield from moved_places(places, carried, context.paths) or (None,)
    elif carried:
        entered += carried
    yield from places or ()
    if entered:
        yield from _entered(context, analyzed.facts, entered)


def _entered(context: JudgingContext, facts: Facts, words: Sequence[Word]) -> Iterator[str | None]:
    """Yield the folders that these words may name, from where the text starts or from one of them; None for a pattern
    that may match a protected one, or if they are too many."""
    paths = context.paths
    found = [meaning(word, facts, paths.home, None) for word in words]
    values = dict.fromkeys(value for each in found for value in each.values)
    patterns = dict.fromkeys(pattern for each in found for pattern in each.patterns)
    for word, each in zip(words, found, strict=True):
        if not each.complete:
            # The last part is not known (`held/$x`), as that of a pattern.
            values.update((f"{folder}/x", None) for folder in folders_of(word, facts, paths, paths.workspace) if folder)
    for pattern in patterns:
        values.update((name, None) for name in matching_paths(pattern, paths.workspace, _MOST, context.spent) or ())
        parts = pattern.split("/")
        fixed = parts[: next((index for index, part in enumerate(parts) if is_glob(part)), len(parts))]
        if any(fixed):
            values["/".join((*fixed, "x"))] = None
    if len(values) > _MOST or any(map(_may_lead_to_protected, patterns)):
        yield None
        return
    for start in (paths.workspace, *(join(paths.workspace, value, paths.home) for value in values)):
        yield from (join(start, value, paths.home) for value in values)


def _may_lead_to_protected(pattern: str) -> bool:
    """Whether a pattern says something of a protected folder: `packages/*` does not."""
    parts = pattern.rstrip("/").split("/")
    while parts and parts[-1][:1] in {"*", "?", "["}:
        parts.pop()
    return may_be_protected("/".join(parts))


_MOST = 24
"""Folders of which each is looked for in each of the others."""
