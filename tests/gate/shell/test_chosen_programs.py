"""A command that is known to read needs no rule only where no file of others chooses the program that runs."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any

import pytest

from countersign.gate.probes import disk, git_process
from countersign.gate.probes.git_process import GitCommand
from countersign.gate.shell.effects import chosen_programs
from countersign.gate.shell.files import git_settings

from .asked import decide, judge, make_git_folder


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders `project`, a workspace, and several with programs. All but those in `home` are the system's."""
    for folder in ("bin", "home/.pyenv/shims", "home/mise/shims", "home/.volta/bin", "tools/shims"):
        for name in ("python", "node", "rg", "jq", "tsc", "ruby", "cargo", *(("git",) if folder == "bin" else ())):
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\x7fELF")
            path.chmod(0o755)
    (tmp_path / "project/sub").mkdir(parents=True)
    (tmp_path / "project/a.txt").write_text("x")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    of_system = (f"{tmp_path}/{folder}/" for folder in ("bin", "lib", "other", "outside", "opt", "usr", "tools"))
    monkeypatch.setattr(chosen_programs, "SYSTEM_FOLDERS", (*chosen_programs.SYSTEM_FOLDERS, *of_system))
    return tmp_path


def _no_files(_: tuple[GitCommand, GitCommand]) -> frozenset[str]:
    """What git names in a repository that it would take for one."""
    return frozenset()


def check(world: Path, command: str, *, folder: str = "project", **more: Any) -> str:
    return decide(command, workspace=str(world / folder), home=str(world / "home"), mode="default", **more)


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("cargo --version", "rust-toolchain.toml"),
        ("rustc --version", "rust-toolchain"),
        ("ruby --version", ".jruby.java_opts"),
    ],
)
def test_a_file_above_the_workspace_or_in_another_folder_chooses_the_program(
    command: str, file: str, world: Path
) -> None:
    assert check(world, command) == "allow"
    write(world / "home" / file)
    assert check(world, command) == "allow"
    (world / "home" / file).unlink()
    link(world / "home" / file, world / "project/settings")
    assert check(world, command) == "ask"
    (world / "home" / file).unlink()
    write(world / "beside" / file)
    other = str(world / "beside")
    assert check(world, command, cwd=other, additionalDirectories=[other]) == "ask"
    (world / "beside/in").mkdir()
    (world / "project/link").symlink_to(world / "beside/in")
    assert check(world, f"cd link && {command}", additionalDirectories=[other]) == "ask"
    write(world / "project" / file)
    assert check(world, command, folder="project/sub") == "ask"


def test_the_home_is_its_persons_own_unless_it_is_the_workspace(world: Path) -> None:
    (world / "home/code").mkdir()
    write(world / "home/rust-toolchain")
    assert check(world, "cargo --version", folder="home/code") == "allow"
    assert check(world, "wc a.txt; cat a.txt", folder="home") == "allow"
    assert check(world, "node --version", folder="home") == "ask"
    assert check(world, "cargo --version", folder="home") == "ask"


