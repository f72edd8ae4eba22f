"""Nobody outside the gate imports past its face, and the face names what is there."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import countersign.gate

SERVER = Path(__file__).parents[2] / "server"
FACE = SERVER / "countersign" / "gate" / "__init__.py"
MODULES = sorted((SERVER / "countersign").rglob("*.py"))

EXCEPTIONS = {
    # The linter warns about allow rules for programs that run other programs: it reads the program tables for that.
    "countersign.advice.lint": "countersign.gate.shell.",
}


def module_name(path: Path) -> str:
    parts = path.relative_to(SERVER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[str]:
    """Each module of ours that a file imports, or imports from, at any depth; relative imports resolved."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names if is_module(f"{origin}.{alias.name}"))


def is_module(name: str) -> bool:
    path = SERVER / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir()


def in_gate(name: str) -> bool:
    return name == "countersign.gate" or name.startswith("countersign.gate.")


def test_nobody_outside_the_gate_imports_past_its_face():
    past = {
        f"{module_name(path)} imports {name}"
        for path in MODULES
        if not in_gate(module_name(path))
        for name in imported(path)
        if name.startswith("countersign.gate.") and not name.startswith(EXCEPTIONS.get(module_name(path), "-"))
    }
    assert past == set()


def test_nothing_inside_the_gate_imports_its_face():
    inside = [path for path in MODULES if in_gate(module_name(path)) and path != FACE]
    assert [module_name(path) for path in inside if "countersign.gate" in set(imported(path))] == []


@pytest.mark.parametrize("module", EXCEPTIONS)
def test_an_exception_is_still_needed(module: str):
    path = SERVER / (module.replace(".", "/") + ".py")
    assert any(name.startswith(EXCEPTIONS[module]) for name in imported(path))


def test_the_face_offers_the_same_names_to_the_type_checker_and_at_run_time():
    declared = {
        alias.name: node.module
        for node in ast.walk(ast.parse(FACE.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("countersign.gate.")
        for alias in node.names
    }
    loaded = {name: f"countersign.gate.{module}" for name, module in vars(countersign.gate)["_MODULE_OF"].items()}
    assert declared == loaded
    for name, module in declared.items():
        assert getattr(countersign.gate, name) is getattr(importlib.import_module(str(module)), name)


def test_each_name_of_the_face_is_used_outside_the_gate():
    used = {
        alias.name
        for path in MODULES
        if not in_gate(module_name(path))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "countersign.gate"
        for alias in node.names
    }
    assert sorted(set(vars(countersign.gate)["_MODULE_OF"]) - used) == []
