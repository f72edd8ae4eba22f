"""A child process that matches a pattern against texts, and does nothing else. Run as a script, never imported.

A regular expression can take for ever, and while it does no other Python code runs in the same process. Here it may:
the parent kills this child when its time is over, and a limit on processor time ends it should the parent be gone.

Spoken over stdin and stdout, a line of JSON each way: first ``{"pattern", "most", "width", "seconds"}``, answered by
``{"error"}``, null if the pattern is good; then ``[[path, text], …]``, answered by ``[[path, line, text], …]``.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import warnings
from typing import Any


def main() -> None:
    warnings.simplefilter("ignore")
    task = json.loads(sys.stdin.readline())
    seconds = int(task["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        pattern = re.compile(task["pattern"])
    except (re.error, OverflowError, RecursionError) as error:
        _say({"error": str(error)})
        return
    _say({"error": None})
    left = int(task["most"])
    for frame in sys.stdin:
        hits: list[tuple[str, int, str]] = []
        for path, text in json.loads(frame):
            if left == 0:
                break
            found = _hits(pattern, path, text, left, int(task["width"]))
            left -= len(found)
            hits += found
        _say(hits)


def _hits(pattern: re.Pattern[str], path: str, text: str, most: int, width: int) -> list[tuple[str, int, str]]:
    hits: list[tuple[str, int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if len(hits) == most:
            break
        found = pattern.search(line)
        if found is not None:
            hits.append((path, number, _around(line.rstrip("\r"), found.start(), width)))
    return hits


def _around(line: str, at: int, width: int) -> str:
    """The line, or so much of a long one around the hit."""
    if len(line) <= width:
        return line
    start = max(0, min(at - width // 4, len(line) - width))
    return ("…" if start else "") + line[start : start + width] + ("…" if start + width < len(line) else "")


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
