"""What tests of the gate share: only the system's programs stand on the path, since others ask."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from countersign.gate.paths.system_folders import SYSTEM_FOLDERS


@pytest.fixture(scope="package", autouse=True)
def system_path() -> Iterator[None]:
    """Keep only folders of the system on PATH while the gate's tests run; other tests of the process get it back."""
    with pytest.MonkeyPatch.context() as patch:
        entries = os.environ["PATH"].split(":")
        kept = [folder for folder in entries if f"{os.path.realpath(folder)}/".startswith(SYSTEM_FOLDERS)]
        patch.setenv("PATH", ":".join(kept))
        yield
