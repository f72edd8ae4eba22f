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
    "git -C {} init",
    "git -C {} commit -m x",
    "git -C {} pull",
    "git --work-tree={} commit -m x",
    "git init {}",
    "cd {}; git init",
    "sudo -e {}/x",
    "sudo -eu root {}/x",
    "sudo -u root -e a {}/x",
    "sudo --edit {}/x",
    "timeout 9 sudo -e {}/x",
    "pytest -o cache_dir={}",
    "pytest -ocache_dir={}",
    "pytest --override-ini=cache_dir={}",
    "pytest --override-ini log_file={}/x",
    "pytest --rootdir {}",
    "npm install --cache {}",
    "yarn --cache-folder {} install",
    "pnpm --store-dir={} install",
    "gradle --project-dir {} build",
    "bazel --output_base={} build",
    "node --cpu-prof-dir={} x.js",
    "node --diagnostic-dir {} x.js",
    "cargo install --root {} x",
    "uv pip install --target {} x",
    "composer --working-dir={} install",
    "composer install -d {}",
    "cmake --build {}",
    "javac -d {} x.java",
    "javac -d{} x.java",
    "protoc -o{} x.proto",
    "gem install -i {} x",
    "meson setup {}",
    "django-admin startproject x {}",
    "alembic init {}",
    "poetry new {}",
    "hatch new {}",
    "uv init {}",
    "helm create {}",
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
    "command",
    [
        "pytest held",
        "eslint held/x.js",
        "cat held/key",
        "python held/x.py",
        "./run held/x",
        "pytest --ignore-dir=held",
        "grep -r --exclude-dir held x",
        "git -C held status",
        "git -C held log",
        "sudo ls held",
        "docker build --no-cache held",
    ],
)
def test_a_program_that_only_reads_what_it_names_needs_no_leave_to_write(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Edit(./held/**)"], mode="auto", **places) == "allow"


WORKS_IN = (
    "make -C {}",
    "make -C{}",
    "npm --prefix {} install",
    "npm --prefix={} install",
    "gradle -p x --project-dir={}",
)
"""Programs that work in the folder which an option names, and may write anything there."""

UNFINISHED = ("held/$x", '"held/$x"', "held/sub/$(date)", "./held/$x/y", '"$PWD/held/$x"', '"$PWD"/held')
MATCHED = ("h*", "hel[d]", "*/", "./?eld")


@pytest.mark.parametrize("command", WORKS_IN)
@pytest.mark.parametrize("how", [{"mode": "auto"}, {"bypass": True}])
def test_a_folder_to_work_in_is_found_by_its_beginning(
    command: str, how: dict[str, object], places: dict[str, str]
) -> None:
    for deny in (["Edit(./held/**)"], ["Edit(held/**)"]):
        for spelled in UNFINISHED:
            assert decide(command.format(spelled), deny=deny, **how, **places) == "ask", spelled
            text = f"d=held; {command.format(spelled.replace('held', '$d'))}"
            assert decide(text, deny=deny, **how, **places) == "ask", text
        for pattern in MATCHED:
            assert (
                decide(command.format("$d").join([f"for d in {pattern}; do ", "; done"]), deny=deny, **how, **places)
                == "ask"
            )
            if " {}" in command:
                assert decide(command.format(pattern), deny=deny, **how, **places) == "ask", pattern
    for spelled in (*UNFINISHED, *MATCHED) if "-C{}" not in command else ("held", "held/x"):
        text = command.format(
            spelled.replace("held", "src").replace("h", "s").replace("eld", "rc").replace("*/", "s*/")
        )
        assert decide(text, deny=["Edit(./held/**)"], mode="auto", **places) == "allow", text


@pytest.mark.parametrize("command", ["unpigz", "gunzip -k", "cp -b -S gz a"])
def test_what_a_loop_over_a_pattern_names_is_unpacked_and_backed_up_under_other_names(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/conf.json.gz").touch()
    (tmp_path / "src/conf.json.").touch()
    (tmp_path / "src/conf.json").touch()
    rules = ["Edit(src/conf.json)", "Edit(src/conf.json.gzgz)"]
    loop = f'for f in src/conf.json.g?; do {command} "$f"; done'
    assert decide(loop, deny=rules, mode="auto", workspace=str(tmp_path)) != "allow"
    other = f'for f in src/other.g?; do {command} "$f"; done'
    if "-b" not in command:  # what a backup is called is not known where the name is not
        assert decide(other, deny=rules, mode="auto", workspace=str(tmp_path)) == "allow"
