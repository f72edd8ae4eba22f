"""The house itself: who may make a permit, how long files are, and what must not stand in them."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from countersign.lsp.app import App
from countersign.lsp.pygls_server import make_server

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "server" / "countersign"
MODULES = sorted(SERVER.rglob("*.py"))


def calls(path: Path) -> set[str]:
    """The names of everything that a module calls."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(name) | ast.Attribute(_, name):
                    found.add(name)
    return found


def test_only_the_gate_makes_permits():
    assert [path.relative_to(SERVER).as_posix() for path in MODULES if "_issue" in calls(path)] == ["gate/gate.py"]


def test_only_the_door_starts_a_receipt():
    phase = re.compile(r"""next\(\s*"started\"""")
    assert [path.relative_to(SERVER).as_posix() for path in MODULES if phase.search(path.read_text())] == [
        "gate/gate.py"
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SERVER).as_posix())
def test_a_module_says_what_it_owns(path: Path):
    if path.stat().st_size:
        assert ast.get_docstring(ast.parse(path.read_text()))


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name]


FORBIDDEN = re.compile(rb"\.\./share[d]|/wor[k]/main|/roo[t]/\.pyenv|pypi\.or[g]|registry\.npm[j]s|python[h]osted\.org")


def test_no_file_names_this_machine_or_a_registry():
    guilty = [
        path.relative_to(ROOT).as_posix()
        for path in tracked()
        if path.is_file() and path.suffix not in {".png"} and FORBIDDEN.search(path.read_bytes())
    ]
    assert guilty == []


def test_a_long_file_says_why():
    for path in MODULES:
        lines = path.read_text().splitlines()
        if len(lines) > 500:
            assert "lines" in "\n".join(lines[:12]), f"{path} has {len(lines)} lines and does not say why"


def test_every_method_that_a_client_may_call_has_a_handler():
    server = make_server("test", "0")
    App(server)
    assert server.unhandled() == []


def test_only_supervised_programs_get_a_session_of_their_own():
    """Whatever else is our child and leaves our session is taken for an orphan of a supervisor, and ended."""
    makers = [path.relative_to(SERVER).as_posix() for path in MODULES if "start_new_session" in path.read_text()]
    assert makers == ["tools/shell/supervised.py"]
