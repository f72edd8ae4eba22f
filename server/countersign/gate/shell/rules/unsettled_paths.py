"""What earlier commands of a text did to the files that a later one names.

Paths are judged as the disk is before the text runs. Behind ``mv keys zz``, ``ln -s . l`` and ``cp -r a b`` the names
below mean other files than it shows, and ``..`` leads elsewhere where a folder was moved; a repository or a program may
be complete only once the text made a part of it. What a later command touches there asks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from countersign.gate.finding import FILE_KINDS, Finding
from countersign.gate.patterns import fold, glob_segment
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import COPYING
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.wire.verdicts import Evidence

_MOVED = Evidence(source="default", reason="an earlier command of the text moves, copies or links what it names")
_COMPLETED = Evidence(source="default", reason="an earlier command of the text makes a part of a git repository")
_PROGRAM = Evidence(source="default", reason="an earlier command of the text may make the program that it runs")

_PARTS = frozenset({"head", "objects", "refs", "commondir"})
"""Of a repository, folded: with ``HEAD`` and one of the others git takes any folder for one."""

_LINKING = frozenset({"-l", "--link", "-s", "--symbolic-link"})
"""Options of a program that copies, by which it makes links."""


@dataclass(slots=True)
class Unsettled:
    """The paths that the commands so far wrote, each with the text of its command, and the ones that may mean something
    else than the disk shows. All are folded."""

    inside_path: Sequence[str]
    made: dict[str, str] = field(default_factory=dict)
    moved: dict[str, None] = field(default_factory=dict)
    lost: bool = False
    """Whether a command ran in a folder that was moved: where the shell goes from there is not known."""

    def repeated(self) -> Unsettled:
        """What holds at the start of a text whose commands may have run before, as in a loop."""
        return Unsettled(self.inside_path, dict(self.made), dict(self.moved))

    def judged(
        self, analyzed: AnalyzedCommand, findings: Sequence[Finding], places: Sequence[str] | None
    ) -> list[Finding]:
        """The findings of the next command, its own first, with what asks for what stands before it."""
        found = list(findings)
        program = analyzed.known[-1].program if analyzed.known else None
        way = program.operands if program is not None and program.operands in COPYING else None
        if self.made:
            self.lost = self.lost or any(_lies_below(fold(place), self.moved) for place in places or ())
            if self.lost and found[0].known_read:
                found[0] = _asking(found[0], _MOVED)._replace(known_read=False)
            elsewhere = self.lost or (bool(self.moved) and _steps_up(analyzed))
            lists = bool(self.moved and analyzed.known) and all(
                use.operation == "list" for use in analyzed.file_uses(-1)
            )
            brought = [path for path, by in self.made.items() if way is not None and by != analyzed.step.command.source]
            for index, each in enumerate(found):
                if each.kind in FILE_KINDS and (elsewhere or self._is_met(each.resource, brought, lists=lists)):
                    found[index] = _asking(each, _MOVED)
            if analyzed.known and analyzed.known[-1].git is not None and self._completes_repository():
                found[0] = _asking(found[0], _COMPLETED)
            if found[0].known_read and any(_lies_below(path, map(fold, self.inside_path)) for path in self.made):
                found[0] = _asking(found[0], _PROGRAM)._replace(known_read=False)
        if way is not None:
            touched = list(dict.fromkeys(each.resource for each in found if each.kind in FILE_KINDS))
            self.moved.update(dict.fromkeys(map(fold, self._renamed(analyzed, way, touched, places))))
        for each in found:
            if each.kind == "write":
                self.made.setdefault(fold(each.resource), analyzed.step.command.source)
        return found

    def _is_met(self, resource: str, brought: Sequence[str], *, lists: bool) -> bool:
        """Whether what is touched may be one of those that were moved, or bring them or one of ``brought`` along."""
        found = _by_pattern(resource)
        path = fold(resource if found is None else found[1])
        if _lies_below(path, self.moved) or (not lists and _lies_above(path, self.moved)):
            return True
        return _lies_above(path, brought)

    def _renamed(
        self, analyzed: AnalyzedCommand, way: str, touched: Sequence[str], places: Sequence[str] | None
    ) -> Iterator[str]:
        """Of what a command moves, copies or links, the paths that then mean something else. Below a folder that is
        there these are the new names alone."""

        def is_folder(path: str) -> bool:
            return disk.is_folder(path) or fold(path) in self.made or path in (places or ())

        links = way == "link" or _makes_links(analyzed)
        by_pattern = [found for found in map(_by_pattern, touched) if found is not None]
        searched = {found[1] for found in by_pattern}
        touched = [path for path in touched if path not in searched and _by_pattern(path) is None]
        if by_pattern:
            # Which names a pattern brings is not said, so all of the target counts.
            if (
                links
                or any(map(disk.is_folder, touched[:-1]))
                or any(_matches_folder(*each.groups()) for each in by_pattern)
            ):
                yield from touched
                yield from searched if way == "move" else ()
            return
        parents = {path.rpartition("/")[0] for path in touched}
        named = [path for path in touched if path not in parents or not is_folder(path)]
        target = touched[-1] if touched else ""
        sources = [path for path in named if path != target] or named
        if not links and not any(disk.is_folder(path) or _lies_above(fold(path), self.made) for path in sources):
            return
        if way == "move":
            yield from sources
        if sources != [target] and is_folder(target):
            yield from (f"{target}/{source.rpartition('/')[2]}" for source in sources)
        alone = sources == [target]  # the other is a folder above it (`ln -s . l`)
        yield from (path for path in named if (alone or path not in sources) and not is_folder(path))

    def _completes_repository(self) -> bool:
        return any(not _PARTS.isdisjoint(path.split("/")) for path in self.made)


_BY_PATTERN = re.compile(r"(.*) \(([^()]*)\)", re.DOTALL)
"""A folder, and the pattern of what is touched in it."""


def _by_pattern(resource: str) -> re.Match[str] | None:
    """What stands for the names that a pattern matches, if nothing has just this name."""
    found = _BY_PATTERN.fullmatch(resource)
    return None if found is None or disk.is_there(resource) else found


def _matches_folder(folder: str, pattern: str) -> bool:
    """Whether a pattern may name a folder in this one."""
    names = glob_segment(pattern.rstrip("/").rpartition("/")[2])
    entries = disk.entries_in(folder)
    return entries is None or any(is_folder is not False and names.may_match(name) for name, is_folder in entries)


def _asking(finding: Finding, said: Evidence) -> Finding:
    if finding.requires_ask is not None:  # asks already, perhaps in more modes than this would
        return finding._replace(allow=None, grant=None)
    return finding._replace(requires_ask=said, auto_lifts=True, allow=None, grant=None)


def _steps_up(analyzed: AnalyzedCommand) -> bool:
    """Whether a word, or a redirection, leads upwards."""
    words = [word for layer in analyzed.layers for word in layer.words]
    words += [redirect.target for redirect in analyzed.step.command.redirects]
    return any(".." in (word.value or word.prefix).split("/") for word in words)


def _lies_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these or lies below one."""
    return any(f"{path}/".startswith(f"{folder}/") for folder in folders)


def _lies_above(path: str, paths: Collection[str]) -> bool:
    """Whether one of these lies below a path."""
    return any(each.startswith(f"{path}/") for each in paths)


def _makes_links(analyzed: AnalyzedCommand) -> bool:
    return any(option.name in _LINKING for option in analyzed.known[-1].arguments.options)
