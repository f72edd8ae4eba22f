"""SQLite's write-ahead log, looked at from outside: does it end in an append that was never completed?

SQLite drops such an append by itself and says nothing of it. We want it said, so we look before SQLite does. The format
is documented (https://www.sqlite.org/fileformat2.html#the_write_ahead_log): a header, then frames of one page each;
the last frame of a commit names the size of the database, and each frame's checksum goes on from the one before it.
"""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path

from countersign.settings.regular_file import open_regular

HEADER, FRAME_HEADER = 32, 24
BIG_ENDIAN, LITTLE_ENDIAN = 0x377F0683, 0x377F0682


def blocking_incomplete(ledger: Path) -> bool:
    """Whether behind the last whole commit of the log stands the beginning of another. False where there is no log.

    To be called while nobody writes: with the write lock held, or without a server.

    Raises:
        OSError: the log cannot be read.
    """
    try:
        file = io.BufferedReader(open_regular(f"{ledger}-wal"))
    except FileNotFoundError:
        return False
    with file:
        header = file.read(HEADER)
        if len(header) < HEADER:
            return False
        magic, _, page, _, salt1, salt2, *running = struct.unpack(">8I", header)
        if magic not in (BIG_ENDIAN, LITTLE_ENDIAN) or page == 0:
            return False
        order = ">" if magic == BIG_ENDIAN else "<"
        # First along the headers alone, to where the last commit that claims to be whole begins.
        frames: list[tuple[bool, tuple[int, int]]] = []
        size, length = os.fstat(file.fileno()).st_size, FRAME_HEADER + page
        for offset in range(HEADER, size, length):
            file.seek(offset)
            frame = file.read(FRAME_HEADER)
            if len(frame) < FRAME_HEADER:
                return len(frame) < 16 or frame[8:16] == struct.pack(">2I", salt1, salt2)
            _, pages, *rest = struct.unpack(">6I", frame)
            if rest[:2] != [salt1, salt2]:
                break
            if offset + length > size:
                return True
            frames.append((pages != 0, (rest[2], rest[3])))
        if not frames:
            return False
        if not frames[-1][0]:
            return True
        # Then its own frames by their checksums: all before it were synced before it began.
        ends = [number for number, (commits, _) in enumerate(frames) if commits]
        first = ends[-2] + 1 if len(ends) > 1 else 0
        checksum = frames[first - 1][1] if first else (running[0], running[1])
        for number in range(first, len(frames)):
            file.seek(HEADER + number * length)
            data = file.read(length)
            checksum = _checksum(data[FRAME_HEADER:], _checksum(data[:8], checksum, order), order)
            if checksum != frames[number][1]:
                return True
        return False


def _checksum(data: bytes, before: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
