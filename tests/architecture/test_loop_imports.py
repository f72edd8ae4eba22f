"""No large library is first imported on the event loop: that takes a tenth of a second or more, in which every chat
stands still."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[2] / "server" / "countersign"
OURS = {"countersign", *sys.stdlib_module_names}


def imports_on_loop(source: str) -> list[str]:
    """Return the foreign modules that a coroutine imports without having had them imported in a thread before."""
    return [
        name
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.AsyncFunctionDef)
        for name in _imported(function)
        if name not in OURS and name not in _loaded_in_thread(function)
    ]


def _imported(function: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(function):
        match node:
            case ast.Import(names=names):
                yield from (each.name.partition(".")[0] for each in names)
            case ast.ImportFrom(module=str(module)):
                yield module.partition(".")[0]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                pass  # a function of its own
            case _:
                yield from _imported(node)


def _loaded_in_thread(function: ast.AST) -> set[str]:
    return {
        node.args[0].value
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "load"
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("async def f():\n    import httpx", ["httpx"]),
        ("async def f():\n    if x:\n        from httpx.a import b", ["httpx"]),
        ("async def f():\n    await load('httpx')\n    import httpx", []),
        ("async def f():\n    import json\n    from countersign.a import b", []),
        ("def f():\n    import httpx", []),
    ],
)
def test_the_check_finds_what_it_is_for(source: str, found: list[str]):
    assert imports_on_loop(source) == found


IN_USE = """
import asyncio, sys
from countersign.tools.loading import load

async def hello(reader, writer):
    await reader.readline()
    writer.write(b"HTTP/1.1 200 OK\\r\\nconnection: close\\r\\n\\r\\n")
    await writer.drain()
    writer.close()

async def use_httpx(url):
    import httpx
    async with httpx.AsyncClient(trust_env=False, verify=False) as client, client.stream("POST", url) as answer:
        await answer.aread()

async def use_httpcore(url):
    import httpcore
    async with httpcore.AsyncConnectionPool() as pool:
        await pool.request("GET", url)

async def use_watchfiles(url):
    from watchfiles import awatch
    stop = asyncio.Event()
    stop.set()
    async for _ in awatch(".", stop_event=stop):
        pass

async def main():
    server = await asyncio.start_server(hello, "127.0.0.1", 0)
    await load(sys.argv[1])
    before = set(sys.modules)
    await globals()[f"use_{sys.argv[1]}"]("http://127.0.0.1:%d/" % server.sockets[0].getsockname()[1])
    print(sorted({name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))

asyncio.run(main())
"""


@pytest.mark.parametrize("library", ["httpx", "httpcore", "watchfiles"])
def test_what_a_library_imports_in_use_is_loaded_with_it(library: str, tmp_path: Path):
    words = [sys.executable, "-c", IN_USE, library]
    environment = {**os.environ, "PYTHONPATH": str(SERVER.parent)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_coroutine_imports_a_library_on_the_event_loop():
    found = {str(path): imports_on_loop(path.read_text("utf-8")) for path in SERVER.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}
