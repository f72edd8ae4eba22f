#!/usr/bin/env python3
"""Makes a fresh machine ready to build, run and test Countersign: `make setup`.

Owns what is installed and when it is stale; which versions are installed stands in the locks (`make lock`). Each step
puts a stamp into the folder it fills, with a digest of all it was made from: a second run only compares stamps, and
whoever deletes a folder gets it anew. Standard library only, since nothing is installed yet.

As root on Debian, missing programs are installed; elsewhere one sentence says what is missing and what for.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
E2E = ROOT / "tests/e2e"
WHEELHOUSE = ROOT / ".cache/wheelhouse"
# Raised when a step below makes something else of the same inputs, so that machines set up before do it again.
EDITION = 1


def main(wanted: list[str]) -> None:
    unknown = [name for name in wanted if name not in STEPS]
    if unknown:
        give_up(f"there is no step `{unknown[0]}`; the steps are {', '.join(STEPS)}")
    # Two set-ups at once would empty each other's folders: the second waits, then finds nothing to do.
    (ROOT / ".cache").mkdir(exist_ok=True)
    with open(ROOT / ".cache/setup.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, step in STEPS.items():
            if name in wanted or (not wanted and name not in ON_DEMAND):
                step()


# Programs that come with the system


class Program(NamedTuple):
    present: Callable[[], bool]
    package: str
    purpose: str
    needed: bool


def on_path(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def has_chromium() -> bool:
    names = ("chromium", "chromium-browser", "google-chrome")
    return Path("/Applications/Google Chrome.app").exists() or on_path(*names)()


def has_fonts() -> bool:
    return sys.platform == "darwin" or any(Path("/usr/share/fonts").rglob("DejaVuSans.ttf"))


PROGRAMS = [
    Program(on_path("git"), "git", "everything", needed=True),
    Program(has_chromium, "chromium", "`make test-e2e`", needed=False),
    Program(has_fonts, "fonts-dejavu-core", "readable screenshots", needed=False),
]
if sys.platform == "linux":
    PROGRAMS += [
        Program(on_path("bwrap"), "bubblewrap", "the sandbox", needed=False),
        Program(on_path("ps"), "procps", "the tests of processes", needed=False),
        Program(on_path("strace"), "strace", "the tests that watch what a command touches", needed=False),
        Program(on_path("patch"), "patch", "the test of what patches change", needed=False),
        Program(on_path("cc"), "gcc", "the test that cuts writes short", needed=False),
        Program(Path("/usr/include/dlfcn.h").exists, "libc6-dev", "the test that cuts writes short", needed=False),
        Program(on_path("unshare"), "util-linux", "the tests of full and read-only disks", needed=False),
    ]


def system() -> None:
    missing = [program for program in PROGRAMS if not program.present()]
    if missing and on_debian_as_root():
        apt_install([program.package for program in missing])
    else:
        for program in missing:
            if program.needed:
                give_up(f"{program.package} is missing, which {program.purpose} needs; please install it")
            say(f"{program.package} is missing, which {program.purpose} needs; going on without it")
    recent_node = on_path("node")() and works(
        "node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"
    )
    if not recent_node or not on_path("npm")():
        give_up("Node.js 20 or newer with npm is needed; please install it and have `node` and `npm` on the PATH")


def on_debian_as_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: list[str]) -> None:
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", "-qq", "-o", "Acquire::Retries=3", env=environment)
    run(
        "apt-get",
        "install",
        "-y",
        "-qq",
        "-o",
        "Acquire::Retries=3",
        "--no-install-recommends",
        *packages,
        env=environment,
    )


# Python


def venv() -> None:
    """`.venv` holds exactly requirements/dev.txt and the project itself, editable."""
    inputs = [ROOT / "requirements/bootstrap.txt", ROOT / "requirements/dev.txt", ROOT / "pyproject.toml"]
    usable = PYTHON.exists() and works(str(PYTHON), "-c", "import sys, pip; assert sys.version_info >= (3, 11)")
    if usable and is_fresh(VENV, inputs):
        return
    say("making .venv ready")
    if not usable:
        make_venv()
    if not (VENV / "bin/uv").exists():
        pip("install", "--quiet", "--require-hashes", "-r", "requirements/bootstrap.txt")
    uv("pip", "sync", "--quiet", "--require-hashes", "requirements/dev.txt")
    # hatchling is in the lock, so the project is built with it and nothing is fetched unhashed.
    uv("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", ".")
    # Pyright is a Node program; here it is found beside the other checkers.
    link = VENV / "bin/pyright"
    link.unlink(missing_ok=True)
    link.symlink_to("../../scripts/tools/node_modules/.bin/pyright")
    stamp(VENV, inputs)


def make_venv() -> None:
    if not works(sys.executable, "-c", "import ensurepip, venv"):
        if not on_debian_as_root():
            give_up("this Python has no venv module; please install it (on Debian, the package python3-venv)")
        apt_install(["python3-venv"])
    run(sys.executable, "-m", "venv", "--clear", str(VENV))


def wheelhouse() -> None:
    """What the extension needs at its first start, so that the editor under test makes its environment offline."""
    inputs = [ROOT / "requirements/run.txt"]
    if is_fresh(WHEELHOUSE, inputs):
        return
    say("filling .cache/wheelhouse")
    part = WHEELHOUSE.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    # Twice quiet: what is not in some configured place is found in another, or is an error.
    options = ["-qq", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip("download", *options, "--dest", str(part), "-r", "requirements/run.txt")
    shutil.rmtree(WHEELHOUSE, ignore_errors=True)
    part.rename(WHEELHOUSE)
    stamp(WHEELHOUSE, inputs)


def pip(*arguments: str) -> None:
    run(str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--retries", "5", *arguments)


def uv(*arguments: str) -> None:
    run(str(VENV / "bin/uv"), *arguments, env={"VIRTUAL_ENV": str(VENV)})


# Node


def tools() -> None:
    npm_ci(ROOT / "scripts/tools")


def client() -> None:
    npm_ci(ROOT / "client-ts")


def agents() -> None:
    """The real agents that every run of the tests starts."""
    for name in ("claude", "gemini", "zed-codex", "copilot"):
        npm_ci(ROOT / "tests/agents" / name)


def all_agents() -> None:
    """The other real agents, 1 GB: `make test-agents` runs those that are installed.

    Not Qwen Code: it has packages for some platforms that registries do not all hold, and npm takes no lock without
    them. Install it by hand and say where with COUNTERSIGN_TEST_AGENTS.
    """
    agents()
    for name in ("opencode", "codex", "cline"):
        npm_ci(ROOT / "tests/agents" / name)


def gemini() -> None:
    npm_ci(ROOT / "tests/bench/gemini")


def sandbox_runtime() -> None:
    npm_ci(ROOT / "tests/bench/sandbox_runtime")


def npm_ci(package: Path) -> None:
    inputs = npm_inputs(package)
    if is_fresh(package / "node_modules", inputs):
        return
    say(f"installing what {package.relative_to(ROOT)} needs")
    run("npm", "ci", "--loglevel=error", cwd=package)
    stamp(package / "node_modules", inputs)


def npm_inputs(package: Path) -> list[Path]:
    return [package / "package-lock.json", package / ".npmrc"]


def editor() -> None:
    """code-server, whole: its npm package leaves out what VS Code itself depends on, and says so in a shrinkwrap."""
    inputs = npm_inputs(E2E)
    if is_fresh(E2E / "node_modules", inputs):
        return
    say("installing the editor under test")
    run("npm", "ci", "--loglevel=error", cwd=E2E)
    node = output("node", "scripts/editor.mjs", "--print-node")
    environment = {
        "PATH": f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}",
        "npm_config_nodedir": str(Path(node).parent.parent),
    }
    vscode = E2E / "node_modules/code-server/lib/vscode"
    shrinkwrap = json.loads((vscode / "npm-shrinkwrap.json").read_text())
    version = shrinkwrap["packages"]["node_modules/@parcel/watcher"]["version"]
    # `npm ci` refuses the shrinkwrap as shipped. The file watcher is an optional package, and the one of them we need.
    install = [
        "npm",
        "install",
        "--loglevel=error",
        "--fetch-retries=5",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--ignore-scripts",
    ]
    install += ["--omit=dev", "--omit=optional", f"@parcel/watcher-{watcher_platform()}@{version}"]
    run(*install, cwd=vscode, env=environment)
    rebuild = ["npm", "rebuild", "--ignore-scripts=false", "@vscode/spdlog", "@vscode/native-watchdog"]
    if not works(*rebuild, cwd=vscode, env=environment):
        say("VS Code's logger could not be built, for which a C++ compiler is needed: its Output panel will stay empty")
    stamp(E2E / "node_modules", inputs)


def watcher_platform() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"darwin-{machine}" if sys.platform == "darwin" else f"linux-{machine}-glibc"


# Stamps


def is_fresh(folder: Path, inputs: list[Path]) -> bool:
    mark = folder / ".setup-stamp"
    return mark.exists() and mark.read_text() == digest(inputs)


def stamp(folder: Path, inputs: list[Path]) -> None:
    (folder / ".setup-stamp").write_text(digest(inputs))


def digest(inputs: list[Path]) -> str:
    """Of the files, and of what else decides the result: the machine, and the Python of `.venv`."""
    made_by = f"{EDITION} {sys.platform} {platform.machine()} {(VENV / 'pyvenv.cfg').read_text()}"
    whole = hashlib.sha256(made_by.encode())
    for path in inputs:
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


# Running


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    # What programs say goes to standard error, with what we say.
    result = spawn(command, cwd, env, stdout=2)
    if result.returncode:
        give_up(f"`{' '.join(command)}` ended with code {result.returncode}; what it says is above")


def works(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> bool:
    return spawn(command, cwd, env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def output(*command: str) -> str:
    result = spawn(command, ROOT, None, stdout=subprocess.PIPE)
    if result.returncode:
        give_up(f"`{' '.join(command)}` ended with code {result.returncode}; what it says is above")
    return result.stdout.strip()


def spawn(
    command: tuple[str, ...], cwd: Path, env: dict[str, str] | None, stdout: int, stderr: int | None = None
) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, **(env or {})}
    return subprocess.run(
        command, cwd=cwd, env=whole, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, text=True, check=False
    )


def say(sentence: str) -> None:
    print(f"setup: {sentence}", file=sys.stderr, flush=True)


def give_up(sentence: str) -> None:
    say(sentence)
    sys.exit(1)


def newer_python() -> str | None:
    names = ("python3.14", "python3.13", "python3.12", "python3.11")
    probe = ("-c", "import sys; assert sys.version_info >= (3, 11)")
    return next((found for found in map(shutil.which, names) if found and works(found, *probe)), None)


# In this order: the virtual environment first, since every stamp names its Python.
STEPS: dict[str, Callable[[], None]] = {
    "system": system,
    "venv": venv,
    "wheelhouse": wheelhouse,
    "tools": tools,
    "client": client,
    "editor": editor,
    "agents": agents,
    "all-agents": all_agents,
    "gemini": gemini,
    "sandbox-runtime": sandbox_runtime,
}
# Of no use to tests: only when named, as tests/bench/decide.py and tests/bench/spawn.py do.
ON_DEMAND = {"gemini", "sandbox-runtime", "all-agents"}

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036  the one script an older Python may be handed
        other = newer_python()
        if other is None:
            give_up("Python 3.11 or newer is needed; please install it and have it on the PATH")
        os.execv(str(other), [str(other), *sys.argv])
    main(sys.argv[1:])
