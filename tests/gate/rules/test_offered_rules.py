"""What a card offers to keep, held against the calls beside it: each offered rule can be read, covers the call that it
was offered for, and covers no other name than it says."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from countersign.gate.call import FetchUrl, ReadPath, ToolCall, UseTool
from countersign.gate.decision import RuleOffers
from countersign.gate.decisions.judge_effects import Judged, judge_effects
from countersign.gate.finding import Finding
from countersign.gate.paths.path_evidence import PathTool
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import BadPattern, escape_path, parse_path
from countersign.gate.rules.rule import compile_rule
from countersign.gate.rules.rule_set import RuleSet
from countersign.settings.policy import RuleText
from countersign.wire.approvals import ToolPreview
from tests.gate.shell.asked import judge

WS, HOME = "/nowhere/ws", "/nowhere/home"

bounded = settings(max_examples=150, derandomize=True, deadline=None)

ODD = "ab.*?[]{}()!#~\\ ,:'\"$-|&;=@%^é\u00a0\u3000\u2003e\u0301A"
names = st.text(ODD, min_size=1, max_size=6).filter(lambda name: name not in {".", ".."})
places = st.tuples(st.sampled_from([WS, HOME, "/opt/x"]), st.lists(names, min_size=1, max_size=3))
tools: st.SearchStrategy[PathTool] = st.sampled_from(["Read", "Edit"])


def neighbours(name: str) -> Iterator[str]:
    """Names that a careless reader of patterns takes for this one."""
    yield from (name.strip(), name.lstrip(), name.rstrip(), name.replace("\\", ""), name.swapcase(), f"{name}x")
    yield from (unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC"))
    for index, char in enumerate(name):
        yield from (name[:index] + other + name[index + 1 :] for other in ("", "q", "qq", f"{char}{char}"))


def looked_at(tool: PathTool, path: str, *rules: str) -> Finding:
    paths = PathJudge(WS, HOME, (), (), RuleSet([RuleText("allow", rule, scope="user") for rule in rules]), "A")
    return paths.judge_write(path, cwd=WS) if tool == "Edit" else paths.judge_read(path, cwd=WS)


def readable(rule: str) -> bool:
    found, problem = compile_rule(RuleText("allow", rule, scope="grant", agent="A"))
    return found is not None and problem is None


@bounded
@given(tools, places)
@example("Edit", (WS, ["a "]))
@example("Edit", (WS, ["a\\ "]))
@example("Edit", (WS, ["Makefile\u00a0"]))
@example("Read", (HOME, ["a", " "]))
def test_the_rule_for_a_path_covers_this_path_and_no_name_like_it(tool: PathTool, place: tuple[str, list[str]]) -> None:
    folder, segments = place
    path = "/".join([folder, *segments])
    rule = PathJudge(WS, HOME, (), (), RuleSet(()), "A").exact_rule(tool, path, cwd=WS)
    assume(rule is not None)
    assert rule is not None
    assert readable(rule)
    assert looked_at(tool, path, rule).allow is not None
    for index, name in enumerate(segments):
        for other in {*neighbours(name)} - {name, "", ".", ".."}:
            beside = "/".join([folder, *segments[:index], other, *segments[index + 1 :]])
            assert looked_at(tool, beside, rule).allow is None, other
    assert len(segments) == 1 or looked_at(tool, "/".join([folder, *segments[:-1], "zzz"]), rule).allow is None


@bounded
@given(tools, places)
def test_wider_rules_for_a_path_stay_in_its_folder(tool: PathTool, place: tuple[str, list[str]]) -> None:
    folder, segments = place
    assume(len(segments) > 1)
    path = "/".join([folder, *segments])
    for rule in PathJudge(WS, HOME, (), (), RuleSet(()), "A").wider_rules(tool, path, cwd=WS):
        assert readable(rule)
        assert looked_at(tool, path, rule).allow is not None
        for index, name in enumerate(segments[:-1]):
            for other in {*neighbours(name)} - {name, "", ".", ".."}:
                beside = "/".join([folder, *segments[:index], other, *segments[index + 1 :]])
                assert looked_at(tool, beside, rule).allow is None, other
        assert looked_at(tool, "/".join([folder, *segments[:-2], "zzz"]), rule).allow is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("./a ", "a"),
        (" ./a", "a"),
        ("./a\\ ", "a "),
        ("./a\\  ", "a "),
        ("./a\\\\ ", "a\\"),
        ("./a\\\u00a0", "a\u00a0"),
    ],
)
def test_blanks_behind_a_pattern_count_only_where_a_backslash_quotes_them(text: str, name: str) -> None:
    pattern = parse_path(text)
    assert pattern.covers([name])
    assert not any(pattern.covers([other]) for other in {"a", "a ", "a  ", "a\\", "a\\ ", "a\u00a0"} - {name})


def test_a_backslash_at_the_end_quotes_nothing() -> None:
    with pytest.raises(BadPattern):
        parse_path("./a\\")


@bounded
@given(names)
def test_an_escaped_name_is_one_pattern_for_itself(name: str) -> None:
    assert parse_path(f"./{escape_path(name)}").covers([name])


@settings(bounded, max_examples=60)
@given(st.sampled_from(["zzz9", "npm run", "git commit -m", "X=1 zzz9"]), st.lists(names, min_size=1, max_size=2))
def test_rules_for_a_command_cover_its_words_and_no_words_like_them(program: str, words: list[str]) -> None:
    command = f"{program} {shlex.join(words)}"
    exact, proposals = judge(command).offers()
    beside = [
        f"{program} {shlex.join([*words[:index], other, *words[index + 1 :]])}"
        for index, word in enumerate(words)
        for other in {word.strip(), f"{word}x", word.replace("*", "q"), word.replace("\\", ""), word.swapcase()}
        - {word}
    ]
    if exact is not None:
        assert readable(exact)
        assert all(each.grant or each.allow or each.neutral for each in judge(command, grants=[exact]).findings)
        assert not any(each.grant for other in beside for each in judge(other, grants=[exact]).findings)
    for rule in proposals:
        assert readable(rule)
        assert any(each.allow for each in judge(command, allow=[rule]).findings)
        if not rule.endswith(":*)"):
            assert not any(each.allow for other in beside for each in judge(other, allow=[rule]).findings)


def _call(effect: FetchUrl | UseTool, agent: str = "A") -> ToolCall:
    return ToolCall(
        tool_call_id="c", thread_id="t", turn_id="u", agent=agent, tool="any", arguments={}, kind="other",
        category="external", effects=(effect,), preview=ToolPreview(input={}), cwd=WS,
    )  # fmt: skip


def _judged(effect: FetchUrl | UseTool, *rules: str, agent: str = "A") -> Judged:
    found = RuleSet([RuleText("allow", rule, scope="grant", agent="A") for rule in rules])
    paths = PathJudge(WS, HOME, (), (), found, agent)
    return judge_effects(_call(effect, agent), found, paths, check_syntax=None, builtin_reads=True)


def _granted(effect: FetchUrl | UseTool, rule: str, agent: str = "A") -> bool:
    return _judged(effect, rule, agent=agent).groups[0].findings[0].grant is not None


hosts = st.text("ab.-1", min_size=1, max_size=8) | st.text("ab.*-:[]@%\\ é_1ß", min_size=1, max_size=8)


@bounded
@given(hosts)
@example("*")
@example("*.example.com")
@example("EXAMPLE.com.")
@example("[::1]")
def test_the_rule_for_an_address_covers_its_host_and_no_other(host: str) -> None:
    effect = FetchUrl(f"https://{host}/x")
    exact = _judged(effect).offers().exact_rule
    if exact is None:
        return
    assert readable(exact)
    assert _granted(effect, exact)
    for other in ("evil.example", f"x{host}", f"evil.example/{host}", f"sub.{host}"):
        beside = FetchUrl(f"https://{other}/x")
        assert _judged(beside).offers().exact_rule == exact or not _granted(beside, exact)
    assert not _granted(effect, exact, agent="B")


@pytest.mark.parametrize(
    "target", ["helper", "*", "hel*", " helper", "helper ", "\u200bhelper", "helper\u00a0", "a(b)"]
)
def test_the_rule_for_an_agent_covers_this_agent_alone(target: str) -> None:
    effect = UseTool("Agent", target)
    exact = _judged(effect).offers().exact_rule
    if exact is None:
        assert target not in {"helper", "a(b)"}
        return
    assert readable(exact)
    assert _granted(effect, exact)
    assert not any(_granted(UseTool("Agent", other), exact) for other in ("other", "help", "helpers", f"{target}x"))


@pytest.mark.parametrize("server", ["a", "a-b", "a_b", "a.b"])
def test_rules_for_a_tool_of_a_server_cover_no_other_tool_and_no_other_server(server: str) -> None:
    effect = UseTool(f"mcp__{server}__go", server)
    said = _judged(effect).offers()
    assert said.proposals == (said.exact_rule, f"mcp__{server}")
    for rule in said.proposals:
        assert readable(rule)
        assert _granted(effect, rule)
        assert not _granted(UseTool(f"mcp__{server}x__go", f"{server}x"), rule)
        assert not _granted(UseTool(f"mcp__{server}__b__go", f"{server}__b"), rule)
    assert not _granted(UseTool(f"mcp__{server}__gone", server), str(said.exact_rule))


@bounded
@given(
    st.text("ab_.-*(): /,é\u0301\u200b\n", min_size=1, max_size=6), st.sampled_from([None, "srv", "*", "s v", "a__b"])
)
@example("*", "srv")
@example("get_*", "srv")
@example("x(y)", "srv")
@example("x\n", "srv")
def test_a_tool_named_like_a_pattern_is_offered_no_rule_for_its_like(name: str, server: str | None) -> None:
    effect = UseTool(f"mcp__{server or 'srv'}__{name}", server)
    said = _judged(effect).offers()
    if said.exact_rule is not None:
        assert readable(said.exact_rule)
        assert _granted(effect, said.exact_rule)
        for other in ("other", f"{name}x", name[:-1], name.replace("*", "z")):
            beside = UseTool(f"mcp__{server or 'srv'}__{other}", server)
            assert beside == effect or not _granted(beside, said.exact_rule)
    for rule in said.proposals:
        assert readable(rule)
        assert not _granted(UseTool("mcp__other__go", "other"), rule)


def _read(path: str, *, rule: str | None = None, files: tuple[str, ...] | None = None, below: bool = False) -> Finding:
    granted = [RuleText("allow", rule, scope="grant", agent="A", files=files)] if rule is not None else []
    paths = PathJudge(WS, HOME, (), (), RuleSet(granted), "A")
    return paths.judge_read(path, cwd=WS, below=below)


def test_a_grant_for_a_folder_covers_what_its_card_showed_and_not_what_lies_in_it() -> None:
    assert _read("/opt/x", rule="Read(//opt/x)", files=("/opt/x",)).grant is not None
    assert _read("/opt/x/y", rule="Read(//opt/x)", files=("/opt/x",)).grant is None
    assert _read(f"{HOME}/.ssh/id_rsa", rule="Read(~/.ssh)", files=(f"{HOME}/.ssh",)).grant is None
    # A rule that a person wrote means what it says.
    assert _read("/opt/x/y", rule="Read(//opt/x)").grant is not None


def test_a_card_for_a_folder_of_keys_offers_no_rule_for_always(tmp_path: Path) -> None:
    for folder in (tmp_path / "home/.ssh", tmp_path / "home/docs", tmp_path / "ws"):
        folder.mkdir(parents=True)
    paths = PathJudge(str(tmp_path / "ws"), str(tmp_path / "home"), (), (), RuleSet(()), "A")

    def said(name: str) -> RuleOffers:
        effect = ReadPath(f"{tmp_path}/home/{name}")
        call = replace(_call(UseTool("x")), tool="list_dir", category="read", effects=(effect,), cwd=f"{tmp_path}/ws")
        return judge_effects(call, RuleSet(()), paths, check_syntax=None, builtin_reads=True).offers()

    assert said(".ssh") == RuleOffers("Read(~/.ssh)")
    assert said("docs").proposals == ("Read(~/docs)",)
    assert said(".ssh/config").proposals == ("Read(~/.ssh/config)",)
