"""Doubles of the programs through which the system's keyring is reached. They keep each entry in a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from countersign.settings import system_keyring

PROGRAMS = {"linux": "secret-tool", "darwin": "security"}
_TEXTS = {
    "linux": """#!{python}
import pathlib, sys
kept, (action, *words) = pathlib.Path({kept!r}), sys.argv[1:]
if action == "store":
    label, *words = words
    assert label.startswith("--label=Countersign "), label
service, countersign, account, name = words
assert (service, countersign, account) == ("service", "countersign", "account"), words
entry = kept / name.replace("/", "_")
if action == "lookup":
    if not entry.exists(): sys.exit(1)
    print(entry.read_text(), end="")
elif action == "store":
    entry.write_text(sys.stdin.read())
else:
    assert action == "clear", action
    entry.unlink()
""",
    "darwin": """#!{python}
import pathlib, sys
kept, (action, *words) = pathlib.Path({kept!r}), sys.argv[1:]
if action == "-i":
    action, update, *words, value = sys.stdin.read().split()
    assert (action, update) == ("add-generic-password", "-U"), action
service, countersign, account, name, *rest = words
assert (service, countersign, account) == ("-s", "countersign", "-a"), words
entry = kept / name.replace("/", "_")
if action == "add-generic-password":
    assert rest == ["-w"], rest
    entry.write_text(value)
elif not entry.exists():
    sys.exit(44)
elif action == "find-generic-password":
    assert rest == ["-w"], rest
    print(entry.read_text())
else:
    assert (action, rest) == ("delete-generic-password", []), action
    entry.unlink()
""",
}


def install(platform: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this machine one of that platform with an empty keyring; return the folder of its entries."""
    kept, programs = folder / "kept", folder / "bin"
    kept.mkdir()
    programs.mkdir()
    program = programs / PROGRAMS[platform]
    program.write_text(_TEXTS[platform].format(python=sys.executable, kept=str(kept)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(system_keyring.sys, "platform", platform)
    return kept
