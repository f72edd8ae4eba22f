"""What a card says that the sandbox will refuse, and that it does refuse it."""

from __future__ import annotations

from typing import Any

import pytest

from countersign.gate import RunCommand, ToolCall, decide
from countersign.settings.policy import RuleText
from countersign.tools.sandbox.forecast import blocking_forecast
from countersign.wire.approvals import CommandPreview
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = needs_sandbox

CONFIG = "sandbox: this cannot write `.git/config`"
REFUSED = "could not write config file"


def notes_of(bench: SandboxBench, command: str, **effect: Any) -> tuple[str, ...]:
    cwd = str(bench.workspace)
    call = ToolCall(
        tool_call_id="1",
        thread_id="t",
        turn_id="u",
        agent="builtin",
        tool="shell",
        arguments={"command": command},
        kind="execute",
        category="execute",
        effects=(RunCommand(command, cwd, **effect),),
        preview=CommandPreview(command=command, cwd=cwd, parts=[]),
        cwd=cwd,
    )
    decision = decide(call, bench.policy, ["ask"], check_syntax=lambda _text: None)
    return blocking_forecast(call, decision, bench.policy)


@pytest.fixture
def remote(bench: SandboxBench) -> SandboxBench:
    bench.git("clone", "-q", "--bare", ".", str(bench.workspace / "r.git"))
    bench.git("remote", "add", "origin", str(bench.workspace / "r.git"))
    bench.git("fetch", "-q", "origin")
    bench.git("branch", "old", "main")
    bench.git("branch", "older", "main")
    bench.git("branch", "feature/y", "main")
    for name in ("only", "packed", "deep/er", "both", "shared", "taken"):
        bench.git("push", "-q", "origin", f"main:{name}")
    bench.git("clone", "-q", "--bare", ".", str(bench.workspace / "r2.git"))
    bench.git("remote", "add", "second", str(bench.workspace / "r2.git"))
    bench.git("push", "-q", "second", "main:shared", "main:theirs")
    bench.git("fetch", "-q", "origin")
    bench.git("pack-refs", "--all", "--prune")
    bench.git("push", "-q", "origin", "main:loose")
    bench.git("branch", "both", "main")
    bench.git("tag", "taken", "main")
    bench.git("fetch", "-q", "--no-tags", "second")
    bench.file("loose.txt", "")
    return bench


@pytest.mark.parametrize(
    "command",
    [
        "git config a.b c", "git config --unset user.name", "git remote add x /y",
        "git remote rename origin o2", "git remote rm origin", "git remote set-url origin /z",
        "git remote set-branches origin main", "git push -u origin main", "git push --set-upstream origin main",
        "git branch -u origin/main", "git branch --set-upstream-to=origin/main", "git branch --track tr origin/main",
        "git branch -m old new", "git branch -c main cc", "git branch -D old", "git init",
        "git sparse-checkout set src", "git fetch --set-upstream origin main", "git checkout -t -b co origin/main",
        "git switch -t -c sw origin/main", "git checkout -b x origin/main", "git checkout -qB x origin/main",
        "git switch -c x origin/main", "git switch --create x refs/remotes/origin/main", "git branch x origin/main",
        "git branch -f x remotes/origin/main",
        "git checkout only", "git checkout -q packed", "git checkout deep/er --", "git checkout loose",
        "git checkout -f theirs", "git switch only", "git switch --guess packed", "git switch deep/er",
        "git -C src switch theirs", "git worktree add -b x trees/x origin/main", "git worktree add trees/x only",
        "git worktree add -q -B x trees/x origin/only", "git worktree add --track -b x trees/x origin/main",
    ],
)  # fmt: skip
async def test_what_git_cannot_keep_is_said_before_and_refused_then(remote: SandboxBench, command: str) -> None:
    before = (remote.workspace / ".git/config").read_bytes()
    assert CONFIG in notes_of(remote, command)
    assert REFUSED in await remote.output_of(command)
    assert (remote.workspace / ".git/config").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        "git config --get user.name", "git config --list", "git remote -v", "git remote prune origin",
        "git push origin main", "git branch new", "git branch --show-current", "git checkout -b co", "git switch older",
        "git add src", "git commit --allow-empty -m text", "git stash", "git fetch origin", "git tag v1",
        "git rebase older", "git merge older", "git worktree list", "git submodule status",
        "git checkout -b x older", "git branch x main", "git checkout --no-track -b x origin/main",
        "git checkout both", "git switch both", "git checkout taken", "git checkout shared", "git switch nothing",
        "git checkout --detach only", "git switch --no-guess only", "git checkout --no-track only",
        "git checkout -- only", "git checkout origin", "git checkout origin/only", "git checkout only src",
        "git checkout loose.txt", "git checkout ../only", "git checkout HEAD", "git checkout @", "git checkout -",
        "git worktree add trees/x", "git worktree add -b x trees/x", "git worktree add -b x trees/x main",
        "git worktree add --no-track -b x trees/x origin/main", "git worktree add trees/x origin/main",
        "git checkout -b x origin/main~0", "git checkout -b x feature/y", "git switch --detach origin/main",
    ],
)  # fmt: skip
async def test_what_git_can_do_has_no_such_note(remote: SandboxBench, command: str) -> None:
    assert CONFIG not in notes_of(remote, command)
    assert REFUSED not in await remote.output_of(command)


