"""The findings about a command: what stands in them, and what the rest of the gate relies on."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell import judge as judging
from countersign.gate.shell.judge import MOST_COMMANDS, MOST_LOOKS, MOST_WORDS, judge_command
from countersign.gate.shell.rules.context import JudgingContext, judging_context
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.gate.shell.syntax.lexer import MOST_WORDS as MOST_READ
from countersign.settings.policy import RuleText

from .asked import HOME, WS, decide, judge

BOUND = 5.0
"""Seconds of this process's own time, so that a busy machine does not count."""


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    """A workspace with a repository, a secret, and a folder that looks like a repository."""
    top = tmp_path / "ws"
    (top / "src").mkdir(parents=True)
    for name in ("objects", "refs"):
        (top / "bare" / name).mkdir(parents=True)
    (top / "bare" / "HEAD").write_text("ref: refs/heads/main\n")
    (top / "a.txt").write_text("x\n")
    (top / ".env").write_text("KEY=x\n")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    return str(top)


def test_each_command_is_a_part_with_findings_about_its_files() -> None:
    found = judge("cat a.txt | grep x > out", allow=["Bash(cat:*)", "Bash(grep:*)"])
    assert [part.text for part in found.parts] == ["cat a.txt", "grep x > out"]
    kinds = [[found.findings[index].kind for index in part.findings] for part in found.parts]
    assert kinds == [["command", "read"], ["command", "write"]]


def test_the_first_rule_by_scope_that_holds_exactly_a_text_is_named() -> None:
    text, lists = "tool-a; tool-b", ("deny", "ask", "allow")
    others = [RuleText(listed, f"Bash(tool-{number}:*)") for listed in lists for number in range(10)]
    exact = [
        RuleText("allow", f"Bash({text})", scope=scope, file=f"{scope}.json", line=line)
        for line, scope in enumerate(("workspace", "user", "workspace"), 1)
    ]
    for sources, file in ((exact, "user.json"), (exact[::2], "workspace.json"), ([], None)):
        rules = RuleSet([*others, *sources])
        paths = PathJudge(WS, HOME, (), (), rules, "A")
        effect = RunCommand(text, WS)
        found = judge_command(effect, rules, paths, "A", check_syntax=lambda _: None, builtin_reads=True)
        assert found.exact_text is (file is not None)
        assert {finding.allow.file if finding.allow else None for finding in found.findings} == {file}


def test_a_rule_for_the_command_covers_what_it_reads_but_no_redirection() -> None:
    found = judge("cat /etc/hosts > out", allow=["Bash(cat:*)"])
    allowed = {finding.kind: finding.allow is not None for finding in found.findings}
    assert allowed == {"command": True, "read": True, "write": False}


def test_a_rule_for_the_command_covers_no_secret_and_no_write_outside() -> None:
    for command in ("cat .env", "cp a /nowhere/else"):
        found = judge(command, allow=["Bash(cat:*)", "Bash(cp:*)"])
        asking = [finding for finding in found.findings if finding.requires_ask is not None]
        assert asking
        assert all(finding.allow is None for finding in asking)


def test_a_grant_of_the_very_text_covers_all_of_it_that_only_lacks_a_rule() -> None:
    text = "bash -c 'tool x' > out && other --flag"
    found = judge(text, grants=[f"Bash({text})"])
    assert all(finding.grant is not None for finding in found.findings)
    assert judge(text).offers()[0] == f"Bash({text})"


def test_a_grant_of_the_text_covers_a_secret_only_where_the_text_names_it() -> None:
    named = judge("cat .env", grants=["Bash(cat .env)"])
    assert all(finding.grant is not None for finding in named.findings)
    hidden = judge("cat .e?v", grants=["Bash(cat .e?v)"])
    assert any(finding.requires_ask is not None and finding.grant is None for finding in hidden.findings)


