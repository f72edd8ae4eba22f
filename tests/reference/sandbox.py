"""A sandbox for texts under real bash: no network, a read-only system, an empty temporary folder.

A script of ours runs inside. It is handed to the interpreter as text, since its file may lie below a folder that is
hidden there; besides the standard library it may import ``sandbox_child.py``. It reads orders as lines of JSON and
writes one line for each text.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from countersign.tools.sandbox import namespaces
from tests.patience import PATIENCE

_BUBBLEWRAP = (
    "bwrap --unshare-all --die-with-parent --new-session --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp "
    "--chdir /tmp --clearenv"
).split()
_LOCKED = [
    os.path.realpath(sys.executable),
    "-I",
    "-S",
    "-c",
    "import os, sys; sys.path.insert(0, sys.argv[1]); import namespaces as n; n._own_namespaces(0); n._lock_devices(); "
    "os.execvp(sys.argv[2], sys.argv[2:])",
    os.path.dirname(namespaces.__file__),
    *_BUBBLEWRAP,
]
"""With devices that root cannot change: they are those of the machine."""
_SHARED = Path(__file__).with_name("sandbox_child.py")
_LOAD = """
import sys, types
shared = sys.modules["tests.reference.sandbox_child"] = types.ModuleType("sandbox_child")
exec(sys.argv[1], shared.__dict__)
exec(sys.argv[2])
"""


def sandbox() -> str | None:
    """Return why there is no sandbox here, or None."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    tried = subprocess.run([*_LOCKED, "/bin/true"], capture_output=True, timeout=PATIENCE, check=False)
    return None if tried.returncode == 0 else f"bubblewrap cannot make a sandbox: {tried.stderr.decode().strip()}"


def run_in_sandbox(script: Path, orders: Sequence[Any], *, results: int, time_limit: float) -> list[dict[str, Any]]:
    """Run the script with these orders and return its results."""
    shared, source = (path.read_text(encoding="utf-8") for path in (_SHARED, script))
    done = subprocess.run(
        [*_LOCKED, os.path.realpath(sys.executable), "-I", "-S", "-c", _LOAD, shared, source],
        input="".join(json.dumps(order) + "\n" for order in orders).encode(),
        capture_output=True,
        timeout=time_limit,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != results:
        raise RuntimeError(f"the sandbox ended early: {done.stderr.decode(errors='replace')[-500:]}")
    return lines
