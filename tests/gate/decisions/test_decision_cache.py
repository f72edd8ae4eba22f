"""A decision that is recalled is the one that judging anew would make, whatever has become of the disk meanwhile."""

from __future__ import annotations

import ast
import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decisions import decide as engine
from countersign.gate.decisions import decision_cache
from countersign.gate.probes import disk as sight
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.approvals import ToolPreview

BASH = BashSyntax()
GATE = Path(engine.__file__).parents[1]

NAMES = (
    "a", "y.py", "src", "src/x.py", "lib", "lib/.envrc", ".env", ".git", "bin/ls", "../else/ls", "src/HEAD",
    "src/objects", "src/refs",
)  # fmt: skip
WHATS = ("file", "folder", "program", "second name", "nothing")
# Files are made behind links as well, so none may lead to a folder of the machine.
TARGETS = (".env", "src", "lib", "a", "../out", "{top}/apart", ".git/hooks", "missing")

COMMANDS = (
    "ls", "ls a", "cat *.py", "git -C src status", "tar xf a -C lib", "cat a", "cat src/x.py", "cat lib/x.py",
    "cat *.py src/*", "git status", "git -C src log -1", "wc -l b/*", "tool --version", "tool x", "cd src && cat x.py",
    "cp a src", "cp a lib/", "rm -rf src", "rm b", "echo x > a", "tee src/x.py", "cat ~/.ssh/id_rsa", "cat ~nobody/x",
    "mv a b", "python src/x.py", "./bin/tool", "sort -o b a",
)  # fmt: skip
RULES = (
    *(("allow", f"Bash({name}:*)") for name in ("cp", "rm", "tee", "tool", "mv", "tar", "python", "sort")),
    ("allow", "Bash(./bin/tool)"),
    ("allow", "Edit(./**)"),
    ("deny", "Read(./lib/**)"),
    ("ask", "Edit(./b)"),
)


def call(command: str, cwd: str, agent: str = "Countersign") -> ToolCall:
    return ToolCall(
        tool_call_id="t",
        thread_id="t",
        turn_id="t",
        agent=agent,
        tool="shell",
        arguments={"command": command},
        kind="execute",
        category="execute",
        effects=(RunCommand(command, cwd),),
        preview=ToolPreview(input={"command": command}),
        cwd=cwd,
    )


def decide(command: str, policy: Policy) -> engine.Decision:
    return engine.decide(call(command, policy.workspace), policy, ("default",), check_syntax=BASH)


