"""Git with the folder that it runs in: ``git -C packages/web log`` is ``cd packages/web && git log``.

A command that reads is judged as the one without ``-C``, run where the option leads. Words that bash expands where the
command stands, and git takes for names where it runs, are left to a person.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.shell.files.word_values import join, kernel_path, literal
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.languages.git_options import GLOBAL_FLAGS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Glob, Word


class Entered(NamedTuple):
    """The command without its ``-C``, and the folders where it runs then."""

    command: AnalyzedCommand
    places: Sequence[str]


def entered(analyzed: AnalyzedCommand, places: Sequence[str], paths: PathJudge) -> Entered | None:
    """Return the git command as it is where its ``-C`` lead; None if that is not known or not all in the workspace."""
    layer, git = analyzed.layers[-1], analyzed.known[-1].git
    if git is None or layer.start is None:
        return None
    rest = _without_folders(layer.words, git)
    if rest is None or any(word.choices or any(isinstance(piece, Glob) for piece in word.pieces) for word in rest):
        return None
    there = [entered_folder(place, git.folders, paths) for place in places]
    known = [each for each in there if each is not None and paths.inside_workspace(each, cwd="/")]
    if len(known) < len(there):
        return None
    front = analyzed.step.command.words[: layer.start]
    step = analyzed.step.with_words((*front, layer.words[0], *rest))
    return Entered(AnalyzedCommand(step, analyzed.facts), tuple(dict.fromkeys(known)))


def entered_folder(place: str, folders: Sequence[Word], paths: PathJudge) -> str | None:
    """Where git runs that goes from here into each of these folders; None if one is not known, or lies elsewhere than
    its name says. An empty one leaves git where it is."""
    for word in folders:
        if word.value is None:
            return None
        if word.value == "":
            continue
        path = literal(word)
        there = join(place, path, paths.home)
        by_kernel = kernel_path(place, path, paths)
        if by_kernel is None or by_kernel != paths.resolve(there, cwd="/").resolved:
            return None
        place = there
    return place


def _without_folders(words: Sequence[Word], git: Git) -> tuple[Word, ...] | None:
    """The words behind the program's name without ``-C`` and its values; None if other options are in front."""
    found: list[Word] = []
    index, end = 1, git.start - 1
    while index < end:
        if words[index].value == "-C" and index + 1 < end:
            index += 2
        elif words[index].value in GLOBAL_FLAGS:
            found.append(words[index])
            index += 1
        else:
            return None
    return tuple(itertools.chain(found, words[end:]))
