"""Bypass that a person set for this window only: kept in memory, gone when the server ends.

It has the limits of the saved one: it counts only in a trusted workspace, not where ``disableBypass`` is set, and for
the agent as it was when the person said so (type, command, arguments, environment, folder). A ``false`` of the
workspace or the administrator switches it off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from countersign.settings.bypass import bypass_digest, refused_at
from countersign.settings.layers import Layers
from countersign.settings.policy import Policy
from countersign.wire.base import Json


class SessionBypass:
    """The agents that bypass is on for in this session. A class because it is state that nothing else keeps."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def set(self, agent: str, workspace: str, entry: Json) -> None:
        """Set it for this agent as ``entry`` has it now."""
        self._digests[agent] = bypass_digest(workspace, "", agent, entry)

    def end(self, agent: str) -> None:
        """End it for this agent; without one nothing happens."""
        self._digests.pop(agent, None)

    def end_where_unlike(self, policy: Policy, entries: Mapping[str, Json], layers: Layers) -> None:
        """End whatever does not count any more, so that it never counts again by itself."""
        for agent, digest in tuple(self._digests.items()):
            same = agent in policy.agents and bypass_digest(policy.workspace, "", agent, entries.get(agent)) == digest
            if not (same and policy.trusted and not policy.disable_bypass and refused_at(agent, layers) is None):
                del self._digests[agent]

    def applied(self, policy: Policy) -> Policy:
        """Return the policy with bypass for these agents."""
        if not self._digests:
            return policy
        agents = {
            name: replace(config, bypass=True, bypass_in_session=True)
            if name in self._digests and not config.bypass
            else config
            for name, config in policy.agents.items()
        }
        return replace(policy, agents=agents)
