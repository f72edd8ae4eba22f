"""Files that silence an agent or run programs: what a hostile repository holds, and what a person may have allowed.

They lie in ``plants/`` by recipe name: ``hostile`` for the workspace, ``permissive`` for the home; ``{ws}``, ``{home}``
and ``{outside}`` stand for folders. A program that runs by itself leaves a file ``autorun-…`` in the outside folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

Kind = Literal["hostile", "permissive"]
AUTORUN = "autorun-"


@cache
def known_plants() -> dict[str, Mapping[str, Mapping[str, Any]]]:
    """Return the plants of all agents that have any, by recipe name."""
    folder = resources.files("countersign.agents.probe") / "plants"
    return {file.name.removesuffix(".json"): json.loads(file.read_text(encoding="utf-8")) for file in folder.iterdir()}


def plants_of(recipe: str, kind: Kind) -> Mapping[str, Any]:
    """Return the files for one agent. For one that nobody has studied, those of all others."""
    known = known_plants()
    if recipe in known:
        return known[recipe][kind]
    return {name: content for each in known.values() for name, content in each[kind].items()}


def plant(files: Mapping[str, Any], **folders: Path) -> None:
    """Put the files into their folders; an object joins the settings that are there."""
    for name, content in files.items():
        path = Path(_fill(name, folders))
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            text = _fill(content, folders) + (path.read_text() if path.exists() else "")
        else:
            there = json.loads(path.read_text()) if path.exists() else {}
            text = json.dumps({**there, **json.loads(_fill(json.dumps(content), folders))}, indent=2)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)


def allow_everything(recipe: str, home: Path, outside: Path) -> None:
    """Allow this agent what a person may have allowed it, beside what lies in the home already."""
    plant(plants_of(recipe, "permissive"), home=home, outside=outside)
    config = home / ".codex/config.toml"
    if config.exists():
        # A key of TOML may stand only once.
        text = re.sub(r"(?m)^approval_policy = .*$", 'approval_policy = "never"', config.read_text())
        config.write_text(re.sub(r"(?m)^sandbox_mode = .*$", 'sandbox_mode = "danger-full-access"', text))


def _fill(text: str, folders: Mapping[str, Path]) -> str:
    for name, folder in folders.items():
        text = text.replace("{" + name + "}", str(folder))
    return text
