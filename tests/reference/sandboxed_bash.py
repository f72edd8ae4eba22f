"""Runs inside the sandbox: starts each text in a bash of its own and tells which programs it started.

It is handed to the interpreter as text and uses nothing but the standard library. The only programs on the path are
stubs, which write their name and arguments into a pipe that all of them inherit and print one word, and a few real ones
that only start another program. Bash itself writes a trace of its builtins into a second pipe. Both pipes end when the
last process of a text has ended, so nothing it left in the background is missed.
"""

import json
import os
import resource
import subprocess
import sys

from tests.reference.sandbox_child import STARTED, limit_resources, records_in, run_bash

LIMIT, ENOUGH = 2.0, 3_000
"""Seconds for one text and bytes that it tells. What takes more is killed; what it started until then still counts."""

TRACED = 8
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
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    limit_resources()
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
    environment = {"PATH": "/tmp/bin", "BASH_ENV": "/tmp/rc", "HOME": "/tmp/home", "LC_ALL": "C.UTF-8"}
    started, traced, _status, late = run_bash(
        [bash, "-c", text], environment, descriptors=(TRACED,), seconds=LIMIT, enough=ENOUGH
    )
    return {
        "started": records_in(started),
        "traced": traced.decode(errors="replace"),
        "late": late,
    }


main()
