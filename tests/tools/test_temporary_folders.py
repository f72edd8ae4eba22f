"""Each chat's commands have a private temporary folder, which ends with the chat or with the server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from countersign.gate import BadArguments
from countersign.tools.shell.temporary_folders import PREFIX, TemporaryFolders, blocking_make_temporary

from .workbench import PATIENCE, Workbench

SERVER = """
import os, sys
from countersign.tools.shell.temporary_folders import TemporaryFolders
folders = TemporaryFolders(sys.argv[1])
os.mkdir(f"{folders.base}/chat")
print(folders.base, flush=True)
sys.stdin.read()
os._exit(9)
"""


@pytest.fixture
def root(bench: Workbench, tmp_path: Path) -> Path:
    """The temporary folder of the workbench's chat, which is not made yet."""
    base = tmp_path.resolve() / "base"
    base.mkdir(mode=0o700)
    bench.set(temporary_base=str(base))
    return Path(bench.policy.temporary_root("thread") or "")


async def test_a_command_has_a_private_folder(bench: Workbench, root: Path) -> None:
    bench.environment["TMPDIR"] = "/elsewhere"
    outcome = await bench.do("shell", command='echo "$TMPDIR"; stat -c %a "$TMPDIR"; echo a > "$TMPDIR/x"; mktemp')
    named, mode, made = outcome.output.splitlines()
    assert (Path(named), mode, (root / "x").read_text()) == (root, "700", "a\n")
    assert Path(made).parent == root
    assert "a" in (await bench.do("shell", command='cat "$TMPDIR/x"')).output


async def test_another_chat_has_another_folder(bench: Workbench, root: Path) -> None:
    prepared = bench.prepare("shell", command='echo "$TMPDIR"')
    other = await bench.run("shell", prepared, thread_id="other")
    assert other.output.strip() == bench.policy.temporary_root("other") != str(root)


async def test_no_command_runs_with_a_folder_that_is_not_private(bench: Workbench, root: Path) -> None:
    os.symlink(bench.outside, root)
    outcome = await bench.do("shell", command='echo a > "$TMPDIR/x"')
    assert not outcome.success
    assert not list(bench.outside.iterdir())
    os.unlink(root)
    os.mkdir(root)
    os.chmod(root, 0o755)
    with pytest.raises(BadArguments, match="not a private folder"):
        blocking_make_temporary(str(root))


async def test_a_folder_that_was_removed_is_made_again(bench: Workbench, root: Path) -> None:
    await bench.do("shell", command="true")
    os.rmdir(root)
    os.rmdir(os.path.dirname(root))
    assert (await bench.do("shell", command='echo a > "$TMPDIR/x"')).success


def test_folders_end_with_their_server(tmp_path: Path) -> None:
    folders = TemporaryFolders(str(tmp_path))
    assert folders.base is not None
    assert os.stat(folders.base).st_mode & 0o777 == 0o700
    chat = Path(folders.base, "chat")
    chat.mkdir()
    (chat / "link").symlink_to(tmp_path)
    folders.blocking_remove(str(chat))
    assert not chat.exists()
    assert tmp_path.exists()
    folders.blocking_close()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_server_left_is_removed_and_what_lives_is_not(tmp_path: Path) -> None:
    mine = TemporaryFolders(str(tmp_path))
    (tmp_path / f"{PREFIX}file").write_text("")
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        left = Path(server.stdout.readline().strip())
        mine.blocking_sweep()
        assert (left / "chat").is_dir(), "its server lives"
        server.kill()
        server.wait(PATIENCE)
    mine.blocking_sweep()
    assert not left.exists()
    assert mine.base is not None
    assert Path(mine.base).is_dir()
    assert (tmp_path / f"{PREFIX}file").exists()
    mine.blocking_close()


def test_a_folder_that_another_server_swept_before_it_was_locked_is_made_anew(tmp_path: Path) -> None:
    swept: list[str] = []

    def sweep_once(path: str) -> None:
        if not swept:
            swept.append(path)
            os.rmdir(path)

    folders = TemporaryFolders(str(tmp_path), made=sweep_once)
    assert folders.base not in (None, swept[0])
    folders.blocking_close()


def test_without_a_place_there_is_no_folder(tmp_path: Path) -> None:
    assert TemporaryFolders(str(tmp_path / "missing")).base is None
