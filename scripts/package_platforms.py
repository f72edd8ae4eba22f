"""Builds dist/countersign-<target>.vsix, which carry all that the server needs as wheels.

    python scripts/package_platforms.py                one for each target
    python scripts/package_platforms.py linux-x64      for these targets only

With such an extension the first start needs no package index. The wheels are those of `requirements/run.txt`, checked
by its hashes, for each supported Python; the folder's content is compared with the lock before it is packed. Windows
has no such extension: the server needs file locks that only POSIX systems have, so it runs in WSL there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "run.txt"
SERVER = ROOT / "client-ts" / "server"
WHEELS = SERVER / "wheels"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TARGETS: Mapping[str, Sequence[str]] = {
    "linux-x64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_28_x86_64"),
    "linux-arm64": ("manylinux_2_17_aarch64", "manylinux2014_aarch64", "manylinux_2_28_aarch64"),
    "darwin-x64": ("macosx_10_12_x86_64", "macosx_10_13_x86_64", "macosx_11_0_x86_64"),
    "darwin-arm64": ("macosx_11_0_arm64", "macosx_12_0_arm64"),
}
"""The editor's names of platforms, and the platform tags of wheels that run there, the newest system last. On macOS a
wheel for an earlier release runs too, and so does one for both architectures."""
MACOS = re.compile(r"macosx_(\d+)_(\d+)_(x86_64|arm64|universal2)")
PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)


def main(targets: Sequence[str]) -> int:
    """Build the extensions of these targets, or of all."""
    if unknown := [target for target in targets if target not in TARGETS]:
        print(f"no such target: {', '.join(unknown)}; choose from {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    subprocess.run([ROOT / "scripts" / "package.sh"], check=True)
    try:
        for target in targets or TARGETS:
            shutil.rmtree(WHEELS, ignore_errors=True)
            fetch(target)
            if faults := missing((path.name for path in WHEELS.iterdir()), LOCK.read_text(), target):
                print("\n".join(faults), file=sys.stderr)
                return 1
            pack(target)
    finally:
        shutil.rmtree(WHEELS, ignore_errors=True)
    return 0


def fetch(target: str) -> None:
    """Put the wheels of one target into the folder, by the hashes of the lock."""
    platforms = [word for tag in TARGETS[target] for word in ("--platform", tag)]
    for version in PYTHONS:
        subprocess.run(
            [
                sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet",
                "--require-hashes", "--only-binary", ":all:", "--no-deps", "--implementation", "cp",
                "--python-version", version, *platforms, "--dest", str(WHEELS), "-r", str(LOCK),
            ],
            check=True,
        )  # fmt: skip


def missing(names: Iterable[str], lock: str, target: str) -> list[str]:
    """Name each pinned distribution that a supported Python would not find in the folder, and each file too many."""
    pinned = {(canonicalize_name(name), version) for name, version in PINNED.findall(lock)}
    served: set[tuple[str, str, str]] = set()
    faults: list[str] = []
    for file in sorted(names):
        name, version, _, tags = parse_wheel_filename(file)
        if (name, str(version)) not in pinned:
            faults.append(f"{file} is not pinned by the lock")
        for python in PYTHONS:
            if any(_runs(tag.interpreter, tag.abi, tag.platform, python, target) for tag in tags):
                served.add((name, str(version), python))
    wanted = {(name, version, python) for name, version in pinned for python in PYTHONS}
    faults += [
        f"{name} {version} has no wheel for Python {python}" for name, version, python in sorted(wanted - served)
    ]
    return faults


def _runs(interpreter: str, abi: str, platform: str, python: str, target: str) -> bool:
    digits = python.replace(".", "")
    if platform != "any" and platform not in TARGETS[target] and not _is_earlier_macos(platform, target):
        return False
    if interpreter == f"cp{digits}":
        return True
    if abi == "abi3" and interpreter.startswith("cp3"):
        return int(interpreter[3:]) <= int(digits[1:])
    return interpreter in ("py3", f"py{digits}")


def _is_earlier_macos(platform: str, target: str) -> bool:
    wheel, newest = MACOS.fullmatch(platform), MACOS.fullmatch(TARGETS[target][-1])
    if wheel is None or newest is None or wheel[3] not in (newest[3], "universal2"):
        return False
    return (int(wheel[1]), int(wheel[2])) <= (int(newest[1]), int(newest[2]))


def pack(target: str) -> None:
    """Make the extension of one target from what lies in the folder."""
    vsce = ROOT / "client-ts" / "node_modules" / ".bin" / "vsce"
    subprocess.run(
        [
            sys.executable, ROOT / "scripts" / "with_address.py", vsce, "package", "--target", target,
            "--no-dependencies", "--allow-missing-repository",
            "--no-rewrite-relative-links", "--out", ROOT / "dist" / f"countersign-{target}.vsix",
        ],
        cwd=ROOT / "client-ts", stdin=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    carried = zipfile.ZipFile(ROOT / "dist" / f"countersign-{target}.vsix").namelist()
    inside = {name.rpartition("/")[2] for name in carried if "/server/wheels/" in name}
    if inside != {path.name for path in WHEELS.iterdir()}:
        raise SystemExit(f"{target}: the extension does not carry the wheels; look at client-ts/.vscodeignore")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
