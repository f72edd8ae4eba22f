"""Work in the sandbox: what holds while others change the folders, what git does, what is left behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.gate import BadArguments
from countersign.settings.policy import RuleText
from countersign.tools.sandbox import confiner as confiner_module
from countersign.tools.sandbox.confiner import PREFIX, Confiner
from countersign.tools.sandbox.survey import READ_AT_EVERY_RUN
from tests.patience import PATIENCE
from tests.tools.sandbox.support import SECRET, SandboxBench, needs_sandbox

pytestmark = needs_sandbox

WATCH = """
while read -r round; do
  cat .env deep/er/.env.local server.pem notes.txt private/key private/new src/hard soft 2>/dev/null
  for f in locked/a locked/n fixed.txt .vscode/settings.json .envrc .git/config .git/hooks/x sub/.claude/settings.json
  do
    (echo CHANGED >>"$f") 2>/dev/null
  done
  [ "$(cat fresh 2>/dev/null)" = new ] && touch seen
  echo "round $round"
done
"""
"""Tries to read and write everything once for each line on its standard input."""
FILES = (".env", "deep/er/.env.local", "server.pem", "notes.txt", "private/key", "src/hard")
LOCKED = ("locked/a", "fixed.txt", ".vscode/settings.json", ".envrc", ".git/config", "sub/.claude/settings.json")
FOLDERS = ("deep", "private", "locked", ".vscode", "sub", ".git/hooks")


def replace_file(path: Path, text: str) -> None:
    """Replace a file as an editor does when it saves: another file is renamed over it."""
    other = path.with_name(f"{path.name}.new")
    other.write_text(text)
    other.replace(path)


def replace_folder(path: Path) -> None:
    """Put a folder of the same content in the place of another."""
    copy = path.with_name(f"{path.name}.copy")
    shutil.copytree(path, copy, symlinks=True)
    old = path.with_name(f"{path.name}.old")
    path.rename(old)
    copy.rename(path)
    shutil.rmtree(old)


async def attempt(bench: SandboxBench, number: str) -> str:
    """Let ``WATCH`` try once more, and return what it printed."""
    kept = bench.desk.find("shell-1").kept
    start, expected = kept.total, f"round {number}\n"
    await bench.desk.write("shell-1", f"{number}\n")
    await bench.until_output("shell-1", start + len(expected))
    return kept.read(start, 10_000).data.decode()


async def test_what_others_replace_stays_hidden_and_locked(bench: SandboxBench) -> None:
    await bench.do("shell", command=WATCH, background=True)
    rounds = [await attempt(bench, "1")]
    for name in FILES:
        replace_file(bench.workspace / name, SECRET)
    for name in LOCKED:
        replace_file(bench.workspace / name, (bench.workspace / name).read_text())
    for name in FOLDERS:
        replace_folder(bench.workspace / name)
    (bench.workspace / "private/new").write_text(SECRET)
    before = [(bench.workspace / name).read_text() for name in LOCKED]
    replace_file(bench.workspace / "fresh", "new")
    async with asyncio.timeout(PATIENCE):
        while not (bench.workspace / "seen").exists():  # the overlay is remounted twice a second
            rounds.append(await attempt(bench, str(len(rounds) + 1)))
    await bench.do("shell_kill", shell_id="shell-1")
    assert rounds == [f"round {number + 1}\n" for number in range(len(rounds))], "no secret was ever printed"
    assert [(bench.workspace / name).read_text() for name in LOCKED] == before
    assert not (bench.workspace / ".git/hooks/x").exists()
    assert not (bench.workspace / "locked/n").exists()


GIT_STEPS = """
export GIT_EDITOR=true
set -e
echo n >>src/a.txt; git add -u; git commit -qm 3
git checkout -q -b br; echo br >src/c; git add src/c; git commit -qm br
git checkout -q main; echo z >src/b.txt; git add src/b.txt; git commit -qm m
git checkout -q br; git rebase -q main
echo st >>src/a.txt; git stash -q; git stash pop -q; git checkout -q -- src/a.txt
git merge -q main; git tag t; git branch other; git branch -D -q other
git mv src/c src/d; git commit -qm moved; git revert --no-edit HEAD >/dev/null
git cherry-pick --no-commit HEAD >/dev/null; git reset -q --hard
git fetch -q . main:fetched; git gc -q; git fsck --no-progress >/dev/null; git status --short src
git worktree add -q -f ./tree fetched >/dev/null 2>&1 || true
git log --oneline | wc -l
"""


async def test_git_works(bench: SandboxBench) -> None:
    outcome = await bench.do("shell", command=GIT_STEPS)
    assert outcome.success, outcome.output
    assert "dangling" in bench.git("fsck", "--no-progress"), "what was reverted, and nothing broken"
    assert bench.git("log", "--format=%s", "-1", "main") == "m\n"


async def test_commits_are_made_in_the_persons_name(bench: SandboxBench) -> None:
    bench.git("config", "--unset", "user.email")
    bench.git("config", "--unset", "user.name")
    (bench.home / ".gitconfig").write_text('[core]\n pager = evil\n[user]\n name = "Ann"\n email = ann@example.org\n')
    assert (await bench.do("shell", command="echo x >src/x && git add src/x && git commit -qm x")).success
    assert bench.git("log", "-1", "--format=%an %ae") == "Ann ann@example.org\n"
    assert "pager" not in await bench.output_of("git config --global --list")


async def test_nothing_is_left_behind(bench: SandboxBench) -> None:
    before = bench.content()
    status = bench.git("status", "--short")
    for command in (
        "true",
        "mkdir -p made/below && rm -r made",
        "cat .env",
        "exit 3",
        "kill -9 $$",
        "mv src s && mv s src",
    ):
        await bench.output_of(command)
    assert bench.content() == before
    assert bench.git("status", "--short") == status
    assert not list(bench.storage.glob(f"{PREFIX}*"))
    assert [name for name in os.listxattr(bench.workspace) if "overlay" in name] == []


async def test_writes_are_seen_at_once_and_stay(bench: SandboxBench) -> None:
    assert (
        await bench.output_of("mkdir new; echo text >new/file; mv new newer; mv newer/file src/file; cat src/file")
        == "text\n"
    )
    assert (bench.workspace / "src/file").read_text() == "text\n"


async def test_everything_that_is_mounted_in_a_folder_is_as_narrow_as_it_must_be(bench: SandboxBench) -> None:
    """What is mounted on names is read-only because its source is: a flag that is lost would show here."""
    shown = await bench.output_of("cat /proc/self/mountinfo")
    root = str(bench.workspace)
    flags = {line.split()[4]: set(line.split()[5].split(",")) for line in shown.splitlines() if root in line}
    blank = {f"{root}/{name}" for name in READ_AT_EVERY_RUN}
    assert all("nosuid" in found and ("nodev" in found or path in blank) for path, found in flags.items())
    for name in (
        ".env",
        "private",
        "locked",
        "fixed.txt",
        ".git/config",
        ".git/hooks",
        ".vscode",
        ".cursor",
        ".mcp.json",
    ):
        assert "ro" in flags[f"{root}/{name}"], name
    for name in ("", "/.git", "/deep", "/deep/er", "/sub"):
        assert "rw" in flags[root + name], name
    tried = "for d in .cursor private .mcp.json; do chmod 777 $d; touch $d/x && echo MADE; done"
    assert "MADE" not in await bench.output_of(tried)


async def test_what_is_locked_cannot_be_changed_by_a_hard_link(bench: SandboxBench) -> None:
    """Without a rule for reading, which makes every file of several names ask."""
    bench.set(rules=(RuleText("deny", "Edit(fixed.txt)"),))
    locked = ("fixed.txt", ".vscode/settings.json", ".envrc", ".git/config", ".git/hooks/sample", "hooks/pre-push")
    bench.file(".git/hooks/sample", "old")
    before = {name: (bench.workspace / name).read_bytes() for name in locked}
    for number, name in enumerate(locked):
        os.link(bench.workspace / name, bench.workspace / f"src/link{number}")
    await bench.output_of(
        "for f in src/link*; do echo CHANGED >>$f; done; sed -i s/old/new/ src/link*; truncate -s 0 src/*"
    )
    assert {name: (bench.workspace / name).read_bytes() for name in locked} == before


async def test_a_server_of_its_own_is_reached_on_loopback(bench: SandboxBench) -> None:
    script = "import socket,threading\ns=socket.create_server(('127.0.0.1',0))\n"
    script += "c=socket.create_connection(s.getsockname());print('reached')"
    assert await bench.output_of(f'python3 -c "{script}"') == "reached\n"


async def test_protected_names_made_further_down_are_set_aside(bench: SandboxBench) -> None:
    output = await bench.output_of("mkdir -p src/.vscode lib && echo x >src/.vscode/tasks.json && git init -q lib/repo")
    assert not (bench.workspace / "src/.vscode").exists()
    assert not (bench.workspace / "lib/repo/.git").exists()
    assert "`src/.vscode` may not be made in the sandbox and was moved to" in output
    assert [path.name for path in bench.storage.glob("set-aside/*/src/.vscode/*")] == ["tasks.json"]


async def test_package_folders_are_made_and_changed(bench: SandboxBench) -> None:
    command = (
        "mkdir -p node_modules/.bin node_modules/p/.vscode .venv/bin && touch node_modules/.bin/p .venv/bin/python"
    )
    assert (await bench.do("shell", command=command)).output == "[no output]"
    assert (await bench.do("shell", command="echo 2 >node_modules/.bin/p && rm .venv/bin/python")).success
    assert (bench.workspace / "node_modules/p/.vscode").exists()


async def test_no_process_outlives_its_command(bench: SandboxBench) -> None:
    command = "(setsid env -i sleep 612 &) ; (setsid sleep 613 &) ; kill -9 $PPID; echo still here"
    assert "still here" in await bench.output_of(command)
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and _runs(pid, b"612")]


def _runs(pid: str, word: bytes) -> bool:
    try:
        return word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


async def test_a_command_that_is_stopped_leaves_nothing(bench: SandboxBench) -> None:
    running = asyncio.create_task(bench.do("shell", command="echo ready; sleep 614"))
    await bench.until(lambda: "ready" in bench.emitted)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and _runs(pid, b"614")]
    assert not list(bench.storage.glob(f"{PREFIX}*"))


async def test_granted_folders_are_writable_and_looked_at(bench: SandboxBench) -> None:
    granted, other = bench.outside / "granted", bench.outside / "cache"
    for folder in (granted, other):
        folder.mkdir()
        (folder / ".env").write_text(SECRET)
    bench.set(
        additional_directories=(str(granted),), additional_resolved=(str(granted),), sandbox_writable=(str(other),)
    )
    output = await bench.output_of(
        f"for d in {granted} {other}; do echo x >$d/made; cat $d/.env; done; ls {bench.outside}"
    )
    assert SECRET not in output
    assert output.splitlines()[-2:] == ["cache", "granted"]
    assert [(folder / "made").read_text() for folder in (granted, other)] == ["x\n"] * 2


@pytest.fixture
def below_a_link(bench: SandboxBench) -> Iterator[Path]:
    """A folder in `/var/tmp`, which is a link to `/tmp` in the sandbox and none outside."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(os.path.realpath(name))
        if folder.stat().st_dev != bench.workspace.stat().st_dev:
            pytest.skip("it lies on another filesystem than the workspace")
        yield folder
        assert not Path("/tmp", folder.name).exists()