class Disk:
    """A small workspace that can be changed in every way."""

    def __init__(self, top: Path) -> None:
        self.top, self.workspace = top, top / "ws"
        self.policy = Policy(
            workspace=str(self.workspace),
            home=str(top / "home"),
            trusted=True,
            rules=tuple(RuleText(listed, text) for listed, text in RULES),  # type: ignore[arg-type]
            agents={"Countersign": AgentConfig("Countersign")},
        )

    def build(self) -> None:
        for path in self.top.iterdir():
            remove(path)
        for folder in ("ws/src/objects", "ws/.git", "ws/lib", "ws/bin", "home/.ssh", "out", "else", "apart"):
            (self.top / folder).mkdir(parents=True)
        for name in ("a", "z.py", "src/x.py", "src/HEAD"):
            (self.workspace / name).write_text("x")

    def do(self, what: tuple[str, ...]) -> None:
        getattr(self, what[0])(*what[1:])

    def put(self, name: str, what: str) -> None:
        path = self.workspace / name
        # Where a file stands in the way of a folder, or the other way round, the disk stays as it is.
        with contextlib.suppress(OSError):
            remove(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            if what == "folder":
                path.mkdir()
            elif what != "nothing":
                path.write_text("x")
                path.chmod(0o755 if what == "program" else 0o644)
            if what == "second name":
                (self.top / "out/twin").unlink(missing_ok=True)
                os.link(path, self.top / "out/twin")

    def link(self, name: str, to: str) -> None:
        path = self.workspace / name
        with contextlib.suppress(OSError):
            remove(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(to.replace("{top}", str(self.top)))

    def move_away(self, in_place: str) -> None:
        """The workspace itself, with a link in its place."""
        if not self.workspace.is_symlink():
            self.workspace.rename(self.top / "away")
            self.workspace.symlink_to(in_place)

    def bring_back(self) -> None:
        if self.workspace.is_symlink():
            self.workspace.unlink()
            (self.top / "away").rename(self.workspace)

    def check(self, command: str) -> None:
        recalled = decide(command, self.policy)
        anew = engine._decide(call(command, str(self.workspace)), self.policy, ("default",), (), BASH, ())
        assert recalled == anew, command


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    decision_cache.clear()
    monkeypatch.setenv("PATH", f"{tmp_path}/ws/bin:{tmp_path}/else")
    return Disk(tmp_path)


CHANGES: list[tuple[str, ...]] = [
    *(("put", name, what) for name in NAMES for what in WHATS),
    *(("link", name, to) for name in NAMES for to in TARGETS),
    ("move_away", "away"),
    ("move_away", "out"),
]
HAPPENING = [*CHANGES, *(("check", command) for command in COMMANDS), ("bring_back",)]
BEFORE: list[tuple[tuple[str, ...], ...]] = [
    (),
    (("put", "bin/ls", "program"), ("link", "lib", "../out"), ("link", ".env", "a")),
]


@pytest.mark.parametrize("before", BEFORE, ids=itertools.count())
def test_after_any_one_change_of_the_disk_what_is_recalled_is_what_judging_would_find(
    before: tuple[tuple[str, ...], ...], disk: Disk
) -> None:
    for change in CHANGES:
        disk.build()
        for earlier in before:
            disk.do(earlier)
        for command in COMMANDS:
            decide(command, disk.policy)
        disk.do(change)
        for command in COMMANDS:
            disk.check(command)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([*CHANGES, *(("check", command) for command in COMMANDS), ("bring_back",)]), max_size=60)
)
def test_whatever_happens_to_the_disk_what_is_recalled_is_what_judging_would_find(
    disk: Disk, happening: list[tuple[str, ...]]
) -> None:
    disk.build()
    for what in happening:
        disk.do(what)
    for command in COMMANDS:
        disk.check(command)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Policy]:
    decision_cache.clear()
    (tmp_path / "ws").mkdir()
    yield Policy(workspace=str(tmp_path / "ws"), home=str(tmp_path / "home"), trusted=True)
    decision_cache.clear()


