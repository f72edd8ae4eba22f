"""Files that a text makes and that say what a later command of it does: an option by its name, or a program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from .asked import decide


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name, text in {
        ".env": "KEY=TOPSECRET",
        "out/.env": "KEY=TOPSECRET",
        "out/a": "a",
        "out/sub/.env": "KEY=TOPSECRET",
        "held/f": "HELD",
        ".gitignore": "*.pem",
        "out/key.pem": "KEY",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    return tmp_path


BY_AN_EDIT_RULE = [
    "printf '%s' ../.env > out/q; : > 'out/@q'; cd out; strings *",
    "printf '%s' ../.env > out/q; : > 'out/@q'; cd out; strings ?q",
    ": > out/-r; cd out; grep KEY *",
    ": > out/-r; cd out; grep -h . ??",
    ": > out/-r; (cd out; grep KEY *)",
    ": > 'out/--files0-from=.env'; cd out; wc ?-*",
    'cd out; : > -r; for f in ??; do grep KEY "$f"; done',
    'cd out; for f in ??; do grep KEY "$f"; : > -r; done',
    "printf x > out/rust-toolchain.toml; cd out; rustc --version",
    "printf x > out/rust-toolchain.toml; (cd out && cargo --version)",
    "printf x > out/RUST-TOOLCHAIN.toml; cd out; rustc --version",
    "echo x > out/global.json; cd out; dotnet --version",
    "echo x > out/.mvn/jvm.config; cd out; mvn --version",
    "echo '!*.pem' > out/.ignore; rg -t py PRIVATE out",
]


@pytest.mark.parametrize("command", BY_AN_EDIT_RULE)
def test_such_a_file_counts_as_being_there(work: Path, command: str) -> None:
    assert decide(command, allow=["Edit(./out/**)"], workspace=str(work)) == "ask"


@pytest.mark.parametrize("command", [BY_AN_EDIT_RULE[2], BY_AN_EDIT_RULE[3], BY_AN_EDIT_RULE[4]])
def test_bash_hands_its_name_on(work: Path, command: str) -> None:
    line = ["bash", "--norc", "-c", command]
    done = subprocess.run(line, cwd=work, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "TOPSECRET" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ": > out/b-r; cd out; grep KEY *.txt",
        ": > out/-r; cd out; grep KEY a?.txt",
        "echo x > out/b.txt; cd out; rustc --version",
        "echo x > out/b; cd out; wc -l a*",
    ],
)
def test_other_names_say_nothing(work: Path, command: str) -> None:
    assert decide(command, allow=["Edit(./out/**)"], workspace=str(work)) == "allow"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("touch ./-r; grep KEY *", "Bash(touch:*)"),
        ("cp a ./-r; grep KEY ??", "Bash(cp:*)"),
        ("mkdir ./-r; grep KEY *", "Bash(mkdir:*)"),
        ("tee ./-r < out/a; grep KEY *", "Bash(tee:*)"),
    ],
)
def test_so_does_one_that_a_program_makes(work: Path, command: str, rule: str) -> None:
    assert decide(command, allow=[rule, "Edit(./**)"], workspace=str(work)) == "ask"


@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("touch ./--checkpoint=1 './--checkpoint-action=exec=evil'; tar cf x *", "Bash(evil:*)"),
        (": > --checkpoint=1; : > --checkpoint-action=exec=evil; tar cf x *", "Bash(evil:*)"),
        ("echo a > -exec; echo a > evil; find . ?exec evil ';'", "Bash(evil:*)"),
        (": > -r; grep HELD ??", "Read(held/**)"),
        ("echo held/f > q; : > @q; strings ??", "Read(held/**)"),
        ("printf 'held/f\\0' > q; : > --files0-from=q; wc ?-*", "Read(held/**)"),
    ],
)
def test_a_denied_program_or_file_is_not_reached_by_one(work: Path, command: str, denied: str) -> None:
    assert decide(command, deny=[denied], mode="auto", workspace=str(work)) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "mv tc/* . && rustc --version",
        "cp tc/* . && rustc --version",
        "cp tc/rust* out && cd out && rustc --version",
        'for f in tc/*; do cp "$f" .; done; rustc --version',
        "mv opt/* out; cd out; grep KEY *",
        "ls | cat; mv tc/*.toml .; rustc --version",
    ],
)
def test_so_does_one_that_a_pattern_carries_there(work: Path, command: str) -> None:
    (work / "tc").mkdir()
    (work / "tc/rust-toolchain.toml").write_text("[toolchain]\n")
    (work / "opt").mkdir()
    (work / "opt/-r").touch()
    rules = ["Bash(mv:*)", "Bash(cp:*)"]
    assert decide(command, allow=rules, workspace=str(work)) == "ask"
    assert decide("rustc --version", workspace=str(work)) == "allow"
    assert decide("cp out/a* . && rustc --version", allow=rules, workspace=str(work)) == "allow"
