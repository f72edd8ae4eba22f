"""The commands of tmux: which of their words a shell reads, and which are commands of tmux again (docs/gate.md S7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from countersign.gate.shell.languages.inner_command import Inner
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant


def tmux_commands(words: Sequence[Word]) -> Iterator[Inner]:
    """Yield what these words of tmux run: commands with ``;`` between them, which can be shortened."""
    found = arguments(words, Grammar(frozenset("LSfcT"), ordered=True))
    for shell in found.values("-c"):
        yield Inner((shell,), None, text=True)
    for piece in "\n".join(word.value or "" for word in words[1:]).split(")"):
        _, opened, text = piece.partition("#(")
        if opened and text:
            yield Inner((constant(text),), None, text=True)  # in a format it stands for what the command prints
    command: list[Word] = []
    for word in [*(words[found.operands[0][0] :] if found.operands else ()), constant(";")]:
        value = word.value or ""
        if value.strip(";") or not value:
            command.append(constant(value.rstrip(";")) if value.endswith(";") else word)
        if value.endswith(";") and command:
            yield from _command(command)
            command = []


def _command(words: Sequence[Word]) -> Iterator[Inner]:
    short, shells, commands = _row(words[0].value or "")
    operands = [word for _, word in arguments(words, Grammar(frozenset(short), ordered=True)).operands]
    if shells:
        yield Inner(tuple(operands[: None if commands < 0 else commands]), None, text=True)
    if commands >= 0:
        for word in operands[commands:]:
            yield Inner((constant("tmux"), word), None, text=True)
        yield Inner((constant("tmux"), *operands[commands:]))


_COMMANDS: Mapping[str, tuple[str, bool, int]] = {
    "new-session": ("cenFfstxy", True, -1),
    "new-window": ("ceFnt", True, -1),
    "neww": ("ceFnt", True, -1),
    "split-window": ("celFtp", True, -1),
    "splitw": ("celFtp", True, -1),
    "respawn-pane": ("cet", True, -1),
    "respawnp": ("cet", True, -1),
    "respawn-window": ("cet", True, -1),
    "respawnw": ("cet", True, -1),
    "run-shell": ("cdt", True, -1),
    "pipe-pane": ("t", True, -1),
    "pipep": ("t", True, -1),
    "display-popup": ("bcdehsStTwxy", True, -1),
    "popup": ("bcdehsStTwxy", True, -1),
    "send-keys": ("cNt", True, -1),
    "copy-pipe": ("", True, -1),
    "if-shell": ("t", True, 1),
    "bind-key": ("NT", False, 1),
    "set-hook": ("t", False, 1),
    "confirm-before": ("cpt", False, 0),
    "command-prompt": ("IptT", False, 0),
    "set": ("t", False, -1),
    "display": ("cdFt", False, -1),
    "display-menu": ("bcHsStTxy", False, 1),
    "menu": ("bcHsStTxy", False, 1),
}
"""By the name of a command of tmux: its options that take a value, whether a shell reads its operands, and from which
operand on they are commands of tmux (-1: none is)."""


def _row(name: str) -> tuple[str, bool, int]:
    """The row of a command; of several that this could be short for, the first that runs something."""
    if name in _COMMANDS:
        return _COMMANDS[name]
    return next((row for full, row in _COMMANDS.items() if full.startswith(name)), ("t", False, -1))
