"""The ``countersign`` command: one word, then the room that answers it.

A room's module says ``add_arguments(parser)`` and ``run(arguments) -> exit status``. It is imported only when its word
is said, so that ``countersign check`` starts without an editor's libraries.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

COMMANDS: Mapping[str, tuple[str, str]] = {
    "serve": ("countersign.lsp.app", "serve an editor over standard input and output"),
    "check": ("countersign.commands.check", "answer supposed calls, one JSON object a line"),
    "rules": (
        "countersign.commands.rules",
        "lint, list or test the rules of settings files, or translate permissions of other agents",
    ),
    "doctor": ("countersign.commands.doctor", "say what works on this machine, and what to do about what does not"),
    "keys": ("countersign.commands.keys", "keep keys of models and agents in the system's keyring"),
    "probe": ("countersign.commands.probe", "find out whether an agent asks before it acts"),
    "history": ("countersign.commands.history", "show and verify what was decided"),
}


def main(said: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status; 2 for a word that is none."""
    words = list(sys.argv[1:] if said is None else said)
    if not words or words[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        print(importlib.import_module("countersign").__version__)
        return 0
    if words[0] not in COMMANDS:
        print(f"unknown command `{words[0]}`; see `countersign --help`", file=sys.stderr)
        return 2
    module_name, what = COMMANDS[words[0]]
    parser = argparse.ArgumentParser(prog=f"countersign {words[0]}", description=what)
    if words[0] == "serve":
        # Editors' LSP clients name the transport; there is only this one.
        parser.add_argument("--stdio", action="store_true", help="the only transport there is")
        parser.parse_args(words[1:])
        settle_allocator()
        sys.setswitchinterval(SWITCH_SECONDS)
        return int(_imported(module_name).serve() or 0)
    try:
        os.getcwd()
    except OSError:
        print("the folder that this was started in is gone; change to one that exists", file=sys.stderr)
        return 2
    room = importlib.import_module(module_name)
    room.add_arguments(parser)
    return int(room.run(parser.parse_args(words[1:])) or 0)


def _imported(name: str) -> ModuleType:
    """The module of a server, the collector set for it."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        settle_collector()
        gc.enable()


def settle_collector() -> None:
    """Set the collector of cycles for a process that has imported what it needs and serves from now on.

    What imports brought stays, so it need not be walked, now or ever. Of what comes after, almost nothing is a cycle,
    and a burst of requests keeps thousands of tasks and models alive at once: looking through them each 700 objects,
    as Python does by itself, took a third of the server's time. The young are looked at each 100,000 objects instead.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


SWITCH_SECONDS = 0.0005
"""How long a thread keeps the interpreter's lock while another waits for it. The event loop gives the lock up with each
read and write and has to wait for it again: with Python's own 5 ms, one busy worker thread makes it ten times slower.
"""
LARGE_BLOCK = 1 << 20
"""Bytes from which the allocator takes a block from the system alone, and gives it back when it is freed."""
_M_MMAP_THRESHOLD = -3

ARENAS = 2
"""Heaps that all threads share. glibc makes up to eight for each processor, and each keeps what was freed in it."""
_M_ARENA_MAX = -8


def settle_allocator() -> None:
    """Make glibc give back what is freed (``mallopt(3)``); does nothing with another C library.

    It raises its threshold for large blocks to the largest one that was freed. Texts of some megabytes then come from
    the heap of each thread, whose freed blocks stay with the process. So the threshold stays, and the heaps are few.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK)
        mallopt(_M_ARENA_MAX, ARENAS)


def _usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {word:<{width}}  {what}" for word, (_, what) in COMMANDS.items()]
    return "\n".join(("usage: countersign COMMAND [ARGUMENTS]", "", *lines))
