"""What the editor's Problems say of rules, and ``countersign rules``."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from countersign.advice.lint import lint_rules
from countersign.commands import rules as rules_cli
from countersign.gate.ledger.entry import Entry
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.settings.policy import RuleText
from countersign.wire.verdicts import Evidence


def problems(*texts: str) -> list[str]:
    rules = [RuleText(*text.split(" ", 1), file="s.json", line=number) for number, text in enumerate(texts, start=1)]  # type: ignore[arg-type]
    return [f"{problem.line}: {problem.message}" for problem in lint_rules(rules)]


FINE = [
    "allow Bash(npm run test:*)",
    "allow Bash(git log:*)",
    "deny Bash(rm -rf:*)",
    "deny Bash",
    "allow Edit(./src/**)",
    "allow Read(~/notes/**)",
    "allow WebFetch(domain:*.example.com)",
    "allow mcp__github__get_issue",
    "deny mcp__*",
    "deny run_node(node_type:shell)",
    "allow Agent(Reviewer)",
    "allow browser",
    "allow Bash(npx tsc:*)",
    "allow Bash(python -m pytest:*)",
    "allow Edit(.gitignore)",
    "allow Bash(bash scripts/x.sh:*)",
    "allow Bash(bash -c 'npm test')",
    "allow Bash(timeout 5 npm test:*)",
    "allow Bash(sed -i 's/a/b/;' x)",
    r"deny Bash(find . -exec rm {} \;)",
    "allow Bash(rails db:* --trace)",
    "allow Bash(npm run web:*:*)",
    "allow Read(**)",
    "deny Edit(**)",
    "deny Bash(bash -c:*)",
    "allow Bash(curl https://example.com/a?b=1&c=2)",
    "deny Bash(/usr/bin/x:*)",
    "deny Bash('my tool' x)",
    "deny Bash(echo 'a, b')",
    "deny Bash(git push origin :main)",
    "deny Read(//etc/passwd)",
    "deny Read(/tmp/**)",
    "deny Read(/bin/)",
    "deny Read(./etc/x)",
    "deny Read(cost$.txt)",
    "deny Read(a,b.txt)",
]


@pytest.mark.parametrize("text", FINE)
def test_an_honest_rule_has_no_problem(text: str) -> None:
    assert problems(text) == []


COMPLAINTS = [
    ("allow Bash(ls", "cannot be read"),
    ("deny Bash(ls", "cannot be read"),
    ("allow Write(src/**)", "is read as `Edit`"),
    ("allow Bsh", "names a tool that is not known"),
    ("deny Bsh*", "names a tool that is not known"),
    ("allow Bash(a && b)", "exactly this text, for `&&` joins several"),
    ("allow Bash(a && b:*)", "can never match"),
    ("deny Bash(a | b)", "joins several"),
    ("allow Bash(ls > x)", "exactly this text, for its redirection"),
    ("deny Bash(ls > x:*)", "can never match: a redirection"),
    ("allow Bash($TOOL x)", "expansion"),
    ("allow Edit(.git/**)", "never counts: writing there always asks"),
    ("allow Edit(./sub/.vscode/settings.json)", "never counts: writing there always asks"),
    ("allow Edit(*.{ts,js})", "braces literally"),
    ("allow Bash", "allows every command"),
    ("allow Bash(*)", "begins with a wildcard"),
    ("allow Bash(* --help)", "wildcard where the program stands"),
    ("allow Bash(bash:*)", "is too wide"),
    ("allow Bash(/usr/bin/python3:*)", "is too wide"),
    ("allow Bash(npx *)", "is too wide"),
    ("allow Bash(sudo:*)", "is too wide"),
    ("allow Edit", "every change"),
    ("allow Edit(//**)", "whole disk"),
    ("allow Read(~/**)", "whole disk or home"),
    ("allow WebFetch", "every address"),
    ("allow WebFetch(domain:*)", "every address"),
    ("allow Bash(ls:*:*)", "ends in `:*` twice"),
    ("deny Bash(ls:*:*)", "ends in `:*` twice"),
    ("allow Bash(npm:* test)", "only at its end"),
    ("allow Bash(ls; rm)", "`;` joins several"),
    ("deny Bash(ls -l; rm x)", "`;` joins several"),
    ("allow Bash(ls;rm)", "`;` joins several"),
    ("allow Bash(ls |grep x)", "`|` joins several"),
    ("allow Bash(sleep 1& ls)", "`&` joins several"),
    ("allow Bash(bash -c:*)", "can never allow anything"),
    ("allow Bash(bash -lc *)", "can never allow anything"),
    ("allow Bash(sudo apt:*)", "can never allow anything"),
    ("allow Bash(python3 -c:*)", "can never allow anything"),
    ("allow Bash(eval ls *)", "can never allow anything"),
    ("allow Edit(**)", "every change in the workspace"),
    ("allow Edit(*)", "every change in the workspace"),
    ("allow Edit(./**)", "every change in the workspace"),
    ("allow Edit(/**/*)", "every change in the workspace"),
    ("allow Bsh(x)", "names a tool that is not known"),
    ("allow Bsh(x)", "`Bsh` is not one of `Bash`, `Read`, `Edit`, `WebFetch` and `Agent`"),
    ("allow run_node(node_type:shell)", "only a deny or ask rule may match"),
    ("deny Bash(^rm)", "is no regular expression"),
    ("deny Bash(^rm .*$)", "is no regular expression"),
    ("deny Bash(/rm/)", "is no regular expression"),
    ("deny Bash(/rm.*/i)", "is no regular expression"),
    ("deny Bash(rm, mv)", "one rule for each command"),
    ("deny Bash(rm,mv:*)", "one rule for each command"),
    ('deny Bash("rm:*")', "leave out the quotes"),
    ("deny Bash('git push')", "leave out the quotes"),
    ("deny Bash(git push :*)", "write `git push:*`"),
    ("deny Read(/etc/passwd)", "write `//etc/passwd` for the place on the disk"),
    ("deny Edit(/home/me/.ssh/**)", "write `//home/me/.ssh/**`"),
    ("deny Read($HOME/.ssh)", "`$HOME` for a name"),
    ("deny Read(${HOME}/.ssh)", "`${HOME}` for a name"),
    ("deny Read(%USERPROFILE%/x)", "`%USERPROFILE%` for a name"),
    ("deny Read(file:secrets/key)", "write the path alone"),
    ("deny Read(path:secrets)", "write the path alone"),
    (r"deny Read(C:\x)", "drive letter"),
    ("deny Read(C:/x)", "drive letter"),
    ('deny Read("a.txt")', "leave out the quotes"),
    ("deny Read(.env, .env.local)", "one rule for each path"),
]


@pytest.mark.parametrize(("text", "complaint"), COMPLAINTS)
def test_a_rule_that_is_wrong_is_told_with_its_line(text: str, complaint: str) -> None:
    assert [each for each in problems(text) if complaint in each and each.startswith("1: ")]


def test_what_begins_with_no_wildcard_is_not_said_to_begin_with_one() -> None:
    assert not [each for each in problems("allow Bash(ls:*:*)") if "begins with a wildcard" in each]


SHADOWED = [
    # the stricter rule, the one that it shadows
    ("deny Bash(rm:*)", "allow Bash(rm -r build)"),
    ("deny Bash(rm:*)", "allow Bash(rm -r:*)"),
    ("ask Bash(git push:*)", "allow Bash(git push origin:*)"),
    ("deny Bash", "allow Bash(ls)"),
    ("deny Bash(git push:*)", "ask Bash(git push origin main)"),
    ("deny Read(./private/**)", "allow Read(./private/a)"),
    ("deny Read(./private/**)", "allow Edit(./private/*.txt)"),
    ("deny Read(.env)", "allow Read(./a/.env)"),
    ("deny Edit", "allow Edit(./src/**)"),
    ("deny WebFetch(domain:*.example.com)", "allow WebFetch(domain:a.example.com)"),
    ("deny mcp__a", "allow mcp__a__b"),
    ("deny Agent(R*)", "allow Agent(Reviewer)"),
]


@pytest.mark.parametrize(("strict", "shadowed"), SHADOWED)
def test_a_rule_that_a_stricter_one_covers_is_told(strict: str, shadowed: str) -> None:
    assert [each for each in problems(strict, shadowed) if each.startswith("2: ") and "never counts" in each]
    assert [each for each in problems(shadowed, strict) if each.startswith("1: ") and "s.json:2" in each]


NOT_SHADOWED = [
    ("deny Bash(rm -rf:*)", "allow Bash(rm:*)"),
    ("deny Bash(git push)", "allow Bash(git push:*)"),
    ("deny Read(./private/**)", "allow Read(./src/**)"),
    ("deny Edit(./private/**)", "allow Read(./private/**)"),
    ("deny Read(~/private/**)", "allow Edit(./private/**)"),
    ("deny WebFetch(domain:a.example.com)", "allow WebFetch(domain:*.example.com)"),
    ("allow Bash(rm:*)", "deny Bash(rm -rf:*)"),
    ("deny mcp__a__b(x:y)", "allow mcp__a__b"),
]


@pytest.mark.parametrize(("strict", "other"), NOT_SHADOWED)
def test_a_rule_that_is_covered_in_part_only_is_left_alone(strict: str, other: str) -> None:
    assert not [each for each in problems(strict, other) if "never counts" in each]


# --- countersign rules -----------------------------------------------------------------------------------------------


def run(action: str, files: Sequence[Path], *options: str) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser()
    rules_cli.add_arguments(parser)
    out, told = io.StringIO(), io.StringIO()
    status = rules_cli.run(parser.parse_args([action, *map(str, files), *options]), out, told)
    return status, out.getvalue(), told.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rules = {
        "allow": ["Bash", {"rule": "Bash(npm test:*)", "match": ["npm test -x"], "notMatch": ["npm testing"]}],
        "deny": ["Bash(rm"],
    }
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"permissions": rules}, indent=2), encoding="utf-8")
    return path


def test_lint_names_file_and_line_and_fails_on_errors(file: Path) -> None:
    status, out, _ = run("lint", [file])
    assert status == 1
    assert any(
        line.startswith(f"{file}:") and "cannot be read" in line and "error" in line for line in out.splitlines()
    )
    assert any("allows every command" in line and "warning" in line for line in out.splitlines())


async def test_list_says_what_each_rule_decided_by_a_servers_ledger(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(file)
    ledger = Ledger(tmp_path / LEDGER_FILE)
    said = Evidence(source="rule", rule="Bash(npm test:*)", file=str(file), line=99, reason="r")
    row = Entry("r", "decided", "/w", "o", "t", "A", "c", "shell", "d", evidence=(said,), at="2026-11-20T10:00:00Z")
    await ledger.append(row, row._replace(receipt_id="s", at="2026-11-21T10:00:00Z"))
    ledger.close()
    status, out, _ = run("list", [link], "--storage", str(tmp_path))
    assert status == 1
    first, second, third, *rest = out.splitlines()
    assert first.split()[:4] == ["0", "never", "deny", "Bash(rm"]
    assert [line.split()[:3] for line in (second, third)] == [
        ["0", "never", "allow"],
        ["2", "2026-11-21T10:00:00Z", "allow"],
    ]
    assert rest == ["of 2 calls since 2026-11-20"]


def test_a_folder_without_a_ledger_is_told(file: Path, tmp_path: Path) -> None:
    status, out, told = run("list", [file], "--storage", str(tmp_path))
    assert (status, out) == (2, "")
    assert "there is no ledger in" in told


def test_list_shows_every_rule_and_what_is_wrong_with_it(file: Path) -> None:
    status, out, _ = run("list", [file])
    assert status == 1
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["deny", "Bash(rm"],
        ["allow", "Bash"],
        ["allow", "Bash(npm"],
    ]


def test_test_runs_the_rules_own_examples(file: Path) -> None:
    assert run("test", [file])[0] == 0
    file.write_text(file.read_text(encoding="utf-8").replace("npm testing", "npm test x"), encoding="utf-8")
    status, out, _ = run("test", [file])
    assert status == 1
    assert "FAILED  Bash(npm test:*)  notMatch: npm test x" in out


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert run("lint", [tmp_path / "none"])[0] == 2
