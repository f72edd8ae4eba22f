"""Under deny and ask rules, a program that no table knows may run what its words name: only a rule for it covers it."""

from __future__ import annotations

from typing import Any

import pytest

from .asked import WS, decide

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
    "yarn no-such-wrapper {}",
    "pnpm no-such-wrapper {}",
    "bun run no-such-wrapper {}",
    "cargo no-such-wrapper {}",
    "docker no-such-wrapper {}",
    "gh no-such-wrapper -- {}",
    "kubectl no-such-wrapper x -- {}",
    "kubectl -n a no-such-wrapper x -- {}",
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

SETTINGS = (
    "mvn exec:exec -Dexec.executable={}",
    "mvn org.codehaus.mojo:exec-maven-plugin:3.0:exec -D exec.executable={}",
    "mvn test -Djvm={}",
    "./mvnw exec:exec --define exec.executable={}",
    "hg --config alias.x=!{} x",
    "hg --config ui.editor={} commit",
    "jj --config ui.editor={} st",
    "svn --config-option config:helpers:editor-cmd={} ci",
    "tox -x testenv.commands={}",
    "ansible-playbook x.yml --ssh-common-args='-o ProxyCommand={}'",
    "bazel build --action_env=CC={} x",
    "bazel run --run_under={} x",
    "rustc -C linker={} x.rs",
    "rustc -Clinker={} x.rs",
    "cargo --config 'build.rustc-wrapper=\"{}\"' build",
    "cargo --config build.rustc-wrapper={} build",
    "gcc -wrapper {},x a.c",
    "go env -w CC={}",
    "npm config set --location=project script-shell={}",
    "npm set editor={}",
    "npm pkg set scripts.x={}",
    "npm pkg set 'scripts.x={} y'",
    "gh alias set x '!{}'",
    "forever start -c {} x",
    "forever -c '{} x' y",
    "supervisor -x {} app",
    "pm2 start {}",
    "pm2 start '{} x'",
    "pm2 start {} --name y -- x",
    "pm2 --name y start {}",
    "pm2 start --interpreter {} app.js",
    "pm2 restart {}",
    "./configure CC={}",
    "./configure --quiet CC='{} -O2'",
    "timeout 9 ./configure CC={}",
)
"""Programs that are known, and given the name of another by a setting among their words."""

VARIABLES = (
    "CC={} make",
    "export CC={}",
    "export CC={} && make",
    "env CC={} make",
    "timeout 9 env -u A CC='{} -O2' make",
    "GIT_SSH={} git fetch",
    "CARGO_BUILD_RUSTC={} cargo build",
    "RUSTC={} cargo build",
    "CMAKE_C_COMPILER_LAUNCHER={} cmake .",
    "CC={}; make",
    "BROWSER=/usr/bin/{} gh browse",
)
"""Variables that programs obey, whichever they are."""


HOWS = ({"mode": "auto"}, {"bypass": True}, {"allow": ["Bash"]})
"""What would allow a command without naming its program."""


@pytest.mark.parametrize("command", [*SETTINGS, *VARIABLES])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("rules", [{"deny": ["Bash(evil:*)"]}, {"ask": ["Bash(evil:*)"]}])
def test_a_forbidden_command_is_seen_in_a_setting_or_variable(
    command: str, how: dict[str, Any], rules: dict[str, list[str]]
):
    assert decide(command.format("evil"), **rules, **how) != "allow"


@pytest.mark.parametrize("command", [*SETTINGS, *VARIABLES])
def test_a_setting_or_variable_that_names_another_command_runs_in_auto(command: str):
    # Settings of npm are written to a protected place; cargo's are read by a shell, and jj's may be whole commands.
    asks = ("npm config set", "npm set", "cargo --config", "jj --config")
    expected = "ask" if command.startswith(asks) else "allow"
    assert decide(command.format("good"), deny=["Bash(evil:*)"], mode="auto", workspace=WS) == expected


@pytest.mark.parametrize(
    "command",
    ["CFLAGS=-O2 make", "FLAGS='-x evil' make", "x=evil; echo $x", "FILE=evil; cat $FILE", "mvn test -Dtest=evil"],
)
def test_a_variable_of_the_script_and_a_name_of_a_test_name_no_command(command: str):
    assert decide(command, deny=["Bash(evil:*)"], mode="auto") == "allow"


@pytest.mark.parametrize("runner", [*RUNNERS, *KNOWN_RUNNERS])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("rules", [{"deny": ["Bash(evil:*)"]}, {"ask": ["Bash(evil push)"]}])
def test_a_forbidden_command_is_seen_behind_any_program(runner: str, how: dict[str, Any], rules: dict[str, list[str]]):
    if "-e {}" in runner and "ask" in rules:
        return  # of a command in an option's value only the first word is known
    assert decide(runner.format("evil push"), **rules, **how) != "allow"


@pytest.mark.parametrize("runner", RUNNERS)
def test_without_such_a_rule_or_word_it_runs_in_auto(runner: str):
    assert decide(runner.format("good push"), deny=["Bash(evil:*)"], mode="auto") == "allow"
    assert decide(runner.format("evil push"), deny=["Bash(git push:*)"], mode="auto") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "pytest evil",
        "docker evil",
        "cargo run -- evil",
        "./run.sh evil",
        "git log evil",
        "grep evil a",
        "echo evil",
        "npm run evil",
        "python x.py evil",
        "kubectl get evil",
    ],
)
def test_a_known_program_or_a_script_of_the_project_passes_nothing_on(command: str):
    assert decide(command, deny=["Bash(evil:*)"], mode="auto") == "allow"


def test_a_rule_for_the_program_itself_covers_it():
    assert decide("mytool evil", ["Bash(mytool:*)"], ["Bash(evil:*)"]) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "no-such-wrapper git -c alias.p=push p",
        "no-such-wrapper --run 'git -c alias.p=push p'",
        "no-such-wrapper bash -c 'git -c alias.p=push p'",
        "yarn no-such-wrapper git -c alias.p=push p",
        "no-such-wrapper git.exe push",
        "no-such-wrapper docker container rm x",
        "no-such-wrapper make all deploy",
        "no-such-wrapper env '-vSevil x'",
        "no-such-wrapper " + "env " * 200 + "good",
    ],
)
@pytest.mark.parametrize("how", HOWS)
def test_a_command_behind_any_program_is_read_as_its_program_reads_it(command: str, how: dict[str, Any]):
    rules = ["Bash(git push:*)", "Bash(docker rm:*)", "Bash(make deploy:*)", "Bash(evil:*)"]
    assert decide(command, deny=rules, **how) == "ask"


@pytest.mark.parametrize(
    "command", ["no-such-wrapper git status", "no-such-wrapper make all", "no-such-wrapper env good"]
)
def test_another_command_behind_any_program_runs_in_auto(command: str):
    assert decide(command, deny=["Bash(git push:*)", "Bash(make deploy:*)", "Bash(evil:*)"], mode="auto") == "allow"


@pytest.mark.parametrize("command", ["xargs -I @ make all deploy"])
def test_each_target_counts_where_further_words_may_follow(command: str):
    assert decide(command, deny=["Bash(make deploy)"], mode="auto") == "ask"