def test_a_grant_of_another_text_covers_nothing() -> None:
    for granted in ("tool  x", "tool x ", "tool 'x'; tool y"):
        found = judge("tool x; tool y", grants=[f"Bash({granted})"])
        assert any(finding.grant is None for finding in found.findings)


@pytest.mark.parametrize(
    "text",
    [
        "$tool x",
        'bash -c "$x"',
        "curl x | sh",
        "rm -rf /",
        'ls "x',
        "echo \u202e",
        "tool <<E\nx\nE",
        "ls *.py",
        "cat .e?v",
    ],
)
def test_no_exact_rule_is_offered_where_it_could_not_be_said_or_would_not_hold(text: str) -> None:
    assert judge(text).offers()[0] is None


PROPOSED = {
    "npm run test -- --watch": ["Bash(npm run test -- --watch)", "Bash(npm run test:*)"],
    "pytest -q tests": ["Bash(pytest -q tests)", "Bash(pytest:*)"],
    "git push origin main": ["Bash(git push origin main)", "Bash(git push:*)"],
    "npx tsc --noEmit": ["Bash(npx tsc --noEmit)", "Bash(npx tsc:*)"],
    "python -m pytest -x": ["Bash(python -m pytest -x)", "Bash(python -m pytest:*)"],
    "timeout 5 npm test": ["Bash(npm test)", "Bash(npm test:*)"],
    "docker compose up -d": ["Bash(docker compose up -d)", "Bash(docker compose up:*)"],
    "ls | tool -x && other": ["Bash(tool -x)", "Bash(tool:*)", "Bash(other)", "Bash(other:*)"],
    "sed -i s/a/b/ x": ["Bash(sed -i s/a/b/ x)"],
    "FOO=1 npm test": ["Bash(FOO=1 npm test)", "Bash(FOO=1 npm test:*)"],
    "bash -c tool": ["Bash(tool)", "Bash(tool:*)"],
    "ls > build/out": ["Edit(./build/out)", "Edit(./build/**)"],
    **{
        text: []
        for text in [
            "sudo ls",
            "bash x.sh",
            "python x.py",
            "git",
            "cat <<E\nx\nE",
            "tool a\ntool b",
            "$x y",
            "env tool",
            "cat .env",
            "node -e 1",
            "xargs tool",
            "ssh host tool",
            "rm -rf /",
            "export A=1",
            "eval tool",
            "cp a .envrc",
            "ls",
        ]
    },
}


@pytest.mark.parametrize("text", PROPOSED)
def test_rules_are_proposed_at_the_width_a_person_would_choose(text: str) -> None:
    assert list(judge(text).offers()[1]) == PROPOSED[text]


@pytest.mark.parametrize("text", [text for text, rules in PROPOSED.items() if rules])
def test_the_proposed_rules_allow_the_call_they_came_from(text: str) -> None:
    assert decide(text) == "ask"
    assert decide(text, [rule for rule in PROPOSED[text] if not rule.endswith(":*)")] or PROPOSED[text]) == "allow"
    assert decide(text, [rule for rule in PROPOSED[text] if rule.endswith((":*)", "**)"))] or PROPOSED[text]) == "allow"


def test_files_that_run_are_named_for_binding() -> None:
    found = judge(
        "./x && bash b.sh; python d.py; node e.js; make -f f.mk; python /elsewhere/h.py; (cd src && ./g); source c"
    )
    assert list(found.scripts) == [f"{WS}/{name}" for name in ("x", "b.sh", "d.py", "e.js", "f.mk", "src/g", "c")]


RISKS = {
    "rm x": "deletes files",
    "find . -delete": "deletes files",
    "curl x": "network",
    "git push": "network",
    "npm install x": "network",
    "sudo ls": "runs with elevated rights",
    "l\u0455 x": "its name mixes letters of several scripts",
    "curl x | sh": "runs code that its arguments do not show",
    "export A=1": "changes settings",
    "ls > /dev/tcp/h/1": "network",
}


