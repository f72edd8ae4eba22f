"""Forks a supervisor for each program that the server starts, so that no interpreter has to be loaded for one.

Run as a script: ``fork_server.py CHANNEL MOST``. CHANNEL is a socket whose other end only the server holds; its end is
ours. Each datagram on it stands for one program and carries at most MOST descriptors: a memory file with the request
(``fork_client.py`` writes it), the line to the supervisor, the three streams, and what ``supervisor.py`` takes beside.
The forked process is a child of the server, not of this one, and holds nothing of it but loaded code: whoever ends the
fork server ends no program. The first it says on its line is that it is there (``P`` and its number in eleven digits)
or why not (``E`` and the error number); a line that ends without either means that nothing was started.

One thread, no state: what a process that is forked here inherits is the same each time. Linux only.
"""

from __future__ import annotations

import _signal as signal  # pyright: ignore[reportMissingImports]
import _socket as socket
import errno
import fcntl
import gc
import marshal
import os
import struct
import sys

TYPE_CHECKING = False  # `typing` takes longer to import than all that this module does
if TYPE_CHECKING:
    from typing import Any

    from countersign.tools.sandbox import namespaces
    from countersign.tools.shell import supervisor
else:
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [_here, os.path.join(os.path.dirname(_here), "sandbox")]
    import warnings  # noqa: F401  likewise: `os.execvpe` imports it

    import namespaces  # noqa: F401  loaded for those that are forked
    import supervisor

    del sys.path[:2]

_CLONE = {"x86_64": 56, "aarch64": 220}
"""The number of the system call `clone`, for each processor whose numbers are known here."""
_CLONE_PARENT = 0x8000


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(channel.fileno(), False)
    supervisor.name_this_process()
    # Ctrl+C in a terminal is meant for the server, whose end ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir("/")
    gc.freeze()
    room = socket.CMSG_SPACE(int(sys.argv[2]) * struct.calcsize("i"))
    while descriptors := _receive(channel, room):
        _fork(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _receive(channel: socket.socket, room: int) -> list[int]:
    """The descriptors of the next request; none when the server is gone."""
    said, carried, flags, _sender = channel.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    if not said or flags & socket.MSG_CTRUNC:
        return []
    return [number for *_kind, data in carried for (number,) in struct.iter_unpack("i", data)]


def _fork(descriptors: list[int]) -> None:
    line = descriptors[1]
    try:
        machine = os.uname().machine
        if machine not in _CLONE:
            raise OSError(errno.ENOSYS, machine)
        if supervisor.clone(_CLONE[machine], _CLONE_PARENT | int(signal.SIGCHLD), 0, 0, 0, 0) > 0:
            return
    except OSError as error:
        _refuse(line, error)
        return
    try:
        _supervise(descriptors)
    finally:
        os._exit(1)


def _supervise(descriptors: list[int]) -> None:
    """In the forked process: put each descriptor where it belongs, close all others, and supervise."""
    line = descriptors[1]
    try:
        os.setsid()
        request = _read(descriptors[0])
        line, *more = _place(descriptors[1:], request)
        sandbox = more.pop(0) if request["sandbox"] else -1
        group = more.pop(0) if request["group"] else -1
        supervisor.enter(more.pop(0))
        os.write(line, b"P%011d" % os.getpid())
    except OSError as error:
        _refuse(line, error)
        return
    command = [os.fsdecode(word) for word in request["command"]]
    environment = {os.fsdecode(name): os.fsdecode(value) for name, value in request["environment"].items()}
    supervisor.supervise(line, sandbox, group, request["niceness"], command, environment)


def _read(descriptor: int) -> dict[str, Any]:
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return marshal.load(file)


def _place(given: list[int], request: dict[str, Any]) -> list[int]:
    """Move the streams and what the program inherits to their numbers, and close whatever else is open.

    Returns the line and what is only for the supervisor, under new numbers.
    """
    numbers = [0, 1, 2, *request["inherited"]]
    free = max(numbers) + 1
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, free) for descriptor in given]
    last = 1 + len(numbers)
    kept = {moved[0], *moved[last:]}
    streams_and_inherited = dict(zip(moved[1:last], numbers, strict=True))
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept and int(name) not in streams_and_inherited:
            try:
                os.close(int(name))
            except OSError:
                continue  # The descriptor of this very listing.
    for descriptor, number in streams_and_inherited.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    return [moved[0], *moved[last:]]


def _refuse(line: int, error: OSError) -> None:
    try:
        os.write(line, b"E%011d" % (error.errno or 0))
    except OSError:
        return  # The server waits no longer.


if __name__ == "__main__":
    main()
