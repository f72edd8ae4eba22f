"""A hosted agent under `sandbox.mode: all`: its whole process is in the sandbox, or it is not started."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from countersign.agents.acp.confinement import agent_may_reach, blocking_additions, outlived
from countersign.agents.acp.recipe import STRANGER, Brought, HomeFile, Recipe
from countersign.agents.acp.recipes import Launch
from countersign.settings.policy import Policy, RuleText
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.sandbox.state import SandboxState
from countersign.wire.errors import AgentExit
from tests.tools.sandbox.support import needs_sandbox

from .desk import Place, until_gone
from .scripted_agent_fixture import Player, ask, done, report

SECRET = "TOPSECRET"
RULES = (RuleText("deny", "Read(notes.txt)"), RuleText("deny", "Edit(fixed.txt)"), RuleText("deny", "Read(~/denied)"))
RECIPE = Recipe(
    "masked",
    "asksOnly",
    caveat="for tests",
    files={"ask.rules": "ask"},
    brought=(
        Brought("conf/auth.json", "", ".conf", "auth.json", renews=True),
        Brought("conf/config.toml", "", ".conf", "config.toml"),
        Brought("conf/copied.json", "", ".conf", "copied.json", keys=("token",)),
    ),
    hostile=(".hostile",),
    held=("held.json",),
    mask=(".masked", ".blank", "blank.json", ".mcp.json"),
    blank=(".blank", "blank.json", ".mcp.json", ".env"),
    home=(HomeFile(".login", renews=True), HomeFile(".setup"), HomeFile("denied")),
    hosts=("model.example", "*.models.example"),
)


@dataclass
class Stage:
    """A workspace with things that an agent must not reach, and a server on the loopback of this machine."""

    place: Place
    confiner: Confiner
    server: socket.socket

    @property
    def home(self) -> Path:
        return Path(self.place.policy.home)

    @property
    def outside(self) -> Path:
        return self.place.folder / "outside"

    def player(self, *prompts: list, **options) -> Player:
        shelf = self.place.workspace / "shelf"
        shelf.mkdir(exist_ok=True)
        return Player(
            self.place,
            *prompts,
            shelf=shelf,
            **{"confiner": self.confiner, "recipe": RECIPE, "env": {"HOME": str(self.home)}, **options},
        )

    def filled(self, text: str) -> str:
        port = self.server.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        places = {"OUT": self.outside, "HOME": self.home, "GATE": self.place.folder / "gate/scripted/agent-scripted"}
        for name, path in places.items():
            text = text.replace(f"<{name}>", shlex.quote(str(path)))
        return text.replace("<CONNECT>", f"{shlex.quote(sys.executable)} -c {shlex.quote(connect)}")


@pytest.fixture
async def stage(place: Place) -> AsyncIterator[Stage]:
    storage = place.folder / "storage"
    storage.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        made = Stage(place, Confiner(storage), server)
        files = {
            "notes.txt": SECRET, ".env": SECRET, "fixed.txt": "old", ".masked/run": SECRET, "held.json": SECRET,
            "sub/.git/hooks/old": "", "sub/.git/config": "", "sub/.git/HEAD": "ref: refs/heads/main\n",
            ".blank/run": SECRET, "blank.json": SECRET,
            ".hostile": SECRET, ".git/hooks/old": "", ".git/config": "", ".git/HEAD": "ref: refs/heads/main\n",
        }  # fmt: skip
        for name, text in files.items():
            (place.workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (place.workspace / name).write_text(text)
        made.outside.mkdir()
        for name in ("file", "other"):
            (made.outside / name).write_text(SECRET)
        homes = (".conf/auth.json", ".conf/config.toml", ".login", ".setup", ".ssh/id_rsa", "denied")
        for name in homes:
            (made.home / name).parent.mkdir(parents=True, exist_ok=True)
            (made.home / name).write_text(f"{SECRET} {name}")
        (made.home / ".conf/copied.json").write_text(json.dumps({"token": SECRET, "run": "rm"}))
        place.change(rules=RULES, sandbox_mode="all", sandbox_available=True)
        yield made


def says(text: str) -> dict:
    """A step: run this with bash, and wait until it has ended."""
    return {"spawn": f"{{ {text}\n}} > /dev/null 2>&1; echo ended"}


def holds(path: str, text: str) -> Callable[[Stage], bool]:
    def look(stage: Stage) -> bool:
        base, name = path.split("/", 1)
        folder = {"ws": stage.place.workspace, "out": stage.outside, "home": stage.home}
        found = (folder[base] if base in folder else stage.place.folder / "gate/scripted/agent-scripted") / name
        return found.exists() and text in found.read_text(errors="replace")

    return look


ATTEMPTS: dict[str, tuple[str, Callable[[Stage], bool]]] = {
    "write outside": ("echo broken > <OUT>/made", holds("out/made", "broken")),
    "change outside": ("echo broken > <OUT>/file", holds("out/file", "broken")),
    "read outside": ("cat <OUT>/other > leak1", holds("ws/leak1", SECRET)),
    "read a key": ("cat <HOME>/.ssh/id_rsa > leak2", holds("ws/leak2", SECRET)),
    "plant in the home": ("echo broken > <HOME>/.bashrc", holds("home/.bashrc", "broken")),
    "read what a rule denies": ("cat notes.txt > leak3", holds("ws/leak3", SECRET)),
    "read a secret": ("cat .env > leak4", holds("ws/leak4", SECRET)),
    "change what a rule denies": ("echo broken > fixed.txt", holds("ws/fixed.txt", "broken")),
    "replace what a rule denies": ("echo broken > n; mv -f n fixed.txt", holds("ws/fixed.txt", "broken")),
    "make a hook": ("echo broken > .git/hooks/x", holds("ws/.git/hooks/x", "broken")),
    "replace git's folder": (
        "mv sub/.git sub/.g; mkdir -p sub/.git/hooks; echo broken > sub/.git/hooks/y",
        holds("ws/sub/.git/hooks/y", "broken"),
    ),
    "make a protected folder": ("mkdir .vscode; echo broken > .vscode/tasks.json", holds("ws/.vscode/tasks.json", "b")),
    "read what is masked": ("cat .masked/run > leak5", holds("ws/leak5", SECRET)),
    "read what is blank": ("cat blank.json > leak10", holds("ws/leak10", SECRET)),
    "read what is in a blank folder": ("cat .blank/run > leak11", holds("ws/leak11", SECRET)),
    "change what is blank": ("echo broken > blank.json", holds("ws/blank.json", "broken")),
    "replace what is blank": ("echo broken > n2; mv -f n2 blank.json", holds("ws/blank.json", "broken")),
    "make something in a blank folder": ("echo broken > .blank/new", holds("ws/.blank/new", "broken")),
    "make a blank name that is missing": ("echo broken > .mcp.json", holds("ws/.mcp.json", "broken")),
    "read what is held": ("cat held.json > leak6", holds("ws/leak6", SECRET)),
    "read what is hostile": ("cat .hostile > leak7", holds("ws/leak7", SECRET)),
    "change a file of its recipe": ("echo broken > <GATE>/ask.rules", holds("gate/ask.rules", "broken")),
    "replace a file of its recipe": (
        "echo broken > <GATE>/n; mv -f <GATE>/n <GATE>/ask.rules",
        holds("gate/ask.rules", "broken"),
    ),
    "change its configuration": (
        "echo broken > <GATE>/conf/config.toml",
        holds("home/.conf/config.toml", "broken"),
    ),
    "leave something for its next start": ("echo broken > <GATE>/conf/left", holds("gate/conf/left", "broken")),
    "change a setting of its home": ("echo broken > <HOME>/.setup", holds("home/.setup", "broken")),
    "read a file of its home that a rule denies": ("cat <HOME>/denied > leak8", holds("ws/leak8", SECRET)),
    "reach a server of this machine": ("<CONNECT> && echo reached > leak9", holds("ws/leak9", "reached")),
}  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("confined", [True, False], ids=["inside", "outside"])
async def test_no_attempt_of_the_agents_own_process_succeeds_and_each_would_outside(stage: Stage, confined: bool):
    stage.place.change(sandbox_mode="all" if confined else "commands")
    player = stage.player([says(stage.filled(text)) for text, _ in ATTEMPTS.values()])
    assert await player.play() == "end_turn"
    await player.agent.close()
    succeeded = {name for name, (_, has) in ATTEMPTS.items() if has(stage)}
    assert succeeded == (set() if confined else set(ATTEMPTS))


@needs_sandbox
async def test_it_asks_and_works_in_it_and_its_label_says_what_holds(stage: Stage):
    stage.place.person.decide = lambda card: {"option": "allow_once"}
    call = {"title": "Write made.txt", "kind": "edit", "rawInput": {"path": str(stage.place.workspace / "made.txt")}}
    steps = [report("w", **call), ask("w", **call), says("echo made > made.txt"), done("w")]
    player = stage.player(steps)
    assert await player.play() == "end_turn"
    assert (stage.place.workspace / "made.txt").read_text() == "made\n"
    assert len(stage.place.person.shown) == 1
    assert player.agent.label == "sandboxed"
    said = player.agent.detail
    assert "network only by a proxy, to model.example, *.models.example" in said
    assert "secrets and what read rules deny cannot be opened" in said
    assert "asks only" in said or "unguarded" in said
    await player.agent.close()
    assert player.agent.label != "sandboxed"


@needs_sandbox
async def test_it_has_its_login_and_its_recipe_and_may_renew_the_login(stage: Stage):
    steps = [says(stage.filled(
        "cp <HOME>/.login seen-login; cp <HOME>/.setup seen-setup; cp <GATE>/conf/auth.json seen-auth; "
        "cp <GATE>/conf/copied.json seen-copied; cp <GATE>/ask.rules seen-rules; "
        "echo renewed > <HOME>/.login; echo renewed > <GATE>/conf/auth.json; echo mine > <GATE>/conf/copied.json"
    ))]  # fmt: skip
    player = stage.player(steps)
    await player.play()
    await player.agent.close()
    seen = {path.name: path.read_text() for path in stage.place.workspace.glob("seen-*")}
    assert seen == {
        "seen-login": f"{SECRET} .login", "seen-setup": f"{SECRET} .setup", "seen-rules": "ask",
        "seen-auth": f"{SECRET} .conf/auth.json", "seen-copied": json.dumps({"token": SECRET}, indent=2),
    }  # fmt: skip
    assert (stage.home / ".login").read_text() == "renewed\n"
    assert (stage.home / ".conf/auth.json").read_text() == "renewed\n"
    assert json.loads((stage.home / ".conf/copied.json").read_text()) == {"token": SECRET, "run": "rm"}


@needs_sandbox
async def test_a_blank_name_can_be_read_and_git_takes_nothing_blank_for_a_change(stage: Stage):
    # OpenCode, Gemini, Qwen and both Codex do not start where such a file is there and cannot be opened, and OpenCode
    # not where an empty folder stands in for a missing `opencode.json`.
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(stage.place.workspace)]
    shutil.rmtree(stage.place.workspace / ".git")
    for words in (["init", "-q"], ["add", "-f", "blank.json", "fixed.txt"], ["commit", "-qm", "first"]):
        await asyncio.to_thread(subprocess.run, [*git, *words], check=True)
    steps = [says(
        "cat blank.json .mcp.json > read 2>&1; ls -A .blank > listed 2>&1; cat .env > secret 2>&1; "
        "git add -A > added 2>&1; git diff --cached --name-only > staged"
    )]  # fmt: skip
    player = stage.player(steps)
    await player.play()
    await player.agent.close()
    seen = {name: (stage.place.workspace / name).read_text() for name in ("read", "listed", "staged")}
    assert (seen["read"], seen["listed"]) == ("", "")
    assert "ermission denied" in (stage.place.workspace / "secret").read_text()
    assert not {"blank.json", ".mcp.json"} & set(seen["staged"].split())
    assert "blank.json" in (stage.place.workspace / "added").read_text()
    assert not (stage.place.workspace / ".mcp.json").exists()


@needs_sandbox
async def test_it_leaves_nothing_in_the_workspace_the_home_and_the_storage(stage: Stage):
    def names(folder: Path) -> list[str]:
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if "shelf" not in path.parts)

    before = names(stage.place.workspace), names(stage.home), names(stage.outside)
    player = stage.player([says("true")])
    await player.play()
    await player.agent.close()
    assert (names(stage.place.workspace), names(stage.home), names(stage.outside)) == before
    assert names(stage.place.folder / "storage") == []
    marks = [path for path in stage.place.workspace.rglob("*") if any("overlay" in name for name in os.listxattr(path))]
    assert marks == []


@needs_sandbox
async def test_what_leaves_its_session_and_environment_ends_with_it(stage: Stage):
    mark = f"612.{os.getpid()}"
    player = stage.player([{"spawn": f"(setsid env -i sleep {mark} &) ; echo started"}])
    await player.play()
    left = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and mark in _command_line(pid)]
    assert left
    await player.agent.close()
    for pid in left:
        await until_gone(pid)


def _command_line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


class WithoutSandbox(Confiner):
    """A confiner of a machine that has no bubblewrap."""

    def _blocking_try(self, policy: Policy) -> SandboxState:
        return SandboxState("none", "bubblewrap is not installed")


@pytest.mark.parametrize("why", ["no confiner", "no sandbox", pytest.param("a folder outside", marks=needs_sandbox)])
async def test_an_agent_that_cannot_be_confined_is_not_started_and_says_why(stage: Stage, why: str):
    options: dict = {}
    if why == "no confiner":
        options, told = {"confiner": None}, "this server has none"
    elif why == "no sandbox":
        options, told = {"confiner": WithoutSandbox(stage.place.folder / "storage")}, "bubblewrap is not installed"
    else:
        options, told = {"cwd": str(stage.outside)}, "lies in no folder of the sandbox"
    player = stage.player([says("true")], **options)
    with pytest.raises(AgentExit, match=told) as raised:
        await player.play()
    assert "`sandbox.mode` is `all`" in str(raised.value)
    assert player.told() == []
    assert player.agent.state == "failed"
    assert told in (player.agent.detail or "")


@needs_sandbox
async def test_an_agent_outside_is_ended_once_the_mode_says_all_and_starts_inside(stage: Stage):
    stage.place.change(sandbox_mode="commands")
    player = stage.player([says("true")])
    await player.play()
    outside = player.told()[0]["started"]["pid"]
    await player.agent.end_if_outlived()
    assert player.agent.state == "running"
    stage.place.change(sandbox_mode="all")
    await player.agent.end_if_outlived()
    await until_gone(outside)
    assert player.agent.state == "exited"
    await player.play()
    assert player.agent.label == "sandboxed"


LIMITS = {
    "a deny rule more": ({"rules": (*RULES, RuleText("deny", "Read(x)"))}, True),
    "an ask rule more": ({"rules": (*RULES, RuleText("ask", "Edit(x)"))}, True),
    "a deny rule less": ({"rules": RULES[1:]}, True),
    "an allow rule more": ({"rules": (*RULES, RuleText("allow", "Read(x)"))}, False),
    "no network any more": ({"sandbox_network": "hosts"}, True),
    "another folder": ({"additional_resolved": ("/x",)}, True),
    "no sandbox any more": ({"sandbox_mode": "off"}, True),
    "another mode": ({"mode": "acceptEdits"}, False),
    "nothing": ({}, False),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_process_whose_boundary_is_not_that_of_the_settings_is_ended(name: str):
    changes, ends = LIMITS[name]
    started = Policy(workspace="/w", home="/h", rules=RULES, sandbox_mode="all")
    assert outlived(started, replace(started, **changes)) is ends
    allowed = replace(started, rules=(*RULES, RuleText("allow", "Read(.env)")))
    assert outlived(allowed, started)


@needs_sandbox
async def test_a_deny_rule_that_comes_later_hides_from_the_next_prompt_on(stage: Stage):
    (stage.place.workspace / "late.txt").write_text(SECRET)
    player = stage.player([says("n=$(ls -d read-* | wc -l); cat late.txt > read-$n")])
    await player.play()
    stage.place.change(rules=(*RULES, RuleText("deny", "Read(late.txt)")))
    await player.play()
    read = {path.name: path.read_text() for path in stage.place.workspace.glob("read-*")}
    assert read == {"read-0": SECRET, "read-1": ""}


REACH = [
    ("model.example", {}, True),
    ("eu.models.example", {}, True),
    ("models.example", {}, False),
    ("other.example", {}, False),
    ("other.example", {"sandbox_hosts": ("other.example",)}, False),
    ("other.example", {"sandbox_network": "hosts", "sandbox_hosts": ("other.example",)}, True),
    ("other.example", {"sandbox_network": "all"}, True),
    ("model.example", {"rules": (RuleText("deny", "WebFetch(domain:model.example)"),)}, False),
    ("model.example", {"sandbox_network": "all", "rules": (RuleText("deny", "WebFetch"),)}, False),
    ("model.example", {"rules": (RuleText("ask", "WebFetch"),)}, True),
    ("other.example", {"sandbox_network": "all", "rules": (RuleText("ask", "WebFetch"),)}, False),
    ("other.example", {"rules": (RuleText("allow", "WebFetch(domain:other.example)"),)}, False),
]


@pytest.mark.parametrize(("host", "settings", "may"), REACH, ids=[str(number) for number in range(len(REACH))])
def test_it_reaches_the_hosts_of_its_model_and_what_the_settings_open(host: str, settings: dict, may: bool):
    policy = Policy(workspace="/w", home="/h", sandbox_mode="all", **settings)
    assert agent_may_reach(lambda: policy, tuple, RECIPE, "a")(host) is may


@needs_sandbox
async def test_a_host_that_it_is_refused_is_named_in_the_chat_once(stage: Stage):
    fetch = "import urllib.request; urllib.request.urlopen('http://other.example/x', timeout=30)"
    player = stage.player([says(f"{shlex.quote(sys.executable)} -c {shlex.quote(fetch)}")])
    await player.play()
    await player.play()
    told = [event.message for event in stage.place.of("notice") if "other.example" in event.message]
    assert told == [
        "scripted: `other.example` is not allowed in the sandbox; set `sandbox.network` to `hosts` and list it in "
        "`sandbox.hosts` to allow it"
    ]


@needs_sandbox
async def test_a_server_of_this_machine_is_reached_only_where_it_is_listed(stage: Stage):
    port = stage.server.getsockname()[1]
    connect = "import os, socket; proxy = os.environ['http_proxy'].rsplit(':', 1)[1]; "
    connect += "line = socket.create_connection(('127.0.0.1', int(proxy)), 30); "
    connect += f"line.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n'); print(line.recv(12).decode())"
    player = stage.player([says(f"{shlex.quote(sys.executable)} -c {shlex.quote(connect)} > answer")])
    answers = []
    for settings in ({}, {"sandbox_network": "hosts", "sandbox_hosts": ("127.0.0.1",)}):
        stage.place.change(**settings)
        await player.play()
        answers.append((stage.place.workspace / "answer").read_text().split()[1])
    assert answers == ["403", "200"]


@needs_sandbox
async def test_what_the_sandbox_cannot_hold_is_named_beside_the_label(stage: Stage):
    stage.place.change(rules=(*RULES, RuleText("deny", "Edit(**/*.lock)")))
    player = stage.player([says("true")])
    await player.play()
    assert "not held: `Edit(**/*.lock)`" in player.agent.detail


@needs_sandbox
async def test_it_is_not_started_where_the_files_of_its_recipe_would_be_hidden(stage: Stage):
    stage.place.change(sandbox_writable=(str(stage.place.folder / "gate"),))
    player = stage.player([says("true")])
    with pytest.raises(AgentExit, match="private folder"):
        await player.play()
    assert player.told() == []


PROGRAMS = {
    "a program alone": (("{}/bin/agent",), ["bin/agent"]),
    "an installed package": (("{}/lib/node_modules/.bin/agent",), ["lib/node_modules"]),
    "a package behind a link": (("{}/bin/linked",), ["lib/node_modules", "bin/linked"]),
    "a script": (("node", "--flag", "{}/agent.js", "{}/other.js"), ["agent.js"]),
    "a Python with its library": (("{}/bin/python3.99", "{}/agent.py"), ["bin/python3.99", "lib", "agent.py"]),
    "a program with the name of one": (("{}/sub/bin/python3.99",), ["sub/bin/python3.99"]),
    "a program of the system": (("/usr/bin/env", "{}/agent.py"), []),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_more_is_shown_of_a_program_than_it_needs(name: str, tmp_path: Path):
    command, shown = PROGRAMS[name]
    names = ("bin/agent", "agent.js", "other.js", "agent.py", "bin/python3.99", "sub/bin/python3.99",
             "lib/node_modules/agent/run", "lib/python3.99/os.py", "sub/lib/notes")  # fmt: skip
    for made in names:
        (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / made).write_text("#!/bin/sh\n")
        (tmp_path / made).chmod(0o755)
    (tmp_path / "lib/node_modules/.bin").mkdir()
    (tmp_path / "lib/node_modules/.bin/agent").symlink_to("../agent/run")
    (tmp_path / "bin/linked").symlink_to("../lib/node_modules/agent/run")
    words = tuple(word.format(tmp_path) for word in command)
    launch = Launch(words, {})
    found = blocking_additions(STRANGER, launch, {"PATH": "/usr/bin:/bin"}, str(tmp_path), Policy("/w", "/h"))
    assert [mount.place for mount in found.mounts] == [str(tmp_path / place) for place in shown]
    assert not any(mount.writable for mount in found.mounts)
