"""Puts a command into the sandbox: makes its description, hands it to the supervisor, and clears up afterwards.

INVARIANT (never outside by accident): where a sandbox cannot be made, ``NoSandbox`` is raised and nothing is started;
what fails later fails in the supervisor's child, before the program.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from countersign.settings.policy import Policy
from countersign.tools.cgroups import blocking_left, blocking_make_bounded, blocking_remove
from countersign.tools.sandbox.boundary import Additions, Boundary, SandboxRoot
from countersign.tools.sandbox.bubblewrap import below, covers_of, options, system_covers
from countersign.tools.sandbox.compile_boundary import NOTHING_MORE, NoBoundary, blocking_boundary
from countersign.tools.sandbox.git_folders import blocking_links_out
from countersign.tools.sandbox.proxy import PORT, Proxy, RefusedHost
from countersign.tools.sandbox.seatbelt import PROGRAM, SeatbeltRun, is_there
from countersign.tools.sandbox.seccomp import filter_program
from countersign.tools.sandbox.state import SandboxState, blocking_holds, blocking_untested_holds, why_not
from countersign.tools.sandbox.survey import TooLarge, lies_below, protected_below
from countersign.wire.base import Json

PREFIX = "countersign-sandbox-"
PROBE_PATIENCE = 30.0
"""Seconds that the try-out of a sandbox may take."""
_PROBE = "import sys, os; sys.path.insert(0, sys.argv[1]); import namespaces as n; w = n.enter(int(sys.argv[2]), \
sys.argv[3:]); os.execv(w[0], w)"
TRIES = 3
"""How often a description is made anew because the folders changed while they were looked at."""


_LINUX, _MACOS = sys.platform == "linux", sys.platform == "darwin"


class NoSandbox(Exception):
    """There is no sandbox to run this in; the message says why and what to do."""


class Confined:
    """One program's sandbox: descriptors to pass on, and what is to be cleared up when the program has ended."""

    def __init__(
        self,
        boundary: Boundary,
        run: _RunFolders | SeatbeltRun,
        description: int,
        status: tuple[int, int],
        proxy: Proxy | None,
    ) -> None:
        self.boundary = boundary
        self.description = description
        self.proxy = proxy
        self._run = run
        self._status, self._said = status
        self.notes: tuple[str, ...] = ()
        """How it ended, as a sentence for the person and the model."""
        self.started = False
        """Whether the program itself was started; known once it has ended."""

    @property
    def pass_fds(self) -> tuple[int, ...]:
        return (self._said, *(() if self.proxy is None else (self.proxy.theirs.fileno(),)))

    def environment(self) -> dict[str, str]:
        """What its programs need beside the environment of any command."""
        more = self._run.environment() if isinstance(self._run, SeatbeltRun) else {}
        return more if self.proxy is None else {**more, **self.proxy.environment()}

    @property
    def holds_processes(self) -> bool:
        """Whether all its processes end with it: they have a PID namespace."""
        return isinstance(self._run, _RunFolders)

    @property
    def refused_hosts(self) -> tuple[RefusedHost, ...]:
        """The hosts that its programs wanted and did not get."""
        return () if self.proxy is None else self.proxy.refused

    def record(self) -> dict[str, Json]:
        """What the ledger keeps of it."""
        roots = self.boundary.roots
        return {
            "backend": "bubblewrap" if self.holds_processes else "sandbox-exec",
            "mode": "writable" if any(root.writable for root in roots) else "readOnly",
            "network": self.boundary.network,
            "refusedHosts": [refused.host for refused in self.refused_hosts],
            "writable": [root.path for root in roots if root.writable],
            "hidden": sum(len(root.hidden_files) + len(root.hidden_folders) for root in roots),
            "readOnly": sum(len(root.read_only) for root in roots),
            "notes": list(self.notes),
        }

    def close_ours(self) -> None:
        """Close what the program has got by now."""
        os.close(self.description)
        os.close(self._said)
        if self.proxy is not None:
            self.proxy.theirs.close()

    def blocking_finish(self, *, set_aside: Path | None) -> None:
        """Clear up. New protected names are moved into ``set_aside``, or only told of where that is None."""
        if self.proxy is not None:
            self.proxy.close()
        try:
            self.started = _was_started(self._status)
        finally:
            os.close(self._status)
        self.notes = tuple(self._protected_notes(set_aside))
        self._run.blocking_remove()

    def _protected_notes(self, set_aside: Path | None) -> list[str]:
        notes: list[str] = []
        for root in self.boundary.roots:
            made = _made_protected(root) if root.writable else []
            for path in made:
                shown = os.path.relpath(path, root.path)
                if set_aside is None:
                    notes.append(f"`{shown}` is new and decides what other programs run; look at it before you go on")
                    continue
                try:
                    target = set_aside / self._run.name / shown
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(path, target)
                    notes.append(f"`{shown}` may not be made in the sandbox and was moved to `{target}`")
                except OSError as error:
                    notes.append(f"`{shown}` may not be made in the sandbox and could not be moved away: {error}")
        return notes


