"""Texts that a command hands to a shell in turn: which shell reads them, and whether it reads them as we do.

The text of ``bash -c``, ``sh -c`` and ``dash -c`` is printed anew within its argument. Any other program gets its text
as it was written (``awk`` with ``system``, ``ssh``, ``watch``), so it needs another ground: plain words, quoted or not,
which every shell reads alike, or a program known to hand its text to ``sh`` and a second parser that agrees.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from countersign.gate.shell.effects.unwrap import Unwrapped, program
from countersign.gate.shell.printing.bash_only import needs_bash
from countersign.gate.shell.printing.second_opinion import disagreement
from countersign.gate.shell.programs.argv import arguments
from countersign.gate.shell.programs.tables import SHELLS, names_with
from countersign.gate.shell.programs.wrapper_row import SHELL_GRAMMAR
from countersign.gate.shell.syntax.bash_check import is_plain
from countersign.gate.shell.syntax.words import GIVEN_NAMES

_REPRINTED = names_with("like_bash")
"""Shells whose text is printed anew. What `fish` or `csh` reads does not mean the same once quoted as bash quotes."""

_OPTIONS = frozenset("-c -e -u -x -l -o --login --norc --noprofile".split())
"""Their options that leave the meaning of a text alone, unlike `-k`, `-O` and `--posix`. With `-i` an error ends a
text early: bash goes on with its next line, and dash with commands from its input; and it expands aliases."""
_SET = frozenset({"errexit", "nounset", "pipefail", "xtrace"})

_USES_SH = names_with("hands_to_sh")
"""Programs that hand a text to ``sh``, whatever shell the user has."""

_READ_OTHERWISE = "`sh` may read a text in this command otherwise than bash"

_KEYWORDS = frozenset("and or not begin end switch repeat foreach noglob nocorrect onintr goto - @".split())
"""First words that run what follows them, or are syntax, in fish, zsh or csh."""

_QUOTED_WORDS = re.compile(r"'[\w./@+-]+'(?: '[\w ./:=,@+%^*-]*')*", re.ASCII)
"""Words in single quotes, of characters that mean nothing there to any shell: the first is a program's name."""


class ShellText(NamedTuple):
    """The text of ``SHELL -c TEXT``."""

    shell: str
    text: str


def shell_texts(unwrapped: Unwrapped) -> dict[int, ShellText]:
    """The texts of shells that are printed anew, by the index of the word that holds each."""
    found: dict[int, ShellText] = {}
    for layer in unwrapped.layers:
        shell = program(layer.words[0].value or "") if layer.words and layer.start is not None else ""
        if layer.start is None or shell not in _REPRINTED:
            continue
        parsed = arguments(layer.words, SHELL_GRAMMAR)
        plain = all(
            option.name in _OPTIONS and (option.value is None or (option.value.value in _SET and not option.attached))
            for option in parsed.options
        )
        if plain and parsed.has("-c") and parsed.operands and (text := parsed.operands[0][1].value) is not None:
            found[layer.start + parsed.operands[0][0]] = ShellText(shell, text)
    return found


def unprintable(unwrapped: Unwrapped) -> str | None:
    """Why a command cannot be printed together with the texts that it runs in turn, or None."""
    shells = _programs(unwrapped) & SHELLS.keys()
    if unwrapped.reads_stdin and shells:
        return "a shell that reads commands from its input"
    if not unwrapped.texts:
        return None
    if others := sorted(shells - _REPRINTED):
        return f"a text for `{others[0]}`"
    found = shell_texts(unwrapped)
    known = {each.text for each in found.values()} if shells else {word.value for word in unwrapped.layers[0].words}
    if not known.issuperset([text.removesuffix(GIVEN_NAMES) for text in unwrapped.texts]):
        return "a text that is evaluated in turn and is no argument of its own, or whose shell has other options"
    if any(each.shell != "bash" and needs_bash(each.text) for each in found.values()):
        return "a text for another shell than bash"
    return None


def doubt(text: str, unwrapped: Unwrapped) -> str | None:
    """Why a text that this command hands on as it is written may be read otherwise than we read it, or None."""
    programs = _programs(unwrapped)
    shells = [each.shell for each in shell_texts(unwrapped).values() if each.text == text]
    if shells:
        # Where it stands in a variable, it is printed as it is.
        return "a text for another shell than bash" if set(shells) != {"bash"} and needs_bash(text) else None
    text = text.removesuffix(GIVEN_NAMES)
    if others := sorted(programs & SHELLS.keys()):
        return f"a text that `{others[0]}` reads"
    if is_plain(text):
        keyword = text.split(" ", 1)[0]
        if keyword in _KEYWORDS:
            return f"`{keyword}` is a keyword of some shells"
        return _READ_OTHERWISE if needs_bash(text) else None
    if _QUOTED_WORDS.fullmatch(text):
        return None
    if programs.isdisjoint(_USES_SH):
        return "the shell that reads a text in this command is not known"
    if needs_bash(text):
        return _READ_OTHERWISE
    return disagreement(text)


def _programs(unwrapped: Unwrapped) -> set[str]:
    return {program(layer.words[0].value or "") for layer in unwrapped.layers if layer.words}
