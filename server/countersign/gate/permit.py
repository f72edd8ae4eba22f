"""The Permit: permission for one call, once.

INVARIANT (permit): a tool has no effect without a Permit; only ``gate.gate`` makes one; it fits one call, once.
``tests/architecture`` checks that nobody else calls ``_issue``.
"""

from __future__ import annotations

from typing import final

from countersign.gate.call import ToolCall
from countersign.wire.errors import InternalError
from countersign.wire.verdicts import DecidedBy


class Stale(Exception):
    """What the permit was given for has changed since; nothing was done. The gate asks again."""


@final
class Permit:
    """Leave to do ``call`` once. Whoever acts calls ``use()`` first and then does ``permit.call`` and nothing else.

    ``runs`` is the text that is to run in place of the call's command: what was judged, printed anew. None: the
    command's own bytes, because a person was shown them or a rule holds exactly them. ``only_reads``: a command that no
    rule and no person allowed, only its being known to read; it runs in a read-only sandbox where there is one.
    """

    __slots__ = ("_used", "background", "by", "call", "digest", "only_reads", "runs")

    call: ToolCall
    digest: str
    by: DecidedBy
    background: bool
    runs: str | None
    only_reads: bool

    def __init__(self) -> None:
        raise InternalError("a permit is made by the gate only")

    def use(self) -> ToolCall:
        """Spend the permit.

        Raises:
            InternalError: it was spent before, or the call is not the one it was made for.
        """
        if self._used:
            raise InternalError("a permit was used twice")
        if self.call.digest() != self.digest:
            raise InternalError("a permit does not fit its call")
        object.__setattr__(self, "_used", True)
        return self.call


def _issue(
    call: ToolCall, by: DecidedBy, *, background: bool = False, runs: str | None = None, only_reads: bool = False
) -> Permit:
    permit = object.__new__(Permit)
    permit.call, permit.digest, permit.by, permit.background = call, call.digest(), by, background
    permit.runs, permit.only_reads = runs, only_reads
    permit._used = False
    return permit