@pytest.mark.parametrize("text", RISKS)
def test_a_card_is_told_the_risks(text: str) -> None:
    assert RISKS[text] in judge(text).risks


def test_what_is_only_hinted_at_is_covered_by_nothing() -> None:
    paths = PathJudge(WS, HOME, (), (), RuleSet(), "A")
    effect = RunCommand("ls", WS, understood=False)
    found = judge_command(effect, RuleSet(), paths, "A", check_syntax=BashSyntax(), builtin_reads=True)
    assert all(finding.requires_ask and not finding.known_read and not finding.neutral for finding in found.findings)


def test_without_bash_only_plain_words_count_as_checked() -> None:
    paths = PathJudge(WS, HOME, (), (), RuleSet(), "A")
    for text, floors in (("ls -l src", 0), ("ls | cat", 1)):
        found = judge_command(RunCommand(text, WS), RuleSet(), paths, "A", check_syntax=None, builtin_reads=True)
        assert len(found.findings[0].floors) == floors
    assert BashSyntax("/nowhere/bash")("ls | cat") is not None


def test_every_text_inside_is_checked_with_bash_too() -> None:
    asked: list[str] = []

    def check(text: str) -> str | None:
        asked.append(text)
        return "no" if text == "b;" else None

    paths = PathJudge(WS, HOME, (), (), RuleSet(), "A")
    effect = RunCommand("echo `b;`", WS)
    found = judge_command(effect, RuleSet(), paths, "A", check_syntax=check, builtin_reads=True)
    assert asked == ["echo `b;`", "b;"]
    assert found.findings[0].floors


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"),
        ("cd src && git log -3", "allow"),
        ("cd bare && git status", "ask"),
        ("git -C bare log", "ask"),
        ("git branch", "allow"),
        ("git branch x", "ask"),
        ("cat a.txt", "allow"),
        ("cat .env", "ask"),
        ("cat *.txt", "allow"),
        ("git show HEAD:.env", "ask"),
        ("cat ../x", "ask"),
        ("ls ~", "ask"),
        ("git -c a=b log", "ask"),
        ("sed -i p a.txt", "ask"),
        ("rg x", "allow"),
        ("rg --hidden x", "ask"),
        ("find . -name x", "allow"),
        ("find . -delete", "ask"),
        ("LC_ALL=C ls", "allow"),
        ("LC_ALL=/x ls", "ask"),
    ],
)
def test_the_read_only_set_knows_flags_places_and_repositories(workspace: str, command: str, expected: str) -> None:
    assert decide(command, workspace=workspace, home=HOME) == expected
    assert decide(command, workspace=workspace, home=HOME, builtinReads=False) == "ask"
    assert decide(command, workspace=workspace, home=HOME, mode="ask") == "ask"


def test_a_repository_is_strange_under_a_rule_as_well(workspace: str) -> None:
    rules = ["Bash(git status:*)"]
    assert decide("git status", rules, workspace=workspace) == "allow"
    assert decide("cd bare && git status", rules, workspace=workspace) == "ask"
    assert decide("cd bare/objects && git status", rules, workspace=workspace) == "ask"


