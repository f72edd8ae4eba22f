"""Where a command may run: what is found from the text and the disk, beside where real bash was.

Texts are made of everything that moves a shell, in every structure, among folders, links and commands that remove and
make folders. Set ``COUNTERSIGN_SEED`` for other texts.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.gate.call import RunCommand
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.files.visited_folders import folders
from countersign.gate.shell.flow.control_flow import course
from countersign.gate.shell.judge import judge_command
from countersign.gate.shell.syntax.parser import read
from countersign.settings.policy import RuleText

from .asked import BASH, decide, judge

SEED = int(os.environ.get("COUNTERSIGN_SEED", "1"))
COUNT = 400
FOLDERS = ("a", "a/b", "a/b/c", "e", "e/b")
TIME_LIMIT = 60.0


class Moves:
    """Texts that move the shell and say where it is: ``echo at N "$PWD"``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.shown = 0

    def target(self) -> str:
        return self.random.choice(
            (*FOLDERS, "b", "..", "..", "../e", "../..", ".", "link", "nope", "a/../e", "loop", "'a'")
        )

    def command(self) -> str:
        match self.random.randrange(14):
            case 0 | 1 | 2 | 3 | 4:
                return f"cd {self.target()}{self.random.choice(('', '', '', ' 2>/dev/null', ' < nope', ' >/dev/null'))}"
            case 5:
                return "cd -"
            case 6:
                return f"pushd {self.target()}"
            case 7:
                return "popd"
            case 8:
                return 'cd "$(git rev-parse --show-toplevel)"'
            case 9:
                return f"cd -P {self.target()}"
            case 10:
                return self.random.choice(("rmdir a/b/c", "rmdir e/b", "mkdir nope", "rm link", "true", "false", "ls"))
            case _:
                self.shown += 1
                return f'echo at {self.shown} "$PWD"'

    def text(self, depth: int = 2) -> str:
        return (
            "".join(
                self.statement(depth) + self.random.choice(("; ", "; ", "; ", " && ", " || ", "\n"))
                for _ in range(self.random.randint(1, 4))
            )
            + self.command()
        )

    def gone(self) -> str:
        """Moves into a folder that may have been removed before."""
        folder = self.random.choice(("a/b/c", "e/b"))
        removes = self.random.choice(
            (f"rmdir {folder}", f"rmdir {folder} & wait", f"$(rmdir {folder})", f"true | rmdir {folder}", "true")
        )
        return f"{removes}; cd {folder}; cd {folder.count('/') * '../'}..; {self.command()}"

    def statement(self, depth: int) -> str:
        if self.random.random() < 0.15:
            return f"{{ {self.gone()}; }}"
        if depth == 0 or self.random.random() < 0.6:
            return self.command()
        body = self.text(depth - 1)
        opened = self.random.choice(("", "", " < nope"))
        return self.random.choice(
            (
                f"( {body} ){opened}",
                f"{{ {body}; }}{opened}",
                f"if {self.command()}; then {body}; else {self.command()}; fi{opened}",
                f"if {self.command()}; then {body}; fi",
                f"case x in x) {body};; esac{opened}",
                f"case y in x) {body};; esac",
                f"{{ {body}; }} | cat",
                f"for i in 1 2; do {body}; done",
                f"! {self.command()}",
                f"{self.command()} & wait",
            )
        )


