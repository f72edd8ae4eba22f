"""Asking bash itself whether it would accept a text (docs/gate.md S5): ``bash -n``, which reads and runs nothing.

Our reading and bash's must agree before anything is allowed; any doubt is a disagreement. The same binary is asked that
would run the command, with nothing in its environment that could make it run something of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

SyntaxChecker = Callable[[str], str | None]
"""Whether bash accepts a text: None if it does, else why not."""

TIME_LIMIT: Final = 5.0
"""Seconds for one answer. Bash reads 100 kB in 20 ms; more means that something is wrong, which is a disagreement."""

KEPT: Final = 2048
"""How many answers are kept. A kept text may be 100 kB, so their bytes are bounded as well."""

KEPT_BYTES: Final = 4_000_000

_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,^-][A-Za-z0-9_./:@%+,^=-]*(?: +[A-Za-z0-9_./:@%+,^=-]+)*")
_RESERVED = frozenset({
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
    "in", "time", "coproc",
})  # fmt: skip


INNER_HEREDOCS: Final = ": $(: <<E\n)\nE\n)"
"""What only a bash accepts that knows here-documents inside `$(…)`, which is from 4.0 on (macOS has 3.2). Every bash of
the machine is asked about it, since an agent may start another one than we do."""

_PLACES = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash")


def bashes() -> list[str]:
    """Every bash that somebody may start here, the one that we start first."""
    return [*dict.fromkeys(filter(None, map(shutil.which, ("bash", *_PLACES))))]


class BashSyntax:
    """Answers for one bash. Keeps answers, because they depend on the text alone; safe to call from any thread."""

    def __init__(self, bash: str | None = None) -> None:
        self._bashes = [bash] if bash else bashes()
        self._answers: OrderedDict[str, str | None] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __call__(self, text: str) -> str | None:
        """None if bash accepts the text without a word, else why not. Blocks for the time of one small process."""
        if is_plain(text):
            return None
        with self._lock:
            if text in self._answers:
                self._answers.move_to_end(text)
                return self._answers[text]
        answer = self._blocking_ask(text)
        with self._lock:
            if text not in self._answers:
                self._bytes += len(text)
            self._answers[text] = answer
            while len(self._answers) > KEPT or self._bytes > KEPT_BYTES:
                dropped, _ = self._answers.popitem(last=False)
                self._bytes -= len(dropped)
        return answer

    def _blocking_ask(self, text: str) -> str | None:
        if not self._bashes:
            return "bash is not installed, so the syntax cannot be checked"
        asked = self._bashes if text == INNER_HEREDOCS else self._bashes[:1]
        return next(filter(None, (_ask(bash, text) for bash in asked)), None)


def _ask(bash: str, text: str) -> str | None:
    try:
        done = subprocess.run(
            [bash, "--norc", "--noprofile", "-n"],
            input=text.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            cwd="/",
            timeout=TIME_LIMIT,
            check=False,
            process_group=0,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return "bash could not be run to check the syntax"
    if done.returncode == 0 and not done.stderr:
        return None
    complaint = done.stderr.decode(errors="replace").strip().split("\n")[0][:200]
    return f"bash does not accept the text: {complaint}" if complaint else "bash does not accept the text"


def is_plain(text: str) -> bool:
    """Whether a text is nothing but words in a line, over which there is nothing to disagree."""
    return _PLAIN.fullmatch(text) is not None and text.split(" ", 1)[0] not in _RESERVED
