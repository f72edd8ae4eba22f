"""Protected places and secrets that a pattern of git's may choose (``git checkout topic -- '.vscod*'``).

Which files a pathspec stands for is said by the index or another commit, not by the disk, so it is compared with the
names themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from countersign.gate.paths.sensitive_paths import PROTECTED, SECRET_SAMPLES
from countersign.gate.patterns import wildcards_meet
from countersign.gate.shell.files.file_use import Operation

_GAPS = re.compile(r"\*+|\?|\[[^]]*\]?|\\.?")
"""What stands for other characters; all count as any text."""

_BELOW = ("", "/settings.json", "/tasks.json", "/launch.json", "/x")
_PROTECTED = tuple("/".join(names) + below for names in PROTECTED for below in _BELOW)
_SECRET = tuple(name for name in SECRET_SAMPLES if "\0" not in name)


def met_names(pattern: str, operation: Operation, *, any_case: bool) -> Iterator[str]:
    """Yield the first protected place that a pattern may choose where it is written, and each secret where it is
    read."""
    spelled = pattern.lower() if any_case else pattern
    # Without a wildcard it names a folder with all below.
    texts = (spelled,) if _GAPS.search(spelled) else (spelled, f"{spelled.rstrip('/')}/*")
    ways = [_GAPS.split(text) for text in texts]
    names = _SECRET if operation == "read" else _PROTECTED
    known = [name for name in names if any(wildcards_meet(pieces, (name,)) for pieces in ways)]
    yield from known if operation == "read" else known[:1]
