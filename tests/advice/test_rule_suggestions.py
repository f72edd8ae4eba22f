"""Proposals from history, what a rule would have matched, and how often each rule decided."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.advice import rule_suggestions
from countersign.advice.explain import supposed_call
from countersign.advice.rule_suggestions import Matched, matched_by, propose
from countersign.gate.call import ToolCall
from countersign.gate.decisions.decide import decide
from countersign.gate.ledger.entry import Entry
from countersign.gate.ledger.rule_usage import RuleUse, Uses, blocking_calls_by_day, blocking_uses, use_of_each
from countersign.gate.ledger.writer import Ledger
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.base import Json
from countersign.wire.history import HistoryEntry
from countersign.wire.verdicts import Evidence

JUDGE = partial(decide, check_syntax=lambda _text: None)
NUMBERS = count(1)


@pytest.fixture
def policy(tmp_path) -> Policy:
    work = tmp_path.resolve() / "work"
    work.mkdir()
    return Policy(workspace=str(work), home="/home/me", trusted=True)


def answer(tool: str, given: Json, said: str = "allowed", *, agent: str = "Countersign", **more) -> HistoryEntry:
    """What a person said to one card."""
    number = next(NUMBERS)
    row: dict[str, object] = {
        "receipt_id": f"r{number}",
        "seq": number,
        "at": f"2026-11-20T00:{number // 60 % 60:02d}:{number % 60:02d}.000000Z",
        "phase": "decided",
        "thread_id": "t",
        "agent_name": agent,
        "tool_call_id": "c",
        "approval_id": f"a{number}",
        "tool": tool,
        "input": given,
        "verdict": "allow" if said == "allowed" else "deny",
        "by": "user",
        "digest": "d",
        "outcome": {"state": said},
    }
    return HistoryEntry.model_validate(row | more)


def ran(*commands: str, said: str = "allowed", **more) -> list[HistoryEntry]:
    return [answer("shell", {"command": command}, said, **more) for command in commands]


def wrote(*paths: str, said: str = "allowed") -> list[HistoryEntry]:
    return [answer("write_file", {"path": path, "content": ""}, said) for path in paths]


def read(*paths: str) -> list[HistoryEntry]:
    return [answer("read_file", {"path": path}) for path in paths]


def proposed(rows: list[HistoryEntry], policy: Policy) -> list[tuple[str, int]]:
    return [(one.rule, one.spared) for one in propose(rows, policy, JUDGE).proposals]


PROPOSED = [
    ("the same command", ran(*["make test"] * 3), [("Bash(make test)", 3)]),
    ("one that differs in its end", ran(*(f'git commit -m "{n}"' for n in range(4))), [("Bash(git commit:*)", 4)]),
    (
        "mostly the same: the narrow one",
        ran(*["npm run test"] * 6, "npm run test -- --watch"),
        [("Bash(npm run test)", 6)],
    ),
    (
        "both kinds often: the wide one",
        ran(*["npm run test"] * 4, *["npm run test -- --watch"] * 4),
        [("Bash(npm run test:*)", 8)],
    ),
    ("files of one kind", wrote("src/a.py", "src/b.py", "src/c.py"), [("Edit(./src/*.py)", 3)]),
    ("one file", wrote("src/a.py", "src/a.py", "src/a.py"), [("Edit(./src/a.py)", 3)]),
    ("a host", [answer("web_fetch", {"url": f"https://docs.example/{n}"}) for n in range(3)],
     [("WebFetch(domain:docs.example)", 3)]),
    ("a tool of a server", [answer("mcp__github__get_issue", {"number": n}) for n in range(3)],
     [("mcp__github__get_issue", 3)]),
    ("two kinds", ran(*["make test"] * 3) + wrote("a.md", "a.md", "a.md", "a.md"),
     [("Edit(./a.md)", 4), ("Bash(make test)", 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "expected"), [pytest.param(*case[1:], id=case[0]) for case in PROPOSED])
def test_a_rule_is_proposed_for_what_is_approved_again_and_again(rows, expected, policy) -> None:
    assert proposed(rows, policy) == expected


SUBCOMMANDS = {
    "git": ("add", "commit", "push", "fetch", "checkout"),
    "npm": ("run test", "run build", "install", "publish", "exec"),
    "npm run -w web": ("test", "build"),
    "cargo": ("test", "build", "publish", "run"),
    "docker": ("compose up", "compose down", "run", "rm", "push"),
    "kubectl -n prod": ("get", "delete", "apply"),
    "gh": ("pr view", "pr merge", "pr create", "repo delete", "api"),
    "go": ("test", "run", "install"),
    "terraform": ("plan", "apply", "destroy"),
    "uv": ("sync", "add", "publish"),
    "aws s3": ("ls", "rm", "sync"),
    "systemctl": ("status", "stop"),
}
ENDS = ("", " a", " src/b", " -v", " --all x", " a b c")


@given(
    program=st.sampled_from(sorted(SUBCOMMANDS)),
    which=st.integers(0, 9),
    ends=st.lists(st.sampled_from(ENDS), min_size=3, max_size=8),
    denied=st.sampled_from((*ENDS, None)),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_proposal_covers_what_was_approved_and_crosses_no_subcommand(program, which, ends, denied, policy) -> None:
    each = SUBCOMMANDS[program]
    chosen = each[which % len(each)]
    approved = [f"{program} {chosen}{end}" for end in ends]
    refused = [] if denied is None else [f"{program} {chosen}{denied}"]
    others = [
        f"{name} {other}{end}" for name in SUBCOMMANDS for other in SUBCOMMANDS[name] for end in ("", " a")
        if not f"{name} {other} ".startswith(f"{program} {chosen} ")
    ]  # fmt: skip
    for rule, spared in proposed(ran(*approved) + ran(*refused, said="denied"), policy):
        trial = replace(policy, rules=(RuleText("allow", rule),))

        def allowed(command: str, trial: Policy = trial) -> bool:
            call = supposed_call({"tool": "shell", "args": {"command": command}}, trial)
            return JUDGE(call, trial, ("default",), ()).verdict == "allow"

        assert sum(map(allowed, approved)) == spared, rule
        assert not any(map(allowed, refused)), rule
        assert [command for command in others if allowed(command)] == [], rule


NOT_PROPOSED = [
    ("twice is not often", ran("make test", "make test")),
    ("what the mode allows by now", read("src/a.py", "src/a.py", "src/a.py")),
    ("shells", ran(*["bash -c ls"] * 4, *["sh x.sh"] * 4)),
    ("interpreters", ran("python a.py", "python b.py", "python c.py", *["python -c 1"] * 4, *["node x.js"] * 4)),
    ("wrappers", ran(*["sudo make test"] * 4, *["env make test"] * 4, *["xargs -n1 make"] * 4)),
    ("what cannot be understood", ran(*["make test 'x"] * 4)),
    ("several parts that one rule does not cover", ran(*["make test && make lint"] * 4)),
    ("floors: protected places", wrote(*[".git/config"] * 4, *[".vscode/settings.json"] * 4)),
    ("floors: a removal of roots", ran(*["rm -rf /"] * 4, *["rm -rf ."] * 4)),
    ("secrets", read(*[".env"] * 4, *["keys/id_rsa"] * 4) + ran(*["cat .env"] * 4)),
    ("places outside the workspace", wrote(*["/srv/out"] * 4) + read(*["/srv/in"] * 4)),
    ("what was edited", ran(*["make test"] * 4, outcome={"state": "allowed", "note": "edited by you"})),
    ("what held a secret", ran(*["make TOKEN=[redacted]"] * 4)),
    ("calls of hosted agents", [answer("acp:execute", {"command": "make test"}) for _ in range(4)]),
    ("what a person did by hand", ran(*["make test"] * 4, approval_id=None)),
    ("what rules decided", ran(*["make test"] * 4, by="rule")),
    ("what was started", ran(*["make test"] * 4, phase="started")),
    ("what nobody answered", ran(*["make test"] * 4, said="expired", by="timeout")),
]


@pytest.mark.parametrize("rows", [pytest.param(case[1], id=case[0]) for case in NOT_PROPOSED])
def test_nothing_is_proposed_for(rows, policy) -> None:
    assert proposed(rows, policy) == []


OFTEN = ran(*(f"git commit -m {n}" for n in range(4)))
DENIED = [
    ("a call like them", ran("git commit --amend", said="denied")),
    ("a card that was closed", ran("git commit --amend", said="cancelled")),
    ("a call that was edited before it ran", ran("git commit --amend", outcome={"note": "edited by you"})),
    ("a call within a longer one", ran("git commit -m x && git commit -m y", said="denied")),
    ("another agent's call", ran("git commit --amend", said="denied", agent="Reviewer")),
    ("a call with a secret in it", ran("git commit -m [redacted]", said="denied")),
    ("a hosted agent's call", [answer("acp:execute", {"x": ["git commit --amend"]}, "denied", agent="Claude")]),
]


@pytest.mark.parametrize("denied", [pytest.param(case[1], id=case[0]) for case in DENIED])
def test_a_rule_that_would_allow_what_a_person_denied_is_not_proposed(denied, policy) -> None:
    assert proposed(OFTEN, policy) == [("Bash(git commit:*)", 4)]
    assert proposed(OFTEN + denied, policy) == []


def test_a_denial_of_something_else_hinders_nothing(policy) -> None:
    assert proposed(OFTEN + ran("git push", said="denied"), policy) == [("Bash(git commit:*)", 4)]


def test_a_narrower_rule_is_proposed_where_only_the_wider_one_would_allow_what_was_denied(policy) -> None:
    rows = ran(*["npm run test"] * 4, *["npm run test -- -u"] * 3) + ran("npm run test -- --watch", said="denied")
    assert proposed(rows, policy) == [("Bash(npm run test)", 4), ("Bash(npm run test -- -u)", 3)]


def test_no_tool_of_a_server_is_proposed_while_a_denial_cannot_be_judged_again(policy) -> None:
    rows = [answer("mcp__github__get_issue", {"number": n}) for n in range(3)]
    assert proposed([*rows, answer("acp:other", {"number": 1}, "denied")], policy) == []


def test_nothing_is_proposed_while_more_was_denied_than_can_be_weighed(policy, monkeypatch) -> None:
    rows = OFTEN + ran("make a", "make b", "make c", said="denied")
    monkeypatch.setattr(rule_suggestions, "MOST_DENIED", 3)
    assert proposed(rows, policy) == [("Bash(git commit:*)", 4)]
    monkeypatch.setattr(rule_suggestions, "MOST_DENIED", 2)
    assert proposed(rows, policy) == []


RULED = [
    ("an ask rule", RuleText("ask", "Bash(git commit:*)")),
    ("an ask rule for some of it", RuleText("ask", "Bash(git *)")),
    ("a deny rule", RuleText("deny", "Bash(git commit:*)")),
    ("an allow rule by now", RuleText("allow", "Bash(git commit:*)")),
]


@pytest.mark.parametrize("rule", [pytest.param(case[1], id=case[0]) for case in RULED])
def test_nothing_is_proposed_where_a_rule_has_spoken(rule, policy) -> None:
    assert proposed(OFTEN, replace(policy, rules=(rule,))) == []


def test_bypass_neither_hides_a_proposal_nor_excuses_a_denial(policy) -> None:
    bypassed = replace(policy, agents={"Countersign": AgentConfig("Countersign", bypass=True)})
    assert proposed(OFTEN, bypassed) == [("Bash(git commit:*)", 4)]
    assert proposed(OFTEN + ran("git commit --amend", said="denied"), bypassed) == []


def test_a_proposal_says_what_it_rests_on(policy) -> None:
    rows = ran(*(f"git commit -m {n}" for n in range(5)), agent="Reviewer")
    rows += [answer("acp:execute", {"command": "ls"}), *ran("git commit -m \x1b[2J")]
    found = propose(rows, policy, JUDGE)
    (one,) = found.proposals
    assert (one.since, one.last, one.agents) == (rows[0].at, rows[4].at, ("Reviewer",))
    assert one.examples == ("git commit -m 0", "git commit -m 1", "git commit -m 2")
    assert (found.looked, found.unjudged, found.since) == (7, 1, rows[0].at)


def test_each_spared_card_would_really_have_been_allowed(policy) -> None:
    """A file became a link to elsewhere since it was written: its cards are no reason for a rule any more."""
    rows = wrote(*["a.md"] * 3)
    assert proposed(rows, policy) == [("Edit(./a.md)", 3)]
    Path(policy.workspace, "a.md").symlink_to("/etc/hostname")
    assert proposed(rows, policy) == []


def test_a_call_is_judged_once_however_often_it_came(policy) -> None:
    judged: list[str] = []

    def noting(call: ToolCall, *rest):
        judged.append(call.tool)
        return JUDGE(call, *rest)

    propose(ran(*["make test"] * 50), policy, noting)
    assert len(judged) <= 1 + 2  # under the policy of now, and under each of the two widths


MATCHED = [
    (RuleText("allow", "Bash(npm test:*)"), Matched(4, 3, 2, 0)),
    (RuleText("allow", "Bash(npm test:*)", agent="Reviewer"), Matched(4, 0, 0, 0)),
    (RuleText("allow", "Bash(npm test:*)", "workspace"), Matched(4, 3, 2, 0)),
    (RuleText("ask", "Bash(npm:*)"), Matched(4, 3, 0, 0)),
    (RuleText("deny", "Bash(curl:*)"), Matched(4, 1, 0, 0)),
    (RuleText("deny", "Read(*.md)"), Matched(4, 1, 0, 0)),
    (RuleText("allow", "Edit(.git/**)"), Matched(4, 0, 0, 0)),
]


@pytest.mark.parametrize(("rule", "expected"), MATCHED)
def test_what_a_rule_would_have_matched_is_counted(rule, expected, policy) -> None:
    rows = ran("npm test", "npm test -- a", "npm test && curl x", "cat README.md")
    other = replace(policy, rules=(RuleText("deny", "Bash"),), trusted=False)
    assert matched_by(rule, rows, policy, JUDGE) == matched_by(rule, rows * 2, other, JUDGE) == expected


# --- how often each rule decided -------------------------------------------------------------------------------------

SETTINGS = "/srv/app/.vscode/settings.json"


def row(number: int, *rules: tuple[str, int], **more) -> Entry:
    evidence = [Evidence(source="rule", rule=rule, file=SETTINGS, line=line, reason="r") for rule, line in rules]
    given = {
        "receipt_id": f"r{number}",
        "phase": "decided",
        "workspace": "/srv/app",
        "owner": "o",
        "thread_id": "t",
        "agent_name": "Countersign",
        "tool_call_id": "c",
        "tool": "shell",
        "digest": "d",
        "verdict": "allow",
        "by": "rule",
        "evidence": tuple(evidence),
        "at": f"2026-11-{number:02d}T00:00:00.000000Z",
    }
    return Entry(**(given | more))


async def test_a_call_counts_once_for_each_rule_that_its_verdict_rests_on() -> None:
    ledger = Ledger(None)
    await ledger.append(row(1, ("Bash(a)", 3), ("Bash(b)", 4)), row(1, ("Bash(a)", 3), phase="started"))
    await ledger.append(row(2, ("Bash(b)", 4)), row(2, ("Bash(b)", 4), ("Bash(c)", 5), at="2026-11-09T00:00:00Z"))
    await ledger.append(row(3), row(4, ("Bash(a)", 3), workspace="/srv/other"))
    grant = Evidence(source="grant", rule="Bash(a)", file="grant-id", reason="r")
    await ledger.append(row(5, evidence=(grant,)))
    uses = {
        ("Bash(a)", SETTINGS, 3): RuleUse(1, "2026-11-01T00:00:00.000000Z"),
        ("Bash(b)", SETTINGS, 4): RuleUse(2, "2026-11-09T00:00:00Z"),
        ("Bash(c)", SETTINGS, 5): RuleUse(1, "2026-11-09T00:00:00Z"),
    }
    assert blocking_uses(ledger.rows, "/srv/app") == uses
    assert blocking_uses(ledger.rows, None)["Bash(a)", SETTINGS, 3].hits == 2
    days = {"2026-11-01": 1, "2026-11-02": 1, "2026-11-03": 1, "2026-11-05": 1, "2026-11-09": 1}
    assert blocking_calls_by_day(ledger.rows, "/srv/app") == days
    ledger.close()


def test_a_rule_that_moved_keeps_its_figures_and_twins_have_their_own() -> None:
    uses: Uses = {
        ("Bash(a)", SETTINGS, 3): RuleUse(2, "2026-11-01"),
        ("Bash(a)", SETTINGS, 7): RuleUse(1, "2026-11-05"),
        ("Bash(a)", "/home/me/settings.json", 3): RuleUse(5, "2026-11-06"),
    }
    moved = RuleText("allow", "Bash(a)", file=SETTINGS, line=9)
    assert use_of_each([moved], uses) == [RuleUse(3, "2026-11-05")]
    twin = RuleText("ask", "Bash(a)", file=SETTINGS, line=7)
    assert use_of_each([twin, moved, RuleText("deny", "x")], uses) == [RuleUse(1, "2026-11-05"), RuleUse(), RuleUse()]
