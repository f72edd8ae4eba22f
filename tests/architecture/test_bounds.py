"""A bound that only guards against hanging is generous, and an environment variable scales it (``patience.py``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PATHS = [path for path in sorted(TESTS.rglob("*.py")) if {"bench", "e2e", "node_modules"}.isdisjoint(path.parts)]
WAITING = {"run", "check_output", "check_call", "communicate", "wait", "join", "result", "exception", "get"}
"""Functions whose ``timeout`` bounds how long they wait."""
PATIENT = 300.0
"""A bound that is a number is at least this long, since nothing scales it."""


def fixed_bounds(text: str) -> Iterator[int]:
    """Return the lines of waits that are bounded by a short number instead of ``PATIENCE``."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        match ast.unparse(node.func).rpartition(".")[2], node.args:
            case "wait_for", [_, ast.Constant(float() | int() as seconds), *_]:
                bounds = [seconds]
            case "timeout", [ast.Constant(float() | int() as seconds)]:
                bounds = [seconds]
            case name, _ if name in WAITING or name == "wait_for":
                bounds = [
                    word.value.value
                    for word in node.keywords
                    if word.arg == "timeout"
                    and isinstance(word.value, ast.Constant)
                    and isinstance(word.value.value, (int, float))
                ]
            case _:
                bounds = []
        if any(0 < bound < PATIENT for bound in bounds):
            yield node.lineno


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_a_wait_is_bounded_by_the_patience_of_all_tests(path: Path) -> None:
    assert list(fixed_bounds(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("await asyncio.wait_for(event.wait(), 5)", [1]),
        ("await asyncio.wait_for(event.wait(), timeout=5)", [1]),
        ("async with asyncio.timeout(5): pass", [1]),
        ("subprocess.run(words, timeout=5)", [1]),
        ("future.result(timeout=0.5)", [1]),
        ("await asyncio.wait_for(event.wait(), PATIENCE)", []),
        ("subprocess.run(words, timeout=600)", []),
        ("select(pipes, timeout=0)", []),
    ],
)
def test_a_short_bound_is_found(text: str, lines: list[int]) -> None:
    wrapped = f"async def test():\n    {text}"
    assert [line - 1 for line in fixed_bounds(wrapped)] == lines
