"""What ``patch`` writes and reads below the folder of ``-d``, and what a diff copies or renames."""

from __future__ import annotations

import pytest

from .asked import decide

OUTSIDE = """
patch -d ../out f p.diff
patch -d../out f p.diff
patch -d /etc passwd p.diff
patch --directory=/etc passwd p.diff
patch --directory ../out f p.diff
patch --dir=../out f p.diff
patch -d .. -d out f p.diff
patch -d sub ../../out/f p.diff
patch -d sub -o ../../out/f x p.diff
patch -d sub -r ../../out/f x p.diff
patch -d ../out -p1 < p.diff
patch -d "$x" f p.diff
patch -d link f p.diff
gpatch -d ../out f p.diff
"""
PROTECTED = """
patch -d .git config p.diff
patch -d.git/hooks pre-commit p.diff
patch --directory=.git config p.diff
patch -p1 -d .git config p.diff
patch -sd .git config p.diff
"""
QUIET = """
patch -d sub f p.diff
patch -d sub -p1 < p.diff
patch -p1 -d sub -i ../p.diff
patch --directory=sub f ../p.diff
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("patched").resolve()
    for name in ("ws/sub/f", "ws/sub/held/k", "ws/p.diff", "ws/.git/config", "out/f", "home/x"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (top / "ws" / "link").symlink_to(top / "out")
    return {"workspace": str(top / "ws"), "home": str(top / "home")}


@pytest.mark.parametrize("command", [*OUTSIDE.strip().splitlines(), *PROTECTED.strip().splitlines()])
def test_what_a_patch_writes_elsewhere_asks(places: dict[str, str], command: str) -> None:
    assert decide(command, mode="auto", **places) == "ask"
    assert decide(command, allow=["Bash(patch:*)", "Edit"], mode="acceptEdits", **places) == "ask"


@pytest.mark.parametrize("command", PROTECTED.strip().splitlines())
def test_a_protected_place_asks_in_every_mode(places: dict[str, str], command: str) -> None:
    assert decide(command, bypass=True, **places) == "ask"


@pytest.mark.parametrize("command", QUIET.strip().splitlines())
def test_a_folder_in_the_workspace_asks_nothing(places: dict[str, str], command: str) -> None:
    assert decide(command, mode="auto", **places) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "patch -d sub held/k ../p.diff",
        "patch -p0 -d sub <<'EOF'\n--- held/k\n+++ held/k\n@@ -1 +1 @@\n-a\n+b\nEOF",
        "patch -d sub/held -o k ../f ../../p.diff",
    ],
)
def test_rules_for_editing_count_below_the_folder(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Edit(./sub/held/k)"], bypass=True, **places) == "deny"
    assert decide(command, ask=["Edit(./sub/held/k)"], bypass=True, **places) == "ask"


@pytest.mark.parametrize("command", ["patch -d sub f k.diff", "patch -d sub -i k.diff", "patch -dsub --input=k.diff"])
def test_rules_for_reading_count_below_the_folder(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Read(./sub/k.diff)"], bypass=True, **places) == "deny"


@pytest.mark.parametrize("line", ["copy from", "rename from"])
@pytest.mark.parametrize("program", ["git apply", "patch -p1", "git am"])
def test_what_a_diff_copies_or_renames_is_read(places: dict[str, str], line: str, program: str) -> None:
    to = line.replace("from", "to")
    command = f"{program} <<'EOF'\ndiff --git a/.env b/y\n{line} .env\n{to} y\nEOF"
    assert decide(command, mode="auto", allow=["Bash", "Edit"], **places) == "ask"
    assert decide(command, deny=["Read(.env)"], bypass=True, **places) == "deny"
    renamed = command.replace(".env", "sub/f")
    assert decide(renamed, mode="auto", allow=["Bash", "Edit"], **places) == "allow"
