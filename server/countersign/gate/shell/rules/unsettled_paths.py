"""What earlier commands of a text did to the files that a later one names.

Behind ``mv keys zz``, ``ln -s . l`` and ``cp -r a b`` names mean other files than the disk shows before the text runs
(``moved_paths.py``); the shell may stand in a folder that was moved; and a repository or a program may be complete only
once the text made a part of it. What a later command touches there asks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from countersign.gate.finding import FILE_KINDS, Finding
from countersign.gate.paths.path_judge import MOVED, PathJudge
from countersign.gate.paths.resolve import PATH_BYTES
from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.shell.files.derived_names import makes_names
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


By = tuple[str, tuple[str, ...] | None]
"""A command by its text and the folders where it may run; it stays the same in all its readings."""

Kept = tuple[str, By, bool]
"""A path that a command wrote, folded, and whether it may have written files below it under names of their own."""

State = tuple[int, bool, bool]
"""What was kept so far, as a value."""


@dataclass(slots=True)
class Unsettled:
    """The paths that the commands so far wrote."""

    inside_path: Sequence[str]
    given: Collection[str]
    """Names that commands so far gave to what a pattern matched."""
    kept: dict[Kept, None] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    """These paths."""
    above: dict[str, set[By]] = field(default_factory=dict)
    """The folders below which something was written, each with the commands that did."""
    below: dict[str, set[By]] = field(default_factory=dict)
    """Those whose commands may have written anything below them."""
    ran: bool = False
    """Whether a command ran before; one command may be judged in several readings."""
    arranged: bool = False
    """Whether a command moved, copied or linked files."""
    lost: bool = False
    """Whether a command ran in a folder that was moved: where the shell goes from there is not known."""

    def judged(
        self,
        analyzed: AnalyzedCommand,
        findings: Sequence[Finding],
        redirected: Collection[int],
        targets: Collection[int],
        places: Sequence[str] | None,
        paths: PathJudge,
    ) -> list[Finding]:
        """The findings of the next command, its own first, with what asks for what stands before it. Those of its
        redirections are ``redirected``: bash opens these files before it starts the command; ``targets`` are those of
        what its words say it writes."""
        found = list(findings)
        if not self.lost and places is not None:
            self.lost = any(paths.is_moved(paths.resolve(place, cwd="/")) for place in places)
        if self.lost:
            found = [_asking(each, _MOVED) if each.kind in FILE_KINDS else each for each in found]
            found[0] = _asking(found[0], _MOVED) if found[0].known_read else found[0]
        arranging = any(_takes_names(analyzed, index) for index in range(len(analyzed.layers)))
        by = analyzed.step.command.source, None if places is None else tuple(places)
        opening = f"{by[0]} (opened)", by[1]
        for index in range(len(found)) if _write_in_turn(analyzed) else redirected:
            if found[index].kind == "write":
                self.keep(_kept(found[index].resource, opening, paths, arranging=arranging))
        self.arranged = self.arranged or arranging
        if self.made and arranging:
            own = {by}
            for index, each in enumerate(found):
                if index in targets or each.kind not in FILE_KINDS:
                    continue  # what stands where a command writes gives it no names
                if self._wrote_what(each.resource) - own:
                    found[index] = _asking(each, _MOVED)
        git = analyzed.known[-1].git if analyzed.known else None
        if (
            git is not None
            and (self.ran or runs_in_turn(analyzed.step))
            and (
                _hold_parts((*self.made, *map(fold, self.given), *paths.moved))
                or any(_is_new(git, place, paths) for place in places or ())
            )
        ):
            found[0] = _asking(found[0], _COMPLETED)
        if found[0].known_read and self._has_programs():
            found[0] = _asking(found[0], _PROGRAM)
        for index, each in enumerate(found):
            if each.kind == "write" and index not in redirected:
                self.keep(_kept(each.resource, by, paths, arranging=arranging))
        return found

    def _wrote_what(self, resource: str) -> set[By]:
        """The commands that may have written below this path, or what the pattern in it matches."""
        found = set(self.above.get(fold(resource), ()))
        matched = _BY_PATTERN.fullmatch(resource)
        if matched is not None:
            folder = fold(matched[1])
            found |= self.above.get(folder, set())
            end = len(folder) if self.below else -1
            while end >= 0:
                found |= self.below.get(folder[:end], set())
                end = folder.rfind("/", 0, end)
        return found

    def keep(self, kept: Kept) -> None:
        if kept in self.kept:
            return
        path, by, below = kept
        self.kept[kept] = None
        self.made.add(path)
        if below:
            self.below.setdefault(path, set()).add(by)
        # No use of a path that is too long is allowed, so it is not looked for either.
        end = (len(path) if below else path.rfind("/")) if len(path) <= PATH_BYTES else -1
        while end >= 0:
            commands = self.above.setdefault(path[:end], set())
            if by in commands:
                return  # and so it is above that
            commands.add(by)
            end = path.rfind("/", 0, end)

    @property
    def state(self) -> State:
        """The same for as long as an equal command means the same."""
        return len(self.kept), self.ran, self.lost

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


def _takes_names(analyzed: AnalyzedCommand, index: int) -> bool:
    """Whether a layer of a command makes names of those that it finds."""
    name, words, known = analyzed.names[index], analyzed.layers[index].words, analyzed.known[index]
    return arranges(analyzed, index) or makes_names(name, words, known)


def _write_in_turn(analyzed: AnalyzedCommand) -> bool:
    """Whether a command runs several that write, so that each may run behind another."""
    writing = (
        any(each.operation not in ("read", "list") for each in analyzed.file_uses(index))
        for index in range(len(analyzed.layers))
    )
    return runs_in_turn(analyzed.step) and sum(writing) > 1


def _kept(resource: str, by: By, paths: PathJudge, *, arranging: bool) -> Kept:
    matched = _BY_PATTERN.fullmatch(resource)
    path = matched[1] if matched is not None else resource
    return fold(path), by, matched is not None or _may_be_folder(path, paths, made=arranging)


def _may_be_folder(resource: str, paths: PathJudge, *, made: bool) -> bool:
    """Whether a command that writes to this path may do so under other names below it."""
    found = paths.resolve(resource, cwd=paths.workspace)
    return found.kind == "folder" or (made and paths.may_be_made(found))


_BY_PATTERN = re.compile(r"(.*) \(([^()]*)\)", re.DOTALL)
"""A folder, and the pattern of what is touched in it."""


def _asking(finding: Finding, said: Evidence) -> Finding:
    if finding.requires_ask is not None and not finding.auto_lifts:
        return finding._replace(allow=None, grant=None, known_read=False)
    return finding._replace(requires_ask=said, auto_lifts=False, allow=None, grant=None, known_read=False)
