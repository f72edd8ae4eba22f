"""The hosts that the sandbox refused to a hosted agent: a card for each that a person can open, else a notice.

The card is that of commands, at the end of the agent's turn, and its answer is kept as a grant of the chat. One process
serves all chats of an agent and nothing tells which of them a connection is for, so a grant opens a host only while
every chat of the process has it (``grants_of_all``), and a card is offered only where the process serves one chat.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from countersign.agents.acp.requests import Entry
from countersign.agents.acp.session import Session
from countersign.gate import HOST_TOOL, Gate, Offer, Outcome, Permit, Plan, Prepare, Turn
from countersign.settings.policy import Policy, RuleText
from countersign.tools.registry import OFFERED, parse_arguments
from countersign.tools.sandbox.host_tool import host_offers
from countersign.tools.sandbox.proxy import RefusedHost
from countersign.tools.tool import ToolContext
from countersign.wire.base import Json
from countersign.wire.threads import NoticeEvent

HOST = OFFERED[HOST_TOOL]
OUTLIVED = (
    "the changed rules hold in its sandbox from the next prompt on; what it asks about is decided by them at once"
)


def running_turns(served: Collection[str], sessions: Mapping[str, Session]) -> dict[str, Turn | None]:
    """The chats that a process serves, each with its running turn. Called in threads of the sandbox's proxy."""
    open_here = {thread_id: sessions.get(thread_id) for thread_id in tuple(served)}
    return {thread_id: None if session is None else session.turn for thread_id, session in open_here.items()}


def tell_outlived(sessions: Iterable[Session]) -> None:
    """Tell the chats of running turns that their agent's sandbox is that of earlier rules."""
    for session in sessions:
        if session.open_turn() is not None:
            session.emit(NoticeEvent(level="warning", message=f"{session.agent}: {OUTLIVED}"))


def grants_of_all(gate: Gate, agent: str, turns: Mapping[str, Turn | None]) -> Sequence[RuleText]:
    """The grants that every one of these chats (by id, with its running turn) has; without a chat there are none."""
    of_chats = [
        gate.grants.live(agent=agent, thread_id=thread_id, turn_id="" if turn is None else turn.turn_id)
        for thread_id, turn in turns.items()
    ]
    if not of_chats:
        return ()
    common = set.intersection(*({grant.text for grant in grants} for grants in of_chats))
    return tuple(grant for grant in of_chats[0] if grant.text in common)


async def ask_for_hosts(
    session: Session, turn: Turn, policy: Callable[[], Policy], refused: Sequence[RefusedHost], chats: Collection[str]
) -> None:
    """Ask about these hosts, one after the other, where an answer could open them; tell of the others in the chat.

    ``chats`` are those that the agent's process serves. Returns early if the turn is stopped.
    """
    offers = host_offers(refused, session.agent) if _may_offer(session, turn, policy(), chats) else ()
    asked = {str(offer.arguments["host"]) for offer in offers}
    tell_refused(session, [each for each in refused if each.host not in asked])
    for offer in offers:
        if session.open_turn() is not turn:
            return
        entry = Entry(f"call-{secrets.token_hex(8)}")
        task = session.submit(entry, _prepare(entry, offer, turn, policy))
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()


def tell_refused(session: Session, refused: Sequence[RefusedHost]) -> None:
    """Tell of these hosts in the chat."""
    for each in refused:
        session.emit(NoticeEvent(level="warning", message=f"{session.agent}: {refused_sentence(each)}"))


def refused_sentence(refused: RefusedHost) -> str:
    """What the chat says of a host that the sandbox refused to an agent."""
    said = refused.sentence()
    if refused.why != "notAllowed":
        return said
    return f"{said}; set `sandbox.network` to `hosts` and list it in `sandbox.hosts` to allow it"


def _may_offer(session: Session, turn: Turn, policy: Policy, chats: Collection[str]) -> bool:
    """Whether a person could answer a card, and their answer would open the host for this chat alone."""
    if policy.sandbox_network == "none" or set(chats) != {turn.thread_id}:
        return False
    return session.gate.asking.present() and not {"dontAsk", "plan"} & {*turn.modes, *policy.tightening}


def _prepare(entry: Entry, offer: Offer, turn: Turn, policy: Callable[[], Policy]) -> Prepare:
    bench = ToolContext(policy=policy, emit=lambda _text: None)

    def prepare(edited: Mapping[str, Json] | None) -> Plan:
        given = offer.arguments if edited is None else edited
        prepared = HOST.prepare(parse_arguments(HOST, given), policy())

        async def run(permit: Permit) -> Outcome:
            return await HOST.run(permit, prepared, bench)

        call = prepared.call(
            turn,
            tool_call_id=entry.tool_call_id,
            tool=HOST.name,
            kind=HOST.kind,
            category=HOST.category,
            arguments=given,
        )
        return Plan(call, run)

    return prepare
