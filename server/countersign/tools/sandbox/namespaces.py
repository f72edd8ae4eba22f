"""Runs in the child of the supervisor, right before the program starts: makes the mounts that bubblewrap cannot.

In a user and a mount namespace of our own, each folder of the sandbox becomes an overlay whose upper layer is the
folder itself: writes are live, and what is mounted on names in it stays there when a program outside replaces the file
or folder of that name, which takes a mount away from an ordinary folder. What is hidden, read-only or may not be made
is mounted on the overlay; bubblewrap then takes the folders over as they are.

Standard library only, and little of it: importing is most of the time this takes. Linux only, but for the one branch
in ``enter``.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import struct
import sys
import time

TYPE_CHECKING = False  # `typing` takes longer to import than all that this module does
if TYPE_CHECKING:
    from typing import Any

_NEWNS, _NEWUSER, _NEWNET = 0x20000, 0x10000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_OPENAT2 = 437
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_NO_LINKS_BENEATH = 0x04 | 0x02 | 0x08
"""RESOLVE_NO_SYMLINKS, NO_MAGICLINKS, BENEATH."""
_DEATH_SIGNAL, _KILL = 1, 9
REFRESH = 0.5
"""Seconds between two looks of the sandbox at what other programs replaced, made or removed in its folders."""
CONNECT_PATIENCE = 1.0
"""Seconds for a connection to a program in the sandbox: it is made or refused at once, unless that program is stuck."""

MOST_PROCESSES = 4096

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
"""Those that bubblewrap takes from outside."""

_libc = ctypes.CDLL(None, use_errno=True)


def enter(descriptor: int, command: list[str]) -> list[str]:
    """Make the namespaces and mounts that the description in this descriptor asks for.

    Returns the words that start the command in them. Raises:
        OSError: something of it cannot be made; then nothing may be started.
    """
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        spec = marshal.load(file)
    if "words" in spec:
        # macOS: its own program confines the command (``seatbelt.py``).
        os.set_inheritable(spec["status"], True)
        return [*spec["words"], *command]
    for group in spec["groups"]:
        _join(group)
    if os.geteuid():
        # Root is bound by no such number.
        resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))
    _own_namespaces(_NEWNET if spec["network"] else 0)
    channel = _hand_out_listener(spec["network"]) if spec["network"] else None
    _mount("tmpfs", spec["memory"], "tmpfs", _NOSUID | _NODEV, "mode=700,size=4m")
    _lock_devices()
    _make_covers(spec)
    for kind, path in spec["system"]:
        _mount(_sources(spec)[kind], path, None, _BIND)
    for root in spec["roots"]:
        _make_stubs(root)
        _overlay(root)
    for root in spec["roots"]:
        _cover(root, spec)
    _leave_attendant([root["path"] for root in spec["roots"]], spec["status"], channel)
    arguments = _memory_file(b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in spec["arguments"]))
    words = [spec["program"], "--args", str(arguments)]
    passed = [arguments, spec["status"]]
    if spec["seccomp"]:
        passed.append(_memory_file(bytes.fromhex(spec["seccomp"])))
        words += ["--seccomp", str(passed[-1])]
    for name, text in spec["files"]:
        passed.append(_memory_file(text.encode()))
        words += ["--file", str(passed[-1]), name]
    _only_inherit(passed)
    return [*words, "--json-status-fd", str(spec["status"]), "--", *command]


def _join(group: str) -> None:
    """Move this process into a control group. It has one thread, and where a thread can be moved (version 1 of control
    groups), that does not wait for every processor, as moving a process does."""
    try:
        file = open(f"{group}/tasks", "w")  # noqa: SIM115  closed below
    except FileNotFoundError:
        file = open(f"{group}/cgroup.procs", "w")  # noqa: SIM115
    with file:
        file.write("0")


def _own_namespaces(more: int) -> None:
    user, group = os.getuid(), os.getgid()
    _checked(_libc.unshare(_NEWUSER | _NEWNS | more), "no user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _mount(None, "/", None, _REC | _PRIVATE)


def _hand_out_listener(network: dict[str, int]) -> int:
    """Bring up the loopback of the new network namespace and give the socket on which the proxy listens to the server.

    The server keeps the only descriptor of it: the program can connect to it and nothing else. Returns the channel to
    the server, which no program inherits.
    """
    import _socket  # noqa: PLC0415  only where there is a network; `socket` itself takes as long as all of this
    import fcntl  # noqa: PLC0415

    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    fcntl.ioctl(listener.fileno(), _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))
    listener.bind(("127.0.0.1", network["port"]))
    listener.listen(128)
    passed = struct.pack("i", listener.fileno())
    line = _socket.socket(fileno=network["channel"])
    line.sendmsg([b"l"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)])
    listener.close()
    return line.detach()


def _lock_devices() -> None:
    """Make the devices that are passed on read-only, and so whatever is mounted from there. They take what is written
    to them as before; but root, who owns them, cannot change their rights, which are those of the machine's own."""
    for path in DEVICES:
        if os.path.exists(path):
            _mount(path, path, None, _BIND)
            kept = os.statvfs(path).f_flag & (_NOSUID | _NODEV | _NOEXEC)
            _mount(None, path, None, _REMOUNT | _BIND | _RDONLY | kept)


