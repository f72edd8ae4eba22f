"""The doubles of an agent's process and link have every method of the real ones."""

from __future__ import annotations

from typing import Any

import pytest

from countersign.agents.acp.agent_process import Link
from countersign.agents.acp.process import AgentProcess
from tests.agents.answer_fuzz import FuzzedAgent
from tests.agents.no_process import NoProcess
from tests.gate.stateful.world import Guest


def public(names: object) -> set[str]:
    return {name for name in dir(names) if not name.startswith("_")}


@pytest.mark.parametrize("double", [NoProcess, FuzzedAgent])
def test_each_method_of_a_process_has_a_stand_in(double: type):
    own = {name for kind in double.__mro__ if kind is not AgentProcess for name in vars(kind)}
    # `pid` may be set by the initializer.
    assert public(AgentProcess) - {"pid"} - own == set()


def test_the_link_of_the_stateful_world_has_all_of_a_link():
    world: Any = None
    assert public(Link) - public(Guest(world, None, None)) == set()
