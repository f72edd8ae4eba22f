"""What an earlier command of a text did to the files that a later one names: the disk does not show it yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from .asked import decide


@pytest.fixture
def work(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    for name, text in {
        "p/q/r/x": "x", "out/a/x": "x", "src/s": "before", "src/config.toml": "[build]", "keys/key.pem": "TOPSECRET",
        "old (keys)/key.pem": "TOPSECRET",
        "sub/.env": "KEY=TOPSECRET", "fix/HEAD": "ref: refs/heads/x", "fix/config": "[core]", "../outside": "TOPSECRET",
    }.items():  # fmt: skip
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"{text}\n")
    return top


EDIT = "Edit(./**)"
ASKING = [
    ("cd p/q/r && mv ../r ../../../zz && cat ../../outside", ["Bash(mv:*)", EDIT]),
    ("cd p/q/r && mv ../r ../../../zz && echo x > ../../outside", ["Bash(mv:*)", EDIT]),
    ("echo x > out/config.toml && mv out .cargo", ["Bash(mv:*)", EDIT]),
    ("cp src/config.toml out/a/ && mv out/a .cargo", ["Bash(mv:*)", "Bash(cp:*)", EDIT]),
    ("echo x > out/config.toml; mv out/* .cargo/", ["Bash(mv:*)", EDIT]),
    ("mv src/config.toml out && mv out .cargo", ["Bash(mv:*)", EDIT]),
    ("ln -s ../../../../outside p/q/r/l && mv p/q/r zz && cat zz/l", ["Bash(ln:*)", "Bash(mv:*)"]),
    ("ln -s . l; cat l/../outside", ["Bash(ln:*)"]),
    ("ln -s . l; echo z > l/../outside", ["Bash(ln:*)", EDIT]),
    ("ln src/s out/y; echo z > out/y", ["Bash(ln:*)", "Edit(./out/**)"]),
    ("cp -l src/s out/y; echo z > out/y", ["Bash(cp:*)", "Edit(./out/**)"]),
    ("mv keys zz; cat zz/*", ["Bash(mv:*)"]),
    ("cp -r keys zz; cat zz/*", ["Bash(cp:*)"]),
    ("mv 'old (keys)' zz; cat zz/*", ["Bash(mv:*)"]),
    ("mv out/* src/; cat src/a/x", ["Bash(mv:*)", EDIT]),
    ("for i in 1 2; do cat zz/*; mv keys zz; done", ["Bash(mv:*)"]),
    ("bash -c 'while true; do cat zz/*; cp -r keys zz; done'", ["Bash(cp:*)"]),
    ("cd p/q/r && mv ../r ../../../zz && cd ../.. && cat outside", ["Bash(mv:*)"]),
    ("cd out/a && mv ../a ../../.cargo && echo x > config.toml", ["Bash(mv:*)", EDIT]),
    ("ln -s .github g; echo x > g/hooks/h", ["Bash(ln:*)", EDIT]),
    ("ln -s keys k2; cat k2/*", ["Bash(ln:*)"]),
    ("cp -rs /nowhere/src out/l; echo x > out/l/s", ["Bash(cp:*)", EDIT]),
    ("mkdir zz && mv keys zz && cat zz/*/*", ["Bash(mv:*)", "Bash(mkdir:*)", EDIT]),
    ("cd src && mv ../src ../out/ && rustc --version", ["Bash(mv:*)"]),
    ("mkdir -p ./-r/x/y; grep x *", ["Bash(mkdir:*)"]),
    ("mkdir -p fix/objects fix/refs; cd fix; git status", ["Bash(mkdir:*)"]),
]


@pytest.mark.parametrize(("command", "rules"), ASKING)
def test_what_an_earlier_command_moved_linked_or_completed_asks(work: Path, command: str, rules: list[str]) -> None:
    assert decide(command, allow=rules, workspace=str(work)) == "ask"


LIFTED = ["ln -s src b; rm ../f", "mv src b; echo x > ../f", "cp -r src b; rm ../f", "ln -sf n.txt up & ls"]


@pytest.mark.parametrize("command", LIFTED)
def test_what_asks_in_auto_asks_behind_a_move_too(work: Path, command: str) -> None:
    (work / "up").symlink_to("..")
    assert decide(command, workspace=str(work), mode="auto") == "ask"


READING = (
    "cd p/q/r && mv ../r ../../../zz && cat ../../outside",
    "ln -s . l; cat l/../outside",
    "mv keys zz; cat zz/*",
    "cp -r keys zz; cat zz/*",
)


@pytest.mark.parametrize("command", [command for command, _ in ASKING if command in READING])
def test_bash_reads_what_the_disk_did_not_show(work: Path, command: str) -> None:
    line = ["bash", "--norc", "-c", command]
    done = subprocess.run(line, cwd=work, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "TOPSECRET" in done.stdout


def test_a_program_that_the_text_makes_is_not_known(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "bin").mkdir()
    monkeypatch.setenv("PATH", f"/usr/bin:/bin:{work}/bin")
    assert decide("ls .", workspace=str(work)) == "allow"
    assert decide("cp src/s bin/ls; ls .", allow=["Bash(cp:*)", EDIT], workspace=str(work)) == "ask"


EVERYDAY = [
    "echo x > t && mv t final && cat final",
    "mv a.py b.py && git add b.py",
    "mkdir -p src/x && mv src/s src/x/ && ls src",
    "cp a b && cat b",
    "mkdir -p build && cd build && cmake ..",
    "mv src/s out/ && ls -la",
    "cp -r src dst && ls",
    'for f in src/*; do cp "$f" "$f.bak"; done',
    "mkdir d && cd d && cp -r ../src . && ls",
    "mv src/s out && ls out",
    "cp -r src out/ && ls out",
    'for f in src/*; do mv "$f" out/; done',
    "mv src/* out/ && cat out/a/x",
    "ln -s ../src/s out/y && cat src/s",
    'for f in src/*; do cat out/a/x; mv "$f" out/; done',
    "mv src lib && make",
    "cd sub && mv x y && cd .. && ls",
    "mkdir -p a/b && echo x > a/b/c && cat a/b/c",
    "rm -rf out && mkdir out && cp src/s out/s && cat out/s",
]


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_texts_are_covered_by_their_rules(work: Path, command: str) -> None:
    rules = [f"Bash({name}:*)" for name in ("mv", "cp", "ln", "mkdir", "git add", "cmake", "rm", "make")]
    assert decide(command, allow=[*rules, EDIT], workspace=str(work)) == "allow"