class Confiner:
    """Makes sandboxes for one server. Holds what the try-out of a workspace showed."""

    def __init__(self, storage: Path) -> None:
        self._storage = storage
        self._states: dict[tuple[str, ...], SandboxState] = {}
        self._too_large: set[tuple[str, ...]] = set()

    @property
    def set_aside(self) -> Path:
        return self._storage / "set-aside"

    def blocking_sweep(self) -> None:
        """Remove what servers left that were killed."""
        for base in _bases(self._storage):
            for left in base.glob(f"{PREFIX}*"):
                if _owner_is_gone(left.name):
                    _RunFolders(left, []).blocking_remove()
        blocking_remove(tuple(group for group in blocking_left(PREFIX) if _owner_is_gone(group.name)))

    def blocking_state(self, policy: Policy) -> SandboxState:
        """What holds for this policy's folders. Tried out once for each set of folders."""
        folders = _folders_of(policy)
        found = self._states.get(folders)
        if found is None:
            found = self._states[folders] = self._blocking_try(policy)
        return found

    def blocking_status(self, policy: Policy) -> SandboxState:
        """The same with all that the sandbox of this policy holds, for a person to read."""
        state = self.blocking_state(policy)
        if not state.available:
            return state
        return replace(state, holds=blocking_holds(policy) if _LINUX else blocking_untested_holds())

    def known_state(self, policy: Policy) -> SandboxState | None:
        """What was found for these folders, or None before they were tried out."""
        return self._states.get(_folders_of(policy))

    def blocking_confine(
        self,
        policy: Policy,
        cwd: str,
        *,
        writable: bool = True,
        may_reach: Callable[[str], bool] = lambda _host: False,
        most: int | None = None,
        additions: Additions = NOTHING_MORE,
    ) -> Confined:
        """Make ready to start a program in the sandbox of this policy. ``may_reach`` says, each time that a program in
        it asks for a host, whether it may be reached. ``most`` bounds the names that are looked at. ``additions`` are
        what this program has beside.

        Raises:
            NoSandbox: there is none here, or not for these folders.
        """
        state = self.blocking_state(policy)
        if not state.available:
            raise NoSandbox(f"{state.reason}; set `countersign.sandbox.mode` to `off` to run commands outside it")
        return self._blocking_confine(
            policy, cwd, writable=writable, may_reach=may_reach, most=most, additions=additions
        )

    def _blocking_confine(
        self,
        policy: Policy,
        cwd: str,
        *,
        writable: bool,
        may_reach: Callable[[str], bool],
        most: int | None,
        additions: Additions,
    ) -> Confined:
        program = _bubblewrap(policy) if _LINUX else _sandbox_exec()
        try:
            boundary = self._blocking_boundary(policy, most, additions, writable=writable)
        except (NoBoundary, TooLarge) as error:
            raise NoSandbox(str(error)) from None
        except OSError as error:
            raise NoSandbox(f"the folders cannot be looked at: {error.strerror} ({error.filename})") from None
        if not any(cwd == root.path or lies_below(cwd, root.path) for root in boundary.roots):
            raise NoSandbox(f"`{cwd}` lies in no folder of the sandbox; run the command in the workspace")
        if not _LINUX:
            return self._blocking_under_profile(boundary)
        try:
            run = _RunFolders.blocking_make_bounded(self._storage, boundary.roots)
        except OSError as error:
            raise NoSandbox(f"the sandbox's own folders cannot be made: {error.strerror}") from None
        status, said = os.pipe()
        os.set_blocking(status, False)
        # Where only this program has a way out, the hosts that are listed for a network that is off do not count.
        hosts = () if policy.sandbox_network == "none" else policy.sandbox_hosts
        proxy = None if boundary.network == "none" else Proxy(may_reach, lambda: hosts)
        description = _unnamed_file(marshal.dumps(_description(boundary, run, program, cwd, said, proxy)))
        return Confined(boundary, run, description, (status, said), proxy)

    def _blocking_under_profile(self, boundary: Boundary) -> Confined:
        """On macOS. What its profile cannot say is not left out: there is no sandbox then."""
        if boundary.network != "none" or boundary.mounts or boundary.scratch or boundary.copies:
            raise NoSandbox("on macOS the sandbox has neither a network nor room for an agent's own files yet")
        try:
            run = SeatbeltRun.blocking_make(self._storage, PREFIX, boundary)
        except ValueError as error:
            raise NoSandbox(str(error)) from None
        except OSError as error:
            raise NoSandbox(f"the sandbox's own folders cannot be made: {error.strerror}") from None
        status, said = os.pipe()
        os.set_blocking(status, False)
        return Confined(boundary, run, _unnamed_file(run.description(said)), (status, said), None)

    def _blocking_boundary(self, policy: Policy, most: int | None, additions: Additions, *, writable: bool) -> Boundary:
        """The boundary; folders that were found too large for a lower bound are not looked at again under it."""
        known = (*_folders_of(policy), str(most))
        if known in self._too_large:
            raise TooLarge(f"the folders of the sandbox hold more than {most} files")
        try:
            return blocking_boundary(policy, writable=writable, most=most, additions=additions)
        except TooLarge:
            if most is not None:
                self._too_large.add(known)
            raise

    def _blocking_try(self, policy: Policy) -> SandboxState:
        if not (_LINUX or _MACOS):
            return SandboxState("none", "there is no sandbox on this system yet")
        if _LINUX and filter_program() is None:
            return SandboxState("none", "the system calls of this processor are not known to the sandbox")
        try:
            confined = self._blocking_confine(
                policy,
                os.path.realpath(policy.workspace),
                writable=True,
                may_reach=lambda _host: False,
                most=None,
                additions=NOTHING_MORE,
            )
        except NoSandbox as error:
            return SandboxState("none", str(error))
        home = str(Path(__file__).parent)
        try:
            tried = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _PROBE, home, str(confined.description), "/bin/sh", "-c", "exit 7"],
                pass_fds=(confined.description, *confined.pass_fds),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_PATIENCE,
                check=False,
                env={"PATH": os.defpath},
            )
            failure = None if tried.returncode == 7 else tried.stderr.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            failure = "it did not start in time"
        finally:
            confined.close_ours()
            confined.blocking_finish(set_aside=None)
        if failure is not None:
            return SandboxState("none", why_not(failure))
        return SandboxState("bubblewrap" if _LINUX else "sandbox-exec")


