"""How the processes that a command starts are found and ended, and what that leaves out.

One table for `countersign doctor`, the card and the result of a command. Nothing is said where a control group or the
PID namespace of a sandbox holds every descendant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from countersign.tools import cgroups
from countersign.tools.shell import orphans
from countersign.wire.threads import WeakTracking

Tracking = Literal["pidNamespace", "controlGroup"] | WeakTracking

LEFT_OUT: Mapping[WeakTracking, str] = {
    "subReaper": "a process that kills its supervisor and the server, too, outlives its command",
    "processGroup": "a process that leaves its session and loses its parent outlives its command",
}
"""What each mechanism that is weaker than a control group does not find, as one clause."""
UNTRACKED = f"{LEFT_OUT['processGroup']}: this machine has neither control groups nor a sub-reaper"


def tracking_of(*, confined: bool, grouped: bool) -> Tracking:
    """Return the mechanism for one command: started in the sandbox, or in a control group, or in neither."""
    if confined:
        return "pidNamespace"
    if grouped:
        return "controlGroup"
    return "subReaper" if orphans.become_subreaper() else "processGroup"


def blocking_tracking() -> Tracking:
    """Return the mechanism for a command outside the sandbox on this machine."""
    return tracking_of(confined=False, grouped=cgroups.blocking_groups().folder is not None)


def tracking_note() -> str | None:
    """Return what the card of a command says if this machine has neither a sub-reaper nor control groups."""
    if orphans.become_subreaper() or blocking_tracking() != "processGroup":
        return None
    return f"processTracking: {UNTRACKED}"
