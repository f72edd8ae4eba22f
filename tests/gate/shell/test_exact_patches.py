"""Patches whose headers alone say what is changed, compared with the programs that apply them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.shell.files.exact_patches import is_exact_patch
from tests.gate.shell.asked import decide
from tests.patience import PATIENCE

EDIT = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
NEW = (
    "diff --git a/src/new.txt b/src/new.txt\nnew file mode 100644\nindex 0000000..7898192\n--- /dev/null\n"
    "+++ b/src/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
)
GONE = "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"


@pytest.mark.parametrize(
    "text",
    [
        EDIT,
        NEW,
        GONE,
        EDIT + NEW + GONE,
        f"{EDIT}\n\n",
        EDIT.replace(" three\n", " three\n\\ No newline at end of file\n"),
        "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ def f():\n a\n\n+b\n",
    ],
)
def test_a_plain_diff_is_one(text: str) -> None:
    assert is_exact_patch(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "words\n" + EDIT,
        EDIT + "words\n",
        EDIT.replace("@@ -1,3 +1,3 @@", "@@ -1,3 +1,4 @@"),
        EDIT.replace("@@ -1,3 +1,3 @@", "@@ -1,2 +1,3 @@"),
        EDIT.replace("b/src", "b/other"),
        EDIT.replace("src/a", "src/../a"),
        EDIT.replace("a/src", "/src").replace("b/src", "/src"),
        EDIT.replace("a/src", "a//src").replace("b/src", "b//src"),
        EDIT.replace("src/a.txt\n", "src/a.txt\t2020-01-01\n"),
        EDIT.replace("src/a.txt", "src/a b.txt"),
        EDIT.replace("\n", "\r\n"),
        EDIT.replace("one", "one\x0b--- a/x"),
        NEW.replace("100644", "120000"),
        NEW.replace("new file mode 100644", "rename from src/b.txt\nrename to src/new.txt"),
        NEW.replace("b/src/new.txt\nnew", "b/src/old.txt\nnew"),
        "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n",
        "*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
        "1c\nb\n.\n",
        "".join(f"  {line}\n" for line in EDIT.splitlines()),
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n",
    ],
)
def test_other_forms_are_not(text: str) -> None:
    assert not is_exact_patch(text)


_LINES = st.sampled_from(
    [
        *(line for text in (EDIT, NEW, GONE) for line in text.splitlines()),
        *(
            "--- a/k",
            "+++ b/k",
            "@@ -1 +1 @@",
            "-x",
            "+y",
            " one",
            "",
            "Index: k",
            "*** k",
            "--- k",
            "+++ k",
            " --- a/k",
        ),
        *(" +++ b/k", " @@ -1 +1 @@", " -x", " +y", "--- a/k\t", "diff --git a/k b/k", "rename from k", "rename to q"),
        *("1c", ".", "1d", "Prereq: x", "Only in a: k", "\\ No newline at end of file", "@@ -1,2 +1,2 @@", "+-- a/k"),
        *("--- /dev/null", "+++ /dev/null", "new file mode 100644", "deleted file mode 100644", "GIT binary patch"),
    ]
)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    """Patches with some lines left out, put in or repeated."""
    lines = [
        line for text in draw(st.lists(st.sampled_from([EDIT, NEW, GONE]), min_size=1)) for line in text.splitlines()
    ]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(_LINES, max_size=3))
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("command", [["git", "apply"], ["patch", "-p1", "-s", "-f"]])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(text=_texts())
def test_nothing_is_changed_but_what_the_headers_name(
    command: list[str], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if not is_exact_patch(text):
        return
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing")
    folder = tmp_path_factory.mktemp("patched")
    _fill(folder)
    before = _contents(folder)
    subprocess.run(command, cwd=folder, input=text.encode(), capture_output=True, check=False, timeout=PATIENCE)
    after = _contents(folder)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    named = set(re.findall(r"^(?:---|\+\+\+) [ab]/(\S+)", text, re.MULTILINE))
    assert {name.removesuffix(".orig").removesuffix(".rej") for name in changed} <= named


def _fill(folder: Path) -> None:
    (folder / "src").mkdir()
    for name in ("src/a.txt", "src/b.txt", "b.txt", "k", "a/k", "b/k"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("one\ntwo\nthree\n" if name != "b.txt" else "one\n")


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


ALLOW = ["Bash(git apply:*)", "Bash(patch:*)", "Bash(cat:*)"]


@pytest.mark.parametrize("command", ["git apply", "git apply -p1 -v", "patch -p1", "patch -p0 -N"])
def test_such_a_patch_in_the_text_asks_for_no_more_than_its_files(command: str, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    fed = f"{command} <<'EOF'\n{EDIT}EOF"
    assert decide(fed, allow=ALLOW, workspace=str(tmp_path)) == "allow"
    assert decide(fed, allow=ALLOW, deny=["Edit(src/**)"], workspace=str(tmp_path)) == "deny"
    protected = fed.replace("src/a.txt", ".vscode/tasks.json")
    assert decide(protected, allow=ALLOW, workspace=str(tmp_path)) == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "patch <<'EOF'\nPATCHEOF",  # takes all folders away
        "patch -p1 -R <<'EOF'\nPATCHEOF",
        "patch -p1 -b <<'EOF'\nPATCHEOF",
        "git apply --recount <<'EOF'\nPATCHEOF",
        "git apply --unsafe-paths <<'EOF'\nPATCHEOF",
        "git -C sub apply <<'EOF'\nPATCHEOF",
        "git apply x <<'EOF'\nPATCHEOF",
        "{ read a; git apply; } <<'EOF'\nPATCHEOF",
        "cat x | git apply",
        "git apply 3<<'EOF' < x\nPATCHEOF",
        "xargs git apply <<'EOF'\nPATCHEOF",
        "git apply <<'EOF'\nPATCHwords\nEOF",
        "x=$(cat y); git apply <<EOF\n$x\nPATCHEOF",
    ],
)
def test_others_ask(text: str, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    allow = [*ALLOW, "Bash(read:*)", "Bash(xargs:*)"]
    assert decide(text.replace("PATCH", EDIT), allow=allow, workspace=str(tmp_path)) == "ask"


def test_folders_in_front_and_copies_count(tmp_path: Path) -> None:
    deep = "1/2/3/4/5/6/7/held.txt"
    patch = EDIT.replace("src/a.txt", deep)
    (tmp_path / ".vscode").mkdir()
    for text in (f"git apply -p8 <<'EOF'\n{patch}EOF", f"patch -p8 <<'EOF'\n{patch}EOF"):
        assert decide(text, allow=ALLOW, deny=["Edit(./held.txt)"], workspace=str(tmp_path)) == "deny"
    assert not is_exact_patch(EDIT.replace("src/a.txt", "/".join("abcdefghijklmnopqrs")))
    for ending in (".orig", ".rej"):
        text = f"patch -p1 <<'EOF'\n{EDIT}EOF"
        assert decide(text, allow=ALLOW, deny=[f"Edit(src/a.txt{ending})"], workspace=str(tmp_path)) != "allow"