def _make_stubs(root: dict[str, Any]) -> None:
    """Make the lower layer: what stands in for names that are missing and must not be made."""
    os.mkdir(root["lower"], 0o755)
    for below, text in root["stubs"]:
        path = f"{root['lower']}/{below}"
        os.makedirs(path if text is None else os.path.dirname(path), exist_ok=True)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
    for below in root["pipes"]:
        # Under an empty file of the same name: git, which asks the folder only, passes over pipes.
        os.makedirs(os.path.dirname(f"{root['lower']}/{below}"), exist_ok=True)
        os.mkfifo(f"{root['lower']}/{below}", 0o400)


def _overlay(root: dict[str, Any]) -> None:
    """Lay the overlay over the folder. Its layers are named by descriptor, since an option can hold no comma."""
    layers = [os.open(root[name], os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW) for name in ("lower", "path", "work")]
    lower, upper, work = (f"/proc/self/fd/{layer}" for layer in layers)
    options = f"lowerdir={lower},upperdir={upper},workdir={work},userxattr,index=off,uuid=off"
    _mount("overlay", upper, "overlay", _NOSUID | _NODEV, options)
    for layer in layers:
        os.close(layer)


def _make_covers(spec: dict[str, Any]) -> None:
    """Make what is mounted on names that are hidden or may not be made, each read-only: what is mounted from there is
    read-only, too, without a second call for each name."""
    os.close(os.open(spec["zero"], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o000))
    for name, mode in (("closed", 0o000), ("empty", 0o555)):
        os.mkdir(spec[name])
        os.chmod(spec[name], mode)
    for name in ("zero", "closed", "empty"):
        _mount(spec[name], spec[name], None, _BIND)
        _mount(None, spec[name], None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)


def _sources(spec: dict[str, Any]) -> dict[str, str]:
    return {"file": spec["zero"], "blank": "/dev/null", "folder": spec["closed"], "missing": spec["empty"]}


def _cover(root: dict[str, Any], spec: dict[str, Any]) -> None:
    """Mount what is different below the folder, what lies higher first."""
    sources = _sources(spec)
    top = os.open(root["path"], os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    for kind, below in root["covers"]:
        place = _open_below(top, below)
        target = f"/proc/self/fd/{place}"
        source = sources.get(kind)
        if source is not None:
            _mount(source, target, None, _BIND)
        else:
            # Has the flags of the overlay, which runs no set-user-id program and opens no device.
            _mount(target, target, None, _BIND | _REC)
            if kind == "read-only":
                _remount(top, below, _RDONLY)
            elif kind == "open":
                _remount(top, below, 0)
        os.close(place)
    os.close(top)


def _remount(top: int, below: str, flags: int) -> None:
    """Give what was just mounted there these flags: read-only, or none where it was so by what it lies in."""
    place = _open_below(top, below)
    _mount(None, f"/proc/self/fd/{place}", None, _REMOUNT | _BIND | _NOSUID | _NODEV | flags)
    os.close(place)


def _open_below(top: int, below: str) -> int:
    """Open a path below a folder, following no link."""
    how = struct.pack("QQQ", os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, 0, _NO_LINKS_BENEATH)
    path = below.encode("utf-8", "surrogateescape")
    return _checked(_libc.syscall(_OPENAT2, top, path, how, len(how)), below)


def _leave_attendant(paths: list[str], status: int, channel: int | None) -> None:
    """Leave a process that has the overlays look again, twice a second, at what others did to their folders, and that
    connects the server to programs that listen on the loopback of the sandbox."""
    parent = os.getpid()
    if os.fork():
        return
    try:
        _libc.prctl(_DEATH_SIGNAL, _KILL, 0, 0, 0)
        os.close(status)
        os.chdir("/")
        kept = 1024 if channel is None else channel
        os.closerange(0, kept)
        os.closerange(kept + 1, 1024)
        due = time.monotonic() + REFRESH
        while os.getppid() == parent:
            left = max(0.0, due - time.monotonic())
            if channel is None:
                time.sleep(left)
            elif _connects_until(channel, left):
                channel = None
            if time.monotonic() < due:
                continue
            due = time.monotonic() + REFRESH
            for path in paths:
                _libc.mount(None, os.fsencode(path), None, _REMOUNT | _NOSUID | _NODEV, None)
    finally:
        os._exit(0)


def _connects_until(channel: int, seconds: float) -> bool:
    """Answer one request of the server's, if one comes in this time: it names a port, and gets a socket that is
    connected to whoever listens there in the sandbox, or none. Returns true once the server asks no more."""
    import _socket  # noqa: PLC0415  as above
    import select  # noqa: PLC0415

    if not select.select([channel], [], [], seconds)[0]:
        return False
    line = _socket.socket(fileno=channel)
    try:
        asked = line.recv(2)
        if len(asked) < 2:
            return True
        inner = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        inner.settimeout(CONNECT_PATIENCE)
        try:
            inner.connect(("127.0.0.1", struct.unpack("!H", asked)[0]))
            inner.settimeout(None)
            passed = struct.pack("i", inner.fileno())
            line.sendmsg([b"c"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)], _socket.MSG_NOSIGNAL)
        except OSError:
            line.send(b"n", _socket.MSG_NOSIGNAL)
        inner.close()
    except OSError:
        return True
    else:
        return False
    finally:
        line.detach()


def _memory_file(content: bytes) -> int:
    descriptor = os.memfd_create("sandbox", 0)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _only_inherit(kept: list[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor > 2:
            try:
                os.set_inheritable(descriptor, descriptor in kept)
            except OSError:
                continue  # The descriptor of this very listing.


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    said = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _checked(_libc.mount(said[0], said[1], said[2], flags, said[3]), f"mounting {kind or 'a folder'}")


def _checked(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


if __name__ == "__main__":
    sys.exit("this module is loaded by the supervisor")
