"""A system that takes half of what is written at a time: POSIX allows it, and the other half must not be lost."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.stdio.desk import open_desk
from tests.stdio.peer import Peer
from tests.survival.post_crash_checks import blocking_remains, broken_chain, left_open

from .failing import WAYS, Heard, ask_and_approve, blocking_case_remains, blocking_prepare, judge

SOURCE = Path(__file__).with_name("short_writes.c")
pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not os.path.exists("/usr/include/dlfcn.h"),
    reason="a C compiler is missing, which makes the shim (Debian: gcc, libc6-dev)",
)


@pytest.fixture
def shim(tmp_path: Path) -> Iterator[tuple[dict[str, str], mmap.mmap]]:
    """The environment that preloads it, and the numbers it shares with us."""
    library, numbers = tmp_path / "short_writes.so", tmp_path / "numbers"
    words = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", str(SOURCE), "-o", str(library), "-ldl"]
    subprocess.run(words, check=True, timeout=PATIENCE)
    numbers.write_bytes(bytes(8))
    with open(numbers, "r+b") as file, mmap.mmap(file.fileno(), 8) as shared:
        yield {"LD_PRELOAD": str(library), "SHORT_WRITES": str(numbers)}, shared


async def test_what_is_written_in_parts_is_written_whole(tmp_path: Path, shim) -> None:
    environment, shared = shim
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    peer = Peer.python("-m", "countersign", "serve", env={**os.environ, **environment})
    async with open_desk(workspace, storage, peer=peer) as desk:
        shared[:4] = struct.pack("i", 1)
        for number, way in enumerate(WAYS):
            token, heard = f"tok-short-0-{number}-end", Heard()
            await ask_and_approve(desk, token, blocking_prepare(workspace, way, token), heard)
            remains = blocking_case_remains(workspace, storage, way, token)
            assert [*judge(remains, token, heard), *heard.refusals] == [], (way, heard)
            assert [result["success"] for result in heard.results] == [True]
            assert remains.effects[token] == 1
        shared[:4] = struct.pack("i", 0)
    cut = struct.unpack("i", shared[4:])[0]
    assert cut > 100, "the shim was not there"
    remains = blocking_remains(workspace, storage)
    assert [*left_open(remains), *broken_chain(storage)] == []
