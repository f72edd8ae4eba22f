"""Starts one program and outlives it: when the server is gone, so is everything the program ever started.

Runs in a process that ``fork_server.py`` forked for one program. Where there is no fork server, it is a script:
``supervisor.py LINE FOLDER SANDBOX GROUP NICENESS PROGRAM ARGUMENT…``. LINE is one end of a socket pair whose other end
only the server holds. Any byte on it asks for an orderly end: TERM to the program's group, and KILL to every descendant
after ``GRACE``. End of file, which also a ``kill -9`` of the server brings about, is KILL at once. When nobody is left,
one byte is said back; if the line ends without it, somebody killed us.
FOLDER is a descriptor of the working directory, or -1 to keep ours. SANDBOX is one of the description that
``sandbox/namespaces.py`` reads, or -1 for no sandbox; if the sandbox cannot be made, the program is not started. GROUP
is one of the folder of the control group in which the program starts, or -1 for none. The environment of the script's
program is ours, in names that begin with ``E``, so that nothing meant for the program has any effect on this process.

The program runs in its own session. On Linux we are a sub-reaper: who loses its parent becomes our child, however often
it forks, and cannot get away. Elsewhere only the process tree and the group are found, and a double fork into a new
session escapes. When the program ends, what it left behind is ended too, and its status becomes ours.

What is imported is most of the time this takes to start: `signal` itself brings in `enum` and doubles it.
"""

from __future__ import annotations

import _signal as signal  # pyright: ignore[reportMissingImports]
import ctypes
import os
import select
import struct
import sys
import time

GRACE = 2.0
"""Seconds between TERM and KILL (docs/gate.md "Environment of commands")."""
ENDING = (0.0003, 0.0007, 0.002)
"""Seconds between looks whether those who end with the program have ended."""
LAST = 3.0
"""Seconds after which descendants that even KILL does not end (another user's, or stuck in the kernel) are given up."""

_SUBREAPER, _DEATH_SIGNAL, _NAME = 36, 1, 15  # from <sys/prctl.h>
_CLONE3, _INTO_CGROUP = 435, 0x200000000  # from <linux/sched.h>; the number is that of every architecture
_LINUX = sys.platform == "linux"
_python = ctypes.PyDLL(None, use_errno=True)
_HANDLED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_asked: list[int] = []


def main() -> None:
    line, folder, sandbox, group, niceness = map(int, sys.argv[1:6])
    environment = {name[1:]: value for name, value in os.environ.items() if name.startswith("E")}
    os.set_inheritable(line, False)
    enter(folder)
    supervise(line, sandbox, group, niceness, sys.argv[6:], environment)


def enter(folder: int) -> None:
    """Make this the working directory, -1: leave it."""
    if folder >= 0:
        os.fchdir(folder)
        os.close(folder)


def supervise(
    line: int, sandbox: int, group: int, niceness: int, command: list[str], environment: dict[str, str]
) -> None:
    """Start the program, watch it to its end, and end like it."""
    if _LINUX:
        _prctl(_SUBREAPER, 1)
        name_this_process()
    woken = _wake_on_signals()
    ourselves = os.getpid()
    # Until the program is itself, nobody's TERM may be lost on a handler of ours.
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
    child = _fork_into(group)
    if child == 0:
        try:
            if _LINUX:
                # Should somebody kill us, at least the program itself goes too.
                _prctl(_DEATH_SIGNAL, int(signal.SIGKILL))
            if group >= 0:
                os.close(group)
            if os.getppid() == ourselves:
                os.nice(niceness)
                _become(command, environment, sandbox)
        finally:
            os._exit(127)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
    for descriptor in (sandbox, group):
        if descriptor >= 0:
            os.close(descriptor)
    _let_go_of_streams()
    status = _watch(child, line, woken)
    _say_goodbye(line)
    _end_like(status)


def name_this_process() -> None:
    """Take a name of our own: a command that kills every `python` does not mean us."""
    _prctl(_NAME, b"countersign")


def clone(number: int, *arguments: int | bytes) -> int:
    """Copy this process by the system call of this number, which must return as `fork` does. One thread only.

    Raises:
        OSError: there is no copy.
    """
    _python.PyOS_BeforeFork()
    child = _python.syscall(number, *(ctypes.c_long(word) if isinstance(word, int) else word for word in arguments))
    error = ctypes.get_errno()
    if child == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    _python.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(error, os.strerror(error))
    return child


def _fork_into(group: int) -> int:
    """Fork, the child in this control group, if possible.

    It starts there where the kernel can do that: to join a group later waits for every processor, some 15 ms.
    """
    if group < 0:
        return os.fork()
    try:
        wanted = struct.pack("11Q", _INTO_CGROUP, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0, 0, 0, group)
        return clone(_CLONE3, wanted, len(wanted))
    except OSError:
        child = os.fork()
    if child == 0:
        _join(group)
    return child


def _join(group: int) -> None:
    try:
        joining = os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=group)
        os.write(joining, b"0")
        os.close(joining)
    except OSError:
        return  # The sub-reaper finds its descendants without.


def _prctl(option: int, value: object) -> None:
    _python.prctl(option, value, 0, 0, 0)


