"""Git's index, as bytes for tests."""

from __future__ import annotations


def entry(name: str, mode: int, *, extended: bool = False) -> bytes:
    """One name in an index with SHA-1 names."""
    path = name.encode()
    flags = (len(path) | (0x4000 if extended else 0)).to_bytes(2, "big") + (b"\x40\x00" if extended else b"")
    whole = bytes(24) + mode.to_bytes(4, "big") + bytes(32) + flags + path
    return whole + bytes(8 - len(whole) % 8)


def index_of(*entries: bytes, extensions: bytes = b"", version: int = 2) -> bytes:
    """An index of these entries. Its checksum is left out, as git lets it be."""
    head = b"DIRC" + version.to_bytes(4, "big") + len(entries).to_bytes(4, "big")
    return head + b"".join(entries) + extensions + bytes(20)