@pytest.mark.parametrize("shims", ["home/mise/shims", "home/.pyenv/shims", "home/.volta/bin", "tools/shims"])
def test_what_a_version_manager_runs_is_chosen_by_many_files(
    shims: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("node --version", "timeout 5 node --version", "jq . a.txt", "jq . a.txt | rg x"):
        monkeypatch.setenv("PATH", f"{world}/bin:{world}/{shims}")
        assert check(world, command) == "allow"
        monkeypatch.setenv("PATH", f"{world}/{shims}:{world}/bin")
        assert check(world, command) == "ask"
    assert check(world, "cat a.txt; echo x; [ -f a.txt ]") == "allow"
    assert check(world, "jq . a.txt", allow=["Bash(jq:*)"]) == "allow"


def test_a_shim_may_run_the_next_program_of_the_name_which_is_in_the_workspace(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(world / "project/.venv/bin/python", "#!/bin/sh\n")
    (world / "project/.venv/bin/python").chmod(0o755)
    for path, decision in (
        ("home/.pyenv/shims", "ask"),
        ("home/.pyenv/shims home/mise/shims", "ask"),
        ("bin home/.pyenv/shims", "allow"),
        ("bin", "allow"),
    ):
        folders = [*path.split(), "project/.venv/bin"]
        monkeypatch.setenv("PATH", ":".join(str(world / folder) for folder in folders))
        assert check(world, "python --version") == decision, path
        assert check(world, "cat a.txt") == "allow", path


def test_a_link_elsewhere_leads_to_a_program_of_the_workspace(world: Path) -> None:
    write(world / "project/bin/bat", "#!/bin/sh\n")
    (world / "project/bin/bat").chmod(0o755)
    write(world / "bin/rev", "\x7fELF")
    (world / "bin/rev").chmod(0o755)
    for name in ("file", "tree"):
        (world / "bin" / name).symlink_to(world / "project/bin/bat")
    assert [check(world, f"{name} a.txt") for name in ("file", "tree", "rev")] == ["ask", "ask", "allow"]
    assert check(world, "timeout 5 tree .") == "ask"


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("#!/usr/bin/env gizmo\n", "ask"),
        ("#! /usr/bin/env -S A=b gizmo --flag\n", "ask"),
        ("#!PROJECT/.venv/bin/gizmo\n", "ask"),
        ("#!/bin/sh\nexec gizmo --version\n", "ask"),
        ("#!/usr/bin/env wrapped\n", "ask"),
        ("#!/usr/bin/env python\n", "ask"),
        ("no line of an interpreter", "ask"),
        ("\x7fELF gizmo", "allow"),
    ],
)
def test_a_script_from_elsewhere_may_start_a_program_of_the_workspace(
    text: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = ("outside/tokei", "outside/wrapped", "outside/python", ".venv/bin/gizmo", ".venv/bin/python")
    for place in (f"project/{name}" if name.startswith(".") else name for name in programs):
        write(world / place, "#!/usr/bin/env gizmo\n" if place == "outside/wrapped" else "\x7fELF")
        (world / place).chmod(0o755)
    write(world / "outside/tokei", text.replace("PROJECT", str(world / "project")))
    monkeypatch.setenv("PATH", f"{world}/project/.venv/bin:{world}/outside:/usr/bin:/bin")
    assert check(world, "tokei --version") == check(world, "timeout 5 tokei --version") == decision
    assert check(world, "cat a.txt") == "allow"


SETTINGS = {
    "a link of the home": lambda home, work: (home / ".batrc").symlink_to(work / "batrc"),
    "a link to a folder": lambda home, work: (home / ".config/bat").symlink_to(work / "bat"),
    "a link in a folder": lambda home, work: link(home / ".config/bat/config", work / "bat"),
    "a link in a program's folder": lambda home, work: link(home / ".aws/config", work / "aws"),
    "a link three folders deep": lambda home, work: link(home / ".rustup/toolchains/own", work / "build"),
    "a link behind a linked folder": lambda home, work: (
        link(home / ".rustup", work.parent / "disk/rustup"),
        link(work.parent / "disk/rustup/toolchains/own", work / "build"),
    ),
    "a link behind the folder of all": lambda home, work: (
        (home / ".config").rename(work.parent / "c") and link(home / ".config", work.parent / "c"),
        link(work.parent / "c/curlrc", work / "curlrc"),
    ),
    "a link to another link": lambda home, work: (link(home / ".l", home / ".m"), link(home / ".m", work / "bat")),
    "a link to the folder of all": lambda home, work: (
        (home / ".config").rename(work / "c") and link(home / ".config", work / "c")
    ),
}


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_of_the_home_may_lie_in_the_workspace(kind: str, world: Path) -> None:
    home = world / "home"
    (home / ".config").mkdir()
    link(home / ".config/other", world / "beside")
    link(home / ".cache/x/y/z", world / "project")
    for command in ("file a.txt", "timeout 5 file a.txt", "gcc --version"):
        assert check(world, command) == "allow"
    SETTINGS[kind](home, world / "project")
    for command in ("file a.txt", "timeout 5 file a.txt", "gcc --version"):
        assert check(world, command) == "ask"
    assert check(world, "cat a.txt; wc -l a.txt") == "allow"
    assert check(world, "jq . a.txt") == "ask"


def test_a_script_is_in_the_set_only_where_it_is_known_what_it_loads(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cmake", "black", "aws", "egrep", "which", "tar", "gzip"):
        shell = name in {"egrep", "which"}
        write(world / "bin" / name, "#!/bin/sh\n" if shell else "#!/usr/bin/python3\nfrom cmake import cmake\n")
        (world / "bin" / name).chmod(0o755)
    scripts = ("cmake --version", "black --version", "timeout 5 aws --version", "tar tf a.txt")
    for command in scripts:
        assert check(world, command) == "ask"
    for command in ("egrep x a.txt", "which ls"):
        assert check(world, command) == "allow"
    write(world / "bin/tar", "\x7fELF")
    assert check(world, "tar tf a.txt") == "ask"  # it may start gzip
    write(world / "bin/gzip", "\x7fELF")
    assert check(world, "tar tf a.txt") == "allow"
    monkeypatch.setenv("PATH", f"{world}/bin:{world}/project/bin")
    assert check(world, "egrep x a.txt") == check(world, "tar tf a.txt") == "ask"  # what these start may lie there
    assert check(world, "cargo --version") == "allow"


@pytest.mark.parametrize(
    ("folder", "decision"),
    [
        ("home/.config", "ask"), ("home/.config/nvim", "ask"), ("home/.aws", "ask"), ("home/.dot", "ask"),
        ("home/.rustup/toolchains/own", "ask"),
        ("home/.cursor/worktrees/project/abc", "allow"), ("home/code", "allow"),
    ],
)  # fmt: skip
def test_the_workspace_may_be_a_folder_of_settings(folder: str, decision: str, world: Path) -> None:
    (world / folder).mkdir(parents=True)
    assert check(world, "gcc --version", folder=folder) == decision
    assert check(world, "ls", folder=folder) == "allow"


@pytest.mark.parametrize(
    ("value", "decision"),
    [
        ("project", "ask"),
        ("project/c", "ask"),
        ("home/.config", "allow"),
        (".", "ask"),
        ("home/.config:project", "ask"),
    ],
)
@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_DATA_DIRS"])
def test_a_variable_may_lead_settings_into_the_workspace(
    variable: str, value: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, ":".join(str(world / each) if each != "." else each for each in value.split(":")))
    assert check(world, "file a.txt") == decision


@pytest.mark.parametrize(
    ("variable", "decision"),
    [("GCC_HOME", "ask"), ("RUSTUP_HOME", "ask"), ("TMPDIR", "allow"), ("XDG_DATA_DIRS", "ask")],
)
def test_links_where_a_variable_leads_may_lead_settings_into_the_workspace(
    variable: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link(world / "elsewhere/toolchains/own", world / "project/build")
    assert check(world, "gcc --version") == check(world, "cargo --version") == "allow"
    monkeypatch.setenv(variable, str(world / "elsewhere"))
    assert check(world, "gcc --version") == check(world, "cargo --version") == decision
    assert check(world, "cat a.txt") == "allow"


def test_the_home_that_the_system_knows_counts_beside_the_variable(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_home_of_person", lambda _: str(world / "person"))
    assert check(world, "jq . a.txt") == "allow"
    link(world / "person/.jq", world / "project/.jq")
    assert check(world, "jq . a.txt") == "ask"


def test_a_home_opened_by_a_link_has_its_settings_where_that_leads(world: Path) -> None:
    (world / "home/.rustup").mkdir()
    (world / "opened").symlink_to(world / "home")
    for home in ("home", "opened"):
        where = {"workspace": str(world / "home/.rustup"), "home": str(world / home), "mode": "default"}
        assert decide("rustc --version", **where) == "ask"


@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link", "no right to run", "no interpreter"])
def test_what_is_no_program_stands_for_none(kind: str, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bash and ``env`` go on to the next of the name."""
    write(world / "project/bin/tree", "#!/bin/sh\n")
    (world / "project/bin/tree").chmod(0o755)
    monkeypatch.setenv("PATH", f"{world}/outside:{world}/project/bin")
    other = world / "outside/tree"
    write(other, "\x7fELF")
    other.chmod(0o755)
    assert check(world, "tree src") == "allow"
    other.unlink()
    match kind:
        case "folder":
            other.mkdir()
        case "pipe":
            os.mkfifo(other, 0o755)
        case "dangling link":
            other.symlink_to("gone")
        case "no interpreter":
            write(other, "#! /nowhere/python -s\n")
            other.chmod(0o755)
        case _:
            write(other)
            other.chmod(0o644)
    assert check(world, "tree src") == "ask"


@pytest.mark.parametrize(
    ("command", "variable", "value", "decision"),
    [
        ("python --version", "PYTHONPATH", "{ws}", "allow"),
        ("node --version", "NODE_V8_COVERAGE", ".cov/x", "ask"),
        ("node --version", "NODE_V8_COVERAGE", "/elsewhere", "allow"),
        ("file a.txt", "MAGIC", "{ws}/magic", "ask"),
        ("file a.txt", "MAGIC", "/opt/x:magic", "ask"),
        ("file a.txt", "MAGIC", "/opt/magic", "allow"),
        ("rustc --version", "RUSTUP_HOME", "{ws}/rustup", "ask"),
    ],
)
def test_a_variable_leads_a_program_into_the_workspace(
    command: str, variable: str, value: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(world, command) == "allow"
    monkeypatch.setenv(variable, value.format(ws=world / "project"))
    assert check(world, command) == decision


def test_a_folder_of_the_path_or_a_variable_may_lead_into_the_workspace_by_a_link(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("eza", "ruby"):
        write(world / f"project/node_modules/.bin/{name}", "#!/bin/sh\n")
        (world / f"project/node_modules/.bin/{name}").chmod(0o755)
    (world / "opened").symlink_to(world / "project")
    for workspace, spelled in (("opened", "project"), ("project", "opened"), ("opened", "opened")):
        monkeypatch.setenv("PATH", f"{world}/bin:{world}/{spelled}/node_modules/.bin")
        assert check(world, "eza", folder=workspace) == "ask"
        assert check(world, "ruby --version", folder=workspace) == "allow"
        monkeypatch.setenv("GEM_HOME", f"{world}/{spelled}/src")
        assert check(world, "ruby --version", folder=workspace) == "ask"
        monkeypatch.delenv("GEM_HOME")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("cargo --version", "others may choose which program runs as `cargo`"),
        (
            "timeout 5 rg x a.txt",
            "`rg` is not one of the system's programs on this machine, and what it loads is not known",
        ),
        ("jq . a.txt", "`jq` is a script on this machine, and what it loads is not known"),
    ],
)
def test_the_reason_names_the_program(command: str, reason: str, world: Path) -> None:
    write(world / "project/rust-toolchain")
    (world / "bin/rg").rename(world / "home/.volta/rg")
    link(world / "bin/rg", world / "home/.volta/rg")
    write(world / "bin/jq", "#!/bin/sh\n")
    judged = judge(command, workspace=str(world / "project"), home=str(world / "home"))
    assert [finding.near_miss_reason for finding in judged.findings if finding.kind == "command"] == [reason]


def test_behind_an_activated_environment_readers_need_no_rule_but_its_own_programs_do(tmp_path: Path) -> None:
    for name in (".venv/bin/activate", "src/a.py", "other/bin/activate"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    allow = [
        "Bash(source .venv/bin/activate)",
        "Bash(source other/bin/activate)",
        "Bash(source src/a.py)",
        "Bash(pytest:*)",
    ]
    where = {"workspace": str(tmp_path), "home": "/nowhere"}
    tests = "source .venv/bin/activate && pytest -q 2>&1 | tail -5"
    assert decide(tests, allow=allow, **where) == "allow"
    assert decide("source .venv/bin/activate && cd src && cat a.py", allow=allow, **where) == "allow"
    for other in (
        "source .venv/bin/activate x && tail -5 src/a.py",
        "source other/bin/activate && tail -5 src/a.py",
        "source src/a.py && tail -5 src/a.py",
        "source src/../.venv/bin/activate && tail -5 src/a.py",
        ". .venv/bin/activate && tail -5 src/a.py",
        "echo x > .venv/bin/activate; source .venv/bin/activate && tail -5 src/a.py",
    ):
        assert decide(other, allow=allow, **where) == "ask", other
    (tmp_path / ".venv/bin/tail").touch()
    assert decide(tests, allow=allow, **where) == "ask"
    again = "for i in 1 2; do tail -5 src/a.py; source .venv/bin/activate; done"
    assert decide(again, allow=allow, **where) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "egrep x src/a.py", "fgrep x src/a.py", "zcat src/a.gz", "git submodule status", "npm --version", "npm -v",
        "tsc --version", "gradle --version", "mvn --version", "scala --version", "aws --version", "shasum src/a.py",
        "cat src/a.py | egrep x", "timeout 5 npm --version", "ls src | xargs fgrep x", "git -C src submodule status",
    ],
)  # fmt: skip
def test_behind_an_activated_environment_what_may_be_a_script_needs_a_rule(tmp_path: Path, command: str) -> None:
    where = activated_environment(tmp_path)
    assert (
        decide(f"source .venv/bin/activate && {command}", allow=["Bash(source .venv/bin/activate)"], **where) == "ask"
    )


def test_behind_an_activated_environment_everyday_reading_needs_no_rule(tmp_path: Path) -> None:
    where = activated_environment(tmp_path)
    allow = ["Bash(source .venv/bin/activate)", "Bash(pytest:*)"]
    everyday = "ls && cat src/a.py && grep x src/a.py && git status && git diff"
    for text in (
        "pytest -q | tail -5",
        everyday,
        "git log --oneline | head -3; pwd; wc -l src/a.py; find . -name a.py",
    ):
        assert decide(f"source .venv/bin/activate && {text}", allow=allow, **where) == "allow", text


@pytest.mark.parametrize(
    "settings",
    ['[diff "x"]\n\ttextconv = exiftool\n', "[core]\n\tfsmonitor = query-watchman\n", "[log]\n\tshowSignature\n"],
)
def test_behind_an_activated_environment_git_must_start_nothing_by_its_settings(tmp_path: Path, settings: str) -> None:
    where = activated_environment(tmp_path)
    write(tmp_path / "home/.gitconfig", settings)
    where["home"] = str(tmp_path / "home")
    allow = ["Bash(source .venv/bin/activate)"]
    assert decide("git diff", **where) == "allow"
    assert decide("source .venv/bin/activate && git diff", allow=allow, **where) == "ask"


def activated_environment(folder: Path) -> dict[str, str]:
    """Make a workspace with an environment, a file and a repository."""
    for name in (".venv/bin/activate", "src/a.py"):
        write(folder / "ws" / name)
    make_git_folder(folder / "ws/.git")
    write(folder / "ws/.git/config", "[core]\n\tbare = false\n")
    return {"workspace": str(folder / "ws"), "home": "/nowhere"}


@pytest.mark.parametrize(
    ("helper", "command"),
    [("lzip", "tar tf a.txt"), ("compress", "tar -tvf a.txt"), ("lzop", "tar -tf a.txt"), ("gzip", "zcat a.gz")],
)
def test_a_program_that_another_starts_for_what_lies_in_a_file_counts(
    helper: str, command: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(world / "project/a.gz")
    for name in ("tar", "gzip", "zcat", "cat"):
        write(world / "bin" / name, "\x7fELF")
        (world / "bin" / name).chmod(0o755)
    assert check(world, command) == "allow"
    (world / "bin" / helper).unlink(missing_ok=True)
    write(world / "project/bin" / helper)
    (world / "project/bin" / helper).chmod(0o755)
    (world / "bin" / helper).symlink_to(world / "project/bin" / helper)
    assert check(world, command) == "ask"
    (world / "bin" / helper).unlink()
    monkeypatch.setenv("PATH", f"{world}/bin:{world}/project/bin")
    assert check(world, command) == "ask"
    assert check(world, "cat a.txt") == "allow"


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("type", "timeout 5 type ls"),
        ("type", "nice nice type ls"),
        ("command", "timeout 5 command ls"),
        ("command", "nice command -v ls"),
        ("type", "echo ls | xargs type"),
    ],
)
def test_behind_a_wrapper_there_are_no_builtins(
    program: str, command: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("timeout", "nice", "xargs", "ls"):
        write(world / "bin" / name)
        (world / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{world}/bin:{world}/project/bin")
    write(world / "project/bin" / program)
    (world / "project/bin" / program).chmod(0o755)
    assert check(world, command) == "ask"
    assert check(world, "type ls; command -v ls") == "allow"


@pytest.mark.parametrize(
    "command", ["timeout 5 ls", "ls | timeout 5 cat", "nice timeout 5 ls", "timeout 5 timeout 5 ls"]
)
def test_a_rule_for_what_a_wrapper_runs_counts_only_behind_a_wrapper_from_outside(
    command: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, name in (("bin", "ls"), ("bin", "cat"), ("bin", "nice"), ("project/bin", "timeout")):
        write(world / folder / name)
        (world / folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{world}/bin:{world}/project/bin")
    rules = ["Bash(ls:*)", "Bash(cat:*)"]
    assert check(world, command, allow=rules) == "ask"
    write(world / "bin/timeout")
    (world / "bin/timeout").chmod(0o755)
    assert check(world, command, allow=rules) == "allow"


def test_a_program_may_be_replaced_by_a_link_into_the_workspace(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `npm link` does, which puts one in front of others, too."""
    monkeypatch.setenv("PATH", f"{world}/outside:{world}/bin")
    assert check(world, "ruby --version") == check(world, "node --version") == "allow"
    for name in ("ruby", "node"):
        write(world / "project/bin" / name, "\x7fELF")
        (world / "project/bin" / name).chmod(0o755)
    (world / "bin/ruby").unlink()
    link(world / "bin/ruby", world / "project/bin/ruby")
    link(world / "outside/node", world / "project/bin/node")
    assert check(world, "ruby --version") == check(world, "node --version") == "ask"


TEXTCONV = '[diff "exif"]\n\ttextconv = {program}\n'


@pytest.mark.parametrize(
    ("program", "text", "decision"),
    [
        ("pdfinfo", "\x7fELF", "allow"),
        ("gpg --decrypt", "\x7fELF", "allow"),
        ("exiftool", "#!/usr/bin/perl\n", "ask"),
        ("jq -S .", "#!/bin/sh\n", "ask"),
        ("LC_ALL=C pdfinfo | exiftool", "#!/usr/bin/perl\n", "ask"),
    ],
)
def test_a_program_of_a_persons_setting_of_git_counts_like_one_that_reads(
    program: str, text: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes a text of a file runs at `git diff`, by attributes that the repository names."""
    monkeypatch.setattr(git_process, "files_named", _no_files)
    make_git_folder(world / "project/.git")
    name = "exiftool" if "exiftool" in program else program.partition(" ")[0]
    for each in {name, "pdfinfo", "git"}:
        write(world / "bin" / each, text if each == name else "\x7fELF")
        (world / "bin" / each).chmod(0o755)
    write(world / "home/.gitconfig", TEXTCONV.format(program=program))
    assert check(world, "git diff") == decision
    monkeypatch.setenv("PATH", f"{world}/bin:{world}/project/bin")
    assert check(world, "git diff") == decision
    write(world / "project/bin" / name, "\x7fELF")
    (world / "project/bin" / name).chmod(0o755)
    assert check(world, "git diff") == "ask"
    (world / "project/bin" / name).unlink()
    link(world / "home/.gnupg/gpg.conf", world / "project/gnupg/gpg.conf")
    assert check(world, "git diff") == "ask"
    write(world / "home/.gitconfig", '[filter "lfs"]\n\tprocess = git-lfs filter-process\n')
    assert check(world, "git diff") == "allow"


@pytest.mark.parametrize(
    ("name", "line", "decision"),
    [
        ("node", "#!/bin/dash", "ask"),
        ("git", "#!/bin/dash", "ask"),
        ("egrep", "#!/bin/dash", "allow"),
        ("egrep", "#!/bin/dash -e", "allow"),
        ("egrep", "#!bin/dash", "ask"),
        ("egrep", "#!dash", "ask"),
        ("egrep", "#!/usr/bin/env dash", "ask"),
        ("egrep", "#!/usr/bin/python3.12", "ask"),
    ],
)
def test_a_known_script_has_a_known_interpreter(name: str, line: str, decision: str, world: Path) -> None:
    for runner in ("/usr/bin/python3.12", "/bin/dash"):
        line = re.sub(f"(?<=!){runner}", f"{world}{runner}", line)
        write(world / runner[1:], "\x7fELF")
        (world / runner[1:]).chmod(0o755)
    write(world / "bin" / name, f"{line}\n")
    (world / "bin" / name).chmod(0o755)
    command = {"egrep": "egrep x a.txt", "git": "git status"}.get(name, f"{name} --version")
    make_git_folder(world / "project/.git")
    assert check(world, command) == decision


def test_a_shim_may_be_what_another_program_starts(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("bin/tar", "home/mise/shims/xz", "bin/egrep", "bin/which"):
        write(world / place, "#!/bin/sh\n" if place in {"bin/egrep", "bin/which"} else "\x7fELF")
        (world / place).chmod(0o755)
    for shims, decision in (("tools", "allow"), ("home/.pyenv/shims", "allow"), ("home/mise/shims", "ask")):
        monkeypatch.setenv("PATH", f"{world}/{shims}:{world}/bin")
        assert check(world, "tar tf a.txt") == decision
        assert check(world, "egrep x a.txt; which ls") == "allow"
    write(world / "home/mise/shims/grep", "\x7fELF")
    (world / "home/mise/shims/grep").chmod(0o755)
    assert check(world, "egrep x a.txt") == check(world, "grep x a.txt") == "ask"


@pytest.mark.parametrize(
    ("variable", "value", "decision"),
    [
        ("LIBRARY_PATH", "/usr/local/cuda/lib64:", "ask"),
        ("LIBRARY_PATH", ":/usr/local/cuda/lib64", "ask"),
        ("COMPILER_PATH", "/a::/b", "ask"),
        ("COMPILER_PATH", ".:/a", "ask"),
        ("COMPILER_PATH", "./a", "ask"),
        ("COMPILER_PATH", "tools/bin:/a", "ask"),
        ("LIBRARY_PATH", ":", "ask"),
        ("LIBRARY_PATH", ".", "ask"),
        ("LIBRARY_PATH", "lib:.", "ask"),
        ("LIBRARY_PATH", "lib", "ask"),
        ("LIBRARY_PATH", "/x:~/lib", "ask"),
        ("GCC_EXEC_PREFIX", "./", "ask"),
        ("XDG_CONFIG_DIRS", "/etc/xdg:", "ask"),
        ("XDG_CONFIG_DIRS", ":/etc/xdg", "ask"),
        ("XDG_DATA_DIRS", "/a::/b", "ask"),
        ("NODE_PATH", ".", "ask"),
        ("NODE_OPTIONS", "--require ./x", "ask"),
        ("RUSTUP_HOME", "$HOME/.rustup", "ask"),
        ("XDG_DATA_HOME", "@{HOME}/x", "ask"),
        ("ANY", "${HOME}/x", "ask"),
        ("ANY_CONF", "x.cnf", "ask"),
        ("XDG_CONFIG_DIRS", "/etc/xdg", "allow"),
        ("USE_CACHE", "1", "allow"),
        ("USE_CACHE", "True", "allow"),
        ("LS_COLORS", "*.tar=01;31:di=01", "allow"),
        ("EMPTY_DIR", "", "allow"),
        ("COMPILER_PATH", "/a:/b", "allow"),
        ("MANPATH", "/usr/share/man:", "allow"),
        ("WINDOWPATH", "2", "allow"),
        ("NIX_PATH", "nixpkgs=/nix/x", "allow"),
    ],
)
def test_an_empty_or_relative_folder_of_a_variable_is_the_one_where_a_program_runs(
    variable: str, value: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert check(world, "gcc --version") == decision
    assert check(world, "cat a.txt") == "allow"


@pytest.mark.parametrize("runner", ["bin/sh", "home/bin/sh"])
def test_the_shell_of_a_known_script_is_one_of_the_systems_programs(runner: str, world: Path) -> None:
    write(world / "bin/egrep", f"#!{world}/{runner}\n")
    (world / "bin/egrep").chmod(0o755)
    write(world / runner, "\x7fELF")
    (world / runner).chmod(0o755)
    assert check(world, "egrep x a.txt") == ("ask" if runner.startswith("home") else "allow")
    write(world / runner, '#!/bin/sh\n. ./hook; exec /usr/bin/sh "$@"\n')
    assert check(world, "egrep x a.txt") == "ask"


@pytest.mark.parametrize("command", ["git status", "jq . a.txt", "grep x a.txt", "cat a.txt", "rg x a.txt"])
def test_a_wrapper_script_in_the_place_of_a_program_is_not_known(command: str, world: Path) -> None:
    make_git_folder(world / "project/.git")
    name = command.split(maxsplit=1)[0]
    for text, decision in (("\x7fELF", "allow"), ("#!/bin/sh\n. ./hook\n", "ask"), ("\x7fELF", "allow")):
        write(world / "bin" / name, text)
        (world / "bin" / name).chmod(0o755)
        assert check(world, command) == decision


@pytest.mark.parametrize(
    ("way", "decision"),
    [
        ("bin", "allow"),
        ("bin lib", "allow"),
        ("elsewhere", "ask"),
        ("home/.cargo/bin", "ask"),
        ("bin home/.cargo/bin", "ask"),
        ("home/bin lib", "ask"),
        ("bin home/x lib", "ask"),
        ("bin mise/shims lib", "ask"),
        ("linked lib", "ask"),
    ],
)
def test_only_the_systems_programs_are_what_their_names_say(
    way: str, decision: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others, and those behind a link elsewhere, choose what they run or load by files that are not known here."""
    monkeypatch.setattr(
        chosen_programs,
        "SYSTEM_FOLDERS",
        tuple(f"{world}/{each}/" for each in ("bin", "lib", "home", "mise", "system")),
    )
    make_git_folder(world / "project/.git")
    link(world / "linked", world / "home/mise/shims")
    for name in ("git", "jq", "node", "cat", "echo"):
        folders = [world / each for each in way.split()]
        for folder, behind in itertools.pairwise(folders):
            (folder / name).unlink(missing_ok=True)
            link(folder / name, behind / name)
        write(folders[-1] / name, "\x7fELF")
        (folders[-1] / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{world}/{way.split(maxsplit=1)[0]}")
    for command in ("jq . a.txt", "node --version", "git status", "cat a.txt"):
        assert check(world, command) == decision
    assert check(world, "echo x; [ -f a.txt ]") == "allow"
    assert check(world, "jq . a.txt", allow=["Bash(jq:*)"]) == "allow"


def test_a_link_of_a_home_that_is_the_root_is_like_any(world: Path) -> None:
    assert decide("jq . a.txt", workspace=str(world / "project"), home="/", mode="default") == "allow"


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("{ws}/build/lib", "ask"),
        ("/x:{ws}", "ask"),
        ("{ws}-other/lib", "allow"),
        ("/x{ws}/lib", "allow"),
        ("", "allow"),
    ],
)
@pytest.mark.parametrize("before", [10, 9_000_000])
def test_a_program_may_load_libraries_of_the_workspace_where_its_file_names_them(
    before: int, text: str, decision: str, world: Path
) -> None:
    """Its RUNPATH does, where it was built there and copied."""
    named = text.format(ws=world / "project").encode()
    for command in ("jq . a.txt", "node --version"):
        name = command.partition(" ")[0]
        (world / "bin" / name).write_bytes(b"\x7fELF" + b"\0" * before + named + b"\0" * 10)
        assert check(world, command) == decision


def test_git_takes_no_settings_from_a_folder_that_is_spelled_relative(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_process, "files_named", _no_files)
    make_git_folder(world / "project/.git")
    for value, decision in (("", "allow"), (str(world / "elsewhere"), "allow"), ("cfg", "ask"), ("~/.config", "ask")):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        assert check(world, "git diff") == decision


@pytest.mark.parametrize(
    ("name", "file", "decision"),
    [
        ("gcc", "ccache", "ask"), ("clang", "distcc", "ask"), ("node", "mise", "ask"), ("cargo", "rustup", "ask"),
        ("gcc", "x86_64-linux-gnu-gcc-12", "allow"), ("gcc", "gcc-14", "allow"), ("g++", "g++-12", "allow"),
        ("python3", "python3.11", "allow"), ("python", "python3.11", "allow"), ("clang", "clang-14", "allow"),
        ("vim", "vim.basic", "allow"), ("ruby", "ruby3.1", "allow"), ("node", "nodejs", "allow"),
        ("ninja", "gninja", "allow"), ("vim", "nvim", "ask"), ("python", "py", "ask"), ("python3", "pypy3", "ask"),
        ("ruby", "ruby-build", "ask"), ("node", "nodenv", "ask"), ("clang", "clang-wrapper", "ask"),
    ],
)  # fmt: skip
def test_a_link_may_lead_to_a_program_that_runs_another(name: str, file: str, decision: str, world: Path) -> None:
    (world / "bin" / name).unlink(missing_ok=True)
    write(world / "lib" / file, "\x7fELF")
    (world / "lib" / file).chmod(0o755)
    link(world / "bin" / name, world / "lib" / file)
    assert check(world, f"{name} --version") == decision


@pytest.mark.parametrize("file", ["busybox", "coreutils", "toybox", "env-wrapper"])
def test_many_programs_may_be_one(file: str, world: Path) -> None:
    write(world / "lib" / file, "\x7fELF")
    (world / "lib" / file).chmod(0o755)
    for name in ("cat", "ls", "sort"):
        link(world / "bin" / name, world / "lib" / file)
    assert check(world, "cat a.txt | sort; ls") == ("allow" if file != "env-wrapper" else "ask")


def test_a_path_that_is_not_set_is_the_one_that_commands_get(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen_programs, "DEFAULT_PATH", f"{world}/other:{world}/bin")
    write(world / "other/tree", "#!/bin/sh\n")
    (world / "other/tree").chmod(0o755)
    for path in ("", "relative/bin"):
        monkeypatch.setenv("PATH", path)
        assert [check(world, command) for command in ("tree .", "jq . a.txt")] == ["ask", "allow"]


@pytest.mark.parametrize("file", ["home/.gitconfig", "home/.config/git/config", "etc/gitconfig"])
@pytest.mark.parametrize("kind", ["file", "hard link", "symlink"])
def test_a_persons_git_settings_may_be_a_file_of_the_workspace(
    kind: str, file: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_settings, "_SYSTEM", (str(world / "etc/gitconfig"),))
    monkeypatch.setattr(git_process, "files_named", _no_files)
    make_git_folder(world / "project/.git")
    write(world / "project/docker/gitconfig", "[user]\n\tname = x\n")
    (world / file).parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "hard link":
            (world / file).hardlink_to(world / "project/docker/gitconfig")
        case "symlink":
            link(world / file, world / "project/docker/gitconfig")
        case _:
            write(world / file, "[user]\n\tname = x\n")
    assert check(world, "git diff") == ("allow" if kind == "file" else "ask")


@pytest.mark.parametrize(
    ("workspace", "decision"),
    [
        ("/", "ask"), ("/usr", "ask"), ("/usr/lib", "ask"), ("/etc", "ask"), ("/opt", "ask"), ("/usr/local/lib", "ask"),
        ("/usr/src/app", "allow"), ("/usr/local/src/x", "allow"), ("/srv/app", "allow"), ("/opt/app", "allow"),
    ],
)  # fmt: skip
def test_a_workspace_that_holds_what_programs_load_makes_none_the_systems(workspace: str, decision: str) -> None:
    assert decide("grep -c x /dev/null", workspace=workspace, home="/nowhere", mode="default") == decision
