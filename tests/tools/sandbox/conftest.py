"""The workbench with a sandbox as a fixture."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.patience import PATIENCE
from tests.tools.sandbox.support import SandboxBench


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SandboxBench]:
    made = SandboxBench(tmp_path)
    yield made
    async with asyncio.timeout(PATIENCE):
        await made.desk.close()