@pytest.mark.parametrize(
    ("command", "note"),
    [
        ("echo x >.vscode/tasks.json", "sandbox: this cannot write `.vscode/tasks.json`"),
        ("echo x >.mcp.json", "sandbox: this cannot write `.mcp.json`"),
        ("echo x >.git/hooks/post-commit", "sandbox: this cannot write `.git/hooks/post-commit`"),
        ("echo x >sub/.claude/settings.json", "sandbox: this cannot write `sub/.claude/settings.json`"),
        ("touch src/asked", "sandbox: this cannot write `src/asked`"),
        ("cat .env", "sandbox: this cannot open `.env`"),
        ("cat deep/er/.env.local", "sandbox: this cannot open `deep/er/.env.local`"),
    ],
)
async def test_what_is_refused_is_said_before(bench: SandboxBench, command: str, note: str) -> None:
    bench.file("src/asked", "old")
    bench.set(rules=(*bench.policy.rules, RuleText("ask", "Edit(src/asked)")))
    assert notes_of(bench, command) == (note,)
    assert not (await bench.do("shell", command=command)).success


async def test_what_is_moved_away_is_said_before(bench: SandboxBench) -> None:
    command = "mkdir -p src/.vscode; echo x >src/.vscode/tasks.json"
    assert notes_of(bench, command) == ("sandbox: what this makes at `src/.vscode` is moved away when it ends",)
    assert "was moved to" in await bench.output_of(command)


async def test_what_is_lost_with_the_home_is_said_before(bench: SandboxBench) -> None:
    note = f"sandbox: what this writes to `{bench.home}/.gitconfig` is gone when it ends"
    assert notes_of(bench, "git config --global a.b c") == (note,)
    assert (await bench.do("shell", command="git config --global a.b c")).success
    assert not (bench.home / ".gitconfig").exists()


def test_places_outside_are_named(bench: SandboxBench) -> None:
    # The folders of these tests lie in /tmp, which the sandbox has in its own way.
    assert notes_of(bench, "touch /srv/made") == ("sandbox: this cannot write `/srv/made`",)
    for command in ("ls /usr/bin", "cat /etc/hosts", "echo x >/tmp/y", "make all", "ls", "cat src/a.txt"):
        assert notes_of(bench, command) == (), command


def test_nothing_is_said_of_what_runs_outside(bench: SandboxBench) -> None:
    assert notes_of(bench, "git config a.b c", outside="it must") == ()
    assert notes_of(bench, "git config a.b c", own_text=True) == ()
    bench.set(sandbox_mode="all")
    assert notes_of(bench, "git config a.b c", own_text=True) == (CONFIG,)
    bench.set(sandbox_available=False)
    assert notes_of(bench, "git config a.b c") == ()
    bench.set(sandbox_mode="off", sandbox_available=True)
    assert notes_of(bench, "git config a.b c") == ()


def test_a_card_names_a_few_only(bench: SandboxBench) -> None:
    command = "; ".join(f"touch /srv/{number}" for number in range(20))
    assert len(notes_of(bench, command)) == 4
