"""Which paths mean something else once a command has run that moves, copies or links folders.

Paths are judged as the disk is before the text runs. By the time a later command runs, a folder or a link may stand
where it did not, or may be gone. That changes the meaning of every path that passes the place, also by a link or by
``..`` (``PathJudge.is_moved``). Plain files that are moved or copied need none of this: they are judged where they are
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import COPYING, ProgramReading
from countersign.gate.shell.files.derived_names import BACKING_UP, backups_of
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.files.links_below import holds_hidden_secrets
from countersign.gate.shell.files.word_paths import MAX_MATCHES, moved_places
from countersign.gate.shell.files.word_values import matching_paths, meaning, plain_path
from countersign.gate.shell.languages.git_pathspec import has_wildcard
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.syntax.tree import Word

COPIERS = names_with("copies")
"""Programs that copy, although their rows do not say which operand is the copy."""

_LINKING = ("-l", "--link", "-s", "--symbolic-link")
"""Options of a program that copies, by which it makes links."""
_WITH_PARENTS = ("-p", "--parents")
"""With these a program takes away the folders above as well."""
_IN_PLACE_OF = ("-T", "--no-target-directory", "-n", "--no-dereference", "-h", "--parents", "--exchange")
"""Options with which the target itself may become another, or more names below it than those of the sources."""

_MOST_FOLDERS = 200
"""Folders of a source in which hard links and secrets are looked for."""

EVERYWHERE = ""
"""The top of all paths."""


def arranges(analyzed: AnalyzedCommand, index: int) -> bool:
    """Whether a layer of a command brings what lies in one place to another."""
    row = analyzed.known[index].program
    return (row is not None and row.operands in COPYING) or analyzed.names[index] in COPIERS


def moved_paths(
    context: JudgingContext,
    analyzed: AnalyzedCommand,
    places: Sequence[str] | None,
    gone_before: frozenset[str],
    files_before: frozenset[str],
) -> tuple[set[str], set[str], set[str]]:
    """Three sets of folded paths: at and below the first, something else may stand once the command has run; so it may
    at and below the second, where it is a folder whose links are known; and at the third perhaps nothing stands any
    more. ``gone_before``: where earlier commands took something away; ``files_before``: where they put plain files."""
    moved: set[str] = set()
    carried: set[str] = set()
    gone: set[str] = set()
    for index, (layer, known) in enumerate(zip(analyzed.layers, analyzed.known, strict=True)):
        uses = [each for each in analyzed.file_uses(index) if each.operation not in ("read", "list")]
        if not uses:
            continue
        arranging = arranges(analyzed, index)
        with_parents = known.arguments.may_have(*_WITH_PARENTS)
        backs_up = known.arguments.may_have(*backups_of(analyzed.names[index]))
        there = moved_places(places, layer.carried.folders, context.paths)
        for place in there if there is not None else (context.start,):
            at = _At(context, analyzed, place, gone_before, files_before)
            for each in uses:
                if each.operation in ("delete", "move"):
                    taken = {fold(entry) for value in at.values(each.word) for entry in at.entries(value)}
                    gone |= taken
                    if each.operation == "delete" and with_parents:
                        gone.update(str(above) for path in taken for above in PurePosixPath(path).parents[:-1])
                    if known.git is not None and any(map(_is_pathspec, at.values(each.word))):
                        gone.add(EVERYWHERE)  # git matches these with its index
                elif each.removes:
                    gone |= {fold(entry) for value in at.values(each.word) for entry in at.entries(value)}
                elif gone_before:
                    moved.update(at.put_in_place_of_a_link(each))
                if each.operation == "write" and backs_up:
                    moved.update(at.renamed_links(each))
            if arranging and (found := set(at.arranged(index, known))):
                if there is None:
                    moved.add(EVERYWHERE)
                elif at.carries_plain_folders(index, known):
                    carried |= found
                else:
                    moved |= found
    return _tops(moved), _tops(carried), _tops(gone)


def _is_pathspec(value: str | None) -> bool:
    """Whether git may match a path with names other than it."""
    return value is None or value.startswith(":") or has_wildcard(value)


def _tops(paths: set[str]) -> set[str]:
    return {path.rstrip("/") for path in paths}


def _holds_hidden_secrets(folder: str) -> bool:
    return holds_hidden_secrets(folder, most=_MOST_FOLDERS)


def given_names(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> Iterator[str]:
    """The names that a command which moves, copies or links gives to what a pattern matches."""
    for index in range(len(analyzed.layers)):
        if not arranges(analyzed, index):
            continue
        for each in analyzed.file_uses(index):
            if each.operation in ("read", "move") and each.word.value is None:
                for place in places or (context.start,):
                    found = _At(context, analyzed, place, frozenset(), frozenset()).values(each.word)
                    yield from (value.rstrip("/").rpartition("/")[2] for value in found if value is not None)


def entries(paths: PathJudge, value: str, place: str) -> Iterator[str]:
    """The places where a name stands, whatever it leads to: as it is spelled, and as the kernel finds it. A name
    that no file can have yields nothing, since every use of it is refused."""
    found = paths.resolve(value, cwd=place)
    if found.refused is not None:
        return
    yield found.lexical
    above, slash, name = value.rstrip("/").rpartition("/")
    if name in ("", ".", ".."):
        yield found.resolved or found.lexical
        return
    folder = paths.resolve(f"{above}/" if slash else ".", cwd=place).resolved
    if folder is not None:
        yield f"{folder.rstrip('/')}/{name}"


class _At:
    """One command in one place."""

    def __init__(
        self,
        context: JudgingContext,
        analyzed: AnalyzedCommand,
        place: str,
        gone_before: frozenset[str],
        files_before: frozenset[str],
    ) -> None:
        self._paths: PathJudge = context.paths
        self._analyzed, self._place, self._gone, self._files = analyzed, place, gone_before, files_before

    def values(self, word: Word) -> list[str | None]:
        """The paths that a word may stand for; None for one that is not known."""
        meant = meaning(word, self._analyzed.facts, self._paths.home, self._place)
        found: list[str | None] = [*meant.values]
        for pattern in meant.patterns:
            matches = matching_paths(pattern, self._place, MAX_MATCHES, self._paths.spent)
            # Where nothing matches, bash hands on the pattern itself, or what the text makes matches by then.
            found += matches or (plain_path(pattern), *((None,) if self._paths.expects_changes else ()))
            if matches is None:
                found.append(None)
        return found if meant.complete else [*found, None]

    def entries(self, value: str | None) -> Iterator[str]:
        """The places of a name; the top of all for one that is not known."""
        if value is None:
            yield EVERYWHERE
        else:
            yield from entries(self._paths, value, self._place)

    def put_in_place_of_a_link(self, file_use: FileUse) -> Iterator[str]:
        """Where something is made in the place of a link that was taken away."""
        made: set[str] = set()
        for value in self.values(file_use.word):
            into = () if value is None or not file_use.into else (f"{value}/{file_use.into}",)
            for each in (value, *into):
                for entry in self.entries(each):
                    above = entry  # folders above it may be made as well
                    while above and above not in made:
                        made.add(above)
                        above = above.rpartition("/")[0]
        for path in made:
            if self._is_gone((path,)) and isinstance(disk.link_target(path), str):
                yield fold(path)

    def renamed_links(self, file_use: FileUse) -> Iterator[str]:
        """The folder of a link that becomes a backup under another name."""
        for value in self.values(file_use.word):
            for name in ("", file_use.into or "") if value is not None else ():
                for entry in self.entries(f"{value}/{name}" if name else value):
                    if isinstance(disk.link_target(entry), str):
                        yield fold(entry).rpartition("/")[0]

    def _is_gone(self, ways: Iterable[str]) -> bool:
        """Whether one of these paths may have been taken away, with a folder above it or by itself."""
        return any(above in self._gone for way in ways for above in _and_above(fold(way)))

    def arranged(self, index: int, known: ProgramReading) -> Iterator[str]:
        """What a command that moves, copies or links puts in another's place, if it may be more than plain files."""
        uses = self._analyzed.file_uses(index)
        row, found = known.program, known.arguments
        sources = [each for each in uses if each.operation in ("read", "move") and not each.runs]
        if not sources and self._analyzed.names[index] in COPIERS:
            # All its operands get other names, and which these are is not known.
            yield fold(self._place)
            return
        named = [value for each in sources for value in self.values(each.word)]
        written = [each for each in uses if each.operation == "write"]
        # What a link leads to is written by whoever writes to the link.
        words = {each.word for each in written if each.into is not None} or {each.word for each in written}
        targets = [value for word in words for value in self.values(word)]
        names = {None if value is None else value.rpartition("/")[2] for value in named}
        links = (row is not None and row.operands == "link") or found.may_have(*_LINKING)
        in_place = found.may_have(*_IN_PLACE_OF) or self._analyzed.names[index] in COPIERS
        backs_up = found.may_have(*BACKING_UP) and any(
            None in names or self._may_be_tree(value if in_place else None if value is None else f"{value}/{name}")
            for value in targets
            for name in names
        )
        if not (links or backs_up or any(map(self._may_be_tree, named))):
            return
        in_place = in_place or backs_up or not names.isdisjoint({None, "", ".", ".."})
        for each in sources:
            if each.operation == "move":
                yield from (fold(entry) for value in self.values(each.word) for entry in self.entries(value))
        for value in targets:
            if value is None or in_place or not self._stays(value):
                yield from map(fold, self.entries(value))
            if backs_up and value is not None:
                yield from map(fold, self.entries(f"{value.rstrip('/')}/.."))
            for name in names if value is not None else ():
                yield from map(fold, self.entries(f"{value}/{name}" if name else value))

    def carries_plain_folders(self, index: int, known: ProgramReading) -> bool:
        """Whether all that a command moves or copies is there now, and holds no hard link and no secret. Where its
        symlinks will be is known (``brought_links.py``)."""
        row, found = known.program, known.arguments
        if (row is not None and row.operands == "link") or found.may_have(*_LINKING, *BACKING_UP, "--exchange"):
            return False
        sources = [each for each in self._analyzed.file_uses(index) if each.operation in ("read", "move")]
        return all(self._is_plain(value) for each in sources for value in self.values(each.word))

    def _is_plain(self, value: str | None) -> bool:
        if value is None:
            return False
        found, paths = self._paths.resolve(value, cwd=self._place), self._paths
        if paths.is_moved(found, below=True) or paths.may_be_made(found) or paths.may_hold_links(found):
            return False
        if found.kind != "folder":
            return found.kind == "missing" or (found.kind == "file" and found.links == 1)
        return found.resolved is not None and not disk.combined(_holds_hidden_secrets, found.resolved)

    def _may_be_tree(self, value: str | None) -> bool:
        """Whether a source may be a folder, or hold what an earlier command of the text put there."""
        if value is None:
            return True
        found, paths = self._paths.resolve(value, cwd=self._place), self._paths
        return (
            paths.is_moved(found, below=True)
            or (paths.may_be_made(found) and fold(found.lexical) not in self._files)
            or (found.kind != "file" and paths.may_hold_links(found))
            or disk.is_folder(found.resolved or found.lexical)
        )

    def _stays(self, value: str) -> bool:
        """Whether a target is a folder that stays what it is. One that the text makes may not be there after all."""
        found = self._paths.resolve(value, cwd=self._place)
        if self._is_gone((*found.spellings(), *found.passed)):
            return False
        if self._paths.is_moved(found) or self._paths.may_be_filled(found):
            return False
        return disk.is_folder(found.resolved or found.lexical)


def _and_above(path: str) -> Iterator[str]:
    """A path and the folders above it, the last of which is empty."""
    yield path
    while path:
        path = path.rpartition("/")[0]
        yield path
