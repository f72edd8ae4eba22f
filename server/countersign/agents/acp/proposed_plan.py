"""Which call of an agent only shows its plan (ExitPlanMode and its kin), and the text of that plan.

A call counts as one by its shape, where it says that it changes the mode, or by a tool's name in the agent's recipe.

The card of a plan shows the plan's text and nothing else. So a call that says anything more, in a name, a title, a text
or a key of its input, is a call like any other, and its card shows all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Set

from countersign.agents.acp.key_names import WORDS
from countersign.agents.acp.translate import ToolReport
from countersign.gate import BadArguments
from countersign.tools.clip import MOST_OUTPUT
from countersign.wire.base import Json

PLAN = "plan"
PLAN_FILE = "planFilePath"
"""Where Claude Code keeps the plan; the program adds it to the input, and only a tool of the recipe may have it."""
EMPTY_KEYS = WORDS | {"title", PLAN_FILE, "plan_file_path", "planPath", "plan_path", "plan_filename"}
"""Keys that may stand beside a plan with nothing in them."""
NAMES = frozenset({"exit_plan_mode", "ExitPlanMode", "switch_mode"})
"""Names of tools that only show a plan, in any agent."""
TITLES = NAMES | {"", "Approve Plan", "Ready to code?", "Exit Plan Mode", "Exit plan mode", "Exited Plan Mode"}
"""Titles that say no more than that there is a plan."""
PERMISSIONS = {"allowedPrompts", "allowed_prompts"}
"""What a plan may ask the agent itself to allow; only the gate allows."""
KINDS = frozenset({None, "switch_mode", "other", "think"})
"""What a tool that shows a plan may claim to be."""
OWN_PERMISSIONS = (
    "a plan must not ask for permissions (`allowedPrompts`): each call is decided by itself; "
    "show the plan again without them"
)


class PlanAsksForPermissions(BadArguments):
    """A plan asks the agent itself to allow something; it learns that in the same turn."""


def plan_of(report: ToolReport, plan_tools: Set[str]) -> str | None:
    """Return the plan that this call asks a person to approve, or None if it is any other call."""
    named = bool(plan_tools & set(report.names))
    if report.kind not in KINDS or not (named or report.kind == "switch_mode"):
        return None
    if report.more or report.too_large or report.diffs or report.terminals or report.locations:
        return None
    if any(name not in NAMES | plan_tools for name in report.names):
        return None
    # Claude Code takes the plan from its file, and may ask before that is written, with an input that has no plan.
    inputs = [raw for raw in report.inputs if not (named and isinstance(raw, dict) and _leaves_plan_out(raw))]
    plans = {_plan_in(raw, named) for raw in inputs}
    plan = plans.pop() if len(plans) == 1 else None
    return plan if plan is not None and _says_no_more(report, plan) else None


def asks_for_permissions(report: ToolReport) -> bool:
    """Return true if a plan asks the agent itself to allow something."""
    return any(isinstance(raw, dict) and any(raw.get(key) for key in PERMISSIONS) for raw in report.inputs)


def _says_no_more(report: ToolReport, plan: str) -> bool:
    """Return true if the words around the input say nothing that the plan does not say."""
    titled = report.title in TITLES or report.title in report.names or report.title in plan
    whole = not report.title_cut and len(report.text) <= MOST_OUTPUT
    return titled and whole and report.text.strip() in plan


def _plan_in(raw: Json, named: bool) -> str | None:
    """Return the plan of one input; None if it holds anything else. ``named``: its tool is one of the recipe's."""
    if not isinstance(raw, dict):
        return None
    plan = raw.get(PLAN)
    return plan if isinstance(plan, str) and plan.strip() and _holds_no_more(raw, named) else None


def _leaves_plan_out(raw: Mapping[str, Json]) -> bool:
    """Return true if an input of one of the recipe's tools has no plan and nothing in its place."""
    return PLAN not in raw and _holds_no_more(raw, named=True)


def _holds_no_more(raw: Mapping[str, Json], named: bool) -> bool:
    """Return true if an input holds nothing beside a plan and what it asks the agent to allow."""
    return all(
        key in EMPTY_KEYS and (value in (None, "", [], {}) or (named and key == PLAN_FILE and _is_plan_file(value)))
        for key, value in raw.items()
        if key != PLAN and key not in PERMISSIONS
    )


def _is_plan_file(value: Json) -> bool:
    return (
        isinstance(value, str) and value.endswith(".md") and os.path.isabs(value) and value == os.path.normpath(value)
    )
