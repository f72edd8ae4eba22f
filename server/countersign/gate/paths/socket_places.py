"""Where sockets of this machine's services lie: who can connect to one can do what the service does.

A read-only mount keeps no program from connecting, so a place that may hold the socket of a container engine, of the
system's manager or of a key agent is more than a place to read from.
"""

from __future__ import annotations

from countersign.gate.paths.resolve import Resolved
from countersign.gate.paths.roots import is_within

_PLACES = ("/run", "/var/run", "/private/var/run", "/tmp/.X11-unix", "/var/lib/docker", "/var/lib/containers")
_IN_HOME = (
    ".colima", ".docker", ".gnupg", ".lima", ".local/share/containers", ".minikube", ".orbstack", ".rd", ".ssh",
    "Library/Containers",
)  # fmt: skip


def holds_sockets(resolved: Resolved, home: str) -> bool:
    """Return true if a path names a socket, or may lead to one: a place below or above one of these."""
    places = (*_PLACES, *(f"{home}/{name}" for name in _IN_HOME))
    return resolved.kind == "special" or any(
        is_within(spelling, place) or is_within(place, spelling)
        for spelling in resolved.spellings()
        for place in places
    )
