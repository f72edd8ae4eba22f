"""The workbench as a fixture."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from .workbench import PATIENCE, Workbench


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    made = Workbench(tmp_path)
    yield made
    async with asyncio.timeout(PATIENCE):
        await made.desk.close()
