"""Files that compilers and build tools write where a word of theirs says so in a form of its own.

A folder that is named counts by a file in it, since the names of what is written there are not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from countersign.gate.paths.sensitive_paths import HOLDING_PROTECTED
from countersign.gate.patterns import fold
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.programs.tables import FACETS, field_of, words_of
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_PLUGIN_OUTPUT = re.compile(r"--?\w+_out=(.*)", re.DOTALL)


def _protoc(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``--go_out=FOLDER``, ``--go_out=OPTIONS:FOLDER``."""
    for word in words[1:]:
        found = _PLUGIN_OUTPUT.match(word.prefix)
        if found is not None:
            yield from inside(found[1].rpartition(":")[2] if word.value is not None else None)
    yield from _by_option(words, known)


def _sass(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``sass FROM TO``, ``sass FROM:TO …``."""
    operands = [word for word in words[1:] if word.value is None or not word.value.startswith("-")]
    for word in operands:
        if ":" in word.prefix:
            yield from inside(word.prefix.partition(":")[2] if word.value is not None else None)
    yield from (FileUse("write", word) for word in operands[1:] if ":" not in word.prefix)


_CMAKE = Grammar(frozenset("SBDUGTAC"), frozenset({"build", "install-prefix", "preset", "toolchain"}))


def _cmake(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    for word in arguments(words, _CMAKE).values("-B", "--install-prefix", "--build"):
        yield from inside(word.value, tilde=word.tilde)
    if len(words) > 2 and words[1].value == "-E":
        yield from _cmake_tool(words[2].value, words[3:])
    yield from _told(words)


def _ctest(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    yield from _told(words)


_TELLING = ("--help", "--version", "-version", "/V", "--system-information")


def _told(words: Sequence[Word]) -> Iterator[FileUse]:
    """Help and versions go into the file behind the option, or behind the name that it takes."""
    for index, word in enumerate(words):
        if word.prefix.startswith(_TELLING):
            yield from (FileUse("write", each) for each in words[index + 1 : index + 3] if each.prefix[:1] != "-")


_CHANGING = frozenset(
    "touch touch_nocreate make_directory remove remove_directory rm rename create_symlink create_hardlink".split()
)


_UNPACKING = re.compile(r"tar [-a-z]*x")
_PACKING = re.compile(r"-?[a-wyzA-Z]*c[a-wyzA-Z]*")


def _cmake_tool(tool: str | None, words: Sequence[Word]) -> Iterator[FileUse]:
    """``cmake -E touch FILE``: small programs of cmake's own."""
    named = [word for word in words if not word.prefix.startswith("-")]
    if tool in _CHANGING:
        yield from (FileUse("write", word) for word in named)
        yield from (FileUse("write", word, brought=named[0]) for word in named[1:2])
    elif tool is None or tool.startswith("copy"):
        yield from (FileUse("read", word) for word in named[:-1])
        for word in named[-1:]:
            yield FileUse("write", word)
            yield from (FileUse("write", word, brought=source, copied=True) for source in named[:-1])
            yield from inside(word.value, tilde=word.tilde)
    elif tool == "tar" and words and _PACKING.match(words[0].prefix):
        archive, *packed = [word for word in words[1:] if not word.prefix.startswith("-")] or [unknown()]
        yield FileUse("write", archive)
        yield from (FileUse("read", word, below=True) for word in packed)
    elif _UNPACKING.match(" ".join([tool, *(word.prefix for word in words[:1])])):
        yield FileUse("write", unknown())


_SUDO = Grammar(
    frozenset("CDghpRrTtUu"),
    frozenset("close-from chdir group host prompt chroot role command-timeout type other-user user".split()),
    ordered=True,
)


def _sudo(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``sudo -e FILE …``: an editor for files in place of a command."""
    found = arguments(words, _SUDO)
    if found.may_have("-e", "--edit"):
        yield from (FileUse("write", word) for _, word in found.operands)


_INI_OUTPUT = re.compile(r"(?:-o|--override-ini=)?(?:cache_dir|log_file|junit_\w*file)=(.*)", re.DOTALL)


def _pytest(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``-o cache_dir=FOLDER``: a setting that names what is written."""
    for word in words[1:]:
        found = _INI_OUTPUT.match(word.prefix)
        if found is not None:
            yield from inside(found[1] if word.value is not None else None)


_REPORTER_OUTPUT = re.compile(
    r"(?:-O|--reporter-?[oO]ptions?=)?(?:.*,)?(?:output|mochaFile|reportFilename|reportDir)=([^,]*)", re.DOTALL
)


def _mocha(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``--reporter-option output=FILE``."""
    for word in words[1:]:
        found = _REPORTER_OUTPUT.match(word.prefix)
        if found is not None:
            yield from inside(found[1] if word.value is not None else None)


_OUTPUT_OPTIONS: Mapping[str, str] = {key[0]: letters for key, letters in field_of("outputs", "letters").items()}
"""Letters whose value is a file or folder that is written."""


def _by_option(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    name = words[0].value or ""
    letters = _OUTPUT_OPTIONS[name].split()
    found = arguments(words, Grammar(frozenset(letter[1] for letter in letters), alone=True))
    for word in found.values(*letters):
        yield from inside(word.value, tilde=word.tilde)
    if name in _MAKES_FOLDERS:
        yield from _makes_folders(words, known)


_MAKES_FOLDERS = words_of("outputs", "filled_by")
"""Subcommands that fill the folders which they name."""


def _makes_folders(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    makes = _MAKES_FOLDERS[words[0].value or ""]
    for index, word in enumerate(words):
        if index and word.value in makes:
            for each in words[index + 1 :]:
                if each.value is None or not each.value.startswith("-"):
                    yield from inside(each.value, tilde=each.tilde)
            return


def inside(folder: str | None, *, tilde: bool = False) -> Iterator[FileUse]:
    """Something that is written below a folder, or is the file of this name. ``tilde``: it begins with a home."""
    if folder is None:
        yield FileUse("write", unknown())
    elif folder:
        yield FileUse("write", constant(f"{folder.rstrip('/')}/out")._replace(tilde=tilde))
        if fold(os.path.basename(os.path.normpath(folder))) in HOLDING_PROTECTED:
            yield FileUse("write", constant(folder)._replace(tilde=tilde), unknown_names=True)


_ALWAYS = {
    key[0]: tuple(
        (tuple(command.split("+")), path) for command, _, path in (each.partition("=") for each in said.split())
    )
    for key, said in FACETS["always_writes"].items()
}
"""By program its subcommands, or options, that write a file without naming it, and the file."""


def always_written(name: str, words: Sequence[Word]) -> Iterator[FileUse]:
    """Yield what a subcommand writes that no word of the command names: ``pre-commit install``."""
    if name not in _ALWAYS:
        return
    operands = tuple(word.value for word in words[1:] if not word.prefix.startswith("-"))
    options = {word.prefix.partition("=")[0] for word in words[1:] if word.prefix.startswith("-")}
    # An option in front may take the word behind it.
    begins = (0, 1) if len(words) > 1 and words[1].prefix.startswith("-") else (0,)
    for command, path in _ALWAYS[name]:
        alone = command == _ALONE and not operands and options <= _FORCING
        if alone or command[0] in options or any(operands[at : at + len(command)] == command for at in begins):
            yield FileUse("write", constant(path)._replace(tilde=path.startswith("~/")))


_ALONE = ("",)
"""Stands for a program without a subcommand."""
_FORCING = frozenset({"-f", "--force"})


_FOLDERS = Grammar(
    frozenset("doCO"), frozenset({"output-directory", "directory", "output-folder", "dest", "outdir", "target"})
)
_INTO = (
    "-d", "-o", "-C", "-O", "-output-directory", "--output-directory", "--directory", "--output-folder", "--dest",
    "--outdir", "--target",
)  # fmt: skip


def _unpacks(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Files of any name, in the folder that an option names or in the current one."""
    for folder in arguments(words, _FOLDERS).values(*_INTO) or [constant(".")]:
        yield FileUse("write", folder, unknown_names=True)


def _unpacks_into(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``-e ARCHIVE FOLDER``: the modules of Python."""
    found = arguments(words, Grammar(frozenset(), frozenset()))
    if found.may_have("-e", "--extract"):
        folders = [word for _, word in found.operands[1:2]]
        yield FileUse("write", folders[0] if folders else constant("."), unknown_names=True)
    elif found.may_have("-c", "--create"):
        yield from (FileUse("write", word) for _, word in found.operands[:1])
        yield from (FileUse("read", word, below=True) for _, word in found.operands[1:])


def _database(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """The database of SQLite's shell, which may be repaired when it is opened; options take no part in its form."""
    for word in words[1:]:
        if re.match(r"-|\.[a-z]", word.prefix) is None:
            yield FileUse("write", word, shown=True, opened=True)


OUTPUT_READERS: Mapping[str, Callable[[Sequence[Word], ProgramReading], Iterator[FileUse]]] = {
    "option-letters": _by_option,
    "filled-folders": _makes_folders,
    "plugin-outputs": _protoc,
    "compiled-pairs": _sass,
    "build-folders": _cmake,
    "told": _ctest,
    "database": _database,
    "unpacks": _unpacks,
    "unpacks-into": _unpacks_into,
    "edited-files": _sudo,
    "setting-outputs": _pytest,
    "reporter-outputs": _mocha,
}
"""By the name under which records name them (facet ``readers``, field ``files``)."""
