"""Commands that only run another one are judged by that, harmless variables by their value (S6, S7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.shell.effects.unwrap import MOST_INNER, MOST_INNER_WORDS, unwrap
from countersign.gate.shell.languages.find import FINDERS
from countersign.gate.shell.programs.tables import SUBCOMMANDS, WRAPPERS, names_with
from countersign.gate.shell.syntax.words import constant

from .asked import decide, judge

RULES = [
    "Bash(npm test:*)",
    "Bash(npm ci)",
    "Bash(wc:*)",
    "Bash(npx prettier --check:*)",
    "Bash(make:*)",
    "Bash(git commit:*)",
]
ALLOWED = [
    "sh -c 'npm test'", "bash -c 'npm test'", "bash -ec 'npm ci; npm test'", "bash -c \"npm ci && npm test\"",
    "bash -c 'cd web && npm test'", "timeout 60 bash -c 'npm test'", "CI=1 bash -c 'npm test'",
    "bash -c 'bash -c \"npm test\"'", "bash -c 'echo hi; pwd'", "bash -c 'for f in src/*.py; do wc -l \"$f\"; done'",
    "bash -c ''", "npm test | bash -c 'wc -l'", "(bash -c 'npm test')", "ls | xargs -n 1 wc -l", "ls | xargs -0 wc",
    "ls | xargs -r -P 2 wc", "ls | xargs -d '\\n' wc", "ls | xargs -I{} wc -l {}", "ls | xargs -L1 wc",
    "RAILS_ENV=test make", "CGO_ENABLED=0 make", "PORT=3000 npm test", "LOG_LEVEL=debug npm test",
    "GIT_EDITOR=true git commit --amend", "EDITOR=: git commit", "export RAILS_ENV=test; make", "N=5; wc -l \"$N\"",
    "EXIT_CODE=0; npm test",
]  # fmt: skip
ASKED = [
    "bash -c 'evil'", "bash -c 'npm test; evil'", "bash -c 'npm test' x evil", "bash -c '\"$0\"' evil",
    "bash -c \"$x\"", "bash -c \"npm test $x\"", "bash -lc 'npm test'", "bash -xc 'npm test'", "sh -c 'wc {a,b}'",
    "bash -ic 'npm test'", "bash --rcfile evil -ic 'npm test'", "./bash -c 'npm test'", "zsh -c 'npm test'",
    "fish -c 'npm test'", "env bash -c 'npm test'", "sudo bash -c 'npm test'", "FOO=bar bash -c 'npm test'",
    "HOME=x bash -c 'npm test'", "bash() { evil; }; bash -c 'npm test'", "xargs bash -c 'npm test'",
    "ls | xargs -I{} bash -c 'wc {}'", "ls | xargs -I{} {} x", "ls | xargs -I wc wc x",
    "bash -c 'x=$(evil); npm test'", "bash -c 'npm test > /etc/x'", "sh -c '[[ a == a ]]; npm test'",
    "sh -c 'npm test &> out'", "bash -c 'npm test'\\''; evil'", "bash -c $'npm test\\nevil'",
    "bash -c 'cat /etc/shadow'", "bash -c 'cd .. && npm test'", "ls | xargs -0 evil", "ls | xargs --arg-file=x wc",
    "ls | xargs -p wc", "ls | xargs -I{} git -c {} log", "DJANGO_SETTINGS_MODULE=../x npm test",
    "DJANGO_SETTINGS_MODULE=site.settings npm test", "DJANGO_SETTINGS_MODULE=antigravity.settings npm test",
    "DJANGO_SETTINGS_MODULE=antigravity npm test", "RAILS_ENV=../x make", "PORT=x make", "GIT_EDITOR=evil git commit",
    "GIT_EDITOR='true; evil' git commit", "EDITOR=./true git commit", "PYTHONPATH=. npm test", "GIT_SSH=x; npm test",
    "LD_PRELOAD=./x.so; npm test", "NODE_PATH=x; npm test",
]  # fmt: skip


@pytest.mark.parametrize("command", ALLOWED)
def test_the_inner_command_is_judged_in_place_of_the_outer_one(command: str) -> None:
    assert decide(command, RULES) == "allow"


@pytest.mark.parametrize("command", ASKED)
def test_what_is_more_than_a_covered_inner_command_asks(command: str) -> None:
    assert decide(command, [*RULES, "Bash(xargs:*)", "Bash(bash:*)"]) == "ask"


def test_a_text_for_a_shell_counts_as_what_it_does() -> None:
    assert decide("bash -c 'cat a.txt'", mode="plan") == "allow"
    assert decide("bash -c 'npm test'", ["Bash(npm test)"], mode="plan") == "deny"
    assert decide("bash -c 'npm test'", ["Bash(npm test)"], deny=["Bash(bash:*)"]) == "deny"
    assert decide("bash -c 'npm test'", ["Bash(npm test)"], ask=["Bash(bash -c:*)"]) == "ask"
    assert decide("bash -c 'npm test'", ["Bash(npm test)"], deny=["Bash(npm:*)"]) == "deny"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("DJANGO_SETTINGS_MODULE=site.settings npm test", "allow"),
        ("CI=1 DJANGO_SETTINGS_MODULE=site.settings npm test", "allow"),
        ("DJANGO_SETTINGS_MODULE=site.settings.test npm test", "allow"),
        ("cd web && DJANGO_SETTINGS_MODULE=inner.settings npm test", "allow"),
        ("DJANGO_SETTINGS_MODULE=site.settings python manage.py check", "allow"),
        ("DJANGO_SETTINGS_MODULE=site.settings .venv/bin/pytest", "allow"),
        ("DJANGO_SETTINGS_MODULE=inner.settings python web/manage.py check", "allow"),
        ("DJANGO_SETTINGS_MODULE=site.settings python web/manage.py check", "ask"),
        ("DJANGO_SETTINGS_MODULE=inner.settings npm test", "ask"),
        ("cd web && DJANGO_SETTINGS_MODULE=site.settings npm test", "ask"),
        ('cd "$x" && DJANGO_SETTINGS_MODULE=site.settings npm test', "ask"),
        ("DJANGO_SETTINGS_MODULE=site.settings_other npm test", "ask"),
        ("DJANGO_SETTINGS_MODULE=linked.settings npm test", "ask"),
        ("DJANGO_SETTINGS_MODULE=site.settings DJANGO_SETTINGS_MODULE=x.settings npm test", "ask"),
        ("DJANGO_SETTINGS_MODULE=site.settings evil", "ask"),
    ],
)
def test_a_settings_module_is_looked_through_where_it_lies_in_the_workspace(
    command: str, expected: str, tmp_path: Path
) -> None:
    workspace = tmp_path / "ws"
    for name in (
        "ws/site/settings/__init__.py",
        "ws/site/settings/test.py",
        "ws/web/inner/settings.py",
        "out/settings.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (workspace / "linked").symlink_to(tmp_path / "out")
    allow = [*RULES, "Bash(python manage.py:*)", "Bash(python web/manage.py:*)", "Bash(.venv/bin/pytest:*)"]
    assert decide(command, allow, workspace=str(workspace)) == expected
    named = "Bash(DJANGO_SETTINGS_MODULE=x.settings npm test:*)"
    assert decide("DJANGO_SETTINGS_MODULE=x.settings npm test", [named], workspace=str(workspace)) == "allow"


WRAPPER_NAMES = sorted({*WRAPPERS, *(" ".join(key[:2]) for key in SUBCOMMANDS), *names_with("readers"), *FINDERS})
REPEATED = [
    "-c a", "-e a", "-x a", "-p a", "a", "--", "-- a", "a --", "-exec .", "-exec . ;", "bind a", "run-shell a ;", "a=b",
    "do a", "::: a",
]  # fmt: skip


@pytest.mark.parametrize("name", WRAPPER_NAMES)
def test_what_a_command_runs_is_bounded_whatever_it_repeats(name: str) -> None:
    own = [*WRAPPERS[name].texts, *WRAPPERS[name].commands, *WRAPPERS[name].writes] if name in WRAPPERS else []
    for repeated in (*REPEATED, *[f"{option} a" for option in own], name, f"{name} -c a", f"{name} a --"):
        for text in (f"{name} {f'{repeated} ' * 250}", f"{repeated} " * 250):
            found = unwrap(tuple(map(constant, text.split())))
            inner = found.layers[1:]
            assert len(inner) + len(found.texts) <= MOST_INNER + 3, text[:60]
            assert sum(len(layer.words) for layer in inner) <= MOST_INNER_WORDS, text[:60]


@pytest.mark.parametrize(
    "text",
    [
        "tmux " + "bind a " * 3000, "npm exec -c a " * 200, "rsync -e a " * 500, "onchange a -- " * 1430,
        "find . " + "-exec . \\; " * 1800, "docker-machine ssh -c a " * 125, "scp -- " + "a " * 1500,
        "rsync " * 500, "parallel " * 66 + "ls", "parallel " * 600, "oc cp " + "--edit a " * 333,
    ],
)  # fmt: skip
def test_a_command_that_repeats_what_it_runs_has_findings_in_proportion(text: str) -> None:
    assert decide(text, deny=["Bash(rm:*)"], mode="ask") == "ask"
    assert decide(text) == "ask"
    assert len(judge(text, deny=["Bash(rm:*)"]).findings) < 5_000


def test_a_few_commands_in_one_are_all_looked_through() -> None:
    for text in (
        "tmux " + "run-shell a \\; " * 40 + "run-shell 'rm x'",
        "find . " + "-exec a \\; " * 11 + "-exec rm x \\;",
        "timeout 5 nice xargs " + "a " * 300 + "; timeout 5 rm x",
    ):
        assert decide(text, deny=["Bash(rm:*)"]) == "deny", text
