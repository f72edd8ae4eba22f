"""Random rules, globs among them, and trees with links, and other programs that replace files and folders while a
command runs and reads them: what a rule for reading denies is never read, what a rule for editing denies is never
changed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from countersign.gate import compile_rules, judge_for
from countersign.settings.policy import RuleText
from tests.tools.sandbox.support import SECRET, SandboxBench, needs_sandbox

pytestmark = needs_sandbox

NAMES = ("a", "b", "c.txt", "d.key", "d e", "ü", "x,y", "-f", "[z]")
FOLDERS = ("", "one", "one/two", "three", "three/four five")
GLOBS = ("**/*.key", "*.txt", "one/*", "**/b", "three/**", "**/{a,b}", "**/[cd]*", "?", "one/**/x,y", "**/two/*")
SCRIPT = r"""
echo ready
until [ -e go ]; do sleep 0.02; done
read_all() {
  find . -path ./.git -prune -o ! -type d ! -name script ! -name go -exec cat -- {} + 2>/dev/null
}
change_all() {
  find . -path ./.git -prune -o -type f ! -name script -print0 2>/dev/null |
    while IFS= read -r -d '' f; do
      (echo CHANGED >>"$f"; mv -f "$f" "$f.moved" && mv "$f.moved" "$f"
       ln "$f" "$f.linked" && echo CHANGED >"$f.linked"; rm -f "$f.linked") 2>/dev/null
    done
}
for round in 1 2 3; do read_all; change_all; sleep 0.2; done
until [ -e done ]; do read_all; done
read_all; change_all
"""
"""Reads and changes whatever it can, three times while files are replaced, and reads on until they no longer are."""


@dataclass(frozen=True)
class Tree:
    """Files and what rules say of them. ``links`` are symlinks to files and folders, ``hard`` are hard links, each to a
    file; ``swapped`` are folders that are replaced as a whole."""

    files: tuple[str, ...]
    rules: tuple[RuleText, ...]
    links: dict[str, str]
    hard: dict[str, str]
    swapped: tuple[str, ...]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    files = [
        f"{folder}/{name}".lstrip("/")
        for folder in FOLDERS
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
    ]
    rules: list[RuleText] = []
    for path in files:
        said = draw(st.sampled_from(("Read", "Edit", "", "")))
        if said:
            rules.append(RuleText("deny", f"{said}({rule_path(path)})"))
    for pattern in draw(st.lists(st.sampled_from(GLOBS), max_size=3, unique=True)):
        rules.append(RuleText("deny", f"{draw(st.sampled_from(('Read', 'Edit')))}({pattern})"))
    links: dict[str, str] = {}
    hard: dict[str, str] = {}
    for number, path in enumerate(draw(st.lists(st.sampled_from(files), max_size=3)) if files else ()):
        into = draw(st.sampled_from(FOLDERS))
        (links if draw(st.booleans()) else hard)[f"{into}/link{number}".lstrip("/")] = path
    for number, folder in enumerate(draw(st.lists(st.sampled_from(FOLDERS[1:]), max_size=2))):
        link = f"{draw(st.sampled_from(FOLDERS))}/to{number}".lstrip("/")
        if any(path.startswith(f"{folder}/") for path in files) and not link.startswith(f"{folder}/"):
            links[link] = folder
            said = draw(st.sampled_from(("Read", "Edit", "")))
            if said:
                rules.append(RuleText("deny", f"{said}({link}/{draw(st.sampled_from(('**', '*', 'b', '*.txt')))})"))
    return Tree(
        tuple(files), tuple(rules), links, hard, tuple(draw(st.lists(st.sampled_from(FOLDERS[1:]), max_size=3)))
    )


def rule_path(path: str) -> str:
    """The path as a rule has it: what a glob would expand is escaped."""
    return "".join(f"\\{letter}" if letter in "[]*?{}," else letter for letter in path)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(tree=Tree(("b",), (RuleText("deny", "Edit(b)"),), {}, {"one/link0": "b"}, ()), seed=2)
@example(tree=Tree(("b",), (RuleText("deny", "Read(b)"),), {}, {"one/link0": "b"}, ()), seed=2)
@example(tree=Tree(("three/c",), (RuleText("deny", "Read(one/*)"),), {"one/link0": "three/c"}, {}, ()), seed=0)
@example(
    tree=Tree(("one/a",), (RuleText("deny", "Read(three/**)"),), {"one/to0": "three", "three/to1": "one"}, {}, ()),
    seed=0,
)
@example(tree=Tree(("one/a",), (RuleText("deny", "Read(three/**)"),), {"three/four five/l": "one/a"}, {}, ()), seed=0)
@given(tree=trees(), seed=st.integers(0, 1 << 16))
def test_what_others_replace_stays_hidden_and_locked(tree: Tree, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_try(Path(folder), tree, Random(seed)))


async def _try(folder: Path, tree: Tree, random: Random) -> None:
    bench = SandboxBench(folder)
    # The other files of the workbench would be readable without the rules that speak of them.
    (bench.workspace / "notes.txt").unlink()
    shutil.rmtree(bench.workspace / "private")
    bench.set(rules=tree.rules)
    for path in tree.files:
        bench.file(path, "plain\n")
    for path, target in tree.hard.items():
        (bench.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        os.link(bench.workspace / target, bench.workspace / path)
    for path, target in tree.links.items():
        (bench.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.workspace / path).symlink_to("../" * path.count("/") + target)
    hidden, locked = said_of(bench, tree)
    for path in hidden:
        (bench.workspace / path).write_text(SECRET)  # also under its hard links
    bench.file("script", SCRIPT)
    running = asyncio.create_task(bench.do("shell", command="bash script"))
    await bench.until(lambda: "ready" in bench.emitted)
    replace_all(bench, tree, random)
    (bench.workspace / "go").touch()
    # And while it reads and changes them.
    for _ in range(20):
        replace_all(bench, tree, random)
        await asyncio.sleep(0.02)
    (bench.workspace / "done").touch()
    outcome = await running
    await bench.desk.close()
    assert SECRET not in outcome.output, tree
    for path in locked - hidden:
        assert (bench.workspace / path).read_text() == "plain\n", (path, tree)
    for path in hidden:
        assert (bench.workspace / path).read_text() == SECRET, (path, tree)


def said_of(bench: SandboxBench, tree: Tree) -> tuple[set[str], set[str]]:
    """The files that are hidden and those that are locked: as the gate says of each by each of its names."""
    judge = judge_for(bench.policy, compile_rules(bench.policy), "")
    names = {path: names_of(path, tree) for path in tree.files}
    cwd = str(bench.workspace)
    hidden = {
        path for path, all_names in names.items()
        if any(judge.judge_read(f"{cwd}/{name}", cwd=cwd).deny for name in all_names)
    }  # fmt: skip
    locked = {path for path in names if judge.judge_write(f"{cwd}/{path}", cwd=cwd).deny}
    return hidden, locked


_DEEPEST = 8
"""Folders in a name."""


def names_of(path: str, tree: Tree) -> set[str]:
    """The names by which this file can be reached. Folders that link to each other give it names without end; those
    that pass them once are enough."""
    names, ahead = {path}, [path]
    while ahead:
        known = ahead.pop()
        found = {link for link, target in (*tree.links.items(), *tree.hard.items()) if target == known}
        found |= {f"{link}{known[len(to) :]}" for link, to in tree.links.items() if known.startswith(f"{to}/")}
        found = {name for name in found - names if name.count("/") <= _DEEPEST}
        ahead += found
        names |= found
    return names


def replace_all(bench: SandboxBench, tree: Tree, random: Random) -> None:
    """Replace files as an editor does when it saves, and folders as git does when it checks out. What is new is made
    outside: under another name it would be no file that a rule speaks of. The command may be moving the other files."""
    beside = Path(tempfile.mkdtemp(dir=bench.outside))
    for path in random.sample(tree.files, random.randint(0, len(tree.files))):
        where, new = bench.workspace / path, beside / "new"
        with contextlib.suppress(FileNotFoundError):
            new.write_text(where.read_text())
            new.replace(where)
    for name in tree.swapped:
        where = bench.workspace / name
        if where.is_dir():
            copy, old = (beside / f"{kind}{random.random()}" for kind in ("copy", "old"))
            with contextlib.suppress(shutil.Error):
                shutil.copytree(where, copy, symlinks=True)
            where.rename(old)
            copy.rename(where)
