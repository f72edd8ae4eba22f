"""Runs inside the sandbox: runs each text in a bash of its own and says what it did that it should not have done.

It is handed to the interpreter as text and uses nothing but the standard library. The first order describes the
workspace with its traps and the programs; each further one is a text, the places that must stay as they are and the
words that must not be printed or copied. The answer says what it did, empty where there is nothing to say.
"""

import contextlib
import json
import os
import stat
import subprocess
import sys

from tests.reference.sandbox_child import STARTED, limit_resources, records_in, run_bash

TEMPLATE = "/tmp/template"
ENOUGH = 200_000
"""Bytes that a text may tell. What tells more or takes too long is killed; what it did until then still counts."""


def main() -> None:
    order = json.loads(sys.stdin.readline())
    root = order["root"]
    stub = f"#!/bin/sh\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" '\1' >&{STARTED} 2>/dev/null\n"
    os.makedirs("/tmp/bin")
    for name in order["stubs"]:
        write(f"/tmp/bin/{name}", stub + "printf 'one\\n'\n")
        os.chmod(f"/tmp/bin/{name}", 0o755)
    for name, path in order["real"].items():
        os.symlink(path, f"/tmp/bin/{name}")
    make(TEMPLATE, {name: stub if text == "PROGRAM" else text for name, text in order["tree"].items()}, order)
    held = contents(TEMPLATE)
    limit_resources()
    here = None
    for line in sys.stdin:
        text, kept, unseen = json.loads(line)
        if here is None or look(root, order) != here:
            again(root)
            here = look(root, order)
        print(json.dumps({"did": run(order, root, here, held, text, kept, unseen)}), flush=True)


def make(place: str, tree: dict, order: dict) -> None:
    """The workspace as the gate saw it."""
    for name, text in tree.items():
        os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
        write(f"{place}/{name}", text)
        if text.startswith("#!"):
            os.chmod(f"{place}/{name}", 0o755)
    for name, target in order["links"].items():
        os.symlink(target, f"{place}/{name}")
    if order["prepare"]:
        environment = {"PATH": order["path"], "HOME": f"{place}/home"}
        subprocess.run(["/bin/sh", "-c", order["prepare"]], cwd=f"{place}/ws", env=environment, check=True)


def again(root: str) -> None:
    """Put the workspace there anew."""
    for place in (root, "/tmp/new"):
        subprocess.run(["/bin/chmod", "-R", "u+rwX", place], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["/bin/rm", "-rf", place], check=True)
    os.makedirs(os.path.dirname(root), exist_ok=True)
    subprocess.run(["/bin/cp", "-a", TEMPLATE, root], check=True)


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def contents(root: str) -> dict:
    """What the files below the root hold, by their names alone."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in (each for each in names if not os.path.islink(f"{folder}/{each}")):
            with contextlib.suppress(OSError), open(f"{folder}/{name}", "rb") as file:
                found[name] = found.get(name, b"") + file.read(1 << 20)
    return found


def look(root: str, order: dict) -> dict:
    """Everything below the root, each with what changes when it is written, replaced, linked or given other rights."""
    found = {}
    waiting = [root]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                is_folder = stat.S_ISDIR(info.st_mode)
                times = (
                    () if is_folder else (info.st_size, info.st_mtime_ns, info.st_nlink if order["counts_links"] else 1)
                )
                found[entry.path] = (info.st_ino, info.st_mode, *times)
                if is_folder:
                    waiting.append(entry.path)
    return found


def run(order: dict, root: str, before: dict, held: dict, text: str, kept: list, unseen: list) -> str:
    """What the text did that it should not have done."""
    environment = {"PATH": f"/tmp/bin:{order['path']}".rstrip(":"), "HOME": f"{root}/home", "LC_ALL": "C.UTF-8"}
    command = [order["bash"], "--norc", "--noprofile", "-c", "--", text]
    started, printed, _status, _cut = run_bash(
        command, environment, folder=f"{root}/ws", descriptors=(1, 2), seconds=order["seconds"], enough=ENOUGH
    )
    names = [record[0] for record in records_in(started) if record[0] in order["forbidden"]]
    if names:
        return f"started {names}"
    after = look(root, order)
    free = tuple(f"{root}/{place[1:]}" for place in kept if place.startswith("!"))
    for place in kept:
        under = f"{root}/{place}"
        changed = [
            path
            for path in {*before, *after}
            if (path == under or path.startswith(under + "/"))
            and before.get(path) != after.get(path)
            and not path.startswith(free)
        ]
        if changed:
            return f"changed {sorted(changed)[:3]}"
    told = printed + started
    for word in unseen:
        if word.encode() in told:
            return f"printed {word}"
    for path in after:
        if after[path] != before.get(path) and stat.S_ISREG(after[path][1]):
            data = b""
            with contextlib.suppress(OSError), open(path, "rb") as file:
                data = file.read(1 << 20)
            name = os.path.basename(path)
            for word in () if name.startswith(".env.") else unseen:  # as secret as `.env`
                if word.encode() in data and word.encode() not in held.get(name, b""):
                    return f"copied {word} into {path}"
    return ""


main()