def lay_out(folder: Path) -> Path:
    """A workspace with a repository, far enough below ``folder`` that no text leaves it."""
    workspace = folder / "1/2/3/4/5/6/7/8" / "ws"
    for name in FOLDERS:
        (workspace / name).mkdir(parents=True, exist_ok=True)
    (workspace / "link").symlink_to("a/b")
    (workspace / "loop").symlink_to("loop")
    git = workspace / ".git"
    for name in ("objects", "refs/heads"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    return workspace


def where_bash_is(text: str, workspace: Path) -> Iterator[tuple[str, str]]:
    """The number of each ``echo`` that ran, and where."""
    bash = shutil.which("bash")
    assert bash is not None
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(workspace.parent), "PWD": str(workspace)}
    done = subprocess.run(
        [bash, "--norc", "--noprofile", "-c", text],
        cwd=workspace,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    for line in done.stdout.splitlines():
        said, _, rest = line.partition(" ")
        number, _, place = rest.partition(" ")
        if said == "at":
            yield number, place


def where_we_find(text: str, workspace: Path) -> dict[str, list[str] | None]:
    """The folders of each ``echo``, by its number."""
    judge = PathJudge(str(workspace), "/nowhere/home", (), (), RuleSet([]), "A")
    found: dict[str, list[str] | None] = {}
    for step in course(read(text)).steps:
        if step.command.source.startswith("echo"):
            found[step.command.words[2].value or ""] = folders(step.places, str(workspace), judge, set())
    return found


def test_bash_is_where_it_was_found_to_be(tmp_path: Path) -> None:
    known = 0
    for number in range(COUNT):
        text = Moves(SEED * COUNT + number).text()
        workspace = lay_out(tmp_path / str(number))
        found = where_we_find(text, workspace)
        for shown, place in where_bash_is(text, workspace):
            places = found[shown]
            assert places is None or place in places, (text, shown, place, places)
            known += places is not None
        shutil.rmtree(tmp_path / str(number))
    assert known > COUNT / 4


@pytest.mark.parametrize(
    "text",
    [
        "cd a; make; cd ..; make", "cd a && make && cd ..; make", "cd a || exit 1; make; cd ..; make",
        "cd a/b; make; cd ../..; make", "cd a; make; cd -", "cd a && make && cd - >/dev/null && make",
        "cd a 2>/dev/null; make; cd ..", "(cd a; make; cd ..; make)", "if cd a; then make; cd ..; fi; make",
        "pushd a >/dev/null; make; popd >/dev/null; make", "pushd a && make && popd",
        "cd a; cd ../e; make; cd ..; make",
        'cd "$(git rev-parse --show-toplevel)"; make', 'cd a && cd "$(git rev-parse --show-toplevel)" && make',
        'cd "$(git rev-parse --show-toplevel 2>/dev/null)" && make', "cd -P a; make; cd ..",
    ],
)  # fmt: skip
def test_a_way_there_and_back_inside_the_workspace_needs_no_rule(text: str, tmp_path: Path) -> None:
    assert decide(text, ["Bash(make:*)"], workspace=str(lay_out(tmp_path))) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "cd a; cd ..; cd ..; make", "cd nope; make; cd ..; make", "mkdir nope; cd nope; cd ..; make", "cd -; make",
        "rmdir e/b; cd e/b; cd ../..; make", "rmdir e/b & cd e/b; cd ../..; make", "cd a < nope; cd ..; make",
        "{ cd a; } < nope; cd ..; make", "if make; then cd a; fi; cd ..; make", "make && cd a; cd ..; make",
        "bash -c 'rmdir e/b'; cd e; cd ..; make", "rmdir e/b; bash -c 'cd e/b; cd ../..; make'", "popd; make",
        "pushd a; popd; popd; make", "pushd; make", "cd nope/../a; cd ..; make", "cd -P link; cd ..; make",
        "cd a | cat; cd ..; make", "cd a & cd ..; make", "while cd a; do cd ..; done", "cd loop; cd ..; make",
        'GIT_DIR=/x/.git; cd "$(git rev-parse --show-toplevel)"; make', 'cd "$(git rev-parse --git-dir)"; make',
        'cd a; cd "$(git rev-parse --show-toplevel)"; cd ..; make', 'cd "$(git -C .. rev-parse --show-toplevel)"; make',
    ],
)  # fmt: skip
def test_a_way_that_may_lead_out_of_the_workspace_asks(text: str, tmp_path: Path) -> None:
    rules = ["Bash(make:*)", "Bash(mkdir:*)", "Bash(rmdir:*)", "Bash(git rev-parse:*)", "Edit(./**)"]
    assert decide(text, rules, workspace=str(lay_out(tmp_path))) == "ask"


