"""Which files a command reads, lists, writes or deletes, as far as its words name them (docs/gate.md S10, S11).
More than 500 lines, because the functions for each kind of program stand side by side.

Only names here; what may be done to them is ``paths/path_judge.py``'s to say, and whether they exist is asked in
``judge.py``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from countersign.gate.patterns import is_glob
from countersign.gate.shell.effects.escape_use import OPTIONS_END, EscapeUse, ProgramReading
from countersign.gate.shell.effects.escapes import look_up
from countersign.gate.shell.effects.handed_words import handed_words
from countersign.gate.shell.effects.operand_code import filter_loads, unknown_filter
from countersign.gate.shell.files.address_operands import cloned_touches, gh_touches, wget_touches
from countersign.gate.shell.files.container_mounts import CONTAINER_TOUCHES
from countersign.gate.shell.files.curl_operands import curl_touches
from countersign.gate.shell.files.derived_names import BACKING_UP, keeps_operands
from countersign.gate.shell.files.file_use import FileUse, Operation, unknown
from countersign.gate.shell.files.found_deletions import deleted_below, deleted_protected
from countersign.gate.shell.files.git_operands import git_touches
from countersign.gate.shell.files.named_outputs import OUTPUT_READERS, inside
from countersign.gate.shell.files.package_files import package_touches
from countersign.gate.shell.files.rg_operands import rg_touches
from countersign.gate.shell.files.sed_of_macos import sed_of_macos
from countersign.gate.shell.files.word_values import made_below
from countersign.gate.shell.languages.find import FINDERS, folders_in
from countersign.gate.shell.programs.argv import Arguments, is_one_of, may_be_several
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import FACETS, field_of, names_with, names_with_field
from countersign.gate.shell.programs.word_patterns import OUTSIDE, OUTSIDE_PROGRAMS, keys_of
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant, pattern_text


def file_uses(name: str, words: Sequence[Word], known: ProgramReading) -> list[FileUse]:
    """All that this command touches by name."""
    found: list[FileUse] = []
    row = known.program
    if known.git is not None:
        found += git_touches(words, known.git)
    elif row is not None:
        arguments = known.arguments
        if row.operands != "none" or row.here:
            found += _operands(name, row, known)
            if known.in_order is not None:
                behind = _operands(name, row, known._replace(arguments=known.in_order))
                found += [each._replace(if_there=_is_deleted_option(each)) for each in behind]
        if arguments.options:
            found += _doubtful(row, arguments, elsewhere_flags=name in OPTIONS_END)
            if row.reads:
                found += [FileUse("read", value, below=True) for value in _read_by_options(row, arguments)]
            if name in _REWRITERS and _rewrites(name, row, known.arguments):
                found += [_rewritten(name, word) for _, word in known.arguments.operands]
        if arguments.options and (row.operands in _WRITING or name in _WRITERS) and _is_unsettled(words, arguments):
            found.append(FileUse("write", unknown()))
    if name in FINDERS and known.arguments.has("-delete"):
        found += deleted_protected(words, known.arguments)
    if known.uses:
        found += _written(known.uses)
    if known.doings is not None:
        found += (FileUse("read", constant(path) if path is not None else unknown()) for path in known.doings.reads)
    if name in CONTAINER_TOUCHES:
        found += CONTAINER_TOUCHES[name](name, words)
    special = _SPECIAL.get(name)
    if special is not None:
        # By the name that the tables know, whatever other name it was called by.
        found += special(words if words[0].value == name else (constant(name), *words[1:]), known)
    if name in OPENS_IN:
        found = [placed_in(opening_folders(name, known), file_use) for file_use in found]
    if name in OUTSIDE_PROGRAMS:
        found += _places(name, words, known)
    for handed in handed_words(name, words):
        receiver = handed[0].value or ""
        found += file_uses(receiver, handed, look_up(receiver, handed))
    if name in _TRIED:
        found += list(_tried(name, found))
    if row is not None and row.follows and _follows(name, row, words, known.arguments):
        found = [
            file_use._replace(through=True)
            if (file_use.below and file_use.operation == "read") or file_use.whole or file_use.brought is not None
            else file_use
            for file_use in found
        ]
    return found


_TRIED = {key[0]: tuple(endings.split()) for key, endings in FACETS["tries_endings"].items()}
"""For programs that open another file where the one that is named is missing: what they put behind its name."""


def _tried(name: str, found: Sequence[FileUse]) -> Iterator[FileUse]:
    for use in found:
        if use.operation == "read" and use.word.value:
            for ending in _TRIED[name]:
                tried = constant(use.word.value + ending)._replace(tilde=use.word.tilde)
                yield FileUse("read", tried, if_there=True)


def _follows(name: str, row: Program, words: Sequence[Word], found: Arguments) -> bool:
    """Whether a command follows symlinks below the folders that it reads."""
    if "-" in row.follows or found.holes:
        return True
    letters = words[1].prefix if name in _OLD_LETTERS and len(words) > 1 else "-"
    return (letters[:1] != "-" and "h" in letters) or any(
        is_one_of(option.name, row.follows) for option in found.options
    )


def _read_by_options(row: Program, found: Arguments) -> Iterable[Word]:
    """The values of options that name files to read, abbreviated long ones among them."""
    if all(len(option.name) <= 3 for option in found.options):
        return [option.value for option in found.options if option.value is not None and option.name in row.reads]
    # `--body` is an option of its own, not short for `--body-file`.
    others = row.grammar.texts | {f"--{name}" for name in row.grammar.long}
    return found.valued(*row.reads, others=others)


_LEADS_OUT = re.compile(r"/|~|\.\.(?:/|$)|.*/\.\.(?:/|$)")

_MAY_LEAD_OUT = re.compile(r"/|~|(?:.*/)?\.\.?$|(?:.*/)?\.\./")
"""How words begin that surely lead outside with some end; ``tests/$x`` is taken for what it says."""


_REWRITERS = names_with("rewrites_when_told")
"""Programs that rewrite what they name, where an option says so."""

_CHANGE_ONLY_NAMED = _REWRITERS | names_with_field("edits_in_place", "only_named")

_OLD_LETTERS = names_with_field("lists", "old_letters")
"""Programs whose first word may be letters of options without a dash."""


def _rewrites(name: str, row: Program, found: Arguments) -> bool:
    said = name in _EDITED_BY and _edits_in_place(name, found)
    return said or any(row.escapes.get(option.name) == "changes" for option in found.options)


_OF_FOLDERS = frozenset(key[0] for key in FACETS["rewrites_folder"])
"""Formatters that look for files in folders, so that rules for what lies there count (``rewritten_folders.py``)."""

_OWN_PATTERN = re.compile(
    r"([\w.-]+(?:/[\w.-]+)*)/(?:\*\*/|\*/)*(?=[^/]*[*{])[\w*-]*(?:\.[\w*]+)*(?:\.\{\w+(?:,\w+)*\})?", re.ASCII
)
"""A folder, and a pattern of which it is certain that what it matches lies there."""


def _rewritten(name: str, word: Word) -> FileUse:
    """What a formatter rewrites because a word names it: a file, what lies below a folder, or below the folder in front
    of a pattern that the program itself expands (``'src/**/*.ts'``)."""
    value = (word.value or "") if name in _OF_FOLDERS else ""
    found = _OWN_PATTERN.fullmatch(value)
    if found is not None and ".." not in value:
        return FileUse("write", constant(found[1]), content=True)
    if re.search(r"[*?\[{(!]", value):
        return FileUse("write", unknown())
    return FileUse("write", word, content=True)


_FILES_OF_A_KIND = re.compile(r"[\w.][\w./-]*/[\w*?-]*\.\w+")
"""A pathname pattern of the shell that matches files of one kind in one folder (``src/*.cpp``)."""

_BESIDE = {key[0]: frozenset(options.split()) for key, options in field_of("edits_in_place", "beside").items()}
"""By program its options beside which it changes nothing but the files that it names."""

_IN_PLACE = frozenset({"-i", "--in-place", "-E", "-r", "-n", "-s", "-z", "-e", "-ie", "--write", "-w", "--fix"})
"""Options of these programs beside which all that is written are the files that they name."""


def rewrites_named_files(name: str, words: Sequence[Word], touched: Sequence[FileUse]) -> bool:
    """Whether all that a command changes are files that it names by constant words."""
    if name not in _CHANGE_ONLY_NAMED:
        return False
    options = [word.value for word in words[1:] if word.prefix.startswith("-")]
    written = [file_use.word for file_use in touched if file_use.operation not in ("read", "list")]
    return (
        all(option is not None and (option in _IN_PLACE or _is_beside(name, option)) for option in options)
        and bool(written)
        and all(map(_names_files, written))
    )


def _is_beside(name: str, option: str) -> bool:
    return option.partition("=")[0] in _BESIDE.get(name, ())


def _names_files(word: Word) -> bool:
    if word.value is None:
        return word.form == "pattern" and _FILES_OF_A_KIND.fullmatch(word.source) is not None
    return not is_glob(word.value) and word.value[:1] != "!"


def _places(name: str, words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """What a build or test tool runs or writes because it lies where its words say; only what may lie outside."""
    whole = ((name,),) if (name,) in OUTSIDE else ()
    for key in dict.fromkeys((*whole, *keys_of(name, words, OUTSIDE))):
        yield from _places_by(OUTSIDE[key], words, known)


def _places_by(row: tuple[str, str, str], words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    operands, options, written = row
    named = [word for _, word in known.arguments.operands] if operands else []
    if options and known.arguments.options:
        said = list(_said_by(options.split(), words, known.arguments))
        yield from (FileUse("read", word, runs=True) for word in said if word.value is None and word.prefix == "")
        named += said
    if operands and known.arguments.options:
        named += _attached_to_options(words, known)
    for word in named:
        if word.value is None:
            if _MAY_LEAD_OUT.match(word.prefix) or (word.form == "pattern" and _LEADS_OUT.match(pattern_text(word))):
                yield FileUse("read", word, runs=True)
        elif _LEADS_OUT.match(word.value) and (word.tilde or not _NAMED_BY_TILDE.match(word.value)):
            path = re.sub(r"::.*|@.*", "", word.value)
            yield FileUse("read", Word(path, (), "constant", path, path, path, tilde=word.tilde), runs=True)
    if written and known.arguments.options:
        for word in _said_by(written.split(), words, known.arguments):
            if word.value is None:
                yield FileUse("write", word)
            elif word.value and word.value[0] != "-" and word.value != "/dev/null":
                yield from inside(word.value, tilde=word.tilde)


def _attached_to_options(words: Sequence[Word], known: ProgramReading) -> Iterator[Word]:
    """What stands behind the `=` or colon of an option that our record does not know, or behind its letter, in words
    that are all known."""
    row = known.program
    texts = row.grammar.texts if row is not None else ()
    of_words: dict[int, str | None] = {}  # a word may hold very many options
    for option in known.arguments.options:
        if option.index not in of_words:
            spelled = _ATTACHED.match(words[option.index].value or "")
            value = (spelled[1] or spelled[2]) if spelled is not None else None
            of_words[option.index] = value if value is not None and _LEADS_OUT.match(value) else None
        value = of_words[option.index]
        if value is not None and option.name not in texts:
            yield constant(value)


_NAMED_BY_TILDE = re.compile(r"~[^/]")
"""What is no home where bash does not expand it: `jj log -r '~main'`."""

_ATTACHED = re.compile(r"--?[\w.-]+[=:](.+)|-[A-Za-z]((?:/|~|\.\.).*)", re.DOTALL)


def _said_by(options: Collection[str], words: Sequence[Word], found: Arguments) -> Iterator[Word]:
    """The values of these options; of one that the row does not say to take any, the next word."""
    yield from found.valued(*options)
    for option in found.options:
        spelled = option.name.replace("_", "-")
        if option.value is not None and spelled != option.name and spelled in options:
            yield option.value
        abbreviated = spelled[:2] == "--" and any(each.startswith(spelled) for each in options)
        if option.value is None and (abbreviated or spelled in options):
            yield from words[option.index + 1 : option.index + 2]


def _written(uses: Sequence[EscapeUse]) -> Iterator[FileUse]:
    for use in uses:
        if use.kind == "writes":
            yield FileUse("write", use.path if use.path is not None else unknown())


def _operands(name: str, row: Program, known: ProgramReading) -> list[FileUse]:
    """What a row's operands are. Where an option is not known, or may have taken one of them, both readings count."""
    found = known.arguments
    swallowed = _swallowed(row, found) if found.options else []
    touched = list(
        _as_operands(name, row, known, found.operands, sure=not swallowed and not found.unrecognized_options)
    )
    every = sorted([*found.operands, *swallowed], key=_index) if swallowed else found.operands
    if swallowed:
        touched += _as_operands(name, row, known, every, sure=False)
    if found.options and row.operands in _LAST_IS_WRITTEN:
        taken = {at for at, _ in swallowed} | _possible_values(row, found)
        left = _MOST_TARGETS if len(every) <= _MOST_COPIED else 0
        while len(every) > 1 and every[-1][0] in taken:
            if not left:
                touched.append(FileUse("write", unknown()))
                break
            every, left = every[:-1], left - 1
            touched += _as_operands(name, row, known, every, sure=False)
    if found.options and row.operands == "archive":
        taken = _possible_values(row, found)
        for before, (_, word) in itertools.pairwise(found.operands):
            if before[0] not in taken:
                break
            touched.append(FileUse("write", word))
    return touched


_LAST_IS_WRITTEN = frozenset({"copy", "move", "link", "remote"})

_MOST_TARGETS, _MOST_COPIED = 4, 100
"""How many words may each be the target, and of how many operands: each is compared with all in front of it, so with
more the target counts as unknown."""


def _possible_values(row: Program, found: Arguments) -> set[int]:
    """Where the words stand that an option in front of them takes if it takes one: one that the row does not list as
    taking none, as a program may take the options of the one above it (``kubectl cp a:b c --context d``)."""
    flags = {f"-{letter}" for letter in row.grammar.flags} | {f"--{name}" for name in row.grammar.names}
    return {option.index + 1 for option in found.options if not option.attached and option.name not in flags}


def _index(indexed: tuple[int, Word]) -> int:
    return indexed[0]


_NOTES = frozenset({"--notes", "--body", "--description"})
"""Text for people: what has several lines is no file's name."""

_FOLDER_OPTIONS = frozenset({"-t", "--target-directory"})


def _swallowed(row: Program, found: Arguments) -> list[tuple[int, Word]]:
    """The values of options, as next words, that are not known to be text: they may be operands."""
    swallowed: list[tuple[int, Word]] = []
    if row.operands == "none":
        return swallowed
    for option in found.options:
        value = option.value
        if value is None or option.attached or option.name in row.reads or option.name in row.escapes:
            continue
        if row.operands in ("copy", "move", "link") and option.name in _FOLDER_OPTIONS:
            continue
        if option.name in _NOTES and "\n" in (value.value or ""):
            continue
        if option.name not in row.grammar.texts or found.unrecognized_options:
            swallowed.append((option.index + 1, value))
    return swallowed


def _doubtful(row: Program, found: Arguments, *, elsewhere_flags: bool) -> Iterator[FileUse]:
    """The values in the words of options that a whole row does not know for text; and with ``elsewhere_flags``, since
    an option that takes text here may take none in macOS's program of that name, the words behind such options."""
    if not row.grammar.whole or row.operands == "none":
        return
    operation: Operation = "list" if row.operands == "list" else "read"
    for option in found.options:
        if option.value is None:
            continue
        maybe_operand = elsewhere_flags and not option.attached and option.name not in row.given
        if maybe_operand and _LETTER.search(option.value.prefix):
            yield FileUse(operation, option.value, doubtful=True)
            continue
        if maybe_operand and option.value.value is not None:
            if option.value.value.strip("./"):
                yield FileUse(operation, option.value, if_there=True)  # `#` is a file's name as well
        elif maybe_operand and option.value.prefix:
            yield FileUse(operation, option.value, shown=True)
        known = option.name in row.grammar.texts or option.name in row.reads or option.name in row.escapes
        if option.attached and (not known or found.unrecognized_options):
            yield FileUse(operation, option.value, doubtful=True)


_WRITING = frozenset({"write", "delete", "change", "copy", "move", "link", "archive", "owner", "second"})
"""Roles of operands that are written, which an option may take for something else."""


def _is_unsettled(words: Sequence[Word], found: Arguments) -> bool:
    """Whether a word that looks like an option may be the value of the one in front of it (``cp -S -tsrc a ../b``), so
    that it is not certain which word says where it writes. What stands behind ``-S`` in its own word are letters to
    some programs and a suffix to others."""
    if found.doubtful or found.either:
        return True
    for option in found.options:
        if option.name == "-S":
            text = words[option.index].prefix
            behind = words[option.index + 1].prefix if option.index + 1 < len(words) else ""
            if not text.endswith("S") or (behind[:1] == "-" and behind != "--"):
                return True
    return False


def _is_deleted_option(file_use: FileUse) -> bool:
    """Whether this is `-f` in `rm a -f`, which macOS's `rm` removes if there is such a file."""
    return file_use.operation == "delete" and (file_use.word.value or "").startswith("-")


_LETTER = re.compile(r"[^\W\d_]")


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=(?:[^=]|\Z)", re.ASCII)
"""What every awk takes for no file: ``x==y`` is one for some, and any other word in front of the ``=`` is a part of a
file's name."""


def _is_assignment(word: Word) -> bool:
    assigns = _ASSIGNMENT.match(word.prefix) is not None
    return assigns and not may_be_several(word) and (word.value is not None or not word.prefix.endswith("="))


def _as_operands(
    name: str, row: Program, known: ProgramReading, indexed: Sequence[tuple[int, Word]], *, sure: bool
) -> Iterator[FileUse]:
    found = known.arguments
    operands = [word for _, word in indexed]
    deep = bool(row.deep) and ("-" in row.deep or found.may_have(*row.deep))
    shifts = bool(operands) and may_be_several(operands[0])
    match row.operands:
        case "read":
            yield from (FileUse("read", word, below=deep) for word in operands)
            if deep and name in _HERE_IF_DEEP:
                yield FileUse("read", constant("."), below=True)
        case "list":
            listed = folders_in(indexed, found.options) if name in FINDERS else operands
            printed = found.may_have(*_READ_WITH.get(name, ()))
            yield from (FileUse("read" if printed else "list", word) for word in listed)
            if name in FINDERS and found.has("-delete"):
                yield from deleted_below(listed, row, found)
        case "write":
            yield from (FileUse("write", word) for word in operands)
        case "delete":
            # `rm` removes files only, and a root is a folder. What splits may become an option for folders.
            dark = [word for word in operands if word.value is None]
            turning = any(hole.form == "split" for _, hole in found.holes) or (bool(found.holes) and len(dark) > 1)
            folders = turning or bool(found.unrecognized_options)
            folders = folders or name not in _FOLDERS_ONLY_WITH or found.may_have(*_FOLDERS_ONLY_WITH[name])
            yield from (FileUse("delete", word, below=folders) for word in operands)
        case "change":
            # What is changed is read, too, and may be left under another name or printed (`lz4 .env`).
            kept = keeps_operands(name, found)
            yield from (FileUse("read", word, below=deep) for word in operands)
            yield from (FileUse("write", word, content=True) for word in operands if not kept)
            for word in () if kept else operands:
                if word.value is not None and (unpacked := _PACKED.fullmatch(word.value)) is not None:
                    yield FileUse("write", constant(unpacked[1])._replace(tilde=word.tilde))
        case "owner":
            # `chmod -x FILE`: the mode looks like an option, and the first operand is a file already.
            given = found.may_have("--reference") or (
                name in _MODE_FIRST and bool(operands) and not _is_mode(operands[0])
            )
            yield from (FileUse("write", word, whole=deep) for word in operands[0 if given else 1 :])
        case "pattern" | "script":
            files = operands if found.may_have(*row.given) or not sure or shifts else operands[1:]
            if name in _WITH_ASSIGNMENTS:
                files = [word for word in files if not _is_assignment(word)]
            yield from (FileUse("read", word, below=deep) for word in files)
            if name in _EDITED_BY and _edits_in_place(name, found):
                yield from (FileUse("write", word) for word in files)
                yield from _kept_copies(files, found)
            if not files and (row.here or (deep and name in _HERE_IF_DEEP)):
                yield FileUse(
                    "list" if name in _RUN_FOR_NAMES else "read", constant("."), below=name not in _RUN_FOR_NAMES
                )
            if name in _RUN_FOR_NAMES and any(option.name.startswith(_RUN_FOR_NAMES[name]) for option in found.options):
                # What it finds is given to a command, which may read it.
                folders = [*files, *found.valued(*_FOLDERS_OF_NAMES[name])]
                yield from (FileUse("read", word, below=True, through=True) for word in folders or [constant(".")])
            return
        case "copy" | "move" | "link":
            yield from _copied(row, known, operands)
        case "second":
            yield from (FileUse("read", word) for word in (operands[:1] if sure else operands))
            yield from (FileUse("write", word) for word in (operands[0 if shifts else 1 : 2] if sure else operands))
        case "archive":
            yield from (FileUse("write", word) for word in operands[:1])
            yield from (FileUse("read", word, below=True) for word in operands[0 if shifts else 1 :])
            if any(use.kind == "changes" for use in known.uses):
                yield from (FileUse("delete", word) for word in operands[1:])
        case "remote":
            yield from _remote(name, operands)
            if found.may_have(*_REMOTE_BACKUPS) and "--backup-dir" in row.escapes:
                yield from _backed_up(operands)
        case "none":
            pass
    if row.here and not operands and row.operands == "list":
        yield FileUse("list", constant("."))


def _kept_copies(files: Sequence[Word], found: Arguments) -> Iterator[FileUse]:
    """Backup copies of rewritten files in another folder (``sed -i'kept/*'``: the star stands for the name)."""
    for suffix in found.valued("-i", "--in-place", "--inplace"):
        if "/" not in (suffix.value or ""):
            continue
        for file in files:
            folder, _, name = (file.value or "").rpartition("/")
            if file.value is None or suffix.value is None:
                yield FileUse("write", unknown())
                continue
            kept = suffix.value.replace("*", name) if "*" in suffix.value else name + suffix.value
            yield FileUse("write", constant(kept))
            yield FileUse("write", constant(f"{folder or '.'}/{kept}"))


_PACKED = re.compile(r"(.+)\.(?:gz|z|bz2?|xz|zst|lzma|lz4?|lzo|br)", re.DOTALL | re.IGNORECASE)
"""A file that is unpacked beside itself, under its name without the ending."""


def _options_of(facts: Mapping[tuple[str, ...], str]) -> Mapping[str, tuple[str, ...]]:
    return {key[0]: tuple(options.split()) for key, options in facts.items()}


_READ_WITH = _options_of(FACETS["operands_read_with"])
_FOLDERS_ONLY_WITH = _options_of(FACETS["folders_only_with"])
_MODE_FIRST = names_with("mode_first")
_WITH_ASSIGNMENTS = names_with("assignments_among_files")
_HERE_IF_DEEP = names_with("here_if_deep")
_WRITES_THROUGH_LINKS = names_with("writes_through_links")
_EDITED_BY = _options_of(field_of("edits_in_place", "options"))
_EDITING_VALUE = {key[0]: value for key, value in field_of("edits_in_place", "value").items()}
_RUN_FOR_NAMES = _options_of(field_of("prints_names", "runs"))
_FOLDERS_OF_NAMES = _options_of(field_of("prints_names", "folders"))


def _edits_in_place(name: str, found: Arguments) -> bool:
    """Whether an option says that the files are changed, or, of one that loads libraries, its value does."""
    value = _EDITING_VALUE.get(name)
    if value is None:
        return found.has(*_EDITED_BY[name])
    return any(each.value == value for each in found.values(*_EDITED_BY[name]))


_LONGEST_MODE = 100


def _is_mode(word: Word) -> bool:
    return (
        word.value is None
        or len(word.value) > _LONGEST_MODE
        or re.fullmatch(r"[0-7]{1,5}|[-+=ugoarwxXst,0-7]*[-+=][-+=ugoarwxXst,0-7]*", word.value) is not None
    )


def _copied(row: Program, known: ProgramReading, operands: Sequence[Word]) -> Iterator[FileUse]:
    found = known.arguments
    folder = next(iter(found.valued("-t", "--target-directory")), None)
    if row.operands == "copy" and found.has("-d", "--directory") and row.escapes:
        yield from (FileUse("write", word) for word in operands)
        return
    # The last of the words that a pattern expands to is the target, those in front of it are sources.
    several = bool(operands) and may_be_several(operands[-1])
    sources = list(operands if folder is not None or len(operands) == 1 or several else operands[:-1])
    # What `-t` names is a folder, which `-D` makes.
    target = folder if folder is None or not folder.value else _as_folder(folder, folder.value)
    if target is None:
        target = operands[-1] if len(operands) > 1 or several else constant(".") if row.operands == "link" else None
    recursive = found.may_have("-r", "-R", "-a", "--recursive", "--archive")
    carries = row.operands == "move" or recursive
    linked = row.operands == "link" or _makes_links(row, known)
    for word in sources:
        if row.operands == "move":
            yield FileUse("move", word, below=True)
            yield FileUse("read", word)
        elif linked:
            # What the link points to can be written through it before anybody looks again.
            for seen in _seen_from(word, target, from_link=_counts_from_link(row, known)):
                yield FileUse("write", seen)
                yield FileUse("read", seen, below=True)
                if target is not None:
                    yield FileUse("write", target, brought=seen)
        else:
            yield FileUse("read", word, below=recursive)
    if target is None:
        return
    flat = found.keeps("-T", "--no-target-directory")
    # Below the target the whole path of a source is made.
    whole = row.operands == "copy" and found.may_have("--parents")
    backs_up = found.may_have(*BACKING_UP)
    yield FileUse("write", target)
    if carries:
        copied = row.operands != "move"
        yield from (FileUse("write", target, brought=word, copied=copied) for word in sources)
    if backs_up:
        # What stood there lives on under a name of which no rule speaks.
        yield FileUse("read", target, backed_up=recursive and row.operands == "copy")
    if backs_up and row.operands == "move":
        yield from _renamed(target, sources, itself=found.may_have("-T", "--no-target-directory"))
    for word in sources:
        name = _base(word)
        unknown_names = recursive and (flat or name in {".", ".."} or (name is None and word.form != "pattern"))
        if unknown_names:
            yield FileUse("write", target, unknown_names=True)
            yield FileUse("write", target, into="*")
        elif flat and linked:
            yield FileUse("write", target, into="")
        elif not flat:
            if whole and (word.value is None or ".." in word.value.split("/")):
                yield FileUse("write", target, unknown_names=True)
            if whole:
                name = made_below(word.value) if word.value else None
                if target.value:
                    target = _as_folder(target, target.value)
            sources = word if word.value is None else None
            yield FileUse("write", target, into=name if name is not None else "*", sources=sources, parents=whole)
            if backs_up:
                yield FileUse("read", target, into=name if name is not None else "*")


def _renamed(target: Word, sources: Iterable[Word], *, itself: bool) -> Iterator[FileUse]:
    """A folder that a move keeps gets another name, with all that lies in it: the target ``itself``, or one of the name
    of a source in it. Which ending the name has is judged elsewhere (``derived_names.py``)."""
    names = [_base(word) or "" for word in sources]
    for kept in (*([target] if itself else []), *(_in_folder(target, constant(name)) for name in names if name)):
        if kept.value:
            yield FileUse("write", _ending_in_tilde(kept), brought=kept)


def _ending_in_tilde(word: Word) -> Word:
    return constant(f"{(word.value or '').rstrip('/')}~")._replace(tilde=word.tilde)


def _as_folder(word: Word, value: str) -> Word:
    return constant(f"{value.rstrip('/')}/")._replace(tilde=word.tilde)


def _makes_links(row: Program, known: ProgramReading) -> bool:
    """Whether a copy makes links instead, also by an abbreviated option."""
    return known.arguments.may_have(*row.links)


def _counts_from_link(row: Program, known: ProgramReading) -> bool:
    """Whether a link is surely a symbolic one that holds the very words of its target."""
    found = known.arguments
    sure = not (found.holes or found.unrecognized_options or found.may_have("-r", "--relative"))
    return row.operands == "link" and sure and found.keeps("-s", "--symbolic")


def _seen_from(word: Word, link: Word | None, *, from_link: bool) -> Iterator[Word]:
    """What a link points to: a hard link counts from here, a symbolic one from the folder that it lies in."""
    relative = word.value is not None and not word.value.startswith("/") and not word.tilde
    if not (from_link and relative and link is not None and "/" in (link.value or "")):
        yield word
    if relative and link is not None and link.value:
        folder, slash, _ = link.value.rpartition("/")
        if slash:
            yield constant(f"{folder}/{word.value}")
        yield constant(f"{link.value}/{word.value}")


def _base(word: Word) -> str | None:
    """The last name of a source, None where it is not known."""
    if word.value is None:
        return None
    return word.value.rstrip("/").rsplit("/", 1)[-1]


def _remote(name: str, operands: Sequence[Word]) -> Iterator[FileUse]:
    """rsync and scp: the last is written, the rest read; what has a colon in front of a slash is elsewhere."""
    # By place: words that are spelled alike are the same object.
    local = [(at, word) for at, word in enumerate(operands) if not re.match(r"[^/]*:", word.prefix)]
    for at, word in local:
        several, last = may_be_several(word), at == len(operands) - 1
        if last and (len(operands) > 1 or several):
            yield FileUse("write", word)
            yield FileUse("write", word, unknown_names=True)
            for _, source in local if several else local[:-1]:
                yield FileUse("write", word, brought=source, copied=True)
            for source in operands[:-1]:
                # It gets the last name of each source, wherever that lies, or with `-R` the names in front as well, but
                # for those in front of `/./`.
                if source.value is None:
                    yield FileUse("write", unknown())
                    continue
                path = source.value.rpartition(":")[2].strip("/")
                for brought in dict.fromkeys((path, path.rpartition("/./")[2], path.rpartition("/")[2])):
                    if brought not in {"", ".", ".."}:
                        yield FileUse("write", _in_folder(word, constant(brought)))
            if name in _WRITES_THROUGH_LINKS:
                yield FileUse("write", word, into="*")  # rsync replaces a link that stands there
        if not last or len(operands) == 1 or several:
            yield FileUse("read", word, below=True)


_REMOTE_BACKUPS = (*(option for option in BACKING_UP if option != "-S"), "--backup-dir")


def _backed_up(operands: Sequence[Word]) -> Iterator[FileUse]:
    """What stands at the target lives on under a name of which no rule speaks, or in another folder."""
    target = operands[-1] if len(operands) > 1 or (operands and may_be_several(operands[-1])) else None
    if target is None or re.match(r"[^/]*:", target.prefix):
        return
    yield FileUse("read", target, below=True, backed_up=True)
    for source in operands[:-1]:
        name = (source.value or "").rpartition(":")[2].rstrip("/").rpartition("/")[2]
        if name not in {"", ".", ".."}:
            yield FileUse("read", _in_folder(target, constant(name)), if_there=True)


def _dd(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    for word in words[1:]:
        name, equals, rest = word.prefix.partition("=")
        if equals and name in {"if", "of"}:
            value = constant(rest) if word.value is not None else unknown()
            if word.value is not None and rest.startswith("~"):
                value = Word(rest, (), "constant", rest, rest, rest, tilde=True)
            yield FileUse("read" if name == "if" else "write", value)
        elif word.value is None:
            yield FileUse("write", unknown())


def _edited(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Behind the program's text, or its file, stand the files that are rewritten."""
    if known.arguments.has("-i"):
        operands = known.arguments.operands
        yield from (FileUse("write", word) for _, word in operands[0 if known.arguments.has("-e", "-E") else 1 :])


def _compiled(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """What is compiled is written beside its source."""
    if known.arguments.may_have("-c", "--compile", "-m", "--map", "-M", "--inline-map"):
        for _, word in known.arguments.operands:
            yield FileUse("write", word, below=True)
            if word.value is not None and word.value.endswith((".coffee", ".litcoffee")):
                yield FileUse("write", constant(f"{word.value.rpartition('.')[0]}.js")._replace(tilde=word.tilde))


# --- programs with ways of their own ---------------------------------------------------------------------------------


def _tar(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    found = known.arguments
    letters = ""
    operands = [word for _, word in found.operands]
    if len(words) > 1 and words[1].value is not None and not words[1].value.startswith("-"):
        letters, operands = words[1].value, operands[1:]
    files = list(found.valued("-f", "--file"))
    if "f" in letters and operands:
        files, operands = [operands[0], *files], operands[1:]
    extracting = "x" in letters or found.may_have("-x", "--extract", "--get")
    listing = "t" in letters or found.keeps("-t", "--list")
    entered = _entered([*found.valued("-C", "--directory"), *_folders_between(operands)])
    if found.unrecognized_options:
        yield FileUse("write", unknown())  # which words are files is not known
    if extracting:
        yield from (FileUse("read", word) for word in files)
        if not (found.keeps("-O", "--to-stdout") or "O" in letters):
            inner = next(iter(found.valued("--one-top-level")), constant("."))
            folder = _in_folder(entered[-1], inner) if entered else inner
            yield FileUse("write", folder, unknown_names=True)
            if found.may_have("-P", "--absolute-names", "--absolute-paths") or "P" in letters:
                yield FileUse("write", unknown())  # names in the archive may lead anywhere
            if not letters or "x" in letters:
                yield from (_unpacked(folder, member) for member in operands)
    elif listing:
        yield from (FileUse("read", word) for word in files)
    else:
        yield from (FileUse("write", word) for word in files if word.value != "-")
        packed = [*operands, *[_in_folder(folder, word) for folder in entered for word in operands]]
        yield from (FileUse("read", word, below=True) for word in packed)
        if found.may_have("--remove-files"):
            yield from (FileUse("delete", word, below=True) for word in packed)
        # To the tar of BSD and macOS, an archive whose entries it takes over.
        yield from (
            FileUse("read", constant(word.value[1:])) for word in operands if word.value and word.value[0] == "@"
        )
        yield from (
            FileUse("read", word) for word in found.valued("--add-file", "--files-from", "-T", "-X", "--exclude-from")
        )


def _unpacked(folder: Word, member: Word) -> FileUse:
    """A file, or what lies below a folder, that is named to be taken out of an archive."""
    # Wildcards of tar's take slashes, in brackets as well.
    wild = member.value is None or any(char in member.value for char in "*?[\\")
    return FileUse("write", unknown() if wild else _in_folder(folder, member))


def _folders_between(operands: Sequence[Word]) -> Iterator[Word]:
    """The folders that macOS's tar goes into between the names, behind ``--`` as well."""
    for index, word in enumerate(operands):
        if word.prefix.startswith("-C"):
            attached = [constant(word.value[2:])] if word.value is not None and word.value != "-C" else []
            yield from attached or operands[index + 1 : index + 2]


def _entered(folders: Iterable[Word]) -> list[Word]:
    """Where a program goes that goes into these folders one after the other, each counted from the one before."""
    found: list[Word] = []
    for folder in folders:
        found.append(_in_folder(found[-1], folder) if found else folder)
    return found


def _in_folder(folder: Word, word: Word) -> Word:
    """What a word names that counts from a folder."""
    if folder.value is None or word.value is None:
        return unknown()
    if word.value.startswith("/") or word.tilde:
        return word
    path = f"{folder.value}/{word.value}"
    return Word(path, (), "constant", path, path, path, tilde=folder.tilde)


def _unzip(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    found = known.arguments
    yield from (FileUse("read", word) for _, word in found.operands[:1])
    if not found.keeps("-l", "-p", "-t", "-v", "-Z", "-z", "-c"):
        folder = next(iter(found.values("-d")), None)
        folder = folder if folder is not None else constant(".")
        yield FileUse("write", folder, unknown_names=True)
        if found.has("-:"):
            yield FileUse("write", unknown())  # names in the archive may lead upwards
        yield from (_unpacked(folder, member) for _, member in found.operands[1:])


def _seven(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    operands = [word for _, word in known.arguments.operands]
    verb = operands[0].value if operands else None
    if verb in {"x", "e"}:
        yield FileUse("write", constant("."), unknown_names=True)
    elif verb in {"a", "d", "u", "rn"}:
        yield from (FileUse("write", word) for word in operands[1:2])
        yield from (FileUse("read", word, below=True) for word in operands[2:])
    if (verb or "").lstrip("-")[:1] == "m" or any(word.prefix.lower().startswith("-sdel") for word in words):
        yield from (FileUse("delete", word, below=True) for word in operands[2:])


def _patch(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    operands = [word for _, word in known.arguments.operands]
    if known.arguments.keeps("--dry-run"):
        return
    if operands:
        yield FileUse("write", operands[0])
        yield from (FileUse("read", word) for word in operands[1:])
    else:
        options = known.arguments.options
        strips = any(
            option.name in _STRIPS and option.value is not None and (option.value.value or "").isdecimal()
            for option in options
        )
        quiet = all(option.name in _STRIPS or option.name in _PATCHES_ALIKE for option in options)
        yield FileUse("write", constant("."), unknown_names=True, patched=strips and quiet)


_STRIPS = frozenset({"-p", "--strip"})
_PATCHES_ALIKE = frozenset("-N --forward -s --quiet --silent -u --unified --verbose".split())
"""Options with which the names in a patch are those of the files that are changed."""


def placed_in(folders: Iterable[Word], file_use: FileUse) -> FileUse:
    """A touch as a program makes it that goes into these folders first, one after the other."""
    if file_use.operation in ("read", "list") and file_use.word.value == "-":
        return file_use
    word = file_use.word
    for folder in reversed(list(folders)):
        word = _in_folder(folder, word)
    return file_use._replace(word=word)


def opening_folders(name: str, known: ProgramReading) -> Iterable[Word]:
    """Where a program goes before it opens any file (``patch -d``); not known if it is given many folders."""
    folders = list(known.arguments.valued(*OPENS_IN[name])) if name in OPENS_IN else []
    return folders if len(folders) <= _MOST_OPENED else [unknown()]


_MOST_OPENED = 4
"""Such folders, one behind the other, that are followed."""


OPENS_IN = _options_of(FACETS["opens_in"])
"""Programs that apply patches, and their options for the folder that they go into first."""


def _cpio(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    found = known.arguments
    listing = found.keeps("-t", "--list")
    if found.may_have("-i", "--extract", "-p", "--pass-through") and not listing:
        yield FileUse("write", constant("."), unknown_names=True)
        if not found.keeps("--no-absolute-filenames"):
            yield FileUse("write", unknown())
    if not found.keeps("-i", "--extract"):
        yield FileUse("read", unknown())  # the names of what it packs or copies come in on its input


def _pax(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """It takes the names in an archive as they are."""
    if known.arguments.may_have("-r"):
        yield FileUse("write", unknown())


def _ar(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Key letters may or may not stand in front of the archive, so each operand counts as written, too."""
    yield from (FileUse("write", word) for _, word in known.arguments.operands)


def _csplit(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    yield from (FileUse("read", word) for _, word in known.arguments.operands[:1])


def _yq(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Where a file has the name of its first word, that is no filter: it reads the file."""
    operands = [word for _, word in known.arguments.operands]
    if operands and operands[0].value in {"e", "eval", "ea", "eval-all"}:
        operands = operands[1:]
    yield from (FileUse("read", word, if_there=True) for word in operands[:1])
    yield from _jq(words, known)


def _jq(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Options that take a name and a file, and what a filter loads, in any of its strings."""
    for index, word in enumerate(words):
        if word.value in {"--slurpfile", "--rawfile", "--argfile"}:
            yield from (FileUse("read", file) for file in words[index + 2 : index + 3])
    if unknown_filter(known.arguments) is not None:
        yield FileUse("read", unknown())
    for word in words[1:]:
        if word.value is not None and filter_loads(word.value):
            yield FileUse("read", unknown())
            yield from (
                FileUse("read", Word(text, (), "constant", text, text, text, tilde=text[:1] == "~"), below=True)
                for text in re.findall(r'"([^"\\]+)"', word.value)
            )
    yield from (FileUse("read", value, below=True) for value in known.arguments.values("-L", "--library-path"))


def _strings(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """`@FILE` brings more words, and what is no option is named in the complaint."""
    for word in words[1:]:
        if word.prefix.startswith("@"):
            yield FileUse("read", constant(word.value[1:]) if word.value is not None else unknown())


def _vim(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    yield from (FileUse("read", word) for _, word in known.arguments.operands)
    for level in known.arguments.values("-V"):
        # `-V10FILE`: a number and the file of a log.
        path = level.prefix.lstrip("0123456789") if level.value is not None else None
        if path != "":
            yield FileUse("write", constant(path) if path is not None else unknown())


_READERS: Mapping[str, Callable[[Sequence[Word], ProgramReading], Iterator[FileUse]]] = {
    **OUTPUT_READERS,
    "macos-script": sed_of_macos,
    "fetched-addresses": gh_touches,
    "package-files": package_touches,
    "cloned-folders": cloned_touches,
    "search-globs": rg_touches,
    "filter-files": _jq,
    "filter-or-files": _yq,
    "response-files": _strings,
    "read-operands": _vim,
    "key-archive": _tar,
    "names-as-they-are": _pax,
    "unpacked-folder": _unzip,
    "command-archive": _seven,
    "patched-files": _patch,
    "copied-archive": _cpio,
    "assigned-files": _dd,
    "edited-in-place": _edited,
    "compiled-beside": _compiled,
    "transfers": curl_touches,
    "moved-archive": _ar,
    "fetched-names": wget_touches,
    "split-input": _csplit,
}
"""By the name under which records name them."""

_SPECIAL = {key[0]: _READERS[reader] for key, reader in field_of("readers", "files").items()}

_OF_WRITERS = frozenset({
    "key-archive", "names-as-they-are", "unpacked-folder", "command-archive", "patched-files", "copied-archive",
})  # fmt: skip
_WRITERS = {key[0] for key, reader in field_of("readers", "files").items() if reader in _OF_WRITERS}
"""Programs that write files of which their words say where they go."""
