"""Every method of the table with mutated params, on a running server with a chat, a card and a ledger: each request is
answered, never by a fault of the server's own, and the server goes on.

``tests/lsp/test_peer_input.py`` does the same for the protocol layer alone, with more examples.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.wire.methods import METHODS
from tests.lsp.test_peer_input import mutated
from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import RpcError
from tests.wire.test_golden import samples

TO_SERVER = [method for method in METHODS if method.direction == "toServer"]
EXAMPLES = 6
LONG = {"thread/prompt"}
"""Answered when the turn ends, which an open card holds up."""
IDS = {"threadId": "thread", "approvalId": "approval", "agentName": "agent"}


def examples(method: str) -> list[Any]:
    """The samples as they are, and mutations of them; the same in each run."""
    drawn: list[Any] = []
    samples_given = list(samples(method, "params"))

    @settings(max_examples=EXAMPLES, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(samples_given).flatmap(mutated))
    def draw(value: Any) -> None:
        drawn.append(value)

    draw()
    return [*samples_given, *drawn[:EXAMPLES]]


def with_real_ids(value: Any, real: dict[str, str]) -> Any:
    """The same with ids that the server knows, so that more than "unknown" is reached."""
    if not isinstance(value, dict):
        return value
    return {
        key: real.get(IDS[key], item) if key in IDS and isinstance(item, str) else item for key, item in value.items()
    }


async def fault_of(desk: Desk, method: Any, params: Any) -> str | None:
    """Say it; what is wrong with the answer."""
    if not method.is_request:
        desk.peer.notify(method.name, params)
        return None
    try:
        await desk.peer.request(method.name, params)
    except RpcError as error:
        if error.code == -32603:
            return f"{method.name} with {json.dumps(params)[:300]}: {error}"
    return None


@pytest.mark.parametrize("noun", sorted({method.name.partition("/")[0] for method in TO_SERVER}))
async def test_no_params_bring_about_a_fault_or_silence(noun: str, tmp_path: Path):
    faults: list[str | None] = []
    async with open_desk(tmp_path / "work", tmp_path / "storage") as desk:
        thread = await desk.thread()
        turn = desk.prompt(thread, "run touch made.txt")
        turn.add_done_callback(lambda done: done.cancelled() or done.exception())
        card = await desk.card()
        real = {"thread": thread, "approval": card["approvalId"], "agent": "Countersign"}
        for method in TO_SERVER:
            if method.name.partition("/")[0] != noun:
                continue
            for params in examples(method.name):
                faults.append(await fault_of(desk, method, params))
                # A prompt to the chat whose card waits would wait, too.
                if method.name not in LONG and (known := with_real_ids(params, real)) != params:
                    faults.append(await fault_of(desk, method, known))
        # The server goes on.
        assert (await desk.peer.request("thread/list", {}))["threads"] is not None
        assert (await desk.peer.request("ledger/status", {}))["state"] in ("whole", "checking")
    assert list(filter(None, faults)) == []


def test_each_method_of_the_table_has_samples_to_mutate() -> None:
    assert {method.name for method in TO_SERVER if examples(method.name)} == {method.name for method in TO_SERVER}
