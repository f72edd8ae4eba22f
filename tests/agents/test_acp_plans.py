"""A plan that an agent shows (ExitPlanMode and its kin): a card of its own, and no approval of any call."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from countersign.settings.policy import RuleText
from countersign.tools.clip import MOST_OUTPUT
from tests.agents.scripted_agent_fixture import PROBED, Player, ask, done, report

from .desk import Place

PLAN = "# Fix it\n\n1. read `a.py`\n2. change **one** line"
APPROVE = {"option": "allow_once"}
EDITS = {"option": "allow_plan_accept_edits"}
KEEP = {"option": "reject_once"}
CLAUDE_OPTIONS = [
    {"optionId": "auto", "name": "Yes, and use auto mode", "kind": "allow_always"},
    {"optionId": "bypass", "name": "Yes, and bypass permissions", "kind": "allow_always"},
    {"optionId": "default", "name": "Yes, manually approve edits", "kind": "allow_once"},
    {"optionId": "reject", "name": "No, keep planning", "kind": "reject_once"},
]
"""As the adapter of Claude Code has them."""


def plan(text: str = PLAN, **more) -> dict:
    return {"kind": "switch_mode", "title": "Approve Plan", "rawInput": {"plan": text, **more}}


def only_plans(card) -> dict | None:
    return APPROVE if card.preview.kind == "plan" else None


async def test_a_plan_is_shown_as_its_text_and_only_a_person_answers_it(place: Place):
    place.person.decide = lambda card: APPROVE
    player = Player(place, [report("p", **plan()), ask("p", options=CLAUDE_OPTIONS), done("p")])
    assert await player.play() == "end_turn"
    card = place.person.shown[0]
    assert (card.preview.kind, card.preview.markdown) == ("plan", PLAN)
    assert [(option.option_id, option.name, option.mode) for option in card.options] == [
        ("allow_once", "Approve", None),
        ("allow_plan_accept_edits", "Approve and accept edits", "acceptEdits"),
        ("reject_once", "Keep planning", None),
    ]
    assert (card.risks, card.tool_call.tool, card.tool_call.category) == ([], "acp:plan", "read")
    assert player.outcome(1) == "default"  # never an option that the agent would keep
    assert [(row.phase, row.verdict, row.by) for row in place.rows()][:2] == [
        ("decided", "ask", "mode"),
        ("decided", "allow", "user"),
    ]


MODES = ["plan", "default", "acceptEdits", "auto", "ask"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_plan_is_asked_about_in_every_mode_that_asks(place: Place, mode: str):
    place.person.decide = lambda card: KEEP
    player = Player(place, [ask("p", **plan())])
    assert await player.play(mode=mode) == "end_turn"
    assert [card.preview.kind for card in place.person.shown] == ["plan"]
    offered = {option.mode for option in place.person.shown[0].options if option.mode is not None}
    edits = mode in ("acceptEdits", "auto")
    assert offered == (set() if edits else {"acceptEdits", *(["default"] if mode == "plan" else [])})


async def test_where_nobody_may_be_asked_a_plan_is_denied(place: Place):
    player = Player(place, [ask("p", **plan())])
    await player.play(mode="dontAsk")
    assert (place.person.shown, player.outcome(1)) == ([], "no")


async def test_no_rule_and_no_bypass_approves_a_plan(place: Place):
    place.person.decide = lambda card: KEEP
    player = Player(place, [ask("p", **plan())])
    config = replace(place.policy.agents[player.name], bypass=True)
    place.change(rules=(RuleText("allow", "acp:plan"),), agents={player.name: config})
    await player.play(mode="auto")
    assert [card.preview.kind for card in place.person.shown] == ["plan"]
    assert player.outcome(1) == "no"


async def test_a_deny_rule_for_plans_denies_them(place: Place):
    player = Player(place, [ask("p", **plan())])
    place.change(rules=(RuleText("deny", "acp:plan"),))
    await player.play()
    assert (place.person.shown, player.outcome(1)) == ([], "no")


def command(text: str) -> dict:
    return {"kind": "execute", "title": text, "rawInput": {"command": text}}


def write(place: Place, name: str) -> dict:
    path = str(place.workspace / name)
    return {"kind": "edit", "title": f"Write {name}", "rawInput": {"file_path": path, "content": "new\n"}}


@pytest.mark.parametrize("mode", ["plan", "default"])
async def test_approving_a_plan_approves_no_call_and_changes_no_mode(place: Place, mode: str):
    place.person.decide = lambda card: APPROVE if card.preview.kind == "plan" else KEEP
    text = "run `touch made.txt`, then write a.txt"
    steps = [ask("p", **plan(text)), done("p"), ask("c", 2, **command("touch made.txt")),
             ask("w", 3, **write(place, "a.txt"))]  # fmt: skip
    player = Player(place, steps)
    await player.play(mode=mode)
    assert (player.outcome(1), player.outcome(2), player.outcome(3)) == ("yes", "no", "no")
    asked = [card.preview.kind for card in place.person.shown]
    assert asked == (["plan"] if mode == "plan" else ["plan", "command", "diff"])


async def test_accept_edits_lets_edits_in_the_workspace_through_and_nothing_else(place: Place):
    place.person.decide = lambda card: EDITS if card.preview.kind == "plan" else KEEP
    outside = {"kind": "edit", "rawInput": {"file_path": str(place.folder / "x.txt"), "content": "x"}}
    steps = [ask("before", 1, **write(place, "a.txt")), ask("p", 2, **plan()), done("p"),
             ask("w", 3, **write(place, "a.txt")), ask("c", 4, **command("touch made.txt")),
             ask("o", 5, **outside)]  # fmt: skip
    player = Player(place, steps)
    await player.play()
    assert [player.outcome(number) for number in range(1, 6)] == ["no", "yes", "yes", "no", "no"]
    assert [card.preview.kind for card in place.person.shown] == ["diff", "plan", "command", "diff"]
    answered = next(
        row for row in place.rows() if row.phase == "decided" and row.by == "user" and row.verdict == "allow"
    )
    assert answered.tool == "acp:plan"


async def test_keep_planning_brings_the_message_to_the_agent_in_the_same_turn(place: Place):
    place.person.decide = lambda card: {**KEEP, "reason": "keep the old name"}
    player = Player(place, [ask("p", options=CLAUDE_OPTIONS, **plan())], [{"stop": "end_turn"}])
    assert await player.play() == "end_turn"
    assert player.outcome(1) == "reject"
    assert player.prompts()[1] == "The person wants you to keep planning and said: keep the old name"


async def test_a_stop_ends_the_card_of_a_plan(place: Place):
    player = Player(place, [ask("p", **plan()), {"until": "cancel"}])
    turn = place.turn(player.name)
    playing = asyncio.create_task(player.agent.prompt("go", turn))
    await place.person.card()
    await player.agent.cancel(turn.thread_id)
    await playing
    assert player.outcome(1) == "cancelled"
    assert place.person.states() == [("cancelled", "cancel")]


async def test_a_plan_that_asks_for_permissions_is_refused_and_the_agent_is_told_why(place: Place):
    given = plan(allowedPrompts=[{"tool": "Bash", "prompt": "run the tests"}])
    player = Player(place, [ask("p", **given)], [{"stop": "end_turn"}])
    await player.play()
    assert (place.person.shown, player.outcome(1)) == ([], "no")
    assert "allowedPrompts" in player.prompts()[-1]


def long_text(text: str) -> dict:
    """A plan beside a text that begins as it does."""
    block = {"type": "content", "content": {"type": "text", "text": f"{text}then deploy"}}
    return {**plan(text), "content": [block]}


BESIDE = ["description", "explanation", "instruction", "title", "planFilePath", "plan_file_path", "plan_path", "note"]
NO_PLANS = [
    ("no plan", {"kind": "switch_mode", "rawInput": {}}),
    ("an empty plan", plan("  ")),
    ("a plan that is no text", {"kind": "switch_mode", "rawInput": {"plan": ["rm x"]}}),
    ("a command beside it", plan(command="rm -rf /")),
    ("a key that is not known", plan(anything={"a": 1})),
    ("another kind", {**plan(), "kind": "execute"}),
    ("a kind that says nothing", {**plan(), "kind": "other"}),
    ("the name of a tool that runs", {**plan(), "name": "run_bash"}),
    *((f"the name {name}", {**plan(), "name": name}) for name in ("deploy", "save_plan", "send_email", "publish")),
    ("a second name", {**plan(), "name": "ExitPlanMode", "_meta": {"x": {"toolName": "deploy"}}}),
    *((f"a text in {key}", plan(**{key: "then deploy to prod"})) for key in BESIDE),
    ("a place of the plan", plan(plan_path="../.git/hooks/pre-commit")),
    ("a key that says more", plan(**{"then deploy to prod": None})),
    ("a title that says more", {**plan(), "title": "Approve Plan, then deploy to prod"}),
    (
        "a text that says more",
        {**plan(), "content": [{"type": "content", "content": {"type": "text", "text": "deploy"}}]},
    ),
    ("a text that goes on after the part that is stored", long_text("x " * MOST_OUTPUT)),
    ("a plan in a list", {**plan(), "rawInput": [PLAN]}),
    ("the name of an MCP tool", {**plan(), "name": "mcp__s__t"}),
    ("a place", {**plan(), "locations": [{"path": "/etc/passwd"}]}),
    ("a change", {**plan(), "content": [{"type": "diff", "path": "/etc/passwd", "newText": "x"}]}),
    ("a terminal", {**plan(), "content": [{"type": "terminal", "terminalId": "t"}]}),
]


@pytest.mark.parametrize("said", [row[1] for row in NO_PLANS], ids=[row[0] for row in NO_PLANS])
async def test_what_could_be_more_than_a_plan_is_none(place: Place, said: dict):
    place.person.decide = lambda card: KEEP
    player = Player(place, [ask("p", **said)])
    await player.play()
    assert [card.preview.kind for card in place.person.shown if card.preview.kind == "plan"] == []
    assert player.outcome(1) == "no"


def of_claude(**more) -> dict:
    """A plan as the adapter of Claude Code reports it."""
    text = {"type": "content", "content": {"type": "text", "text": PLAN}}
    return {**plan(**more), "content": [text], "_meta": {"claudeCode": {"toolName": "ExitPlanMode"}}}


KEPT = "/home/p/.claude/plans/a-b-c.md"
BESIDE_CLAUDES = [
    ("its file", {"planFilePath": KEPT}, True),
    ("no file", {"planFilePath": ""}, True),
    ("another text", {"planFilePath": KEPT, "description": "then deploy"}, False),
    ("another key for the file", {"plan_path": KEPT}, False),
    ("a text as its file", {"planFilePath": "/then deploy to prod"}, False),
    ("a file that is no absolute one", {"planFilePath": "../a.md"}, False),
    ("a file by a detour", {"planFilePath": "/w/../.git/hooks/x.md"}, False),
    ("a list as its file", {"planFilePath": [KEPT]}, False),
]


@pytest.mark.parametrize(
    ("beside", "counts"), [row[1:] for row in BESIDE_CLAUDES], ids=[row[0] for row in BESIDE_CLAUDES]
)
async def test_only_a_tool_of_the_recipe_may_name_the_file_of_its_plan(place: Place, beside: dict, counts: bool):
    place.person.decide = lambda card: KEEP
    recipe = replace(PROBED, plan_tools=frozenset({"ExitPlanMode"}))
    player = Player(place, [report("p", **of_claude(**beside)), ask("p", **of_claude(**beside))], recipe=recipe)
    await player.play()
    assert [card.preview.kind for card in place.person.shown] == ["plan" if counts else "tool"]


LEFT_OUT = [
    ("nothing", {}, ["plan"]),
    ("its file", {"planFilePath": KEPT}, ["plan"]),
    ("permissions", {"allowedPrompts": [{"tool": "Bash", "prompt": "run the tests"}]}, []),
    ("another text", {"description": "then deploy"}, ["tool"]),
    ("another plan", {"plan": "then deploy"}, ["tool"]),
]
"""What Claude Code may ask with in place of the plan that it reported: it takes the plan from its file, and leaves it
out where that is not written yet."""


@pytest.mark.parametrize(("asked", "kinds"), [row[1:] for row in LEFT_OUT], ids=[row[0] for row in LEFT_OUT])
async def test_a_plan_that_the_request_leaves_out_is_the_one_that_was_reported(
    place: Place, asked: dict, kinds: list[str]
):
    place.person.decide = lambda card: KEEP
    recipe = replace(PROBED, plan_tools=frozenset({"ExitPlanMode"}))
    steps = [report("p", **of_claude()), ask("p", **{**of_claude(), "rawInput": asked})]
    player = Player(place, steps, [{"stop": "end_turn"}], recipe=recipe)
    await player.play()
    assert [card.preview.kind for card in place.person.shown] == kinds
    assert player.outcome(1) == "no"


async def test_a_call_that_only_looks_like_a_plan_may_leave_nothing_out(place: Place):
    place.person.decide = lambda card: KEEP
    player = Player(place, [report("p", **plan()), ask("p", **{**plan(), "rawInput": {"planFilePath": KEPT}})])
    await player.play()
    assert [card.preview.kind for card in place.person.shown] == ["tool"]


@pytest.mark.parametrize("name", ["exit_plan_mode", "ExitPlanMode", "switch_mode"])
async def test_a_known_name_and_empty_keys_change_nothing(place: Place, name: str):
    place.person.decide = lambda card: KEEP
    player = Player(place, [ask("p", **{**plan(description="", plan_path=None, allowedPrompts=[]), "name": name})])
    await player.play()
    assert [card.preview.kind for card in place.person.shown] == ["plan"]


async def test_what_is_no_plan_shows_all_that_it_says(place: Place):
    place.person.decide = lambda card: KEEP
    said = {"plan_path": "../.git/hooks/pre-commit", "description": "then deploy to prod"}
    player = Player(place, [ask("p", **{**plan(**said), "name": "deploy"})])
    await player.play()
    shown = place.person.shown[0].preview.input
    assert (shown["name"], shown["rawInput"]) == ("deploy", {"plan": PLAN, **said})


async def test_a_call_that_was_first_reported_as_another_is_no_plan(place: Place):
    place.person.decide = lambda card: KEEP
    player = Player(place, [report("p", **command("rm -rf x")), ask("p", **plan())])
    await player.play()
    assert [card.preview.kind for card in place.person.shown] == ["tool"]


async def test_a_plan_that_turns_out_to_be_a_command_speaks_against_the_agent(place: Place):
    place.person.decide = lambda card: APPROVE
    ran = report("p", "completed", kind="execute", rawInput={"command": "touch x"}, rawOutput="ok")
    player = Player(place, [ask("p", **plan()), ran], gated=True)
    await player.play()
    assert player.agent.fallen
