"""The numbered precedence of ``decide``. Past 500 lines, because rungs, matrix and properties are one table."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.call import Effect, FetchUrl, ReadPath, RunCommand, ToolCall, UseTool, WritePath
from countersign.gate.decision import STRICTNESS, Decision
from countersign.gate.decisions.decide import MATRIX, compile_rules, decide
from countersign.gate.finding import Finding, Floor
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.approvals import ToolPreview
from countersign.wire.verdicts import Category, Evidence, Mode, Verdict

WS = "/nowhere/ws"
MODES: tuple[Mode, ...] = get_args(Mode)


def rule(listed: str, text: str, **more: Any) -> RuleText:
    return RuleText(listed, text, **more)  # type: ignore[arg-type]


def policy(*rules: RuleText, bypass: bool = False, **more: Any) -> Policy:
    agents = {"Countersign": AgentConfig("Countersign", bypass=bypass)}
    return Policy(
        **({"workspace": WS, "home": "/nowhere/home", "trusted": True, "rules": rules, "agents": agents} | more)
    )


def call(*effects: Effect, category: Category = "external", tool: str = "thing", **arguments: Any) -> ToolCall:
    return ToolCall(
        tool_call_id="1", thread_id="t", turn_id="u", agent="Countersign", tool=tool, arguments=arguments,
        kind="other", category=category, effects=effects, preview=ToolPreview(), cwd=WS,
    )  # fmt: skip


def read(path: str = "a") -> ToolCall:
    return call(ReadPath(path), category="read", tool="read_file")


def write(path: str = "a") -> ToolCall:
    return call(WritePath(path), category="write", tool="write_file")


def fetch(url: str = "https://example.com/x") -> ToolCall:
    return call(FetchUrl(url), tool="web_fetch")


def run_node(**arguments: Any) -> ToolCall:
    return call(UseTool("run_node"), category="execute", tool="run_node", **arguments)


def mcp(name: str = "mcp__a__b", **arguments: Any) -> ToolCall:
    return call(UseTool(name, server="a"), tool=name, **arguments)


def said(decision: Decision) -> tuple[Verdict, str, str]:
    return decision.verdict, decision.evidence[0].source, decision.by


GRANT = rule("allow", "Edit", scope="grant", agent="Countersign")
HOOK = Evidence(source="hook", reason="the hook said no")


# --- one test a rung -------------------------------------------------------------------------------------------------


def test_rung_1_a_floor_is_never_overridden() -> None:
    everything = policy(rule("allow", "Edit"), rule("allow", "Edit(//**)"), bypass=True)
    assert said(decide(write(".git/config"), everything, ["auto"], [GRANT])) == ("ask", "floor", "user")
    assert said(decide(write("a\0b"), everything, ["auto"], [GRANT])) == ("deny", "floor", "floor")


def test_rung_2_a_deny_rule_beats_a_floors_ask_and_all_that_allows() -> None:
    denying = policy(rule("allow", "Edit"), rule("deny", "Edit(./**)"), bypass=True)
    assert said(decide(write(), denying, ["auto"], [GRANT])) == ("deny", "rule", "rule")
    assert said(decide(write(".git/x"), denying, ["auto"], [GRANT])) == ("deny", "rule", "rule")


@pytest.mark.parametrize("scope", ["managed", "user", "workspace", "chat", "default"])
def test_rung_2_a_deny_rule_of_any_scope_denies(scope: str) -> None:
    denying = rule("deny", "Edit", scope=scope)
    assert said(decide(write(), policy(denying, trusted=False), ["auto"])) == ("deny", "rule", "rule")
    assert said(decide(write(), policy(), ["auto"], [denying])) == ("deny", "rule", "rule")


def test_rung_3_a_hook_that_denies_beats_all_that_allows() -> None:
    allowing = policy(rule("allow", "Edit"), bypass=True)
    assert said(decide(write(), allowing, ["auto"], [GRANT], hook_denials=[HOOK])) == ("deny", "hook", "hook")
    assert said(decide(read(), policy(), ["auto"], hook_denials=[HOOK])) == ("deny", "hook", "hook")


def test_rung_4_an_ask_rule_is_not_silenced_by_bypass_auto_or_grant() -> None:
    asking = policy(rule("allow", "Edit"), rule("ask", "Edit(./a)"), bypass=True)
    assert said(decide(write(), asking, ["auto"], [GRANT])) == ("ask", "rule", "user")


def test_rung_4_a_broken_rule_asks_for_its_tool_and_one_without_a_tool_for_all_but_reads() -> None:
    broken_tool = policy(rule("deny", "Edit(["), bypass=True)
    assert said(decide(write(), broken_tool, ["auto"])) == ("ask", "rule", "user")
    assert said(decide(fetch(), broken_tool, ["auto"])) == ("allow", "bypass", "bypass")
    nameless = policy(rule("ask", "(("), bypass=True)
    for asked in (write(), fetch(), mcp(), run_node()):
        assert said(decide(asked, nameless, ["auto"])) == ("ask", "rule", "user")
    assert said(decide(read(), nameless, ["default"])) == ("allow", "bypass", "bypass")


def test_rung_5_plan_denies_what_is_no_read_and_says_what_to_do_instead() -> None:
    allowing = policy(rule("allow", "Edit"), rule("ask", "Edit"), bypass=True)
    decision = decide(write(), allowing, ["plan"], [GRANT])
    assert said(decision) == ("deny", "mode", "mode")
    assert "propose" in decision.reason
    assert said(decide(read(), policy(), ["plan"])) == ("allow", "mode", "mode")


def test_rung_6_an_allow_rule_goes_before_a_grant() -> None:
    assert said(decide(write(), policy(rule("allow", "Edit")), ["ask"], [GRANT])) == ("allow", "rule", "rule")
    assert said(decide(write(), policy(), ["ask"], [GRANT])) == ("allow", "grant", "grant")


def test_rung_6_allow_rules_of_an_untrusted_workspace_do_not_count() -> None:
    from_workspace = rule("allow", "Edit", scope="workspace")
    assert decide(write(), policy(from_workspace, trusted=False), ["default"]).verdict == "ask"
    assert decide(write(), policy(from_workspace, trusted=True), ["default"]).verdict == "allow"
    assert decide(write(), policy(rule("allow", "Edit"), trusted=False), ["default"]).verdict == "allow"


def test_rung_6_a_grant_serves_only_the_agent_that_it_names() -> None:
    others = replace(GRANT, agent="Other")
    nobodys = replace(GRANT, agent=None)
    assert decide(write(), policy(), ["default"], [others, nobodys]).verdict == "ask"


def test_rung_7_bypass_allows_what_nobody_denied_or_asked_for() -> None:
    assert said(decide(mcp(), policy(bypass=True), ["ask"])) == ("allow", "bypass", "bypass")


@pytest.mark.parametrize("lost", [{"trusted": False}, {"disable_bypass": True}, {"agents": {}}])
def test_rung_7_bypass_counts_only_where_it_may(lost: Mapping[str, Any]) -> None:
    assert decide(mcp(), policy(bypass=True, **lost), ["default"]).verdict == "ask"


def test_rung_8_a_mode_allows_by_category() -> None:
    assert said(decide(mcp(), policy(), ["auto"])) == ("allow", "mode", "mode")


def test_rung_9_otherwise_it_asks_and_says_why() -> None:
    decision = decide(mcp(), policy(), ["default"])
    assert said(decision) == ("ask", "default", "user")
    assert "no rule matches" in decision.reason


def test_last_of_all_dont_ask_denies_what_still_asks() -> None:
    for asked in (write(".git/x"), mcp(), read("/etc/x"), read(".env")):
        assert said(decide(asked, policy(bypass=False), ["dontAsk"])) == ("deny", "mode", "mode")
    asking = policy(rule("ask", "Edit"), bypass=True)
    assert said(decide(write(), asking, ["dontAsk"])) == ("deny", "mode", "mode")
    assert said(decide(write(), policy(rule("allow", "Edit")), ["dontAsk"])) == ("allow", "rule", "rule")
    assert said(decide(write(), policy(bypass=True), ["dontAsk"])) == ("allow", "bypass", "bypass")


def test_a_fault_of_our_own_denies(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("countersign.gate.decisions.decide.judge_effects", fail)
    decision = decide(read(), policy(bypass=True), ["auto"])
    assert (decision.verdict, decision.evidence[0].source, decision.grantable) == ("deny", "error", False)
    assert "broken" in caplog.text


# --- the matrix ------------------------------------------------------------------------------------------------------

CALLS: Mapping[Category, ToolCall] = {"read": read(), "write": write(), "execute": run_node(), "external": mcp()}


@pytest.mark.parametrize(("category", "mode"), list(itertools.product(CALLS, MODES)))
def test_every_cell_of_the_matrix_is_what_a_call_without_rules_gets(category: Category, mode: Mode) -> None:
    assert decide(CALLS[category], policy(), [mode]).verdict == MATRIX[category][mode]


@pytest.mark.parametrize("category", CALLS)
def test_of_several_modes_the_strictest_cell_counts(category: Category) -> None:
    for one, other in itertools.product(MODES, MODES):
        expected = max((MATRIX[category][one], MATRIX[category][other]), key=STRICTNESS.__getitem__)
        if expected == "ask" and "dontAsk" in (one, other):
            expected = "deny"
        assert decide(CALLS[category], policy(), [one, other]).verdict == expected
        assert decide(CALLS[category], policy(tightening=(other,)), [one]).verdict == expected


def test_no_mode_at_all_is_the_mode_that_asks() -> None:
    assert decide(read(), policy(), []).verdict == "ask"


# --- effects ---------------------------------------------------------------------------------------------------------

EFFECTS = [
    # call, rules, verdict in default
    (call(ReadPath("a"), ReadPath("b"), category="read"), ["deny Read(./b)"], "deny"),
    (call(WritePath("a"), WritePath("b"), category="write"), ["allow Edit(./a)"], "ask"),
    (call(WritePath("a"), WritePath("b"), category="write"), ["allow Edit(./a)", "allow Edit(./b)"], "allow"),
    (call(ReadPath("a"), category="external"), [], "ask"),
    (call(ReadPath("a"), category="external"), ["allow Read(./a)"], "ask"),
    (call(ReadPath("a"), category="external", tool="mcp__a__b"), ["allow Read(./a)", "allow mcp__a__b"], "allow"),
    (call(category="read", tool="todo_write"), [], "allow"),
    (call(category="external", tool="odd"), [], "ask"),
    (call(category="external", tool="odd"), ["allow odd"], "allow"),
    (call(category="read", tool="todo_write"), ["deny todo_write"], "deny"),
    (call(WritePath("a.png"), category="write", tool="image"), ["allow Edit", "ask image"], "ask"),
    (call(WritePath("a.png"), category="write", tool="image"), ["allow Edit", "deny image"], "deny"),
    (call(WritePath("a.png"), category="write", tool="image"), ["allow image"], "ask"),
    (fetch(), ["allow WebFetch(domain:example.com)"], "allow"),
    (fetch(), ["allow WebFetch(domain:*.example.com)"], "ask"),
    (fetch(), ["allow WebFetch", "ask WebFetch(domain:example.com)"], "ask"),
    (fetch(), ["allow WebFetch", "deny WebFetch(domain:*)"], "deny"),
    (fetch("https://EXAMPLE.com./x"), ["allow WebFetch(domain:example.com)"], "allow"),
    (fetch("https://example.com:8443/x"), ["allow WebFetch(domain:example.com)"], "allow"),
    (fetch("https://example.com@evil.net/x"), ["allow WebFetch"], "ask"),
    (fetch("https://example.com\\@evil.net/x"), ["allow WebFetch"], "ask"),
    (fetch("https://evil.net\\@example.com/x"), ["allow WebFetch", "deny WebFetch(domain:evil.net)"], "deny"),
    (fetch("https://evil%2enet/"), ["allow WebFetch", "deny WebFetch(domain:evil.net)"], "deny"),
    (fetch("https://EVIL。net/"), ["allow WebFetch", "deny WebFetch(domain:evil.net)"], "deny"),
    (fetch("http://2130706433/"), ["allow WebFetch", "deny WebFetch(domain:127.0.0.1)"], "deny"),
    (fetch("file:///etc/passwd"), ["allow WebFetch"], "ask"),
    (fetch("not an address"), ["allow WebFetch"], "ask"),
    (mcp(), ["allow mcp__a__b"], "allow"),
    (mcp(), ["allow mcp__a"], "allow"),
    (mcp(), ["allow mcp__a__*"], "allow"),
    (mcp(), ["allow mcp__a", "deny mcp__*"], "deny"),
    (mcp(database="prod"), ["allow mcp__a", "deny mcp__a__b(database:prod)"], "deny"),
    (mcp(database="PROD-2"), ["allow mcp__a", "deny mcp__a__b(database:prod*)"], "deny"),
    (mcp(database="dev"), ["allow mcp__a", "deny mcp__a__b(database:prod)"], "allow"),
    (mcp(database=["prod"]), ["allow mcp__a", "deny mcp__a__b(database:prod)"], "ask"),
    (mcp(other="prod"), ["allow mcp__a", "deny mcp__a__b(database:prod)"], "allow"),
    (mcp(force=True, count=3), ["allow mcp__a", "ask mcp__a__b(force:true)"], "ask"),
    (mcp(force=True, count=3), ["allow mcp__a", "ask mcp__a__b(count:3)"], "ask"),
    (run_node(node_type="shell.x"), ["allow run_node", "deny run_node(node_type:shell*)"], "deny"),
    (call(UseTool("Agent", "Reviewer"), category="read", tool="run_subtask"), [], "allow"),
    (call(UseTool("Agent", "Reviewer"), category="read", tool="run_subtask"), ["deny Agent(Reviewer)"], "deny"),
    (call(UseTool("Agent"), category="read", tool="run_subtask", agent="Rev"), ["ask Agent(R*)"], "ask"),
    (call(UseTool("Agent", "Other"), category="read", tool="run_subtask"), ["deny Agent(Reviewer)"], "allow"),
]


@pytest.mark.parametrize(("asked", "rules", "expected"), EFFECTS, ids=itertools.count())
def test_every_effect_is_judged_by_the_rules_about_it(asked: ToolCall, rules: Sequence[str], expected: str) -> None:
    listed = [rule(*text.split(" ", 1)) for text in rules]
    assert decide(asked, policy(*listed), ["default"]).verdict == expected


def test_an_address_nobody_can_read_asks_in_every_mode() -> None:
    assert decide(fetch("https://a@b/"), policy(bypass=True), ["auto"]).verdict == "ask"


PROPOSALS = [
    (write("src/a.py"), "Edit(./src/a.py)", ("Edit(./src/a.py)", "Edit(./src/*.py)", "Edit(./src/**)")),
    (fetch(), "WebFetch(domain:example.com)", ("WebFetch(domain:example.com)",)),
    (fetch("https://a@b/"), None, ()),
    (mcp(), "mcp__a__b", ("mcp__a__b", "mcp__a")),
    (call(WritePath("a"), WritePath("b"), category="write", tool="move_file"), None, ()),
    (run_node(), None, ()),
    (call(UseTool("Agent", "Reviewer"), category="external", tool="odd"), "Agent(Reviewer)", ("Agent(Reviewer)",)),
    (call(WritePath("a"), category="external", tool="odd"), None, ()),
]


@pytest.mark.parametrize(("asked", "exact", "proposals"), PROPOSALS, ids=itertools.count())
def test_the_rules_that_are_proposed_cover_the_call(
    asked: ToolCall, exact: str | None, proposals: tuple[str, ...]
) -> None:
    decision = decide(asked, policy(), ["default"]).with_offers()
    assert (decision.exact_rule, decision.proposals) == (exact, proposals)
    for text in proposals:
        assert decide(asked, policy(rule("allow", text)), ["default"]).verdict == "allow"
        granted = replace(GRANT, text=text)
        assert decide(asked, policy(), ["default"], [granted]).verdict == "allow"


GRANTABLE = [
    (write(), [], True),
    (read(".env"), [], True),
    (read("/etc/x"), [], True),
    (write(".git/x"), [], False),
    (write(), ["ask Edit"], False),
    (mcp(), ["ask ["], False),
]


@pytest.mark.parametrize(("asked", "rules", "grantable"), GRANTABLE, ids=itertools.count())
def test_no_grant_is_offered_where_a_floor_or_an_ask_rule_asks(
    asked: ToolCall, rules: Sequence[str], grantable: bool
) -> None:
    decision = decide(asked, policy(*(rule(*text.split(" ", 1)) for text in rules)), ["default"])
    assert (decision.verdict, decision.grantable) == ("ask", grantable)


def test_evidence_leads_to_the_rule_and_its_line() -> None:
    denying = rule("deny", "Edit(./a)", file="s.json", line=4, reason="it is generated")
    decision = decide(write(), policy(denying, rule("deny", "Edit")), ["default"])
    assert [(e.rule, e.file, e.line) for e in decision.evidence] == [("Edit(./a)", "s.json", 4)]
    assert "it is generated" in decision.reason
    assert "s.json:4" in decision.reason
    assert [(view.kind, view.resource, view.verdict) for view in decision.effects] == [("write", f"{WS}/a", "deny")]


def test_a_rule_that_nearly_matches_is_told() -> None:
    decision = decide(read(".env"), policy(rule("allow", "Read(./**)")), ["default"])
    assert decision.verdict == "ask"
    narrow = decide(write("a/b"), policy(rule("allow", "Edit(./A/**)")), ["default"])
    assert narrow.reason == "`Edit(./A/**)` does not cover every spelling of this path"


def test_what_a_person_chose_is_recorded_before_what_a_mode_lets_pass() -> None:
    moved = call(ReadPath("a"), WritePath("b"), category="write", tool="move_file")
    decision = decide(moved, policy(rule("allow", "Edit(./b)")), ["default"])
    assert (decision.verdict, decision.by) == ("allow", "rule")
    assert [said.source for said in decision.evidence] == ["rule", "mode"]
    granted = decide(moved, policy(), ["default"], [replace(GRANT, text="Edit(./b)")])
    assert (granted.verdict, granted.by) == ("allow", "grant")


def test_a_tool_that_says_less_than_its_category_is_judged_by_its_category_too() -> None:
    sly = call(UseTool("mcp__a__b", server="a"), category="external", tool="odd")
    decision = decide(sly, policy(rule("allow", "mcp__a")), ["default"])
    assert [view.resource for view in decision.effects] == ["mcp__a__b"]
    assert decide(replace(sly, tool="shell"), policy(rule("deny", "shell")), ["default"]).verdict == "ask"


# --- commands, as far as they are folded here ------------------------------------------------------------------------


class Part(NamedTuple):
    text: str
    findings: tuple[int, ...]
    risks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    findings: tuple[Finding, ...]
    parts: tuple[Part, ...] = ()
    risks: tuple[str, ...] = ()
    offers: Callable[[], tuple[str | None, tuple[str, ...]]] = lambda: (None, ())
    scripts: tuple[str, ...] = ()
    exact_text: bool = False
    printed: str | None = None


RULED = Evidence(source="rule", rule="Bash(x)", reason="an allow rule covers it")
OUTSIDE = Evidence(source="default", reason="it lies outside the workspace")
PLAIN = Finding(kind="command", resource="x", category="execute")
READER = PLAIN._replace(known_read=True)
NEUTRAL = PLAIN._replace(neutral=True)
OPERAND = Finding(kind="read", resource="/nowhere/ws/a", category="read", known_read=True, in_workspace=True)
FAR = OPERAND._replace(requires_ask=OUTSIDE, known_read=False, auto_lifts=True, in_workspace=False)
REDIRECT = Finding(kind="write", resource="/nowhere/ws/a", category="write", in_workspace=True)

FOLDED = [
    # findings, verdicts in plan, ask, default, acceptEdits, auto, dontAsk
    ((PLAIN,), "deny ask ask ask allow deny"),
    ((READER,), "allow ask allow allow allow allow"),
    ((READER, OPERAND), "allow ask allow allow allow allow"),
    ((NEUTRAL,), "allow allow allow allow allow allow"),
    ((NEUTRAL, READER), "allow ask allow allow allow allow"),
    ((NEUTRAL, PLAIN._replace(allow=RULED)), "deny allow allow allow allow allow"),
    ((OPERAND, PLAIN._replace(allow=RULED)), "deny allow allow allow allow allow"),
    ((READER, FAR), "deny ask ask ask allow deny"),
    ((READER._replace(allow=RULED), FAR._replace(allow=RULED)), "deny allow allow allow allow allow"),
    ((READER, REDIRECT), "deny ask ask ask allow deny"),
    ((READER, REDIRECT._replace(allow=RULED)), "deny ask allow allow allow allow"),
    ((READER, PLAIN), "deny ask ask ask allow deny"),
    ((), "deny ask ask ask allow deny"),
    ((READER._replace(floors=(Floor("ask", RULED),)),), "ask ask ask ask ask deny"),
    ((PLAIN._replace(requires_ask=OUTSIDE),), "deny ask ask ask ask deny"),
]


@pytest.mark.parametrize(("findings", "expected"), FOLDED, ids=itertools.count())
def test_a_command_that_only_reads_is_a_read_and_any_other_an_execute(
    monkeypatch: pytest.MonkeyPatch, findings: tuple[Finding, ...], expected: str
) -> None:
    monkeypatch.setattr("countersign.gate.shell.judge.judge_command", lambda *_, **__: Judgement(findings))
    asked = call(RunCommand("x", WS), category="execute", tool="shell")
    order: tuple[Mode, ...] = ("plan", "ask", "default", "acceptEdits", "auto", "dontAsk")
    assert " ".join(decide(asked, policy(), [mode]).verdict for mode in order) == expected


def test_a_command_that_is_only_hinted_at_is_never_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "countersign.gate.shell.judge.judge_command", lambda *_, **__: Judgement((PLAIN._replace(allow=RULED),))
    )
    hinted = call(RunCommand("x", WS, understood=False), category="execute", tool="acp:execute")
    assert said(decide(hinted, policy(bypass=True), ["auto"])) == ("ask", "floor", "user")


def test_each_part_of_a_command_has_one_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    judgement = Judgement(
        findings=(READER, PLAIN, REDIRECT),
        parts=(Part("ls", (0,), ()), Part("x > a", (1, 2), ("deletes files",))),
        risks=("deletes files",),
        offers=lambda: ("Bash(x)", ("Bash(x)", "Bash(x:*)")),
        scripts=("/nowhere/ws/x",),
    )
    monkeypatch.setattr("countersign.gate.shell.judge.judge_command", lambda *_, **__: judgement)
    decision = decide(call(RunCommand("ls; x > a", WS), category="execute", tool="shell"), policy(), ["default"])
    decision = decision.with_offers()
    assert [(part.text, part.verdict) for part in decision.parts] == [("ls", "allow"), ("x > a", "ask")]
    assert [[risk.id for risk in part.risks or ()] for part in decision.parts] == [[], ["deletes"]]
    assert (decision.risks, decision.exact_rule, decision.proposals, decision.scripts) == (
        ("deletes files",), "Bash(x)", ("Bash(x)", "Bash(x:*)"), ("/nowhere/ws/x",),
    )  # fmt: skip


# --- what holds whatever the rules are -------------------------------------------------------------------------------

SAMPLE_CALLS = [
    read(), read("b/c"), read("/etc/x"), read(".env"), write(), write("b/c"), write("/etc/x"), write(".git/x"),
    fetch(), fetch("https://a.example.com"), mcp(), mcp(kind="x"), run_node(kind="x"),
]  # fmt: skip
SAMPLE_RULES = [
    "Read", "Edit", "Read(./**)", "Edit(./**)", "Edit(a)", "Read(./b/**)", "Edit(./b/*)", "Read(//etc/**)",
    "Read(.env)",
    "Edit(//etc/x)", "WebFetch", "WebFetch(domain:*.example.com)", "WebFetch(domain:example.com)", "mcp__a", "mcp__*",
    "mcp__a__b(kind:x)", "run_node", "Bash", "((", "Read([", "*",
]  # fmt: skip
calls = st.sampled_from(SAMPLE_CALLS)
modes = st.sampled_from(MODES)
rules = st.lists(
    st.builds(rule, st.sampled_from(["allow", "ask", "deny"]), st.sampled_from(SAMPLE_RULES)), max_size=5, unique=True
)
bounded = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@bounded
@given(calls, modes, rules, st.sampled_from(["ask", "deny"]), st.sampled_from(SAMPLE_RULES), st.booleans())
def test_adding_a_deny_or_ask_rule_never_widens(
    asked: ToolCall, mode: Mode, given_rules: list[RuleText], listed: str, text: str, bypass: bool
) -> None:
    before = decide(asked, policy(*given_rules, bypass=bypass), [mode]).verdict
    after = decide(asked, policy(*given_rules, rule(listed, text), bypass=bypass), [mode]).verdict
    assert STRICTNESS[after] >= STRICTNESS[before]


def test_a_broken_read_deny_asks_for_writing_whatever_ask_rule_stands_before_it():
    rules = [rule("allow", "Edit"), rule("ask", "Read"), rule("deny", "Read([")]
    for order in (rules, rules[::-1]):
        assert decide(write(), policy(*order), ["ask"]).verdict == "ask"


@bounded
@given(calls, modes, rules, st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_matter(
    asked: ToolCall, mode: Mode, given_rules: list[RuleText], random: Any
) -> None:
    shuffled = list(given_rules)
    random.shuffle(shuffled)
    verdicts = {decide(asked, policy(*order), [mode]).verdict for order in (given_rules, shuffled)}
    assert len(verdicts) == 1


@bounded
@given(calls, rules, st.booleans())
def test_modes_loosen_from_plan_to_auto(asked: ToolCall, given_rules: list[RuleText], bypass: bool) -> None:
    order: tuple[Mode, ...] = ("plan", "default", "acceptEdits", "auto")
    verdicts = [STRICTNESS[decide(asked, policy(*given_rules, bypass=bypass), [mode]).verdict] for mode in order]
    assert verdicts == sorted(verdicts, reverse=True)


@bounded
@given(calls, modes, modes, rules)
def test_a_further_mode_never_widens(asked: ToolCall, mode: Mode, other: Mode, given_rules: list[RuleText]) -> None:
    alone = decide(asked, policy(*given_rules), [mode]).verdict
    both = decide(asked, policy(*given_rules), [mode, other]).verdict
    assert STRICTNESS[both] >= STRICTNESS[alone]


@bounded
@given(calls, modes, rules)
def test_taking_trust_away_never_widens(asked: ToolCall, mode: Mode, given_rules: list[RuleText]) -> None:
    from_workspace = [replace(each, scope="workspace") for each in given_rules]
    trusted = decide(asked, policy(*from_workspace, bypass=True), [mode]).verdict
    untrusted = decide(asked, policy(*from_workspace, bypass=True, trusted=False), [mode]).verdict
    assert STRICTNESS[untrusted] >= STRICTNESS[trusted]


# --- speed -----------------------------------------------------------------------------------------------------------


def test_rules_are_compiled_once_for_a_policy() -> None:
    some = (rule("allow", "Edit(./a)"),)
    assert compile_rules(policy(*some, rules=some)) is compile_rules(policy(*some, rules=some, mode="auto"))
    assert compile_rules(policy(*some, rules=some)) is not compile_rules(policy(*some, rules=some, trusted=False))


def many_rules(number: int) -> tuple[RuleText, ...]:
    kinds = [
        "Read(./secret{}/**)",
        "Edit(./mod{}/src/*.py)",
        "Edit(*.ext{})",
        "WebFetch(domain:h{}.example.com)",
        "mcp__s{}",
        "Bash(tool{} run:*)",
        "Bash(npm run task{}:*)",
    ]
    lists = ["deny", "allow", "ask"]
    return tuple(rule(lists[index % 3], kinds[index % len(kinds)].format(index)) for index in range(number))


FILES_AND_TOOLS = [read("src/a.py"), write("src/b.py"), fetch(), mcp()]
COMMANDS = [call(RunCommand("tool3 run x", WS), category="execute", tool="shell")]


@pytest.mark.parametrize(("asked", "number"), [(FILES_AND_TOOLS, 5000), (COMMANDS, 1000)], ids=["tools", "commands"])
def test_deciding_hardly_grows_with_the_number_of_rules(tmp_path: Path, asked: list[ToolCall], number: int) -> None:
    """Measured side by side, so that a busy machine slows both; thrice, since one bad moment proves nothing."""
    few, many = (policy(rules=many_rules(count), workspace=str(tmp_path)) for count in (10, number))
    ratios = []
    for _ in range(3):
        times: dict[int, list[float]] = {0: [], 1: []}
        for _ in range(100):
            for which, measured in enumerate((few, many)):
                start = time.process_time()
                for each in asked:
                    decide(each, measured, ["default"])
                times[which].append(time.process_time() - start)
        ratios.append(statistics.median(times[1]) / statistics.median(times[0]))
    assert min(ratios) < 1.5
