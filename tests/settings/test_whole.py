"""Whatever fails or dies in the middle of an edit, a settings file holds its old or its new text, whole."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.settings.edit import EditRefused, append_item, remove_items, remove_value, set_value
from countersign.settings.edit_leftovers import blocking_settle_edit, name_of_edit
from countersign.settings.files import edit_file
from countersign.settings.rename import exchange

from .test_edit import ALLOW, PATHS
from .test_edit import files as texts

OLD = '\ufeff{\r\n  // mine\r\n  "a": 1,\r\n}\r\n'
TOUCHED = (
    "open", "fdopen", "fstat", "stat", "lstat", "access", "fsync", "fchmod", "fchown", "link", "unlink", "rename",
    "replace", "makedirs", "close",
)  # fmt: skip
"""What an edit asks of the system; writing and flushing go through the file that ``fdopen`` gives."""


class Died(BaseException):
    """The process is gone: nothing that would be done from here on is done."""


class Faults:
    """Lets the Nth call into the system fail: once, or with every later one as if the process had died there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
        self.number = number
        self.error = error
        self.calls = 0
        self.failed = False
        for name in TOUCHED:
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.count()
            made = function(*given, **named)
            return Half(made, self) if function.__name__ == "fdopen" and made.writable() else made

        return call

    def count(self) -> None:
        self.calls += 1
        if self.calls == self.number or (isinstance(self.error, Died) and self.failed):
            self.failed = True
            raise self.error


class Half:
    """A file that is being written: a write that fails has written half."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self.file = file
        self.faults = faults

    def __enter__(self) -> Half:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def fileno(self) -> int:
        return self.file.fileno()

    def flush(self) -> None:
        self.faults.count()
        self.file.flush()

    def write(self, data: bytes) -> int:
        try:
            self.faults.count()
        except BaseException:
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            raise
        return self.file.write(data)


def plan(text: str) -> str:
    return set_value(text, ("mode",), "plan")


def laid_out(folder: Path, before: str | None, *, linked: bool) -> Path:
    """The settings file of a new workspace, whose text may stand behind a link."""
    file = folder / ".vscode" / "settings.json"
    if before is not None:
        file.parent.mkdir()
        real = folder / "dotfiles.json" if linked else file
        real.write_bytes(before.encode())
        real.chmod(0o640)
        if linked:
            file.symlink_to(real)
    return file


def tried(file: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> tuple[bool, bool]:
    """Edit the file with the Nth call failing. Whether it said that it was done, and whether that call came."""
    with monkeypatch.context() as patched:
        faults = Faults(patched, number, error)
        try:
            edit_file(file, plan)
            done = True
        except (EditRefused, Died):
            done = False
    return done, faults.failed


def held(file: Path) -> str | None:
    with contextlib.suppress(FileNotFoundError):
        return file.read_bytes().decode()
    return None


SHAPES = pytest.mark.parametrize(("before", "linked"), [(OLD, False), (OLD, True), (None, False)])


def numbers(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    for number in range(1, 100):
        folder = tmp_path / str(number)
        folder.mkdir()
        yield number, folder


@SHAPES
@pytest.mark.parametrize("code", [5, 24, 28], ids=["EIO", "EMFILE", "ENOSPC"])
def test_whichever_call_fails_the_file_is_as_the_answer_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None, linked: bool, code: int
) -> None:
    for number, folder in numbers(tmp_path):
        file = laid_out(folder, before, linked=linked)
        done, failed = tried(file, monkeypatch, number, OSError(code, os.strerror(code)))
        assert held(file) == (plan(before or "") if done else before), number
        assert file.is_symlink() is linked
        if not failed:
            assert done
            assert number > 8
            return
    raise AssertionError("an edit asks more of the system than was foreseen")


@SHAPES
def test_wherever_the_process_dies_the_file_is_the_old_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None, linked: bool
) -> None:
    seen = set()
    for number, folder in numbers(tmp_path):
        file = laid_out(folder, before, linked=linked)
        done, failed = tried(file, monkeypatch, number, Died())
        seen.add(left := held(file))
        assert file.is_symlink() is linked
        # The next server finds nothing of anybody's in what is left, and removes it.
        assert blocking_settle_edit(str(file)) is None
        assert held(file) == left
        folders = {file.parent, file.resolve().parent} - {folder}
        assert not [name for place in folders if place.exists() for name in os.listdir(place) if name != file.name]
        if not failed:
            assert done
            assert seen == {before, plan(before or "")}
            return
    raise AssertionError("an edit asks more of the system than was foreseen")


def test_what_somebody_else_wrote_stays_beside_the_file_and_is_said(tmp_path: Path) -> None:
    file = laid_out(tmp_path, OLD, linked=False)
    kept = file.with_name(name_of_edit(file.name, OLD.encode(), b"{}"))
    kept.write_text('{"theirs": 1}')
    assert kept.name in (blocking_settle_edit(str(file)) or "")
    assert (held(file), held(kept)) == (OLD, '{"theirs": 1}')


def test_what_comes_back_from_an_exchange_is_kept_where_it_cannot_go_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = laid_out(tmp_path, OLD, linked=False)

    def raced(folder: int, one: str, other: str) -> None:
        file.write_text('{"theirs": 1}')
        exchange(folder, one, other)
        file.unlink()

    monkeypatch.setattr("countersign.settings.files.exchange", raced)
    with pytest.raises(EditRefused):
        edit_file(file, plan)
    assert [path.read_text() for path in file.parent.iterdir()] == ['{"theirs": 1}']


CHANGES: list[Callable[[str, Any], str]] = [
    lambda text, path: set_value(text, path, True),
    lambda text, path: set_value(text, path, {"é": ["x"]}),
    remove_value,
    lambda text, _: append_item(text, ALLOW, "r"),
    lambda text, _: remove_items(text, ALLOW, lambda item: item == "s"),
]

MODES = (0o600, 0o640, 0o664)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts(), st.none() | st.integers(0, 200), PATHS, st.sampled_from(CHANGES), st.booleans(), st.sampled_from(MODES))
def test_an_edit_on_disk_is_the_edit_of_the_text_or_refused_and_keeps_link_and_mode(
    text: str, cut: int | None, path: Any, change: Callable[[str, Any], str], linked: bool, mode: int
) -> None:
    data = text.encode()[:cut]
    with tempfile.TemporaryDirectory() as folder:
        file = laid_out(Path(folder), "", linked=linked)
        real = file.resolve()
        real.write_bytes(data)
        real.chmod(mode)
        try:
            expected = change(data.decode(), path).encode()
        except (EditRefused, UnicodeDecodeError):
            expected = None
        try:
            edit_file(file, lambda found: change(found, path))
        except EditRefused:
            assert expected is None
        else:
            assert expected is not None
        assert file.read_bytes() == (data if expected is None else expected)
        assert file.is_symlink() is linked
        assert stat.S_IMODE(real.stat().st_mode) == mode
        assert sorted(os.listdir(real.parent)) == sorted({real.name, *([".vscode"] if linked else [])})
