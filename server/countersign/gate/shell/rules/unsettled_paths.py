"""What earlier commands of a text did to the files that a later one names.

Behind ``mv keys zz``, ``ln -s . l`` and ``cp -r a b`` names mean other files than the disk shows before the text runs
(``moved_paths.py``); the shell may stand in a folder that was moved; and a repository or a program may be complete only
once the text made a part of it. What a later command touches there asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from countersign.gate.finding import FILE_KINDS, Finding
from countersign.gate.paths.path_judge import MOVED, PathJudge
from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.shell.files.word_values import join, literal
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.moved_paths import arranges
from countersign.gate.shell.rules.texts_inside import runs_in_turn
from countersign.wire.verdicts import Evidence

_MOVED = Evidence(source="default", reason=MOVED)
_COMPLETED = Evidence(source="default", reason="an earlier command of the text may put a git repository there")
_PROGRAM = Evidence(source="default", reason="an earlier command of the text may make the program that it runs")

_PARTS = frozenset({"head", "objects", "refs", "commondir"})
"""Of a repository, folded: with ``HEAD`` and one of the others git takes any folder for one."""


@dataclass(slots=True)
class Unsettled:
    """The paths that the commands so far wrote, folded, each with the text of its command."""

    inside_path: Sequence[str]
    made: dict[str, str] = field(default_factory=dict)
    above: dict[str, set[str]] = field(default_factory=dict)
    """The folders above these, each with the texts of the commands that wrote below it."""
    ran: bool = False
    """Whether a command ran before; one command may be judged in several readings."""
    lost: bool = False
    """Whether a command ran in a folder that was moved: where the shell goes from there is not known."""

    def judged(
        self, analyzed: AnalyzedCommand, findings: Sequence[Finding], places: Sequence[str] | None, paths: PathJudge
    ) -> list[Finding]:
        """The findings of the next command, its own first, with what asks for what stands before it."""
        found = list(findings)
        if not self.lost and places is not None:
            self.lost = any(paths.is_moved(paths.resolve(place, cwd="/")) for place in places)
        if self.lost:
            found = [_asking(each, _MOVED) if each.kind in FILE_KINDS else each for each in found]
            found[0] = _asking(found[0], _MOVED) if found[0].known_read else found[0]
        if self.made and analyzed.names and arranges(analyzed, -1):
            own = {analyzed.step.command.source}
            for index, each in enumerate(found):
                if each.kind in FILE_KINDS and any(self.above.get(path, own) - own for path in _meant(each.resource)):
                    found[index] = _asking(each, _MOVED)
        git = analyzed.known[-1].git if analyzed.known else None
        if (
            git is not None
            and (self.ran or runs_in_turn(analyzed.step))
            and (_hold_parts((*self.made, *paths.moved)) or any(_is_new(git, place, paths) for place in places or ()))
        ):
            found[0] = _asking(found[0], _COMPLETED)
        if found[0].known_read and self._has_programs():
            found[0] = _asking(found[0], _PROGRAM)
        for each in found:
            if each.kind == "write":
                self.keep(fold(each.resource), analyzed.step.command.source)
        return found

    def keep(self, path: str, command: str) -> None:
        """Keep that this command wrote this path, which is folded."""
        if path in self.made:
            return
        self.made[path] = command
        end = path.rfind("/")
        while end >= 0:
            self.above.setdefault(path[:end], set()).add(command)
            end = path.rfind("/", 0, end)

    @property
    def completes(self) -> bool:
        """Whether something that was made may complete a repository, or be a program that a bare name finds."""
        return bool(self.made) and (_hold_parts(self.made) or self._has_programs())

    def _has_programs(self) -> bool:
        return any(folder in self.made or folder in self.above for folder in map(fold, self.inside_path))


def _hold_parts(paths: Iterable[str]) -> bool:
    return any(not _PARTS.isdisjoint(path.split("/")) for path in paths)


def _is_new(git: Git, place: str, paths: PathJudge) -> bool:
    """Whether git works in a folder where earlier commands of the text may have put a repository."""
    for word in git.folders:
        if word.value is None:
            return False  # it asks in any case
        place = join(place, literal(word), paths.home)
    found = paths.resolve(place, cwd="/")
    return paths.is_moved(found) or (paths.may_be_filled(found) and not disk.is_there(f"{place}/.git"))


_BY_PATTERN = re.compile(r"(.*) \(([^()]*)\)", re.DOTALL)
"""A folder, and the pattern of what is touched in it."""


def _meant(resource: str) -> Iterator[str]:
    """The folded path that a finding is about, and the folder of one that may be about the matches of a pattern."""
    yield fold(resource)
    if (found := _BY_PATTERN.fullmatch(resource)) is not None:
        yield fold(found[1])


def _asking(finding: Finding, said: Evidence) -> Finding:
    if finding.requires_ask is not None and not finding.auto_lifts:
        return finding._replace(allow=None, grant=None, known_read=False)
    return finding._replace(requires_ask=said, auto_lifts=False, allow=None, grant=None, known_read=False)
