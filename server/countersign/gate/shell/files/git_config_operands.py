"""Which files ``git config`` reads and writes, as far as its words name them (docs/gate.md S10)."""

from __future__ import annotations

from collections.abc import Iterator

from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_CONFIG_READS = frozenset({
    "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--get-color", "--get-colorbool",
    "--show-origin", "--name-only",
})  # fmt: skip


_CONFIG_WRITES = ("--unset", "--unset-all", "--remove-section", "--rename-section")


_CONFIG_VERBS = frozenset("get list set unset edit get-all get-regexp rename-section remove-section".split())


def config_touches(git: Git) -> Iterator[FileUse]:
    """Yield what this command reads and writes."""
    found = git.arguments
    operands = [word for _, word in found.operands]
    verb = operands[0].value if operands else None
    if found.may_have("-l", "--list") and found.may_have("--local"):
        yield FileUse("read", constant(".git/config"), top=True)
    if found.may_have("--includes") and found.may_have("-f", "--file", "--blob"):
        yield FileUse("read", unknown())  # the settings that are named there may name any file
    reading = found.keeps(*_CONFIG_READS) or verb in {"get", "list", "get-all", "get-regexp"}
    if verb not in _CONFIG_VERBS and any(option.index > found.operands[0][0] for option in found.options if operands):
        # Whatever stands behind a name is its value, or one that it replaces, an option too.
        yield FileUse("write", constant(".git/config"), top=True)
    elif reading or (
        len(operands) == 1 and verb not in {"set", "unset", "edit"} and not found.may_have(*_CONFIG_WRITES)
    ):
        return
    named = list(found.valued("-f", "--file"))
    if named:
        yield from (FileUse("write", word) for word in named)
    elif found.may_have("--global"):
        yield FileUse("write", Word("~/.gitconfig", (), "constant", "~/.gitconfig", "~/.gitconfig", "", tilde=True))
    elif found.may_have("--system"):
        yield FileUse("write", constant("/etc/gitconfig"))
    else:
        yield FileUse("write", constant(".git/config"))
