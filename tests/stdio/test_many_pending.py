"""Many open requests: all listed, all answered, little memory for each, and all there again after a reload."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.stdio.many_requests import crowd, reloaded

NUMBER = 1_000
"""``make soak`` opens ten thousand; the memory of one is the same."""
MOST = 200 * NUMBER / 10_000 + 25
"""MB: the share of what ten thousand may take, and what is taken once."""
RELOADED = 500


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
async def test_many_requests_are_listed_and_answered_within_their_memory(tmp_path: Path) -> None:
    found = await crowd(NUMBER, tmp_path)
    assert (found.shown, found.listed, found.denied) == (NUMBER, NUMBER, NUMBER)
    assert found.grown < MOST


async def test_all_open_requests_are_there_again_after_a_reload_each_as_it_was(tmp_path: Path) -> None:
    found = await reloaded(RELOADED, tmp_path)
    assert len(found.before) == RELOADED
    assert sorted(map(json.dumps, found.after)) == sorted(map(json.dumps, found.before))
