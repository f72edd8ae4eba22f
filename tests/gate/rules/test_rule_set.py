"""Rules as people write them: what they are read as, what is said of broken ones, and which are found for an effect."""

from __future__ import annotations

import pytest

from countersign.gate.rules.rule_set import BadRule, Rule, RuleSet, compile_rule, evidence, parse_rule
from countersign.settings.policy import RuleText


def rule(listed: str, text: str, **more: object) -> RuleText:
    return RuleText(listed, text, **more)  # type: ignore[arg-type]


READ = [
    # list, text, tool, whether it has a specifier
    ("allow", "Bash", "Bash", False),
    ("allow", "Bash(npm run test:*)", "Bash", True),
    ("allow", "  Bash(ls)  ", "Bash", True),
    ("deny", "Bash(echo (x))", "Bash", True),
    ("deny", "Read(./private/**)", "Read", True),
    ("allow", "Write(src/**)", "Edit", True),
    ("allow", "MultiEdit(src/**)", "Edit", True),
    ("allow", "shell(ls:*)", "Bash", True),
    ("allow", "write_file", "Edit", False),
    ("deny", "bash(rm:*)", "Bash", True),
    ("deny", "list_dir", "Read", False),
    ("ask", "WebFetch(domain:example.com)", "WebFetch", True),
    ("allow", "mcp__github", "mcp__github", False),
    ("allow", "mcp__github__*", "mcp__github", False),
    ("allow", "mcp__github__get_*", "mcp__github__get_*", False),
    ("deny", "mcp__*", "mcp__*", False),
    ("deny", "*", "*", False),
    ("allow", "Agent(Reviewer)", "Agent", True),
    ("allow", "Task(Reviewer)", "Agent", True),
    ("deny", "run_node(node_type:shell*)", "run_node", True),
]


@pytest.mark.parametrize(("listed", "text", "tool", "specified"), READ)
def test_a_rule_is_read_as_it_is_meant(listed: str, text: str, tool: str, specified: bool) -> None:
    found = parse_rule(rule(listed, text))
    assert (found.tool, found.specifier is not None) == (tool, specified)


BROKEN = [
    # list, text, the tool that asks when it was a deny
    ("deny", "Bash(rm", "Bash"),
    ("deny", "Bash rm", ""),
    ("deny", "Bash()", "Bash"),
    ("deny", "Bash( )", "Bash"),
    ("ask", "Read(!x)", "Read"),
    ("deny", "Read(a[b)", "Read"),
    ("deny", "Read(../x/**)", "Read"),
    ("deny", "Read(a//b)", "Read"),
    ("deny", "Edit(x\\)", "Edit"),
    ("deny", "WebFetch(example.com)", "WebFetch"),
    ("deny", "WebFetch(domain:exa mple)", "WebFetch"),
    ("deny", "mcp__a__b(nothing)", "mcp__a__b"),
    ("deny", "mcp__*(x:y)", "mcp__*"),
    ("deny", "Bash(l\u200bs)", "Bash"),
    ("deny", "(x)", ""),
    ("deny", "", ""),
    ("ask", '{"rule": 1}', ""),
]


@pytest.mark.parametrize(("listed", "text", "tool"), BROKEN)
def test_a_broken_deny_or_ask_rule_asks_for_its_tool_and_is_reported(listed: str, text: str, tool: str) -> None:
    found, problem = compile_rule(rule(listed, text, file="s.json", line=3, column=5))
    assert isinstance(found, Rule)
    assert (found.list, found.tool, found.specifier) == ("ask", tool, None)
    assert found.broken is not None
    assert problem is not None
    assert (problem.file, problem.line, problem.column, problem.severity) == ("s.json", 3, 5, "error")


GRANTS_NOTHING = [
    *[text for _, text, _ in BROKEN],
    "mcp__*",
    "mcp__git*__x",
    "*",
    "B*",
    "list_dir",
    "Glob(src/**)",
    "run_node(node_type:x)",
    "mcp__a__b(c:d)",
]


@pytest.mark.parametrize("text", GRANTS_NOTHING)
def test_an_allow_rule_that_cannot_be_read_grants_nothing(text: str) -> None:
    found, problem = compile_rule(rule("allow", text))
    assert found is None
    assert problem is not None
    assert "grants nothing" in problem.message


def test_one_bad_rule_never_voids_another() -> None:
    rules = RuleSet([rule("allow", "(("), rule("deny", "(("), rule("deny", "Bash(rm:*)")])
    assert [found.text for found in rules.commands("deny", ["rm", "x"], "a")] == ["Bash(rm:*)"]
    assert [found.text for found in rules.unreadable()] == ["(("]


def test_a_broken_command_rule_asks_for_every_command() -> None:
    rules = RuleSet([rule("deny", "Bash(rm")])
    assert [found.text for found in rules.commands("ask", ["ls"], "a")] == ["Bash(rm"]


