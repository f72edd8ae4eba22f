"""What commands and agents are given of the server's environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from countersign.gate import DEFAULT_PATH
from countersign.settings.policy import Policy
from countersign.tools.shell.environment import (
    UTF8,
    filtered_environment,
    withheld,
    withheld_names,
    withheld_note,
)

WORKSPACE = "/projects/space"


def given(base: dict[str, str], **policy: Any) -> dict[str, str]:
    """The environment without what is always added."""
    filtered = filtered_environment(base, Policy(workspace=WORKSPACE, home="/home/me", **policy), WORKSPACE)
    added = {"PATH"} | {name for name in ("LANG", "LC_CTYPE") if filtered.get(name) == UTF8 and name not in base}
    return {name: value for name, value in filtered.items() if name not in added and not name.startswith("GIT_")}


@pytest.mark.parametrize(
    "name",
    [
        "VSCODE_IPC_HOOK", "ELECTRON_RUN_AS_NODE", "GITHUB_TOKEN", "OPENAI_API_KEY", "CLIENT_SECRET", "DB_PASSWORD",
        "AWS_SECRET_ACCESS_KEY", "TOKEN", "npm_config_token_TOKEN", "my_token",
        "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "PS4", "PROMPT_COMMAND",
        "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "POSIXLY_CORRECT", "BASH_COMPAT",
        "GIT_DIR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "PAGER", "MANPAGER", "LESSOPEN", "RIPGREP_CONFIG_PATH",
        "PYTHONSTARTUP", "NODE_OPTIONS", "TAR_OPTIONS", "PWD", "OLDPWD",
        "OPENAI_KEY", "GITHUB_PAT", "MYAPP_PASS", "PGPASSWORD", "db_password", "MYSQL_PWD", "SECRET_KEY_BASE",
        "REDISCLI_AUTH", "npm_config__auth", "AZURE_STORAGE_KEY", "myApiKey", "TOKEN_2",
    ],
)  # fmt: skip
def test_a_variable_that_steers_or_tells_is_left_out(name: str) -> None:
    assert given({name: "x", "KEPT": "y"}) == {"KEPT": "y"}


@pytest.mark.parametrize(
    "name",
    ["HOME", "LANG", "LC_ALL", "TERM", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "SECRETARY", "ENVIRONMENT",
     "GITHUB_REPOSITORY", "DISPLAY", "VIRTUAL_ENV", "JAVA_HOME", "COMPOSE_PROJECT_NAME", "PYTHONPATH", "XAUTHORITY",
     "AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS", "TOKEN_FILE", "COMPASS", "KEY", "SSH_ASKPASS", "PUBLIC_KEY",
     "SECRET_NAME", "PGPASSFILE"],
)  # fmt: skip
def test_an_ordinary_variable_stays(name: str) -> None:
    assert given({name: "x.UTF-8"})[name] == "x.UTF-8"


@pytest.mark.parametrize(
    "value",
    ["postgres://me:hunter2@host/db", "ghp_" + "a1" * 18, "-----BEGIN PRIVATE KEY-----\nx", "hvs." + "aB3" * 10],
)
def test_a_variable_whose_value_is_a_secret_is_left_out_and_named(value: str) -> None:
    base = {"DATABASE_URL": value, "HOMEPAGE": "https://host/path", "MY_TOKEN": "x"}
    assert given(base) == {"HOMEPAGE": "https://host/path"}
    assert withheld(base, Policy(WORKSPACE, "/home/me")) == ["DATABASE_URL", "MY_TOKEN"]
    assert given(base, shell_env_pass=("DATABASE_URL",))["DATABASE_URL"] == value


@pytest.mark.parametrize(
    ("base", "locale"),
    [
        ({}, {"LC_CTYPE": UTF8, "LANG": UTF8}),
        ({"LANG": "C"}, {"LC_CTYPE": UTF8, "LANG": UTF8}),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, {"LC_CTYPE": UTF8, "LANG": UTF8}),
        ({"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "en_US.UTF-8"}, {"LC_CTYPE": UTF8, "LANG": UTF8}),
        ({"LC_ALL": "", "LANG": "de_DE.utf8"}, {"LC_ALL": "", "LANG": "de_DE.utf8"}),
        ({"LC_ALL": "en_US.UTF-8"}, {"LC_ALL": "en_US.UTF-8"}),
        ({"LANG": "de_DE.UTF-8@euro"}, {"LANG": "de_DE.UTF-8@euro"}),
    ],
)
def test_a_command_reads_its_text_as_utf8(base: dict[str, str], locale: dict[str, str]) -> None:
    filtered = filtered_environment(base, Policy(WORKSPACE, "/home/me"), WORKSPACE)
    assert {name: value for name, value in filtered.items() if name.startswith(("LC_", "LANG"))} == locale


@pytest.mark.parametrize(
    ("base", "policy", "expected"),
    [
        ({"MY_LLM": "k"}, {"secret_variables": frozenset({"MY_LLM"})}, {}),
        ({"GITHUB_TOKEN": "t"}, {"shell_env_pass": ("GITHUB_TOKEN",)}, {"GITHUB_TOKEN": "t"}),
        ({"NODE_OPTIONS": "--x"}, {"shell_env_pass": ("NODE_OPTIONS",)}, {"NODE_OPTIONS": "--x"}),
        ({"GITHUB_TOKEN": "t"}, {"shell_env_pass": ("*",)}, {}),
        ({"BASH_ENV": "/x", "LD_PRELOAD": "/y"}, {"shell_env_pass": ("BASH_ENV", "LD_PRELOAD")}, {}),
    ],
)
def test_only_a_variable_named_in_full_is_passed_and_none_that_steers_the_shell(
    base: dict[str, str], policy: dict[str, Any], expected: dict[str, str]
) -> None:
    assert given(base, **policy) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (":/usr/bin::.:bin:../x:/bin:", "/usr/bin:/bin"),
        ("/projects/space/bin:/usr/bin:/projects/space:/bin", "/usr/bin:/bin:/projects/space/bin:/projects/space"),
        ("/projects/spaceship/bin:/usr/bin", "/projects/spaceship/bin:/usr/bin"),
        ("/projects/other/../space/bin:/bin", "/bin:/projects/other/../space/bin"),
        ("/bin:/usr/bin:/bin", "/bin:/usr/bin"),
        ("", DEFAULT_PATH),
        (".", DEFAULT_PATH),
    ],
)
def test_the_path_holds_absolute_folders_and_the_workspace_last(path: str, expected: str) -> None:
    filtered = filtered_environment({"PATH": path}, Policy(workspace=WORKSPACE, home="/home/me"), WORKSPACE)
    assert filtered["PATH"] == expected


def test_a_folder_that_links_into_the_workspace_counts_as_inside(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "bin").mkdir(parents=True)
    os.symlink(workspace / "bin", tmp_path / "link")
    policy = Policy(workspace=str(workspace), home="/home/me")
    filtered = filtered_environment({"PATH": f"{tmp_path}/link:/bin"}, policy, str(workspace))
    assert filtered["PATH"] == f"/bin:{tmp_path}/link"


def test_git_is_told_to_run_nothing_of_the_repositorys() -> None:
    policy = Policy(workspace=WORKSPACE, home="/home/me")
    filtered = filtered_environment({"GIT_CONFIG_COUNT": "9", "GIT_CONFIG_KEY_0": "core.pager"}, policy, WORKSPACE)
    count = int(filtered["GIT_CONFIG_COUNT"])
    assert {filtered[f"GIT_CONFIG_KEY_{n}"]: filtered[f"GIT_CONFIG_VALUE_{n}"] for n in range(count)} == {
        "safe.bareRepository": "explicit",
        "core.fsmonitor": "false",
        "core.pager": "cat",
    }
    assert filtered["GIT_PAGER"] == "cat"


@pytest.mark.parametrize(("only_reads", "ran"), [(False, ["hook", "gpg"]), (True, [])])
def test_git_runs_no_hook_and_no_gpg_for_a_command_that_only_reads(
    tmp_path: Path, only_reads: bool, ran: list[str]
) -> None:
    workspace, marks = tmp_path / "ws", tmp_path / "marks"
    policy = Policy(workspace=str(workspace), home=str(tmp_path))
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def git(*words: str, **more: str) -> None:
        subprocess.run(["git", *words], cwd=workspace, env=base | more, check=False, capture_output=True)

    workspace.mkdir()
    git("init", "-q")
    for name, place in (("hook", ".git/hooks/post-index-change"), ("gpg", "gpg")):
        (workspace / place).parent.mkdir(exist_ok=True)
        (workspace / place).write_text(f"#!/bin/sh\necho {name} >>{marks}\nexit 1\n")
        (workspace / place).chmod(0o755)
    (workspace / "a").write_text("a")
    git("add", "a")
    commit = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n"
    signed = f"{commit}gpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\nx\n"
    (tmp_path / "commit").write_text(signed)
    written = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", str(tmp_path / "commit")],
        cwd=workspace, env=base, check=True, capture_output=True, text=True,
    )  # fmt: skip
    git("config", "gpg.program", str(workspace / "gpg"))
    marks.unlink(missing_ok=True)
    os.utime(workspace / "a", (1, 1))
    environment = filtered_environment(base, policy, str(workspace), only_reads=only_reads)
    git("status", **environment)
    git("log", "--show-signature", written.stdout.strip(), **environment)
    assert (marks.read_text().split() if marks.exists() else []) == ran


MENTIONED = {"MY_TOKEN": "x", "MY_TOKEN_2": "y", "DATABASE_URL": "postgres://me:hunter2@host/db", "HOME": "/home/me"}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("echo $MY_TOKEN", ["MY_TOKEN"]),
        ('curl -H "Authorization: ${MY_TOKEN:-none}" host', ["MY_TOKEN"]),
        ("echo ${#MY_TOKEN} ${!MY_TOKEN}", ["MY_TOKEN"]),
        ("printenv MY_TOKEN", ["MY_TOKEN"]),
        ("python -c \"import os; os.environ['MY_TOKEN']\"", ["MY_TOKEN"]),
        ("test $MY_TOKEN=x", ["MY_TOKEN"]),
        ("psql $DATABASE_URL; echo $MY_TOKEN", ["DATABASE_URL", "MY_TOKEN"]),
        ("MY_TOKEN=x make", []),
        ("MY_TOKEN=x; echo $MY_TOKEN", ["MY_TOKEN"]),
        ("echo $NOT_MY_TOKEN $MY_TOKENS $my_token", []),
        ("echo $MY_TOKEN_2", ["MY_TOKEN_2"]),
        ("ls $HOME", []),
        ("make", []),
    ],
)
def test_a_variable_that_a_command_mentions_and_does_not_get_is_noted(command: str, names: list[str]) -> None:
    found = withheld_names([command], MENTIONED, Policy(WORKSPACE, "/home/me"))
    assert list(found) == names
    if names:
        note = withheld_note(found)
        assert [name for name in sorted(MENTIONED) if f"`{name}`" in note] == names
        assert "hunter2" not in note
        assert note.startswith("withheld: ")
        assert "shell.env.pass" in note


def test_a_variable_that_is_passed_or_set_for_the_agent_is_not_noted() -> None:
    policy = Policy(WORKSPACE, "/home/me")
    passing = Policy(WORKSPACE, "/home/me", shell_env_pass=("my_token",))
    assert withheld_names(["echo $MY_TOKEN"], MENTIONED, passing) == ()
    assert withheld_names(["echo $MY_TOKEN"], MENTIONED, policy, {"MY_TOKEN": "own"}) == ()
    own = Policy(WORKSPACE, "/home/me", secret_variables=frozenset({"HOME"}))
    assert withheld_names(["ls $HOME"], MENTIONED, own) == ("HOME",)


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("{home}/.cargo/bin:/usr/bin:{ws}/bin:/opt/tools/bin:/bin", "/usr/bin:/bin"),
        ("{home}/linked:/usr/bin", "{home}/linked:/usr/bin"),
        ("{home}/.cargo/bin", "/dev/null"),
        ("", "/usr/local/bin:/usr/bin:/bin"),
    ],
)
def test_a_command_that_only_reads_finds_programs_of_the_system_alone(path: str, kept: str, tmp_path: Path) -> None:
    """A second line: the gate asks where another program would run."""
    home, workspace = tmp_path / "home", tmp_path / "ws"
    (home / ".cargo/bin").mkdir(parents=True)
    (home / "linked").symlink_to("/usr/lib")
    policy = Policy(workspace=str(workspace), home=str(home))
    places = {"home": str(home), "ws": str(workspace)}
    base = {"PATH": path.format(**places)}
    assert filtered_environment(base, policy, str(workspace), only_reads=True)["PATH"] == kept.format(**places)
