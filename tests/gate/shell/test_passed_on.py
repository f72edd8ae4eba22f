"""Under deny and ask rules, a program that no table knows may run what its words name: only a rule for it covers it."""

from __future__ import annotations

import pytest

from .asked import decide

RUNNERS = (
    "graftcp {}",
    "no-such-wrapper -q {}",
    "no-such-wrapper --level 3 -- {}",
    "no-such-wrapper --run='{}'",
    "no-such-wrapper --run '{}'",
    "no-such-wrapper -c '{}' x",
    "watchman-make -p x --run {}",
    "nohup no-such-wrapper {}",
    "timeout 9 no-such-wrapper {}",
    "daemon -- {}",
    "crontab - <<< '* * * * * {}'",
    "echo '0 1 * * * {}' | crontab",
)
KNOWN_RUNNERS = (
    "distrobox-enter x -e {}",
    "distrobox enter x -- {}",
    "distrobox-host-exec {}",
    "host-spawn {}",
    "devcontainer exec --workspace-folder . {}",
    "meson devenv -C build {}",
)


@pytest.mark.parametrize("runner", [*RUNNERS, *KNOWN_RUNNERS])
@pytest.mark.parametrize("how", [{"mode": "auto"}, {"bypass": True}])
@pytest.mark.parametrize("rules", [{"deny": ["Bash(evil:*)"]}, {"ask": ["Bash(evil push)"]}])
def test_a_forbidden_command_is_seen_behind_any_program(
    runner: str, how: dict[str, object], rules: dict[str, list[str]]
):
    if "-e {}" in runner and "ask" in rules:
        return  # of a command in an option's value only the first word is known
    assert decide(runner.format("evil push"), **rules, **how) != "allow"


@pytest.mark.parametrize("runner", RUNNERS)
def test_without_such_a_rule_or_word_it_runs_in_auto(runner: str):
    assert decide(runner.format("good push"), deny=["Bash(evil:*)"], mode="auto") == "allow"
    assert decide(runner.format("evil push"), deny=["Bash(git push:*)"], mode="auto") == "allow"


@pytest.mark.parametrize(
    "command",
    ["pytest evil", "./run.sh evil", "git log evil", "grep evil a", "echo evil", "npm run evil", "python x.py evil"],
)
def test_a_known_program_or_a_script_of_the_project_passes_nothing_on(command: str):
    assert decide(command, deny=["Bash(evil:*)"], mode="auto") == "allow"


def test_a_rule_for_the_program_itself_covers_it():
    assert decide("mytool evil", ["Bash(mytool:*)"], ["Bash(evil:*)"]) == "allow"
