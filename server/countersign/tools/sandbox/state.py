"""What is known of the sandbox on this machine: whether there is one, what it holds, and why there is none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from countersign.settings.policy import Policy
from countersign.tools.cgroups import Parents, blocking_parents, bounds_of
from countersign.tools.shell.process_tracking import LEFT_OUT

_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_PERMITTED = Path("/proc/sys/kernel/unprivileged_userns_clone")


@dataclass(frozen=True, slots=True)
class SandboxState:
    """What holds on this machine for this workspace, or why there is no sandbox."""

    backend: Literal["bubblewrap", "sandbox-exec", "none"]
    reason: str | None = None
    holds: tuple[str, ...] = ()

    @property
    def available(self) -> bool:
        return self.backend != "none"


def runs_confined(policy: Policy) -> bool:
    """Whether a command that nobody asks to run outside runs in the sandbox."""
    return policy.sandbox_mode != "off" and policy.sandbox_available


def blocking_holds(policy: Policy, network: str | None = None) -> tuple[str, ...]:
    """What a command cannot do in a sandbox that was tried out here, then what of the machine is bounded. ``network``
    words what a program with a way out of its own reaches."""
    return (
        "writes only in the workspace, the folders granted beside it, /tmp and a private home",
        "control files, git's configuration and hooks and what edit rules deny cannot be changed",
        "secrets and what read rules deny cannot be opened; what git keeps of them in `.git/objects` can",
        network or _network(policy),
        "processes end with the command",
        *bounds_of(blocking_parents(), root=os.geteuid() == 0),
    )


def blocking_untested_holds() -> tuple[str, ...]:
    """The same of ``sandbox-exec``."""
    return (
        "sandbox-exec, untested: its profile is made from the same rules, and nobody has tried to get around it",
        "writes only in the workspace, the folders granted beside it and a private folder for temporary files",
        "control files, git's configuration and hooks and what edit rules deny cannot be changed",
        "secrets and what read rules deny cannot be opened; what git keeps of them in `.git/objects` can",
        "no network",
        LEFT_OUT["processGroup"],
        *bounds_of(Parents(), root=os.geteuid() == 0),
    )


def why_not(failure: str, *, restricted: Path = _RESTRICTED, permitted: Path = _PERMITTED) -> str:
    """The reason behind the text that a try-out failed with, and the next step."""
    lines = [line for line in failure.splitlines() if line.strip()] or ["it did not start"]
    # The last line of a traceback, the first of what bubblewrap says.
    line = lines[-1 if lines[0].startswith("Traceback") else 0].removeprefix("bwrap: ")[:300]
    if "user namespace" in failure or "setting up uid map" in failure or "uid_map" in failure:
        if _says(restricted, "1"):
            return (
                f"AppArmor forbids user namespaces here ({line}); add an AppArmor profile with `userns` for "
                "bubblewrap and for this Python, as on Ubuntu 24.04"
            )
        if _says(permitted, "0"):
            return (
                f"the kernel forbids user namespaces to users ({line}); set `kernel.unprivileged_userns_clone` to `1`"
            )
        return (
            f"user namespaces are not permitted here ({line}); permit them with the setting "
            "`user.max_user_namespaces`, or in a container's seccomp profile"
        )
    if "proc" in failure and "mount" in failure.lower():
        return f"/proc cannot be mounted ({line}), because a container masks it; run the container with an unmasked one"
    return f"the try-out failed: {line}"


def _network(policy: Policy) -> str:
    match policy.sandbox_network:
        case "none":
            return "no network"
        case "hosts":
            hosts = ", ".join(policy.sandbox_hosts) or "none are listed"
            return f"network only by a proxy, to hosts of `sandbox.hosts` ({hosts}) and those that a person allowed"
        case "all":
            return "network only by a proxy, to every public host"


def _says(file: Path, value: str) -> bool:
    try:
        return file.read_text().strip() == value
    except OSError:
        return False
