"""What ``find -delete`` deletes below its folders (docs/gate.md S10, P4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.paths.sensitive_paths import PROTECTED, PROTECTED_ENDINGS, protected_names
from countersign.gate.patterns import is_glob
from countersign.gate.shell.files.file_use import FileUse, Operation
from countersign.gate.shell.languages.find import RUNS, folders_in
from countersign.gate.shell.languages.find_tests import find_tests
from countersign.gate.shell.programs.argv import Arguments, is_listed
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant


def deleted_below(folders: Sequence[Word], row: Program, found: Arguments) -> Iterator[FileUse]:
    """The folders, below which something is deleted, and what a test names as far as that is spelled out."""
    names = [option.name for option in found.options]
    tests = any(name not in _NO_TESTS and is_listed(name, row.grammar) for name in names)
    change: Operation = "write" if tests or found.has("-L", "-H", "-follow") else "delete"
    yield from (FileUse(change, word, below=True, removes=True) for word in folders)
    for option in found.options:
        value = (option.value.value or "") if option.value is not None else ""
        plain = value.rstrip("*/")
        if plain and option.name in _BY_NAME and not is_glob(plain):
            yield from (
                FileUse("delete", constant(f"{folder.value.rstrip('/')}/{plain}"))
                for folder in folders
                if folder.value is not None
            )
        elif plain and option.name in _BY_PATH and not is_glob(plain):
            yield FileUse("delete", constant(plain))


_BY_NAME = frozenset({"-name", "-iname"})
_BY_PATH = frozenset({"-path", "-ipath", "-wholename", "-iwholename"})
_NO_TESTS = frozenset({
    "-delete", "-depth", "-d", "-L", "-P", "-H", "-D", "-xdev", "-x", "-mount", "-noleaf", "-nowarn", "-warn", "-true",
    "-a", "-and", "-o", "-or", "-print", "-print0", "-printf", "-ls", "-exec", "-execdir", "-ok", "-okdir", "-mindepth",
})  # fmt: skip
"""Words of ``find`` that leave nothing out of what it deletes: orders, actions and how to go."""


def deleted_protected(words: Sequence[Word], found: Arguments) -> Iterator[FileUse]:
    """The protected places below its folders, unless the tests in front of ``-delete`` leave all of them out."""
    if _leaves_protected_out(words):
        return
    for folder in folders_in(found.operands, found.options):
        yield FileUse("write", folder, unknown_names=True)
        if folder.value is not None:
            held = (constant(f"{folder.value.rstrip('/')}/{name}") for name in protected_names())
            yield from (FileUse("delete", word._replace(tilde=folder.tilde), if_there=True) for word in held)


def _leaves_protected_out(words: Sequence[Word]) -> bool:
    """Whether find surely deletes nothing that is called like a protected place, or like what lies in one. Only tests
    that are certain count (``find_tests.py``), and case does not."""
    values = [word.value for word in words[1:]]
    while values and values[0] in {"-H", "-L", "-P"}:
        del values[0]
    texts: list[str] = []
    for word, value in zip(words[len(words) - len(values) :], values, strict=True):
        if value is None or word.tilde:
            return False
        named = bool(texts) and texts[-1] == "-name"
        texts.append(value.lower() if named else _MEANT.get(value, value))
    tests = find_tests(texts)
    return tests is not None and not any(tests.may_give(name, kind) for name in _MET for kind in ("file", "folder"))


_MEANT = {"-delete": RUNS, "-iname": "-name"}
_INSIDE = (
    "head index packed-refs pre-commit post-checkout main settings.json settings.local.json tasks.json launch.json "
    "extensions.json hooks.json config.json".split()
)
"""Names of files that protected places hold."""
_MET = tuple(
    name.lower() for name in dict.fromkeys((
        *(names[-1] for names in PROTECTED), *_INSIDE, *(f"x{ending}" for ending in PROTECTED_ENDINGS),
    ))
)  # fmt: skip