def test_a_rule_that_fails_its_own_example_grants_nothing() -> None:
    good = rule("allow", "Bash(npm test:*)", matching=("npm test -x",), not_matching=("npm testing",))
    bad = rule("allow", "Bash(npm test:*)", matching=("npm run test",))
    assert compile_rule(good)[1] is None
    assert compile_rule(bad)[0] is None


def test_a_rule_that_matches_what_it_says_it_must_not_grants_nothing() -> None:
    found, problem = compile_rule(rule("allow", "Bash(npm test:*)", not_matching=("npm test x",)))
    assert found is None
    assert problem is not None
    assert "its own example of what it must not match" in problem.message


def test_a_broken_rules_evidence_says_what_is_wrong() -> None:
    found, _ = compile_rule(rule("deny", "Bash()"))
    assert found is not None
    assert "nothing between its parentheses" in evidence(found).reason


def test_a_deny_rule_that_fails_its_own_example_asks_for_its_tool() -> None:
    found, _ = compile_rule(rule("deny", "Read(./a/**)", matching=("b/c",)))
    assert found is not None
    assert (found.list, found.tool, found.specifier) == ("ask", "Read", None)


EXAMPLES = [
    ("deny", "WebFetch(domain:*.example.com)", ("a.example.com",), ("example.com",)),
    ("allow", "Edit(./src/**)", ("src/a.py", "./src/b/c"), ("lib/a.py",)),
    ("allow", "Agent(Rev*)", ("Reviewer",), ("Other",)),
    ("ask", "run_node(kind:a*)", ("kind:abc",), ("kind:b", "other:abc")),
    ("allow", "mcp__a", ("mcp__a__b",), ()),
]


@pytest.mark.parametrize(("listed", "text", "matching", "not_matching"), EXAMPLES)
def test_examples_are_tried_for_every_kind_of_rule(
    listed: str, text: str, matching: tuple[str, ...], not_matching: tuple[str, ...]
) -> None:
    assert compile_rule(rule(listed, text, matching=matching, not_matching=not_matching))[1] is None


def test_evidence_names_the_rule_its_place_and_its_reason() -> None:
    found = parse_rule(rule("deny", "Bash(rm:*)", file="s.json", line=7, reason="we had an accident"))
    said = evidence(found)
    assert (said.source, said.rule, said.file, said.line) == ("rule", "Bash(rm:*)", "s.json", 7)
    assert "we had an accident" in said.reason


# --- finding ---------------------------------------------------------------------------------------------------------

COMMANDS = [
    ("Bash(npm run test:*)", ["npm", "run", "test"], True),
    ("Bash(npm run test:*)", ["yarn", "build"], False),
    ("Bash(go * ./...)", ["go", "vet", "./..."], True),
    ("Bash(*)", ["anything"], True),
    ("Bash", ["anything"], True),
    ("Bash(np*)", ["npm", "x"], True),
    ("Bash(np*)", ["/usr/bin/npm", "x"], True),
    ("Bash(*.sh)", ["./build.sh"], True),
    ("Bash(/bin/rm:*)", ["rm", "x"], True),
    ("Bash(rm:*)", ["/bin/rm", "x"], True),
    ("Bash(git commit -m 'fix it')", ["git", "commit", "-m", "fix it"], True),
    ("*", ["anything"], True),
    ("B*", ["anything"], True),
    ("R*", ["anything"], False),
]


@pytest.mark.parametrize(("text", "words", "found"), COMMANDS)
def test_the_rules_that_could_match_a_command_are_found(text: str, words: list[str], found: bool) -> None:
    noise = [rule("deny", f"Bash(other{number} run test:*)") for number in range(50)]
    rules = RuleSet([*noise, rule("deny", text)])
    assert (text in [each.text for each in rules.commands("deny", words, "a")]) is found


def test_rules_for_a_program_are_found_when_its_words_are_not_known() -> None:
    texts = ["Bash(rm -rf:*)", "Bash(/bin/rm x)", "Bash(ls:*)", "Bash(* x)", "Bash"]
    rules = RuleSet([rule("deny", text) for text in texts])
    assert [each.text for each in rules.commands_of("deny", "rm", "a")] == [texts[0], texts[1], texts[3], texts[4]]
    assert len(rules.commands_of("deny", None, "a")) == 5


@pytest.mark.parametrize("text", ["*", "B*"])
@pytest.mark.parametrize("program", ["rm", None])
def test_a_rule_for_any_tool_could_match_any_program(text: str, program: str | None) -> None:
    rules = RuleSet([rule("deny", text), rule("ask", "R*"), rule("deny", "Bash(ls:*)")])
    assert text in [each.text for each in rules.commands_of("deny", program, "a")]
    assert list(rules.commands_of("ask", program, "a")) == []


