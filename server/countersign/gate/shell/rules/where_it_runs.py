"""Commands that ask for the folder in which they run: most programs write there without naming it (``a.out``).

In a protected folder, and in one of a deny or ask rule for editing, that asks. Where the folder is not known, each
counts into which the text, or a wrapper, goes by words of which it says what they may be (``d=.vscode; cd "$d"``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import is_glob
from countersign.gate.shell.files.spelled_names import may_be_protected
from countersign.gate.shell.files.unfinished_names import folders_of
from countersign.gate.shell.files.word_paths import MAX_MATCHES, moved_places
from countersign.gate.shell.files.word_values import join, matching_paths, meaning
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.filled_words import filled
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.bindings import Facts


def writes_where_it_runs(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> str | None:
    """Return why a command that may write asks for the folder in which it runs; None if it does not."""
    if not analyzed.layers:
        return None
    unwrapped, own = analyzed.step.unwrapped, analyzed.step.command.words
    folders: list[str] = [*(places or ())]
    words: dict[Word, None] = {}
    asks = False
    # Where each wrapper's command runs, and what they run together.
    for carried in dict.fromkeys((*(layer.carried.folders for layer in unwrapped.layers), unwrapped.carried.folders)):
        if carried is None:
            words.update((word, None) for word in own if word.value is None)
            folders += _named_in(own, places or (), context.paths)
        elif carried and places is None:
            words.update((word, None) for word in carried)
        elif carried:
            moved = moved_places(places, carried, context.paths)
            asks = asks or moved is None
            folders += moved or ()
    asks = asks or any(_asks(context, folder) for folder in dict.fromkeys(folders))
    if (
        asks
        or (places is None and _leads_there(context, analyzed.facts))
        or _lead_there(context, analyzed.facts, tuple(words))
    ):
        return f"`{analyzed.names[-1]}` may write where it runs, and writing there asks"
    return None


def _named_in(words: Sequence[Word], places: Sequence[str], paths: PathJudge) -> Sequence[str]:
    """The folders that constant words of a command may name, seen from where it may run and from the workspace."""
    parts = dict.fromkeys(part for word in words if word.value is not None for part in _parts_of(word.value))
    starts = dict.fromkeys((paths.workspace, *places))
    return [join(start, part, paths.home) for start in starts for part in parts if part]


def _parts_of(text: str) -> Iterator[str]:
    """Yield a word, and what may be an option's value in it (``--wd=sub``, ``-rwsub``)."""
    if text[:1] != "-":
        yield text
    elif text[1:2] != "-":
        yield from (text[at:] for at in range(2, min(len(text), _MOST_LETTERS + 2)))
    yield text.partition("=")[2]


def _asks(context: JudgingContext, folder: str) -> bool:
    if folder == context.paths.workspace:
        return False
    found = context.asking_folders.get(folder)
    if found is None:
        context.spent.looks += 1
        finding = context.paths.judge_write(f"{folder}/out", cwd=folder)
        protected = context.paths.is_protected(f"{folder}/out", cwd=folder)
        found = context.asking_folders[folder] = bool(finding.deny or finding.ask or protected)
    return found


def _leads_there(context: JudgingContext, facts: Facts) -> bool:
    """Whether a move of the text may lead into such a folder; worked out once for all of its commands."""
    found = context.asking_moves.get(id(facts))
    if found is None or found[0] is not facts:
        found = context.asking_moves[id(facts)] = facts, _lead_there(context, facts, facts.entered)
    return found[1]


def _lead_there(context: JudgingContext, facts: Facts, words: Sequence[Word]) -> bool:
    """Whether these words may name such a folder, from where the text starts or from another one of them; also if they
    are too many to look each up."""
    paths = context.paths
    if not words:
        return False
    if len(words) > _MOST:
        return True
    found = [meaning(word, facts, paths.home, None) for word in words]
    values = dict.fromkeys(value for each in found for value in each.values)
    patterns = dict.fromkeys(pattern for each in found for pattern in each.patterns)
    for word, each in zip(words, found, strict=True):
        if not each.complete:
            printed = filled(word, facts)
            if printed is None:
                return True
            values.update((text, None) for text in printed if text)
            # The last part is not known (`held/$x`), like that of a pattern.
            values.update((f"{folder}/x", None) for folder in folders_of(word, facts, paths, paths.workspace) if folder)
    for pattern in patterns:
        names = matching_paths(pattern, paths.workspace, MAX_MATCHES, context.spent)
        if names is None and context.rules.limits("Edit"):
            return True
        if any(_asks(context, join(paths.workspace, name, paths.home)) for name in names or ()):
            return True
        parts = pattern.split("/")
        fixed = parts[: next((index for index, part in enumerate(parts) if is_glob(part)), len(parts))]
        if any(fixed):
            values["/".join((*fixed, "x"))] = None
    if len(values) > _MOST or any(map(_may_lead_to_protected, patterns)):
        return True
    starts = (paths.workspace, *(join(paths.workspace, value, paths.home) for value in values))
    return any(_asks(context, join(start, value, paths.home)) for start in starts for value in values)


def _may_lead_to_protected(pattern: str) -> bool:
    """Whether a pattern says something of a protected folder: `packages/*` does not."""
    parts = pattern.rstrip("/").split("/")
    while parts and parts[-1][:1] in {"*", "?", "["}:
        parts.pop()
    return may_be_protected("/".join(parts))


_MOST_LETTERS = 8
"""Letters in one word behind which the value of the last is looked for."""

_MOST = 24
"""Folders of which each is looked for in each of the others."""
