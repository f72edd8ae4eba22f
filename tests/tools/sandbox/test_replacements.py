"""Random rules and trees, and other programs that replace files and folders while a command runs: what a rule for
reading denies is never read, what a rule for editing denies is never changed."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.settings.policy import RuleText
from tests.tools.sandbox.support import SECRET, SandboxBench, needs_sandbox

pytestmark = needs_sandbox

NAMES = ("a", "b", "c.txt", "d e", "ü", "x,y", "-f", "[z]")
FOLDERS = ("", "one", "one/two", "three", "three/four five")
SCRIPT = r"""
echo ready
until [ -e go ]; do sleep 0.02; done
for round in 1 2 3; do
  find . -path ./.git -prune -o -type f ! -name script -exec cat {} + 2>/dev/null
  find . -path ./.git -prune -o -type f ! -name script -print0 2>/dev/null |
    while IFS= read -r -d '' f; do (echo CHANGED >>"$f"; mv -f "$f" "$f.moved" && mv "$f.moved" "$f") 2>/dev/null; done
  sleep 0.3
done
"""


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, str], list[str]]:
    """Files with what a rule says of them (``hidden``, ``locked`` or nothing), and folders that are swapped."""
    files: dict[str, str] = {}
    for folder in FOLDERS:
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True)):
            files[f"{folder}/{name}".lstrip("/")] = draw(st.sampled_from(("hidden", "locked", "")))
    closed = draw(st.sampled_from(("", "one", "three", "one/two")))
    if closed:
        files |= {path: "hidden" for path in files if path.startswith(f"{closed}/")}
    return files | {"closed": closed}, draw(st.lists(st.sampled_from(FOLDERS[1:]), max_size=3, unique=True))


def rule_path(path: str) -> str:
    """The path as a rule has it: what a glob would expand is escaped."""
    return "".join(f"\\{letter}" if letter in "[]*?{}," else letter for letter in path)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=trees(), replaced=st.randoms(use_true_random=False))
def test_what_others_replace_stays_hidden_and_locked(tree: tuple[dict[str, str], list[str]], replaced) -> None:
    files, swapped = tree
    closed = files.pop("closed")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_try(Path(folder), files, closed, swapped, replaced))


async def _try(folder: Path, files: dict[str, str], closed: str, swapped: list[str], random) -> None:
    bench = SandboxBench(folder)
    rules = [RuleText("deny", f"Read({rule_path(path)})") for path, said in files.items() if said == "hidden"]
    rules += [RuleText("deny", f"Edit({rule_path(path)})") for path, said in files.items() if said == "locked"]
    rules += [RuleText("deny", f"Read({closed}/**)")] if closed else []
    bench.set(rules=(*bench.policy.rules, *rules))
    for path, said in files.items():
        bench.file(path, SECRET if said == "hidden" else "plain\n")
    bench.file("script", SCRIPT)
    running = asyncio.create_task(bench.do("shell", command="bash script"))
    await bench.until(lambda: "ready" in bench.emitted)
    for path in random.sample(sorted(files), len(files)):
        where, new = bench.workspace / path, bench.workspace / f"{path}.saved"
        new.write_text(where.read_text())
        new.replace(where)
    for name in swapped:
        where = bench.workspace / name
        if where.is_dir():
            shutil.copytree(where, where.with_name(f"{where.name}.copy"))
            where.rename(where.with_name(f"{where.name}.old"))
            where.with_name(f"{where.name}.copy").rename(where)
            shutil.rmtree(where.with_name(f"{where.name}.old"))
    if closed and (bench.workspace / closed).is_dir():
        (bench.workspace / closed / "new").write_text(SECRET)
    (bench.workspace / "go").touch()
    outcome = await running
    await bench.desk.close()
    assert SECRET not in outcome.output, files
    for path, said in files.items():
        if said == "locked":
            assert (bench.workspace / path).read_text() == "plain\n", path