class _RunFolders:
    """The folders of one run: overlay layers, and the file that stands in for hidden ones."""

    def __init__(self, base: Path, roots: Sequence[SandboxRoot]) -> None:
        self._base = base
        self._roots = roots
        self.name = base.name.removeprefix(PREFIX)
        self.groups: tuple[Path, ...] = ()

    @classmethod
    def blocking_make_bounded(cls, storage: Path, roots: Sequence[SandboxRoot]) -> _RunFolders:
        """Make them where each root's filesystem is, outside of all roots."""
        run = cls(_base_for(storage, roots) / f"{PREFIX}{os.getpid()}-{secrets.token_hex(6)}", roots)
        run._base.mkdir(mode=0o700)
        run.groups = blocking_make_bounded(run._base.name)
        run.memory.mkdir()
        for number in range(len(roots)):
            run.work(number).mkdir()
        return run

    @property
    def memory(self) -> Path:
        """Where the sandbox mounts a filesystem in memory, for what stands in for missing and hidden names."""
        return self._base / "memory"

    @property
    def zero(self) -> str:
        return str(self.memory / "hidden")

    def lower(self, number: int) -> Path:
        return self.memory / f"lower{number}"

    def work(self, number: int) -> Path:
        return self._base / f"work{number}"

    def blocking_remove(self) -> None:
        for root in self._roots:
            _strip_marks(root)
        for work in self._base.glob("work*"):
            for inner in ("work", "index"):
                with contextlib.suppress(OSError):
                    (work / inner).rmdir()
        shutil.rmtree(self._base, ignore_errors=True)
        blocking_remove(self.groups)