async def test_a_folder_below_a_link_of_the_sandbox_is_shown(bench: SandboxBench, below_a_link: Path) -> None:
    (below_a_link / ".env").write_text(SECRET)
    bench.set(sandbox_writable=(str(below_a_link),))
    name = below_a_link.name
    output = await bench.output_of(f"cd {below_a_link} && echo x >made; cat .env /tmp/{name}/.env; ls /var/tmp")
    assert SECRET not in output
    assert name in output.split()
    assert (below_a_link / "made").read_text() == "x\n"


async def test_a_granted_folder_that_leads_elsewhere_now_is_not_shown(bench: SandboxBench) -> None:
    link = bench.home / "link"
    link.symlink_to(bench.outside)
    bench.set(additional_directories=(str(link),), additional_resolved=(str(bench.home / "other"),))
    assert SECRET not in await bench.output_of(f"cat {bench.outside}/file {link}/file")


async def test_an_allow_rule_that_names_a_secret_shows_it(bench: SandboxBench) -> None:
    bench.set(rules=(RuleText("allow", "Read(.env)"),))
    assert SECRET in await bench.output_of("cat .env")


async def test_toolchains_of_the_home_are_there_and_its_settings_are_not(bench: SandboxBench) -> None:
    for name in (".cargo/bin/tool", ".local/bin/tool", ".config/tokens", ".cargo/credentials.toml"):
        path = bench.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("there")
    shown = await bench.output_of("cd ~ && find . -type f && touch .cache && echo writable")
    assert sorted(shown.split()) == ["./.cargo/bin/tool", "./.local/bin/tool", "writable"]
    assert not (bench.home / ".cache").exists()


