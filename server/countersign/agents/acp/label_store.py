"""What was found out about agents on this machine and outlasts the server: falls and probes.

One file each in the storage folder, so that several windows write without waiting for each other. A fall is of one
identity in one workspace and stays until a person clears it; a probe is of one identity.

INVARIANT (narrowing): damage betters no label. Only a file that is certainly missing counts as missing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
from pathlib import Path
from typing import get_args

from countersign.agents.acp.identity import Identity
from countersign.agents.acp.label import Claim, Probed
from countersign.gate import now
from countersign.settings.links import leads_nowhere, links_to
from countersign.settings.regular_file import read_regular
from countersign.wire.agents import AgentLabel
from countersign.wire.base import Json

log = logging.getLogger(__name__)

UNKNOWN = "unknown"
"""Stands for an identity that is not known: its falls count for everything that is not known."""
MOST_BYTES = 256 << 10
"""Of such a file; a longer one is not ours."""


class LabelStore:
    """The falls and probes below one folder. A class because it says where they lie. All of it reads or writes disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def blocking_fall(self, agent: str, identity: Identity | None, workspace: str, why: str) -> None:
        """Store a fall; an earlier one of the same agent stays as it is."""
        path = self._fall(agent, identity, workspace)
        if not path.exists():
            self._write(path, {"at": now(), "workspace": workspace, "agent": agent, "why": why})

    def blocking_fallen(self, agent: str, identity: Identity | None, workspace: str) -> str | None:
        """Return why this agent's label fell here, or None; a fall from when its identity was not known counts too. A
        file that cannot be read counts as a fall."""
        paths = [self._fall(agent, each, workspace) for each in (identity, None)]
        path = next((path for path in paths if not _is_missing(path)), None)
        if path is None:
            return None
        found = _read(path)
        if found is None:
            return "its label fell in this workspace; why cannot be read any more"
        why = found.get("why")
        return why if isinstance(why, str) else "its label fell in this workspace"

    def blocking_reset(self, agent: str, identity: Identity | None, workspace: str) -> bool:
        """Remove the fall, also one from when its identity was not known; return whether there was one.

        Raises:
            OSError: one cannot be removed, and still counts.
        """
        paths = [self._fall(agent, each, workspace) for each in (identity, None)]
        found = [path for path in paths if not _is_missing(path)]
        for path in found:
            path.unlink()
        return bool(found)

    def blocking_keep_probe(self, identity: Identity, recipe: str, label: AgentLabel, claim: Claim) -> None:
        """Store what a probe of this identity, started by this recipe, found."""
        kept: dict[str, Json] = {"at": now(), "program": identity.program, "label": label, "version": claim.version}
        self._write(self._probe(identity, recipe), kept)

    def blocking_probed(self, identity: Identity | None, recipe: str) -> Probed | None:
        """Return the label that a probe of this identity, started by this recipe, found, or None if there was none."""
        if identity is None or identity.digest is None:
            return None
        path = self._probe(identity, recipe)
        if _is_missing(path):
            return None
        label = (_read(path) or {}).get("label")
        return next((known for known in get_args(AgentLabel) if known == label), "unreadable")

    def _fall(self, agent: str, identity: Identity | None, workspace: str) -> Path:
        key = identity.key if identity is not None else f"{UNKNOWN}:{agent}"
        return self._folder / "falls" / f"{_name(key, os.path.realpath(workspace))}.json"

    def _probe(self, identity: Identity, recipe: str) -> Path:
        return self._folder / "probes" / f"{_name(identity.key, recipe)}.json"

    def _write(self, path: Path, kept: dict[str, Json]) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(kept, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def _is_missing(path: Path) -> bool:
    """Whether there is certainly no such file: what cannot be found out, or lies behind a broken link, may be there."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return not leads_nowhere(links_to(path))
    except OSError:
        pass
    return False


def _read(path: Path) -> dict[str, Json] | None:
    """Return what stands in a file of ours, or None if it cannot be one."""
    try:
        data = read_regular(path, MOST_BYTES + 1, follows_link=False)
        found = json.loads(data) if len(data) <= MOST_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()