def test_a_program_found_only_in_the_workspace_is_not_in_the_read_only_set(
    workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(workspace) / "bin"
    folder.mkdir()
    (folder / "jq").touch(mode=0o755)
    monkeypatch.setenv("PATH", f"/nowhere/bin:{folder}")
    assert decide("jq . a.txt", workspace=workspace) == "ask"
    assert decide("wc a.txt", workspace=workspace) == "allow"


def test_a_long_text_is_judged_within_its_bound_and_never_allowed() -> None:
    for text in (
        "ls; " * 40_000,
        "true && " * 20_000 + "true",
        "echo " + "x " * 60_000,
        "cat <<E\n" + "x\n" * 60_000 + "E",
    ):
        start = time.process_time()
        assert decide(text, ["Bash"]) == "ask"
        assert time.process_time() - start < BOUND


def test_rules_that_deny_or_ask_have_no_upper_number_of_commands() -> None:
    text = "; ".join(f"ls d{number}" for number in range(2000))
    for last, rule in {"./other": "Bash(./other)", "rm a b": "Bash(rm *)", "bash -c 'rm a'": "Bash(rm:*)"}.items():
        assert decide(f"{text}; {last}", ["Bash"], [rule]) == "deny"
        assert decide(f"{text}; {last}", ["Bash"], [rule], mode="auto") == "deny"
        assert decide(f"{text}; {last}", ["Bash"], ask=[rule]) == "ask"
    assert decide(f"{text}; ./other", ["Bash(ls:*)"]) == "ask"


def test_bypass_and_auto_lift_no_floor_and_nothing_that_a_rule_may_forbid() -> None:
    for mode in ({"mode": "auto"}, {"bypass": True}):
        assert decide("tool x", **mode) == "allow"
        assert decide('ls "x', **mode) == "ask"
        assert decide("rm -rf $HOME/*", **mode) == "ask"
        assert decide("tool > .envrc", **mode) == "ask"
        assert decide("$tool x", deny=["Bash(other:*)"], **mode) == "ask"
        assert decide("git $x", deny=["Bash(git push:*)"], **mode) == "ask"
        assert decide("git x", deny=["Bash(git push:*)"], **mode) == "allow"


def test_a_script_is_bound_as_it_is_spelled_and_where_its_link_leads(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "real.sh").write_text("echo\n")
    (tmp_path / "link.sh").symlink_to("real.sh")
    for text, names in {
        "bash link.sh": ("link.sh", "real.sh"),
        "./link.sh": ("link.sh", "real.sh"),
        "make -C sub -f ../real.sh": ("real.sh",),
    }.items():
        found = judge(text, workspace=str(tmp_path)).scripts
        assert [path for path in found if Path(path).exists()] == [str(tmp_path / name) for name in names]


LINES = ["echo {}", "echo 'line {}'", "true {} | cat", "bash -c 'echo {}'", "cat x{} > /dev/null"]


@pytest.mark.parametrize("line", LINES)
def test_a_text_of_more_commands_than_are_judged_asks_whatever_covers_it(line: str) -> None:
    def text(count: int) -> str:
        return "\n".join(line.format(number) for number in range(count))

    few, many = MOST_COMMANDS // 4, MOST_COMMANDS + 1
    everything = ["Bash", f"Bash({text(many)})"]
    assert decide(text(few), everything, home=HOME, workspace=WS) == "allow"
    assert decide(text(many), everything, home=HOME, workspace=WS) == "ask"
    assert decide(text(many), ["Bash"], ["Bash(zzz9:*)"], home=HOME, workspace=WS, mode="auto") == "ask"
    assert decide(f"zzz9 x\n{text(many)}", ["Bash"], ["Bash(zzz9:*)"], home=HOME, workspace=WS) == "deny"
    assert decide(f"cat held/key\n{text(many)}", ["Bash"], ["Read(held/**)"], home=HOME, workspace=WS) == "deny"
    assert decide(f"{text(many)}\nzzz9 x", ["Bash"], ["Bash(zzz9:*)"], home=HOME, workspace=WS) == "deny"


WORDS = {
    "words": "zzz9 {}",
    "patterns": "zzz9 {}",
    "assignments": "{} zzz9",
    "redirections": "zzz9 {}",
    "list": "for i in {}; do zzz9; done",
}
EACH = {"words": "a{}", "patterns": "'x'\"$y{}\"", "assignments": "a{}=1", "redirections": "< b{}", "list": "a{}"}


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("count", [MOST_WORDS + 1, MOST_READ + 1])
def test_a_text_of_more_words_than_are_judged_asks_whatever_covers_it(kind: str, count: int) -> None:
    text = WORDS[kind].format(" ".join(EACH[kind].format(number) for number in range(count)))
    everything = ["Bash", f"Bash({text})"]
    if kind != "list" or count > MOST_READ:
        assert decide(text, everything, home=HOME, workspace=WS) == "ask"
    denied = {"deny"} if count < MOST_READ else {"ask", "deny"}
    assert decide(text, ["Bash"], ["Bash(zzz9:*)"], home=HOME, workspace=WS, mode="auto") in denied


def test_more_names_in_words_than_are_looked_at_ask_whatever_covers_them() -> None:
    def named(count: int, last: str = "") -> str:
        names = [f".a{number}" for number in range(count)]
        return " ".join(["zzz9", *(",".join(names[at : at + 20]) for at in range(0, count, 20)), last])

    few, many = MOST_LOOKS // 20, MOST_LOOKS
    rules, home = ["Bash(zzz9:*)"], {"home": HOME, "workspace": WS}
    assert decide(named(few), rules, **home) == "allow"
    assert decide(named(many), rules, **home) == "ask"
    assert decide(named(many), ["Bash"], ["Bash(zzz9:*)"], **home) == "deny"
    assert decide(named(few, "held/key"), rules, ["Read(held/**)"], **home) == "deny"


SHARING = (
    "v='{}'\n{}\n", "{{\n{1}\n}} <<'E'\n{0}\nE\n", "sh <<'E'\n# {}\n{}\nE\n", "cat > s <<'E'\n# {}\n{}\nE\nsh s\n",
    'for v in a "{}"; do\n{}\ndone\n', "v='{}'; w=$v$v\n{}\n",
)  # fmt: skip
"""Texts whose commands share one long value or input."""


@pytest.mark.parametrize("form", SHARING)
def test_a_long_value_that_very_many_commands_share_asks_whatever_covers_it(form: str) -> None:
    few, many = (
        form.format("a" * 3_000, "\n".join(f'zzz9 "$v" {number}' for number in range(count))) for count in (3, 300)
    )
    assert decide(many, ["Bash", "Edit(**)"], home=HOME, workspace=WS) == "ask"
    denied = {"ask", "deny"} if "<<" in form else {"deny"}
    for text in (few, many):
        assert decide(text, ["Bash"], ["Bash(zzz9:*)"], home=HOME, workspace=WS, mode="auto") in denied
        assert decide(f"zzz8\n{text}", ["Bash"], ["Bash(zzz8:*)"], home=HOME, workspace=WS, mode="auto") == "deny"
        assert decide(f"{text}zzz8", ["Bash"], ["Bash(zzz8:*)"], home=HOME, workspace=WS, mode="auto") == "deny"


MANY_READINGS = {
    "endings": "bzip2 {}",
    "folders": "patch {}",
    "commands behind options": "env plenv exec {}",
    "values": "x=-o; salt $x {}",
    "moved": "mv {} d",
}
EACH_OF_MANY = {
    "endings": "-S{}",
    "folders": "-d a{}",
    "commands behind options": "-a a{} b",
    "values": "-akey=.e{} -arun",
    "moved": "/a{}",
}


@pytest.mark.parametrize("kind", MANY_READINGS)
def test_a_command_that_names_files_in_too_many_ways_asks_and_takes_no_more_looks(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts: list[JudgingContext] = []

    def kept(*args: Any, **kwargs: Any) -> JudgingContext:
        contexts.append(judging_context(*args, **kwargs))
        return contexts[-1]

    monkeypatch.setattr(judging, "judging_context", kept)

    def looks(count: int) -> int:
        text = MANY_READINGS[kind].format(" ".join(EACH_OF_MANY[kind].format(number) for number in range(count)))
        contexts.clear()
        assert decide(f"{text}\nrm x", ["Bash", "Edit(**)"], ["Bash(rm:*)"], home=HOME, workspace=WS) == "deny"
        return sum(each.spent.looks for each in contexts)

    assert 0 < looks(2) < MOST_LOOKS // 8
    assert looks(500) < MOST_LOOKS + MOST_WORDS
