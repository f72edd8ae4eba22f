"""Commands that ask for the folder in which they run: most programs write there without naming it (``a.out``).

In a protected folder, and in one of a deny or ask rule for editing, that asks. Where the folder is not known, each
counts into which the text goes by words of which it says what they may be (``d=.vscode; cd "$d"``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.shell.files.spelled_names import may_be_protected
from countersign.gate.shell.files.word_values import join, meaning
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.variables.bindings import Facts


def writes_where_it_runs(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> str | None:
    """Why a command that may write asks for the folder in which it runs; None if it does not."""
    if not analyzed.layers:
        return None
    if any(_asks(context, place) for place in (_entered(context, analyzed.facts) if places is None else places)):
        return f"`{analyzed.names[-1]}` may write where it runs, and writing there asks"
    return None


def _asks(context: JudgingContext, folder: str | None) -> bool:
    if folder is None:
        return True
    if folder == context.paths.workspace:
        return False
    finding = context.paths.judge_write(f"{folder}/out", cwd=folder)
    return bool(finding.deny or finding.ask or context.paths.is_protected(f"{folder}/out", cwd=folder))


def _entered(context: JudgingContext, facts: Facts) -> Iterator[str | None]:
    """Yield the folders into which a text goes, from where it starts or from one of these; None for a pattern that may
    match a protected one."""
    paths = context.paths
    found = [meaning(word, facts, paths.home, None) for word in facts.entered]
    values = tuple(dict.fromkeys(value for each in found for value in each.values))[:_MOST]
    starts = (paths.workspace, *(join(paths.workspace, value, paths.home) for value in values))
    for start in starts:
        yield from (join(start, value, paths.home) for value in values)
    if any(_may_lead_to_protected(pattern) for each in found for pattern in each.patterns):
        yield None


def _may_lead_to_protected(pattern: str) -> bool:
    """Whether a pattern says something of a protected folder: `packages/*` does not."""
    parts = pattern.rstrip("/").split("/")
    while parts and parts[-1][:1] in {"*", "?", "["}:
        parts.pop()
    return may_be_protected("/".join(parts))


_MOST = 16
"""Folders of which each is looked for in each of the others."""
