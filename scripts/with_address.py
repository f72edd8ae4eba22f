"""Run a command while client-ts/package.json holds the address of the project's repository.

The address is no part of the sources, because each publisher has their own: COUNTERSIGN_REPOSITORY holds it, such as
`https://example.com/someone/countersign`. Of it come `repository`, `homepage` and `bugs`, which a page of extensions
shows. Without it the command runs as it is. The file is put back when the command has ended, however it did.

    COUNTERSIGN_REPOSITORY=https://example.com/someone/countersign make package
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MANIFEST = Path(__file__).resolve().parents[1] / "client-ts" / "package.json"
ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._-]+)+")


def addressed(manifest: Mapping[str, Any], address: str) -> dict[str, Any]:
    """Return the manifest with the three fields.

    Raises:
        ValueError: this is no address of a repository.
    """
    page = address.removesuffix("/").removesuffix(".git")
    if not ADDRESS.fullmatch(page):
        raise ValueError(f"COUNTERSIGN_REPOSITORY must be the https address of a repository, not {address!r}")
    fields = {
        "repository": {"type": "git", "url": f"{page}.git"},
        "homepage": f"{page}#readme",
        "bugs": {"url": f"{page}/issues"},
    }
    return {**manifest, **fields}


def run(command: Sequence[str], manifest: Path, address: str) -> int:
    """Run the command and return its status."""
    if not address:
        return subprocess.run(command, check=False).returncode
    before = manifest.read_bytes()
    changed = json.dumps(addressed(json.loads(before), address), ensure_ascii=False, indent=2) + "\n"
    # What ends us must not leave the address behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        manifest.write_text(changed, encoding="utf-8")
        return subprocess.run(command, check=False).returncode
    finally:
        manifest.write_bytes(before)


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:], MANIFEST, os.environ.get("COUNTERSIGN_REPOSITORY", "")))
    except ValueError as error:
        sys.exit(str(error))
