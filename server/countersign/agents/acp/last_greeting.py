"""What an agent said of itself when it was last started, kept beyond the server: what it offers beside prompts, and the
variables that it takes keys in.

One file each in the storage folder, for one agent and all that decides its launch (``launch_binding.py``). It only
tells what to show and which keys to ask for; once the agent runs, what it says then counts.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from countersign.agents.acp.login import MOST_VARIABLES, is_key_variable
from countersign.settings.regular_file import read_regular

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 10
"""Of such a file; a longer one is not ours."""


@dataclass(frozen=True, slots=True)
class LastGreeting:
    """``lists`` and ``forks``: whether it lists its sessions and takes them up, and whether it forks them.
    ``variables``: those that its login methods name, ``plain``: those of them whose values are no secrets; ``login``:
    the method of them by which it was logged in."""

    lists: bool = False
    forks: bool = False
    variables: tuple[str, ...] = ()
    login: str | None = None
    plain: tuple[str, ...] = ()


class GreetingStore:
    """The greetings below one folder. A class because it says where they lie. All of it reads or writes disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "greetings"

    def blocking_keep(self, agent: str, binding: str, greeting: LastGreeting) -> None:
        """Keep it in the place of the former one.

        Raises:
            OSError: the disk does not take it.
        """
        path = self._path(agent, binding)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(greeting), file)
        temporary.replace(path)

    def blocking_find(self, agent: str, binding: str) -> LastGreeting | None:
        """Return the last one, or None if there is none or it cannot be read."""
        try:
            found = json.loads(read_regular(self._path(agent, binding), MOST_BYTES, follows_link=False))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        names, login, open_ones = found.get("variables"), found.get("login"), found.get("plain")
        variables = [name for name in names if is_key_variable(name)] if isinstance(names, list) else []
        plain = [name for name in variables if name in open_ones] if isinstance(open_ones, list) else []
        return LastGreeting(
            found.get("lists") is True,
            found.get("forks") is True,
            tuple(variables[:MOST_VARIABLES]),
            login if isinstance(login, str) else None,
            tuple(plain[:MOST_VARIABLES]),
        )

    def _path(self, agent: str, binding: str) -> Path:
        named = hashlib.sha256("\0".join((agent, binding)).encode(errors="surrogateescape")).hexdigest()
        return self.folder / f"{named}.json"
