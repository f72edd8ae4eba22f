"""Names that a program makes out of those that its words name: backups and archives with an ending, what lies in them
without it, and pieces of a file (``gunzip -S x .envrcx``, ``cp -b -S rc a .npm``, ``split big .env``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from countersign.gate.paths.sensitive_paths import PROTECTED
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.bounded_walk import TooMuchError, walk
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.files.word_values import literal
from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_ENDINGS = {key[0]: tuple(options.split()) for key, options in FACETS["name_endings"].items()}
"""By program its options that say which ending the names of copies and archives get, or had."""
_BEGINNINGS = {key[0]: tuple(options.split()) for key, options in FACETS["name_beginnings"].items()}
"""The same for what stands in front of them."""

BACKING_UP = ("-b", "--backup", "-S", "--suffix")
"""Options by which copies and moves keep what stood at their target."""

_PACKED = re.compile(
    r"(.+)(?:\.(?:gz|z|bz2?|xz|zst|lzma|lz4?|lzo|br|zz|zip|lrz|rz)|-gz|-z|_z)", re.DOTALL | re.IGNORECASE
)
_KEPT_WITH = {key[0]: tuple(options.split()) for key, options in FACETS["operands_kept_with"].items()}
"""By program the options with which it leaves alone what it else rewrites: `-l` and `--diff` mean something else in
each."""
_KEPT_BESIDE = {key[0]: frozenset(options.split()) for key, options in FACETS["operands_kept_beside"].items()}
"""By program those that may stand beside these: any other may take them back, take the next word for its value (``-Dc``
is no ``-c``) or name a file itself."""
_TESTED_WITH = {key[0]: tuple(options.split()) for key, options in FACETS["operands_tested_with"].items()}
"""By program those that a later option may take back (``xz -t -z`` packs)."""
_OTHERWISE = frozenset({"-v", "--verbose", "-q", "--quiet", "-k", "--keep"})
"""Options of all these programs that change nothing about that."""
_UNPACKING_HERE = {key[0]: re.compile(pattern) for key, pattern in FACETS["unpacks_here"].items()}
"""By program how its first word looks where it unpacks what an archive holds, under names that stand in it."""

_FOLDER_OPTIONS = ("-C", "--dir", "-d", "-o", "-output-directory", "--output-directory")
_PIECES = {key[0]: options.split("|") for key, options in FACETS["pieces"].items()}
"""By program the options that name the beginning, the end and the form of the names of pieces (one of each may be
empty: then the beginning is the second operand, or no option says the end or the form)."""

_DIRECTIVE = re.compile(r"%[-+ #0-9.']*[a-z]", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9a-z]*", re.IGNORECASE)
_PIECE = re.compile(r"[0-9a-z]+", re.IGNORECASE)
_PROTECTED_NAMES = tuple(names[-1] for names in PROTECTED)


def derived_names(
    name: str, words: Sequence[Word], known: ProgramReading, means: Callable[[Word], Iterable[str]]
) -> Iterator[str]:
    """Yield the paths that a command may write beside those that it names. ``means`` gives what a word may stand for
    that is no constant."""
    endings = list(dict.fromkeys(_endings(words, known, _ENDINGS.get(name, ()))))
    changes = known.program is not None and known.program.operands == "change"
    if changes and keeps_operands(name, known.arguments):
        return
    beginnings = list(dict.fromkeys(_endings(words, known, _BEGINNINGS.get(name, ()))))
    if not (endings or beginnings or changes):
        return
    named: list[str] = []
    for word in words[1:]:
        if word.value is not None:
            named.append(literal(word))
        else:
            named += means(word)
    for path in dict.fromkeys(named):
        if changes and (unpacked := _PACKED.fullmatch(path)) is not None:
            yield unpacked[1]
        for beginning in beginnings:
            folder, slash, last = path.rpartition("/")
            yield from (f"{beginning}{path}", f"{folder}{slash}{beginning}{last}")
        for ending in endings:
            # `*` in it stands for the name, as for `sed -i`.
            folder, slash, last = path.rpartition("/")
            made = ending.replace("*", last) if "*" in ending else f"{last}{ending}"
            yield f"{folder}{slash}{made}"
            if path.endswith(ending) and path != ending:
                yield path.removesuffix(ending)
    if endings and len(named) > 1:
        target = named[-1].rstrip("/")
        yield from (f"{target}/{path.rstrip('/').rpartition('/')[2]}{end}" for path in named[:-1] for end in endings)


def keeps_operands(name: str, found: Arguments) -> bool:
    """Whether a program that rewrites its operands leaves them alone for one of its options."""
    kept, tested = _KEPT_WITH.get(name, ()), _TESTED_WITH.get(name, ())
    given = {option.name for option in found.options}.difference(tested, _OTHERWISE)
    if found.keeps(*tested) and not given:
        return True
    return found.keeps(*kept) and given <= _KEPT_BESIDE.get(name, frozenset()).union(kept)


def makes_names(name: str, words: Sequence[Word], known: ProgramReading) -> bool:
    """Whether a command makes other names of those that it is given."""
    options = (*_ENDINGS.get(name, ()), *_BEGINNINGS.get(name, ()))
    if not options:
        return False
    archives = known.program is not None and known.program.operands == "change"
    if archives:
        return not keeps_operands(name, known.arguments)
    if any(option.value is not None and option.value.value != "" for option in known.arguments.spelled(*options)):
        return True
    # The word behind an option that takes none is mostly a name or an expression.
    return any(not ending[0].isalnum() for ending in _endings(words, known, options))


def backups_of(name: str) -> tuple[str, ...]:
    """The options with which a program keeps what stood in the place of its files, under other names."""
    return (*BACKING_UP, *_ENDINGS.get(name, ()))


def _endings(words: Sequence[Word], known: ProgramReading, options: Sequence[str]) -> Iterator[str]:
    for option in known.arguments.spelled(*options):
        # Of some programs there are two, of which one takes no value for this option.
        value = option.value or next(iter(words[option.index + 1 : option.index + 2]), None)
        if value is not None and value.value:
            yield value.value


def changed_below(name: str, known: ProgramReading) -> Iterator[FileUse]:
    """Yield the folders in which an archiver changes whatever it finds, and where it takes names from its files."""
    if name not in _ENDINGS or known.program is None or known.program.operands != "change":
        return
    found = known.arguments
    if unpacks_below(name, known):
        yield from (FileUse("write", word, unknown_names=True) for _, word in found.operands)
    for _, word in found.operands if found.may_have("-N", "--name") else ():
        folder = (word.value or "").rpartition("/")
        beside = unknown() if word.value is None else constant(folder[0] or folder[1] or ".")
        yield FileUse("write", beside, unknown_names=True)


def unpacks_below(name: str, known: ProgramReading) -> bool:
    """Whether an archiver goes into the folders that it is given."""
    return (
        name in _ENDINGS
        and known.program is not None
        and known.program.operands == "change"
        and known.arguments.may_have(*known.program.deep)
    )


def packed_below(folder: str) -> tuple[str, ...] | None:
    """What unpacking the archives below a folder makes, by paths below it; None if too much lies there."""
    return disk.combined(_packed_below, folder)


_MOST_BELOW = 5_000


def _packed_below(top: str) -> tuple[str, ...] | None:
    try:
        below = [
            _PACKED.fullmatch(path) for path, is_folder in walk(top, disk.entries_in, _MOST_BELOW) if not is_folder
        ]
    except TooMuchError:
        return None
    return tuple(each[1] for each in below if each is not None)


class Pieces(NamedTuple):
    """Names of which one part is a number or letters: the folder, and what stands in front of and behind that part."""

    folder: str
    before: str
    after: str

    def protected(self) -> str | None:
        """A protected name that one of them may have."""
        for name in _PROTECTED_NAMES:
            middle = name[len(self.before) : len(name) - len(self.after)]
            fits = name.startswith(self.before) and name.endswith(self.after) and _PIECE.fullmatch(middle)
            if fits or name == f"{self.before}{self.after}":
                return f"{self.folder}{name}"
        return None

    def may_be(self, name: str) -> bool:
        """Whether one of them may have this name."""
        fits = name.startswith(self.before) and name.endswith(self.after)
        return fits and len(name) >= len(self.before) + len(self.after)

    @property
    def sample(self) -> str:
        """The path of one of them."""
        return f"{self.folder}{self.before}aa{self.after}"

    @property
    def pattern(self) -> str:
        return f"{self.before}*{self.after}"


def pieces(name: str, known: ProgramReading) -> Pieces | None:
    """The names of the pieces that a command makes of a file; None if it makes none, or if they are not known."""
    if name not in _PIECES:
        return None
    begins, ends, form = _PIECES[name]
    found = known.arguments
    operands = [word.value for _, word in found.operands]
    beginning = next((word.value for word in found.values(*begins.split())), None) if begins else None
    if not begins and len(operands) > 1:
        beginning = operands[1]
    folder, slash, before = (beginning if beginning is not None else _DEFAULT).rpartition("/")
    after = next((word.value for word in found.valued(*ends.split())), None) if ends else None
    said = next((word.value for word in found.values(*form.split())), None) if form else None
    if said:
        front, _, back = _DIRECTIVE.sub("\0", said, count=1).partition("\0")
        before, after = f"{before}{front}", back
    return Pieces(f"{folder}{slash}", before, after or "")


_DEFAULT = "xx"


def unpacked_here(name: str, words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Yield the folder into which a program unpacks what its archive holds."""
    pattern = _UNPACKING_HERE.get(name)
    if pattern is None or len(words) < _FEWEST or not pattern.fullmatch(words[1].prefix):
        return
    into = next((words[at + 1] for at, word in enumerate(words[:-1]) if word.value in _FOLDER_OPTIONS), None)
    if into is None and words[-1].prefix.endswith("/"):
        into = words[-1]
    yield FileUse("write", into or constant("."), unknown_names=True)


_FEWEST = 2
