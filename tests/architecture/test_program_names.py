"""What the gate knows of a program stands in its record: no program's name stands in Python code of the gate.

Outside of `shell/programs`, that is, and of `shell/languages`, where programs with a language of their own are read.
Builtins and keywords of bash are words of the language that the gate reads, and no programs here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.gate.shell.syntax.plain_simple import BUILTINS

GATE = Path(__file__).parents[2] / "server/countersign/gate"
APART = ("shell/programs/", "shell/languages/")
BASH = BUILTINS | frozenset("bash coproc sh time".split())
ORDINARY = frozenset(
    "at auto code copilot dir display file fold host hostname http https init kind link links mcp more open pack port "
    "pr ran repo rw seq size split star step strip sync task timeout top v view".split()
)
"""Words that are also names of programs."""
ORDINARY_BESIDE_THE_SHELL = frozenset("head install script tail tree".split())
NAMES = {path.stem for path in (GATE / "shell/programs/records").glob("*.toml")} - BASH - ORDINARY - {"_shared"}

OTHER_MEANINGS: dict[str, str] = {
    "ledger/secret_forms.py": "curl gh openssl sshpass wget",  # forms of secrets in command lines
    "paths/sensitive_paths.py": "bazel env fish gcloud gh git mise",  # folders and files
    "shell/card_risks.py": "install rm",  # subcommands
    "shell/effects/operand_code.py": "awk env kubectl sed",  # subcommands, and what a card shows
    "shell/effects/wrapper_readers.py": "arch chdir chmod ed",  # options
    "shell/files/address_operands.py": "ftp",  # a scheme
    "shell/files/named_outputs.py": "tar",  # a subcommand
    "shell/files/container_mounts.py": "chown",  # an option
    "shell/files/file_operands.py": "link script",  # what operands are
    "shell/files/git_asked.py": "diff",  # a subcommand
    "shell/files/git_contents.py": "daemon diff fsck grep p4 svn",  # subcommands
    "shell/files/git_kept_commits.py": "head",  # a file of git's
    "shell/files/git_operands.py": "bundle diff grep mv rm",  # subcommands
    "shell/files/git_repository.py": "diff",  # a subcommand
    "shell/files/git_settings.py": "diff sort",  # sections and keys of settings
    "shell/files/listed_files.py": "diff grep",  # subcommands
    "shell/files/package_files.py": "ls pkg",  # subcommands
    "shell/files/rewritten_folders.py": "rm",  # a subcommand
    "shell/files/rg_operands.py": "clojure docker elixir kotlin make ocaml python ruby sass webpack",  # types of files
    "shell/files/setting_commands.py": "column diff gpg",  # sections of settings
    "shell/files/unread_mounts.py": "ls ps rm",  # subcommands
    "shell/flow/control_flow.py": "chdir",  # a builtin of some shells
    "shell/flow/self_check.py": "cargo cat env git grep make sort tee",  # samples
    "shell/rules/brought_links.py": "tree",  # where links may stand
    "shell/rules/file_findings.py": "mr",  # a subcommand
    "shell/rules/judge_one.py": "diff",  # what a card shows
    "shell/rules/unsettled_paths.py": "head",  # a file of git
    "shell/rules/rule_prefix.py": "console",  # a subcommand
}
"""By file words that are names of programs elsewhere."""

IN_THE_GRAMMAR = {"shell/syntax/substitution_output.py": "cat"}
"""The parser knows no records: it reads `$(cat <<E …)`, the one way of bash to write a text of several lines as a word,
as that text."""


def texts(source: str) -> Iterator[str]:
    """Yield every text of a module but docstrings."""
    tree = ast.parse(source)
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in comments:
            yield node.value


def names_in(source: str) -> set[str]:
    """Return the names of programs in texts that consist of them, for the most part."""
    found: set[str] = set()
    for text in texts(source):
        words = text.split()
        named = [word for word in words if word in NAMES]
        if 2 * len(named) >= len(words):
            found.update(named)
    return found


def names_by_file() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(GATE.rglob("*.py")):
        name = path.relative_to(GATE).as_posix()
        if not name.startswith(APART):
            ordinary = frozenset[str]() if name.startswith("shell/") else ORDINARY_BESIDE_THE_SHELL
            others = ordinary | frozenset(OTHER_MEANINGS.get(name, "").split())
            found[name] = " ".join(sorted(names_in(path.read_text(encoding="utf-8")) - others))
    return {name: names for name, names in found.items() if names}


def test_no_name_of_a_program_stands_in_code_of_the_gate():
    assert names_by_file() == IN_THE_GRAMMAR


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('X = {"docker", "podman"}', {"docker", "podman"}),
        ('X = "docker podman a b c d".split()', set[str]()),
        ('X = "cargo npm yarn".split()', {"cargo", "npm", "yarn"}),
        ('"""docker"""\nX = "a docker is a person"', set[str]()),
        ('X = {"cd", "file", "read"}', set[str]()),
    ],
)
def test_names_are_found(source: str, found: set[str]):
    assert names_in(source) == found
