"""Runs inside the sandbox: runs each text in a bash of its own and tells everything that it did.

It is handed to the interpreter as text and uses nothing but the standard library. Each order is a line of JSON with a
text and the names of the stub programs that it may start. A stub reports its name, its arguments and its standard
input through a pipe, and prints one word.
"""

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import time

LIMIT, ENOUGH = 1.5, 20_000
"""Seconds for one text and bytes that it tells. What takes more is killed and reported as cut."""

STARTED = 9
STUB = f"""#!/bin/sh
data=$(/bin/cat 2>/dev/null)
printf '%s\\0' "${{0##*/}}" "$@" "<$data" '\1' >&{STARTED}
case ${{0##*/}} in cat) printf '%s\\n' "$data";; pd) printf 'two words\\n';; *) printf 'one\\n';; esac
case ${{0##*/}} in pe|false) exit 1;; esac
"""
FILES = ("a.txt", "b c.txt", ".hidden", "-x", "src/x", "src/a.py", "src/b.py", "src/sub/c.py", "[a]", "'q'", "*")


def main() -> None:
    os.makedirs("/tmp/bin")
    with open("/tmp/stub", "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as stub:
        stub.write(STUB)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NPROC, (500, 500))
    for line in sys.stdin:
        order = json.loads(line)
        for name in order["stubs"]:
            with contextlib.suppress(OSError):
                os.symlink("/tmp/stub", f"/tmp/bin/{name}")
        print(json.dumps(run(order["bash"], order["text"])), flush=True)


def run(bash: str, text: str) -> dict:
    """What one text started and printed, how it ended and what is in its folders afterwards."""
    for folder in ("/tmp/ws", "/tmp/home"):
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs("/tmp/ws/src/sub")
    os.makedirs("/tmp/home/x")
    for name in FILES:
        with open(f"/tmp/ws/{name}", "w") as file:
            file.write("one\ntwo\n")
    started, printed = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir("/tmp/ws")
        # Out of the way first: the pipes may have the very numbers that they are to get.
        log, out = (os.dup2(end, number, inheritable=False) for end, number in ((started[1], 60), (printed[1], 61)))
        os.dup2(log, STARTED)
        silent = os.open("/dev/null", os.O_RDWR)
        os.dup2(silent, 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        for number in (3, 4, 5, 6, 7, 8):
            with contextlib.suppress(OSError):
                os.close(number)
        os.closerange(10, 64)
        environment = {"PATH": "/tmp/bin", "HOME": "/tmp/home", "LC_ALL": "C.UTF-8", "TEXT": "a b*", "EMPTY": ""}
        os.execve(bash, ["bash", "--norc", "--noprofile", "-c", "--", text], environment)
    os.close(started[1])
    os.close(printed[1])
    heard, cut = listen((started[0], printed[0]), child)
    os.close(started[0])
    os.close(printed[0])
    _, status = os.waitpid(child, 0)
    records = heard[0].decode(errors="replace").split("\0\1\0")[:-1]
    return {
        "started": [record.split("\0") for record in records],
        "printed": heard[1].decode(errors="replace"),
        "status": status,
        "files": held("/tmp/ws") + held("/tmp/home"),
        "cut": cut,
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


def held(folder: str) -> list:
    """Every file below a folder with its content."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with contextlib.suppress(OSError), open(path, errors="replace") as file:
                found.append([path, file.read()])
    return sorted(found)


main()