def _become(command: list[str], environment: dict[str, str], sandbox: int) -> None:
    os.setsid()
    # What is ignored stays so in the program: Python ignores two, and whoever started the server may have ignored more,
    # as a shell does for what it starts in the background.
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
    if sandbox >= 0:
        command = _in_sandbox(sandbox, command)
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        os.write(2, f"countersign: cannot run `{command[0]}`: {error.strerror}\n".encode(errors="replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _in_sandbox(sandbox: int, command: list[str]) -> list[str]:
    """Make the sandbox around this process; the words that start the command in it. Where that fails, it ends here."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sandbox"))
    try:
        import namespaces  # noqa: PLC0415  # pyright: ignore[reportMissingImports]  only here, found beside us

        return namespaces.enter(sandbox, command)
    except Exception as error:  # A boundary: whatever went wrong, the command is not started.
        os.write(2, f"countersign: the sandbox could not be made: {error}\n".encode(errors="replace"))
        os._exit(126)


def _watch(child: int, line: int, woken: int) -> int | None:
    """The status that the program ended with, once nobody is left."""
    status: int | None = None
    deadline: float | None = None
    alone = False
    waiting = select.poll()
    waiting.register(line, select.POLLIN)
    waiting.register(woken, select.POLLIN)
    while True:
        status, anybody = _reap(child, status)
        if not anybody:
            return status
        if status is not None and not alone:
            alone = True
            if not _still_there(child):
                return status
            family = _descendants()
            for number in (signal.SIGTERM, signal.SIGCONT):
                _signal_all(family, number)
            deadline = deadline or time.monotonic() + GRACE
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return _end_everybody(child, status)
        for descriptor, _ in waiting.poll(None if left is None else left * 1000 + 1):
            said = os.read(descriptor, 512)
            if descriptor == line and not said:
                return _end_everybody(child, status)
            if (descriptor == line or signal.SIGTERM in _asked) and deadline is None:
                _terminate_group(child)
                deadline = time.monotonic() + GRACE


def _reap(child: int, status: int | None) -> tuple[int | None, bool]:
    """Take in who has ended; whether anybody is left."""
    while True:
        try:
            process, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status, False
        if process == 0:
            return status, True
        if process == child:
            status = ended


def _still_there(child: int) -> bool:
    """Whether anybody is left a moment after the program ended; in the sandbox, others end with it.

    Each look for descendants reads of every process on the machine.
    """
    for pause in ENDING:
        time.sleep(pause)
        if not _reap(child, None)[1]:
            return False
    return True


def _end_everybody(child: int, status: int | None) -> int | None:
    """KILL every descendant until none is left. Stopped first, so that none forks while the others are killed."""
    until = time.monotonic() + LAST
    anybody = True
    while anybody and time.monotonic() < until:
        if not _LINUX and status is None:
            _signal_group(child, signal.SIGKILL)
        stopped: set[int] = set()
        while family := _descendants() - stopped:
            _signal_all(family, signal.SIGSTOP)
            stopped |= family
        _signal_all(stopped, signal.SIGKILL)
        status, anybody = _reap(child, status)
        if anybody:
            time.sleep(0.002)
    return status


def _terminate_group(child: int) -> None:
    # A stopped process would not see TERM.
    _signal_group(child, signal.SIGTERM)
    _signal_group(child, signal.SIGCONT)


def _signal_group(child: int, number: int) -> None:
    try:
        os.killpg(child, number)
    except OSError:
        # Gone, or not yet its own group.
        _signal_all({child}, number)


def _signal_all(processes: set[int], number: int) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            continue


def _descendants() -> set[int]:
    """Everybody below us who still runs."""
    children: dict[int, list[int]] = {}
    for process, parent in _processes():
        children.setdefault(parent, []).append(process)
    found: set[int] = set()
    ahead = [os.getpid()]
    while ahead:
        for process in children.get(ahead.pop(), ()):
            found.add(process)
            ahead.append(process)
    return found


def _processes() -> list[tuple[int, int]]:
    """Every process that is no zombie, with its parent. A zombie has no children: they have passed to us."""
    if not _LINUX:
        with os.popen("ps -A -o pid=,ppid=") as listing:
            pairs = [line.split() for line in listing]
        return [(int(process), int(parent)) for process, parent in pairs]
    found: list[tuple[int, int]] = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            descriptor = os.open(f"/proc/{name}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            text = os.read(descriptor, 1024)
        except OSError:
            continue
        finally:
            os.close(descriptor)
        # The program's name stands in brackets and may itself hold brackets and blanks.
        state, parent = text[text.rfind(b")") + 2 :].split(None, 2)[:2]
        if state not in (b"Z", b"X"):
            found.append((int(name), int(parent)))
    return found


def _say_goodbye(line: int) -> None:
    try:
        os.write(line, b".")
    except OSError:
        return  # The server is gone, and with it whoever would listen.


def _wake_on_signals() -> int:
    """Have signals wake the poll; returns what to poll."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    for number in _HANDLED:
        # Handled and not ignored: what is ignored would stay so in the program.
        signal.signal(number, lambda number, _: _asked.append(number))
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _let_go_of_streams() -> None:
    """The program's streams are its own: whoever reads them sees their end when the program ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def _end_like(status: int | None) -> None:
    """End as the program did."""
    if status is None:
        os._exit(1)
    if os.WIFSIGNALED(status):
        import resource  # noqa: PLC0415 - only here, and it costs start-up time

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