def test_a_command_that_is_asked_again_is_not_judged_again(ground: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    first = decide("cat a", ground)
    monkeypatch.setattr(engine, "_decide", lambda *_: pytest.fail("it was judged again"))
    assert decide("cat a", ground) is first


DIFFERENT = [
    lambda policy: replace(policy, rules=(RuleText("deny", "Bash(cat:*)"),)),
    lambda policy: replace(policy, trusted=False),
    lambda policy: replace(policy, home="/elsewhere"),
    replace,
]


@pytest.mark.parametrize("change", DIFFERENT)
def test_another_policy_recalls_nothing(change, ground: Policy) -> None:
    decide("cat a", ground)
    other = change(ground)
    key = decision_cache.key_of(call("cat a", other.workspace), ("default",), (), BASH)
    assert decision_cache.lookup_if_unchanged(other, key) is None


def test_each_thing_that_a_decision_rests_on_tells_it_from_others() -> None:
    base = call("ls", "/projects")
    keys = [
        decision_cache.key_of(base, ("default",), (), BASH),
        decision_cache.key_of(base, ("plan",), (), BASH),
        decision_cache.key_of(base, ("default", "plan"), (), BASH),
        decision_cache.key_of(
            base, ("default",), (RuleText("allow", "Bash(ls)", scope="grant", agent="Countersign"),), BASH
        ),
        decision_cache.key_of(base, ("default",), (), None),
        decision_cache.key_of(call("ls", "/other"), ("default",), (), BASH),
        decision_cache.key_of(call("ls ", "/projects"), ("default",), (), BASH),
        decision_cache.key_of(call("ls", "/projects", agent="Other"), ("default",), (), BASH),
        decision_cache.key_of(replace(base, cwd="/other"), ("default",), (), BASH),
        decision_cache.key_of(replace(base, category="external"), ("default",), (), BASH),
        decision_cache.key_of(
            replace(base, effects=(RunCommand("ls", "/projects", understood=False),)), ("default",), (), BASH
        ),
    ]
    assert len(set(keys)) == len(keys)
    assert decision_cache.key_of(replace(base, tool="acp:execute"), ("default",), (), BASH) is None
    assert decision_cache.key_of(replace(base, effects=(*base.effects, *base.effects)), ("default",), (), BASH) is None


def test_what_bash_could_not_say_is_asked_again(ground: Policy) -> None:
    answers = iter(["bash could not be run to check the syntax", None])

    def check(text: str) -> str | None:
        return next(answers)

    asked = call("ls; ls", ground.workspace)
    assert engine.decide(asked, ground, ("default",), check_syntax=check).verdict == "ask"
    assert engine.decide(asked, ground, ("default",), check_syntax=check).verdict == "allow"


LOOKING = {
    "lstat", "stat", "readlink", "listdir", "scandir", "access", "getcwd", "environ", "getenv", "walk",
    "exists", "lexists", "isdir", "isfile", "islink", "ismount", "realpath", "samefile", "expanduser", "iglob", "glob",
    "is_dir", "is_file", "is_symlink", "read_text", "read_bytes", "iterdir", "resolve_strict",
}  # fmt: skip


def _deciding() -> list[Path]:
    """Return every module of the gate that ``decide`` imports, directly or not, and does not probe the disk itself."""
    found: list[Path] = []
    pending = [GATE / "decisions" / "decide.py"]
    while pending:
        path = pending.pop()
        if path in found:
            continue
        found.append(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("countersign.gate."):
                module = GATE.joinpath(*node.module.split(".")[2:])
                names = [module / alias.name for alias in node.names]
                files = [name.with_suffix(".py") for name in (module, *names)] + [module / "__init__.py"]
                pending += [file for file in files if file.is_file()]
    return [path for path in found if path not in {GATE / "probes" / name for name in PROBES}]


PROBES = ("disk.py", "git_process.py")
"""The modules through which deciding looks at the disk; whatever they look at is recorded."""


def test_the_modules_that_decide_are_found() -> None:
    names = {path.relative_to(GATE).as_posix() for path in _deciding()}
    assert {"decisions/decide.py", "shell/judge.py", "paths/path_judge.py", "patterns/glob.py", "finding.py"} <= names


def test_nothing_that_decides_looks_at_the_disk_but_through_the_gates_eyes() -> None:
    found = [
        f"{path.name}:{node.lineno}"
        for path in _deciding()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Name) and node.id == "open")
        or (
            isinstance(node, ast.Attribute)
            and node.attr in LOOKING
            and isinstance(node.value, (ast.Name, ast.Attribute))
            and ast.unparse(node.value) in {"os", "os.path", "glob", "Path", "pathlib"}
        )
    ]
    assert found == []


def test_a_look_of_an_inner_block_is_one_of_the_outer_too(tmp_path: Path) -> None:
    with sight.record_probes() as outer:
        with sight.record_probes() as inner:
            sight.path_stat(str(tmp_path))
        sight.is_folder(str(tmp_path))
    assert len(inner) == 1
    assert len(outer) == 2
    assert sight.unchanged(outer)
    tmp_path.rmdir()
    assert not sight.unchanged(inner)
