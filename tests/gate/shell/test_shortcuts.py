"""Each shortcut decides exactly what the longer way decides: for the recognizer, and for commands without findings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.gate.call import RunCommand
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell import judge
from countersign.gate.shell.effects import unwrap
from countersign.gate.shell.flow import parse_cache
from countersign.gate.shell.printing import normal_form, print_tree
from countersign.gate.shell.printing.print_tree import reprint
from countersign.gate.shell.rules import analyzed_command
from countersign.gate.shell.syntax import plain_bash, plain_simple
from countersign.gate.shell.syntax.parser import _Reader as Reader  # pyright: ignore[reportPrivateUsage]
from countersign.gate.shell.syntax.plain_bash import Outside, outside
from countersign.settings.policy import RuleText
from tests.corpora import commands

from .asked import HOME, WS, rows
from .examples import evasions

HERE = Path(__file__).parent
ROWS = [
    (row["command"], row["rules"]) for row in (*evasions(), *commands()[::5]) if "command" in row and "rules" in row
]
RULES = {
    "allow": ["Bash(git:*)", "Bash(npm run:*)", "Bash(cat *)", "Bash(a/b:*)", "Bash(* --version)", "Read(../x/**)"],
    "ask": ["Bash(docker run:*)", "Bash(*push)", "Edit(out/*)"],
    "deny": ["Bash(rm:*)", "Bash(npm publish:*)", "Bash(tool 'a*')", "Read(*.pem)", "Read(private)"],
}
WORDS = st.sampled_from([
    "git", "npm", "run", "publish", "push", "cat", "rm", "grep", "docker", "tool", "'a b'", "a/b", "./x", "cd", "test",
    "true", "read", "exec", "-x", "-v", "--version", "-C", "../x", "secrets/k.pem", "private", "out/y", "src/a.py",
    "x=1", "-i",
    "config", "-c", "sed", "tree", "sort", "-o", "f", "env", "xargs", "nice", "pytest", "-q", "PS4=a", "printf",
    "python", "> out/y", "< src/a.py", ">> ../x", "2>&1", "> /dev/null", "> $x", "~", "~/a", "find", "-delete",
    "alias", "let", "é",
])  # fmt: skip
TEXTS = st.lists(
    st.tuples(
        st.lists(WORDS, min_size=1, max_size=5).map(" ".join), st.sampled_from(["; ", " && ", " | ", "\n", " & "])
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(text + end for text, end in parts[:-1]) + parts[-1][0])


def looking_at_all(patch: pytest.MonkeyPatch) -> None:
    for module in (analyzed_command, unwrap):
        patch.setattr(module, "could_run", lambda name, words: unwrap.may_run(name))
    patch.setattr(Reader, "constants", lambda *_: None)


def judged(command: str, rules: dict[str, list[str]]) -> Any:
    parse_cache._kept.cache_clear()  # pyright: ignore[reportPrivateUsage]
    texts = [RuleText(listed, text) for listed, each in rules.items() for text in each]  # pyright: ignore[reportArgumentType]
    rule_set = RuleSet(texts)
    paths = PathJudge(WS, HOME, (), (), rule_set, "A")
    effect = RunCommand(command, WS)
    found = judge.judge_command(effect, rule_set, paths, "A", check_syntax=lambda _: None, builtin_reads=True)
    return found.findings, found.parts, set(found.risks), set(found.scripts), found.offers()


@pytest.mark.parametrize("part", range(8))
def test_the_rows_of_the_corpora_are_judged_alike(part: int) -> None:
    chosen = ROWS[part::8]
    quick = [judged(*row) for row in chosen]
    with pytest.MonkeyPatch.context() as patch:
        looking_at_all(patch)
        slow = [judged(*row) for row in chosen]
    assert [json.dumps(row[0]) for row, a, b in zip(chosen, quick, slow, strict=True) if a != b] == []


@settings(max_examples=1000, deadline=None)
@given(TEXTS)
def test_texts_are_judged_alike(text: str) -> None:
    quick = judged(text, RULES)
    with pytest.MonkeyPatch.context() as patch:
        looking_at_all(patch)
        assert judged(text, RULES) == quick


# --- printing --------------------------------------------------------------------------------------------------------


def printed(text: str) -> str:
    found = reprint(text)
    return str(found)


def printed_the_long_way(text: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normal_form, "_may_hold_texts", lambda _: True)
        patch.setattr(print_tree, "_is_literal", lambda _: False)
        return printed(text)


def test_texts_of_the_corpora_are_printed_alike() -> None:
    texts = [command for command, _ in ROWS]
    assert [text for text in texts if printed(text) != printed_the_long_way(text)] == []


@settings(max_examples=1000, deadline=None)
@given(TEXTS)
def test_texts_are_printed_alike(text: str) -> None:
    assert printed(text) == printed_the_long_way(text)


# --- the recognizer --------------------------------------------------------------------------------------------------

PLAIN = [row["command"] for row in rows(HERE / "plain_inside.jsonl")]
CORPUS = list(dict.fromkeys([*(command for command, _ in ROWS), *PLAIN]))
FRAMES = [
    "{}", "a; {}; b", "if {}; then {}; fi; b", "({}); b", "{{ {}; }}; b", "while {}; do {}\ndone\nb", "a | {} | b; c",
    "for i in {}; do {}; done; b", "x=$({}) b; c", "a \"$({})\"; b", "! {}; b", "time {}; b", "a && {}\n\nb", "{} & b",
    "x=1 {}; b", "a {}; b", "a > {}; b", "a <({}) b; c", "case a in a) {};; esac; b", "cat <<E\nx\nE\n{}; b",
    "export A={}; b", "[ {} ]; b", "[[ {} ]]; b", "x=1 [[ {} ]]; b", "x=1 [[ a == {} ]]; b",
    "command {}; b", "[ a = {} ]; b", "{} >f; b",
    "cat <<E {}; b\nx\nE\nc",
    "read {}; b", "cd {}; b", "printf {} {}; b", "(" * 21 + "{}; b" + ")" * 21,
]  # fmt: skip
TOKENS = st.sampled_from([
    "a", "b1", "-x", "-v", "x=", "x=1", "PATH=", "IFS=", "LANG=", "HISTFILE=", "BASHx=", "[", "]", "[[", "]]", "(", ")",
    "{", "}", ";", ";;", "&", "&&", "|", "||", "|&", "<", ">", ">>", "2>", "&>", "2>&1", ">&2", "<<<", "<<", "$x",
    '"$x"',
    "${x}", "${x:-y}", "${x@P}", "$@", '"$@"', '"$*"', "$(", "$((", "$((1+2))", "<(", ">(", "`", "'", '"', "'a b'",
    '"a"',
    "\\", "\\'", "#", "# c", "!", "~", "~/", "*", "[a-z]", "[!a]", "{a,b}", "{}", "{1..3}", "@{u}", "^{a}", "1", "2",
    "=", "==", "!=", "-eq", "-f", "-n", "if", "then", "else", "fi", "for", "in", "do", "done", "while", "case", "esac",
    "time", "-p",
    "test", "read", "-r", "printf", "'%s'", "'%n'", "'%%n'", "export", "A=b", "set", "-e", "-o", "pipefail", "cd", "-",
    "+", "exit", "$?", "source", "./x", "command", "echo", "true", ":", "'true'", "'cd'", "eval", "local", "é", "\t",
    "\n", "\\\n", "  ", "\x0b", "wait", "popd", "pwd", "E",
])  # fmt: skip
LINES = st.lists(st.tuples(TOKENS, st.sampled_from([" ", " ", " ", ""])), max_size=7).map(
    lambda parts: "".join(token + blank for token, blank in parts)
)
NEVER = re.compile("(?!)")


def without_shortcuts(text: str) -> Outside | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_bash, "COMMANDS", NEVER)
        patch.setattr(plain_simple, "ARGUMENTS", NEVER)
        patch.setattr(plain_simple, "FLAT_ARGUMENTS", NEVER)
        return outside(text)


def test_texts_of_the_corpora_are_recognized_alike_in_every_frame() -> None:
    texts = [frame.replace("{}", text) for frame in FRAMES for text in CORPUS[:: 1 if frame == "{}" else 23]]
    assert [text for text in texts if outside(text) != without_shortcuts(text)] == []


@settings(max_examples=3000, deadline=None)
@given(LINES, st.sampled_from(FRAMES))
@example("!( ", "a | {} | b; c")
@example("a = $x ", "[[ {} ]]; b")
def test_any_text_is_recognized_alike(line: str, frame: str) -> None:
    text = frame.replace("{}", line).replace("{{", "{").replace("}}", "}")
    assert outside(text) == without_shortcuts(text)
