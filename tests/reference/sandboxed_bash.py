"""Runs inside the sandbox: starts each text in a bash of its own and tells which programs it started.

It is handed to the interpreter as text and uses nothing but the standard library. The only programs on the path are
stubs, which write their name and arguments into a pipe that all of them inherit and print one word, and a few real ones
that only start another program. Bash itself writes a trace of its builtins into a second pipe. Both pipes end when the
last process of a text has ended, so nothing it left in the background is missed.
"""

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time

LIMIT, ENOUGH = 2.0, 3_000
"""Seconds for one text and bytes that it tells. What takes more is killed; what it started until then still counts."""

STARTED, TRACED = 9, 8
END, MARK = "\1", "\2"


def main() -> None:
    order = json.loads(sys.stdin.readline())
    os.makedirs("/tmp/bin")
    for name in order["stubs"]:
        with open(f"/tmp/bin/{name}", "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as stub:
            stub.write(f"#!/bin/sh\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" '{END}' >&{STARTED}\nprintf 'one\\n'\n")
            stub.write({"nope": "exit 1\n", "cat": 'exec /bin/cat "$@"\n'}.get(name, "exit 0\n"))
    for name in order["starters"]:
        os.symlink(f"/usr/bin/{name}", f"/tmp/bin/{name}")
    with open("/tmp/rc", "w") as rc:
        rc.write(f"enable -n {' '.join(order['no_builtins'])}\nBASH_XTRACEFD={TRACED}\nPS4='{MARK}'\nset -x\n")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NPROC, (500, 500))
    for line in sys.stdin:
        print(json.dumps(run(order["bash"], json.loads(line))), flush=True)


def run(bash: str, text: str) -> dict:
    """What one text started, in order: programs with their arguments, and the lines of bash's own trace."""
    folder = "/tmp/ws"
    subprocess.run(["/bin/rm", "-rf", folder], check=True)
    os.makedirs(f"{folder}/src")
    for name in ("a.txt", "src/x", "src/a.py"):
        with open(f"{folder}/{name}", "w") as file:
            file.write("one\ntwo\n")
    started, traced = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(folder)
        # Out of the way first: the pipes may have the very numbers that they are to get.
        ends = [os.dup2(end, number, inheritable=False) for end, number in ((started[1], 60), (traced[1], 61))]
        os.dup2(ends[0], STARTED)
        os.dup2(ends[1], TRACED)
        silent = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        os.closerange(10, 64)
        os.execve(
            bash,
            ["bash", "-c", text],
            {"PATH": "/tmp/bin", "BASH_ENV": "/tmp/rc", "HOME": "/tmp/home", "LC_ALL": "C.UTF-8"},
        )
    os.close(started[1])
    os.close(traced[1])
    heard, late = listen((started[0], traced[0]), child)
    os.close(started[0])
    os.close(traced[0])
    os.waitpid(child, 0)
    records = heard[0].decode(errors="replace").split("\0" + END + "\0")[:-1]
    return {
        "started": [record.split("\0") for record in records],
        "traced": heard[1].decode(errors="replace"),
        "late": late,
    }


def listen(pipes: tuple, child: int) -> tuple:
    """All that comes out of the pipes until both have ended, or the time is up and everybody is killed."""
    heard, open_pipes, end = dict.fromkeys(pipes, b""), list(pipes), time.monotonic() + LIMIT
    while open_pipes and (left := end - time.monotonic()) > 0 and max(map(len, heard.values())) < ENOUGH:
        for pipe in select.select(open_pipes, [], [], left)[0]:
            piece = os.read(pipe, 65536)
            heard[pipe] += piece
            if not piece:
                open_pipes.remove(pipe)
    if open_pipes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    return [heard[pipe] for pipe in pipes], bool(open_pipes)


main()
