#!/usr/bin/env python3
"""Run the gate, settings, stdio and wire tests on every other Python from 3.11 on, and once as an ordinary user.

`make test-pythons`. A version between the newest and that of the ordinary user gets the quick tests only, unless tests
are named (ARGS="tests/gate"). With ARGS=--quick the quick tests run on the newest version and as the
ordinary user, and nothing else runs. The whole suite runs on the Python of `.venv` (`make test`); here each property
gets few examples (`--few-examples`), since what is looked for are differences between versions. Interpreters are found
on the PATH, in /usr/bin and among those of pyenv and uv. Each gets an environment of its own in `.cache/pythons`, from
the same lock.

As root the first Python that the user `nobody` can start runs the tests as that user, in a copy of the tracked files.
Otherwise no run is as another user, and the reason is printed. One run after the other, each on all processors.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from setup import ROOT, is_fresh, say, stamp, uv

PLACE = ROOT / ".cache/pythons"
LOCK = ROOT / "requirements/dev.txt"
TESTS = ["tests/gate", "tests/settings", "tests/wire", "tests/stdio"]
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "auto", "--dist", "loadfile", "--few-examples"]
QUICK = "--quick"
ORDINARY = "nobody"
PROBE = "import sys, json; print(json.dumps([*sys.version_info[:3], sys.implementation.name, sys.executable]))"


def main(arguments: Sequence[str]) -> int:
    """Run all; the exit status is 1 if any run failed."""
    quick = QUICK in arguments
    named = [each for each in arguments if each != QUICK]
    found = interpreters()
    user = ordinary_user()
    theirs = next((version for version, python in found.items() if runs_as(user, python)), None) if user else None
    if user is not None and theirs is None:
        say(f"`{ORDINARY}` can start none of the Pythons found, so the run as an ordinary user is left out")
    runs: dict[str, Callable[[], bool]] = {}
    for version, interpreter in found.items():
        between = version not in (theirs, max(found))
        if quick and between:
            continue
        tests = [*(named or TESTS), *(["-m", "not slow"] if quick or (between and not named) else [])]
        name = ".".join(map(str, version))
        if version == theirs and user is not None:
            runs[f"Python {name} as {ORDINARY}"] = partial(run_as, user, interpreter, tests)
        elif version == tuple(sys.version_info[:3]):
            say(f"Python {name} is that of `.venv`, on which `make test` runs everything")
        else:
            runs[f"Python {name}"] = partial(run_here, interpreter, name, tests)
    failed = []
    for name, run in runs.items():
        say(f"the tests on {name}")
        if not run():
            failed.append(name)
    for each in failed:
        say(f"the tests failed on {each}")
    return 1 if failed else 0


def run_here(interpreter: str, name: str, tests: Sequence[str]) -> bool:
    """Run the tests on this interpreter; true if all passed."""
    python = environment(name, interpreter)
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([python, *PYTEST, *tests], cwd=ROOT, env=variables, check=False).returncode == 0


def interpreters() -> dict[tuple[int, ...], str]:
    """One CPython for each version from 3.11 on."""
    found: dict[tuple[int, ...], str] = {}
    for path in candidates():
        # Outside of any environment, so that a shim of pyenv answers for what it really starts.
        done = subprocess.run([path, "-I", "-c", PROBE], capture_output=True, text=True, check=False, cwd="/")
        if done.returncode:
            continue
        major, minor, micro, implementation, executable = json.loads(done.stdout)
        if (major, minor) >= (3, 11) and implementation == "cpython":
            found.setdefault((major, minor, micro), executable)
    return dict(sorted(found.items()))


def candidates() -> Iterator[str]:
    """Programs that may be a Python; those of the system first."""
    names = ["python3", *(f"python3.{minor}" for minor in range(11, 20))]
    for folder in ["/usr/bin", "/usr/local/bin", *os.get_exec_path()]:
        for name in names:
            if Path(folder).is_absolute() and not Path(folder).is_relative_to(ROOT):
                path = Path(folder, name)
                if os.access(path, os.X_OK):
                    yield str(path)
    for root in (os.environ.get("PYENV_ROOT", "~/.pyenv"), "~/.local/share/uv/python"):
        for path in sorted(Path(root).expanduser().glob("**/bin/python3")):
            if os.access(path, os.X_OK):
                yield str(path)


def environment(name: str, interpreter: str) -> str:
    """The Python of an environment that holds the development lock and this project; made where it is stale."""
    folder = PLACE / name
    if not is_fresh(folder, [LOCK, ROOT / "pyproject.toml"]):
        install(folder, interpreter, ROOT)
        stamp(folder, [LOCK, ROOT / "pyproject.toml"])
    return str(folder / "bin/python")


def install(folder: Path, interpreter: str, tree: Path) -> None:
    uv("venv", "--quiet", "--clear", "--python", interpreter, str(folder))
    python = ["--quiet", "--link-mode", "copy", "--python", str(folder / "bin/python")]
    # Without bytecode each server that a test starts would compile the whole of its dependencies.
    uv("pip", "sync", *python, "--compile-bytecode", "--require-hashes", str(LOCK))
    uv("pip", "install", *python, "--no-deps", "--no-build-isolation", "--editable", str(tree))


def ordinary_user() -> pwd.struct_passwd | None:
    """The user to run as besides us, or None with the reason printed."""
    if os.geteuid() != 0:
        say("not root, so these tests run as an ordinary user anyway")
        return None
    try:
        return pwd.getpwnam(ORDINARY)
    except KeyError:
        say(f"there is no user `{ORDINARY}`, so the run as an ordinary user is left out")
        return None


def run_as(user: pwd.struct_passwd, interpreter: str, tests: Sequence[str]) -> bool:
    """Run the tests as this user in a copy of the tree; true if all passed."""
    with tempfile.TemporaryDirectory(prefix="countersign-user-") as place:
        Path(place).chmod(0o755)
        tree, home = Path(place, "tree"), Path(place, "home")
        home.mkdir()
        copy_tracked(tree)
        install(Path(place, "venv"), interpreter, tree)
        for path in (home, tree, *tree.rglob("*")):
            os.lchown(path, user.pw_uid, user.pw_gid)
        command = [str(Path(place, "venv/bin/python")), *PYTEST, *tests]
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TZ") if name in os.environ}
        variables = {**kept, "HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(home)}
        return subprocess.run(command, cwd=tree, env=variables, check=False, **identity(user)).returncode == 0


def copy_tracked(tree: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def runs_as(user: pwd.struct_passwd, python: str) -> bool:
    try:
        command = [python, "-I", "-c", "import ssl, sqlite3"]
        done = subprocess.run(command, capture_output=True, check=False, cwd="/", **identity(user))
    except OSError:
        return False
    return done.returncode == 0


def identity(user: pwd.struct_passwd) -> dict:
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