async def test_the_store_in_the_workspace_is_hidden(bench: SandboxBench) -> None:
    store = bench.workspace / "store"
    store.mkdir()
    (store / "ledger.db").write_text(SECRET)
    bench.set(own_paths=(str(store),))
    assert SECRET not in await bench.output_of("cat store/*; ls store")


async def test_background_commands_run_in_it_too(bench: SandboxBench) -> None:
    await bench.do("shell", command="cat .env; echo x >fixed.txt; echo done", background=True)
    shell = bench.desk.find("shell-1")
    async with asyncio.timeout(PATIENCE):
        await shell.ended.wait()
    text = bench.desk.output("shell-1").text
    assert SECRET not in text
    assert text.endswith("done\n")
    assert (bench.workspace / "fixed.txt").read_text() == "old"


# --- where it cannot be made --------------------------------------------------------------------------------------


async def test_without_bubblewrap_nothing_runs(bench: SandboxBench, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(policy: object) -> str:
        raise confiner_module.NoSandbox("bubblewrap is not installed; install the package `bubblewrap`")

    monkeypatch.setattr(confiner_module, "_bubblewrap", absent)
    output = await bench.output_of("touch made")
    assert output == (
        "not run, because there is no sandbox for it: bubblewrap is not installed; install the package `bubblewrap`; "
        "set `countersign.sandbox.mode` to `off` to run commands outside it"
    )
    assert not (bench.workspace / "made").exists()


NOT_TO_BE_MADE = "/dev/null/missing"
"""A path that nobody can make: root would make a missing folder at the top of the machine's own disk."""


@pytest.mark.parametrize("broken", ["zero", "lower", "program", "arguments"])
async def test_a_sandbox_that_fails_while_it_is_made_runs_nothing(
    bench: SandboxBench, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    (bench.workspace / ".env").touch()  # `zero` covers files, of which the home may hold none
    assert (await bench.do("shell", command="true")).success
    whole = confiner_module._description

    def description(*given: object) -> dict[str, object]:
        made = whole(*given)  # type: ignore[arg-type]
        if broken == "lower":
            made["roots"][0]["lower"] = NOT_TO_BE_MADE  # type: ignore[index]
        else:
            made[broken] = ["--no-such-option"] if broken == "arguments" else NOT_TO_BE_MADE
        return made

    monkeypatch.setattr(confiner_module, "_description", description)
    outcome = await bench.do("shell", command="touch made; echo ran")
    assert outcome.output.startswith("the command was not run, because its sandbox could not be made: ")
    assert not outcome.success
    assert not (bench.workspace / "made").exists()


async def test_a_workspace_that_is_too_large_runs_nothing(bench: SandboxBench, monkeypatch: pytest.MonkeyPatch) -> None:
    from countersign.tools.sandbox import survey  # noqa: PLC0415

    assert (await bench.do("shell", command="true")).success
    monkeypatch.setattr(survey, "MOST_ENTRIES", 3)
    assert "hold more than 3 files" in await bench.output_of("touch made")
    assert not (bench.workspace / "made").exists()


async def test_a_folder_outside_is_no_place_to_run_in(bench: SandboxBench) -> None:
    outcome = await bench.do("shell", command="touch made", cwd=str(bench.outside))
    assert "lies in no folder of the sandbox" in outcome.output
    assert not (bench.outside / "made").exists()


async def test_what_a_killed_server_left_is_swept(bench: SandboxBench) -> None:
    left = bench.storage / f"{PREFIX}999999999-abc"
    (left / "work0/work").mkdir(parents=True)
    (left / "work0/work").chmod(0)
    Confiner(bench.storage).blocking_sweep()
    assert not left.exists()


def test_no_sandbox_is_an_argument_error_and_starts_nothing() -> None:
    assert issubclass(confiner_module.NoSandbox, Exception)
    assert not issubclass(confiner_module.NoSandbox, BadArguments)
