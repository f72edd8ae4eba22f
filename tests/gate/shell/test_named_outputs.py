"""Under rules that forbid editing or reading, a program that may write or send any file is judged by its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

WRITES = (
    "protoc --go_out={}/gen x.proto",
    "protoc --python_out={} x.proto",
    "protoc --go_out=paths=source_relative:{} x.proto",
    "sass a.scss {}/x.css",
    "sass src:{}",
    "sass --watch src:{}/css",
    "lessc a.less {}/x",
    "cmake -B {}",
    "cmake -S src -B{}",
    "cmake --install-prefix {} -B build",
    "uv venv {}/v",
    "uv venv {}",
    "npm install --prefix {}",
    "npm --prefix={} install",
    "yarn --cwd {} install",
    "make -C {}",
    "make -C{} all",
    "sqlite3 x '.output {}/x'",
    "sqlite3 {}/x 'create table a(b)'",
    "ffmpeg -i a {}/b",
    "convert a {}/b",
    "pdftotext a {}/b",
    "wkhtmltopdf a {}/b",
    "nano {}/x",
    "ed {}/x",
    "emacs --batch {}/x",
    "no-such-program a {}/b",
    "no-such-program --into={}/b",
    "no-such-program 'save {}/b'",
    "timeout 9 no-such-program {}/b",
)
READS = (
    "docker build {}",
    "docker build -t x {}",
    "docker build -f x {}",
    "docker buildx build --push {}",
    "docker image build {}",
    "podman build {}",
    "buildah bud {}",
    "timeout 9 docker build -q {}",
    "sftp h <<< 'put {}/key'",
    "echo 'put {}/key' | sftp h",
)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for folder in ("ws/.git", "ws/src", "ws/held", "ws/open", "home"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "ws/held/key").touch()
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


@pytest.mark.parametrize("command", WRITES)
@pytest.mark.parametrize("rules", [{"deny": ["Edit(./held/**)"]}, {"ask": ["Edit(./held/**)"]}])
@pytest.mark.parametrize("how", [{"mode": "auto"}, {"bypass": True}])
def test_a_place_that_must_not_be_written_is_found(
    command: str, how: dict[str, object], rules: dict[str, list[str]], places: dict[str, str]
) -> None:
    for spelled in ("held", "./held", "src/../held"):
        assert decide(command.format(spelled), **rules, **how, **places) != "allow", spelled


@pytest.mark.parametrize("command", READS)
@pytest.mark.parametrize("rules", [{"deny": ["Read(./held/**)"]}, {"ask": ["Read(./held/**)"]}])
def test_a_place_that_must_not_be_read_is_found(
    command: str, rules: dict[str, list[str]], places: dict[str, str]
) -> None:
    for spelled in ("held", "./held", "src/../held"):
        assert decide(command.format(spelled), **rules, mode="auto", **places) != "allow", spelled


@pytest.mark.parametrize("command", [*WRITES, *READS])
def test_another_place_asks_nothing(command: str, places: dict[str, str]) -> None:
    rules = ["Edit(./held/**)", "Read(./held/**)"]
    assert decide(command.format("open"), deny=rules, mode="auto", **places) == "allow"


@pytest.mark.parametrize(
    "command", ["pytest held", "eslint held/x.js", "cat held/key", "python held/x.py", "./run held/x"]
)
def test_a_program_that_only_reads_what_it_names_needs_no_leave_to_write(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Edit(./held/**)"], mode="auto", **places) == "allow"
