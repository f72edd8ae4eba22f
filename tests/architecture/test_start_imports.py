"""The server answers ``initialize`` before it loads what only a command or a turn needs."""

from __future__ import annotations

import subprocess
import sys

NOT_YET = (
    "countersign.gate.shell.programs",
    "countersign.gate.shell.flow",
    "countersign.agents.acp.host",
    "countersign.agents.drive",
    "countersign.agents.models.http_answer",
    "countersign.lsp.language",
    "countersign.tools.registry",
    "httpx",
)


def test_what_no_start_needs_is_not_loaded_by_it() -> None:
    script = "import countersign.lsp.app, sys; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "countersign.lsp.app" in loaded
    assert [name for name in loaded if name.startswith(NOT_YET)] == []
