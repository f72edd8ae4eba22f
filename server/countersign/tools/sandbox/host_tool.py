"""``sandbox_host``: let commands in the sandbox reach a host. No model sees it: a card of its own offers it
after the sandbox's proxy refused a host, and what a person answers is kept as a grant, which the proxy asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import Field

from countersign.gate import (
    HOST_TOOL,
    BadArguments,
    Effect,
    Offer,
    Outcome,
    Permit,
    ReachHost,
    compile_rules,
    host_verdict,
)
from countersign.settings.policy import Policy, RuleText
from countersign.tools.arguments import Arguments
from countersign.tools.sandbox.addresses import is_listed, plain_host
from countersign.tools.sandbox.proxy import RefusedHost
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import HostPreview, ToolKind
from countersign.wire.verdicts import Category

MOST_CARDS = 3
"""Hosts that one command's end asks about; the others are named in its result."""


class HostArguments(Arguments):
    host: str = Field(description="The host.")
    port: int = Field(ge=1, le=65535, description="The port that the command wanted.")
    command: str = Field(description="The command that wanted it.")


class SandboxHost:
    """Does nothing but be allowed: the grant that the answer leaves is what opens the host."""

    name = HOST_TOOL
    kind: ToolKind = "fetch"
    category: Category = "external"
    description = "Let commands in the sandbox reach a host."
    arguments = HostArguments

    def effects(self, arguments: HostArguments, policy: Policy) -> tuple[Effect, ...]:
        host = plain_host(arguments.host)
        if host is None or host != arguments.host:
            raise BadArguments("that is no plain host name")
        return (ReachHost(host),)

    def prepare(self, arguments: HostArguments, policy: Policy) -> Prepared[str]:
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=HostPreview(host=arguments.host, port=arguments.port, command=arguments.command),
            title=as_title(f"Reach {arguments.host} from the sandbox"),
            cwd=policy.workspace,
            payload=arguments.host,
        )

    async def run(self, permit: Permit, prepared: Prepared[str], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        return Outcome(True, f"`{prepared.payload}` may be reached from the sandbox now; run the command again")


def reachable(
    policy: Callable[[], Policy], grants: Callable[[], Sequence[RuleText]], agent: str
) -> Callable[[str], bool]:
    """Tell of each host, at the moment of the question, whether this agent's commands may reach it."""

    def may_reach(host: str) -> bool:
        live = policy()
        verdict = host_verdict(host, compile_rules(live), grants(), agent)
        if verdict is not None:
            return verdict == "allow"
        return live.sandbox_network == "all" or is_listed(host, live.sandbox_hosts)

    return may_reach


def host_offers(refused: Sequence[RefusedHost], command: str) -> tuple[Offer, ...]:
    """The cards that the end of a command calls for: one for each host that only a person's word is missing for."""
    asked = {each.host: each for each in refused if each.why == "notAllowed"}
    return tuple(
        Offer(HOST_TOOL, {"host": each.host, "port": each.port, "command": command}, f"[{each.host}] ")
        for each in list(asked.values())[:MOST_CARDS]
    )
