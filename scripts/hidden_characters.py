"""Write the client's table of hidden characters from the server's, or with ``--check`` compare the two.

The gate (`gate/probes/hidden_characters.py`) owns the table; the client draws these characters as escapes. The table is
generated as the ranges of a regular expression, one line for each few ranges.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from countersign.gate.probes.hidden_characters import is_never_drawn

TARGET = Path(__file__).resolve().parent.parent / "client-ts/src/hidden.gen.ts"
HEAD = """\
// Made by `make wire` from server/countersign/gate/probes/hidden_characters.py; not edited by hand.

/** Control, format, bidirectional, private and never-drawn characters, as the inside of a character class. */
export const HIDDEN_RANGES =
"""
RANGES_PER_LINE = 6


def ranges() -> Iterator[tuple[int, int]]:
    """Return the hidden code points as closed ranges, in order."""
    start: int | None = None
    for code in range(sys.maxunicode + 2):
        hidden = code <= sys.maxunicode and is_never_drawn(chr(code))
        if hidden and start is None:
            start = code
        elif not hidden and start is not None:
            yield start, code - 1
            start = None


def rendered() -> str:
    texts = [f"\\\\u{{{low:x}}}" + (f"-\\\\u{{{high:x}}}" if high > low else "") for low, high in ranges()]
    lines = ["".join(texts[at : at + RANGES_PER_LINE]) for at in range(0, len(texts), RANGES_PER_LINE)]
    return HEAD + " +\n".join(f"  '{line}'" for line in lines) + ";\n"


def main() -> int:
    text = rendered()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.name} differs from the gate's table; run `make wire`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
