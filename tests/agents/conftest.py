"""Fixtures of the tests of hosted agents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .desk import Place, make_place


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = make_place(tmp_path)
    try:
        yield made
    finally:
        await made.close()
