"""What the tools that change a file have in common: preparing the change, and making it once there is a permit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from countersign.gate import BadArguments, Effect, Outcome, Permit
from countersign.settings.policy import Policy
from countersign.tools.access import CannotSucceed, freely_read
from countersign.tools.arguments import Arguments
from countersign.tools.cancellation import to_the_end
from countersign.tools.places import Place
from countersign.tools.tool import Prepared
from countersign.tools.use_permit import spend
from countersign.wire.approvals import ToolPreview

ChangeT = TypeVar("ChangeT")


def prepare_change(
    work_out: Callable[[], ChangeT],
    prepared: Callable[[ChangeT], Prepared[ChangeT]],
    *,
    arguments: Arguments,
    policy: Policy,
    places: tuple[Place, ...],
    effects: tuple[Effect, ...],
    title: str,
) -> Prepared[ChangeT | CannotSucceed]:
    """Work out a change and describe it.

    Where the files may not be read freely, a change that does not fit is prepared as a call that cannot succeed, with
    these ``effects`` and this ``title``: the reason would tell what the files hold, so it needs a permit.

    Raises:
        BadArguments: the change does not fit, and the files may be read freely.
    """
    try:
        return prepared(work_out())
    except BadArguments as unfit:
        if all(freely_read(place, policy) for place in places):
            raise
        return Prepared(
            effects=effects,
            preview=ToolPreview(input=arguments.model_dump()),
            title=title,
            cwd=policy.workspace,
            payload=CannotSucceed(str(unfit)),
        )


async def make_change(
    permit: Permit,
    prepared: Prepared[ChangeT | CannotSucceed],
    blocking_make: Callable[[ChangeT], Outcome],
) -> Outcome:
    """Spend the permit and make the change, in a thread and to its end."""
    spend(permit, prepared)
    if isinstance(prepared.payload, CannotSucceed):
        return Outcome(False, prepared.payload.reason)
    return await to_the_end(blocking_make, prepared.payload)
