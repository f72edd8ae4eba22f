"""Permissions of other programs as proposals: what each entry becomes, and that nothing becomes wider than it was."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.advice.rule_import.codex import codex_entries
from countersign.advice.rule_import.entries import BadImport, Imported
from countersign.advice.rule_import.read import blocking_import, import_text
from countersign.gate import CommandPattern, parse_rule
from countersign.settings.policy import RuleText
from tests.patience import PATIENCE

EXAMPLES = json.loads((Path(__file__).parent / "rule_import.json").read_text())


@pytest.mark.parametrize("example", EXAMPLES["read"], ids=lambda example: example["name"])
def test_each_example_becomes_these_rules_and_leaves_out_these_entries(example):
    found = import_text(example["file"], example["text"].encode(), in_project=example.get("inProject", False))
    assert found.format == example["format"]
    assert [f"{one.list} {one.rule}" for one in found.rules] == example["rules"]
    assert len(found.left_out) == example["leftOut"], found.left_out
    for one in found.rules:
        parse_rule(RuleText(one.list, one.rule))


@pytest.mark.parametrize("example", EXAMPLES["refused"], ids=lambda example: example["name"])
def test_a_broken_file_is_refused_as_a_whole(example):
    data = example["text"].encode("utf-8", "surrogatepass") * example.get("times", 1)
    with pytest.raises(BadImport):
        import_text(example["file"], data)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "; "])
def test_the_text_of_each_entry_of_codex_is_its_statements(end: str):
    statements = ["prefix_rule(pattern=['é', '\U0001f600'])", "f(\n  'ü\x0c',\n)", "x = 'ß'", "prefix_rule(\n)"]
    text = end.join(statements)
    expected = [ast.get_source_segment(text, one) for one in ast.parse(text).body]
    assert [one.original for one in codex_entries(text)] == expected
    assert len(expected) == 4


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(["settings.json", "default.rules", "a.toml"]), data=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(name, data):
    with contextlib.suppress(BadImport):
        import_text(name, data)


def test_what_is_no_file_of_reasonable_size_is_refused(tmp_path):
    (tmp_path / "large.json").write_bytes(b" " * (1 << 20) + b"{}")
    for name in ("", "missing.json", "large.json", "a\0b"):
        with pytest.raises(BadImport):
            blocking_import(str(tmp_path / name), None)


def test_a_path_that_is_relative_to_the_settings_file_counts_only_in_its_own_workspace(tmp_path):
    text = json.dumps({"permissions": {"allow": ["Edit(/src/**)"]}})
    for folder in (tmp_path / ".claude", tmp_path / "other" / ".claude"):
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(text)
    own = blocking_import(str(tmp_path / ".claude/settings.json"), str(tmp_path))
    other = blocking_import(str(tmp_path / "other/.claude/settings.json"), str(tmp_path))
    assert ([one.rule for one in own.rules], other.rules) == (["Edit(/src/**)"], ())


def rules_import(*files: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "countersign", "rules", "import", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout


def test_the_command_prints_rules_and_what_is_left_out_and_says_so_by_its_status(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('[[rule]]\ntoolName = "web_fetch"\ndecision = "ask_user"\n')
    code, out = rules_import(file)
    assert (code, out.startswith("ask    WebFetch  ")) == (0, True)
    file.write_text('[[rule]]\ntoolName = "*"\ndecision = "allow"\n')
    code, out = rules_import(file)
    assert (code, "no equal in our rules" in out) == (1, True)
    file.write_text("[[")
    assert rules_import(file) == (2, "")
    assert rules_import() == (2, "")


# --- never wider -----------------------------------------------------------------------------------------------------

_WORD = st.sampled_from(["git", "push", "rm", "rm-x", "push-x", "-f", "a b", "*", "log", "it's", "x:", "git*"])
_WORDS = st.lists(_WORD, min_size=1, max_size=3)
_PLAIN = st.lists(st.sampled_from(["git", "push", "rm", "rm-x", "push-x", "-f", "log", "x-"]), min_size=1, max_size=3)


def _allows(found: Imported, words: Sequence[str]) -> bool:
    """Whether the proposals together allow a command."""
    rules = [(one.list, parse_rule(RuleText(one.list, one.rule))) for one in found.rules]
    patterns = [(listed, rule.specifier) for listed, rule in rules if rule.tool == "Bash"]
    assert all(isinstance(pattern, CommandPattern) for _, pattern in patterns)
    stops = any(listed != "allow" and pattern.touches(words) for listed, pattern in patterns)
    return not stops and any(listed == "allow" and pattern.covers(words) for listed, pattern in patterns)


@settings(max_examples=400, deadline=None)
@given(rules=st.lists(st.tuples(_WORDS, st.sampled_from(["allow", "prompt", "forbidden"])), max_size=4), command=_WORDS)
def test_codex_rules_become_no_wider(rules, command):
    text = "\n".join(f"prefix_rule(pattern = {words!r}, decision = {decision!r})" for words, decision in rules)
    found = import_text("a.rules", text.encode())
    decisions = {decision for words, decision in rules if command[: len(words)] == words}
    if _allows(found, command):
        assert decisions == {"allow"}


@settings(max_examples=400, deadline=None)
@given(
    entries=st.dictionaries(
        st.one_of(
            _PLAIN.map(" ".join),
            _PLAIN.map(lambda words: f"/^{' '.join(words)}$/"),
            _PLAIN.map(lambda words: rf"/^{' '.join(words)}\b/"),
            _PLAIN.map(lambda words: rf"/{' '.join(words)}/i"),
        ),
        st.booleans(),
        max_size=4,
    ),
    command=_PLAIN,
)
def test_terminal_commands_of_the_editor_become_no_wider(entries, command):
    found = import_text("settings.json", json.dumps({"chat.tools.terminal.autoApprove": entries}).encode())

    def hits(key: str) -> bool:
        if key.startswith("/"):
            body, _, flags = key[1:].rpartition("/")
            return re.search(body, " ".join(command), re.IGNORECASE if flags else 0) is not None
        return re.match(rf"{re.escape(key)}\b", " ".join(command)) is not None

    decisions = {approve for key, approve in entries.items() if hits(key)}
    if _allows(found, command):
        assert decisions == {True}


@settings(max_examples=400, deadline=None)
@given(
    rules=st.lists(
        st.tuples(
            _PLAIN,
            st.sampled_from(["allow", "deny", "ask_user"]),
            st.integers(0, 3),
            st.sampled_from(["", "argsPattern = 'x'", "modes = ['autoEdit']"]),
        ),
        max_size=4,
    ),
    command=_PLAIN,
)
def test_gemini_policies_become_no_wider(rules, command):
    text = "\n".join(
        f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "{" ".join(words)}"\ndecision = "{decision}"\n'
        f"priority = {priority}\n{more}"
        for words, decision, priority, more in rules
    )
    found = import_text("a.toml", text.encode())
    if not _allows(found, command):
        return
    # With a condition a rule counts at times only: what is allowed must be so with and without it.
    for conditions in (True, False):
        counting = [
            (priority, decision)
            for words, decision, priority, more in rules
            if (conditions or not more) and _has_prefix(words, command)
        ]
        assert counting
        assert max(counting)[1] == "allow" or {decision for at, decision in counting if at == max(counting)[0]} == {
            "allow"
        }


def _has_prefix(words: Sequence[str], command: Sequence[str]) -> bool:
    """Gemini's reading of a prefix: the text, up to the end of a word."""
    return f"{' '.join(command)} ".startswith(f"{' '.join(words)} ")


@settings(max_examples=300, deadline=None)
@given(
    lists=st.fixed_dictionaries(
        {
            name: st.lists(
                st.one_of(
                    _PLAIN.map(lambda words: f"Bash({' '.join(words)}:*)"),
                    _PLAIN.map(lambda words: f"Bash({' '.join(words)})"),
                    st.sampled_from(["Bash(", "Read(.env)", "Skill(x)", "", "Bash(git *)", 7]),
                ),
                max_size=3,
            )
            for name in ("allow", "ask", "deny")
        }
    ),
    command=_PLAIN,
)
def test_claude_codes_rules_become_no_wider(lists, command):
    found = import_text("settings.json", json.dumps({"permissions": lists}).encode())
    text = " ".join(command)

    def hits(rule: object) -> bool:
        if not isinstance(rule, str) or not rule.startswith("Bash("):
            return False
        words = rule[5:].removesuffix(")").removesuffix(":*").removesuffix(" *")
        return text == words or (rule.endswith("*)") and text.startswith(f"{words} "))

    if _allows(found, command):
        assert any(map(hits, lists["allow"]))
        assert not any(map(hits, lists["ask"] + lists["deny"]))