def _description(
    boundary: Boundary, run: _RunFolders, program: str, cwd: str, said: int, proxy: Proxy | None
) -> dict[str, object]:
    files: list[tuple[str, str]] = list(boundary.copies)
    if boundary.private_home and boundary.git_user is not None:
        name, email = (text.replace("\\", "\\\\").replace('"', '\\"') for text in boundary.git_user)
        files.append((f"{boundary.home}/.gitconfig", f'[user]\n\tname = "{name}"\n\temail = "{email}"\n'))
    return {
        "roots": [
            {
                "path": root.path,
                "lower": str(run.lower(number)),
                "work": str(run.work(number)),
                "covers": covers_of(root),
                "stubs": [
                    *((below(path, root.path), None) for path in root.missing_folders),
                    *(
                        (below(path, root.path), text)
                        for path, text in root.missing_files
                        if path not in root.blank_files
                    ),
                ],
                "pipes": [below(path, root.path) for path, _text in root.missing_files if path in root.blank_files],
            }
            for number, root in enumerate(boundary.roots)
        ],
        "network": None if proxy is None else {"port": PORT, "channel": proxy.theirs.fileno()},
        "groups": [str(group) for group in run.groups],
        "system": system_covers(),
        "memory": str(run.memory),
        "zero": run.zero,
        "closed": str(run.memory / "closed"),
        "empty": str(run.memory / "empty"),
        "status": said,
        "program": program,
        "arguments": options(boundary, cwd),
        "seccomp": (filter_program() or b"").hex(),
        "files": files,
    }


def _owner_is_gone(name: str) -> bool:
    owner = name.removeprefix(PREFIX).split("-")[0]
    return owner.isdigit() and not os.path.exists(f"/proc/{owner}")


def _folders_of(policy: Policy) -> tuple[str, ...]:
    """What a try-out is of."""
    network = "" if _LINUX else policy.sandbox_network  # which a profile cannot open yet
    return (policy.workspace, *policy.additional_directories, network, *policy.sandbox_writable)


def _bubblewrap(policy: Policy) -> str:
    for folder in ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"):
        path = os.path.join(folder, "bwrap")
        if os.access(path, os.X_OK) and not lies_below(os.path.realpath(path), os.path.realpath(policy.workspace)):
            return path
    raise NoSandbox("bubblewrap is not installed; install the package `bubblewrap`")


def _sandbox_exec() -> str:
    if not is_there():
        raise NoSandbox(f"`{PROGRAM}` is not there, so commands cannot be confined")
    return PROGRAM


def _unnamed_file(content: bytes) -> int:
    """A descriptor of a file without a name, at its beginning, that a child can be given."""
    if _LINUX:
        descriptor = os.memfd_create("sandbox", 0)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    return descriptor


def _bases(storage: Path) -> list[Path]:
    return [storage, Path("/var/tmp"), Path("/tmp")]


def _base_for(storage: Path, roots: Sequence[SandboxRoot]) -> Path:
    """A folder on the filesystem of all roots that lies in none of them."""
    wanted = {os.stat(root.path).st_dev for root in roots}
    for base in (*_bases(storage), *(Path(root.path).parent for root in roots if not root.of_git)):
        resolved = os.path.realpath(base)
        inside = any(resolved == root.path or lies_below(resolved, root.path) for root in roots)
        if not inside and os.path.isdir(base) and os.access(base, os.W_OK) and {os.stat(base).st_dev} == wanted:
            return Path(resolved)
    raise NoSandbox("the workspace and the other folders of the sandbox lie on filesystems where it cannot be made")


def _was_started(status: int) -> bool:
    said = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(status, 1 << 16):
            said += chunk
    return b'"exit-code"' in said


def _made_protected(root: SandboxRoot) -> list[str]:
    """Protected names that were not there before. Those that cannot be made inside come from outside and stay."""
    known = {*root.protected, *root.missing_folders, *(path for path, _text in root.missing_files)}
    if root.of_git:
        return [path for path in blocking_links_out(root.path) if path not in known]
    found = list(protected_below(root.path))
    made = [path for path in found if path not in known]
    for folder in found:
        if folder in known and os.path.basename(folder) == ".git" and not os.path.islink(folder):
            made += [path for path in blocking_links_out(folder) if path not in known]
    return made


def _strip_marks(root: SandboxRoot) -> None:
    """Take off the attributes that the overlay leaves on folders made in one that exists in both layers."""
    merged = {root.path}
    for path in (*root.missing_folders, *(path for path, _text in root.missing_files)):
        folder = os.path.dirname(path)
        while folder not in merged:
            merged.add(folder)
            folder = os.path.dirname(folder)
    for folder in merged:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for path in (folder, *(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))):
                for name in os.listxattr(path, follow_symlinks=False):
                    if name.startswith("user.overlay."):
                        os.removexattr(path, name, follow_symlinks=False)
