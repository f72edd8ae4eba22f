"""The profile of macOS's sandbox, as text, and how the server starts commands under it: no macOS reads it here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from countersign.settings.policy import RuleText
from countersign.tools.sandbox import confiner, seatbelt
from countersign.tools.sandbox.boundary import Boundary, SandboxRoot
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.sandbox.seatbelt import is_there, profile
from tests.tools.workbench import Workbench

ROOT = SandboxRoot(
    "/p/app",
    hidden_files=("/p/app/.env",),
    hidden_folders=("/p/app/deep/private",),
    read_only=("/p/app/.git/config",),
    missing_folders=("/p/app/.vscode",),
    missing_files=(("/p/app/.git/commondir", ".\n"),),
)
BOUNDARY = Boundary(
    roots=(ROOT, SandboxRoot("/p/seen", writable=False)), home="/Users/a", tools=("/Users/a/.cargo/bin",)
)


def test_a_profile_says_the_boundary() -> None:
    lines = profile(BOUNDARY, "/private/tmp/run").splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert [line for line in lines[-10:] if "regex" not in line] == [
        '(deny file-read* (subpath "/private/etc/master.passwd") (subpath "/private/etc/sudoers") '
        '(subpath "/private/etc/ssh") (subpath "/Library/Keychains"))',
        '(allow file-write-data (subpath "/dev/null") (subpath "/dev/zero") (subpath "/dev/tty") '
        '(subpath "/dev/random") (subpath "/dev/urandom"))',
        '(allow file-read* file-write* (subpath "/private/tmp/run"))',
        '(allow file-read* file-write* (subpath "/p/app"))',
        '(allow file-read* (subpath "/p/seen"))',
        '(deny file-write* (subpath "/p/app/.git/config") (subpath "/p/app/.vscode") '
        '(subpath "/p/app/.git/commondir"))',
        '(deny file-write-unlink (literal "/p/app/.git") (literal "/p/app/deep"))',
        '(deny file-read-data file-read-xattr file-write* (subpath "/p/app/.env") (subpath "/p/app/deep/private"))',
        "(deny network*)",
    ]
    assert sum(line.count("(") - line.count(")") for line in lines) == 0


def test_every_denial_stands_after_what_it_takes_from() -> None:
    lines = profile(BOUNDARY, "/private/tmp/run").splitlines()
    roots = [index for index, line in enumerate(lines) if "/p/" in line and line.startswith("(allow")]
    denials = [index for index, line in enumerate(lines) if "/p/" in line and line.startswith("(deny")]
    assert max(roots) < min(denials)


@pytest.mark.parametrize(
    ("path", "text"),
    [('/p/a"b', '"/p/a\\"b"'), ("/p/a\\b", '"/p/a\\\\b"'), ("/p/)(allow default)", '"/p/)(allow default)"')],
)
def test_a_name_ends_no_string(path: str, text: str) -> None:
    assert f"(subpath {text})" in profile(Boundary(roots=(SandboxRoot(path),), home="/h"), "/t")


def test_a_control_character_makes_no_profile() -> None:
    with pytest.raises(ValueError, match="control character"):
        profile(Boundary(roots=(SandboxRoot("/p/a\nb"),), home="/h"), "/t")


def test_a_missing_name_cannot_be_made_in_any_case_of_letters() -> None:
    (line,) = [line for line in profile(BOUNDARY, "/private/tmp/run").splitlines() if "regex" in line]
    patterns = re.findall(r'\(regex #"([^"]*)"\)', line)
    assert len(patterns) == 2
    for made in ("/p/app/.vscode", "/p/app/.VSCode/tasks.json", "/p/app/.git/CommonDir"):
        assert any(re.search(pattern, made) for pattern in patterns)
    for other in ("/p/app/.vscode2", "/p/app/x/.vscode", "/p/app/.git/config", "/p/app2/.vscode"):
        assert not any(re.search(pattern, other) for pattern in patterns)


def test_blank_files_that_are_there_are_hidden_and_missing_ones_locked() -> None:
    root = SandboxRoot(
        "/p",
        blank_files=("/p/.npmrc", "/p/.mcp.json"),
        blank_folders=("/p/.gemini",),
        missing_files=(("/p/.npmrc", ""),),
    )
    lines = profile(Boundary(roots=(root,), home="/h"), "/t").splitlines()
    (hidden,) = [line for line in lines if line.startswith("(deny file-read-data")]
    assert '"/p/.mcp.json"' in hidden
    assert '"/p/.gemini"' in hidden
    assert '"/p/.npmrc"' not in hidden
    assert any(line.startswith("(deny file-write* ") and '"/p/.npmrc"' in line for line in lines)


# --- as the server uses it on macOS: a program in the place of `sandbox-exec` stands in for it here -------------------

STAND_IN = """#!/bin/sh
[ "$1" = -f ] || exit 64
grep -q '^(deny default)$' "$2" || exit 65
cp "$2" {seen}
shift 2
exec "$@"
"""


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    program = tmp_path / "sandbox-exec"
    program.write_text(STAND_IN.format(seen=tmp_path / "seen"))
    program.chmod(0o755)
    monkeypatch.setattr(confiner, "_LINUX", False)
    monkeypatch.setattr(confiner, "_MACOS", True)
    monkeypatch.setattr(seatbelt, "PROGRAM", str(program))
    monkeypatch.setattr(confiner, "is_there", lambda: is_there(str(program)))
    storage, folder = tmp_path / "storage", tmp_path / "bench"
    storage.mkdir()
    folder.mkdir()
    bench = Workbench(folder)
    bench.desk.confiner = Confiner(storage)
    bench.set(sandbox_mode="commands", sandbox_available=True, rules=(RuleText("deny", "Edit(locked)"),))
    bench.file("locked", "old")
    bench.file(".env", "KEY=1")
    return bench


async def test_a_command_is_started_under_the_profile_of_its_policy(mac: Workbench, tmp_path: Path) -> None:
    assert mac.desk.confiner is not None
    assert mac.desk.confiner.blocking_state(mac.policy).backend == "sandbox-exec"
    outcome = await mac.do("shell", command='echo "$TMPDIR"; ls -A "$TMPDIR"; ls /proc/self/fd | wc -l')
    assert outcome.success, outcome.output
    assert outcome.record["sandbox"]["backend"] == "sandbox-exec"  # type: ignore[index,call-overload]
    shown = (tmp_path / "seen").read_text()
    assert shown.endswith("(deny network*)\n")
    for name in ("locked", ".vscode", ".env"):
        assert f'(subpath "{mac.workspace}/{name}")' in shown
    assert f'(subpath "{tmp_path}/storage/' in shown
    assert outcome.output.startswith(f"{tmp_path}/storage/")
    assert not list((tmp_path / "storage").iterdir()), "nothing is left"
    await mac.desk.close()


async def test_a_profile_that_is_refused_runs_nothing(mac: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await mac.do("shell", command="true")).success
    monkeypatch.setattr(seatbelt, "profile", lambda *_given: "nonsense")
    outcome = await mac.do("shell", command="touch made")
    assert outcome.output.startswith("the command was not run, because its sandbox could not be made")
    assert not mac.workspace.joinpath("made").exists()
    await mac.desk.close()


async def test_what_a_profile_cannot_say_runs_nothing(mac: Workbench) -> None:
    mac.set(sandbox_network="all")
    outcome = await mac.do("shell", command="touch made")
    assert "on macOS the sandbox has neither a network" in outcome.output
    assert not mac.workspace.joinpath("made").exists()
    mac.set(sandbox_network="none")
    mac.file('a"b/.env', "KEY=1")
    assert (await mac.do("shell", command="true")).success
    mac.file("line\nbreak/.env", "KEY=1")
    assert "a control character" in (await mac.do("shell", command="touch made")).output
    await mac.desk.close()


def test_without_the_program_there_is_no_sandbox(mac: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confiner, "is_there", lambda: False)
    assert mac.desk.confiner is not None
    state = mac.desk.confiner.blocking_state(mac.policy)
    assert not state.available
    assert state.reason == "`/usr/bin/sandbox-exec` is not there, so commands cannot be confined"


def test_the_status_says_that_it_is_untested(mac: Workbench) -> None:
    assert mac.desk.confiner is not None
    state = mac.desk.confiner.blocking_status(mac.policy)
    assert state.holds[0].startswith("sandbox-exec, untested")
    assert not any("processes end with the command" in held for held in state.holds)


async def test_its_processes_are_not_said_to_end_with_it(mac: Workbench) -> None:
    shell_id = (await mac.do("shell", command="sleep 600", background=True)).record["shellId"]
    assert mac.desk.find(str(shell_id)).tracking != "pidNamespace"
    await mac.desk.close()
