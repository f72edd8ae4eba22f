"""The policy with what is known of the sandbox: whether there is one for its folders, tried out in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

from countersign.settings.policy import Policy
from countersign.tools.sandbox.compile_boundary import blocking_gaps
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.sandbox.state import SandboxState
from countersign.wire.sandbox import SandboxStatus

TRYING = SandboxState("none", "it is still being tried out")


class SandboxWatch:
    """Hands out the policy. A class because it keeps the last one that it completed: the gate knows policies by
    identity. Until a try-out has ended there is no sandbox, so commands ask."""

    def __init__(self, confiner: Confiner, policy: Callable[[], Policy], changed: Callable[[], None]) -> None:
        self._confiner = confiner
        self._policy = policy
        self._changed = changed
        self._lock = threading.Lock()
        self._trying_out = threading.Lock()
        self._trying: Policy | None = None
        self._last: tuple[Policy, SandboxState, Policy] | None = None

    def policy(self) -> Policy:
        """The live policy. Starts a try-out where none has been made of its folders; any thread may call it."""
        policy = self._policy()
        if policy.sandbox_mode == "off":
            return policy
        state = self._confiner.known_state(policy)
        with self._lock:
            if state is None:
                state = TRYING
                if self._trying is not policy:
                    self._trying = policy
                    threading.Thread(target=self._try, args=(policy,), name="try a sandbox out", daemon=True).start()
            if self._last is None or self._last[0] is not policy or self._last[1] is not state:
                completed = replace(
                    policy,
                    sandbox_available=state.available,
                    sandbox_reason=state.reason,
                    sandbox_gaps=blocking_gaps(policy),
                )
                self._last = (policy, state, completed)
            return self._last[2]

    async def tried(self) -> None:
        """Wait until the try-out for the live policy has ended, where a sandbox is configured: the first command of a
        turn would else be shown and run as if this machine had none. A try-out is bounded (``PROBE_PATIENCE``)."""
        policy = self._policy()
        if policy.sandbox_mode != "off" and self._confiner.known_state(policy) is None:
            await asyncio.to_thread(self._try, policy)

    def blocking_status(self) -> SandboxStatus:
        """What there is on this machine, tried out now if it was not yet."""
        policy = self._policy()
        state = self._confiner.blocking_status(policy)
        return SandboxStatus(
            available=state.available,
            backend=state.backend,
            reason=state.reason,
            holds=list(state.holds),
            mode=policy.sandbox_mode,
        )

    def _try(self, policy: Policy) -> None:
        with self._trying_out:
            known = self._confiner.known_state(policy) is not None
            self._confiner.blocking_state(policy)
        if not known:
            self._changed()
