"""Generated texts against bash's own parser: what the recognizer accepts and what the printer prints.

A text that is recognized as Plain Bash must be read by our parser, accepted by ``bash -n``, and print as a text that
``bash -n`` accepts, that prints as itself and starts the same programs. ``replay.py`` runs texts for real.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence

from countersign.gate.shell.printing.normal_values import NotPrintable
from countersign.gate.shell.printing.print_tree import reprint
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.plain_bash import outside
from countersign.gate.shell.syntax.tree import NotUnderstood

from .replay import generated, names_in

TIME_LIMIT = 900.0
"""Seconds for the texts of one range."""

_CHECKS_EACH = "while IFS= read -r -d '' text; do bash -n <<< \"$text\" &>/dev/null || printf '%s\\0' \"$text\"; done"


def failures(seed: int, numbers: range) -> Iterator[str]:
    """What is wrong with the texts of these numbers, and with what is printed of them."""
    texts: dict[str, None] = {}
    for text in generated(seed, numbers):
        plain = outside(text) is None
        printed = reprint(text)
        if plain:
            texts[text] = None
            try:
                read(text)
            except NotUnderstood as error:
                yield f"{text!r} is Plain Bash and cannot be parsed: {error}"
                continue
        if isinstance(printed, NotPrintable):
            continue
        texts[printed] = None
        if reprint(printed) != printed:
            yield f"{text!r} prints as {printed!r}, which prints as {reprint(printed)!r}"
        elif names_in(printed) != names_in(text):
            yield f"{text!r} prints as {printed!r}, which starts other programs"
    yield from (f"bash does not accept {text!r}" for text in _refused(list(texts)))


def _refused(texts: Sequence[str]) -> list[str]:
    """The texts that ``bash -n`` refuses."""
    bash = shutil.which("bash")
    assert bash is not None
    given = "\0".join([*texts, ""]).encode()
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [bash, "--norc", "--noprofile", "-c", _CHECKS_EACH],
        input=given,
        env=environment,
        capture_output=True,
        check=True,
        timeout=TIME_LIMIT,
    )
    return done.stdout.decode().split("\0")[:-1]
