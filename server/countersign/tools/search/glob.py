"""``glob``: paths below the workspace that match a pattern."""

from __future__ import annotations

import fnmatch
import re
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from pydantic import Field

from countersign.gate import BadArguments, Effect, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.access import Screen
from countersign.tools.arguments import Arguments
from countersign.tools.clip import lines_that_fit
from countersign.tools.files.safe_open import complaint
from countersign.tools.files.walk import filled_by_tools, held_for_listing, walk
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title, file_name
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.verdicts import Category

MOST_LOOKED_AT = 200_000
"""Names, at most, that one call looks at."""
SECONDS = 10.0
"""Of one call: a thread cannot be stopped from outside."""
MOST_PATTERN = 1000
MOST_VARIANTS = 64
"""Patterns that the braces of one may stand for."""

Part = Callable[[str], object] | None
"""One segment of a pattern: what matches a name, or None for ``**``."""


@dataclass(frozen=True, slots=True)
class GlobPlan:
    base: Place
    prefix: str
    variants: tuple[tuple[Part, ...], ...]


class GlobArguments(Arguments):
    pattern: str = Field(
        description="Relative to the workspace. * and ? in a name, ** across folders, [abc], {a,b}, as in src/**/*.py"
    )


class Glob:
    """Finds files and folders by name. Follows no link, does not enter ``.git``, opens no file."""

    name = "glob"
    kind: ToolKind = "search"
    category: Category = "read"
    description = "Find files and folders of the workspace by a pattern; folders end in /. Links are not followed."
    arguments = GlobArguments

    def effects(self, arguments: GlobArguments, policy: Policy) -> tuple[Effect, ...]:
        return _plan(arguments.pattern, policy).base.reads()

    def prepare(self, arguments: GlobArguments, policy: Policy) -> Prepared[GlobPlan]:
        plan = _plan(arguments.pattern, policy)
        return Prepared(
            effects=plan.base.reads(),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"Find {arguments.pattern}"),
            cwd=policy.workspace,
            payload=plan,
        )

    async def run(self, permit: Permit, prepared: Prepared[GlobPlan], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        plan = prepared.payload
        return await in_worker(_blocking_glob, plan, Screen(bench.policy(), plan.base))


def _blocking_glob(plan: GlobPlan, screen: Screen) -> Outcome:
    plan.base.same_or_stale()
    found: list[str] = []
    looked_at, whole, deadline = 0, True, time.monotonic() + SECONDS

    def enter(path: str) -> bool:
        return any(_reach(path.split("/"), variant) for variant in plan.variants) and screen.enters(path)

    try:
        with held_for_listing(plan.base.resolved) as folder, closing(walk(folder, enter)) as walked:
            for item in walked:
                looked_at += 1
                if looked_at > MOST_LOOKED_AT or time.monotonic() > deadline:
                    whole = False
                    break
                parts = item.path.split("/")
                if any(len(variant) in _reach(parts, variant) for variant in plan.variants) and screen.lists(item.path):
                    found.append(plan.prefix + file_name(item.path) + ("/" if item.entry.kind == "folder" else ""))
    except FileNotFoundError:
        pass
    except OSError as error:
        return Outcome(False, complaint(error, plan.base.shown))
    found.sort(key=lambda path: (filled_by_tools(path), path))
    fit = lines_that_fit(found)
    shown = "\n".join(found[:fit]) or "[nothing matches]"
    if fit < len(found):
        shown += f"\n[cut here: {fit} of {len(found)} paths; narrow the pattern down]"
    if not whole:
        shown += f"\n[stopped after {looked_at} names; narrow the pattern down]"
    return Outcome(True, shown, record={"matches": len(found)})


def _plan(pattern: str, policy: Policy) -> GlobPlan:
    if not pattern or "\0" in pattern or len(pattern) > MOST_PATTERN:
        raise BadArguments(f"the pattern must have 1 to {MOST_PATTERN} characters")
    segments = [segment for segment in pattern.split("/") if segment not in ("", ".")]
    if pattern.startswith(("/", "~")) or ".." in segments or not segments:
        raise BadArguments("the pattern is relative to the workspace and stays inside it")
    literal: list[str] = []
    while len(segments) > 1 and not re.search(r"[*?\[{]", segments[0]):
        literal.append(segments.pop(0))
    base = locate("/".join(literal) or ".", policy)
    variants = tuple(
        tuple(_part(segment) for segment in variant.split("/") if segment) for variant in _variants("/".join(segments))
    )
    return GlobPlan(base, "".join(f"{part}/" for part in literal), variants)


def _variants(pattern: str) -> list[str]:
    """The patterns without braces that this one stands for."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > MOST_VARIANTS:
            raise BadArguments(f"the braces stand for more than {MOST_VARIANTS} patterns")
        text = waiting.pop()
        inner = re.search(r"\{([^{}]*)\}", text)
        if inner is None:
            done.append(text)
        else:
            before, after = text[: inner.start()], text[inner.end() :]
            waiting += [before + choice + after for choice in inner.group(1).split(",")]
    return done


def _part(segment: str) -> Part:
    # fnmatch translates to a pattern without backtracking between stars, so no name can make it slow.
    return None if segment == "**" else re.compile(fnmatch.translate(segment)).match


def _reach(names: list[str], parts: tuple[Part, ...]) -> set[int]:
    """The positions in the pattern that these names can lead to; the whole pattern is matched at its length."""
    positions = _with_nothing({0}, parts)
    for name in names:
        following: set[int] = set()
        for position in positions:
            if position == len(parts):
                continue
            part = parts[position]
            if part is None:
                following.add(position)
            elif part(name):
                following.add(position + 1)
        positions = _with_nothing(following, parts)
        if not positions:
            break
    return positions


def _with_nothing(positions: set[int], parts: tuple[Part, ...]) -> set[int]:
    """``**`` may also stand for no folder at all."""
    reached = set(positions)
    for start in positions:
        position = start
        while position < len(parts) and parts[position] is None:
            position += 1
            reached.add(position)
    return reached
