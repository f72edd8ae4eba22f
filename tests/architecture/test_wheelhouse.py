"""The wheels that a platform's extension carries: each pinned distribution for each Python, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import package_platforms  # noqa: E402  # pyright: ignore[reportMissingImports]

LOCK = "pure==1.0 \\\n    --hash=sha256:00\nfast_core==2.5.1 ; python_version > '3'\n    --hash=sha256:11\n"
PURE = "pure-1.0-py3-none-any.whl"
FAST = [f"fast_core-2.5.1-cp3{n}-cp3{n}-manylinux_2_17_x86_64.manylinux2014_x86_64.whl" for n in (11, 12, 13, 14)]


def test_a_whole_folder_has_no_fault():
    assert package_platforms.missing([PURE, *FAST], LOCK, "linux-x64") == []
    stable = "fast_core-2.5.1-cp39-abi3-manylinux_2_28_x86_64.whl"
    assert package_platforms.missing([PURE, stable], LOCK, "linux-x64") == []


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (FAST, "pure 1.0 has no wheel for Python 3.11"),
        ([PURE, *FAST[1:]], "fast-core 2.5.1 has no wheel for Python 3.11"),
        ([PURE, *FAST, "pure-2.0-py3-none-any.whl"], "pure-2.0-py3-none-any.whl is not pinned by the lock"),
        ([PURE, *FAST, "other-1.0-py3-none-any.whl"], "other-1.0-py3-none-any.whl is not pinned by the lock"),
        ([PURE, *(name.replace("x86_64", "aarch64") for name in FAST)], "fast-core 2.5.1 has no wheel for Python 3.14"),
    ],
)
def test_what_is_missing_or_too_much_is_named(names: list[str], fault: str):
    assert fault in package_platforms.missing(names, LOCK, "linux-x64")


@pytest.mark.parametrize(
    ("tag", "target", "runs"),
    [
        ("macosx_10_9_x86_64", "darwin-x64", True),
        ("macosx_10_9_universal2", "darwin-x64", True),
        ("macosx_10_9_universal2", "darwin-arm64", True),
        ("macosx_11_0_arm64", "darwin-arm64", True),
        ("macosx_11_0_arm64", "darwin-x64", False),
        ("macosx_10_9_x86_64", "darwin-arm64", False),
        ("macosx_26_0_arm64", "darwin-arm64", False),
        ("macosx_10_9_x86_64", "linux-x64", False),
    ],
)
def test_a_wheel_for_an_earlier_macos_runs_and_one_for_a_later_or_another_processor_does_not(
    tag: str, target: str, runs: bool
):
    stable = f"fast_core-2.5.1-cp39-abi3-{tag}.whl"
    assert (package_platforms.missing([PURE, stable], LOCK, target) == []) is runs


def test_the_lock_is_read_whole():
    lock = package_platforms.LOCK.read_text()
    pinned = package_platforms.PINNED.findall(lock)
    assert len(pinned) == lock.count("==") > 10
    assert all(f"3.{minor}" in package_platforms.PYTHONS for minor in (11, 12, 13, 14))