TOOLS = [
    ("deny", "mcp__a", "mcp__a__x", "a", True),
    ("deny", "mcp__a__*", "mcp__a__x", "a", True),
    ("deny", "mcp__a__x", "mcp__a__x", "a", True),
    ("deny", "mcp__a__x", "mcp__a__y", "a", False),
    ("deny", "mcp__*", "mcp__a__x", "a", True),
    ("deny", "*", "browser", None, True),
    ("deny", "mcp__a*", "mcp__ab__x", "ab", True),
    ("allow", "mcp__a", "mcp__a__x", "a", True),
    ("allow", "mcp__a__*", "mcp__a__x", "a", True),
    ("allow", "mcp__a__get_*", "mcp__a__get_x", "a", True),
    ("allow", "mcp__a__get_*", "mcp__a__set_x", "a", False),
    ("allow", "mcp__a", "mcp__a__b__x", "a__b", False),
    ("allow", "mcp__a__*", "mcp__a__b__x", "a__b", False),
    ("deny", "mcp__a", "mcp__a__b__x", "a__b", True),
    ("allow", "mcp__a__b", "mcp__a__b__x", "a", False),
    ("allow", "mcp__ab", "mcp__a__x", "a", False),
    ("allow", "browser", "browser", None, True),
]


@pytest.mark.parametrize(("listed", "text", "name", "server", "found"), TOOLS)
def test_a_rule_names_a_tool_by_name_server_or_wildcard(
    listed: str, text: str, name: str, server: str | None, found: bool
) -> None:
    rules = RuleSet([rule(listed, text)])
    assert bool(rules.tools(listed, name, "a", server)) is found  # type: ignore[arg-type]


HOSTS = [
    ("domain:example.com", "example.com", True),
    ("domain:EXAMPLE.com.", "example.com", True),
    ("domain:example.com", "www.example.com", False),
    ("domain:example.com", "example.com.evil.net", False),
    ("domain:*.example.com", "www.example.com", True),
    ("domain:*.example.com", "a.b.example.com", True),
    ("domain:*.example.com", "example.com", False),
    ("domain:*.example.com", "evilexample.com", False),
    ("domain:api.*.example.com", "api.eu.example.com", True),
    ("domain:api.*.example.com", "api.a.b.example.com", False),
    ("domain:api-*.example.com", "api-1.example.com", True),
    ("domain:api-*.example.com", "api-1.evil.example.com", False),
    ("domain:*", "anything.net", True),
    ("domain:bücher.example", "xn--bcher-kva.example", True),
]


@pytest.mark.parametrize(("specifier", "host", "found"), HOSTS)
def test_a_domain_covers_its_hosts_and_no_others(specifier: str, host: str, found: bool) -> None:
    assert bool(RuleSet([rule("allow", f"WebFetch({specifier})")]).hosts("allow", host, "a")) is found


def test_a_grant_serves_only_the_agent_that_it_names() -> None:
    grants = [rule("allow", "Bash(ls)", scope="grant", agent="A"), rule("allow", "Bash(ls)", scope="grant")]
    rules = RuleSet().with_chat(grants)
    assert [found.source.agent for found in rules.commands("grant", ["ls"], "A")] == ["A"]
    assert rules.commands("grant", ["ls"], "B") == []
    assert rules.commands("allow", ["ls"], "A") == []


def test_a_deny_rule_serves_whichever_agent_asks() -> None:
    rules = RuleSet([rule("deny", "Bash(ls)", agent="A")])
    assert rules.commands("deny", ["ls"], "B")


def test_rules_come_in_the_order_of_their_scope() -> None:
    scopes = ["grant", "workspace", "user", "managed"]
    rules = RuleSet([rule("deny", f"Bash(ls {scope}*)", scope=scope) for scope in scopes] + [rule("deny", "Bash(ls)")])
    words = ["ls", "grantworkspaceusermanaged"]
    found = RuleSet([rule("deny", "Bash(ls:*)", scope=scope) for scope in scopes]).commands("deny", words, "a")
    assert [each.source.scope for each in found] == ["managed", "user", "workspace", "grant"]
    assert len(list(rules.rules())) == 5


def test_an_agent_rule_matches_by_name() -> None:
    rules = RuleSet([rule("deny", "Agent(Rev*)"), rule("allow", "Agent(Writer)")])
    assert rules.agents("deny", "Reviewer", "a")
    assert not rules.agents("deny", "Writer", "a")
    assert rules.agents("allow", "Writer", "a")


def test_parsing_says_which_tool_a_broken_rule_names() -> None:
    with pytest.raises(BadRule) as caught:
        parse_rule(rule("deny", "shell(rm"))
    assert caught.value.tool == "Bash"


@pytest.mark.parametrize("text", ["[7]", "[null]", "[true]", '{"when": 1}'])
def test_an_entry_that_is_no_text_is_a_broken_rule_and_no_tool_of_that_name(text: str) -> None:
    """So the settings write down what stands where a deny or ask rule should."""
    rule, problem = compile_rule(RuleText("deny", text))
    assert rule is not None
    assert rule.broken
    assert rule.tool == ""
    assert problem is not None
