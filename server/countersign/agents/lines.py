"""Lines of a byte stream, in time linear in its bytes and with a limit for each line.

The rest of an unfinished line is appended to, never joined and searched anew for each chunk: a long line that comes
byte by byte would be copied again and again.
"""

from __future__ import annotations


class LineTooLong(ValueError):
    """A line is longer than its limit; nothing after it can be read."""


class Lines:
    """Splits chunks into lines. A class because the rest of a chunk waits for the next one."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that the chunk completes, without their line feeds.

        Raises:
            LineTooLong: one of them, or the unfinished one, is over the limit.
        """
        *lines, rest = chunk.split(b"\n")
        if lines:
            self._held += lines[0]
            lines[0] = self.rest()
        self._held += rest
        if max([len(self._held), *map(len, lines)]) > self._most_bytes:
            raise LineTooLong(f"a line is longer than {self._most_bytes} bytes")
        return lines

    def rest(self) -> bytes:
        """Return what no line feed ended, and forget it."""
        rest, self._held = bytes(self._held), bytearray()
        return rest