@pytest.mark.parametrize(
    "setting", ["[core]\n\tworktree = /\n", "[include]\n\tpath = x\n", "[core]\n\tw\\\norktree = /\n"]
)
def test_the_top_of_a_repository_with_another_work_tree_is_not_known(setting: str, tmp_path: Path) -> None:
    workspace = lay_out(tmp_path)
    (workspace / ".git/config").write_text(setting)
    assert decide('cd "$(git rev-parse --show-toplevel)"; make', ["Bash(make:*)"], workspace=str(workspace)) == "ask"


@pytest.mark.parametrize("text", ["cd a; ", "cd a && ", "cd a; cd ..; ", "pushd a; ", "cd -; "])
def test_many_moves_take_linear_time(text: str) -> None:
    assert decide(text * (90_000 // len(text)) + "make", ["Bash(make:*)"]) == "ask"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("cd a; make; cd ..; make", "{ 'cd' 'a' || 'exit'; }; 'make'; 'cd' '..'; 'make'"),
        (
            "cd a 2>/dev/null && make; cd ..; make",
            "{ 'cd' 'a' 2> '/dev/null' || 'exit'; } && 'make'; 'cd' '..'; 'make'",
        ),
        ("cd nope; make", "'cd' 'nope'; 'make'"),
        ("cd a && make", "'cd' 'a' && 'make'"),
    ],
)  # fmt: skip
def test_a_move_that_was_judged_to_succeed_ends_the_shell_if_it_fails(text: str, printed: str, tmp_path: Path) -> None:
    found = judge(text, allow=["Bash(make:*)"], workspace=str(lay_out(tmp_path)))
    assert found.printed == printed


@pytest.mark.parametrize("gone", FOLDERS)
def test_a_folder_that_is_removed_after_the_decision_leads_nowhere_else(gone: str, tmp_path: Path) -> None:
    """What is allowed runs where it was judged to run, or not at all."""
    known = 0
    for number in range(COUNT // 4):
        text = Moves(SEED * COUNT + number).text()
        workspace = lay_out(tmp_path / str(number))
        found = judge(text, workspace=str(workspace))
        if found.printed is None:
            continue
        places = where_we_find(text, workspace)
        shutil.rmtree(workspace / gone)
        for shown, place in where_bash_is(found.printed, workspace):
            judged = places[shown]
            assert judged is None or place in judged, (text, found.printed, shown, place, judged)
            known += judged is not None
        shutil.rmtree(tmp_path / str(number))
    assert known > COUNT / 16


@pytest.mark.parametrize(
    "text",
    [
        "ls $((1/0)); cd a\ncat s", "x=$((1 % 0)); cd a\ncat s", "X=$((1/0)) cd a\ncat s",
        "{ ls $((1/ 0)); }; cd a\ncat s",
        "[[ $((1/0)) == 1 ]]; cd e\ncat s", "case $((1/0)) in 1) ;; esac; cd a\ncat s",
        "export X=$((1/0)); cd a\ncat s",
        "for i in $((2*3%0)); do ls; done; cd a\ncat s", 'ls $((1/0)); x=a\ncat "./$x/s"',
    ],
)  # fmt: skip
def test_a_move_that_bash_leaves_out_is_not_counted_on(text: str, tmp_path: Path) -> None:
    """Where an expansion fails, bash leaves out the rest of the line, its guards too, and goes on with the next one."""
    workspace = lay_out(tmp_path)
    left_out = 'echo $((1/0)); cd a || exit\necho at 1 "$PWD"'
    assert list(where_bash_is(left_out, workspace)) == [("1", str(workspace))]
    assert decide(text, mode="auto", deny=["Read(./s)"], workspace=str(workspace)) != "allow"


def test_both_ends_count_where_the_agent_runs_its_own_text(tmp_path: Path) -> None:
    workspace = str(lay_out(tmp_path))
    paths = PathJudge(workspace, "/nowhere/home", (), (), rules := RuleSet([RuleText("allow", "Bash(make:*)")]), "A")

    def asks(own_text: bool) -> bool:
        effect = RunCommand("cd a; make; cd ..; make", workspace, own_text=own_text)
        found = judge_command(effect, rules, paths, "A", check_syntax=BASH, builtin_reads=True)
        return any(each.requires_ask for each in found.findings)

    assert asks(own_text=True)
    assert not asks(own_text=False)
