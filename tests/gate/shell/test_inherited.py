"""Texts that run in a shell of their own, under variables and in a folder that the outer text or a wrapper chose."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.syntax.tree import Assignment
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.inherited import is_obeyed, is_usual, is_usual_path

from .asked import HOME, WS, decide

SETTING = (
    "{name}={value} {shell}",
    "env {name}={value} {shell}",
    "env -u X {name}={value} {shell}",
    "timeout 5 env {name}={value} {shell}",
    "{name}={value} timeout 5 {shell}",
    "nice -n 5 env FOO=x {name}={value} {shell}",
    "sudo {name}={value} {shell}",
    "sudo -E {name}={value} {shell}",
    "export {name}={value}; {shell}",
    "export {name}={value} && cd src && {shell}",
    "declare -x {name}={value}; {shell}",
    "bash -c 'export {name}={value}; {inner}'",
    "for {name} in {value}; do {shell}; done",
    "npx cross-env {name}={value} {shell}",
    "bwrap --setenv {name} {value} {shell}",
    "tmux new-session -e {name}={value} '{inner}'",
    "find . -exec env {name}={value} {shell} ';'",
    "ls | xargs env {name}={value} {shell}",
    "setsid env {name}={value} {shell} &",
    "( {name}={value} {shell} )",
)
"""Ways to give a variable to a shell that reads a text."""

TEXTS = (
    ("HOME", "secrets", "cat ~/key"),
    ("CDPATH", ".git", "cd hooks && echo x > pre-commit"),
    ("PATH", "secrets", ". key"),
    ("OLDPWD", "secrets", "cd - && cat key"),
    ("UID", "secrets/key", "cat $UID"),
    ("BASH_ENV", "evil.sh", "ls"),
    ("LD_PRELOAD", "./evil.so", "sh -c ls"),
)


@pytest.mark.parametrize(
    "more", [{"mode": "default"}, {"mode": "acceptEdits"}, {"mode": "auto"}, {"bypass": True}], ids=str
)
@pytest.mark.parametrize(("form", "text"), list(itertools.product(SETTING, TEXTS)), ids=lambda each: str(each)[:50])
def test_an_inner_text_with_a_changed_meaning_is_never_allowed(
    form: str, text: tuple[str, str, str], more: dict[str, object]
) -> None:
    name, value, inner = text
    command = form.format(name=name, value=value, inner=inner, shell=f"bash -c '{inner}'")
    assert decide(command, ["Bash", "Read", "Edit"], **more) != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "env -C secrets cat key",
        "env --chdir=secrets cat key",
        "env --ch=secrets bash -c 'cat key'",
        "sudo -D secrets cat key",
        "sudo -i cat key",
        "su - bob -c 'cat key'",
        "uv run --directory secrets cat key",
        "pnpm -C secrets exec cat key",
        "parallel --wd secrets cat ::: key",
        "find . -execdir cat key ';'",
        "git submodule foreach 'cat key'",
        "git bisect run cat key",
        "cd \"$d\"; bash -c 'cat key'",
        'env -C "$d" cat key',
        "systemd-run -d cat key",
        "env -C src env -C ../secrets bash -c 'cat key'",
    ],
)
def test_a_wrapper_that_changes_the_folder_moves_what_it_runs(command: str) -> None:
    assert decide(command, deny=["Read(secrets/**)"], mode="auto") != "allow"
    assert decide(command, deny=["Read(secrets/**)"], bypass=True) != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "CI=1 bash -c 'npm test'",
        "TZ=UTC bash -c 'date'",
        "FOO=bar bash -c 'npm test'",
        "PATH=$PATH:/usr/local/go/bin bash -c 'go test ./...'",
        'export PATH="$PATH:/usr/local/go/bin"; bash -c "go test ./..."',
        "env -C src npm test",
        "env -C src bash -c 'cat key'",
        "sudo bash -c 'apt-get update'",
        "HOME=secrets make",
        "timeout 5 bash -c 'cd src && cat a'",
    ],
)
def test_a_harmless_environment_changes_nothing(command: str) -> None:
    assert decide(command, deny=["Read(secrets/**)"], mode="auto") == "allow"


def test_the_search_path_is_usual_only_with_folders_of_the_system() -> None:
    usual = ["$PATH:/usr/local/go/bin", "/usr/bin:/bin", '"$PATH:/opt/x/bin"', "${PATH}"]
    others = ["secrets", "$PATH:.", ":/usr/bin", "/usr/bin:", "/usr/../home", "$PATH:/usr/..", '"$PATH', "/tmp", "$x"]
    assert [value for value in usual if not is_usual_path(f"PATH={value}")] == []
    assert [value for value in others if is_usual_path(f"PATH={value}")] == []
    assert not is_usual(Assignment("HOME", "HOME=/usr", constant("/usr")))


_COUNTED = frozenset(
    "COMP_WORDBREAKS COLUMNS LINES HISTCMD HISTFILE HISTFILESIZE HISTSIZE MAILCHECK OPTERR OPTIND SHLVL TERM".split()
)
"""Variables that bash sets and that change nothing of what a text that is no terminal's runs or names."""

_TOLD = frozenset(
    "DIRSTACK EPOCHREALTIME EPOCHSECONDS GROUPS HOSTNAME HOSTTYPE MACHTYPE OSTYPE PIPESTATUS SRANDOM _".split()
)
"""Variables that bash computes itself, whatever the environment says, or that only tell of the machine."""


def test_every_variable_that_bash_sets_by_itself_is_sorted(tmp_path: Path) -> None:
    listed = subprocess.run(
        ["bash", "--norc", "-ic", "compgen -v"], env={}, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    names = set(listed.stdout.split())
    assert {"BASH_VERSION", "IFS", "PATH", "PS1"} <= names
    assert {name for name in names if not is_obeyed(name)} <= _COUNTED | _TOLD


def test_a_home_of_the_gate_is_not_the_inner_text_of_a_grant() -> None:
    command = "HOME=secrets bash -c 'cat ~/key'"
    assert decide(command, [f"Bash({command})"], workspace=WS, home=HOME) == "allow"
