"""Runs inside the sandbox: runs each text in a bash of its own and tells everything that it did.

It is handed to the interpreter as text and uses nothing but the standard library. Each order is a line of JSON with a
text and the names of the stub programs that it may start. A stub reports its name, its arguments and its standard
input through a pipe, and prints one word.
"""

import contextlib
import json
import os
import shutil
import sys

from tests.reference.sandbox_child import STARTED, limit_resources, records_in, run_bash

LIMIT, ENOUGH = 1.5, 20_000
"""Seconds for one text and bytes that it tells. What takes more is killed and reported as cut."""

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
    limit_resources()
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
    environment = {"PATH": "/tmp/bin", "HOME": "/tmp/home", "LC_ALL": "C.UTF-8", "TEXT": "a b*", "EMPTY": ""}
    command = [bash, "--norc", "--noprofile", "-c", "--", text]
    started, printed, status, cut = run_bash(command, environment, descriptors=(1, 2), seconds=LIMIT, enough=ENOUGH)
    return {
        "started": records_in(started),
        "printed": printed.decode(errors="replace"),
        "status": status,
        "files": held("/tmp/ws") + held("/tmp/home"),
        "cut": cut,
    }


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
